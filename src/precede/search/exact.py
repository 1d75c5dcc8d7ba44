"""Exact search: the best order by dynamic programming over subsets."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import torch

from precede.arrays import BoolArray, IntArray
from precede.errors import OptionError
from precede.knowledge import Constraints
from precede.runtime import Deadline
from precede.scores.protocol import OrderScore
from precede.ties import first_best_rows

MOST_VARIABLES = 20
CHUNK_SUBSETS = 2048


@dataclass(frozen=True)
class Optimum:
    """The best order of all, and its score."""

    order: IntArray
    score: float


def exact_order(score: OrderScore, constraints: Constraints | None = None, deadline: Deadline | None = None) -> Optimum:
    r"""Best order of all, for up to 20 variables.

    :math:`F(T) = \max_{j \in T} F(T \setminus j) + \mathrm{term}(j \mid T \setminus j)`, over all subsets T by size.

    Raises
    ------
    OutOfTime
        The deadline has passed first.

    Examples
    --------
    >>> from precede.scores.linear import LinearScore
    >>> x = np.random.default_rng(0).normal(size=(200, 3)).cumsum(axis=1)
    >>> exact_order(LinearScore(x)).order
    array([0, 1, 2])
    """
    d = score.n_variables
    if d > MOST_VARIABLES:
        raise OptionError(
            f"exact search takes at most {MOST_VARIABLES} variables (2^d subsets); the data has {d}. "
            "Use the policy and polish instead."
        )
    before = (constraints or Constraints.none(d)).before
    deadline = deadline or Deadline(None)
    best = np.full(2**d, -np.inf)
    best[0] = 0.0
    last = np.full(2**d, -1, dtype=np.int8)
    for size in range(1, d + 1):
        subsets = np.array(list(combinations(range(d), size)), dtype=np.int64)
        for start in range(0, len(subsets), CHUNK_SUBSETS):
            with score.within(deadline):
                deadline.check()
                _extend(score, subsets[start : start + CHUNK_SUBSETS], before, best, last)
    order = np.empty(d, dtype=np.int64)
    mask = 2**d - 1
    for position in reversed(range(d)):
        order[position] = last[mask]
        mask -= 1 << int(last[mask])
    return Optimum(order, float(score.total(torch.tensor(best[-1]))))


def _extend(score: OrderScore, subsets: IntArray, before: BoolArray, best: np.ndarray, last: np.ndarray) -> None:
    """Fill F for subsets of one size, (n_subsets, size), from those one smaller."""
    n, size = subsets.shape
    d = score.n_variables
    inside = np.zeros((n, d), dtype=bool)
    np.put_along_axis(inside, subsets, True, axis=1)
    outside = np.argsort(inside, axis=1, kind="stable")[:, : d - size]
    # every member in turn comes last: (n, size, size) with the members but c first, then c
    turns = np.array([[*range(c), *range(c + 1, size), c] for c in range(size)])
    orders = np.concatenate([subsets[:, turns], np.repeat(outside[:, None], size, axis=1)], axis=2)
    flat = torch.from_numpy(orders.reshape(-1, d)).to(score.device)
    local = score.terms(flat)[:, size - 1].cpu().numpy().reshape(n, size)
    masks = (1 << subsets).sum(axis=1)
    values = best[masks[:, None] - (1 << subsets)] + local
    # a member may come last when all that must precede it are inside and nothing inside must follow it
    missing = (~inside).astype(int) @ before.astype(int) > 0
    followed = inside.astype(int) @ before.T.astype(int) > 0  # transposed: counts those that j must precede
    barred = np.take_along_axis(missing | followed, subsets, axis=1)
    values[barred] = -np.inf
    winner = first_best_rows(values)
    best[masks] = values[np.arange(n), winner]
    last[masks] = subsets[np.arange(n), winner]
