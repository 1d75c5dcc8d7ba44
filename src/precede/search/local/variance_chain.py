"""Local search for linear scores of equal noise variances: climbs over an order and the variances along it."""

from __future__ import annotations

import numpy as np

from precede.arrays import IntArray
from precede.knowledge import Constraints
from precede.runtime.deadline import Deadline
from precede.scores.moves import VarianceMoves
from precede.search.local.placements import PlacementChain
from precede.search.local.variances import VarianceState, lower_sum
from precede.ties import TOLERANCE


class VarianceChain(PlacementChain):
    """A climb over sums of residual variances.

    Parameters
    ----------
    moves : VarianceMoves
    constraints : Constraints
    deadline : Deadline
    seed : int
    """

    def __init__(self, moves: VarianceMoves, constraints: Constraints, deadline: Deadline, seed: int) -> None:
        d = len(moves.covariance)
        super().__init__(d, constraints, deadline, seed)
        self._moves = moves
        least = 1 / np.diag(np.linalg.inv(moves.covariance))
        self._variances = VarianceState(np.zeros((d, d)), self.order, least, np.zeros((2, d)))

    @property
    def tolerance(self) -> float:
        return TOLERANCE * abs(self.total())

    def total(self) -> float:
        return -self._moves.weight * self._sum()

    def _sum(self) -> float:
        return float((np.diag(self._variances.factor) ** 2).sum())

    def _put_best(self, place: int, low: int, high: int) -> int:
        return int(lower_sum(self._variances, place, low, high, self._smallest))

    def _settle(self, order: IntArray) -> None:
        self.order[:] = order
        self._variances.factor[:] = np.linalg.cholesky(self._moves.covariance[np.ix_(order, order)]).T
        self._smallest = TOLERANCE * self._sum()  # hardly changes in a climb
