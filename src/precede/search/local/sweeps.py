"""Local search in batches, on any device: each sweep judges all insertion moves of an order together."""

import math
from collections.abc import Iterable
from itertools import takewhile
from typing import Any

import numpy as np
import torch

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.knowledge import Constraints
from precede.runtime.deadline import Deadline, OutOfTime
from precede.scores.protocol import OrderScore
from precede.search.local.climber import Climber
from precede.ties import TOLERANCE, first_best, first_best_rows


class Sweeps(Climber):
    """A climb by sweeps of all moves, for any score.

    A sweep makes every improving move whose stretch does not overlap a better one's. Where time is over in the middle
    of one, it makes those among the moves judged so far. A restart first makes random moves that leave the score as it
    is.

    Parameters
    ----------
    score : OrderScore
    constraints, deadline, seed
        As of :class:`precede.search.local.climber.Climber`.
    """

    def __init__(self, score: OrderScore, constraints: Constraints, deadline: Deadline, seed: int) -> None:
        super().__init__(constraints, deadline, seed)
        self._score, self._total = score, -math.inf
        self._ties = np.zeros((len(self.order),) * 2, dtype=bool)

    @property
    def tolerance(self) -> float:
        return TOLERANCE * (abs(self._total) if math.isfinite(self._total) else 1.0)

    def total(self) -> float:
        return self._total

    def settle(self, order: IntArray) -> None:
        self.order, self._total = order, -math.inf

    def here(self) -> Any:
        return self.order, self._total, self._ties

    def go_back(self, here: Any) -> None:
        self.order, self._total, self._ties = here

    def climb(self, shaken_from: tuple[IntArray, float] | None = None) -> bool:
        while True:
            sums = self._judged()
            if not len(sums):
                return False
            stay = float(np.diag(sums).mean())
            smallest = TOLERANCE * abs(stay)
            gains = np.where(permitted_moves(self.order, self.constraints)[: len(sums)], sums - stay, -np.inf)
            moves = _disjoint_moves(gains, smallest)
            # stretches that do not overlap share no term: their gains add up
            self.order, self._total = _moved(self.order, moves), stay + sum(float(gains[move]) for move in moves)
            self._ties = np.abs(gains) <= smallest
            self.n_moves += len(moves)
            if not moves or len(sums) < len(self.order):
                return len(sums) == len(self.order)

    def _judged(self) -> FloatArray:
        """Rows of the insertion sums: of all variables, or of as many as there was time for."""
        pieces = self._score.insertion_pieces(torch.as_tensor(self.order, device=self._score.device))
        sums = np.empty((0, len(self.order)))
        try:
            with self._score.within(self.deadline):
                while len(sums) < len(self.order):
                    self.deadline.check()
                    sums = np.concatenate([sums, next(pieces).cpu().numpy()])
        except OutOfTime:
            pass
        return sums

    def insert(self, n: int) -> bool:
        order, before, score = self.order, self.constraints.before, self._score
        try:
            with score.within(self.deadline):
                sums = score.placing_sums(torch.as_tensor(order, device=score.device), n).cpu().numpy()
        except OutOfTime:
            return False
        j = order[n]
        slots = [k for k in range(n + 1) if not before[j, order[:k]].any() and not before[order[k:n], j].any()]
        self.order = np.insert(np.delete(order, n), slots[first_best(sums[slots])], j)
        return True

    def shaken(self) -> IntArray:
        self.order = _walk(self.order, self._ties, self.rng)
        return super().shaken()


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
    largest_first = np.argsort(-np.round(best / max(smallest, np.finfo(float).tiny)), kind="stable")
    improving = takewhile(lambda i: best[i] > smallest, largest_first)
    return _apart(((int(i), int(targets[i])) for i in improving), gains.shape[1])


def _apart(moves: Iterable[tuple[int, int]], n_variables: int) -> list[tuple[int, int]]:
    """Those moves whose stretches overlap none before."""
    taken, kept = np.zeros(n_variables, dtype=bool), []
    for i, k in moves:
        stretch = slice(min(i, k), max(i, k) + 1)
        if not taken[stretch].any():
            taken[stretch] = True
            kept.append((i, k))
    return kept


def _moved(order: IntArray, moves: list[tuple[int, int]]) -> IntArray:
    """The order after insertion moves whose stretches do not overlap."""
    order = order.copy()
    for i, k in moves:
        low, high = min(i, k), max(i, k)
        order[low : high + 1] = np.roll(order[low : high + 1], -1 if i < k else 1)
    return order


def _walk(order: IntArray, ties: BoolArray, rng: np.random.Generator) -> IntArray:
    """Random moves along ties, as many as do not overlap: another order of the same score."""
    pairs = rng.permutation(np.argwhere(ties & ~np.eye(len(order), dtype=bool))).tolist()
    return _moved(order, _apart(pairs, len(order)))
