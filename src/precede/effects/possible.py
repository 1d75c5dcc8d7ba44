"""Possible effects: what data that tell only the equivalence class can say (IDA; LV-IDA where causes may be hidden).

References
----------
Maathuis, Kalisch, Bühlmann (2009), Estimating high-dimensional intervention effects from observational data, Annals of
Statistics 37.
Malinsky, Spirtes (2016), Estimating causal effects with ancestral graph Markov models, PGM 52.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from precede.arrays import IntArray
from precede.effects.linear import (
    Adjustment,
    Compared,
    Contrast,
    Effect,
    EffectKind,
    Regression,
    check_level,
    estimated,
    linear_effect,
    no_effect,
    no_set_will_do,
    positions_of,
    regression_for,
)
from precede.errors import OptionError
from precede.evidence.sample import sample_for
from precede.graph import CausalGraph
from precede.graph.ancestral import ARROW, CIRCLE, TAIL, refined
from precede.graph.equivalence import consistent_extension, cpdag
from precede.graph.pag_adjustment import NoSet, adjustment_in_pag, possibly_confounded
from precede.graph.sample import Sample
from precede.strict_json import JsonObject, plain

MOST_PARENT_SETS = 4096
"""Beyond this many the question is refused: the class is then too large to be of use."""


@dataclass(frozen=True)
class PossibleEffects:
    """The total effects of one variable on another in all graphs of an equivalence class.

    Parameters
    ----------
    cause, effect : name
    effects : tuple of Effect
        One for each set of causes that the cause may have, from the smallest effect to the largest.
    unmeasured : tuple of names
        Where causes may be hidden: what may share an unmeasured cause with the cause, so that in some graphs of the
        class no set of columns gives the effect. It is without limits then, and ``effects`` are those of the others.
    """

    cause: Hashable
    effect: Hashable
    effects: tuple[Effect, ...]
    unmeasured: tuple[Hashable, ...] = ()

    @property
    def values(self) -> tuple[float, ...]:
        """The possible effects, ascending; the same number may come from several sets."""
        return tuple(effect.value for effect in self.effects)

    @property
    def range(self) -> tuple[float, float]:
        """The smallest and the largest; infinite where a graph of the class does not give the effect."""
        return (-np.inf, np.inf) if self.unmeasured else (self.values[0], self.values[-1])

    @property
    def interval(self) -> tuple[float, float]:
        """From the lowest end to the highest end of the intervals: covers the truth whichever graph it is."""
        if self.unmeasured:
            return self.range
        return min(e.interval[0] for e in self.effects), max(e.interval[1] for e in self.effects)

    @property
    def sentence(self) -> str:
        """The possible effects in plain words."""
        low, high = self.values[0], self.values[-1]
        if self.unmeasured:
            others = " or ".join(map(str, self.unmeasured))
            size = f"{low:.4g}" if low == high else f"something from {low:.4g} to {high:.4g}"
            return (
                f"In the graphs that give an estimate, {self.effects[0].change} changes {self.effect} by {size}. In "
                f"others that agree with the data as well, {self.cause} shares an unmeasured cause with {others}, and "
                f"these columns cannot tell how large the effect is. Measure what {self.cause} and {others} may share, "
                f"or set {self.cause} in an experiment."
            )
        if len(self.effects) == 1:
            return f"All equivalent graphs agree: {self.effects[0].sentence}"
        text = (
            f"The data alone cannot tell which of {len(self.effects)} sets of causes {self.cause} has. "
            f"{self.effects[0].change} changes {self.effect} by between {low:.4g} and {high:.4g}."
        )
        if low > 0 or high < 0:
            return text + f" The sign is the same in all of them ({'positive' if low > 0 else 'negative'})."
        return text + " No effect at all is among the possibilities." if 0.0 in self.values else text

    def to_dict(self) -> JsonObject:
        """Plain values by name, JSON-ready."""
        found = {"range": self.range, "interval": self.interval, "effects": [one.to_dict() for one in self.effects]}
        return {**plain(self), **plain(found), "sentence": self.sentence}


def possible_effects(
    graph: CausalGraph,
    cause: Hashable,
    effect: Hashable,
    data: Any = None,
    level: float = 0.95,
    compared: Compared | None = None,
    outcome_level: Hashable = None,
) -> PossibleEffects:
    """Total effects over the graph's equivalence class: adjust for each set of causes that the cause may have.

    The class is ``graph.pattern``: what interventions, time and background knowledge tell counts.

    Parameters
    ----------
    graph : CausalGraph
        Any member of the class.
    cause, effect : name
    data : as for ``fit``, optional
        What the graph was learned from when left out.
    level : float
    compared, outcome_level
        As for :func:`precede.effects.linear.linear_effect`.

    Examples
    --------
    >>> graph = CausalGraph.from_matrix([[0, 1], [0, 0]], names=["rain", "wet"])
    >>> rain = np.random.default_rng(0).normal(size=100)
    >>> wet = 2 * rain + 0.1 * np.random.default_rng(1).normal(size=100)
    >>> [round(value, 1) for value in possible_effects(graph, "rain", "wet", np.column_stack([rain, wet])).values]
    [0.0, 2.0]
    """
    check_level(level)
    i, j = positions_of(graph, cause, effect)
    sample = sample_for(graph, data)
    asked = Contrast.of(graph, sample, (i, j), compared, outcome_level)
    return effects_in_class(graph, sample, graph.pattern, (i, j), level, asked)


def effect_in_class(
    graph: CausalGraph,
    cause: Hashable,
    effect: Hashable,
    data: Any = None,
    kind: EffectKind = "total",
    adjustment: Adjustment = "optimal",
    level: float = 0.95,
    compared: Compared | None = None,
    outcome_level: Hashable = None,
) -> Effect:
    """:func:`precede.effects.linear.linear_effect`, with the range over the class where only that was learned.

    Where a set of variables is named as the adjustment, the directions are taken as they are drawn.
    """
    drawn = linear_effect(graph, cause, effect, data, kind, adjustment, level, compared, outcome_level)
    if graph.open_directions is None or not graph.open_directions.any() or not isinstance(adjustment, str):
        return drawn
    pair, sample = positions_of(graph, cause, effect), sample_for(graph, data)
    asked = Contrast.of(graph, sample, pair, compared, outcome_level)
    found = effects_in_class(graph, sample, graph.pattern, pair, level, asked, kind, adjustment)
    if len(found.effects) == 1:
        return drawn
    ends = [drawn.value, *found.values]
    low, high = (end for end in zip(drawn.interval, found.interval, strict=True))
    return replace(
        drawn, range=(min(ends), max(ends)), interval=(min(low), max(high)), robustness=None, risks=None, ratio=None,
        ratio_interval=None,
    )  # fmt: skip


def effects_in_class(
    graph: CausalGraph,
    sample: Sample,
    pattern: IntArray,
    pair: tuple[int, int],
    level: float,
    asked: Contrast | None = None,
    kind: EffectKind = "total",
    adjustment: Adjustment = "optimal",
) -> PossibleEffects:
    """The same where the class and the columns of cause and effect are known."""
    asked = asked or Contrast.of(graph, sample, pair)
    none = no_effect(graph, pair, kind, level, asked)
    unmeasured: tuple[Hashable, ...] = ()
    if graph.pag is not None and (kind, adjustment) == ("total", "optimal"):
        regressions, behind = regressions_in_pag(graph.pag.ends, pair)
        unmeasured = tuple(graph.names[k] for k in behind)
        if not regressions:
            raise OptionError(no_set_will_do(none.cause, none.effect, unmeasured))
    else:
        regressions = regressions_in_class(graph, pattern, pair, kind, adjustment, sample.settings is not None)
    found = [
        none if regression is None else estimated(graph, sample, regression, kind, level, asked)
        for regression in regressions
    ]
    return PossibleEffects(none.cause, none.effect, tuple(sorted(found, key=lambda one: one.value)), unmeasured)


def regressions_in_pag(ends: IntArray, pair: tuple[int, int]) -> tuple[list[Regression | None], list[int]]:
    """The regressions where causes may be hidden, and what may share a cause with the cause where none will do.

    One for each set of variables that may lead to the cause or share a hidden cause with it: in many of these parts of
    the class the effect is identified although it is not in the whole (Malinsky, Spirtes 2016).
    """
    i, j = pair
    found: dict[tuple[int, ...] | NoSet, Regression | None] = {}
    behind: set[int] = set()
    identified = adjustment_in_pag(ends, i, j) is not NoSet.NOT_IDENTIFIED
    for part in [ends] if identified else parts_of_class(ends, i):
        fixed = adjustment_in_pag(part, i, j)
        if fixed is NoSet.NOT_IDENTIFIED:
            behind |= set(possibly_confounded(part, i, j).tolist()) or {j}
        elif isinstance(fixed, NoSet):
            found[fixed] = None
        else:
            found[tuple(fixed.tolist())] = Regression(i, j, fixed, np.zeros(0, np.int64))
    return list(found.values()), sorted(behind)


def parts_of_class(ends: IntArray, variable: int) -> Iterator[IntArray]:
    """The PAG with every choice of marks at a variable that some graph of the class has."""
    at = ends[:, variable]
    loose = (ends != 0).astype(np.int64)
    loose[at == TAIL, variable] = loose[variable, at == ARROW] = 0
    for into in possible_parents(loose, variable):
        circles = np.flatnonzero(at == CIRCLE).tolist()
        arrows = [(k, variable, ARROW) for k in circles if k in into]
        tails = [change for k in circles if k not in into for change in ((k, variable, TAIL), (variable, k, ARROW))]
        part = refined(ends, arrows + tails)
        if part is not None:
            yield part


def regressions_in_class(
    graph: CausalGraph,
    pattern: IntArray,
    pair: tuple[int, int],
    kind: EffectKind,
    adjustment: Adjustment,
    settings: bool,
) -> list[Regression | None]:
    """The regressions that tell an effect in the graphs of a class, one for each set of parents that matters.

    Given its parents, the total effect of a variable is the same in all members (Maathuis et al. 2009), and given the
    parents of the other the direct one. Where independences alone tell the class, the regression on them tells the
    effect. Else one member is asked: only that shows which sets of parents time and knowledge permit, and which rows
    tell of the paths where variables were set (``settings``).
    """
    i, j = pair
    if graph.pag is not None:  # refused where no one set will do in all of them
        return [regression_for(graph, i, j, kind, adjustment)]
    plain = cpdag(graph.edges)
    by_parents = (
        (kind, adjustment) == ("total", "optimal")
        and graph.lags is None
        and not settings
        and np.array_equal(pattern, plain)
    )
    loose = (pattern != 0) & (pattern.T != 0)  # transposed: the other way as well
    equivalent = not (loose & (plain.T == 0)).any()  # classes of models that voted may dispute any direction
    varied = i if kind == "total" else j
    found: list[Regression | None] = []
    for parents in possible_parents(pattern, varied):
        if by_parents:
            found.append(None if j in parents else Regression(i, j, parents, np.zeros(0, np.int64)))
            continue
        member = _member(graph, pattern, varied, parents)
        if member is None or (equivalent and not np.array_equal(cpdag(member.edges), plain)):
            continue  # these parents would meet in a new collider, or close a cycle
        found.append(regression_for(member, i, j, kind, adjustment))
    return found or [regression_for(graph, i, j, kind, adjustment)]


def _member(graph: CausalGraph, pattern: IntArray, variable: int, parents: IntArray) -> CausalGraph | None:
    """A graph with the directions of the class in which a variable has just these parents; None where there is none."""
    marks = pattern != 0
    marks[variable, parents] = False
    effects = marks[variable].copy()
    marks[effects, variable] = False
    edges = consistent_extension(marks, graph.positions)
    if edges is None:
        return None
    return replace(CausalGraph.from_matrix(edges, names=graph.names), lags=graph.lags)


def possible_parents(pattern: IntArray, variable: int) -> Iterator[IntArray]:
    """Every parent set that a variable has in some member of the class: local IDA.

    The directed parents, with any set of undirected neighbors that are pairwise adjacent: two that are not would meet
    in a new v-structure.

    Parameters
    ----------
    pattern : (n_variables, n_variables) int array
        As :func:`precede.graph.equivalence.cpdag` gives it.
    variable : int

    Examples
    --------
    >>> chain = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])  # 0 - 1 - 2
    >>> [parents.tolist() for parents in possible_parents(chain, 1)]
    [[], [0], [2]]
    """
    marks = pattern != 0
    sure = np.flatnonzero(marks[:, variable] & ~marks[variable])
    loose = np.flatnonzero(marks[:, variable] & marks[variable])
    adjacent = marks | marks.T  # transposed: a pair is adjacent in either direction
    cliques: list[list[int]] = [[]]
    for count, clique in enumerate(cliques):  # grows while it is read: every clique, smaller ones first
        if count >= MOST_PARENT_SETS:
            raise OptionError(
                f"more than {MOST_PARENT_SETS} sets of causes are possible here: the class says too little to "
                "be of use; background knowledge about directions would help."
            )
        yield np.concatenate([sure, clique]).astype(np.int64)
        last = clique[-1] if clique else -1
        cliques += [[*clique, int(k)] for k in loose if k > last and adjacent[k, clique].all()]
