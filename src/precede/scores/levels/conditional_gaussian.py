"""Conditional Gaussian score of mixed columns: one Gaussian for every combination of the discrete columns."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numba import njit

from precede.arrays import FloatArray, IntArray
from precede.data.load import Table
from precede.errors import OptionError
from precede.scores.levels.degenerate_gaussian import take_out
from precede.scores.levels.discrete import cells_of
from precede.scores.moves import ParentSet

Array = np.ndarray[Any, Any]

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
