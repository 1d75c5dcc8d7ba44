"""One sequence for the rows and columns of a table: the one they came in cannot change the result."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from precede.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from precede.data.table import Table

LARGEST_SORT = 2**27
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
    >>> from precede.data.table import Table
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
