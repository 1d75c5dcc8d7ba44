"""Effects: a regression on the cause and on what must be held fixed, over many graphs where one is in doubt.

Every variable is its columns: a number is one, a category one of 0 and 1 for each level but the first. An effect
compares two states of the cause's columns; a 0/1 outcome makes it a difference of risks.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from precede.arrays import FloatArray, IntArray
from precede.data.kinds import label_of
from precede.effects.least_squares import LeastSquares
from precede.errors import GraphError, OptionError, check_choice, did_you_mean, is_number, listed
from precede.evidence.sample import sample_for
from precede.graph import CausalGraph, MixedGraph
from precede.graph.adjustment import causal_nodes, is_adjustment_set, minimal_adjustments, optimal_adjustment
from precede.graph.dags import ancestors
from precede.graph.pag_adjustment import NoSet, adjustment_in_pag, possibly_confounded
from precede.graph.sample import Levels, Sample
from precede.lazy import pandas as pd
from precede.lazy import special
from precede.strict_json import JsonObject, plain

EffectKind = Literal["total", "direct"]
AdjustmentName = Literal["optimal", "minimal", "parents"]
Adjustment = AdjustmentName | Sequence[Hashable]
Compared = tuple[Any, Any]


@dataclass(frozen=True)
class Effect:
    """How much one variable changes another.

    Parameters
    ----------
    cause, effect : name
    kind : "total" or "direct"
        Along all directed paths, or along the edge alone.
    value : float
        Change of the effect, in its own units, when the cause is raised by one or goes from one level to another; the
        difference of risks where the effect has two values.
    standard_error : float
    interval : (float, float)
        Where the effect lies at the given level. Over bootstrap graphs it includes the doubt about the graph; in a
        learned class of graphs it holds the interval in each of them.
    level : float
    adjusted_for : tuple of names
        Held fixed in the regression.
    probability : float or None
        Share of the bootstrap graphs in which the cause has such an effect at all; None where none were given.
    robustness : float or None
        Robustness value (Cinelli and Hazlett 2020): the share of what is left of both the cause and the effect that a
        hidden common cause would have to explain to bring the effect to zero; None where the effect is ruled out.
    complete_rows : int or None
        Where cells of these variables are missing, the rows in which none is: the interval counts these.
    range : (float, float) or None
        In a learned class of graphs that do not agree, the smallest and the largest effect; ``value`` is then that in
        the graph as it is drawn.
    compared : (str, str) or None
        The states of the cause that are compared: the second instead of the first. None for one unit more.
    outcome_level : str or None
        Whose probability changes, where the effect has levels.
    together : tuple of names
        Variables that are set at the same time, and stay.
    risks : (float, float) or None
        For a 0/1 effect, the risk in the first state and in the second, were all rows in it.
    ratio, ratio_interval : float and (float, float), or None
        The second risk by the first.
    """

    cause: Hashable
    effect: Hashable
    kind: EffectKind
    value: float
    standard_error: float
    interval: tuple[float, float]
    level: float
    adjusted_for: tuple[Hashable, ...]
    probability: float | None = None
    robustness: float | None = None
    complete_rows: int | None = None
    range: tuple[float, float] | None = None
    compared: tuple[str, str] | None = None
    outcome_level: str | None = None
    together: tuple[Hashable, ...] = ()
    risks: tuple[float, float] | None = None
    ratio: float | None = None
    ratio_interval: tuple[float, float] | None = None

    @property
    def change(self) -> str:
        """What is done to the cause, in words."""
        if self.compared is None:
            return f"Raising {self.cause} by 1"
        return f"{self.cause} = {self.compared[1]} instead of {self.compared[0]}"

    @property
    def size(self) -> str:
        """What this does to the effect, in words: percentage points of a risk."""
        if self.range is not None:
            risk = self.outcome_level is not None
            what = f"the risk of {self.effect} = {self.outcome_level}" if risk else str(self.effect)
            low, high = (f"{100 * end:.3g}" if risk else f"{end:.4g}" for end in self.range)
            return f"changes {what} by something from {low} to {high}{' points' if risk else ''}"
        if self.outcome_level is None:
            return f"changes {self.effect} by {self.value:.4g}"
        verb = "raises" if self.value >= 0 else "lowers"
        return f"{verb} the risk of {self.effect} = {self.outcome_level} by {100 * abs(self.value):.3g} points"

    @property
    def interval_in_words(self) -> str:
        """The interval, and the ratio of the risks."""
        low, high = self.interval
        if self.outcome_level is None:
            return f"{self.level:.0%} interval {low:.4g} to {high:.4g}"
        if self.value < 0:
            low, high = -high, -low
        text = f"{self.level:.0%} interval {100 * low:.3g} to {100 * high:.3g}"
        if self.ratio is not None and self.ratio_interval is not None:
            text += "; {:.3g} times the risk, {:.3g} to {:.3g}".format(self.ratio, *self.ratio_interval)
        return text

    @property
    def sentence(self) -> str:
        """The effect in plain words."""
        how = "in total" if self.kind == "total" else "directly, the effect's other causes held fixed"
        if self.together:
            held = ", ".join(map(str, self.together))
            how = f"while {held} {'is' if len(self.together) == 1 else 'are'} held where set"
        if self.value == 0 and self.standard_error == 0:
            way = "directed path leads" if self.kind == "total" else "edge leads"
            text = f"The graph says that {self.cause} has no {self.kind} effect on {self.effect}: no {way} to it."
        else:
            text = f"{self.change} {self.size} {how} ({self.interval_in_words}"
            if self.range is not None:
                text = f"The data leave directions open, so that this is a range. {text}"
            fixed = ", ".join(map(str, self.adjusted_for))
            text += f"; adjusted for {fixed})." if self.adjusted_for and self.kind == "total" else ")."
        if self.robustness is not None:
            text += (
                f" A hidden common cause would have to explain {self.robustness:.0%} of the remaining variance of both "
                "to bring this to zero."
            )
        if self.complete_rows is not None:
            text += (
                " Some values are missing: the estimate uses every row, the interval only the "
                f"{self.complete_rows} complete ones, so it is on the wide side."
            )
        if self.probability is not None:
            text += f" {self.probability:.0%} of the resampled graphs have such an effect."
        return text

    def to_dict(self) -> JsonObject:
        """Plain values by name, JSON-ready."""
        return {**plain(self), "sentence": self.sentence}


def linear_effect(
    graph: CausalGraph,
    cause: Hashable,
    effect: Hashable,
    data: Any = None,
    kind: EffectKind = "total",
    adjustment: Adjustment = "optimal",
    level: float = 0.95,
    compared: Compared | None = None,
    outcome_level: Hashable = None,
    together: Sequence[Hashable] = (),
) -> Effect:
    r"""The effect of one variable on another in a linear model with this graph.

    Total: the coefficient of the cause in the regression of the effect on the cause and an adjustment set. Direct: its
    coefficient in the regression of the effect on its parents. An effect that the graph rules out is exactly zero.

    Parameters
    ----------
    graph : CausalGraph
    cause, effect : name
    data : as for ``fit``, optional
        What the graph was learned from when left out.
    kind : "total" or "direct"
    adjustment : "optimal", "minimal", "parents", or names
        What a total effect is adjusted for: the set of smallest variance (Henckel et al. 2022), a smallest one, the
        causes of the cause (for a column of the past, the rest of the past), or the variables named, which must be a
        valid set.
    level : float
        Of the interval.
    compared : (state, state), optional
        Levels of the cause, or two values of a number: the second instead of the first. Needed for a category.
    outcome_level : optional
        The level whose probability is asked for, where the effect is a category; of two, the second when left out.
    together : names
        Variables that are set at the same time: the effect is that of the cause alone, past them.

    Examples
    --------
    >>> graph = CausalGraph.from_matrix([[0, 1], [0, 0]], names=["rain", "wet"])
    >>> rain = np.random.default_rng(0).normal(size=100)
    >>> wet = 2 * rain + 0.1 * np.random.default_rng(1).normal(size=100)
    >>> round(linear_effect(graph, "rain", "wet", np.column_stack([rain, wet])).value, 1)
    2.0
    """
    check_question(kind, adjustment, level)
    i, j = positions_of(graph, cause, effect)
    others = [positions_of(graph, cause, name)[1] for name in together]
    regression = regression_for(graph, i, j, kind, adjustment, others)
    sample = None if regression is None and data is None and graph.sample is None else sample_for(graph, data)
    asked = None if sample is None else Contrast.of(graph, sample, (i, j), compared, outcome_level)
    if regression is None or asked is None or sample is None:
        return no_effect(graph, (i, j), kind, level, asked)
    return replace(estimated(graph, sample, regression, kind, level, asked), together=tuple(together))


@dataclass(frozen=True, eq=False)
class Contrast:
    """What is compared: two states of the cause, and what is asked of the effect.

    Parameters
    ----------
    before, after : (n_own,) float arrays
        The cause's columns of the moments in the two states; for one unit more of a number, 0 and 1.
    target : (n_columns,) float array
        Weights of the columns of the moments that make up what is asked for.
    floor : float
        Added to their sum.
    compared, outcome_level
        In words, as of an :class:`Effect`.
    """

    before: FloatArray
    after: FloatArray
    target: FloatArray
    floor: float = 0.0
    compared: tuple[str, str] | None = None
    outcome_level: str | None = None

    @classmethod
    def of(
        cls,
        graph: CausalGraph,
        sample: Sample,
        pair: tuple[int, int],
        compared: Compared | None = None,
        outcome_level: Hashable = None,
    ) -> Contrast:
        """From the question; levels by what they are called."""
        (i, j), names = pair, graph.names
        own = sample.levels.get(i)
        if compared is None and own is not None and not own.category:
            compared = own.labels[0], own.labels[1]
        if compared is None and own is not None:
            raise OptionError(
                f"{names[i]} is categorical: choose two levels to compare, as compared=({own.labels[0]!r}, "
                f"{own.labels[1]!r}); it has {listed(own.labels, 20)}."
            )
        if compared is not None and (isinstance(compared, str) or len(compared) != 2):
            raise OptionError(f"compared={compared!r} cannot be used: give two states of {names[i]}.")
        states = (0.0, 1.0) if compared is None else compared
        before, after = (cls.state(names[i], own, state) for state in states)
        target, floor, goal = np.zeros(len(sample.mean)), 0.0, sample.levels.get(j)
        columns = sample.columns_of([j])
        if goal is None:
            if outcome_level is not None:
                raise OptionError(f"{names[j]} has no levels: leave outcome_level out.")
            target[columns] = 1.0
        elif not goal.category:
            at = _place(names[j], goal.labels, goal.labels[1] if outcome_level is None else outcome_level)
            gap = goal.values[at] - goal.values[1 - at]
            target[columns], floor, outcome_level = 1 / gap, -goal.values[1 - at] / gap, goal.labels[at]
        else:
            if outcome_level is None:
                raise OptionError(
                    f"{names[j]} is categorical: choose the level whose probability is asked for, as outcome_level="
                    f"{goal.labels[0]!r}; it has {listed(goal.labels, 20)}."
                )
            at = _place(names[j], goal.labels, outcome_level)
            target[columns[at - 1] if at else columns], floor = (1.0, 0.0) if at else (-1.0, 1.0)
            outcome_level = goal.labels[at]
        words = None if compared is None else (str(compared[0]), str(compared[1]))
        return cls(before, after, target, floor, words, None if outcome_level is None else str(outcome_level))

    @staticmethod
    def state(name: Hashable, levels: Levels | None, state: Any) -> FloatArray:
        """A variable's columns of the moments where it has a value, or a level by what it is called."""
        if levels is None:
            if not is_number(state):
                raise OptionError(f"{name} cannot be {state!r}: it is a number.")
            return np.array([float(state)])
        at = _place(name, levels.labels, state)
        return np.eye(len(levels.values))[at, 1:] if levels.category else np.array([levels.values[at]])


def _place(name: Hashable, labels: Sequence[str], asked: Hashable) -> int:
    """Of a level, by what it is called."""
    known = [label_of(label) for label in labels]
    if label_of(asked) not in known:
        raise OptionError(f"{name} has no level {asked!r};{did_you_mean(asked, labels)} it has {listed(labels, 20)}.")
    return known.index(label_of(asked))


def level_effects(
    graph: CausalGraph,
    cause: Hashable,
    effect: Hashable,
    data: Any = None,
    level: float = 0.95,
    outcome_level: Hashable = None,
) -> tuple[Effect, ...]:
    """The effect of each level of a category instead of its most frequent one; one effect for any other cause."""
    sample = sample_for(graph, data)
    own = sample.levels.get(graph.position(cause))
    if own is None or not own.category:
        return (linear_effect(graph, cause, effect, sample, level=level, outcome_level=outcome_level),)
    shares = sample.mean[sample.columns_of([graph.position(cause)])]
    usual = int(np.argmax([1 - shares.sum(), *shares]))
    others = [label for k, label in enumerate(own.labels) if k != usual]
    return tuple(
        linear_effect(
            graph, cause, effect, sample, level=level, compared=(own.labels[usual], label), outcome_level=outcome_level
        )
        for label in others
    )


def no_effect(
    graph: CausalGraph, pair: tuple[int, int], kind: EffectKind, level: float, asked: Contrast | None = None
) -> Effect:
    """No effect at all, by the graph."""
    cause, effect = (graph.names[k] for k in pair)
    found = Effect(cause, effect, kind, 0.0, 0.0, (0.0, 0.0), level, ())
    return found if asked is None else replace(found, compared=asked.compared, outcome_level=asked.outcome_level)


@dataclass(frozen=True, eq=False)
class Regression:
    """One coefficient of a least-squares regression.

    Parameters
    ----------
    cause, effect : int
        Columns.
    fixed : (n_fixed,) int array
        Columns beside the cause.
    unset : (n_unset,) int array
        Columns that must not have been set in a row that is used.
    """

    cause: int
    effect: int
    fixed: IntArray
    unset: IntArray

    @property
    def columns(self) -> list[int]:
        """All variables that it speaks of."""
        return [self.cause, self.effect, *self.fixed.tolist()]

    def fit(self, graph: CausalGraph, sample: Sample, target: FloatArray) -> LeastSquares:
        """The regression, the cause's columns first.

        Its errors hold for noise of uneven size and for 0/1 outcomes wherever the rows are known and nothing is missing
        or was set. Where cells are missing, the moments come from all that is there, and are at least as good as those
        of the rows in which every variable of the regression is: the error is that of so many rows, which is on the
        safe side.
        """
        columns = sample.columns_of([self.cause, *self.fixed.tolist()])
        own = sample.where_unset(self.unset)
        n_rows = own.rows_with(self.columns)
        if n_rows - len(columns) - 1 < 1:
            raise OptionError(self._too_few(graph, n_rows, sample))
        rows = own.design if own.settings is None and own.absent is None else None
        return LeastSquares.of(own, columns, target, n_rows, rows)

    def _too_few(self, graph: CausalGraph, n_rows: int, sample: Sample) -> str:
        n_columns = len(self.fixed) + 1
        if sample.absent is not None:
            return (
                f"only {n_rows} rows, too few for a regression on {n_columns} variables, have no cell of "
                f"{listed(graph.names[k] for k in self.columns)} missing: adjust for fewer."
            )
        if sample.settings is None:
            return f"{n_columns} variables in one regression need more than {n_rows} rows: adjust for fewer."
        free = listed(graph.names[k] for k in self.unset)
        return (
            f"only {n_rows} rows, too few for a regression on {n_columns} variables, have none of {free} set: collect "
            "rows without these interventions, or ask for adjustment='optimal', which can use the most rows."
        )


def check_question(kind: EffectKind, adjustment: Adjustment, level: float) -> None:
    """Refuse options that would not be read as they are meant; nothing is computed before."""
    check_choice("kind", kind, get_args(EffectKind))
    if isinstance(adjustment, str):
        check_choice("adjustment", adjustment, get_args(AdjustmentName))
    if kind == "direct" and adjustment != "optimal":
        raise OptionError(
            "a direct effect is always adjusted for the effect's other causes: leave adjustment out, or ask for "
            "kind='total'."
        )
    check_level(level)


def check_level(level: float) -> None:
    """Refuse a level that is no share of one."""
    if not is_number(level) or not 0 < level < 1:
        raise OptionError(f"level={level!r} cannot be used: give a share between 0 and 1, as 0.95 for 95%.")


def estimated(
    graph: CausalGraph,
    sample: Sample,
    regression: Regression,
    kind: EffectKind,
    level: float,
    asked: Contrast | None = None,
) -> Effect:
    """What a regression says, with Student's interval."""
    asked = asked or Contrast.of(graph, sample, (regression.cause, regression.effect))
    fit = regression.fit(graph, sample, asked.target)
    reach = float(special.stdtrit(fit.freedom, (1 + level) / 2))
    slopes = np.zeros(len(fit.weights))
    slopes[: len(asked.after)] = asked.after - asked.before
    value, error = float(slopes @ fit.weights), fit.standard_error(slopes)
    held = tuple(graph.names[k] for k in regression.fixed)
    complete = None if sample.absent is None else sample.rows_with(regression.columns)
    found = Effect(
        graph.names[regression.cause],
        graph.names[regression.effect],
        kind,
        value,
        error,
        (value - reach * error, value + reach * error),
        level,
        held,
        robustness=robustness_value(value / error, fit.freedom) if error > 0 else None,
        complete_rows=None if complete == sample.n_samples else complete,
        compared=asked.compared,
        outcome_level=asked.outcome_level,
    )
    return found if asked.outcome_level is None else _with_ratio(found, sample, regression, fit, asked, reach)


def _with_ratio(
    found: Effect, sample: Sample, regression: Regression, fit: LeastSquares, asked: Contrast, reach: float
) -> Effect:
    r"""The risks in both states, and their ratio with an interval of its logarithm (the delta method).

    The risk in a state c is :math:`\bar y + \beta_c (c - \bar c)`: every row keeps what is held fixed.
    """
    own = sample.where_unset(regression.unset)
    columns = own.columns_of([regression.cause, *regression.fixed.tolist()])
    n_own, mean = len(asked.after), own.mean[columns]
    if asked.compared is None:  # one unit more than the mean
        asked = replace(asked, before=mean[:n_own], after=mean[:n_own] + 1)
    away = np.zeros((2, len(mean)))
    away[:, :n_own] = np.array([asked.before, asked.after]) - mean[:n_own]
    risks = float(own.mean @ asked.target) + asked.floor + away @ fit.weights
    found = replace(found, risks=(float(risks[0]), float(risks[1])))
    if min(risks) <= 0:
        return found
    share = np.array([-1.0, 1.0]) / risks
    fixed = np.where(np.arange(len(mean)) < n_own, 0.0, fit.weights)
    error = fit.standard_error(share @ away, share.sum(), share.sum() * fixed)
    ratio = float(risks[1] / risks[0])
    return replace(
        found, ratio=ratio, ratio_interval=(ratio * float(np.exp(-reach * error)), ratio * float(np.exp(reach * error)))
    )


def robustness_value(t_value: float, freedom: int) -> float:
    r"""Share :math:`(\sqrt{f^4 + 4 f^2} - f^2) / 2` with :math:`f = |t| / \sqrt{\text{degrees of freedom}}`.

    References
    ----------
    Cinelli, Hazlett (2020). Making sense of sensitivity: extending omitted variable bias. JRSS B 82.

    Examples
    --------
    >>> round(robustness_value(4.18, 783), 3)  # their example, Darfur
    0.139
    """
    f2 = t_value**2 / freedom
    return float((np.sqrt(f2**2 + 4 * f2) - f2) / 2)


def positions_of(graph: CausalGraph, cause: Hashable, effect: Hashable) -> tuple[int, int]:
    """Columns of two different variables."""
    i, j = (graph.position(name) for name in (cause, effect))
    if i == j:
        raise OptionError(f"cause and effect are both {cause!r}: name two variables.")
    return i, j


def path_effects(graph: CausalGraph) -> pd.DataFrame:
    r"""Total effects that the graph's own weights imply: :math:`(I - W)^{-1} - I`, products along every path, summed.

    Only for a linear model; ``[i, j]`` is the effect of i on j.

    Examples
    --------
    >>> graph = CausalGraph.from_matrix([[0, 2, 0], [0, 0, 3], [0, 0, 0]], names=list("abc"))
    >>> float(path_effects(graph).loc["a", "c"])
    6.0
    """
    return pd.DataFrame(path_sums(graph.strengths), index=list(graph.names), columns=list(graph.names))


def path_sums(weights: FloatArray) -> FloatArray:
    """The same for a bare matrix."""
    identity = np.eye(len(weights))
    return np.asarray(np.linalg.solve(identity - weights, identity) - identity)


def regression_for(
    graph: CausalGraph, i: int, j: int, kind: EffectKind, adjustment: Adjustment, together: Sequence[int] = ()
) -> Regression | None:
    """The regression that tells an effect; None where the graph rules it out.

    With interventions, not every row tells it. The regression on an effect's parents holds wherever the effect was not
    set, that on the optimal set wherever nothing on a causal path was: there it is a sum of structural equations, and
    how the rest came about does not matter. Other sets only stand in for what they hide, so that the regression on
    them holds where nothing was set that leads to any of its variables.
    """
    edges = graph.edges
    if together:
        return _joint_regression(graph, [i, *together], j, kind, adjustment)
    if graph.pag is not None:
        return _where_causes_may_hide(graph, graph.pag, (i, j), kind, adjustment)
    if kind == "direct":
        others = edges[:, j].copy()
        others[i] = False
        return Regression(i, j, np.flatnonzero(others), np.array([j])) if edges[i, j] else None
    best = optimal_adjustment(edges, i, j)
    if best is None:
        return None
    fixed = best if adjustment == "optimal" else _chosen_set(graph, i, j, adjustment)
    if set(fixed.tolist()) == set(best.tolist()):
        return Regression(i, j, fixed, np.flatnonzero(causal_nodes(edges, i, j)))
    leading = (ancestors(edges) | np.eye(len(edges), dtype=bool))[:, [i, j, *fixed.tolist()]].any(axis=1)
    return Regression(i, j, fixed, np.flatnonzero(leading))


def _joint_regression(
    graph: CausalGraph, causes: list[int], j: int, kind: EffectKind, adjustment: Adjustment
) -> Regression | None:
    """The same for the first of several causes that are set at once."""
    if kind == "direct" or adjustment != "optimal" or graph.pag is not None:
        raise OptionError(
            "together=... asks for a total effect with adjustment='optimal', in a graph without hidden causes."
        )
    if j in causes:
        raise OptionError(f"{graph.names[j]!r} is both set and looked at: name other variables.")
    edges = graph.edges
    held = edges.copy()
    held[:, causes] = False
    if not ancestors(held)[causes[0], j]:
        return None
    best = optimal_adjustment(edges, causes, j)
    if best is None or not is_adjustment_set(edges, causes, j, best, graph.past):
        raise GraphError(
            f"no set of columns gives the effects of {listed(graph.names[k] for k in causes)} on {graph.names[j]!r} at "
            "once: ask for one cause at a time."
        )
    return Regression(causes[0], j, np.append(causes[1:], best), np.flatnonzero(causal_nodes(edges, causes, j)))


def _where_causes_may_hide(
    graph: CausalGraph, pag: MixedGraph, pair: tuple[int, int], kind: EffectKind, adjustment: Adjustment
) -> Regression | None:
    """The same by the PAG; refused where no set of columns tells the effect."""
    cause, effect = (graph.names[k] for k in pair)
    if kind == "direct" or adjustment != "optimal":
        raise OptionError(
            f"where causes may be hidden, only the total effect of {cause} on {effect} can be asked for, with "
            "adjustment='optimal'."
        )
    fixed = adjustment_in_pag(pag.ends, *pair)
    if fixed is NoSet.NOT_IDENTIFIED:
        behind = [graph.names[k] for k in possibly_confounded(pag.ends, *pair)]
        raise OptionError(no_set_will_do(cause, effect, behind))
    return None if isinstance(fixed, NoSet) else Regression(*pair, fixed, np.zeros(0, np.int64))


def no_set_will_do(cause: Hashable, effect: Hashable, behind: Sequence[Hashable]) -> str:
    """Why an effect cannot be estimated, and what would have to be measured."""
    others = " or ".join(map(str, behind or [effect]))
    return (
        f"the effect of {cause} on {effect} cannot be estimated from these columns: {cause} may share an unmeasured "
        f"cause with {others}. Measure what {cause} and {others} may share, or set {cause} in an experiment."
    )


def _chosen_set(graph: CausalGraph, i: int, j: int, adjustment: Adjustment) -> IntArray:
    if adjustment == "parents":
        if graph.past is None or not graph.past[i]:
            return np.flatnonzero(graph.edges[:, i])
        return np.flatnonzero(graph.past & (np.arange(graph.n_variables) != i))
    if adjustment == "minimal":
        return next(minimal_adjustments(graph.edges, i, j, graph.past))
    columns = np.array([graph.position(name) for name in adjustment], dtype=np.int64)
    if not is_adjustment_set(graph.edges, i, j, columns, graph.past):
        raise GraphError(
            f"adjusting for {listed(adjustment) or 'nothing'} does not give the total effect of {graph.names[i]!r} on "
            f"{graph.names[j]!r} in this graph: graph.adjustment_sets names the sets that do."
        )
    return columns
