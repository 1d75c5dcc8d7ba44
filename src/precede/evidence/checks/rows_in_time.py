"""Are rows near each other alike? Then they are not the independent draws that every score and test takes them for."""

from __future__ import annotations

import numpy as np

from precede.arrays import FloatArray
from precede.evidence.checks.check import Check, some
from precede.evidence.checks.learned import Learned
from precede.ranks import ranks

ALIKE, SURELY = 0.2, 5.0
"""Rank correlation of each row with the next from which they are alike, and by how many standard errors."""


def check_rows_in_time(learned: Learned) -> Check:
    """Name the columns whose residuals carry over from row to row, as those of time series do.

    What a variable's causes leave is looked at, not the variable: a trend that comes from a cause is not a
    fault. A column that is sorted itself says nothing, but the others do.
    """
    name = "rows near each other"
    likeness = np.array([row_likeness(rest) for rest in learned.fit.residuals.T])
    steps = np.diff(learned.values[learned.fit.rows], axis=0)
    is_sorted = (steps >= 0).all(axis=0) | (steps <= 0).all(axis=0)
    now = np.isin(np.arange(learned.n_variables), learned.caused)  # lagged columns go on by their nature
    standard_error = 1 / np.sqrt(len(learned.fit.rows))
    alike = (likeness > max(ALIKE, SURELY * standard_error)) & ~is_sorted & now
    found = sorted(map(int, np.flatnonzero(alike)), key=lambda j: -likeness[j])
    if not found:
        return Check(name, 0.0, "No sign of time dependence.", "fine")
    named = [f"{learned.names[j]} {likeness[j]:.2f}" for j in found]
    sentence = (
        f"Rows depend on the row before in {len(found)} of {learned.n_variables} columns (correlation: "
        f"{some(named)}): they are in time, or sorted. Edges and confidences are then overstated."
    )
    return Check(name, float(len(found)), sentence, "warning", {"columns": named})


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
