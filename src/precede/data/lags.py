"""Time: columns of earlier steps beside those of now, and the constraints that follow from time."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from precede.arrays import IntArray
from precede.data.checks import check_column_names, check_size, check_values
from precede.data.table import Table, filled_table
from precede.errors import DataError, check_positive, typed
from precede.lazy import pandas as pd


def lagged_name(name: Hashable, lag: int) -> Hashable:
    """Name of a column this many steps earlier.

    Examples
    --------
    >>> lagged_name("price", 2)
    'price[t-2]'
    """
    return name if lag == 0 else f"{name}[t-{lag}]"


MOST_LAGS = 5
"""Steps that ``lags="auto"`` tries."""


def chosen_lags(table: Table, groups: Sequence[Hashable] | None = None) -> int:
    r"""How many earlier steps help to predict the next one: the least BIC of linear autoregressions.

    .. math:: n \sum_j \log \hat\sigma_j^2(p) + p\, d^2 \log n, \qquad p = 0, \ldots, 5,

    all on the rows that have five steps before them; fewer are tried where the rows are few.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> noise = rng.normal(size=(400, 2))
    >>> series = noise.copy()
    >>> for t in range(2, 400):
    ...     series[t] += 0.6 * series[t - 2]
    >>> [chosen_lags(Table(values, ("a", "b"), True)) for values in (noise, series)]
    [0, 2]
    """
    n_rows, d = table.values.shape
    places = np.arange(n_rows) if table.rows is None else table.rows
    most = min(MOST_LAGS, n_rows // (3 * d + 3))
    rows = _rows_with_a_past(places, most, groups) if most else np.empty(0, dtype=np.int64)
    if len(rows) <= 2 * (most * d + 1):
        return 0
    values = (table.values - table.values.mean(axis=0)) / table.values.std(axis=0)
    criteria = []
    for lags in range(most + 1):
        past = np.column_stack([np.ones(len(rows)), *(values[rows - lag] for lag in range(1, lags + 1))])
        left = values[rows] - past @ np.linalg.lstsq(past, values[rows], rcond=None)[0]
        variances = np.maximum(left.var(axis=0), 1e-12)
        criteria.append(len(rows) * float(np.log(variances).sum()) + lags * d**2 * np.log(len(rows)))
    return int(np.argmin(criteria))


def with_lags(table: Table, lags: int, groups: Sequence[Hashable] | None = None) -> Table:
    """Put the columns of earlier rows beside those of each row.

    Parameters
    ----------
    table : Table
        Rows in sequence, one step apart. Where rows were dropped, steps do not cross the hole.
    lags : int
        How many steps back.
    groups : sequence, optional
        Whose row each is, for panels: steps do not cross from one to another.

    Returns
    -------
    Table
        Columns of now, then those of one step earlier, and so on; ``steps`` says which is which.

    Examples
    --------
    >>> values = np.array([[0.0, 5.0], [1.0, 3.0], [2.0, 8.0], [3.0, 7.0], [5.0, 1.0], [9.0, 4.0]])
    >>> with_lags(Table(values, ("a", "b"), True), 1).values[0]
    array([1., 3., 0., 5.])
    """
    check_positive("lags", lags, integer=True)
    places = np.arange(table.n_samples) if table.rows is None else table.rows
    now = _rows_with_a_past(places, lags, groups) if lags < len(places) else np.empty(0, dtype=np.int64)
    if not len(now):
        holes = "" if table.rows is None else " among those that were not dropped"
        raise DataError(f"no row has {lags} rows before it{holes}: take fewer lags.")
    values = table.values if table.gaps is None else np.where(table.gaps.mask, np.nan, table.values)
    steps = tuple(lag for lag in range(lags + 1) for _ in table.names)
    names = tuple(lagged_name(name, lag) for lag in range(lags + 1) for name in table.names)
    check_column_names(names)  # one of the data's own may be called as an earlier step is
    targets = None
    if table.targets is not None:  # the past is not explained, so it does not matter what was set then
        targets = np.concatenate([table.targets[now], np.zeros((len(now), lags * table.n_variables), bool)], axis=1)
    result = replace(
        table,
        values=np.concatenate([values[now - lag] for lag in range(lags + 1)], axis=1),
        names=names,
        kinds=table.kinds * (lags + 1),
        gaps=None,
        targets=targets,
        steps=steps,
        rows=None if table.rows is None else table.rows[now],
        remarks=(
            *table.remarks,
            f"Columns of {lags} earlier step{'' if lags == 1 else 's'} were added ({len(now)} of {table.n_samples} "
            "rows have them): nothing causes what came before it, and edges among lagged columns are not estimated.",
        ),
    )
    if table.gaps is not None:
        result = filled_table(result, table.gaps.how)
    check_size(result.values, result.names, " once earlier steps are added")
    check_values(result.values, result.names, result.kinds)
    result.values.flags.writeable = False
    return result


def _rows_with_a_past(places: IntArray, lags: int, groups: Sequence[Hashable] | None) -> IntArray:
    """Rows whose ``lags`` predecessors are in the table, one step apart, and of the same group."""
    n_rows = len(places)
    if groups is not None and len(groups) != n_rows:
        raise DataError(f"{typed('group')} names {len(groups)} rows, the data has {n_rows}.")
    whose = np.zeros(n_rows) if groups is None else pd.factorize(pd.Series(list(groups), dtype=object))[0]
    rows = np.arange(lags, n_rows)
    together = np.ones(len(rows), dtype=bool)
    for lag in range(1, lags + 1):
        together &= (whose[rows] == whose[rows - lag]) & (places[rows] == places[rows - lag] + lag)
    return rows[together]
