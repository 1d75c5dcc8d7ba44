"""Checks of what the result rests on: scales of columns, shapes of residuals, rows that depend on each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from precede.arrays import BoolArray, FloatArray
from precede.data.load import Table
from precede.evidence.checks.context import CheckContext, rows_to_look_at, standard_columns
from precede.evidence.checks.record import Level, Verdict, counted, some
from precede.kinds import indicator_blocks
from precede.lazy import special
from precede.metrics import sortability
from precede.pruning.weights import prune_by_bic
from precede.ranks import normal_scores, normality_p_values, ranks
from precede.scores.linear import smallest_variance_order

SIGNIFICANT = 0.01
"""Level of every check, after Holm's correction for testing many variables."""

FEWEST_FOR_SHAPE = 20
"""The normality test is not calibrated below this."""


def holm(p_values: FloatArray) -> FloatArray:
    """P-values corrected for multiple testing by Holm's method; NaN (not tested) stays.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.02, np.nan]))
    array([0.03, 0.04, 0.04,  nan])
    """
    result = np.full(p_values.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(p_values))
    ascending = tested[np.argsort(p_values[tested], kind="stable")]
    factors = np.arange(len(ascending), 0, -1)
    result[ascending] = np.minimum(np.maximum.accumulate(p_values[ascending] * factors), 1.0)
    return result


def normality(residuals: FloatArray) -> FloatArray:
    """Corrected p-value of D'Agostino and Pearson's test for each column; NaN for fewer than 20 rows."""
    if len(residuals) < FEWEST_FOR_SHAPE:
        return np.full(residuals.shape[1], np.nan)
    return holm(normality_p_values(standard_columns(residuals)[0]))


def equal_variances(residuals: FloatArray) -> tuple[FloatArray, float]:
    """Variances of the columns, up to a factor, and the p-value of Brown and Forsythe's test."""
    residuals = residuals / (float(np.abs(residuals).max()) or 1.0)  # squares of tiny or huge numbers leave the floats
    variances = residuals.var(axis=0)
    spread = np.abs(residuals - np.median(residuals, axis=0))
    m, d = spread.shape
    means = spread.mean(axis=0)
    between = m * ((means - means.mean()) ** 2).sum() / (d - 1)
    within = ((spread - means) ** 2).sum() / (m * d - d)
    return variances, float(special.fdtrc(d - 1, m * d - d, between / max(within, 1e-300)))


def curvature(table: Table, edges: BoolArray, numbers: Sequence[int] | None = None) -> FloatArray:
    """Corrected p-value, for each variable with parents, that its linear fit leaves curvature in a parent.

    The second and third Hermite polynomials of each parent's normal scores join the regression, and an F test judges
    them together. Ranks keep single extreme rows from deciding. Rows in which the variable was set are left out.

    Parameters
    ----------
    table : Table
        Its categories are indicators.
    edges : (n_variables, n_variables) bool array
    numbers : sequence of int, optional
        The columns whose size means something: others are neither tested nor bent. All when left out.

    Returns
    -------
    p_values : (n_variables,) float array
        NaN for a variable without parents that could be bent, or with too few rows for its parents.
    """
    rows = rows_to_look_at(table.values)
    sample = standard_columns(table.values[rows])[0]
    blocks, places = indicator_blocks(table.values[rows], table.kinds)
    blocks = standard_columns(blocks)[0]
    free = np.ones(sample.shape, dtype=bool) if table.targets is None else ~table.targets[rows]
    result = np.full(table.n_variables, np.nan)
    scores: dict[int, FloatArray] = {}
    sized = np.isin(np.arange(table.n_variables), range(table.n_variables) if numbers is None else numbers)
    for j in np.flatnonzero(sized):
        parents, own = np.flatnonzero(edges[:, j]), free[:, j]
        bent = [int(i) for i in parents if sized[i]]
        m = int(own.sum())
        base = np.column_stack([np.ones(m), *(blocks[own, places[i]] for i in parents)])
        left = m - base.shape[1] - 2 * len(bent)
        if not bent or left < m / 2:
            continue
        for i in bent:
            if i not in scores:
                z = normal_scores(sample[:, i])
                scores[i] = np.column_stack([z**2, z**3 - 3 * z])
        basis, _ = np.linalg.qr(base)
        both = np.column_stack([sample[own, j], *(scores[i][own] for i in bent)])
        both -= basis @ (basis.T @ both)
        residual, extra = both[:, 0], both[:, 1:]
        coefficients, *_ = np.linalg.lstsq(extra, residual, rcond=1e-8)
        explained = float(((extra @ coefficients) ** 2).sum())
        rest = max(float((residual**2).sum()) - explained, 1e-300)
        result[j] = special.fdtrc(extra.shape[1], left, explained / extra.shape[1] / (rest / left))
    return holm(result)


SORTABLE = 0.9
"""From here on, sorting alone gives nearly every direction away."""

NOTABLE_RATIO = 1.5
"""Residual variances whose extremes differ by less are equal for practical purposes."""


def check_var_sortability(learned: CheckContext) -> Verdict:
    """Whether the columns' variances alone give the order away."""
    if not learned.graph.n_edges:
        return None, "No edges, so variances cannot be compared along them.", "fine", {}
    value = sortability(np.diag(learned.covariance), learned.edges)
    found = f"Variance grows along {value:.0%} of the directed paths: sorting the columns by variance"
    if value < SORTABLE:
        return value, f"{found} would not give this order.", "fine", {}
    if not learned.assumptions.equal_variances:
        tail = "the score used here does not look at scales, so this is not a fault of the result"
        return value, f"{found} gives nearly the same order; {tail}.", "fine", {}
    tail = "this score uses variances, so make sure that the units of the columns are comparable"
    return value, f"{found} gives nearly the same order and {tail}.", "note", {}


def check_r2_sortability(learned: CheckContext) -> Verdict:
    """Whether the share of explained variance gives the order away, at any scale."""
    if not learned.graph.n_edges:
        return None, "No edges, so explained variances cannot be compared.", "fine", {}
    explained = 1 - 1 / np.diag(np.linalg.inv(learned.correlation))  # of each variable by all the others
    value = sortability(explained, learned.edges)
    found = (
        f"How well a variable is predicted by all others grows along {value:.0%} of the directed paths: sorting by it"
    )
    if value < SORTABLE:
        return value, f"{found} would not give this order.", "fine", {}
    tail = "gives nearly the same order, so a simpler method would find much of this graph"
    return value, f"{found} {tail}.", "note", {}


def check_standardizing(learned: CheckContext) -> Verdict:
    """Whether the graph changes when every column is given variance one."""
    if learned.score is None:
        return None, "Whether this method depends on the columns' scales was not checked.", "note", {}
    if not learned.assumptions.equal_variances:
        sentence = "The score does not depend on the scale of the columns: standardizing changes nothing."
        return 0.0, sentence, "fine", {}
    if learned.score != "linear":
        sentence = "The score compares noise variances, so the result depends on the scale of the columns; it was not "
        return None, f"{sentence}run again on standardized data.", "note", {}
    raw, standardized = (_greedy_graph(learned, matrix) for matrix in (learned.covariance, learned.correlation))
    differs = raw != standardized
    changed = int(np.triu(differs | differs.T).sum())  # transposed: a pair differs in either direction
    total = int(raw.sum())
    if changed == 0:
        return 0.0, "A quick search finds the same graph on raw and on standardized columns (0 changes).", "fine", {}
    sentence = (
        f"Standardizing the columns would change {counted(changed, 'place')} of the {total}-edge graph that a quick "
        "search finds: directions rest on the columns' units, so trust them only where the units are comparable."
    )
    details = {"edges_raw": total, "edges_standardized": int(standardized.sum())}
    return float(changed), sentence, "warning" if changed > 0.1 * total else "note", details


def _greedy_graph(learned: CheckContext, matrix: FloatArray) -> BoolArray:
    order = smallest_variance_order(matrix, learned.constraints)
    return prune_by_bic(matrix, order, learned.table.n_samples, learned.constraints)


def check_normality(learned: CheckContext) -> Verdict:
    """Whether the residuals are Gaussian, and what that means for the score."""
    p_values = normality(learned.fit.residuals[:, learned.caused])
    if np.isnan(p_values).all():
        return None, "Too few rows (fewer than 20) to check whether the noise is Gaussian.", "note", {}
    d, assumed = len(p_values), learned.assumptions
    rejected = learned.caused[p_values < SIGNIFICANT]
    count, gaussian = len(rejected), d - len(rejected)
    level: Level = "note"
    if assumed.gaussian == "excluded" and gaussian > 1:
        level = "warning" if count < d / 2 else "note"
        tail = (
            f"; directions between the other {gaussian} are not claimed, because this score needs non-Gaussian noise."
        )
    elif assumed.gaussian == "excluded":
        level, tail = "fine", ", as this score needs."
    elif count == 0:
        level, tail = "fine", ": nothing speaks against Gaussian noise."
    elif assumed.gaussian == "assumed" and assumed.mechanism == "linear":
        tail = ": the score 'linear-any' could use that to tell directions that this one cannot."
    elif assumed.gaussian == "assumed":
        tail = ", which this score assumes: its confidence in close calls is overstated."
    elif assumed.mechanism == "additive" or learned.score == "linear-any":
        level, tail = "fine", ", and to this score noise may have any shape."
    else:
        tail = ": the score 'linear-any' would use that, and does not need equal noise variances."
    details = {"variables": learned.variable_names(rejected), "smallest_p": float(np.nanmin(p_values))}
    return float(count), f"The residuals of {count} of {d} variables are clearly not Gaussian{tail}", level, details


def check_equal_variances(learned: CheckContext) -> Verdict:
    """Whether the residual variances are equal, and whether the score needs that."""
    variances, p_value = equal_variances(learned.fit.residuals[:, learned.caused])
    ratio = float(variances.max() / max(variances.min(), 1e-300))
    widest, narrowest = learned.variable_names(learned.caused[[variances.argmax(), variances.argmin()]])
    level: Level = "fine"
    if ratio <= NOTABLE_RATIO:
        tail = ": equal for practical purposes."
    elif p_value >= SIGNIFICANT:
        tail = ", which with so few rows or such tails may be chance."
    elif learned.assumptions.equal_variances:
        level = "warning"
        tail = ", but this score assumes equal noise variances: compare with a score that does not ('linear-any')."
    else:
        tail = "; the score does not assume equal noise variances."
    times = f"{ratio:.3g}" if not 100 <= ratio < 1e6 else f"{ratio:,.0f}"
    sentence = f"The largest residual variance ({widest}) is {times} times the smallest ({narrowest}){tail}"
    details = {"ratio": ratio, "p_value": p_value, "largest": widest, "smallest": narrowest}
    return ratio, sentence, level, details


def check_nonlinearity(learned: CheckContext) -> Verdict:
    """Whether variables depend on their causes along curves, and what that means for the score."""
    kinds = learned.table.kinds
    numbers = [k for k, kind in enumerate(kinds) if kind.name in ("number", "count")] if learned.levels else None
    p_values = curvature(learned.table, learned.edges, numbers)
    tested = int((~np.isnan(p_values)).sum())
    if tested == 0 and learned.levels:
        return None, "Not run: no number has a number among its causes.", "not run", {}
    if tested == 0:
        return None, "No variable has causes (or enough rows) to check for curvature.", "fine", {}
    names = learned.variable_names(np.flatnonzero(p_values < SIGNIFICANT))
    count = len(names)
    level: Level = "fine"
    remedy: tuple[str] | tuple[()] = ()
    if learned.assumptions.nonlinear_needed and count < tested / 2:
        level = "warning"
        tail = ": this score tells directions by curvature, so where there is none they rest on little."
    elif learned.assumptions.nonlinear_needed:
        tail = ", which is what this score tells directions by."
    elif count and learned.assumptions.mechanism == "additive":
        tail = ", which this score follows."
    elif count:
        level = "warning" if count > 0.1 * tested else "note"
        advice = "compare with the score 'gp' or 'sparse-gp'"
        if learned.levels:
            remedy = ("Take logarithms, or leave categories out: --leave-out NAME --score sparse-gp.",)
            advice = "directions read from independences may be wrong there"
        tail = f" ({some(names)}): a straight line misses that; {advice}."
    else:
        tail = ": straight lines describe the effects well."
    details = {"variables": names, "smallest_p": float(np.nanmin(p_values))}
    sentence = f"{count} of the {tested} variables with causes depend on them along a curve{tail}"
    return float(count), sentence, level, details, *remedy


ALIKE, SURELY = 0.2, 5.0
"""Rank correlation of each row with the next from which they are alike, and by how many standard errors."""


def check_rows_in_time(learned: CheckContext) -> Verdict:
    """Name the columns whose residuals carry over from row to row, as those of time series do.

    What a variable's causes leave is looked at, not the variable: a trend that comes from a cause is not a
    fault. A column that is sorted itself says nothing, but the others do.
    """
    likeness = np.array([row_likeness(rest) for rest in learned.fit.residuals.T])
    steps = np.diff(learned.values[learned.fit.rows], axis=0)
    is_sorted = (steps >= 0).all(axis=0) | (steps <= 0).all(axis=0)
    now = np.isin(np.arange(learned.n_variables), learned.caused)  # lagged columns go on by their nature
    alike = (likeness > max(ALIKE, SURELY / np.sqrt(len(learned.fit.rows)))) & ~is_sorted & now
    found = sorted(map(int, np.flatnonzero(alike)), key=lambda j: -likeness[j])
    if not found:
        return 0.0, "No sign of time dependence.", "fine", {}
    named = [f"{learned.names[j]} {likeness[j]:.2f}" for j in found]
    sentence = (
        f"Rows depend on the row before in {len(found)} of {learned.n_variables} columns (correlation: "
        f"{some(named)}): they are in time, or sorted. Edges and confidences are then overstated."
    )
    return float(len(found)), sentence, "warning", {"columns": named}


def row_likeness(values: FloatArray) -> float:
    """Rank correlation of a column with itself one row later.

    Examples
    --------
    >>> round(row_likeness(np.arange(10.0)), 2), round(row_likeness(np.array([0.0, 1.0] * 5)), 2)
    (1.0, -1.0)
    """
    rank = ranks(values)
    here, next_ = rank[:-1] - rank[:-1].mean(), rank[1:] - rank[1:].mean()
    size = float(np.sqrt((here @ here) * (next_ @ next_)))
    return float(here @ next_ / size) if size > 0 else 0.0
