"""Checks of what the result rests on: scales of the columns, and shapes of the residuals."""

from __future__ import annotations

import numpy as np

from precede.arrays import BoolArray, FloatArray
from precede.evidence.checks.check import Check, Level, counted, some
from precede.evidence.checks.learned import Learned
from precede.evidence.checks.residual_tests import SIGNIFICANT, curvature, equal_variances, normality
from precede.metrics.sortability import sortability
from precede.pruning.weights import prune_by_bic
from precede.scores.linear import smallest_variance_order

SORTABLE = 0.9
"""From here on, sorting alone gives nearly every direction away."""

NOTABLE_RATIO = 1.5
"""Residual variances whose extremes differ by less are equal for practical purposes."""


def check_var_sortability(learned: Learned) -> Check:
    """Whether the columns' variances alone give the order away."""
    if not learned.n_edges:
        return Check("var-sortability", None, "No edges, so variances cannot be compared along them.", "fine")
    value = sortability(np.diag(learned.covariance), learned.edges)
    if value < SORTABLE:
        return Check(
            "var-sortability",
            value,
            f"Variance grows along {value:.0%} of the directed paths: sorting the columns by variance would not give "
            "this order.",
            "fine",
        )
    relies = (
        " and this score uses variances, so make sure that the units of the columns are comparable"
        if learned.assumptions.equal_variances
        else "; the score used here does not look at scales, so this is not a fault of the result"
    )
    level: Level = "note" if learned.assumptions.equal_variances else "fine"
    return Check(
        "var-sortability",
        value,
        f"Variance grows along {value:.0%} of the directed paths: sorting the columns by variance gives nearly the "
        f"same order{relies}.",
        level,
    )


def check_r2_sortability(learned: Learned) -> Check:
    """Whether the share of explained variance gives the order away, at any scale."""
    if not learned.n_edges:
        return Check("R²-sortability", None, "No edges, so explained variances cannot be compared.", "fine")
    explained = 1 - 1 / np.diag(np.linalg.inv(learned.correlation))  # of each variable by all the others
    value = sortability(explained, learned.edges)
    easy = value >= SORTABLE
    tail = (
        "sorting by it gives nearly the same order, so a simpler method would find much of this graph."
        if easy
        else "sorting by it would not give this order."
    )
    return Check(
        "R²-sortability",
        value,
        f"How well a variable is predicted by all others grows along {value:.0%} of the directed paths: {tail}",
        "note" if easy else "fine",
    )


def check_standardizing(learned: Learned) -> Check:
    """Whether the graph changes when every column is given variance one."""
    name = "effect of standardizing"
    if learned.score is None:
        return Check(name, None, "Whether this method depends on the columns' scales was not checked.", "note")
    if not learned.assumptions.equal_variances:
        return Check(
            name, 0.0, "The score does not depend on the scale of the columns: standardizing changes nothing.", "fine"
        )
    if learned.score != "linear":
        return Check(
            name,
            None,
            "The score compares noise variances, so the result depends on the scale of the columns; it was not run "
            "again on standardized data.",
            "note",
        )
    raw, standardized = (_greedy_graph(learned, matrix) for matrix in (learned.covariance, learned.correlation))
    differs = raw != standardized
    changed = int(np.triu(differs | differs.T).sum())  # transposed: a pair differs in either direction
    total = int(raw.sum())
    if changed == 0:
        return Check(
            name, 0.0, "A quick search finds the same graph on raw and on standardized columns (0 changes).", "fine"
        )
    level: Level = "warning" if changed > 0.1 * total else "note"
    return Check(
        name,
        float(changed),
        f"Standardizing the columns would change {counted(changed, 'place')} of the {total}-edge graph that a quick "
        "search finds: directions rest on the columns' units, so trust them only where the units are comparable.",
        level,
        {"edges_raw": total, "edges_standardized": int(standardized.sum())},
    )


def _greedy_graph(learned: Learned, matrix: FloatArray) -> BoolArray:
    order = smallest_variance_order(matrix, learned.constraints)
    return prune_by_bic(matrix, order, learned.n_samples, learned.constraints)


def check_normality(learned: Learned) -> Check:
    """Whether the residuals are Gaussian, and what that means for the score."""
    name = "residual normality"
    p_values = normality(learned.fit.residuals[:, learned.caused])
    if np.isnan(p_values).all():
        return Check(name, None, "Too few rows (fewer than 20) to check whether the noise is Gaussian.", "note")
    d = len(p_values)
    rejected = learned.caused[p_values < SIGNIFICANT]
    count = len(rejected)
    found = f"The residuals of {count} of {d} variables are clearly not Gaussian"
    details = {"variables": learned.variable_names(rejected), "smallest_p": float(np.nanmin(p_values))}
    level: Level
    if learned.assumptions.gaussian == "excluded":
        gaussian = d - count
        level = "warning" if gaussian > 1 and count < d / 2 else "note" if gaussian > 1 else "fine"
        tail = (
            f"; directions between the other {gaussian} are not claimed, because this score needs non-Gaussian noise."
            if gaussian > 1
            else ", as this score needs."
        )
    elif count == 0:
        level, tail = "fine", ": nothing speaks against Gaussian noise."
    elif learned.assumptions.gaussian == "assumed" and learned.assumptions.mechanism == "linear":
        level = "note"
        tail = ": the score 'linear-any' could use that to tell directions that this one cannot."
    elif learned.assumptions.gaussian == "assumed":
        level, tail = "note", ", which this score assumes: its confidence in close calls is overstated."
    elif learned.assumptions.mechanism == "additive" or learned.score == "linear-any":
        level, tail = "fine", ", and to this score noise may have any shape."
    else:
        level = "note"
        tail = ": the score 'linear-any' would use that, and does not need equal noise variances."
    return Check(name, float(count), found + tail, level, details)


def check_equal_variances(learned: Learned) -> Check:
    """Whether the residual variances are equal, and whether the score needs that."""
    residuals = learned.fit.residuals[:, learned.caused]
    ratio, p_value = equal_variances(residuals)
    unequal = p_value < SIGNIFICANT and ratio > NOTABLE_RATIO
    needed = learned.assumptions.equal_variances
    variances = (residuals / (np.abs(residuals).max() or 1.0)).var(axis=0)
    widest, narrowest = learned.variable_names(learned.caused[[variances.argmax(), variances.argmin()]])
    details = {"ratio": ratio, "p_value": p_value, "largest": widest, "smallest": narrowest}
    found = f"The largest residual variance ({widest}) is {_times(ratio)} times the smallest ({narrowest})"
    level: Level
    if ratio <= NOTABLE_RATIO:
        level, tail = "fine", ": equal for practical purposes."
    elif not unequal:
        level, tail = "fine", ", which with so few rows or such tails may be chance."
    elif needed:
        level = "warning"
        tail = ", but this score assumes equal noise variances: compare with a score that does not ('linear-any')."
    else:
        level, tail = "fine", "; the score does not assume equal noise variances."
    return Check("equal noise variances", ratio, found + tail, level, details)


def _times(ratio: float) -> str:
    return f"{ratio:.3g}" if not 100 <= ratio < 1e6 else f"{ratio:,.0f}"


def check_nonlinearity(learned: Learned) -> Check:
    """Whether variables depend on their causes along curves, and what that means for the score."""
    name = "nonlinearity"
    p_values = curvature(learned.values, learned.edges, learned.linear_fit)
    tested = int((~np.isnan(p_values)).sum())
    if tested == 0:
        return Check(name, None, "No variable has causes (or enough rows) to check for curvature.", "fine")
    curved = np.flatnonzero(p_values < SIGNIFICANT)
    names = learned.variable_names(curved)
    details = {"variables": names, "smallest_p": float(np.nanmin(p_values))}
    found = f"{len(curved)} of the {tested} variables with causes depend on them along a curve"
    level: Level
    if learned.assumptions.nonlinear_needed:
        few = len(curved) < tested / 2
        level = "warning" if few else "fine"
        tail = (
            ": this score tells directions by curvature, so where there is none they rest on little."
            if few
            else ", which is what this score tells directions by."
        )
    elif len(curved) and learned.assumptions.mechanism == "additive":
        level, tail = "fine", ", which this score follows."
    elif len(curved):
        level = "warning" if len(curved) > 0.1 * tested else "note"
        tail = f" ({some(names)}): a straight line misses that; compare with the score 'gp' or 'sparse-gp'."
    else:
        level, tail = "fine", ": straight lines describe the effects well."
    return Check(name, float(len(curved)), found + tail, level, details)
