"""Degenerate Gaussian score of mixed columns: categories as blocks of indicators in one covariance matrix."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numba import njit

from precede.arrays import FloatArray
from precede.data.kinds import indicator_places
from precede.data.load import Table
from precede.errors import OptionError
from precede.scores.covariance import moments_of
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

    @classmethod
    def of_table(cls, table: Table, penalty: float = 1.0) -> Self:
        """Counts and ordinal columns are numbers, categories blocks of indicators."""
        matrix, rows = moments_of(table)
        spread = np.sqrt(np.diag(matrix))
        spread[spread == 0] = 1.0  # a level that a resample has lost
        return cls(matrix / np.outer(spread, spread), indicator_places(table.kinds), rows, penalty=penalty)


@njit(cache=True, nogil=True)
def take_out(matrix: Array, n: int) -> float:  # pragma: no cover - compiled
    """Take what its first columns explain out of the others of a covariance, in place; log determinant of the first.

    A column that the ones before leave nothing of explains nothing.
    """
    total = 0.0
    for c in range(n):
        pivot = matrix[c, c]
        total += math.log(max(pivot, SMALLEST_VARIANCE))
        if pivot < SMALLEST_VARIANCE:
            continue
        for i in range(c + 1, len(matrix)):
            factor = matrix[i, c] / pivot
            for j in range(c + 1, len(matrix)):
                matrix[i, j] -= factor * matrix[c, j]
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
    size, w, alone = rows.shape[0], width[target], 0.0
    room, columns = np.empty((width.max() + w, width.max() + w)), np.empty(width.max() + w, np.int64)
    for one in range(-1, len(width)):  # nothing, then each that is wanted
        if one >= 0 and not wanted[one]:
            continue
        b = width[one] if one >= 0 else 0
        for i in range(b + w):
            columns[i] = start[one] + i if i < b else start[target] + i - b
            for j in range(i + 1):
                value = covariance[columns[i], columns[j]]
                for k in range(size):
                    value -= rows[k, columns[i]] * rows[k, columns[j]]
                room[i, j] = room[j, i] = value
        take_out(room[: b + w, : b + w], b)
        fit = take_out(room[b : b + w, b : b + w], w)
        if one >= 0:
            out[one] = fit
        else:
            alone = fit
    return alone
