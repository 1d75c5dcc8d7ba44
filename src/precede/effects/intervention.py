"""What if: the rows as they would have been, had some variables been set; and the outcome along one of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.effects.linear import Question, state_of
from precede.effects.regression import LeastSquares
from precede.errors import DataError, OptionError, check_choice, listed
from precede.evidence.sample import sample_for
from precede.graph import CausalGraph
from precede.graph.dags import ancestors, weights_on_parents
from precede.graph.parts import Sample
from precede.lazy import pandas as pd
from precede.lazy import special
from precede.pruning.gam import basis_size, fit_gam, spline_basis
from precede.scores.covariance import covariance

MechanismName = Literal["additive", "linear"]
Setting = float | str | Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class WhatIf:
    """The rows of the data, as they were and as they would have been.

    Parameters
    ----------
    settings : dict
        The variables that were set, to what; a function appears by its name.
    observed, sample : DataFrame
        The rows as they were, and the same rows under the intervention. A category is one column for each of its levels
        but the first, "site = north", with the probability of the level.
    remarks : tuple of str
        Cautions, a sentence each.
    row : int or None
        The one row that is shown, by its place.
    """

    settings: dict[Hashable, float | str]
    observed: pd.DataFrame
    sample: pd.DataFrame
    remarks: tuple[str, ...] = ()
    row: int | None = None

    @property
    def summary(self) -> pd.DataFrame:
        """For each column its mean as it was and as it would be, the change, and where nine rows in ten would lie."""
        before, after = self.observed.mean(), self.sample.mean()
        return pd.DataFrame(
            {
                "mean": before,
                "mean if set": after,
                "change": after - before,
                "5 %": self.sample.quantile(0.05),
                "95 %": self.sample.quantile(0.95),
            }
        )

    @property
    def sentence(self) -> str:
        """What changes most, compared with its own spread, in plain words."""
        what = " and ".join(f"{name} = {value}" for name, value in self.settings.items())
        told = {f"{name} = " for name in self.settings}
        rest = [c for c in self.sample if c not in self.settings and not str(c).startswith(tuple(told))]
        change = dict(zip(self.sample, self.summary["change"], strict=True))
        if self.row is not None:
            parts = [f"{c} {self.sample[c].iloc[0]:.4g} instead of {self.observed[c].iloc[0]:.4g}"
                     for c in rest if abs(change[c]) > 1e-9]  # fmt: skip
            return f"Row {self.row} with {what}: {', '.join(parts) or 'nothing else would change'}."
        spread = self.observed.std()
        scaled = {c: abs(change[c]) / spread.iloc[k] for k, c in enumerate(self.sample) if c in rest}
        moved = sorted((c for c in rest if scaled[c] > 1e-9), key=lambda c: -scaled[c])[:3]
        if not moved:
            return f"With {what}, nothing else changes: in this graph it has no effects."
        parts = [f"{name} by {change[name]:+.4g}" for name in moved]
        return f"With {what}, the means that change most for their spread: {', '.join(parts)}."


def what_if(
    graph: CausalGraph,
    settings: Mapping[Hashable, Setting],
    data: Any = None,
    mechanism: MechanismName = "additive",
    row: int | None = None,
) -> WhatIf:
    r"""Set some variables and let the learned mechanisms carry the change on.

    Each variable is :math:`x_j = \alpha_j + \sum_{i \to j} f_{ij}(x_i) + \varepsilon_j`, fitted to the data. Every row
    keeps its own :math:`\varepsilon`; the variables that were set take their new values, and what follows from them is
    computed anew in causal order. So nothing is drawn, and nothing changes that no directed path leads to.

    Parameters
    ----------
    graph : CausalGraph
    settings : dict of name to number, level or function
        A function of the variable's values raises or scales it: ``{"dose": lambda dose: dose + 1}``. A category takes
        the name of a level; where it only follows from others, the probabilities of its levels change.
    data : as for ``fit``, optional
        What the graph was learned from when left out.
    mechanism : "additive" or "linear"
        Smooth curves, which are straight where the data are; or straight lines.
    row : int, optional
        Place of the one row to show, from 0.

    Examples
    --------
    >>> graph = CausalGraph.from_matrix([[0, 1], [0, 0]], names=["rain", "wet"])
    >>> rain = np.random.default_rng(0).normal(size=200)
    >>> rows = np.column_stack([rain, 2 * rain + 0.1 * np.random.default_rng(1).normal(size=200)])
    >>> round(float(what_if(graph, {"rain": 1.0}, rows).sample["wet"].mean()), 1)
    2.0
    """
    check_choice("mechanism", mechanism, get_args(MechanismName))
    if not settings:
        raise OptionError("nothing is set: name a variable and its value, as in {'dose': 1.0}.")
    sample = sample_for(graph, data)
    if sample.rows is None or sample.design is None:
        raise DataError("what-if questions need rows, and this graph has only moments: give the table as data=...")
    places = [graph.position(name) for name in settings]
    changed = np.asarray(ancestors(graph.edges)[places].any(axis=0))
    changed[places] = False
    kept, remarks = _rows_that_follow(graph, sample, changed)
    rows, owner = sample.design[kept], sample.owner
    after = rows.copy()
    for k, (name, setting) in zip(places, settings.items(), strict=True):
        own, levels = sample.columns_of([k]), sample.levels.get(k)
        if levels is not None and not callable(setting):
            after[:, own] = state_of(name, levels, setting)
            continue
        if levels is not None and levels.name == "categorical":
            raise OptionError(f"{name!r} is categorical: set it to one of {listed(levels.labels, 20)}.")
        after[:, own[0]] = _set_values(name, setting, rows[:, own[0]])
        low, high = float(rows[:, own[0]].min()), float(rows[:, own[0]].max())
        if after[:, own[0]].min() < low or after[:, own[0]].max() > high:
            remarks.append(f"{name} was never seen outside of {low:.4g} to {high:.4g}: anything beyond is a guess.")
    for j in graph.positions[changed[graph.positions]]:
        parents = sample.columns_of(np.flatnonzero(graph.edges[:, j]).tolist())
        for column in np.flatnonzero(owner == j):
            after[:, column] += _contribution(rows, after, parents, int(column), mechanism)
    names = _column_names(graph, sample)
    shown: dict[Hashable, float | str] = {
        name: getattr(value, "__name__", "a function") if callable(value) else value for name, value in settings.items()
    }
    if row is not None:
        there = np.arange(sample.n_samples if len(sample.rows) == sample.n_samples else 0)
        at = np.flatnonzero(there[kept] == row) if len(there) else there
        if len(at) != 1:
            raise OptionError(f"there is no row {row} to show among the {len(rows)} rows, counted from 0.")
        rows, after = rows[at], after[at]
    observed, set_rows = (pd.DataFrame(part, columns=names) for part in (rows, after))
    return WhatIf(shown, observed, set_rows, tuple(remarks), row)


def _column_names(graph: CausalGraph, sample: Sample) -> list[Hashable]:
    """Of the columns of the moments: the variable, and the level of a category."""
    return [
        name if label is None else f"{name} = {label}"
        for k, name in enumerate(graph.names)
        for label in (sample.levels[k].labels[1:] if k in sample.categories else [None])
    ]


def _rows_that_follow(graph: CausalGraph, sample: Sample, changed: BoolArray) -> tuple[Any, list[str]]:
    """The rows in which nothing was set that would change: only these show how it follows its causes."""
    if sample.row_targets is None:
        return slice(None), []
    follows = ~sample.row_targets[:, changed].any(axis=1)
    if follows.all():
        return slice(None), []
    fewest = int(graph.edges[:, changed].sum(axis=0).max()) + 2
    what = listed(graph.names[k] for k in np.flatnonzero(changed & sample.row_targets.any(axis=0)))
    if follows.sum() < fewest:
        raise DataError(
            f"only {follows.sum()} rows have none of {what} set, too few to learn how it follows its causes: collect "
            "rows without these interventions."
        )
    return follows, [f"Only the {follows.sum()} rows in which none of {what} was set are shown."]


def _set_values(name: Hashable, setting: Setting, values: FloatArray) -> FloatArray:
    """The new values of a variable that is set."""
    try:
        new = np.broadcast_to(np.asarray(setting(values.copy()) if callable(setting) else setting, float), values.shape)
    except (TypeError, ValueError) as error:
        raise OptionError(
            f"{name!r} cannot be set to {setting!r}: give a number, or a function of the values."
        ) from error
    if not np.isfinite(new).all():
        raise OptionError(f"{name!r} cannot be set to {setting!r}: it must be finite.")
    return np.asarray(new)


def _contribution(
    before: FloatArray, after: FloatArray, parents: IntArray, child: int, mechanism: MechanismName
) -> FloatArray:
    """By how much the child changes, row by row, when its parents go from one state to another."""
    if mechanism == "linear":
        edges = np.zeros((before.shape[1],) * 2, dtype=bool)
        edges[parents, child] = True
        return np.asarray((after - before) @ weights_on_parents(before - before.mean(axis=0), edges)[:, child])
    terms = fit_gam(before[:, parents], before[:, child]).terms
    moved = [_read_curve(before[:, k], term, after[:, k]) - term for k, term in zip(parents, terms.T, strict=True)]
    return np.asarray(np.sum(moved, axis=0))


def _read_curve(x: FloatArray, y: FloatArray, new: FloatArray) -> FloatArray:
    """A curve known at the points ``x``, read at others: between neighbors and beyond the ends along straight lines.

    Examples
    --------
    >>> _read_curve(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 4.0]), np.array([0.5, 3.0, -1.0]))
    array([ 0.5,  7. , -1. ])
    """
    points, first = np.unique(x, return_index=True)
    heights = y[first]
    value = np.interp(new, points, heights)
    if len(points) < 2:
        return value
    step = 0.01 * (points[-1] - points[0])  # neighbors may be too close to read a slope from
    left = int(np.searchsorted(points, points[0] + step))
    right = int(np.searchsorted(points, points[-1] - step, side="right")) - 1
    slopes = [(heights[k] - heights[end]) / (points[k] - points[end]) for k, end in ((left, 0), (right, -1))]
    value += slopes[0] * np.minimum(new - points[0], 0.0) + slopes[1] * np.maximum(new - points[-1], 0.0)
    return np.asarray(value)


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
