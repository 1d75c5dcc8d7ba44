"""Local search for scores by negentropy: climbs over an order and the residuals along it."""

from __future__ import annotations

import math

import numpy as np
import torch

from precede.arrays import BoolArray, IntArray
from precede.knowledge import Constraints
from precede.runtime.deadline import Deadline
from precede.scores.moves import ResidualMoves
from precede.scores.nongaussian import negentropy
from precede.search.local.rotations import HERE, LANES, Residuals, improve
from precede.search.local.shake import shaken
from precede.ties import TOLERANCE

CELLS_AT_ONCE = 2**18
"""Residuals are worked out so many at a time, which bounds the memory."""


class ResidualChain:
    """A climb from one order, then from shaken ones; the interface is that of :class:`precede.search.local.Climber`.

    One variable after another, in a sequence of the seed's, is put where the score is best, until none gains.

    Parameters
    ----------
    moves : ResidualMoves
    constraints : Constraints
    deadline : Deadline
    seed : int
    """

    def __init__(self, moves: ResidualMoves, constraints: Constraints, deadline: Deadline, seed: int) -> None:
        d, m = moves.centered.shape
        self._moves, self._constraints, self._deadline = moves, constraints, deadline
        self._rng = np.random.default_rng(seed)
        n_blocks = -(-m // LANES)
        self._residuals = Residuals(
            np.zeros((d, n_blocks, LANES)), np.zeros((d, d)), np.arange(d), np.zeros((5, d)),
            np.zeros((n_blocks, LANES)), np.zeros(6 * LANES),
        )  # fmt: skip
        self.best_order: IntArray | None = None
        self.best = -math.inf
        self.n_moves = 0
        self.tolerance = TOLERANCE * m

    def climb_from(self, order: IntArray) -> bool:
        self._settle(order)
        finished = self._climb()
        self._keep()
        return finished

    def restart(self) -> bool:
        before, order = self.total(), self._residuals.order.copy()
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
        d = len(self._residuals.order)
        self._settle(np.arange(d))
        for n in range(d):
            if self._deadline.passed():
                break
            self._improve(n, n + 1, d)
        return self._residuals.order.copy()

    def total(self) -> float:
        """Sum of the negentropies where the chain is, over all rows."""
        s = self._residuals
        return self._n_rows * float(s.work[HERE, np.argsort(s.order)].sum())

    @property
    def _n_rows(self) -> int:
        return len(self._moves.centered[0])

    def _keep(self) -> None:
        if self.total() > self.best + self.tolerance:
            self.best, self.best_order = self.total(), self._residuals.order.copy()

    def _climb(self) -> bool:
        """Move variables, all the way where that is best, until none of them gains."""
        d = len(self._residuals.order)
        while True:
            n_moves = self.n_moves
            if not self._move(np.ones(d, dtype=bool), d):
                return False
            if self.n_moves == n_moves:
                return True

    def _climb_near(self, first: int, last: int) -> bool:
        """The same around a stretch of the order, and around the moves that follow, not far each."""
        d = len(self._residuals.order)
        active = np.zeros(d, dtype=bool)
        active[self._residuals.order[max(0, first - self._margin) : last + self._margin + 1]] = True
        return self._move(active, max(10, d // 5))

    def _move(self, active: BoolArray, reach: int) -> bool:
        """Put every active variable where it is best, within reach; those around a move become active again."""
        order = self._residuals.order
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
        return max(5, len(self._residuals.order) // 20)

    def _improve(self, place: int, n_placed: int, reach: int) -> int:
        """Move a variable to its best place among the first ones, as the constraints permit; where it is then."""
        order, before = self._residuals.order, self._constraints.before
        first = np.flatnonzero(before[order[:place], order[place]])
        last = np.flatnonzero(before[order[place], order[place + 1 : n_placed]])
        low = max(place - reach, int(first[-1]) + 1 if len(first) else 0)
        high = min(place + reach, place + int(last[0]) if len(last) else n_placed - 1)
        target = int(improve(self._residuals, place, low, high, self._n_rows, self.tolerance / self._n_rows))
        self.n_moves += target != place
        return target

    def _settle(self, order: IntArray) -> None:
        """Residuals along an order, from scratch."""
        s, moves = self._residuals, self._moves
        factor = np.linalg.cholesky(moves.covariance[np.ix_(order, order)])
        s.factor[:], s.order[:] = factor, order
        z = s.z.reshape(len(order), -1)
        lower = torch.from_numpy(factor)
        columns = max(1, CELLS_AT_ONCE // len(order))
        for start in range(0, self._n_rows, columns):
            part = slice(start, min(start + columns, self._n_rows))
            residuals = torch.linalg.solve_triangular(lower, torch.from_numpy(moves.centered[order, part]), upper=False)
            z[:, part] = residuals.numpy()
        rows = max(1, CELLS_AT_ONCE // self._n_rows)
        for p in range(0, len(order), rows):
            s.work[HERE, p : p + rows] = negentropy(torch.from_numpy(z[p : p + rows, : self._n_rows])).numpy()
