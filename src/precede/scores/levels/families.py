"""What parents of any kind explain of a variable: counts of levels, indicators in a covariance, Gaussians in cells."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numba import njit

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.data.kinds import indicator_places
from precede.data.load import Table
from precede.errors import DataError, OptionError, listed
from precede.scores.covariance import moments_of
from precede.scores.parents import SMALLEST_VARIANCE
from precede.scores.protocol import ParentSet

Array = np.ndarray[Any, Any]


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
def likelihood(counts: Array, n_cells: int, n_values: int, entropy: Array) -> float:  # pragma: no cover - compiled
    """Log-likelihood of a column given cells: counts ``[cell * n_values + value]``, and n log n by n in ``entropy``."""
    total = 0.0
    for cell in range(n_cells):
        size = 0
        for value in range(n_values):
            count = counts[cell * n_values + value]
            size += count
            total += entropy[count]
        total -= entropy[size]
    return total


@njit(cache=True, nogil=True)
def evidence(counts: Array, n_cells: int, n_values: int, weight: float) -> float:  # pragma: no cover - compiled
    """Log marginal likelihood of a column given cells; ``weight`` is the Dirichlet prior's for one entry."""
    total = 0.0
    whole = weight * n_values
    for cell in range(n_cells):
        size = 0
        for value in range(n_values):
            count = counts[cell * n_values + value]
            size += count
            if count:
                total += math.lgamma(count + weight) - math.lgamma(weight)
        if size:
            total += math.lgamma(whole) - math.lgamma(whole + size)
    return total


@njit(cache=True, nogil=True)
def families_with_one_more(
    codes: Array, levels: Array, target: int, parents: Array, wanted: Array, entropy: Array, prior: float, out: Array
) -> None:  # pragma: no cover - compiled
    """Log-likelihood of a column given its parents and each wanted variable, in ``out`` (n_variables,).

    With a positive ``prior`` (sample size), the BDeu evidence. The target itself stands for nothing more.
    """
    d, n = codes.shape
    labels = np.empty(n, np.int64)
    n_cells = cells_of(codes, levels, parents, labels)
    width = levels[target]
    column, nothing = codes[target], np.zeros_like(codes[target])
    states = 1.0 * width
    for parent in parents:
        states *= levels[parent]
    entries = n_cells * width
    place = np.empty(n, np.int64)  # of each row among the entries without one more
    for row in range(n):
        place[row] = labels[row] * width + column[row]
    counts = np.empty(entries * levels.max(), np.int32)
    for one in range(d):
        if not wanted[one]:
            continue
        other, steps = (nothing, 1) if one == target else (codes[one], levels[one])
        size = n_cells * steps
        counts[: size * width] = 0
        for row in range(n):  # the cells of one level of the other variable stand together
            counts[other[row] * entries + place[row]] += 1
        if prior > 0:
            out[one] = evidence(counts, size, width, prior / (states * steps))
        else:
            out[one] = likelihood(counts, size, width, entropy)


class DiscreteFamilies:
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
        if penalty <= 0 or (sample_size is not None and sample_size <= 0):
            raise OptionError(
                f"penalty={penalty!r} and sample_size={sample_size!r} cannot be used: they must be positive."
            )
        self.n_samples, self.n_variables = codes.shape
        self.codes = np.ascontiguousarray(codes.T.astype(np.uint8 if max(levels) <= 256 else np.int64))
        self.levels = np.array(levels, dtype=np.int64)
        self.price = penalty * math.log(self.n_samples) / 2
        self.prior = 0.0 if sample_size is None else float(sample_size)
        numbers = np.arange(self.n_samples + 1, dtype=np.float64)
        self._entropy = numbers * np.log(np.maximum(numbers, 1))

    def of(self, variable: int, parents: ParentSet) -> float:
        """Score of a variable with these parents."""
        fit = float(self._fits(variable, parents, np.arange(self.n_variables) == variable)[variable])
        return fit if self.prior else fit - self.price * self._parameters(variable, parents)

    def additions(self, variable: int, parents: ParentSet) -> FloatArray:
        """Scores with one more parent each; minus infinity where no data could make it pay."""
        wanted = np.ones(self.n_variables, dtype=np.bool_)
        wanted[[variable, *parents]] = False
        price = np.zeros(self.n_variables)
        if not self.prior:
            price += self.price * self._parameters(variable, parents) * self.levels
            # the likelihood is at most 0: where even that does not pay, nothing is counted
            wanted &= -price > self.of(variable, parents)
        return self._fits(variable, parents, wanted) - price

    def _fits(self, variable: int, parents: ParentSet, wanted: BoolArray) -> FloatArray:
        """Log-likelihoods given the parents and each wanted variable; the variable itself stands for nothing more."""
        fits = np.full(self.n_variables, -np.inf)
        members = np.array(parents, dtype=np.int64)
        families_with_one_more(self.codes, self.levels, variable, members, wanted, self._entropy, self.prior, fits)
        return fits

    def _parameters(self, variable: int, parents: ParentSet) -> float:
        combinations = math.prod(float(self.levels[parent]) for parent in parents)
        return float(self.levels[variable] - 1) * combinations

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


PRIOR_ROWS = 2.0
"""Rows that the covariance within all cells together counts for in each cell."""

MOST_NUMBERS = 2**25
"""Scatter matrices that are kept, in numbers of eight bytes; the longest unused give way."""


class _Partition(NamedTuple):
    """Rows by the combinations of some discrete columns."""

    sizes: IntArray
    scatter: FloatArray  # (n_cells, n_numbers, n_numbers), around the mean of each cell


class ConditionalGaussianFamilies:
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
        if penalty <= 0:
            raise OptionError(f"penalty={penalty!r} cannot be used: it must be positive.")
        self.n_samples, self.n_variables = numbers.shape
        self.levels = np.array(levels, dtype=np.int64)
        self.price = penalty * math.log(self.n_samples) / 2
        numeric = np.flatnonzero(self.levels == 0)
        self._place = {int(variable): k for k, variable in enumerate(numeric)}
        columns = numbers[:, numeric]
        spread = columns.std(axis=0)
        self._numbers = np.ascontiguousarray((columns - columns.mean(axis=0)) / spread)
        self._codes = np.ascontiguousarray(codes.T.astype(np.int64))
        self._partitions: OrderedDict[ParentSet, _Partition] = OrderedDict()
        self._kept = 0
        self._joint: dict[ParentSet, float] = {}

    def of(self, variable: int, parents: ParentSet) -> float:
        """Score of a variable with these parents."""
        return self.joint(tuple(sorted((*parents, variable)))) - self.joint(parents)

    def additions(self, variable: int, parents: ParentSet) -> FloatArray:
        """Scores with one more parent each."""
        result = np.full(self.n_variables, -np.inf)
        for one in range(self.n_variables):
            if one != variable and one not in parents:
                result[one] = self.of(variable, tuple(sorted((*parents, one))))
        return result

    def joint(self, members: ParentSet) -> float:
        """Penalized log-likelihood of a set of columns (ascending)."""
        if members not in self._joint:
            discrete = tuple(v for v in members if self.levels[v])
            places = np.array([self._place[v] for v in members if not self.levels[v]], dtype=np.int64)
            cells = math.prod(self.levels[list(discrete)].astype(float).tolist())
            width = len(places)
            parameters = cells - 1 + cells * width * (width + 3) / 2
            partition = self._partition(discrete)
            fit = float(log_likelihood(partition.sizes, partition.scatter, places, PRIOR_ROWS))
            self._joint[members] = fit - self.price * parameters
        return self._joint[members]

    def _partition(self, discrete: ParentSet) -> _Partition:
        found = self._partitions.get(discrete)
        if found is not None:
            self._partitions.move_to_end(discrete)
            return found
        labels = np.empty(self.n_samples, dtype=np.int64)
        n_cells = cells_of(self._codes, self.levels, np.array(discrete, dtype=np.int64), labels)
        partition = _Partition(*scatter_within(self._numbers, labels, n_cells))
        self._partitions[discrete] = partition
        self._kept += partition.scatter.size
        while self._kept > MOST_NUMBERS and len(self._partitions) > 1:
            self._kept -= self._partitions.popitem(last=False)[1].scatter.size
        return partition

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
def scatter_within(numbers: Array, labels: Array, n_cells: int) -> tuple[Array, Array]:  # pragma: no cover - compiled
    """Sizes of the cells, and the scatter matrix of each around its mean (lower triangle)."""
    n, k = numbers.shape
    sizes = np.zeros(n_cells, np.int64)
    mean = np.zeros((n_cells, k))
    for row in range(n):
        cell = labels[row]
        sizes[cell] += 1
        for i in range(k):
            mean[cell, i] += numbers[row, i]
    for cell in range(n_cells):
        for i in range(k):
            mean[cell, i] /= sizes[cell]
    scatter = np.zeros((n_cells, k, k))
    for row in range(n):
        cell = labels[row]
        for i in range(k):
            deviation = numbers[row, i] - mean[cell, i]
            for j in range(i + 1):
                scatter[cell, i, j] += deviation * (numbers[row, j] - mean[cell, j])
    return sizes, scatter


@njit(cache=True, nogil=True)
def log_likelihood(sizes: Array, scatter: Array, places: Array, prior: float) -> float:  # pragma: no cover - compiled
    """Log-likelihood of cells and of the numbers within them, places ascending."""
    n, k = sizes.sum(), len(places)
    pooled = np.zeros((k, k))
    for cell in range(len(sizes)):
        for i in range(k):
            for j in range(i + 1):
                pooled[i, j] += scatter[cell, places[i], places[j]] / n
    total = 0.0
    room = np.empty((2 * k, 2 * k))
    for cell in range(len(sizes)):
        size = sizes[cell]
        total += size * math.log(size / n) - size * k * math.log(2 * math.pi) / 2
        room[:] = 0.0  # the cell's covariance beside a unit matrix, which ends as minus its inverse
        for i in range(k):
            room[i, k + i] = room[k + i, i] = 1.0
            for j in range(i + 1):
                value = (scatter[cell, places[i], places[j]] + prior * pooled[i, j]) / (size + prior)
                room[i, j] = room[j, i] = value
        total -= size * take_out(room, k) / 2
        # scatter = (size + prior) covariance - prior pooled, so the trace of its product needs the pooled part only
        total -= (size + prior) * k / 2
        for i in range(k):
            for j in range(k):
                total -= prior * room[k + i, k + j] * pooled[max(i, j), min(i, j)] / 2
    return total
