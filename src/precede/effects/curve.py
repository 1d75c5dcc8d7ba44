"""The curve of an effect: the outcome at each value of the cause, with a band."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from precede.arrays import FloatArray
from precede.effects.linear import Question
from precede.effects.regression import LeastSquares
from precede.errors import DataError, OptionError
from precede.graph import CausalGraph
from precede.graph.sample import Sample
from precede.lazy import pandas as pd
from precede.lazy import special
from precede.pruning.gam import basis_size, spline_basis
from precede.scores.covariance import covariance

BASIS = 6
"""Basis functions of a curve, the constant included."""


@dataclass(frozen=True, eq=False)
class EffectCurve:
    """The outcome, were the cause set to a value, less its mean.

    Parameters
    ----------
    cause, effect : name
    points, values, low, high : (n_points,) float arrays
        Values of the cause that were seen, the curve there, and the ends of its interval at each point alone.
    level : float
    adjusted_for : tuple of names
    """

    cause: Hashable
    effect: Hashable
    points: FloatArray
    values: FloatArray
    low: FloatArray
    high: FloatArray
    level: float
    adjusted_for: tuple[Hashable, ...] = ()

    @property
    def table(self) -> pd.DataFrame:
        """One row for each point."""
        return pd.DataFrame({self.cause: self.points, "value": self.values, "low": self.low, "high": self.high})


def effect_curve(
    graph: CausalGraph, cause: Hashable, effect: Hashable, data: Any = None, level: float = 0.95, n_points: int = 41
) -> EffectCurve:
    """The total effect as a curve: a spline of the cause, and of each number that must be held fixed.

    Parameters
    ----------
    graph : CausalGraph
    cause, effect : name
        The cause is a number.
    data : as for ``fit``, optional
        What the graph was learned from when left out.
    level : float
    n_points : int
        Quantiles of the cause at which the curve is read.

    Examples
    --------
    >>> graph = CausalGraph.from_matrix([[0, 1], [0, 0]], names=["dose", "pain"])
    >>> dose = np.linspace(-1, 1, 201)
    >>> found = effect_curve(graph, "dose", "pain", np.column_stack([dose, dose**2]))
    >>> round(float(found.values[0] - found.values[20]), 1)
    1.0
    """
    asked = Question(graph, cause, effect, data, level=level)
    i, sample = asked.pair[0], asked.sample
    if i in sample.levels:
        raise OptionError(f"{cause} has levels: compare two of them with graph.effect.")
    target = asked.contrast.target
    if sample.design is None:
        raise DataError("a curve needs rows, and this graph has only moments: give the table as data=...")
    regression = asked.regression()
    kept: Any = slice(None)
    if regression is not None and sample.row_targets is not None:
        kept = ~sample.row_targets[:, regression.unset].any(axis=1)
    rows = sample.design[kept]
    places = np.round(np.linspace(0, len(rows) - 1, n_points)).astype(np.int64)
    own = rows[:, sample.columns_of([i])[0]]
    at = np.argsort(own, kind="stable")[places]
    if regression is None:
        flat = np.zeros(n_points)
        return EffectCurve(cause, effect, own[at], flat, flat, flat, level)
    fixed = regression.fixed.tolist()
    size = min(BASIS, basis_size(len(rows), 1 + len(fixed)))
    blocks = [
        rows[:, sample.columns_of([k])] if k in sample.levels
        else spline_basis(rows[:, sample.columns_of([k])[0]], size).columns
        for k in (i, *fixed)
    ]  # fmt: skip
    whole = np.hstack([*blocks, (rows @ target)[:, None]])
    columns = np.arange(whole.shape[1] - 1)
    if len(rows) < len(columns) + 2:
        raise OptionError(f"a curve of {cause} takes more than {len(columns) + 1} rows, and there are {len(rows)}.")
    moments = Sample(len(rows), whole.mean(axis=0), covariance(whole))
    fit = LeastSquares.of(moments, columns, np.eye(len(columns) + 1)[-1], len(rows), whole)
    slopes = np.zeros((n_points, len(columns)))
    slopes[:, : blocks[0].shape[1]] = blocks[0][at]
    values = slopes @ fit.weights
    reach = float(special.stdtrit(fit.freedom, (1 + level) / 2))
    error = reach * np.array([fit.standard_error(one) for one in slopes])
    held = tuple(graph.names[k] for k in fixed)
    return EffectCurve(cause, effect, own[at], values, values - error, values + error, level, held)
