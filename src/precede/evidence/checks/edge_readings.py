"""Read each edge: strength, trend, evidence, direction; and what its plot shows."""

from __future__ import annotations

import math

import numpy as np

from precede.arrays import FloatArray, IntArray
from precede.data.rows import evenly_spaced
from precede.evidence.checks.directions import direction_sources
from precede.evidence.checks.influence import influence_on
from precede.evidence.checks.learned import Learned
from precede.evidence.checks.record import EdgePlots, EdgeReading, Trend
from precede.ranks import ranks

CLEAR_TREND = 0.5
"""Rank correlation of a curve with its cause from which the effect is said to rise or to fall."""

MOST_POINTS, FEWEST_POINTS, POINTS_IN_ALL = 200, 40, 20_000
"""Points of a partial plot, and of all of them together, so that a report stays small."""

EXTREME, MOST_EXTREMES = 4.0, 30
"""Points this many standard deviations out are always drawn, up to this many for an edge."""

CURVE_POINTS, BINS, FEWEST_IN_CELL = 25, 20, 3
"""Places of a curve, bins of a density, and the fewest rows that a cell of a density may show."""


def read_edges(learned: Learned) -> tuple[EdgeReading, ...]:
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
                EdgeReading(
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
    agreement = float(np.corrcoef(ranks(cause), ranks(contribution))[0, 1])
    return "rising" if agreement >= CLEAR_TREND else "falling" if agreement <= -CLEAR_TREND else "mixed"


def draw_edges(learned: Learned, readings: tuple[EdgeReading, ...]) -> EdgePlots:
    """Points, curves and densities of every edge."""
    fit, curves = learned.fit, learned.additive_fit
    budget = int(np.clip(POINTS_IN_ALL // max(len(readings), 1), FEWEST_POINTS, MOST_POINTS))
    shown = evenly_spaced(len(fit.rows), budget)
    sample = learned.values[fit.rows]
    low, high = np.quantile(sample, [0.01, 0.99], axis=0)
    grids = np.linspace(low, high, CURVE_POINTS).T  # shape: (n_variables, n_places)
    linear = learned.assumptions.mechanism != "additive"
    points, drawn, slopes, extremes, densities, extents, outside = [], [], [], [], [], [], []
    for reading in readings:
        edge = (reading.cause, reading.effect)
        x, partial = sample[:, reading.cause], fit.residuals[:, reading.effect] + fit.effects[edge]
        points.append(partial[shown])
        sequence = np.argsort(x, kind="stable")
        drawn.append(np.interp(grids[reading.cause], x[sequence], curves.effects[edge][sequence]))
        centered = (x - x.mean()) / fit.spread[reading.cause]
        slope = centered @ fit.effects[edge] / (centered @ centered) / fit.spread[reading.cause]
        slopes.append(slope if linear else np.nan)
        extremes.append(_extremes(x, partial, shown))
        counts, *ends = np.histogram2d(x, partial, BINS, [_middle(x), _middle(partial)])
        outside.append(len(x) - counts.sum())
        densities.append(np.where(counts >= FEWEST_IN_CELL, counts, 0).astype(np.int64))
        extents.append([ends[0][0], ends[0][-1], ends[1][0], ends[1][-1]])
    histograms = [np.histogram(column, BINS, _middle(column))[0] for column in sample.T]
    return EdgePlots(
        rows=fit.rows[shown],
        grids=grids,
        points=np.array(points).reshape(len(readings), len(shown)),
        curves=np.array(drawn).reshape(len(readings), CURVE_POINTS),
        slopes=np.array(slopes, dtype=float),
        extremes=tuple(extremes),
        densities=tuple(densities),
        extents=np.array(extents).reshape(len(readings), 4),
        outside=np.array(outside, dtype=np.int64),
        histograms=np.array(histograms),
        ranges=np.array([_middle(column) for column in sample.T]),
    )


def _extremes(x: FloatArray, partial: FloatArray, shown: IntArray) -> FloatArray:
    """Points far out that are not among those shown, (n_points, 2), the farthest first."""
    distance = np.maximum(np.abs(_scores(x)), np.abs(_scores(partial)))
    distance[shown] = 0.0
    far = np.argsort(-distance, kind="stable")[:MOST_EXTREMES]
    far = far[distance[far] >= EXTREME]
    return np.column_stack([x[far], partial[far]])


def _scores(values: FloatArray) -> FloatArray:
    scale = float(np.abs(values).max()) or 1.0
    centered = values / scale - (values / scale).mean()
    scores: FloatArray = centered / (float(centered.std()) or 1.0)
    return scores


def _middle(values: FloatArray) -> tuple[float, float]:
    """The range of all but the outermost hundredth: what a density shows says nothing about single rows."""
    low, high = np.quantile(values, [0.005, 0.995])
    return (float(low), float(high)) if high > low else (float(values.min()), float(values.max()) or 1.0)
