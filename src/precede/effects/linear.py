"""Effects: a regression on the cause and on what must be held fixed, over many graphs where one is in doubt.

Every variable is its columns: a number is one, a category one of 0 and 1 for each level but the first. An effect
compares two states of the cause's columns; a 0/1 outcome makes it a difference of risks.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, get_args

import numpy as np

from precede.arrays import FloatArray
from precede.data.kinds import label_of
from precede.effects.regression import Adjustment, AdjustmentName, EffectKind, LeastSquares, Regression, regression_for
from precede.errors import OptionError, check_choice, did_you_mean, is_number, listed, typed
from precede.evidence.sample import sample_for
from precede.graph import CausalGraph
from precede.graph.parts import Sample
from precede.kinds import ColumnKind
from precede.lazy import pandas as pd
from precede.lazy import special
from precede.strict_json import Spoken

Compared = tuple[Any, Any]


@dataclass(frozen=True)
class Effect(Spoken):
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
        Where the effect lies at the given level. With resampled graphs (of the fit, or of a bootstrap) it includes
        the doubt about the graph, where causes may be hidden also one that the marks rule out (``HIDDEN_SHARE``); in a
        learned class of graphs it holds the interval in each of them.
    level : float
    adjusted_for : tuple of names
        Held fixed in the regression.
    probability : float or None
        Share of the resampled graphs in which the cause has such an effect at all; None where there are none.
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
    def ruled_out(self) -> bool:
        """Whether the graph says that there is no such effect."""
        return self.value == 0 and self.robustness is None and self.range is None

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
        if self.value < 0 and self.range is None:  # "lowers by"
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
        if self.ruled_out:
            way = "directed path leads" if self.kind == "total" else "edge leads"
            text = f"The graph says that {self.cause} has no {self.kind} effect on {self.effect}: no {way} to it"
            text += f" ({self.interval_in_words}, in case the graph is wrong)." if any(self.interval) else "."
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


def state_of(name: Hashable, levels: ColumnKind | None, state: Any) -> FloatArray:
    """A variable's columns of the moments where it has a value, or a level by what it is called."""
    if levels is None:
        if not is_number(state):
            raise OptionError(f"{name} cannot be {state!r}: it is a number.")
        return np.array([float(state)])
    at = _place(name, levels.labels, state)
    return np.eye(levels.n_levels)[at, 1:] if levels.name == "categorical" else np.array([levels.levels[at]])


def _place(name: Hashable, labels: Sequence[str], asked: Hashable) -> int:
    """Of a level, by what it is called."""
    known = [label_of(label) for label in labels]
    if label_of(asked) not in known:
        raise OptionError(f"{name} has no level {asked!r};{did_you_mean(asked, labels)} it has {listed(labels, 20)}.")
    return known.index(label_of(asked))


@dataclass(frozen=True, eq=False)
class Question:
    r"""The effect of one variable on another, as it is asked for; a graph answers it by a regression.

    Total: the coefficient of the cause in the regression of the effect on the cause and an adjustment set. Direct: its
    coefficient in the regression of the effect on its parents. An effect that a graph rules out is exactly zero.

    Parameters
    ----------
    graph : CausalGraph
    cause, effect : name
    data : as for ``fit``, optional
        What the graph was learned from when left out. An effect that the graph rules out needs none.
    kind, adjustment, level, compared, outcome_level
        As for :meth:`precede.CausalGraph.effect`.

    Examples
    --------
    >>> graph = CausalGraph.from_matrix([[0, 1], [0, 0]], names=["rain", "wet"])
    >>> rain = np.random.default_rng(0).normal(size=100)
    >>> wet = 2 * rain + 0.1 * np.random.default_rng(1).normal(size=100)
    >>> round(Question(graph, "rain", "wet", np.column_stack([rain, wet])).answer().value, 1)
    2.0
    """

    graph: CausalGraph
    cause: Hashable
    effect: Hashable
    data: Any = None
    kind: EffectKind = "total"
    adjustment: Adjustment = "optimal"
    level: float = 0.95
    compared: Compared | None = None
    outcome_level: Hashable = None

    def __post_init__(self) -> None:
        """Refuse options that would not be read as they are meant; nothing is computed before."""
        check_choice("kind", self.kind, get_args(EffectKind))
        if isinstance(self.adjustment, str):
            check_choice("adjustment", self.adjustment, get_args(AdjustmentName))
        if self.kind == "direct" and self.adjustment != "optimal":
            raise OptionError(
                "a direct effect is always adjusted for the effect's other causes: leave adjustment out, or ask for "
                "kind='total'."
            )
        if not is_number(self.level) or not 0 < self.level < 1:
            raise OptionError(f"level={self.level!r} cannot be used: give a share between 0 and 1, as 0.95 for 95%.")
        if self.pair[0] == self.pair[1]:
            raise OptionError(f"cause and effect are both {self.cause!r}: name two variables.")

    @cached_property
    def pair(self) -> tuple[int, int]:
        """Columns of cause and effect."""
        return self.graph.position(self.cause), self.graph.position(self.effect)

    @cached_property
    def sample(self) -> Sample:
        """The data."""
        return sample_for(self.graph, self.data)

    @cached_property
    def contrast(self) -> Contrast:
        """What is compared; levels by what they are called."""
        (i, j), names, sample = self.pair, self.graph.names, self.sample
        compared, outcome_level = self.compared, self.outcome_level
        own, goal = (sample.levels.get(place) for place in self.pair)
        if compared is None and own is not None and own.name == "categorical":
            raise OptionError(
                f"{names[i]} is categorical: choose two levels to compare, as "
                f"{typed('compared', own.labels[:2])}; it has {listed(own.labels, 20)}."
            )
        if compared is not None and (isinstance(compared, str) or len(compared) != 2):
            raise OptionError(f"compared={compared!r} cannot be used: give two states of {names[i]}.")
        if compared is None and own is not None:
            compared = own.labels[0], own.labels[1]
        before, after = (state_of(names[i], own, state) for state in ((0.0, 1.0) if compared is None else compared))
        words = None if compared is None else (str(compared[0]), str(compared[1]))
        target, floor, columns = np.zeros(len(sample.mean)), 0.0, sample.columns_of([j])
        if goal is None:
            if outcome_level is not None:
                raise OptionError(f"{names[j]} has no levels: leave outcome_level out.")
            target[columns] = 1.0
            return Contrast(before, after, target, floor, words)
        if outcome_level is None and goal.name == "categorical":
            raise OptionError(
                f"{names[j]} is categorical: choose the level whose probability is asked for, as "
                f"{typed('outcome_level', goal.labels[0])}; it has {listed(goal.labels, 20)}."
            )
        at = _place(names[j], goal.labels, goal.labels[1] if outcome_level is None else outcome_level)
        if goal.name == "categorical":
            target[columns[at - 1] if at else columns], floor = (1.0, 0.0) if at else (-1.0, 1.0)
        else:
            gap = goal.levels[at] - goal.levels[1 - at]
            target[columns], floor = 1 / gap, -goal.levels[1 - at] / gap
        return Contrast(before, after, target, floor, words, goal.labels[at])

    def by_level(self) -> list[Question]:
        """One question for each level of a categorical cause instead of its most frequent one, and each of an outcome.

        Levels that are named stay; this question alone where there are none to go through.
        """
        own, goal = (self.sample.levels.get(place) for place in self.pair)
        states: list[Compared | None] = [self.compared]
        risks: list[Hashable] = [self.outcome_level]
        if own is not None and own.name == "categorical" and self.compared is None:
            shares = self.sample.mean[self.sample.columns_of([self.pair[0]])]
            usual = own.labels[int(np.argmax([1 - shares.sum(), *shares]))]
            states = [(usual, label) for label in own.labels if label != usual]
        if goal is not None and goal.name == "categorical" and self.outcome_level is None:
            risks = list(goal.labels)
        asked = replace(self, data=self.sample)
        return [replace(asked, compared=pair, outcome_level=risk) for pair in states for risk in risks]

    def regression(self, member: CausalGraph | None = None, together: Sequence[int] = ()) -> Regression | None:
        """The regression that tells the effect in the graph, or in another over the same columns."""
        return regression_for(self, member or self.graph, together)

    def fit(self, regression: Regression) -> tuple[LeastSquares, FloatArray]:
        """The regression fitted to the data, and by how much its columns differ between the two states."""
        fit = regression.fit(self.graph, self.sample, self.contrast.target)
        slopes = np.zeros(len(fit.weights))
        slopes[: len(self.contrast.after)] = self.contrast.after - self.contrast.before
        return fit, slopes

    def answer(self, together: Sequence[Hashable] = ()) -> Effect:
        """The effect in the graph as it is drawn; ``together`` are variables that are set at the same time."""
        others = [replace(self, effect=name).pair[1] for name in together]
        return replace(self.estimate(self.regression(together=others)), together=tuple(together))

    def estimate(self, regression: Regression | None) -> Effect:
        """What a regression says, with Student's interval; None says that there is no effect at all."""
        found = Effect(self.cause, self.effect, self.kind, 0.0, 0.0, (0.0, 0.0), self.level, ())
        if regression is None and self.data is None and self.graph.sample is None:
            return found
        asked, sample = self.contrast, self.sample
        found = replace(found, compared=asked.compared, outcome_level=asked.outcome_level)
        if regression is None:
            return found
        fit, slopes = self.fit(regression)
        value, error = float(slopes @ fit.weights), fit.standard_error(slopes)
        complete = None if sample.absent is None else sample.rows_with(regression.columns)
        low, high = fit.interval(slopes, self.level)
        away = fit.hidden_bias(slopes) if regression.confounded else 0.0
        found = replace(
            found,
            value=value,
            standard_error=error,
            interval=(low - away, high + away),
            adjusted_for=tuple(self.graph.names[k] for k in regression.fixed),
            robustness=robustness_value(value / error, fit.freedom) if error > 0 else None,
            complete_rows=None if complete == sample.n_samples else complete,
        )
        if asked.outcome_level is None or regression.confounded:
            return found
        return _with_ratio(found, fit, asked, float(special.stdtrit(fit.freedom_of(slopes), (1 + self.level) / 2)))


def _with_ratio(found: Effect, fit: LeastSquares, asked: Contrast, reach: float) -> Effect:
    r"""The risks in both states, and their ratio with an interval of its logarithm (the delta method).

    The risk in a state c is :math:`\bar y + \beta_c (c - \bar c)`: every row keeps what is held fixed.
    """
    n_own, mean = len(asked.after), fit.mean
    before, after = asked.before, asked.after
    if asked.compared is None:  # one unit more than the mean
        before, after = mean[:n_own], mean[:n_own] + 1
    away = np.zeros((2, len(mean)))
    away[:, :n_own] = np.array([before, after]) - mean[:n_own]
    risks = fit.goal + asked.floor + away @ fit.weights
    found = replace(found, risks=(float(risks[0]), float(risks[1])))
    if min(risks) <= 0:
        return found
    share = np.array([-1.0, 1.0]) / risks
    fixed = np.where(np.arange(len(mean)) < n_own, 0.0, fit.weights)
    error = fit.standard_error(share @ away, share.sum(), share.sum() * fixed)
    ratio, spread = float(risks[1] / risks[0]), float(np.exp(reach * error))
    return replace(found, ratio=ratio, ratio_interval=(ratio / spread, ratio * spread))


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
