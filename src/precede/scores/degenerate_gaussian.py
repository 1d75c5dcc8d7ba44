"""Degenerate Gaussian score of mixed columns: categories as blocks of indicators in one covariance matrix."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit

from precede.arrays import FloatArray
from precede.data.kinds import indicator_places
from precede.data.load import Table
from precede.errors import OptionError
from precede.knowledge import Constraints
from precede.scores.covariance import moments_of
from precede.scores.grow_shrink import FamiliesScore
from precede.scores.mixed import ASSUMED
from precede.scores.moves import ParentSet
from precede.scores.parents import SMALLEST_VARIANCE

Array = np.ndarray[Any, Any]


class DegenerateGaussianFamilies:
    r"""Gaussian BIC of a block of columns given other blocks.

    .. math:: -\frac m2 \log \det R_{vv \mid S} - \mathrm{penalty} \cdot \tfrac12 \log m \; b_v \sum_{p \in S} b_p,

    where R is the correlation matrix of all columns with categories as indicators, and b the width of a block. With
    numbers only it is the sparse linear score. Markov-equivalent graphs have the same sum.

    Parameters
    ----------
    correlation : (n_columns, n_columns) array
    blocks : list of slice
        Columns of each variable.
    n_samples : int
    penalty : float
        Price of a parameter in units of log(m)/2.

    References
    ----------
    Andrews, Ramsey, Cooper (2019). Learning high-dimensional directed acyclic graphs with mixed data-types. PMLR 104.
    """

    def __init__(
        self, correlation: FloatArray, blocks: Sequence[slice], n_samples: int, *, penalty: float = 1.0
    ) -> None:
        if penalty <= 0:
            raise OptionError(f"penalty={penalty!r} cannot be used: it must be positive.")
        self.n_samples, self.n_variables = n_samples, len(blocks)
        self._correlation = np.ascontiguousarray(correlation)
        self._start = np.array([block.start for block in blocks], dtype=np.int64)
        self._width = np.array([block.stop - block.start for block in blocks], dtype=np.int64)
        self.price = penalty * math.log(n_samples) / 2

    def of(self, variable: int, parents: ParentSet) -> float:
        """Score of a variable with these parents."""
        fit = np.zeros(self.n_variables)
        alone = self._fits(variable, parents, np.zeros(self.n_variables, dtype=np.bool_), fit)
        return -self.n_samples / 2 * alone - self.price * float(self._width[variable] * self._total(parents))

    def additions(self, variable: int, parents: ParentSet) -> FloatArray:
        """Scores with one more parent each."""
        wanted = np.ones(self.n_variables, dtype=np.bool_)
        wanted[[variable, *parents]] = False
        fit = np.zeros(self.n_variables)
        self._fits(variable, parents, wanted, fit)
        parameters = self._width[variable] * (self._total(parents) + self._width)
        result: FloatArray = -self.n_samples / 2 * fit - self.price * parameters
        return result

    def _total(self, parents: ParentSet) -> int:
        return int(self._width[list(parents)].sum())

    def _fits(self, variable: int, parents: ParentSet, wanted: Array, out: FloatArray) -> float:
        members = np.array(parents, dtype=np.int64)
        return float(
            conditional_log_determinants(self._correlation, self._start, self._width, variable, members, wanted, out)
        )


def degenerate_gaussian_score(
    table: Table, *, penalty: float = 1.0, constraints: Constraints | None = None
) -> FamiliesScore:
    """Order score of mixed columns: counts and ordinal columns are numbers, categories blocks of indicators."""
    blocks = indicator_places(table.kinds)
    matrix, rows = moments_of(table)
    spread = np.sqrt(np.diag(matrix))
    spread[spread == 0] = 1.0  # a level that a resample has lost
    local = DegenerateGaussianFamilies(matrix / np.outer(spread, spread), blocks, rows, penalty=penalty)
    return FamiliesScore(
        local,
        "degenerate-gaussian",
        assumes=ASSUMED["degenerate-gaussian"],
        max_parents=table.n_variables,
        exchange=False,  # growth alone finds the parents of linear models
        constraints=constraints,
    )


@njit(cache=True, nogil=True)
def log_determinant(matrix: Array) -> float:  # pragma: no cover - compiled
    """By Cholesky in place; a pivot is at least the smallest variance."""
    total = 0.0
    for i in range(matrix.shape[0]):
        for j in range(i + 1):
            value = matrix[i, j]
            for k in range(j):
                value -= matrix[i, k] * matrix[j, k]
            if i == j:
                value = max(value, SMALLEST_VARIANCE)
                total += math.log(value)
                matrix[i, i] = math.sqrt(value)
            else:
                matrix[i, j] = value / matrix[j, j]
    return total


@njit(cache=True, nogil=True)
def rows_of_factor(covariance: Array, start: Array, width: Array, members: Array) -> Array:  # pragma: no cover
    """Rows of the Cholesky factor of the members' columns, over all columns; zero where a column adds nothing."""
    p = covariance.shape[0]
    size = 0
    for member in members:
        size += width[member]
    rows = np.zeros((size, p))
    k = 0
    for member in members:
        for column in range(start[member], start[member] + width[member]):
            row = rows[k]
            row[:] = covariance[column]
            for i in range(k):
                factor = rows[i, column]
                if factor != 0.0:
                    for t in range(p):
                        row[t] -= factor * rows[i, t]
            left = row[column]
            if left < SMALLEST_VARIANCE:
                row[:] = 0.0
            else:
                scale = 1.0 / math.sqrt(left)
                for t in range(p):
                    row[t] *= scale
            k += 1
    return rows


@njit(cache=True, nogil=True)
def conditional_log_determinants(
    covariance: Array, start: Array, width: Array, target: int, members: Array, wanted: Array, out: Array
) -> float:  # pragma: no cover - compiled
    """Log determinant of the target's block given the members' blocks; in ``out``, given each wanted block as well."""
    rows = rows_of_factor(covariance, start, width, members)
    size, w, at = rows.shape[0], width[target], start[target]
    mine = np.empty((w, w))
    for i in range(w):
        for j in range(w):
            value = covariance[at + i, at + j]
            for k in range(size):
                value -= rows[k, at + i] * rows[k, at + j]
            mine[i, j] = value
    widest = width.max()
    other, cross, left = np.empty((widest, widest)), np.empty((widest, w)), np.empty((w, w))
    for one in range(len(width)):
        if not wanted[one]:
            continue
        b, first = width[one], start[one]
        for i in range(b):
            for j in range(b):
                value = covariance[first + i, first + j]
                for k in range(size):
                    value -= rows[k, first + i] * rows[k, first + j]
                other[i, j] = value
            for j in range(w):
                value = covariance[first + i, at + j]
                for k in range(size):
                    value -= rows[k, first + i] * rows[k, at + j]
                cross[i, j] = value
        left[:] = mine
        for i in range(b):  # one more row of the factor at a time
            for k in range(i):
                for j in range(w):
                    cross[i, j] -= other[i, k] * cross[k, j]
            pivot = other[i, i]
            for k in range(i):
                pivot -= other[i, k] * other[i, k]
            if pivot < SMALLEST_VARIANCE:
                for j in range(w):
                    cross[i, j] = 0.0
                for r in range(i + 1, b):
                    other[r, i] = 0.0
                continue
            scale = 1.0 / math.sqrt(pivot)
            for j in range(w):
                cross[i, j] *= scale
            for r in range(i + 1, b):
                value = other[r, i]
                for k in range(i):
                    value -= other[r, k] * other[i, k]
                other[r, i] = value * scale
            for j in range(w):
                for k in range(w):
                    left[j, k] -= cross[i, j] * cross[i, k]
        out[one] = log_determinant(left)
    return log_determinant(mine)
