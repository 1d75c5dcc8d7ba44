"""Local search over what can be worked out along an order: one variable after another is put where it is best."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np

from precede.arrays import BoolArray, IntArray
from precede.knowledge import Constraints
from precede.runtime.deadline import Deadline
from precede.search.local.shake import shaken


class PlacementChain(ABC):
    """A climb from one order, then from shaken ones; the interface is that of :class:`precede.search.local.Climber`.

    One variable after another, in a sequence of the seed's, is put where the score is best, until none gains.

    Parameters
    ----------
    n_variables : int
    constraints : Constraints
    deadline : Deadline
    seed : int
    """

    def __init__(self, n_variables: int, constraints: Constraints, deadline: Deadline, seed: int) -> None:
        self.order = np.arange(n_variables)
        self._constraints, self._deadline = constraints, deadline
        self._rng = np.random.default_rng(seed)
        self.best_order: IntArray | None = None
        self.best = -math.inf
        self.n_moves = 0

    @property
    @abstractmethod
    def tolerance(self) -> float:
        """Differences of totals that count for nothing."""

    @abstractmethod
    def total(self) -> float:
        """What the terms sum to where the chain is, up to a number that is the same for every order."""

    @abstractmethod
    def _settle(self, order: IntArray) -> None:
        """Go to an order and work out from scratch what is known along it."""

    @abstractmethod
    def _put_best(self, place: int, low: int, high: int) -> int:
        """Move a variable where it is best, from low to high; where it is then."""

    def climb_from(self, order: IntArray) -> bool:
        """Climb and keep where it ends, if that is the best; False when time was over."""
        self._settle(order)
        finished = self._climb()
        self._keep()
        return finished

    def restart(self) -> bool:
        """Shake and climb; go on from there if it is no worse than before, else go back; False when time was over."""
        before, order = self.total(), self.order.copy()
        start = self._constraints.nearest_order(shaken(order, self._rng))
        self._settle(start)
        moved = np.flatnonzero(start != order)
        finished = self._climb_near(int(moved[0]), int(moved[-1])) if len(moved) else True
        if finished and self.total() > before + self.tolerance:
            finished = self._climb()
        self._keep()
        if finished and self.total() < before - self.tolerance:
            self._settle(order)
        return finished

    def insert_all(self) -> IntArray:
        """Put in one variable after another, in column order, each where the order so far is best."""
        d = len(self.order)
        self._settle(np.arange(d))
        for n in range(d):
            if self._deadline.passed():
                break
            self._improve(n, n + 1, d)
        return self.order.copy()

    def _keep(self) -> None:
        if self.total() > self.best + self.tolerance:
            self.best, self.best_order = self.total(), self.order.copy()

    def _climb(self) -> bool:
        """Move variables, all the way where that is best, until none of them gains."""
        d = len(self.order)
        while True:
            n_moves = self.n_moves
            if not self._move(np.ones(d, dtype=bool), d):
                return False
            if self.n_moves == n_moves:
                return True

    def _climb_near(self, first: int, last: int) -> bool:
        """The same around a stretch of the order, and around the moves that follow, not far each."""
        d = len(self.order)
        active = np.zeros(d, dtype=bool)
        active[self.order[max(0, first - self._margin) : last + self._margin + 1]] = True
        return self._move(active, max(10, d // 5))

    def _move(self, active: BoolArray, reach: int) -> bool:
        """Put every active variable where it is best, within reach; those around a move become active again."""
        order = self.order
        sequence = self._rng.permutation(len(order))
        while active.any():
            for variable in sequence[active[sequence]]:
                if self._deadline.passed():
                    return False
                active[variable] = False
                place = int(np.flatnonzero(order == variable)[0])
                target = self._improve(place, len(order), reach)
                if target != place:
                    low, high = min(place, target) - self._margin, max(place, target) + self._margin
                    active[order[max(0, low) : high + 1]] = True
        return True

    @property
    def _margin(self) -> int:
        return max(5, len(self.order) // 20)

    def _improve(self, place: int, n_placed: int, reach: int) -> int:
        """Move a variable to its best place among the first ones, as the constraints permit; where it is then."""
        order, before = self.order, self._constraints.before
        first = np.flatnonzero(before[order[:place], order[place]])
        last = np.flatnonzero(before[order[place], order[place + 1 : n_placed]])
        low = max(place - reach, int(first[-1]) + 1 if len(first) else 0)
        high = min(place + reach, place + int(last[0]) if len(last) else n_placed - 1)
        target = self._put_best(place, low, high)
        self.n_moves += target != place
        return target
