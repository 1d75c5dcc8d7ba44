"""Greedy orders: the one-millisecond baselines that every learned order is compared with."""

from __future__ import annotations

import numpy as np
import torch

from precede.arrays import FloatArray, IntArray
from precede.knowledge import Constraints
from precede.scores.linear import LinearScore
from precede.scores.protocol import OrderScore


def greedy_order(score: OrderScore, constraints: Constraints | None = None) -> IntArray:
    """Order by the greedy method that suits the score.

    With equal noise variances, the variable of smallest conditional variance comes next (Chen, Drton, Wang 2019). For
    other scores each variable, in column order, is put in where the order so far is best.
    """
    if isinstance(score, LinearScore):
        return smallest_variance_order(score.covariance.cpu().numpy(), constraints)
    return best_insertion_order(score, constraints)


def smallest_variance_order(covariance: FloatArray, constraints: Constraints | None = None) -> IntArray:
    """Place, again and again, the variable whose variance given those already placed is smallest.

    Examples
    --------
    >>> smallest_variance_order(np.array([[5.0, 2.0], [2.0, 1.0]]))
    array([1, 0])
    """
    d = len(covariance)
    before = (constraints or Constraints.none(d)).before
    rest = covariance.copy()  # covariance given the placed variables
    waiting = np.ones(d, dtype=bool)
    order = np.empty(d, dtype=np.int64)
    for t in range(d):
        open_to = waiting & ~before[waiting].any(axis=0)
        j = int(np.where(open_to, np.diag(rest), np.inf).argmin())
        order[t], waiting[j] = j, False
        rest = rest - np.outer(rest[:, j], rest[j]) / rest[j, j]
    return order


def best_insertion_order(score: OrderScore, constraints: Constraints | None = None) -> IntArray:
    """Put in one variable after another, each where the terms of the order so far sum highest."""
    d = score.n_variables
    before = (constraints or Constraints.none(d)).before
    order: list[int] = []
    for j in range(d):
        rest = list(range(j + 1, d))
        slots = [k for k in range(j + 1) if not before[j, order[:k]].any() and not before[order[k:], j].any()]
        candidates = torch.tensor([[*order[:k], j, *order[k:], *rest] for k in slots], device=score.device)
        sums = score.terms(candidates)[:, : j + 1].sum(1)
        order.insert(slots[int(sums.argmax())], j)
    return np.array(order, dtype=np.int64)
