"""One named outcome: what causes it, how strongly, through what; and what merely goes along with it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from precede.arrays import FloatArray
from precede.effects.linear import Effect, Question
from precede.effects.possible import PossibleEffects, effect_of, possible_effects
from precede.errors import PrecedeError
from precede.evidence.checks.record import some
from precede.evidence.confidence import Confidence
from precede.evidence.sample import sample_for
from precede.graph import CausalGraph
from precede.graph.ancestral import ARROW, TAIL, reachable
from precede.graph.dags import ancestors
from precede.lazy import pandas as pd
from precede.lazy import special
from precede.strict_json import JsonObject, Spoken, plain


@dataclass(frozen=True)
class OutcomeCause:
    """A cause of the outcome, or a possible one.

    Parameters
    ----------
    variable : name
    effect : Effect, PossibleEffects or None
        Of raising it by 1 on the outcome; the possible effects where directions are open. Of a category, the level that
        differs most from the most frequent one; on a categorical outcome, on the level whose risk changes most. None
        where a hidden cause may stand behind both.
    standardized : float
        The effect (the one farthest from zero) in standard deviations of both; of the outcome alone for a category.
    direct : bool
        Whether an edge leads to the outcome.
    through : tuple of names
        Its own effects on the way to the outcome.
    certain : bool
        Whether it is a cause in every graph that the data leave open.
    confidence : float or None
        Share of the resampled graphs in which it leads to the outcome.
    weakest : float or None
        The confidence of the weakest edge on its surest way to the outcome, where every edge has one.
    risk_of : str or None
        Of a categorical outcome, the level that the effect is on.
    """

    variable: Hashable
    effect: Effect | PossibleEffects | None
    standardized: float
    direct: bool
    through: tuple[Hashable, ...]
    certain: bool
    confidence: float | None = None
    weakest: float | None = None
    risk_of: str | None = None

    @property
    def each(self) -> tuple[Effect, ...]:
        """The effects that it may have: one where the directions are settled, none where nothing can be estimated."""
        if self.effect is None:
            return ()
        return (self.effect,) if isinstance(self.effect, Effect) else self.effect.effects

    @property
    def change(self) -> str:
        """What is done to the cause."""
        states = self.each[0].compared if self.each else None
        return "per unit" if states is None else "for {1} instead of {0}".format(*states)

    @property
    def size(self) -> str:
        """The total effect; percentage points where the outcome is a risk, a range where directions are open."""
        if not self.each:
            return "cannot be estimated from these columns"
        unit, values = self._units([effect.value for effect in self.each])
        ends = dict.fromkeys(f"{value:+.3g}" if value else "0" for value in (values[0], values[-1]))
        return " to ".join(ends) + unit

    @property
    def interval(self) -> str:
        """Where the effect lies, whichever of the open directions hold."""
        if self.effect is None:
            return "–"
        unit, (low, high) = self._units(self.effect.interval)
        return f"{low:.3g} to {high:.3g}{unit}" if np.isfinite([low, high]).all() else "no limit"

    def _units(self, values: Sequence[float]) -> tuple[str, list[float]]:
        risk = self.each[0].outcome_level is not None
        unit = "" if not risk else " points" if self.risk_of is None else f" points of {self.risk_of}"
        return unit, [100 * value if risk else value for value in values]

    @property
    def way(self) -> str:
        """Through what it acts."""
        through = f"through {some(self.through, 5)}" if self.through else ""
        return " and ".join(part for part in ("directly" if self.direct else "", through) if part)

    @property
    def adjusted_for(self) -> str:
        """What is held fixed in the regression."""
        sets = dict.fromkeys(some(effect.adjusted_for, 5) or "nothing" for effect in self.each)
        return next(iter(sets), "–") if len(sets) < 2 else "its causes, whichever they are"

    @property
    def sentence(self) -> str:
        """The cause in plain words."""
        said = f"{self.variable}{'' if self.certain else ' (possibly)'}: {self.size}"
        if self.each:
            said += f" {self.change}{', depending on the open directions' if len(self.each) > 1 else ''}"
            said += f" ({self.each[0].level:.0%} interval {self.interval}"
            said += ")" if self.adjusted_for == "nothing" else f", adjusted for {self.adjusted_for})"
        said += f"; {self.way}" if self.way else ""
        if self.confidence is not None:
            return f"{said}; a cause in {self.confidence:.0%} of the resamples."
        return said + ("." if self.weakest is None else f"; confidence of the weakest edge {self.weakest:.2f}.")


@dataclass(frozen=True)
class Outcome(Spoken):
    """What a graph says about one variable.

    Parameters
    ----------
    name : name
    causes : tuple of OutcomeCause
        The strongest first.
    correlated : tuple of (name, float)
        Variables that go along with the outcome (after correction for many, at level .05) without causing it, with the
        correlation, the strongest first.
    """

    name: Hashable
    causes: tuple[OutcomeCause, ...]
    correlated: tuple[tuple[Hashable, float], ...]

    @property
    def sentences(self) -> list[str]:
        """The causes and the rest, in plain words."""
        lines = [cause.sentence for cause in self.causes] or [f"The graph has no cause of {self.name}."]
        if self.correlated:
            names = some([f"{name} ({value:+.2f})" for name, value in self.correlated], 5)
            lines.append(f"Correlated with {self.name}, but no cause of it in this graph: {names}.")
        return lines

    @property
    def table(self) -> pd.DataFrame:
        """One row for each cause."""
        rows = []
        for cause in self.causes:
            low, high = (np.nan, np.nan) if cause.effect is None else cause.effect.interval
            rows.append({"cause": cause.variable, "standardized": cause.standardized, "low": low, "high": high,
                         "direct": cause.direct, "certain": cause.certain, "confidence": cause.confidence})  # fmt: skip
        return pd.DataFrame(rows, columns=["cause", "standardized", "low", "high", "direct", "certain", "confidence"])

    def to_dict(self) -> JsonObject:
        """Plain values by name, JSON-ready."""
        said = ("change", "size", "interval", "way", "adjusted_for")
        causes = [{**plain(cause), "words": {name: getattr(cause, name) for name in said}} for cause in self.causes]
        return {**super().to_dict(), "causes": causes}


def causes_of(
    graph: CausalGraph,
    outcome: Hashable,
    data: Any = None,
    confidence: Confidence | None = None,
    open_directions: bool = False,
    level: float = 0.95,
    shares: FloatArray | None = None,
) -> Outcome:
    """Rank the causes of an outcome by their total effect.

    Parameters
    ----------
    graph : CausalGraph
    outcome : name
    data : as for ``fit``, optional
        What the graph was learned from when left out.
    confidence : Confidence, optional
        Of ``model.bootstrap``.
    open_directions : bool
        Whether edges that could point either way (``graph.pattern``) count as open, also where the graph was not
        learned as a member of a class: then possible causes are named too, with the range of their effects.
    level : float
    shares : (n_variables, n_variables) array, optional
        The confidence of each edge.

    Examples
    --------
    >>> graph = CausalGraph.from_matrix([[0, 1, 0], [0, 0, 1], [0, 0, 0]], names=["rain", "wet", "slip"])
    >>> rng = np.random.default_rng(0)
    >>> rain, noise = rng.normal(size=200), rng.normal(size=(2, 200))
    >>> wet = rain + 0.5 * noise[0]
    >>> found = causes_of(graph, "slip", np.column_stack([rain, wet, wet + noise[1]]))
    >>> [(cause.variable, cause.direct, cause.through) for cause in found.causes]
    [('wet', True, ()), ('rain', False, ('wet',))]
    """
    at = graph.position(outcome)
    sample = sample_for(graph, data)
    open_directions = open_directions or graph.open_directions is not None
    pattern = graph.pattern if open_directions else graph.edges.astype(np.int64)
    settled = (pattern != 0) & (pattern.T == 0)  # transposed: settled where one direction is left
    if graph.pag is not None:
        marks = graph.pag.ends  # [i, j] is the mark at j, so its transpose the mark at i
        pattern = ((marks != 0) & (marks.T != ARROW) & (marks != TAIL)).astype(np.int64)
        settled = (marks == ARROW) & (marks.T == TAIL)
    surely = ancestors(settled)[:, at]
    possibly = reachable(pattern != 0)[:, at]
    possibly[at] = False
    first = np.array([sample.columns_of([k])[0] for k in range(sample.n_variables)])
    spread = np.sqrt(np.diag(sample.covariance))[first]
    surest = None if shares is None else _surest(np.where(pattern != 0, np.maximum(shares, shares.T), 0.0), at)
    found = []
    for k in np.flatnonzero(possibly):
        asked = Question(graph, graph.names[k], graph.names[at], sample, level=level)
        effect = _effect_on(asked, pattern, open_directions)
        ends = [0.0] if effect is None else _ends(effect)
        if effect is not None and not any(ends):
            continue  # no graph of the class has a path there
        told = effect.effects[0] if isinstance(effect, PossibleEffects) else effect
        risk = None if told is None or at not in sample.categories else told.outcome_level
        scale = spread[at] if risk is None else sample.spread_of(at, risk)
        far = max(ends, key=abs) * (1.0 if k in sample.categories else spread[k]) / scale
        steps = (pattern[k] != 0) & (possibly | (np.arange(len(pattern)) == at))
        through = tuple(graph.names[i] for i in np.flatnonzero(steps) if i != at)
        share = None if confidence is None else float(confidence.ancestor_probability.to_numpy()[k, at])
        weakest = None if surest is None else float(surest[k])
        found.append(OutcomeCause(
            graph.names[k], effect, float(far), bool(pattern[k, at]), through, bool(surely[k]), share, weakest, risk
        ))  # fmt: skip
    found.sort(key=lambda cause: -abs(cause.standardized))
    own = sample.columns_of([at])
    each = (sample.covariance[np.ix_(own, first)] / spread).T / np.sqrt(np.diag(sample.covariance))[own]
    correlation = each[:, 0] if len(own) == 1 else np.abs(each).max(axis=1)  # with the level that goes along most
    price = float(special.ndtri(1 - 0.025 / max(len(first) - 1, 1)))
    sure = np.arctanh(np.clip(correlation, -0.999999, 0.999999)) * np.sqrt(max(sample.n_samples - 3, 1))
    others = [k for k in np.flatnonzero((np.abs(sure) > price) & ~possibly) if k != at and k not in sample.categories]
    others.sort(key=lambda k: -abs(correlation[k]))
    return Outcome(graph.names[at], tuple(found), tuple((graph.names[k], float(correlation[k])) for k in others))


def _surest(shares: FloatArray, at: int) -> FloatArray:
    """Of each variable, the least share on the way to another on which the least share is largest."""
    best, shorter = np.eye(len(shares))[at], np.zeros(0)
    while not np.array_equal(best, shorter):
        best, shorter = np.maximum(best, np.minimum(shares, best).max(axis=1)), best
    return np.asarray(best)


def _effect_on(asked: Question, pattern: Any, open_directions: bool) -> Effect | PossibleEffects | None:
    """Of a category, that of the level that differs most from the most frequent one; None where it is not known."""
    if asked.graph.pag is not None:
        try:
            return max(map(effect_of, asked.by_level()), key=_size)
        except PrecedeError:
            return None
    if not open_directions:
        return max(map(effect_of, asked.by_level()), key=_size)
    possible = max((possible_effects(one, pattern) for one in asked.by_level()), key=_size)
    return possible.effects[0] if len(possible.effects) == 1 else possible


def _ends(effect: Effect | PossibleEffects) -> list[float]:
    """The effect, or the least and the largest."""
    return [effect.value] if isinstance(effect, Effect) else list(effect.range)


def _size(effect: Effect | PossibleEffects) -> float:
    return max(map(abs, _ends(effect)))
