"""Spline bases of all variables with their cross products, and neighbor selection by boosting on them (CAM)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.pruning.splines import spline_basis

BOOSTING_STEPS = 100
BOOSTING_RATE = 0.1
BOOSTING_DF = 3.0
"""Degrees of freedom of a base learner beyond the constant (mboost's P-splines have four with it)."""
LEAST_SELECTED = 0.02
"""A neighbor is chosen in more than this share of the boosting steps (the authors' R package)."""


@dataclass(frozen=True)
class SplineBank:
    r"""Spline bases of all variables and their cross products; every fit is made of these blocks.

    Bases of variables with few distinct values are filled up with columns that are orthogonal to everything, so that
    all have ``width`` columns and candidates can be handled in one batch.

    Parameters
    ----------
    cross : (n_variables * width, n_variables * width) float array
        :math:`Z^\top Z / m`. The first column of a block is the standardized variable itself, so ``cross`` holds the
        responses too.
    roughness : (n_variables, width) float array
        Diagonal of the penalties; zero for the linear and the filled columns.
    real : (n_variables, width) bool array
        Which columns are not filled.
    n_samples, width : int
    """

    cross: FloatArray
    roughness: FloatArray
    real: BoolArray
    n_samples: int
    width: int

    @classmethod
    def of(cls, values: FloatArray, size: int) -> SplineBank:
        """Make the bank with ``size`` basis functions a variable, the constant included."""
        m, d = values.shape
        width = size - 1
        columns, roughness, real = np.zeros((m, d, width)), np.zeros((d, width)), np.zeros((d, width), dtype=bool)
        for j in range(d):
            basis = spline_basis(values[:, j], size)
            n_real = len(basis.roughness)
            columns[:, j, :n_real], roughness[j, :n_real], real[j, :n_real] = basis.columns, basis.roughness, True
        flat = columns.reshape(m, d * width)
        cross = flat.T @ flat / m
        filled = np.flatnonzero(~real.ravel())
        cross[filled, filled] = 1.0
        return cls(cross, roughness, real, m, width)

    @property
    def n_variables(self) -> int:
        return len(self.real)

    def columns_of(self, variables: IntArray) -> IntArray:
        """Positions in ``cross`` of the real columns of some variables, one variable after the other."""
        positions = variables[:, None] * self.width + np.arange(self.width)
        chosen: IntArray = positions[self.real[variables]]
        return chosen


def likely_parents(bank: SplineBank, allowed: BoolArray, most: int) -> BoolArray:
    r"""Preliminary neighborhood selection by component-wise spline boosting, all responses at once.

    In each step the base learner that lowers the residual sum of squares most is added at a tenth of its size. The
    variables chosen in more than 2% of the steps stay; where these are more than ``most``, those stay that were chosen
    more often than the next one in line, as in the authors' R package, so that a tie at the limit drops all of its
    members.

    Parameters
    ----------
    bank : SplineBank
    allowed : (n_variables, n_variables) bool array
        ``[i, j]``: i may be chosen for the response j.
    most : int

    Returns
    -------
    selected : (n_variables, n_variables) bool array
        ``[i, j]``: i is a likely parent of j.
    """
    d, width = bank.n_variables, bank.width
    shrink = np.where(bank.real, _shrinkage(bank.roughness, bank.real), 0.0)
    worth = 2 * shrink - shrink**2
    residual = bank.cross[::width].copy()  # row j: Z'(residual of j) / m
    blocks = bank.cross.reshape(d, width, d * width)
    times = np.zeros((d, d))
    responses = np.flatnonzero(allowed.any(axis=0))
    for _ in range(BOOSTING_STEPS):
        by_block = residual.reshape(d, d, width)  # [j, i]: response j, learner i
        gain = np.where(allowed.T, np.einsum("jiw,iw->ji", by_block**2, worth), -1.0)  # .T: gain is [response, learner]
        best = gain.argmax(axis=1)
        for j in responses:
            i = best[j]
            times[i, j] += 1
            residual[j] -= (BOOSTING_RATE * shrink[i] * by_block[j, i]) @ blocks[i]
    ranked = -np.sort(-times, axis=0)
    next_in_line = ranked[most] if most < d else np.zeros(d)
    selected: BoolArray = times > np.maximum(LEAST_SELECTED * BOOSTING_STEPS, next_in_line)
    return selected


def _shrinkage(roughness: FloatArray, real: BoolArray) -> FloatArray:
    """Shrinkage 1 / (1 + c * roughness) of each column, with ``c`` such that a variable's sum is BOOSTING_DF."""
    low, high = np.full(len(real), -30.0), np.full(len(real), 30.0)
    for _ in range(60):  # bisection of log c
        middle = (low + high) / 2
        shrink: FloatArray = 1 / (1 + np.exp(middle)[:, None] * roughness)
        rough = (shrink * real).sum(axis=1) > BOOSTING_DF
        low, high = np.where(rough, middle, low), np.where(rough, high, middle)
    return shrink
