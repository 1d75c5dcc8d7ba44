"""What every local search does: climb from an order, shake it and climb again, and keep the best."""

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from precede.arrays import IntArray
from precede.knowledge import Constraints
from precede.runtime.deadline import Deadline


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
