"""Edges that rest on a few rows, and values far out."""

from __future__ import annotations

import numpy as np

from precede.arrays import FloatArray, IntArray
from precede.evidence.checks.check import Check, counted, some
from precede.evidence.checks.learned import Learned
from precede.evidence.checks.parent_regressions import FAR_OUT, basis_of, regress_blocks, standard_columns
from precede.evidence.checks.record import EdgeReading, Influence
from precede.pruning.splines import spline_basis

ROWS_PER_ONE = 500
"""One row in this many may be left out to see whether an edge rests on it, and at least one."""

FEW = 0.01
"""Rows that are far out may all be left out together where they are no more than this share."""

CLEAR = 0.001
"""Only edges with at most this p-value are looked at: what is hardly there rests on single rows anyway."""

FALLEN = 0.5
"""An edge rests on rows without which less than this share of its strength is left."""


def influence_on(learned: Learned, cause: int, effect: int) -> Influence | None:
    r"""Fit a variable again without the rows that matter most to one of its edges.

    With :math:`\tilde x` the contribution of the cause and :math:`\tilde y` the effect without its other causes, row
    :math:`k` moves the slope :math:`\sum \tilde x \tilde y / \sum \tilde x^2` to
    :math:`(\sum \tilde x \tilde y - \tilde x_k \tilde y_k) / (\sum \tilde x^2 - \tilde x_k^2)`. First the row that
    lowers it most is left out, then one in 500, then all that are far out, where they are few: two errors that hold an
    edge up together are seen by leaving out both.

    Returns
    -------
    influence : Influence or None
        None where at least half of the strength stays.
    """
    fit = learned.fit
    x = fit.effects[cause, effect]
    before = fit.strength(cause, effect)
    if before == 0.0 or not fit.p_values[cause, effect] <= CLEAR:
        return None
    y = fit.residuals[:, effect] + x
    targets = learned.table.targets
    used = np.arange(len(x)) if targets is None else np.flatnonzero(~targets[fit.rows, effect])
    x, y, rows = x[used], y[used], fit.rows[used]
    scale = float(np.abs(x).max())
    x, y = x / scale, y / scale
    own, joint = float(x @ x), float(x @ y)
    left = np.maximum(own - x**2, 1e-12 * own)
    lowered = (joint - x * y) / left  # the slope without each row
    # a row that is nearly all of the contribution's variance leaves nothing to take a slope of
    lowered = np.where(own - x**2 <= 1e-9 * own, 0.0, lowered)
    worst = np.argsort(lowered * np.sqrt(left), kind="stable")
    distance = np.abs(standard_columns(learned.values[rows[:, None], [cause, effect]])[0]).max(axis=1)
    far = np.flatnonzero(distance > FAR_OUT)
    trials = [worst[:n_out] for n_out in sorted({1, max(1, len(x) // ROWS_PER_ONE)})]
    for out in [*trials, *([far] if 0 < len(far) <= FEW * len(x) else [])]:
        strength = _strength_without(learned, cause, effect, np.delete(rows, out))
        if strength < FALLEN * before:
            return Influence(tuple(int(k) + 1 for k in rows[out]), strength, float(distance[out].max()))
    return None


def _strength_without(learned: Learned, cause: int, effect: int, kept: IntArray) -> float:
    """Strength of an edge when the family is fitted to the rows kept, in units of the effect's spread there."""
    parents = np.flatnonzero(learned.edges[:, effect])
    sample = standard_columns(learned.values[kept[:, None], [*parents, effect]])[0]
    size = basis_of(learned.assumptions.mechanism, len(kept), len(parents))
    blocks = [spline_basis(sample[:, k], size).columns for k in range(len(parents))]
    parts = regress_blocks(blocks, sample[:, -1]).parts
    return float(parts[int(np.flatnonzero(parents == cause)[0])].std())


def check_influence(learned: Learned, readings: tuple[EdgeReading, ...]) -> Check:
    """Which edges rest on single rows."""
    name = "influence of single rows"
    resting = [reading for reading in readings if reading.influence is not None]
    if not resting:
        return Check(name, 0.0, "No edge rests on single rows: each keeps most of its strength without them.", "fine")
    sentences = [_words(learned, reading) for reading in sorted(resting, key=lambda edge: -edge.strength)]
    more = f", and {counted(len(resting) - 2, 'more edge')}" if len(resting) > 2 else ""
    edges = learned.edge_names([(reading.cause, reading.effect) for reading in resting])
    sentence = (
        f"{counted(len(resting), 'edge')} of {learned.n_edges} rest{'s' if len(resting) == 1 else ''} on few rows: "
    )
    return Check(name, float(len(resting)), f"{sentence}{'; '.join(sentences[:2])}{more}.", "warning", {"edges": edges})


def _words(learned: Learned, reading: EdgeReading) -> str:
    assert reading.influence is not None
    rows, influence = reading.influence.rows, reading.influence
    (edge,) = learned.edge_names([(reading.cause, reading.effect)])
    where = f"row {rows[0]}" if len(rows) == 1 else f"{len(rows)} rows ({some(rows)})"
    return (
        f"{edge} has strength {reading.strength:.2f}, and {influence.strength:.2f} without {where} of "
        f"{learned.n_samples:,}, up to {influence.farthest:.0f} standard deviations out"
    )


def check_outliers(learned: Learned) -> Check:
    """Values far out, by name."""
    name = "values far out"
    scores = np.abs(standard_columns(learned.values)[0])
    rows, columns = np.nonzero(scores > FAR_OUT)
    if len(rows) == 0:
        return Check(
            name, 0.0, f"No value is more than {FAR_OUT:.0f} standard deviations from its column's mean.", "fine"
        )
    farthest = np.argsort(-scores[rows, columns], kind="stable")
    named = [_value_words(learned, scores, rows[k], columns[k]) for k in farthest]
    which = "1 value is" if len(rows) == 1 else f"{len(rows)} values are"
    sentence = (
        f"{which} more than {FAR_OUT:.0f} standard deviations from the mean of {'its' if len(rows) == 1 else 'their'} "
        f"column ({some(named)}): errors, or tails that a transformation such as a logarithm would tame."
    )
    return Check(name, float(len(rows)), sentence, "note", {"values": named[:20]})


def _value_words(learned: Learned, scores: FloatArray, row: int, column: int) -> str:
    return f"{learned.names[column]} in row {row + 1}, {scores[row, column]:.0f} out"
