"""What parents of any kind explain of a variable: counts of levels, indicators in a covariance, Gaussians in cells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numba import njit

from precede.arrays import FloatArray, IntArray
from precede.data.load import Table
from precede.errors import DataError, OptionError, listed
from precede.kinds import indicator_places
from precede.scores.covariance import moments_of
from precede.scores.grow_shrink import FamilyScore
from precede.scores.parents import SMALLEST_VARIANCE
from precede.scores.protocol import ParentSet

Array = np.ndarray[Any, Any]


def price_of(penalty: float, n_samples: int) -> float:
    """Nats that a parameter costs."""
    if penalty <= 0:
        raise OptionError(f"penalty={penalty!r} cannot be used: it must be positive.")
    return penalty * math.log(n_samples) / 2


@njit(cache=True, nogil=True)
def cells_of(codes: Array, levels: Array, members: Array, labels: Array) -> int:  # pragma: no cover - compiled
    """Number the combinations of the members' levels that occur, in ``labels``; returns how many there are.

    Parameters
    ----------
    codes : (n_variables, n_samples) int array
    levels : (n_variables,) int array
    members : (n_members,) int array
    labels : (n_samples,) int64 array
        Written.
    """
    n = codes.shape[1]
    labels[:] = 0
    n_cells = 1
    for member in members:
        column, width = codes[member], levels[member]
        seen = np.full(n_cells * width, -1, np.int64)
        n_cells = 0
        for row in range(n):
            place = labels[row] * width + column[row]
            if seen[place] < 0:
                seen[place] = n_cells
                n_cells += 1
            labels[row] = seen[place]
    return n_cells


@njit(cache=True, nogil=True)
def joint_fits(
    codes: Array, levels: Array, parents: Array, entropy: Array, prior: float, out: Array
) -> None:  # pragma: no cover - compiled
    """Log-likelihood of the parents together, in the last place of ``out``, and of them with each other variable.

    Of n log n of every count, by n in ``entropy``; with a positive ``prior`` (sample size), the BDeu evidence.
    """
    d, n = codes.shape
    labels = np.empty(n, np.int64)
    n_cells = cells_of(codes, levels, parents, labels)
    states = 1.0
    for parent in parents:
        states *= levels[parent]
    counts = np.empty(n_cells * levels.max(), np.int32)
    for one in range(d + 1):
        steps = levels[one] if one < d else 1
        size = n_cells * steps
        counts[:size] = 0
        if one < d:
            column = codes[one]
            for row in range(n):  # the cells of one level of the other variable stand together
                counts[column[row] * n_cells + labels[row]] += 1
        else:
            for row in range(n):
                counts[labels[row]] += 1
        total = 0.0
        if prior > 0:
            weight = prior / (states * steps)
            alone = math.lgamma(weight)
            for cell in range(size):
                if counts[cell]:
                    total += math.lgamma(counts[cell] + weight) - alone
        else:
            for cell in range(size):
                total += entropy[counts[cell]]
        out[one] = total


class DiscreteFamilies(FamilyScore):
    r"""BIC or BDeu of a discrete variable given discrete parents.

    With counts :math:`N_{ck}` of the rows where the parents are in combination c and the variable has level k,

    .. math:: \mathrm{BIC} = \sum_{ck} N_{ck} \log \frac{N_{ck}}{N_c}
              - \mathrm{penalty} \cdot \tfrac12 \log m \, (r - 1) \prod_{p} r_p,

    and BDeu is the log marginal likelihood under Dirichlet priors of :math:`\alpha / (r \prod r_p)` for each entry.
    Both give Markov-equivalent graphs the same sum. The levels are those of the whole data, whether or not a
    combination occurs.

    Parameters
    ----------
    codes : (n_samples, n_variables) int array
        Levels from 0.
    levels : sequence of int
        How many levels each column has.
    penalty : float
        Price of a parameter of BIC in units of log(m)/2.
    sample_size : float, optional
        The :math:`\alpha` of BDeu, which takes the place of BIC when given.

    References
    ----------
    Heckerman, Geiger, Chickering (1995). Learning Bayesian networks. Machine Learning 20.

    Examples
    --------
    >>> coins = np.array([[0, 0], [0, 0], [1, 1], [1, 1]])
    >>> float(DiscreteFamilies(coins, (2, 2)).of(1, (0,)))  # no doubt is left, two parameters
    -1.386...
    """

    def __init__(
        self, codes: IntArray, levels: Sequence[int], *, penalty: float = 1.0, sample_size: float | None = None
    ) -> None:
        if sample_size is not None and sample_size <= 0:
            raise OptionError(f"sample_size={sample_size!r} cannot be used: it must be positive.")
        self.n_samples, self.n_variables = codes.shape
        self.codes = np.ascontiguousarray(codes.T.astype(np.uint8 if max(levels) <= 256 else np.int64))
        self.levels = np.array(levels, dtype=np.int64)
        self.price = 0.0 if sample_size else price_of(penalty, self.n_samples)
        self.prior = float(sample_size or 0.0)
        numbers = np.arange(self.n_samples + 1, dtype=np.float64)
        self._entropy = numbers * np.log(np.maximum(numbers, 1))

    def given(self, parents: ParentSet) -> FloatArray:
        fits = np.empty(self.n_variables + 1)
        joint_fits(self.codes, self.levels, np.array(parents, np.int64), self._entropy, self.prior, fits)
        combinations = math.prod(self.levels[list(parents)].astype(float).tolist())
        return np.asarray(fits[:-1] - fits[-1] - self.price * combinations * (self.levels - 1))

    @classmethod
    def of_table(cls, table: Table, penalty: float = 1.0, sample_size: float | None = None) -> Self:
        """Every column by its levels; numbers are refused."""
        numbers = [name for name, kind in zip(table.names, table.kinds, strict=True) if not kind.discrete]
        if numbers:
            raise DataError(
                f"column {listed(numbers)} has no levels, and this score takes discrete columns only: use "
                "score='degenerate-gaussian' for mixed data, or cut numbers into classes."
            )
        codes = np.column_stack([kind.codes(table.values[:, k]) for k, kind in enumerate(table.kinds)])
        return cls(codes, [kind.n_levels for kind in table.kinds], penalty=penalty, sample_size=sample_size)


class DegenerateGaussianFamilies(FamilyScore):
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
        self.n_samples, self.n_variables = n_samples, len(blocks)
        self._correlation = np.ascontiguousarray(correlation)
        self._start = np.array([block.start for block in blocks], dtype=np.int64)
        self._width = np.array([block.stop - block.start for block in blocks], dtype=np.int64)
        self.price = price_of(penalty, n_samples)

    def given(self, parents: ParentSet) -> FloatArray:
        fits = np.empty(self.n_variables)
        members = np.array(parents, dtype=np.int64)
        conditional_log_determinants(self._correlation, self._start, self._width, members, fits)
        return np.asarray(-self.n_samples / 2 * fits - self.price * self._width * self._width[members].sum())

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
    covariance: Array, start: Array, width: Array, members: Array, out: Array
) -> None:  # pragma: no cover - compiled
    """Log determinant of each block given the members' blocks."""
    rows = rows_of_factor(covariance, start, width, members)
    room = np.empty((width.max(), width.max()))
    for one in range(len(width)):
        b = width[one]
        for i in range(b):
            for j in range(i + 1):
                value = covariance[start[one] + i, start[one] + j]
                for k in range(len(rows)):
                    value -= rows[k, start[one] + i] * rows[k, start[one] + j]
                room[i, j] = room[j, i] = value
        out[one] = take_out(room[:b, :b], b)


PRIOR_ROWS = 2.0
"""Rows that the covariance within all cells together counts for in each cell."""

MOST_NUMBERS = 2**25
"""Scatter matrices that are kept, in numbers of eight bytes; then they are made anew."""


class ConditionalGaussianFamilies(FamilyScore):
    r"""BIC of a mixed joint distribution, as a difference of sets: :math:`J(S \cup v) - J(S)`.

    :math:`J(Y)` is the log-likelihood of the columns Y, with a Gaussian of its own for the numbers in each combination
    c of the discrete columns,

    .. math:: J(Y) = \sum_c N_c \log \frac{N_c}{m} + \log \mathcal N(Y_c; \mu_c, \Sigma_c)
              - \mathrm{penalty} \cdot \tfrac12 \log m \Big( q - 1 + q \frac{n_Y (n_Y + 3)}{2} \Big),

    with q the product of the numbers of levels and :math:`n_Y` the number of numeric columns. Markov-equivalent graphs
    have the same sum. A cell's covariance is drawn towards that within all cells by two rows.

    Parameters
    ----------
    numbers : (n_samples, n_variables) array
        Numeric columns; what stands in the discrete ones is not looked at.
    codes : (n_samples, n_variables) int array
        Levels from 0 of the discrete columns.
    levels : sequence of int
        How many levels each column has, 0 for numbers.
    penalty : float
        Price of a parameter in units of log(m)/2.

    References
    ----------
    Andrews, Ramsey, Cooper (2018). Scoring Bayesian networks of mixed variables. Int. J. Data Sci. Anal. 6.
    """

    def __init__(self, numbers: FloatArray, codes: IntArray, levels: Sequence[int], *, penalty: float = 1.0) -> None:
        self.n_samples, self.n_variables = numbers.shape
        self._is_number = np.array(levels) == 0
        self._levels = DiscreteFamilies(codes, np.maximum(levels, 1).tolist(), penalty=penalty)  # numbers: one level
        columns = numbers[:, self._is_number]
        self._numbers = (columns - columns.mean(axis=0)) / columns.std(axis=0)
        self._place = np.cumsum(self._is_number) - 1
        self._partitions: dict[ParentSet, tuple[IntArray, FloatArray]] = {}
        self._kept = 0
        self._known: dict[tuple[ParentSet, ParentSet], FloatArray] = {}

    def given(self, parents: ParentSet) -> FloatArray:
        cells = tuple(v for v in parents if not self._is_number[v])
        numbers = tuple(int(self._place[v]) for v in parents if self._is_number[v])
        scores = self._levels.given(cells)
        scores[self._is_number] = self._numbers_given(cells, numbers)
        if numbers:  # then by the numbers' own scores, with each discrete variable and without
            alone = self._joint(cells, numbers)
            for v in np.flatnonzero(~self._is_number).tolist():
                if v not in cells:
                    scores[v] += self._joint(tuple(sorted((*cells, v))), numbers) - alone
        return scores

    def _joint(self, cells: ParentSet, numbers: ParentSet) -> float:
        """Score of numbers, one after another, given discrete columns."""
        return sum(float(self._numbers_given(cells, numbers[:k])[one]) for k, one in enumerate(numbers))

    def _numbers_given(self, cells: ParentSet, numbers: ParentSet) -> FloatArray:
        """Score of every number given discrete columns and some numbers, (n_numbers,)."""
        if (cells, numbers) not in self._known:
            fits = number_fits(*self._partition(cells), np.array(numbers, dtype=np.int64), PRIOR_ROWS)
            parameters = math.prod(self._levels.levels[list(cells)].astype(float).tolist()) * (len(numbers) + 2)
            self._known[cells, numbers] = fits - self._levels.price * parameters
        return self._known[cells, numbers]

    def _partition(self, cells: ParentSet) -> tuple[IntArray, FloatArray]:
        """Rows by the combinations of discrete columns: sizes, and scatter matrices around the mean of each."""
        if cells not in self._partitions:
            labels = np.empty(self.n_samples, dtype=np.int64)
            cells_of(self._levels.codes, self._levels.levels, np.array(cells, dtype=np.int64), labels)
            sizes = np.bincount(labels)
            parts = np.split(self._numbers[np.argsort(labels, kind="stable")], np.cumsum(sizes)[:-1])
            centered = [part - part.mean(axis=0) for part in parts]
            if self._kept > MOST_NUMBERS:
                self._partitions.clear()
                self._kept = 0
            self._partitions[cells] = sizes, np.stack([part.T @ part for part in centered])
            self._kept += len(sizes) * self._numbers.shape[1] ** 2
        return self._partitions[cells]

    @classmethod
    def of_table(cls, table: Table, penalty: float = 1.0) -> Self:
        """Binary and categorical columns are discrete, the others numbers."""
        discrete = [kind.name in ("binary", "categorical") for kind in table.kinds]
        levels = [kind.n_levels if cut else 0 for kind, cut in zip(table.kinds, discrete, strict=True)]
        codes = np.zeros(table.values.shape, dtype=np.int64)
        for k in np.flatnonzero(discrete):
            codes[:, k] = table.kinds[k].codes(table.values[:, k])
        return cls(table.values, codes, levels, penalty=penalty)


@njit(cache=True, nogil=True)
def number_fits(sizes: Array, scatter: Array, given: Array, prior: float) -> Array:  # pragma: no cover - compiled
    """Log-likelihood of every number given the cells and some numbers, in sequence."""
    pooled = scatter.sum(axis=0) / sizes.sum()
    fits = np.zeros(len(pooled))
    for cell in range(len(sizes)):
        weight = sizes[cell] + prior
        left, shared = (scatter[cell] + prior * pooled) / weight, pooled.copy()
        for one in given:  # what it explains of the others is taken out, and the same of the pooled covariance
            slopes = left[:, one] / max(left[one, one], SMALLEST_VARIANCE)
            left -= np.outer(slopes, left[one])
            shared -= np.outer(slopes, shared[one])
            shared -= np.outer(shared[:, one], slopes)
        variances = np.maximum(np.diag(left), SMALLEST_VARIANCE)
        # scatter = weight covariance - prior pooled, and so for the squares of the residuals
        fits -= (sizes[cell] * np.log(2 * np.pi * variances) + weight - prior * np.diag(shared) / variances) / 2
    return fits
