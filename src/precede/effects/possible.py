"""Effects where the graph is in doubt: over a class (IDA; LV-IDA where causes may be hidden), and over a bootstrap.

References
----------
Maathuis, Kalisch, Bühlmann (2009), Estimating high-dimensional intervention effects from observational data, Annals of
Statistics 37.
Malinsky, Spirtes (2016), Estimating causal effects with ancestral graph Markov models, PGM 52.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from precede.arrays import FloatArray, IntArray
from precede.effects.linear import Effect, Question
from precede.effects.regression import HIDDEN_SHARE, Regression
from precede.errors import OptionError
from precede.evidence.confidence import Confidence
from precede.graph import CausalGraph
from precede.graph.ancestral import ARROW, CIRCLE, TAIL, refined
from precede.graph.dags import ancestors, consistent_extension, cpdag
from precede.graph.pag_adjustment import NoSet, adjustment_in_pag, possibly_confounded, widest_set
from precede.lazy import special
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
        class no set of columns gives the effect. It has no limit then, but for what such a cause can explain: the
        intervals hold as long as that is at most 30% of the variance that the other columns leave in cause and effect
        (``HIDDEN_SHARE``).
    resampled : (float, float) or None
        Where causes may be hidden, the middle of the effects in the PAGs of resampled rows, each with such a cause even
        where its marks rule one out: marks may be wrong (``benchmarks/hidden.py effects``).
    """

    cause: Hashable
    effect: Hashable
    effects: tuple[Effect, ...]
    unmeasured: tuple[Hashable, ...] = ()
    resampled: tuple[float, float] | None = None

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
        low, high = zip(*(e.interval for e in self.effects), self.resampled or self.effects[0].interval, strict=True)
        return min(low), max(high)

    @property
    def sentence(self) -> str:
        """The possible effects in plain words."""
        low, high = self.interval if self.unmeasured else (self.values[0], self.values[-1])
        level = self.effects[0].outcome_level
        what = str(self.effect) if level is None else f"the risk of {self.effect} = {level}"
        ends = [f"{end:.4g}" if level is None else f"{100 * end:.3g}" for end in (low, high, *self.interval)]
        points = "" if level is None else " points"
        if self.unmeasured:
            others = " or ".join(map(str, self.unmeasured))
            return (
                f"{self.cause} may share an unmeasured cause with {others}. {self.effects[0].change} changes {what} by "
                f"something from {ends[0]} to {ends[1]}{points} as long as that cause explains at most "
                f"{HIDDEN_SHARE:.0%} of the variance that the other columns leave in {self.cause} and in "
                f"{self.effect}; these columns set no other limit. Measure what {self.cause} and {others} may share, "
                f"or set {self.cause} in an experiment."
            )
        if len(self.effects) == 1:
            text = f"All equivalent graphs agree: {self.effects[0].sentence}"
            if self.resampled is None or not any(self.interval):
                return text
            return (
                f"{text} It is something from {ends[2]} to {ends[3]}{points} if marks are wrong and an unmeasured cause"
                f" explains up to {HIDDEN_SHARE:.0%} of the variance that the other columns leave in both."
            )
        text = (
            f"The data alone cannot tell which of {len(self.effects)} sets of causes {self.cause} has. "
            f"{self.effects[0].change} changes {what} by between {ends[0]} and {ends[1]}{points}."
        )
        if low > 0 or high < 0:
            return text + f" The sign is the same in all of them ({'positive' if low > 0 else 'negative'})."
        return text + " No effect at all is among the possibilities." if 0.0 in self.values else text

    def to_dict(self) -> JsonObject:
        """Plain values by name, JSON-ready."""
        found = {"range": self.range, "interval": self.interval, "effects": [one.to_dict() for one in self.effects]}
        return {**plain(self), **plain(found), "sentence": self.sentence}


@dataclass(frozen=True)
class Mixture:
    """A mixture of Student distributions; one of spread zero is a point.

    Parameters
    ----------
    centers, spreads, freedoms, shares : (n_parts,) float arrays
        The shares sum to one.
    """

    centers: FloatArray
    spreads: FloatArray
    freedoms: FloatArray
    shares: FloatArray

    def below(self, point: float) -> float:
        """Probability of a value of at most ``point``."""
        distance = point - self.centers
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = special.stdtr(self.freedoms, distance / self.spreads)
        parts = np.where(self.spreads > 0, parts, distance >= 0)
        return float(self.shares @ parts)

    def quantile(self, probability: float) -> float:
        """Smallest point with at least so much probability at or below it, by bisection.

        Examples
        --------
        >>> one = Mixture(np.array([0.0, 4.0]), np.zeros(2), np.full(2, 9.0), np.array([0.3, 0.7]))
        >>> one.quantile(0.2), one.quantile(0.5)
        (0.0, 4.0)
        """
        points = self.centers[self.spreads == 0]
        for point in np.sort(points):  # a step: the quantile is the point itself
            if self.below(float(point)) >= probability > self.below(np.nextafter(float(point), -np.inf)):
                return float(point)
        reach = 1.0 + float(np.abs(self.centers).max() + 50 * self.spreads.max())
        low, high = -reach, reach
        while self.below(low) > probability:
            low *= 2
        while self.below(high) < probability:
            high *= 2
        while high - low > 1e-12 * reach:
            middle = (low + high) / 2
            low, high = (low, middle) if self.below(middle) >= probability else (middle, high)
        return high

    def middle(self, level: float) -> tuple[float, float]:
        """Ends of the middle that holds a share of the mixture."""
        return self.quantile((1 - level) / 2), self.quantile((1 + level) / 2)

    def standard_deviation(self) -> float:
        mean = float(self.shares @ self.centers)
        return float(np.sqrt(self.shares @ (self.spreads**2 + (self.centers - mean) ** 2)))


def possible_effects(asked: Question, pattern: IntArray | None = None) -> PossibleEffects:
    """Effects over an equivalence class: adjust for each set of causes that the cause may have.

    Parameters
    ----------
    asked : Question
        Of any member of the class.
    pattern : (n_variables, n_variables) int array, optional
        The class; ``graph.pattern`` when left out: what interventions, time and background knowledge tell counts.

    Examples
    --------
    >>> graph = CausalGraph.from_matrix([[0, 1], [0, 0]], names=["rain", "wet"])
    >>> rain = np.random.default_rng(0).normal(size=100)
    >>> wet = 2 * rain + 0.1 * np.random.default_rng(1).normal(size=100)
    >>> found = possible_effects(Question(graph, "rain", "wet", np.column_stack([rain, wet])))
    >>> [round(value, 1) for value in found.values]
    [0.0, 2.0]
    """
    graph = asked.graph
    unmeasured: tuple[Hashable, ...] = ()
    if graph.pag is not None and (asked.kind, asked.adjustment) == ("total", "optimal"):
        regressions, behind = regressions_in_pag(graph.pag.ends, asked.pair)
        unmeasured = tuple(graph.names[k] for k in behind)
        mixture = _mixture(asked, [(member, 1) for member in graph.alternatives])
        drawn = None if mixture is None else mixture.middle(asked.level)
    else:
        regressions, drawn = regressions_in_class(asked, graph.pattern if pattern is None else pattern), None
    found = sorted(map(asked.estimate, regressions), key=lambda one: one.value)
    return PossibleEffects(asked.cause, asked.effect, tuple(found), unmeasured, drawn)


def effect_of(asked: Question, confidence: Confidence | None = None, together: Sequence[Hashable] = ()) -> Effect:
    """The answer of :meth:`precede.CausalGraph.effect`: in one graph, in a class of them, and over resampled graphs."""
    if together and confidence is not None:
        raise OptionError("together=... and confidence=... cannot be combined: leave one of them out.")
    graph, others = asked.graph, _resampled_graphs(asked, confidence)
    answer = asked.answer(together)
    if together or not isinstance(asked.adjustment, str):
        return answer
    if graph.open_directions is not None and graph.open_directions.any():
        answer = _over_class(answer, possible_effects(asked))
    return _over_graphs(asked, answer, _mixture(asked, others, strict=confidence is not None))


def _over_class(drawn: Effect, found: PossibleEffects) -> Effect:
    """The answer with the range over a class, where its graphs do not agree."""
    if len(found.effects) == 1:
        return drawn
    ends = [drawn.value, *found.values]
    low, high = zip(drawn.interval, found.interval, strict=True)
    return replace(
        drawn, range=(min(ends), max(ends)), interval=(min(low), max(high)), robustness=None, risks=None, ratio=None,
        ratio_interval=None,
    )  # fmt: skip


def _resampled_graphs(asked: Question, confidence: Any) -> list[tuple[CausalGraph, int]]:
    """Graphs that resampled rows gave, and how often: those of a bootstrap, else those of the fit."""
    graph = asked.graph
    if confidence is None:
        return [(member, 1) for member in graph.alternatives]
    if not isinstance(confidence, Confidence):
        raise OptionError(f"confidence={confidence!r} cannot be used: give what model.bootstrap(data) returns.")
    if not isinstance(asked.adjustment, str):
        raise OptionError(
            "a set of names may be no adjustment set in some of the resampled graphs: with confidence=... give "
            "adjustment='optimal', 'minimal' or 'parents'."
        )
    counted = sum(found.count for found in confidence.graphs)
    if counted < confidence.n_resamples:
        raise OptionError(
            f"the confidence holds {counted} of {confidence.n_resamples} resampled graphs, and an interval needs all: "
            "repeat the bootstrap with this release."
        )
    if set(confidence.graphs[0].graph.names) != set(graph.names):
        raise OptionError("the confidence is over other variables than the graph.")
    return [(found.graph, found.count) for found in confidence.graphs]


def _mixture(asked: Question, others: Sequence[tuple[CausalGraph, int]], strict: bool = False) -> Mixture | None:
    """The effect over resampled graphs.

    Each of these gives an estimate with its standard error, a point at zero where it rules the effect out; a class of
    graphs gives one for each set of causes that the cause may have, and they share the weight of the resample. A graph
    of the fit's resamples in which the data cannot tell the effect has no say; in one of a bootstrap, which was asked
    for, that is refused.
    """
    parts = []
    for found, count in others:
        try:
            parts += _estimates(asked, found, count)
        except OptionError:  # no row, or too few, could tell the effect in that graph
            if strict:
                raise
    if not parts:
        return None
    centers, spreads, freedoms, counts = np.array(parts).T
    return Mixture(centers, spreads, freedoms, counts / counts.sum())


def _over_graphs(asked: Question, answer: Effect, mixture: Mixture | None) -> Effect:
    """The answer with an interval and a probability over resampled graphs.

    The interval holds the middle of their mixture and that of the graph itself, so it knows two doubts: about the
    graph, and about the numbers. Where the graph rules the effect out and yet no path leads the other way, an edge may
    have been missed: the interval also holds what the effect were along that edge.
    """
    if mixture is None:
        return answer
    graph, (i, j) = asked.graph, asked.pair
    ends = [*answer.interval, *mixture.middle(asked.level)]
    if answer.ruled_out and graph.lags is None and graph.pag is None and not ancestors(graph.edges)[j, i]:
        edges = graph.edges.copy()
        edges[i, j] = True
        with suppress(OptionError):
            ends += asked.estimate(asked.regression(replace(graph, edges=edges))).interval
    return replace(
        answer,
        standard_error=mixture.standard_deviation(),
        interval=(min(ends), max(ends)),
        probability=min(1.0, float(mixture.shares[mixture.spreads > 0].sum())),
    )


def _estimates(asked: Question, found: CausalGraph, count: float) -> list[tuple[float, float, float, float]]:
    """Estimate, standard error, degrees of freedom and weight of each regression that tells the effect in a graph."""
    graph = asked.graph
    here = np.array([graph.position(name) for name in found.names], dtype=np.int64)
    lags = None if graph.lags is None else tuple(graph.lags[k] for k in here)
    of_member = replace(asked, graph=replace(found, lags=lags), data=asked.sample)
    if found.pag is not None:
        regressions, _ = regressions_in_pag(found.pag.ends, asked.pair)
    else:
        regressions = [of_member.regression()]
    if found.open_directions is not None and found.open_directions.any():
        regressions = regressions_in_class(of_member, of_member.graph.pattern)
    parts, share = [], count / len(regressions)
    for regression in regressions:
        if regression is None:
            parts.append((0.0, 0.0, 1.0, share))
            continue
        fit, slopes = asked.fit(Regression(*asked.pair, here[regression.fixed], here[regression.unset]))
        value, error = float(slopes @ fit.weights), fit.standard_error(slopes)
        away = fit.hidden_bias(slopes)
        shifts = (-away, away) if found.pag is not None else (0.0,)
        parts += [(value + shift, error, fit.freedom_of(slopes), share / len(shifts)) for shift in shifts]
    return parts


def regressions_in_pag(ends: IntArray, pair: tuple[int, int]) -> tuple[list[Regression | None], list[int]]:
    """The regressions where causes may be hidden, and what may share a cause with the cause where no set will do.

    One for each set of variables that may lead to the cause or share a hidden cause with it: in many of these parts of
    the class the effect is identified although it is not in the whole (Malinsky, Spirtes 2016). In the others the set
    is the one that were valid if all causes of the cause were seen.
    """
    i, j = pair
    found: dict[tuple[bool, tuple[int, ...]], Regression | None] = {}
    behind: set[int] = set()
    identified = adjustment_in_pag(ends, i, j) is not NoSet.NOT_IDENTIFIED
    for part in [ends] if identified else list(parts_of_class(ends, i)) or [ends]:  # marks may contradict each other
        fixed = adjustment_in_pag(part, i, j)
        confounded = fixed is NoSet.NOT_IDENTIFIED
        if confounded:
            behind |= set(possibly_confounded(part, i, j).tolist()) or {j}
            fixed = np.flatnonzero(widest_set(part, i, j))
        if isinstance(fixed, NoSet):
            found[False, (i,)] = None
        else:
            found[confounded, tuple(fixed.tolist())] = Regression(i, j, fixed, confounded=confounded)
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


def regressions_in_class(asked: Question, pattern: IntArray) -> list[Regression | None]:
    """The regressions that tell an effect in the graphs of a class, one for each set of parents that matters.

    Given its parents, the total effect of a variable is the same in all members (Maathuis et al. 2009), and given the
    parents of the other the direct one. Where independences alone tell the class, the regression on them tells the
    effect. Else one member is asked: only that shows which sets of parents time and knowledge permit, and which rows
    tell of the paths where variables were set.
    """
    graph, (i, j), kind = asked.graph, asked.pair, asked.kind
    if graph.pag is not None:  # refused where no one set will do in all of them
        return [asked.regression()]
    plain = cpdag(graph.edges)
    by_parents = (
        (kind, asked.adjustment) == ("total", "optimal")
        and graph.lags is None
        and asked.sample.settings is None
        and np.array_equal(pattern, plain)
    )
    loose = (pattern != 0) & (pattern.T != 0)  # transposed: the other way as well
    equivalent = not (loose & (plain.T == 0)).any()  # classes of models that voted may dispute any direction
    varied = i if kind == "total" else j
    found: list[Regression | None] = []
    for parents in possible_parents(pattern, varied):
        if by_parents:
            found.append(None if j in parents else Regression(i, j, parents))
            continue
        member = _member(graph, pattern, varied, parents)
        if member is None or (equivalent and not np.array_equal(cpdag(member.edges), plain)):
            continue  # these parents would meet in a new collider, or close a cycle
        found.append(asked.regression(member))
    return found or [asked.regression()]


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
        As :func:`precede.graph.dags.cpdag` gives it.
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
