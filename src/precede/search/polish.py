"""Polish: insertion moves on an order until none improves its score."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch

from precede.arrays import BoolArray, IntArray
from precede.errors import OptionError
from precede.knowledge import Constraints
from precede.runtime.deadline import Deadline
from precede.scores.protocol import OrderScore
from precede.search import local
from precede.ties import TOLERANCE, exceeds, first_best, first_best_rows


@dataclass(frozen=True)
class Polished:
    """An order that no single insertion improves, its score, and the work it took."""

    order: IntArray
    score: float
    n_moves: int


def polish(
    score: OrderScore,
    order: IntArray,
    constraints: Constraints | None = None,
    *,
    n_restarts: int = 0,
    rng: np.random.Generator | None = None,
    deadline: Deadline | None = None,
) -> Polished:
    """Climb by insertion moves; with restarts, shake the order and climb again.

    Where the score says what single moves are worth (``OrderScore.moves``), compiled code takes one variable after
    another through the order (``precede.search.local``). Else each sweep judges all moves in a batch.

    A climb also makes random moves that leave the score as it is (a score that identifies only the CPDAG has very
    many). A restart puts some variables in at random: from two to a fifth of them, fewer more often. The climb goes on
    from there, and the next restart from where it ends if that is no worse.

    Parameters
    ----------
    score : OrderScore
    order : (n_variables,) int array
        Where to start.
    constraints : Constraints, optional
        Moves that break a precedence are not made.
    n_restarts : int
        How often the order is shaken and polished again.
    rng : numpy Generator
        Needed with restarts.
    deadline : Deadline, optional
        When it passes, or is cancelled, the best order so far is returned.

    Examples
    --------
    >>> from precede.data.simulate import simulate
    >>> from precede.scores.linear import LinearScore
    >>> data = simulate(n_variables=5, degree=1, random_state=0).data.to_numpy()
    >>> polish(LinearScore(data), np.arange(5)).n_moves > 0
    True
    """
    if n_restarts and rng is None:
        raise OptionError(
            f"n_restarts={n_restarts} cannot be used without rng: give the generator to shake the order by."
        )
    constraints = constraints or Constraints.none(score.n_variables)
    deadline = deadline or Deadline(None)
    start = constraints.nearest_order(np.asarray(order))
    moves = local.moves_of(score)
    if moves is None:
        return _polish_by_sweeps(score, start, constraints, n_restarts, rng, deadline)
    climbed = local.climb(score, moves, start, constraints, n_restarts=n_restarts, rng=rng, deadline=deadline)
    orders = [start, *climbed.orders]
    totals = score.totals(torch.as_tensor(np.array(orders), device=score.device)).cpu().numpy()
    best = first_best(totals)
    return Polished(orders[best], float(totals[best]), climbed.n_moves)


def _polish_by_sweeps(
    score: OrderScore,
    order: IntArray,
    constraints: Constraints,
    n_restarts: int,
    rng: np.random.Generator | None,
    deadline: Deadline,
) -> Polished:
    """Judge all moves in a batch and make every improving one whose stretch does not overlap a better one's."""
    here, ties = _climb(score, order, constraints, deadline)
    best, n_moves = here, here.n_moves
    for _ in range(n_restarts):
        if rng is None or deadline.passed():
            break
        shaken = constraints.nearest_order(_shake(_walk(here.order, ties, rng), rng))
        again, ties_again = _climb(score, shaken, constraints, deadline)
        n_moves += again.n_moves
        if not exceeds(here.score, again.score):
            here, ties = again, ties_again
        if exceeds(again.score, best.score):
            best = again
    return Polished(best.order, best.score, n_moves)


def permitted_moves(order: IntArray, constraints: Constraints) -> BoolArray:
    """``[i, k]``: moving position i to position k passes no variable that must stay on the other side."""
    before = constraints.before[np.ix_(order, order)]
    right = np.triu(before, 1).cumsum(axis=1) == 0  # i passes i+1..k: none of them may have to follow i
    left = np.tril(before.T, -1)[:, ::-1].cumsum(axis=1)[:, ::-1] == 0  # transposed: none of k..i-1 must precede i
    moves: BoolArray = np.where(np.tri(len(order), dtype=bool), left, right)
    return moves


def _climb(
    score: OrderScore, order: IntArray, constraints: Constraints, deadline: Deadline
) -> tuple[Polished, BoolArray]:
    """Where the climb ends, and which moves from there leave the score as it is."""
    n_moves = 0
    constrained = bool(constraints.before.any())
    while True:
        current = torch.as_tensor(order, device=score.device)
        sums = score.insertion_sums(current).cpu().numpy()
        stay = float(np.diag(sums).mean())
        if constrained:
            sums = np.where(permitted_moves(order, constraints), sums, -np.inf)
        smallest = TOLERANCE * abs(stay)
        moves = _disjoint_moves(sums - stay, smallest)
        if not moves or deadline.passed():
            return Polished(order, score.score_of(order), n_moves), np.abs(sums - stay) <= smallest
        order = _moved(order, moves)
        n_moves += len(moves)


def _disjoint_moves(gains: np.ndarray, smallest: float) -> list[tuple[int, int]]:
    """Best move of each position, largest gain first, as long as their stretches do not overlap."""
    targets = first_best_rows(gains, smallest / TOLERANCE)
    best = gains.max(axis=1)
    taken = np.zeros(len(gains), dtype=bool)
    moves: list[tuple[int, int]] = []
    for i in np.argsort(-np.round(best / max(smallest, np.finfo(float).tiny)), kind="stable"):
        if best[i] <= smallest:
            break
        stretch = slice(min(i, targets[i]), max(i, targets[i]) + 1)
        if not taken[stretch].any():
            taken[stretch] = True
            moves.append((int(i), int(targets[i])))
    return moves


def _moved(order: IntArray, moves: list[tuple[int, int]]) -> IntArray:
    """The order after insertion moves whose stretches do not overlap."""
    order = order.copy()
    for i, k in moves:
        low, high = min(i, k), max(i, k)
        order[low : high + 1] = np.roll(order[low : high + 1], -1 if i < k else 1)
    return order


def _walk(order: IntArray, ties: BoolArray, rng: np.random.Generator) -> IntArray:
    """Random moves along ties, as many as do not overlap: another order of the same score."""
    taken = np.zeros(len(order), dtype=bool)
    moves: list[tuple[int, int]] = []
    for i, k in rng.permutation(np.argwhere(ties & ~np.eye(len(order), dtype=bool))):
        stretch = slice(min(i, k), max(i, k) + 1)
        if not taken[stretch].any():
            taken[stretch] = True
            moves.append((int(i), int(k)))
    return _moved(order, moves)


def _shake(order: IntArray, rng: np.random.Generator) -> IntArray:
    """Take from two to a fifth of the variables out and put each in at a random position.

    The logarithm of their number is uniform: a small shake is climbed out of soon, a large one leads further.
    """
    d = len(order)
    shaken = order.tolist()
    size = round(2 * math.exp(rng.random() * math.log(max(1, d / 10))))
    for variable in rng.choice(order, size=min(d, size), replace=False):
        shaken.remove(variable)
        shaken.insert(int(rng.integers(d)), int(variable))
    return np.array(shaken, dtype=np.int64)
