"""Compiled: one variable taken through an order whose residual variances are known, where all noise varies alike.

Moving a variable is a chain of adjacent swaps, and a swap leaves the product of its two residual variances as it is:
that is their determinant given those before.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import types

from precede.arrays import BoolArray, IntArray
from precede.knowledge import Constraints
from precede.runtime.compiled import compiled, inlined, typeof
from precede.runtime.deadline import Deadline
from precede.scores.protocol import VarianceMoves
from precede.search.local.climber import Climber
from precede.ties import TOLERANCE

Array = np.ndarray[Any, Any]

GAIN, ROOM = range(2)
"""Rows of the work array: of the variable that is looked at, its gain at each position; and room."""


class VarianceState(NamedTuple):
    """An order, the regressions along it, and room to work in."""

    factor: Array  # (d, d) float64: [t, k] is row k, column t of the covariance's Cholesky factor along the order
    order: Array  # (d,) int64
    least: Array  # (d,) float64: by variable, its variance given all the others
    work: Array  # (2, d) float64: GAIN, ROOM


VARIANCES = typeof(VarianceState(np.zeros((1, 1)), np.zeros(1, np.int64), np.zeros(1), np.zeros((2, 1))))


@inlined
def exchange(s: VarianceState, t: int) -> None:
    """Exchange the variables at positions t and t + 1."""
    factor, order = s.factor, s.order
    a, c = factor[t + 1, t + 1], factor[t, t + 1]
    length = math.sqrt(a * a + c * c)
    cosine, sine = a / length, c / length
    for k in range(t):
        factor[k, t], factor[k, t + 1] = factor[k, t + 1], factor[k, t]
    b = factor[t, t]
    factor[t, t], factor[t, t + 1], factor[t + 1, t + 1] = length, sine * b, cosine * b
    for k in range(t + 2, len(order)):
        left, right = factor[t, k], factor[t + 1, k]
        factor[t, k], factor[t + 1, k] = sine * left + cosine * right, cosine * left - sine * right
    order[t], order[t + 1] = order[t + 1], order[t]


@compiled(types.int64(VARIANCES, *[types.int64] * 3, types.float64))
def lower_sum(s: VarianceState, p: int, low: int, high: int, tolerance: float) -> int:
    """Move the variable at position p where the sum of variances is smallest, from low to high; where it is then.

    Of equal positions the first is taken, and it stays where it is if no gain exceeds the tolerance. To the right,
    those that it passes lose a predecessor, so it goes no further than its own least variance could make up for.
    """
    factor, gain, room = s.factor, s.work[GAIN], s.work[ROOM]
    own = factor[p, p] * factor[p, p]
    best = gain[p] = 0.0
    given = own  # its variance given those before q
    won = 0.0
    for q in range(p - 1, low - 1, -1):
        more = given + factor[q, p] * factor[q, p]
        won += factor[q, q] * factor[q, q] * (1.0 - given / more)
        given = more
        gain[q] = won - (given - own)
        best = max(best, gain[q])
    for k in range(p + 1, high + 1):
        room[k], gain[k] = factor[p, k], -math.inf
    at_most, given, lost = own - s.least[s.order[p]], own, 0.0
    for q in range(p + 1, high + 1):
        pivot, vector = factor[q, q], room[q]
        lost += vector * vector
        if at_most - lost < best - tolerance:
            break
        length = math.sqrt(pivot * pivot + vector * vector)
        cosine, sine = pivot / length, vector / length
        given *= cosine * cosine
        gain[q] = own - given - lost
        best = max(best, gain[q])
        for k in range(q + 1, high + 1):
            room[k] = cosine * room[k] - sine * factor[q, k]
    if best <= tolerance:
        return p
    target = low
    while gain[target] < best - tolerance:
        target += 1
    step = 1 if target > p else -1
    for q in range(p, target, step):
        exchange(s, min(q, q + step))
    return target


class VarianceChain(Climber):
    """A climb over sums of residual variances.

    One variable after another, in a sequence of the seed's, is put where the score is best, until none gains. After a
    shake those around what it moved come first, and all the others only where that gains.

    Parameters
    ----------
    moves : VarianceMoves
    constraints, deadline, seed
        As of :class:`precede.search.local.climber.Climber`.
    """

    def __init__(self, moves: VarianceMoves, constraints: Constraints, deadline: Deadline, seed: int) -> None:
        super().__init__(constraints, deadline, seed)
        self._moves, d = moves, len(self.order)
        least = 1 / np.diag(np.linalg.inv(moves.covariance))
        self._variances = VarianceState(np.zeros((d, d)), self.order, least, np.zeros((2, d)))
        self.settle(self.order)

    @property
    def tolerance(self) -> float:
        return TOLERANCE * abs(self.total())

    def total(self) -> float:
        return -self._moves.weight * self._sum()

    def _sum(self) -> float:
        return float((np.diag(self._variances.factor) ** 2).sum())

    def settle(self, order: IntArray) -> None:
        self.order[:] = order
        self._variances.factor[:] = np.linalg.cholesky(self._moves.covariance[np.ix_(order, order)]).T
        self._smallest = TOLERANCE * self._sum()  # hardly changes in a climb

    def climb(self, shaken_from: tuple[IntArray, float] | None = None) -> bool:
        if shaken_from is None:
            return self._climb_all()
        order, total = shaken_from
        moved = np.flatnonzero(self.order != order)
        finished = not len(moved) or self._climb_near(int(moved[0]), int(moved[-1]))
        if finished and self.total() > total + self.tolerance:
            finished = self._climb_all()
        return finished

    def insert(self, n: int) -> bool:
        self._improve(n, n + 1, len(self.order))
        return True

    def _climb_all(self) -> bool:
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
        sequence = self.rng.permutation(len(order))
        while active.any():
            for variable in sequence[active[sequence]]:
                if self.deadline.passed():
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
        order, before = self.order, self.constraints.before
        first = np.flatnonzero(before[order[:place], order[place]])
        last = np.flatnonzero(before[order[place], order[place + 1 : n_placed]])
        low = max(place - reach, int(first[-1]) + 1 if len(first) else 0)
        high = min(place + reach, place + int(last[0]) if len(last) else n_placed - 1)
        target = int(lower_sum(self._variances, place, low, high, self._smallest))
        self.n_moves += target != place
        return target
