"""The table that every method learns from: a checked matrix with names, kinds of columns, and what was missing."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.data.missing import Gaps, complete, gaps_of
from precede.kinds import NUMBER, ColumnKind, indicator_places

SEED = 0
"""Of the draws that fill missing cells: the same data give the same table."""


@dataclass(frozen=True)
class Table:
    """A checked matrix with names.

    Parameters
    ----------
    values : (n_samples, n_variables) float64 array
        Finite, no constant column, no exactly collinear columns; read-only, and often a view of the caller's own
        memory: copy before changing it.
    names : tuple
        Column names; the integers from 0 for a bare array.
    labeled : bool
        Whether the names are strings that came with the data.
    remarks : tuple of str
        What was done to the data on the way, a sentence each.
    kinds : tuple of ColumnKind
        What each column holds; numbers where nothing is said. A column of words holds the places of its levels.
    gaps : Gaps, optional
        Where cells were missing, with the moments that linear scores use; ``values`` then has drawn values there.
    targets : (n_samples, n_variables) bool array, optional
        True where a variable was set by an intervention in a row, whatever its causes.
    steps : tuple of int, optional
        How many steps before now each column is, for time series.
    rows : (n_samples,) int array, optional
        Where each row stood in the source; None where no row was dropped.
    odd : (n_samples, n_variables) bool array, optional
        Which of the missing cells were there, but odd (``precede.data.odd``); None where none was looked for.
    resampled : bool
        Whether rows were drawn from a table, some of them several times: they are no copies then.
    """

    values: FloatArray
    names: tuple[Hashable, ...]
    labeled: bool
    remarks: tuple[str, ...] = ()
    kinds: tuple[ColumnKind, ...] = ()
    gaps: Gaps | None = None
    targets: BoolArray | None = None
    steps: tuple[int, ...] | None = None
    rows: IntArray | None = None
    odd: BoolArray | None = None
    resampled: bool = False

    def __post_init__(self) -> None:
        if not self.kinds:
            object.__setattr__(self, "kinds", (NUMBER,) * self.values.shape[1])

    @property
    def n_samples(self) -> int:
        return int(self.values.shape[0])

    @property
    def n_variables(self) -> int:
        return int(self.values.shape[1])

    @property
    def is_wide(self) -> bool:
        """Whether there are no more rows than columns."""
        return self.n_samples <= self.n_variables

    def with_rows(self, rows: IntArray, rng: np.random.Generator) -> Table:
        """The table of some rows, any of them several times; missing cells are drawn anew (multiple imputation)."""
        drawn = self.rearranged(rows, np.arange(self.n_variables))
        return refilled(replace(drawn, rows=None, remarks=(), resampled=True), rng)

    def sampled(self) -> Table:
        """Itself, or some of its rows where it is too large for copies: evenly spaced, but rows in time stay."""
        most = LARGEST_SAMPLE // self.n_variables
        if self.n_samples <= most or self.steps is not None:
            return self
        return self.rearranged(evenly_spaced(self.n_samples, most), np.arange(self.n_variables))

    def only(self, rows: BoolArray) -> Table:
        """Some rows as they are, draws in gaps included, without their interventions."""
        return Table(self.values[rows], self.names, self.labeled, kinds=self.kinds)

    def with_columns(self, kept: list[int]) -> Table:
        """The table of some columns; the moments are those of all, as far as they concern these."""
        return self.rearranged(np.arange(self.n_samples), np.array(kept, dtype=np.int64))

    def rearranged(self, rows: IntArray, places: IntArray) -> Table:
        """The table with its rows and columns in another sequence, whatever belongs to them included."""
        values = self.values[np.ix_(rows, places)]
        values.flags.writeable = False
        gaps = self.gaps
        if gaps is not None:
            blocks = indicator_places(self.kinds)
            columns = [c for k in places for c in range(blocks[k].start, blocks[k].stop)]
            mask, matrix = gaps.mask[np.ix_(rows, places)], gaps.covariance[np.ix_(columns, columns)]
            gaps = replace(gaps, mask=mask, covariance=matrix, mean=gaps.mean[columns]) if mask.any() else None
        return replace(
            self,
            values=values,
            names=tuple(self.names[k] for k in places),
            kinds=tuple(self.kinds[k] for k in places),
            gaps=gaps,
            targets=None if self.targets is None else self.targets[np.ix_(rows, places)],
            steps=None if self.steps is None else tuple(self.steps[k] for k in places),
            rows=None if self.rows is None else self.rows[rows],
            odd=None if self.odd is None else self.odd[np.ix_(rows, places)],
        )


def filled_table(table: Table, how: str, rng: np.random.Generator | None = None) -> Table:
    """A table with NaN where cells are missing, turned into one without; without an rng always the same draws.

    Cells are drawn once rows and columns are sorted, so that the sequence in which they came changes nothing.
    """
    places = columns_by_name(table.names) if table.labeled else np.arange(table.n_variables)
    rows = row_sequence(table.values, places)
    inner = table.rearranged(rows, places)
    gaps = gaps_of(inner.values, inner.kinds, how)
    values = complete(inner.values, inner.kinds, gaps, np.random.default_rng(SEED) if rng is None else rng)
    return replace(inner, values=values, gaps=gaps).rearranged(np.argsort(rows), np.argsort(places))


def refilled(table: Table, rng: np.random.Generator | None = None) -> Table:
    """The same with missing cells drawn anew, by the moments of the rows that it has."""
    if table.gaps is None:
        return table
    gappy = replace(table, values=np.where(table.gaps.mask, np.nan, table.values), gaps=None)
    return filled_table(gappy, table.gaps.how, rng)


def rows_kept(table: Table, kept: IntArray, remark: str) -> Table:
    """The table of some rows, each once, and a sentence about the others; missing cells are filled anew."""
    rows = np.arange(table.n_samples) if table.rows is None else table.rows
    rest = replace(table, rows=rows, remarks=(*table.remarks, remark)).rearranged(kept, np.arange(table.n_variables))
    return refilled(rest)


def standardized_table(table: Table) -> Table:
    """A copy with columns of mean zero and variance one, by the moments of the gaps where there are some.

    Levels and the moments of the gaps are in the new units too, and a count is then a number; categories, whose numbers
    are no sizes, stay as they are.

    Examples
    --------
    >>> grade = ColumnKind("ordinal", (1.0, 2.0, 3.0), ("low", "middle", "high"))
    >>> table = standardized_table(Table(np.array([[1.0], [3.0], [1.0], [3.0]]), ("grade",), True, kinds=(grade,)))
    >>> table.values.T, table.kinds[0].levels
    (array([[-1.,  1., -1.,  1.]]), (-1.0, 0.0, 1.0))
    """
    sizes = np.array([kind.name != "categorical" for kind in table.kinds])
    places = [place.start for place in indicator_places(table.kinds)]
    center, scale = np.zeros(table.n_variables), np.ones(table.n_variables)
    gaps = table.gaps
    if gaps is None:
        center[sizes] = table.values.mean(axis=0)[sizes]
        scale[sizes] = table.values.std(axis=0)[sizes]
    else:
        center[sizes] = gaps.mean[places][sizes]
        scale[sizes] = np.sqrt(gaps.covariance.diagonal())[places][sizes]
        shift, unit = np.zeros(len(gaps.mean)), np.ones(len(gaps.mean))
        shift[places], unit[places] = center, scale
        matrix = gaps.covariance / np.outer(unit, unit)
        gaps = replace(gaps, mean=(gaps.mean - shift) / unit, covariance=matrix)
    values = (table.values - center) / scale
    values.flags.writeable = False
    kinds = tuple(_in_units(kind, *units) for kind, *units in zip(table.kinds, center, scale, strict=True))
    return replace(table, values=values, kinds=kinds, gaps=gaps)


def _in_units(kind: ColumnKind, center: float, scale: float) -> ColumnKind:
    """The kind of a column that was moved and scaled: by the same operations, so that levels equal their values."""
    levels = (np.array(kind.levels) - center) / scale
    return replace(kind, levels=tuple(levels.tolist())) if kind.discrete else NUMBER


def evenly_spaced(n_rows: int, most: int) -> IntArray:
    """At most ``most`` row numbers, spread over the table.

    Examples
    --------
    >>> evenly_spaced(7, 3)
    array([0, 3, 6])
    """
    if n_rows <= most:
        return np.arange(n_rows)
    return np.linspace(0, n_rows - 1, most).round().astype(np.int64)


LARGEST_SAMPLE = 2**24
"""Cells that the policy and resamples look at."""

LARGEST_SORT = 2**26
"""Tables with more cells keep the sequence of their rows: sorting would copy the data."""


def canonical(table: Table, *, columns: bool = True, rows: bool = True) -> tuple[Table, IntArray]:
    """The same table in a sequence of its own.

    Columns are sorted by name, numbers in names as numbers; those of a bare array, whose only names are their places,
    stay. Rows are sorted by their values and then shuffled, always alike, so that any stretch of them is a fair sample.

    Parameters
    ----------
    table : Table
    columns, rows : bool
        False leaves them as they are.

    Returns
    -------
    table : Table
    places : (n_variables,) int array
        ``places[k]``: where the k-th column of the result is in the table that was given.

    Examples
    --------
    >>> values = np.array([[2.0, 1.0], [1.0, 3.0], [5.0, 2.0]])
    >>> once, _ = canonical(Table(values, ("x10", "x9"), True))
    >>> again, _ = canonical(Table(values[::-1, ::-1], ("x9", "x10"), True))
    >>> once.names, bool((once.values == again.values).all())
    (('x9', 'x10'), True)
    """
    places = np.arange(table.n_variables)
    if columns and table.labeled:
        places = columns_by_name(table.names)
    sequence = np.arange(table.n_samples)
    if rows and table.values.size <= LARGEST_SORT:
        sequence = row_sequence(table.values, places)
    elif (places == np.arange(len(places))).all():
        return table, places
    return table.rearranged(sequence, places), places


def columns_by_name(names: Sequence[Hashable]) -> IntArray:
    """Places of the columns, sorted by name."""
    return np.array(sorted(range(len(names)), key=lambda k: _natural(str(names[k]))), dtype=np.int64)


def _natural(name: str) -> list[tuple[int, int, str]]:
    """Sort key that puts x2 before x10."""
    parts = re.split(r"(\d+)", name)
    return [(0, int(part), part) if part.isdecimal() else (1, 0, part) for part in parts if part] + [(-1, 0, name)]


def row_sequence(values: FloatArray, columns: IntArray) -> IntArray:
    """Rows in lexicographic sequence, shuffled alike for every table of this length; missing cells (NaN) come last."""
    if np.isnan(values).any():
        values = np.where(np.isnan(values), np.inf, values)  # equal to each other
    rows: IntArray = np.argsort(values[:, columns[0]], kind="stable")
    for n in range(2, len(columns) + 1):
        sorted_so_far = values[np.ix_(rows, columns[: n - 1])]
        if (sorted_so_far[1:] != sorted_so_far[:-1]).any(axis=1).all():  # no two rows are alike
            break
        rows = np.lexsort(values[:, columns[:n]].T[::-1])
    return rows[np.random.default_rng(0).permutation(len(rows))]
