"""Scores of discrete columns: BIC and BDeu from contingency counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numba import njit

from precede.arrays import FloatArray, IntArray
from precede.data.load import Table
from precede.errors import DataError, OptionError, listed
from precede.scores.moves import ParentSet

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
def family(
    codes: Array, levels: Array, target: int, parents: Array, entropy: Array, prior: float
) -> float:  # pragma: no cover - compiled
    """Log-likelihood of a column given its parents; with a positive ``prior`` (sample size), the BDeu evidence."""
    n = codes.shape[1]
    labels = np.empty(n, np.int64)
    n_cells = cells_of(codes, levels, parents, labels)
    width = levels[target]
    counts = np.zeros(n_cells * width, np.int64)
    column = codes[target]
    for row in range(n):
        counts[labels[row] * width + column[row]] += 1
    if prior > 0:
        states = 1.0 * width
        for parent in parents:
            states *= levels[parent]
        return evidence(counts, n_cells, width, prior / states)
    return likelihood(counts, n_cells, width, entropy)


@njit(cache=True, nogil=True)
def families_with_one_more(
    codes: Array, levels: Array, target: int, parents: Array, wanted: Array, entropy: Array, prior: float, out: Array
) -> None:  # pragma: no cover - compiled
    """As :func:`family`, with each wanted variable as one more parent, in ``out`` (n_variables,)."""
    d, n = codes.shape
    labels = np.empty(n, np.int64)
    n_cells = cells_of(codes, levels, parents, labels)
    width = levels[target]
    column = codes[target]
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
        other, steps = codes[one], levels[one]
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
        members = np.array(parents, dtype=np.int64)
        fit = float(family(self.codes, self.levels, variable, members, self._entropy, self.prior))
        return fit if self.prior else fit - self.price * self._parameters(variable, parents)

    def additions(self, variable: int, parents: ParentSet) -> FloatArray:
        """Scores with one more parent each; minus infinity where no data could make it pay."""
        members = np.array(parents, dtype=np.int64)
        wanted = np.ones(self.n_variables, dtype=np.bool_)
        wanted[[variable, *parents]] = False
        price = np.zeros(self.n_variables)
        if not self.prior:
            price += self.price * self._parameters(variable, parents) * self.levels
            # the likelihood is at most 0: where even that does not pay, nothing is counted
            wanted &= -price > self.of(variable, parents)
        fits = np.full(self.n_variables, -np.inf)
        families_with_one_more(self.codes, self.levels, variable, members, wanted, self._entropy, self.prior, fits)
        return fits - price

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
