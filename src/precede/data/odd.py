"""Odd cells: values that lie too far out for the tail of their own column, or for what the rest of their row says."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import lgamma

import numpy as np

from precede.arrays import BoolArray, FloatArray
from precede.data.missing import em_moments
from precede.data.table import LARGEST_SORT, Table, filled_table, rows_kept
from precede.errors import joined, typed
from precede.kinds import ColumnKind

FAR = 5.0
"""Robust standard deviations within which no cell of a column is odd."""

FAR_IN_ROW = 6.0
"""The same for what the rest of a row leaves unexplained."""

LEVEL = 0.05
"""Share of tables without an odd cell in which some may be marked."""

FEWEST = 15
"""Cells on one side of the median from which its tail is judged."""

SUSPECT = 0.02
"""Share of the cells of a side, the farthest, that may be odd: the tail is fitted to the others."""

TAIL = 0.35
"""Share of the cells of a side that show its tail; less of many."""

NEAR = 25
"""Neighbors of a suspected cell from which the tail beside it is judged."""

PULLED_IN = 3.0
"""Robust standard deviations to which cells are pulled in for the moments that judge rows."""

GROWS, GROWS_MORE, UNSURE = 0.48, 0.1, 0.7
"""How much steeper a tail may go on than it was seen: by its slope, by the logarithm of the rows, by its error."""

PASSES = 6
"""Cells of one row that may be odd for the rest of it, one in each pass."""

MANY = 0.0005
"""Share of odd cells from which as many others are hidden, and make up the shape of a residual."""

FEW = 2
"""Odd cells that are no sign of others, however small the table."""

EXPLAINED = 0.5
"""Share of a cell's distance from its median that the rest of its row must predict for the cell to be no odd one."""

MANY_COLUMNS = 150
"""With more, one cell of a row may be odd, for what is beside a missing cell looks odd where columns are nearly copies;
and products are of those columns alone that say most about the cell's own, as all of them would be half a million."""

MOST_PRODUCTS = 12
"""Products of two columns, those that lines leave most of, from which a cell is predicted beside the columns."""

RIDGE = 3.0
"""Rows that speak against each term of that prediction."""

LEAST_KEPT = 0.75
"""Share of the rows that must be left where strange ones are left out; with fewer, only odd cells go."""


@dataclass(frozen=True)
class _Side:
    """The cells on one side of a column's median, the farthest first, and how their distance grows.

    With E the negative logarithm of the share of cells at least as far out, the logarithm of the distance grows by
    ``slope`` times that of E: 1/2 in the far tail of a Gaussian, 1 for an exponential, more and more for Student's t.
    """

    log_distance: FloatArray
    exponent: FloatArray
    n_suspect: int
    n_tail: int
    slope: float
    error: float  # standard error of the slope, as a share of it


def without_odd(table: Table) -> Table:
    """The table with its odd cells missing, and a sentence that names them.

    Cells are looked for once: a resample of a table keeps those of the whole. Nothing is odd in a table with
    interventions, which put values where they would not be, nor in one too large to sort; with no more rows than
    columns nothing could fill the gap.
    """
    if table.resampled or table.odd is not None or table.targets is not None or table.values.size > LARGEST_SORT:
        return table
    if table.is_wide:
        return table
    known = table.values if table.gaps is None else np.where(table.gaps.mask, np.nan, table.values)
    odd = odd_cells(known, table.kinds)
    if not odd.any():
        return replace(table, odd=odd)
    if odd.mean() > MANY and odd.sum() > FEW:  # as many are hidden: rows that any cell makes strange go as a whole
        kept = np.flatnonzero(~_strange_rows(known, odd, table.kinds))
        if len(kept) >= LEAST_KEPT * table.n_samples and not (np.ptp(table.values[kept], axis=0) == 0).any():
            clean = replace(table, odd=np.zeros_like(odd))
            return rows_kept(clean, kept, named(table, odd, table.n_samples - len(kept)))
    gappy = replace(table, values=np.where(odd, np.nan, known), gaps=None, odd=odd)
    filled = filled_table(gappy, "em" if table.gaps is None else table.gaps.how)
    return replace(filled, remarks=(*table.remarks, named(table, odd)))


def _strange_rows(values: FloatArray, odd: BoolArray, kinds: Sequence[ColumnKind]) -> BoolArray:
    """Rows with an odd cell, or with one that is far from what the rest of it says, until no such row is left."""
    places = [k for k, kind in enumerate(kinds) if not kind.discrete]
    strange: BoolArray = np.any(odd, axis=1, keepdims=True)[:, 0]
    for _ in range(PASSES):
        rest = _unexplained(values[~strange][:, places])
        if rest is None:
            break
        far = np.abs(np.nan_to_num(rest / _robust_scale(rest))).max(axis=1) > FAR
        if not far.any():
            break
        strange[np.flatnonzero(~strange)[far]] = True
    return strange


def named(table: Table, odd: BoolArray, n_rows: int = 0) -> str:
    """The odd cells in words, the farthest first; ``n_rows`` are left out for them."""
    cells = np.argwhere(odd)
    columns = table.values - np.median(table.values, axis=0)
    farthest = np.argsort([-abs(columns[i, k]) / np.std(columns[:, k]) for i, k in cells], kind="stable")
    rows = np.arange(table.n_samples) if table.rows is None else table.rows
    shown = joined(f"{table.names[k]!r} in row {rows[i] + 1} ({table.values[i, k]:.4g})" for i, k in cells[farthest])
    what = (
        "1 cell is odd, too far out for its column or its row, and counts"
        if len(cells) == 1
        else (f"{len(cells)} cells are odd, too far out for their columns or their rows, and count")
    )
    rows_out = f"; the {n_rows} rows with such or almost such cells are left out" if n_rows else ""
    return f"{what} as missing: {shown}{rows_out}; {typed('odd', 'keep')} takes such cells as they are."


def odd_cells(values: FloatArray, kinds: Sequence[ColumnKind]) -> BoolArray:
    """Mark odd cells; missing ones (NaN) are not looked at.

    First each column by itself, then each cell against what a linear regression on the rest of its row predicts, the
    farthest cell of a row first. How far is too far depends on the column's own tail and the number of rows: a cell
    must lie beyond what the tail would show in one table in twenty. A cell that its row predicts, by lines and
    products, is the tail of a mechanism and not odd. Columns with levels have no odd cells.

    Parameters
    ----------
    values : (n_samples, n_variables) array
    kinds : sequence of ColumnKind

    Returns
    -------
    odd : (n_samples, n_variables) bool array

    Examples
    --------
    >>> values = np.random.default_rng(0).normal(size=(500, 2))
    >>> values[7, 1] = 12.0
    >>> np.argwhere(odd_cells(values, [ColumnKind("number")] * 2))
    array([[7, 1]])
    """
    odd = np.zeros(values.shape, dtype=bool)
    places = [k for k, kind in enumerate(kinds) if not kind.discrete]
    if not places:
        return odd
    columns = np.array(values[:, places], dtype=np.float64)
    marked = _beyond_tails(columns, FAR)
    if len(places) > 1:
        for _ in range(PASSES if len(places) <= MANY_COLUMNS else 1):
            columns[marked] = np.nan
            rest = _unexplained(columns)
            if rest is None:
                break
            far = np.abs(np.nan_to_num(rest / _robust_scale(rest)))
            farthest = np.arange(len(places)) == far.argmax(axis=1)[:, None]
            # an odd cell makes its neighbors look odd: of a row that is far out, only the farthest is judged
            found = _beyond_tails(
                np.where((far.max(axis=1) > FAR_IN_ROW)[:, None] & ~farthest, np.nan, rest), FAR_IN_ROW
            )
            if not found.any():
                break
            marked |= found
    odd[:, places] = _unpredicted(values[:, places], marked)
    return odd


def _unpredicted(columns: FloatArray, odd: BoolArray) -> BoolArray:
    """The odd cells that a ridge regression on the rest of their row does not predict.

    It is fitted to the rows in which the column is not odd. Odd cells count for nothing where others are predicted, so
    that several wrong ones cannot vouch for each other; one that is predicted may vouch for what follows from it.
    """
    scale = _robust_scale(columns)
    unit = (columns - _median(columns)) / np.where(np.isnan(scale), 1.0, scale)
    odd = odd.copy()
    for _ in range(PASSES):
        known = np.where(odd | np.isnan(unit), 0.0, unit)
        predicted = np.zeros_like(odd)
        for k in np.flatnonzero(odd.any(axis=0)):
            fitted, asked = ~odd[:, k] & ~np.isnan(unit[:, k]), odd[:, k]
            prediction = _predicted(np.delete(known, k, axis=1), unit[:, k], fitted)
            predicted[asked, k] = (np.abs(unit[:, k] - prediction) < EXPLAINED * np.abs(unit[:, k]))[asked]
        if not predicted.any():
            break
        odd &= ~predicted
    return odd


def _predicted(rest: FloatArray, target: FloatArray, fitted: BoolArray) -> FloatArray:
    """The target by lines and by the products that lines leave most of, fitted to some of the rows."""
    lines = np.column_stack([np.ones(len(rest)), rest])
    left = target[fitted] - _ridge_fit(lines, target, fitted)[fitted]
    rest = rest[:, np.sort(np.argsort(-np.abs(target[fitted] @ rest[fitted]), kind="stable")[:MANY_COLUMNS])]
    first, second = np.triu_indices(rest.shape[1])
    own = rest[fitted]
    share = [  # one column at a time: all products at once would be many times the table
        np.abs(left @ (products - products.mean(axis=0))) / np.maximum(products.std(axis=0), 1e-12)
        for products in (own[:, [k]] * own[:, k:] for k in range(rest.shape[1]))
    ]
    top = np.argsort(-np.concatenate(share), kind="stable")[:MOST_PRODUCTS]
    return _ridge_fit(np.column_stack([lines, rest[:, first[top]] * rest[:, second[top]]]), target, fitted)


def _ridge_fit(basis: FloatArray, target: FloatArray, fitted: BoolArray) -> FloatArray:
    own, penalty = basis[fitted], RIDGE * np.eye(basis.shape[1])
    penalty[0, 0] = 0.0
    return np.asarray(basis @ np.linalg.solve(own.T @ own + penalty, own.T @ target[fitted]), dtype=np.float64)


def _median(columns: FloatArray) -> FloatArray:
    """Medians of what is there: numpy looks at column after column where it has to look for NaN."""
    return np.asarray((np.nanmedian if np.isnan(columns).any() else np.median)(columns, axis=0))


def _robust_scale(columns: FloatArray) -> FloatArray:
    """Standard deviations by the median distance from the median; NaN where that is zero."""
    scale = 1.4826 * _median(np.abs(columns - _median(columns)))
    return np.where(scale > 0, scale, np.nan)


def _unexplained(columns: FloatArray) -> FloatArray | None:
    """What a regression of each column on all others leaves of it, by the moments that EM finds; None if it fails."""
    scale = _robust_scale(columns)
    scale = np.where(np.isnan(scale), 1.0, scale)
    unit = (columns - _median(columns)) / scale
    if len(unit) <= 2 * unit.shape[1]:
        return None
    mean, matrix = em_moments(np.clip(unit, -PULLED_IN, PULLED_IN))
    try:
        precision = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return None
    deviation = np.where(np.isnan(unit), 0.0, unit - mean)
    return np.where(np.isnan(unit), np.nan, deviation @ precision / np.diag(precision))


def _beyond_tails(columns: FloatArray, far: float) -> BoolArray:
    """Cells beyond the reach of their column's tail, on either side of its median."""
    scale = _robust_scale(columns)
    middle = _median(columns)
    odd = np.zeros(columns.shape, dtype=bool)
    distances = {}
    for k in np.flatnonzero(~np.isnan(scale)):
        there = np.flatnonzero(~np.isnan(columns[:, k]))
        distance = (_ties_spread(columns[there, k]) - middle[k]) / scale[k]
        distances[k] = there, distance
    if not any(np.abs(distance).max() > far for _, distance in distances.values()):
        return odd
    sides = {(k, sign): _side(sign * distance) for k, (_, distance) in distances.items() for sign in (1, -1)}
    known = {place: side for place, side in sides.items() if side is not None}
    if not known:
        return odd
    usual = float(np.median([side.slope for side in known.values()]))
    for (k, sign), side in known.items():
        limit = _reach(side, far, usual, 2 * columns.shape[1])
        there, distance = distances[k]
        odd[there[sign * distance >= limit], k] = True
    return odd


def _ties_spread(values: FloatArray) -> FloatArray:
    """Counts and rounded numbers with equal values evenly apart, up to half a step to either side."""
    levels, count = np.unique(values, return_counts=True)
    if len(levels) == len(values) or len(levels) < 2:
        return values
    step = float(np.diff(levels).min())
    first = np.repeat(np.cumsum(count) - count, count)
    within = (np.arange(len(values)) - first + 0.5) / np.repeat(count, count) - 0.5
    apart = np.empty(len(values))
    apart[np.argsort(values, kind="stable")] = np.repeat(levels, count) + within * step
    return apart


def _side(distance: FloatArray) -> _Side | None:
    """The cells above zero and the slope of their tail; None where they are too few."""
    y = np.sort(distance[distance > 0])[::-1]
    m = len(y)
    if m < FEWEST:
        return None
    exponent = -np.log((np.arange(m) + 0.5) / m)
    suspect = max(int(np.ceil(SUSPECT * m)), 4)
    tail = max(int(np.ceil(TAIL * min(1.0, (250 / m) ** 0.4) * m)), suspect + 5)
    log_y = np.log(y)
    x = np.log(exponent[suspect:tail])
    x -= x.mean()
    slope = max(float(x @ log_y[suspect:tail] / (x @ x)), 0.5)
    return _Side(log_y, exponent, suspect, tail, slope, float(1.2 / np.sqrt(tail - suspect)))


def _reach(side: _Side, far: float, usual: float, n_sides: int) -> float:
    """Distance from which cells of a side are odd; infinite where none is.

    The farthest k are odd together where that many, so far out, have less than the level's probability both by the
    tail that is fitted to the cells before the suspected ones and by the neighbors of the k. Tails get heavier farther
    out (Student's), so the slope is allowed to grow, the more so the farther the fit is carried on.

    Parameters
    ----------
    usual : float
        Slope of most sides of the table, to which an uncertain one is drawn.
    """
    m, log_y, exponent, first = len(side.log_distance), side.log_distance, side.exponent, side.n_suspect
    if log_y[0] <= np.log(far):
        return np.inf
    spare = 2 * side.slope * side.error
    slope = float(np.clip(usual, side.slope - spare, side.slope + spare))
    grows = GROWS + GROWS_MORE * max(0.0, np.log(m / 100))
    center = slice(first, side.n_tail)
    start = log_y[center].mean() + slope * float(np.log(exponent[first]) - np.log(exponent[center]).mean())
    start = max(float(start), float(log_y[first]))
    price = np.log(n_sides / LEVEL)
    limit = np.inf
    for k in range(1, first + 1):
        if log_y[k - 1] <= np.log(far):
            break
        by_fit = start + _steep(slope, grows, side.error) * np.log(
            ((price - lgamma(k + 1)) / k + np.log(m)) / exponent[first]
        )
        near = slice(k, k + min(NEAR, (m - k) // 2))
        beside = float(log_y[near].mean() - log_y[near.stop]) * float(exponent[near].mean())
        steep = _steep(max(slope, beside), grows, side.error)
        by_neighbors = log_y[k] + steep * np.log((exponent[k] + price / k) / exponent[k])
        if log_y[k - 1] > max(by_fit, by_neighbors):
            limit = float(np.exp(log_y[k - 1])) * (1 - 1e-12)
    if np.isfinite(
        limit
    ):  # there are errors in this column: the farthest cell that is none is the limit for the others
        usually = float(np.exp(start + slope * np.log((np.log(m) + 1) / exponent[first])))
        limit = min(limit, max(far, usually))
    return limit


def _steep(slope: float, grows: float, error: float) -> float:
    """The steepest that a tail may go on."""
    return slope * (1 + grows * slope + UNSURE * error)
