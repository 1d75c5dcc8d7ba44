"""Rows and columns that repeat others: they say nothing new, and one stands for all."""

from dataclasses import replace

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.data.checks import check_size, relation_words, tied_columns
from precede.data.table import LARGEST_SORT, Table, columns_by_name, evenly_spaced, rows_kept
from precede.lazy import pandas as pd

BY_CHANCE = 0.1
"""Share of the repeated rows that may be expected of independent columns where they are taken for copies."""


def without_copies(table: Table) -> Table:
    r"""The table without rows that repeat others, and a sentence that says so; another where many rows nearly do.

    Rows of levels and small counts are often alike by chance, and are no copies: the number of equal pairs to be
    expected of independent columns, :math:`\binom{n}{2} \prod_k \sum_v p_k(v)^2`, must be far below those found. Rows
    in time, rows with interventions and those of a resample stay.

    Examples
    --------
    >>> values = np.random.default_rng(0).normal(size=(50, 2))
    >>> once = without_copies(Table(np.repeat(values, 3, axis=0), ("a", "b"), True))
    >>> once.n_samples, once.remarks[-1]
    (50, '100 of 150 rows repeat others: each counts once.')
    """
    if table.resampled or table.steps is not None or table.targets is not None or table.values.size > LARGEST_SORT:
        return table
    known = table.values if table.gaps is None else np.where(table.gaps.mask, np.inf, table.values)
    kept, n_rows = np.flatnonzero(~pd.DataFrame(known).duplicated()), table.n_samples
    if len(kept) < n_rows and _alike_by_chance(known) <= BY_CHANCE * (n_rows - len(kept)):
        check_size(table.values[kept], table.names, f" once the {n_rows - len(kept)} that repeat others are left out")
        table = rows_kept(table, kept, f"{n_rows - len(kept):,} of {n_rows:,} rows repeat others: each counts once.")
    near = remark_on_near_copies(table)
    return table if near is None else replace(table, remarks=(*table.remarks, near))


def without_tied_columns(table: Table) -> Table:
    """The table without columns that others give exactly, and a sentence for each: one stands for all.

    Numbers may be linear combinations; columns with levels only copies, for a combination of codes means nothing. Of
    columns that are tied, the last by name goes (of a bare array, the last), wherever it stands in the table.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(50, 3))
    >>> table = without_tied_columns(Table(np.column_stack([x, 2 * x[:, 0]]), ("a", "b", "c", "d"), True))
    >>> table.names, table.remarks[-1]
    (('a', 'b', 'c'), "Column 'd' is an exact linear function of 'a' and is left out: what one does, all do.")
    """
    complete = np.isfinite(table.values).all(axis=1)
    whole = bool(complete.all())
    if not whole and int(complete.sum()) < FEWEST_COMPLETE:
        return table
    inner = table.values if whole else table.values[complete]
    varies = inner.max(axis=0) > inner.min(axis=0)
    sequence = columns_by_name(table.names) if table.labeled else np.arange(table.n_variables)
    left = [int(k) for k in sequence if varies[k]]
    remarks, gone = [], set[int]()
    while tied := [group for group in tied_columns(inner, left, table.kinds) if whole or _tied_elsewhere(table, group)]:
        for group in [group for group in tied if len(group) == 2] or tied[:1]:  # other combinations may be none then
            words = relation_words(inner, group, table.names, table.kinds)
            remarks.append(f"Column {words} and is left out: what one does, all do.")
            gone.add(group[-1])
        left = [k for k in left if k not in gone]
    if not gone or len(gone) > table.n_variables - 2:
        return table
    kept = table.with_columns([k for k in range(table.n_variables) if k not in gone])
    return replace(kept, remarks=(*table.remarks, *remarks))


FEWEST_COMPLETE = 20
"""Rows without a missing cell that must be there before columns are compared."""


def _tied_elsewhere(table: Table, group: list[int]) -> bool:
    """Whether two columns are copies in all the rows that have both; few levels may agree by chance in some rows."""
    if len(group) > 2:
        return True
    rows = table.values[np.isfinite(table.values[:, group]).all(axis=1)][:, group]
    return bool(tied_columns(rows, range(2), [table.kinds[k] for k in group]))


def monotone_copies(table: Table) -> BoolArray:
    """Pairs of numbers of which one rises or falls wherever the other does, such as a and its rank or cube.

    Nothing in the data tells which comes first. Cells that were missing do not count.

    Examples
    --------
    >>> a = np.random.default_rng(0).normal(size=50)
    >>> monotone_copies(Table(np.column_stack([a, np.exp(-a), a**2]), tuple("abc"), True)).astype(int)
    array([[0, 1, 0],
           [1, 0, 0],
           [0, 0, 0]])
    """
    found = np.zeros((table.n_variables,) * 2, dtype=bool)
    numbers = [k for k, kind in enumerate(table.kinds) if kind.name == "number"]
    if len(numbers) < 2:
        return found
    known = np.ones(table.values.shape, dtype=bool) if table.gaps is None else ~table.gaps.mask
    some = evenly_spaced(table.n_samples, SCREENED)
    with np.errstate(invalid="ignore"):  # a column may be constant among these rows
        alike = np.corrcoef([_ranks(table.values[some, k]) for k in numbers])
    for i, j in np.argwhere(np.triu(np.abs(alike) > CANDIDATE, 1)):
        pair = [numbers[i], numbers[j]]
        rows = np.flatnonzero(known[:, pair].all(axis=1))
        few = rows[evenly_spaced(len(rows), SCREENED)]  # of pairs that are no copies hardly any differ first elsewhere
        found[tuple(pair)] = all(
            _go_together(table.values[np.ix_(looked, pair)], alike[i, j] > 0) for looked in (few, rows)
        )
    return found | found.T  # transposed: whichever comes first


def _go_together(pair: FloatArray, rising: bool) -> bool:
    first, second = map(_ranks, pair.T)
    return np.array_equal(first, second if rising else second.max(initial=0) - second)


def _ranks(column: FloatArray) -> IntArray:
    return np.unique(column, return_inverse=True)[1]


SCREENED, CANDIDATE = 200, 0.8
"""Rank correlation of so many rows, missing cells filled, from which two columns are compared cell by cell."""

TENTH, CLOSE = 10, 0.2
"""A row nearly repeats another where the nearest is at most this share of the distance of the tenth nearest."""

QUERIED, MOST_DISTANCES = 500, 5_000_000
"""Rows that are looked at, and distances that are computed."""

FEWEST_NUMBERS, MOST_NUMBERS, MOST_CLOSE = 4, 20, 0.2
"""Numbers that a table must have for distances to tell, that are used, and the share of close rows to say."""


def remark_on_near_copies(table: Table) -> str | None:
    """A sentence where many rows nearly repeat another, as in a panel whose rows belong to the same few units.

    In a cloud of points the nearest is hardly closer than the tenth nearest: in four dimensions a fifth of the distance
    comes about in one of seventy rows.
    """
    numbers = [k for k, kind in enumerate(table.kinds) if kind.name == "number"]
    if len(numbers) < FEWEST_NUMBERS or table.n_samples <= 2 * TENTH:
        return None
    columns = table.values[:, np.array(numbers)[evenly_spaced(len(numbers), MOST_NUMBERS)]]
    columns = (columns - columns.mean(axis=0)) / columns.std(axis=0)
    n_rows = len(columns)
    looked = columns[evenly_spaced(n_rows, min(QUERIED, max(MOST_DISTANCES // n_rows, 1)))]
    size = np.square(columns).sum(axis=1)
    apart = np.square(looked).sum(axis=1)[:, None] + size - 2 * looked @ columns.T  # transposed: row by row
    _, nearest, tenth = np.partition(apart, (0, 1, TENTH), axis=1)[:, [0, 1, TENTH]].T
    close = float((nearest <= CLOSE**2 * tenth).mean())
    if close < MOST_CLOSE:
        return None
    return (
        f"{close:.0%} of the rows nearly repeat another: they may belong to the same units, as in a panel, and say "
        "less than their number. Confidence is too high where they do: take one row of each, or lags with group."
    )


def _alike_by_chance(values: FloatArray) -> float:
    """Pairs of equal rows to be expected of independent columns."""
    n_rows = len(values)
    pairs = n_rows**2 / 2
    for column in values.T:
        _, counts = np.unique(column, return_counts=True)
        pairs *= float(np.sum((counts / n_rows) ** 2))
    return pairs
