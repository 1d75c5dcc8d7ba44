"""Local search in batches, on any device: each sweep judges all insertion moves of an order together."""

from __future__ import annotations

import math

import numpy as np
import torch

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.knowledge import Constraints
from precede.runtime.deadline import Deadline, OutOfTime
from precede.scores.protocol import OrderScore
from precede.ties import TOLERANCE, first_best_rows


class Sweeps:
    """A climb from one order, then from shaken ones; the interface is that of :class:`precede.search.local.Climber`.

    A sweep makes every improving move whose stretch does not overlap a better one's. Where time is over in the middle
    of one, it makes those among the moves judged so far.

    Parameters
    ----------
    score : OrderScore
    constraints : Constraints
    deadline : Deadline
    seed : int
    """

    def __init__(self, score: OrderScore, constraints: Constraints, deadline: Deadline, seed: int) -> None:
        self._score, self._constraints, self._deadline = score, constraints, deadline
        self._rng = np.random.default_rng(seed)
        self._here: tuple[IntArray, float, BoolArray] | None = None  # order, sum, moves that leave it as it is
        self.best_order: IntArray | None = None
        self.best = -math.inf
        self.n_moves = 0

    @property
    def tolerance(self) -> float:
        """Differences that count for nothing."""
        return TOLERANCE * (abs(self.best) if math.isfinite(self.best) else 1.0)

    def climb_from(self, order: IntArray) -> bool:
        """Climb and keep where it ends, if that is the best; False when time was over."""
        while True:
            sums = self._judged(order)
            if not len(sums):
                return False
            stay = float(np.diag(sums).mean())
            smallest = TOLERANCE * abs(stay)
            gains = np.where(permitted_moves(order, self._constraints)[: len(sums)], sums - stay, -np.inf)
            moves = _disjoint_moves(gains, smallest)
            self._here = order, stay, np.abs(gains) <= smallest
            if moves:
                # stretches that do not overlap share no term: their gains add up
                order, stay = _moved(order, moves), stay + sum(float(gains[move]) for move in moves)
                self.n_moves += len(moves)
            if not stay <= self.best + self.tolerance:
                self.best_order, self.best = order, stay
            if not moves or len(sums) < len(order):
                return len(sums) == len(order)

    def _judged(self, order: IntArray) -> FloatArray:
        """Rows of the insertion sums: of all variables, or of as many as there was time for."""
        pieces = self._score.insertion_pieces(torch.as_tensor(order, device=self._score.device))
        sums = np.empty((0, len(order)))
        try:
            with self._score.within(self._deadline):
                while len(sums) < len(order):
                    self._deadline.check()
                    sums = np.concatenate([sums, next(pieces).cpu().numpy()])
        except OutOfTime:
            pass
        return sums

    def restart(self) -> bool:
        """Shake and climb; go on from there if it is no worse than before, else go back; False when time was over."""
        assert self._here is not None
        before = self._here
        order, stay, ties = before
        finished = self.climb_from(self._constraints.nearest_order(shaken(_walk(order, ties, self._rng), self._rng)))
        if self._here[1] < stay - self.tolerance:
            self._here = before
        return finished


def permitted_moves(order: IntArray, constraints: Constraints) -> BoolArray:
    """``[i, k]``: moving position i to position k passes no variable that must stay on the other side."""
    before = constraints.before[np.ix_(order, order)]
    right = np.triu(before, 1).cumsum(axis=1) == 0  # i passes i+1..k: none of them may have to follow i
    left = np.tril(before.T, -1)[:, ::-1].cumsum(axis=1)[:, ::-1] == 0  # transposed: none of k..i-1 must precede i
    moves: BoolArray = np.where(np.tri(len(order), dtype=bool), left, right)
    return moves


def _disjoint_moves(gains: FloatArray, smallest: float) -> list[tuple[int, int]]:
    """Best move of each position, largest gain first, as long as their stretches do not overlap."""
    targets = first_best_rows(gains, smallest / TOLERANCE)
    best = gains.max(axis=1)
    taken = np.zeros(gains.shape[1], dtype=bool)
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


def shaken(order: IntArray, rng: np.random.Generator) -> IntArray:
    """Take from two to a fifth of the variables out (eight of a few) and put each back up to a tenth of them away.

    The logarithm of their number is uniform: a small shake is climbed out of soon, a large one leads further.
    """
    d = len(order)
    result = order.tolist()
    size = round(2 * math.exp(rng.random() * math.log(max(4.0, d / 10))))
    width = max(5, d // 10)
    for variable in rng.choice(d, size=min(d, size), replace=False).tolist():
        place = result.index(variable)
        result.pop(place)
        result.insert(int(rng.integers(max(0, place - width), min(d - 1, place + width) + 1)), variable)
    return np.array(result, dtype=np.int64)
