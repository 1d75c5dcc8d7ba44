"""Greedy orders: the quick baselines that every learned order is compared with."""

from __future__ import annotations

import numpy as np
import torch

from precede.arrays import IntArray
from precede.knowledge import Constraints
from precede.runtime.deadline import Deadline, OutOfTime
from precede.scores.protocol import OrderScore
from precede.search.local import insertion_order
from precede.ties import first_best


def greedy_order(
    score: OrderScore, constraints: Constraints | None = None, deadline: Deadline | None = None
) -> IntArray:
    """Order by the greedy method that suits the score.

    A score may know a quick way (with equal noise variances, the variable of smallest conditional variance comes
    next). For the others each variable, in column order, is put in where the order so far is best.

    Parameters
    ----------
    score : OrderScore
    constraints : Constraints, optional
    deadline : Deadline, optional
        When it passes, what is left is put at the end as it comes.
    """
    constraints = constraints or Constraints.none(score.n_variables)
    quick = score.quick_order(constraints)
    return best_insertion_order(score, constraints, deadline) if quick is None else quick


def best_insertion_order(
    score: OrderScore, constraints: Constraints | None = None, deadline: Deadline | None = None
) -> IntArray:
    """Put in one variable after another, each where the terms of the order so far sum highest."""
    compiled = insertion_order(score, constraints, deadline)
    if compiled is not None:
        return compiled
    d, deadline = score.n_variables, deadline or Deadline(None)
    constraints = constraints or Constraints.none(d)
    before = constraints.before
    order: list[int] = []
    for j in range(d):
        rest = list(range(j + 1, d))
        try:
            with score.within(deadline):
                deadline.check()
                sums = score.placing_sums(torch.tensor([*order, j, *rest], device=score.device), j).cpu().numpy()
        except OutOfTime:
            return constraints.nearest_order(np.array([*order, j, *rest], dtype=np.int64))
        slots = [k for k in range(j + 1) if not before[j, order[:k]].any() and not before[order[k:], j].any()]
        order.insert(slots[first_best(sums[slots])], j)
    return np.array(order, dtype=np.int64)
