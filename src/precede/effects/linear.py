"""Linear effects: a regression on the cause and on what must be held fixed, over many graphs where one is in doubt."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from precede.arrays import FloatArray, IntArray
from precede.errors import GraphError, OptionError, check_choice, is_number, listed
from precede.evidence.confidence import Confidence
from precede.evidence.sample import refuse_words, sample_for
from precede.graph import CausalGraph, MixedGraph
from precede.graph.adjustment import causal_nodes, is_adjustment_set, minimal_adjustments, optimal_adjustment
from precede.graph.dags import ancestors
from precede.graph.pag_adjustment import NoSet, adjustment_in_pag
from precede.graph.sample import Sample
from precede.lazy import pandas as pd
from precede.lazy import special
from precede.scores.covariance import regularized
from precede.strict_json import JsonObject, plain

EffectKind = Literal["total", "direct"]
AdjustmentName = Literal["optimal", "minimal", "parents"]
Adjustment = AdjustmentName | Sequence[Hashable]


@dataclass(frozen=True)
class Effect:
    """How much one variable changes another.

    Parameters
    ----------
    cause, effect : name
    kind : "total" or "direct"
        Along all directed paths, or along the edge alone.
    value : float
        Change of the effect, in its own units, when the cause is raised by one.
    standard_error : float
    interval : (float, float)
        Where the effect lies at the given level. Over bootstrap graphs it includes the doubt about the graph.
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

    @property
    def sentence(self) -> str:
        """The effect in plain words."""
        how = "in all" if self.kind == "total" else "directly, the effect's other causes held fixed"
        if self.value == 0 and self.standard_error == 0:
            way = "directed path leads" if self.kind == "total" else "edge leads"
            text = f"The graph says that {self.cause} has no {self.kind} effect on {self.effect}: no {way} there."
        else:
            low, high = self.interval
            text = (
                f"Raising {self.cause} by 1 changes {self.effect} by {self.value:.4g} {how} "
                f"({self.level:.0%} interval {low:.4g} to {high:.4g}"
            )
            fixed = ", ".join(map(str, self.adjusted_for))
            text += f"; adjusted for {fixed})." if self.adjusted_for and self.kind == "total" else ")."
        if self.robustness is not None:
            text += (
                f" A hidden common cause would have to explain {self.robustness:.0%} of what is left of both to bring "
                "this to zero."
            )
        if self.complete_rows is not None:
            text += (
                f" Cells are missing: the value comes from all that is there, the interval counts only the "
                f"{self.complete_rows} rows in which all of these variables are, so that it is rather too wide."
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
    regression = regression_for(graph, i, j, kind, adjustment)
    if regression is None:
        return Effect(cause, effect, kind, 0.0, 0.0, (0.0, 0.0), level, ())
    return estimated(graph, sample_for(graph, data), regression, kind, level)


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
        """All that it speaks of."""
        return [self.cause, self.effect, *self.fixed.tolist()]

    def coefficient(self, graph: CausalGraph, sample: Sample) -> tuple[float, float, int]:
        """That of the cause, its standard error and its degrees of freedom.

        The error holds for noise of uneven size and for 0/1 outcomes (HC3, MacKinnon and White 1985), wherever the rows
        are known and nothing is missing or was set. Where cells are missing, the moments come from all that is there,
        and are at least as good as those of the rows in which every variable of the regression is: the error is that
        of so many rows, which is on the safe side.
        """
        columns = np.concatenate([[self.cause], self.fixed]).astype(np.int64)
        refuse_words(graph, sample, (self.effect, *columns.tolist()))
        own = sample.where_unset(self.unset)
        n_rows = own.rows_with(self.columns)
        freedom = n_rows - len(columns) - 1
        if freedom < 1:
            raise OptionError(self._too_few(graph, n_rows, sample))
        inverse = np.linalg.inv(regularized(own.covariance[np.ix_(columns, columns)]))
        cross = own.covariance[columns, self.effect]
        weights = inverse @ cross
        left = max(float(own.covariance[self.effect, self.effect] - cross @ weights), 0.0)
        if own.rows is None or own.settings is not None or own.absent is not None:
            return float(weights[0]), float(np.sqrt(left * inverse[0, 0] / freedom)), freedom
        centered = own.rows - own.mean
        pulls = centered[:, columns] @ inverse
        leverage = (1 + np.einsum("ij,ij->i", pulls, centered[:, columns])) / n_rows
        residuals = centered[:, self.effect] - centered[:, columns] @ weights
        errors = pulls[:, 0] * residuals / np.maximum(1 - leverage, 1e-3)
        return float(weights[0]), float(np.sqrt(np.mean(errors**2) / n_rows)), freedom

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


def estimated(graph: CausalGraph, sample: Sample, regression: Regression, kind: EffectKind, level: float) -> Effect:
    """What a regression says, with Student's interval."""
    value, error, freedom = regression.coefficient(graph, sample)
    reach = error * float(special.stdtrit(freedom, (1 + level) / 2))
    cause, effect = graph.names[regression.cause], graph.names[regression.effect]
    held = tuple(graph.names[k] for k in regression.fixed)
    complete = None if sample.absent is None else sample.rows_with(regression.columns)
    if complete == sample.n_samples:
        complete = None
    interval = value - reach, value + reach
    robust = robustness_value(value / error, freedom) if error > 0 else None
    return Effect(cause, effect, kind, value, error, interval, level, held, robustness=robust, complete_rows=complete)


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


def regression_for(graph: CausalGraph, i: int, j: int, kind: EffectKind, adjustment: Adjustment) -> Regression | None:
    """The regression that tells an effect; None where the graph rules it out.

    With interventions, not every row tells it. The regression on an effect's parents holds wherever the effect was not
    set, that on the optimal set wherever nothing on a causal path was: there it is a sum of structural equations, and
    how the rest came about does not matter. Other sets only stand in for what they hide, so that the regression on
    them holds where nothing was set that leads to any of its variables.
    """
    edges = graph.edges
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
        raise OptionError(
            f"the effect of {cause} on {effect} cannot be estimated from these columns: a hidden cause may stand "
            f"behind both. Measure what {cause} and {effect} may share, or set {cause} in an experiment."
        )
    return None if isinstance(fixed, NoSet) else Regression(*pair, fixed, np.zeros(0, np.int64))


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

    def standard_deviation(self) -> float:
        mean = float(self.shares @ self.centers)
        return float(np.sqrt(self.shares @ (self.spreads**2 + (self.centers - mean) ** 2)))


def averaged_effect(
    graph: CausalGraph,
    cause: Hashable,
    effect: Hashable,
    confidence: Confidence,
    data: Any = None,
    kind: EffectKind = "total",
    adjustment: Adjustment = "optimal",
    level: float = 0.95,
) -> Effect:
    """The effect in this graph, with an interval and a probability over the graphs of a bootstrap.

    Every resample's graph gives an estimate with its standard error, a point at zero where it rules the effect out. The
    interval holds the middle of their mixture, so it knows two doubts: about the graph, and about the numbers.

    Parameters
    ----------
    graph, cause, effect, data, kind, adjustment, level
        As for :func:`precede.effects.linear.linear_effect`; the adjustment by a name, for each graph has its own sets.
    confidence : Confidence
        Of ``model.bootstrap``.
    """
    check_question(kind, adjustment, level)
    if not isinstance(confidence, Confidence):
        raise OptionError(f"confidence={confidence!r} cannot be used: give what model.bootstrap(data) returns.")
    if not isinstance(adjustment, str):
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
    i, j = positions_of(graph, cause, effect)
    sample = sample_for(graph, data)
    parts = []
    for found in confidence.graphs:
        member = found.graph
        if set(member.names) != set(graph.names):
            raise OptionError("the confidence is over other variables than the graph.")
        here = np.array([graph.position(name) for name in member.names], dtype=np.int64)
        if graph.lags is not None:
            member = replace(member, lags=tuple(graph.lags[k] for k in here))
        a, b = positions_of(member, cause, effect)
        regression = regression_for(member, a, b, kind, adjustment)
        if regression is None:
            parts.append((0.0, 0.0, 1.0, found.count))
            continue
        own = Regression(i, j, here[regression.fixed], here[regression.unset])
        parts.append((*own.coefficient(graph, sample), found.count))
    centers, spreads, freedoms, counts = (np.array(column, dtype=float) for column in zip(*parts, strict=True))
    mixture = Mixture(centers, spreads, freedoms, counts / counts.sum())
    interval = mixture.quantile((1 - level) / 2), mixture.quantile((1 + level) / 2)
    return replace(
        linear_effect(graph, cause, effect, sample, kind, adjustment, level),
        standard_error=mixture.standard_deviation(),
        interval=interval,
        probability=float(mixture.shares[spreads > 0].sum()),
    )
