"""Local search for scores by negentropy: climbs over an order and the residuals along it."""

from __future__ import annotations

import numpy as np
import torch

from precede.arrays import IntArray
from precede.knowledge import Constraints
from precede.runtime.deadline import Deadline
from precede.scores.moves import ResidualMoves
from precede.scores.nongaussian import negentropy
from precede.search.local.placements import PlacementChain
from precede.search.local.rotations import HERE, LANES, Residuals, improve
from precede.ties import TOLERANCE

CELLS_AT_ONCE = 2**18
"""Residuals are worked out this many at a time, which bounds the memory."""


class ResidualChain(PlacementChain):
    """A climb over negentropies of residuals.

    Parameters
    ----------
    moves : ResidualMoves
    constraints : Constraints
    deadline : Deadline
    seed : int
    """

    def __init__(self, moves: ResidualMoves, constraints: Constraints, deadline: Deadline, seed: int) -> None:
        d, m = moves.centered.shape
        super().__init__(d, constraints, deadline, seed)
        self._moves = moves
        n_blocks = -(-m // LANES)
        self._residuals = Residuals(
            np.zeros((d, n_blocks, LANES)), np.zeros((d, d)), self.order, np.zeros((5, d)),
            np.zeros((n_blocks, LANES)), np.zeros(6 * LANES),
        )  # fmt: skip

    @property
    def tolerance(self) -> float:
        return TOLERANCE * self._n_rows

    def total(self) -> float:
        """Sum of the negentropies where the chain is, over all rows."""
        return self._n_rows * float(self._residuals.work[HERE, np.argsort(self.order)].sum())

    @property
    def _n_rows(self) -> int:
        return len(self._moves.centered[0])

    def _put_best(self, place: int, low: int, high: int) -> int:
        return int(improve(self._residuals, place, low, high, self._n_rows, self.tolerance / self._n_rows))

    def _settle(self, order: IntArray) -> None:
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
