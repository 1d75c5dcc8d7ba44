"""Read each edge: strength, trend, evidence, direction, the rows it rests on; and what its plot shows."""

import math
from collections.abc import Iterable

import numpy as np

from precede.arrays import FloatArray, IntArray
from precede.data.table import evenly_spaced
from precede.evidence.checks.context import (
    FAR_OUT,
    CheckContext,
    basis_of,
    far_out,
    regress_blocks,
    standard_columns,
)
from precede.evidence.checks.directions import direction_sources
from precede.evidence.checks.record import EdgeDiagnostics, EdgePlot, Influence, NodePlot, Trend, Verdict, counted, some
from precede.pruning.gam import spline_basis
from precede.ranks import ranks

ROWS_PER_ONE = 500
"""One row in this many may be left out to see whether an edge rests on it, and at least one."""

FEW = 0.01
"""Rows that are far out may all be left out together where they are no more than this share."""

CLEAR = 0.001
"""Only edges with at most this p-value are looked at: what is hardly there rests on single rows anyway."""

FALLEN = 0.5
"""An edge rests on rows without which less than this share of its strength is left."""


def influence_on(learned: CheckContext, cause: int, effect: int) -> Influence | None:
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


def _strength_without(learned: CheckContext, cause: int, effect: int, kept: IntArray) -> float:
    """Strength of an edge when the family is fitted to the rows kept, in units of the effect's spread there."""
    parents = np.flatnonzero(learned.edges[:, effect])
    sample = standard_columns(learned.values[kept[:, None], [*parents, effect]])[0]
    size = basis_of(learned.assumptions.mechanism, len(kept), len(parents))
    at = int(np.flatnonzero(parents == cause)[0])
    if size == 2:  # lines, whose contributions are as spread as their slopes are steep
        gram = sample.T @ sample + 1e-9 * len(sample) * np.eye(len(parents) + 1)
        return float(abs(np.linalg.solve(gram[:-1, :-1], gram[:-1, -1])[at]))
    blocks = [spline_basis(sample[:, k], size).columns for k in range(len(parents))]
    return float((blocks[at] @ regress_blocks(blocks, sample[:, -1])[0][at]).std())


def check_influence(learned: CheckContext, readings: tuple[EdgeDiagnostics, ...]) -> Verdict:
    """Which edges rest on single rows."""
    resting = sorted((edge for edge in readings if edge.influence is not None), key=lambda edge: -edge.strength)
    if not resting:
        return 0.0, "No edge rests on single rows: each keeps most of its strength without them.", "fine", {}
    names, sentences = learned.edge_names([edge.place for edge in resting]), []
    for name, edge in zip(names[:2], resting, strict=False):
        assert edge.influence is not None
        rows = edge.influence.rows
        where = f"row {rows[0]}" if len(rows) == 1 else f"{len(rows)} rows ({some(rows)})"
        sentences.append(
            f"{name} has strength {edge.strength:.2f}, and {edge.influence.strength:.2f} without {where} of "
            f"{learned.table.n_samples:,}, up to {edge.influence.farthest:.0f} standard deviations out"
        )
    more = f", and {counted(len(resting) - 2, 'more edge')}" if len(resting) > 2 else ""
    count = f"{counted(len(resting), 'edge')} of {len(readings)} rest{'s' if len(resting) == 1 else ''} on few rows"
    return float(len(resting)), f"{count}: {'; '.join(sentences)}{more}.", "warning", {"edges": names}


def check_outliers(learned: CheckContext) -> Verdict:
    """Values far out, by name."""
    rows, columns, distances = far_out(learned.values)
    if len(rows) == 0:
        sentence = f"No value is more than {FAR_OUT:.0f} standard deviations from its column's mean."
        return 0.0, sentence, "fine", {}
    farthest = np.argsort(-distances, kind="stable")
    places = [(rows[k], learned.names[columns[k]], distances[k]) for k in farthest]
    named = [f"{name} in row {row + 1}, {distance:.0f} out" for row, name, distance in places]
    which, whose = ("1 value is", "its") if len(rows) == 1 else (f"{len(rows)} values are", "their")
    sentence = (
        f"{which} more than {FAR_OUT:.0f} standard deviations from the mean of {whose} column ({some(named)}): errors, "
        "or tails that a transformation such as a logarithm would tame."
    )
    return float(len(rows)), sentence, "note", {"values": named[:20]}


CLEAR_TREND = 0.5
"""Rank correlation of a curve with its cause from which the effect is said to rise or to fall."""

STRAIGHT = 1 - 1e-9
"""Correlation of a curve with its cause from which it is a line, whose ranks need not be compared."""

MOST_POINTS, FEWEST_POINTS, POINTS_IN_ALL = 200, 40, 20_000
"""Points of a partial plot, and of all of them together, so that a report stays small."""

EXTREME, MOST_EXTREMES = 4.0, 30
"""Points this many standard deviations out are always drawn, up to this many for an edge."""

CURVE_POINTS, BINS, FEWEST_IN_CELL = 25, 20, 3
"""Places of a curve, bins of a density, and the fewest rows that a cell of a density may show."""


def read_edges(learned: CheckContext) -> tuple[EdgeDiagnostics, ...]:
    """Every edge in causal order of its cause."""
    fit, linear = learned.fit, learned.assumptions.linear
    sources = direction_sources(learned)
    readings = []
    for i in learned.order:
        for j in np.flatnonzero(learned.edges[i]):
            edge = (int(i), int(j))
            x = learned.values[fit.rows, i]
            numeric = "categorical" not in (learned.table.kinds[i].name, learned.table.kinds[j].name)
            weight = None if learned.weights is None or not linear else float(learned.weights[edge])
            readings.append(
                EdgeDiagnostics(
                    *edge,
                    weight=weight,
                    # the places of categories are not sizes, so a fit to them says nothing
                    strength=fit.strength(*edge) if numeric else math.nan,
                    trend=trend_of(x, fit.effects[edge]) if numeric else "mixed",
                    partial_r2=float(fit.partial_r2[edge]) if numeric else math.nan,
                    source=sources[edge],
                    influence=influence_on(learned, *edge) if numeric else None,
                )
            )
    return tuple(readings)


def trend_of(cause: FloatArray, contribution: FloatArray) -> Trend:
    """Whether the effect rises or falls with its cause along the fitted curve.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 50)
    >>> trend_of(x, -x), trend_of(x, x**2)
    ('falling', 'mixed')
    """
    if np.ptp(contribution) == 0 or np.ptp(cause) == 0:
        return "mixed"
    agreement = float(np.corrcoef(cause, contribution)[0, 1])
    if abs(agreement) < STRAIGHT:
        agreement = float(np.corrcoef(ranks(cause), ranks(contribution))[0, 1])
    return "rising" if agreement >= CLEAR_TREND else "falling" if agreement <= -CLEAR_TREND else "mixed"


def draw_edges(learned: CheckContext, readings: tuple[EdgeDiagnostics, ...]) -> tuple[list[EdgePlot], list[NodePlot]]:
    """Points, curves and densities of every edge, and what they need of every variable."""
    fit, curves = learned.fit, learned.additive_fit
    budget = int(np.clip(POINTS_IN_ALL // max(len(readings), 1), FEWEST_POINTS, MOST_POINTS))
    shown = evenly_spaced(len(fit.rows), budget)
    sample = learned.values[fit.rows]
    low, high = np.quantile(sample, [0.01, 0.99], axis=0)
    grids = np.linspace(low, high, CURVE_POINTS).T
    middles = [middle_of(column) for column in sample.T]
    nodes = []
    for column, grid, middle in zip(sample.T, grids, middles, strict=True):
        bars = np.histogram(column, BINS, middle)[0].tolist()
        nodes.append(NodePlot(values=short(column[shown]), grid=short(grid), histogram=bars, range=ends(middle)))
    sequences = {k: np.argsort(sample[:, k], kind="stable") for k in {reading.cause for reading in readings}}
    edges = []
    for i, j in (reading.place for reading in readings):
        x, sequence, effect = sample[:, i], sequences[i], fit.effects[i, j]
        partial = fit.residuals[:, j] + effect
        centered = (x - x.mean()) / fit.spread[i]
        slope = float(centered @ effect / (centered @ centered) / fit.spread[i])
        counts, across, along = np.histogram2d(x, partial, BINS, [middles[i], middle_of(partial)])
        edges.append(
            EdgePlot(
                slope=rounded(slope, 4) if learned.assumptions.mechanism != "additive" else None,
                curve=short(np.interp(grids[i], x[sequence], curves.effects[i, j][sequence])),
                points=short(partial[shown]),
                extremes=[short(values) for values in _extremes(x, partial, shown)],
                density=np.where(counts >= FEWEST_IN_CELL, counts, 0).astype(np.int64).tolist(),
                extent=ends([across[0], across[-1], along[0], along[-1]]),
                outside=int(len(x) - counts.sum()),
            )
        )
    return edges, nodes


def rounded(value: float | None, digits: int) -> float | None:
    """A number with as many digits as are shown."""
    return None if value is None else float(f"{value:.{digits}g}")


def ends(values: Iterable[float]) -> list[float]:
    """The ends of a range, with four digits."""
    return [float(f"{end:.4g}") for end in values]


def short(values: FloatArray) -> list[float]:
    """Three digits relative to the range are more than a plot of this size shows."""
    span = float(np.ptp(values)) if len(values) else 1.0
    digits = max(0, 3 - int(np.floor(np.log10(span or 1.0))) - 1)
    return [float(v) for v in np.round(values, min(digits, 300))]


def _extremes(x: FloatArray, partial: FloatArray, shown: IntArray) -> FloatArray:
    """Points far out that are not among those shown, (2, n_points), the farthest first."""
    points = np.column_stack([x, partial])
    distance = np.abs(standard_columns(points)[0]).max(axis=1)
    distance[shown] = 0.0
    far = np.argsort(-distance, kind="stable")[:MOST_EXTREMES]
    return np.asarray(points[far[distance[far] >= EXTREME]].T)


def middle_of(values: FloatArray) -> tuple[float, float]:
    """The range of all but the outermost hundredth: what a density shows says nothing about single rows."""
    low, high = np.quantile(values, [0.005, 0.995])
    return (float(low), float(high)) if high > low else (float(values.min()), float(values.max()) or 1.0)
