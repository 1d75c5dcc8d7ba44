"""What every local search does: climb from an order, shake it and climb again, and keep the best; and sweeps.

A sweep judges all insertion moves of an order together, in batches, on any device and for any score.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from itertools import takewhile
from typing import Any

import numpy as np
import torch

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.knowledge import Constraints
from precede.runtime.deadline import Deadline, OutOfTime
from precede.scores.protocol import OrderScore
from precede.ties import TOLERANCE, first_best, first_best_rows

EVERYWHERE_UP_TO = 150
"""Variables up to which restarts and resamples look for parents among all of them; with more, among those near."""


def edges_away(edges: BoolArray, most: int) -> BoolArray:
    """Pairs of variables that at most so many edges connect, in any direction.

    Examples
    --------
    >>> edges_away(np.eye(4, k=1, dtype=bool), 2).astype(int)
    array([[1, 1, 1, 0],
           [1, 1, 1, 1],
           [1, 1, 1, 1],
           [0, 1, 1, 1]])
    """
    steps = np.eye(len(edges), dtype=np.float32) + edges + edges.T  # transposed: either direction
    near: BoolArray = np.linalg.matrix_power(steps, most) > 0
    return near


class Climber(ABC):
    """A climb from one order, then from shaken ones. Each kind has its own way to find the moves that gain.

    Parameters
    ----------
    constraints : Constraints
        Moves that break a precedence are not made.
    deadline : Deadline
    seed : int
        Of the sequence of moves, of moves along ties, and of shakes.

    Attributes
    ----------
    order : (n_variables,) int array
        Where it is.
    best_order : (n_variables,) int array or None
        None before the first climb.
    best : float
        What its terms sum to, up to a number that is the same for every order.
    n_moves : int
    """

    def __init__(self, constraints: Constraints, deadline: Deadline, seed: int) -> None:
        self.constraints, self.deadline = constraints, deadline
        self.rng = np.random.default_rng(seed)
        self.order = np.arange(len(constraints.before))
        self.best_order: IntArray | None = None
        self.best, self.n_moves = -math.inf, 0

    @property
    @abstractmethod
    def tolerance(self) -> float:
        """Differences that count for nothing."""

    @abstractmethod
    def total(self) -> float:
        """What the terms sum to where it is, up to a number that is the same for every order."""

    @abstractmethod
    def settle(self, order: IntArray) -> None:
        """Go to an order, and work out what is known along it."""

    @abstractmethod
    def climb(self, shaken_from: tuple[IntArray, float] | None = None) -> bool:
        """Make moves that gain until there is none, from an order that was shaken; False when time was over."""

    @abstractmethod
    def insert(self, n: int) -> bool:
        """Put the variable at position n where the order up to there is best; False when time was over."""

    def climb_from(self, order: IntArray, shaken_from: tuple[IntArray, float] | None = None) -> bool:
        """Climb and keep where it ends, if that is the best, also when it was cut short: False."""
        self.settle(order)
        finished = self.climb(shaken_from)
        if self.total() > self.best + self.tolerance:
            self.best, self.best_order = self.total(), self.order.copy()
        return finished

    def search(self, start: IntArray, n_restarts: int) -> None:
        """Climb from an order, and restart this many times while there is time."""
        going = self.climb_from(start)
        for _ in range(n_restarts):
            if not going or self.deadline.passed():
                break
            going = self.restart()

    def restart(self) -> bool:
        """Shake and climb; go on from there if it is no worse than before, else go back; False when time was over."""
        before, order, total = self.here(), self.order.copy(), self.total()
        finished = self.climb_from(self.constraints.nearest_order(self.shaken()), (order, total))
        if finished and self.total() < total - self.tolerance:
            self.go_back(before)
        return finished

    def here(self) -> Any:
        """What :meth:`go_back` needs."""
        return self.order.copy()

    def go_back(self, here: Any) -> None:
        """Go to where :meth:`here` was asked."""
        self.settle(here)

    def insert_all(self) -> IntArray:
        """Put in one variable after another, in column order, each where the order so far is best."""
        for n in range(len(self.order)):
            if self.deadline.passed() or not self.insert(n):
                break
        return self.constraints.nearest_order(self.order.copy())

    def shaken(self) -> IntArray:
        """Take from two to a fifth of the variables out (eight of a few), each put back up to a tenth of them away.

        The logarithm of their number is uniform: a small shake is climbed out of soon, a large one leads further.
        """
        d, rng = len(self.order), self.rng
        result = self.order.tolist()
        size = round(2 * math.exp(rng.random() * math.log(max(4.0, d / 10))))
        width = max(5, d // 10)
        for variable in rng.choice(d, size=min(d, size), replace=False).tolist():
            place = result.index(variable)
            result.pop(place)
            result.insert(int(rng.integers(max(0, place - width), min(d - 1, place + width) + 1)), variable)
        return np.array(result, dtype=np.int64)


class Sweeps(Climber):
    """A climb by sweeps of all moves, for any score.

    A sweep makes every improving move whose stretch does not overlap a better one's. Where time is over in the middle
    of one, it makes those among the moves judged so far. A restart first makes random moves that leave the score as it
    is.

    Parameters
    ----------
    score : OrderScore
    constraints, deadline, seed
        As of :class:`Climber`.
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
