"""Rows that repeat others: they say nothing new, and count once."""

from __future__ import annotations

import numpy as np

from precede.arrays import FloatArray
from precede.data.canonical import LARGEST_SORT
from precede.data.checks import check_size
from precede.data.table import Table, rows_kept

BY_CHANCE = 0.1
"""Share of the repeated rows that may be expected of independent columns where they are taken for copies."""


def without_copies(table: Table) -> Table:
    r"""The table with rows that repeat others left out, and a sentence that says so.

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
    _, first = np.unique(known, axis=0, return_index=True)
    n_rows = table.n_samples
    if len(first) == n_rows or _alike_by_chance(known) > BY_CHANCE * (n_rows - len(first)):
        return table
    kept = np.sort(first)
    check_size(table.values[kept], table.names, f" once the {n_rows - len(kept)} that repeat others are left out")
    remark = f"{n_rows - len(kept):,} of {n_rows:,} rows repeat others: each counts once."
    return rows_kept(table, kept, remark)


def _alike_by_chance(values: FloatArray) -> float:
    """Pairs of equal rows to be expected of independent columns."""
    n_rows = len(values)
    pairs = n_rows**2 / 2
    for column in values.T:
        _, counts = np.unique(column, return_counts=True)
        pairs *= float(np.sum((counts / n_rows) ** 2))
    return pairs
