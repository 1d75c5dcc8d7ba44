"""The effect over the graphs of a bootstrap, which knows two doubts: about the graph, and about the numbers."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from precede.arrays import FloatArray
from precede.effects.linear import (
    Adjustment,
    Compared,
    Contrast,
    Effect,
    EffectKind,
    Regression,
    check_question,
    linear_effect,
    positions_of,
    regression_for,
)
from precede.effects.possible import regressions_in_class
from precede.errors import OptionError
from precede.evidence.confidence import Confidence
from precede.evidence.sample import sample_for
from precede.graph import CausalGraph
from precede.lazy import special


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
    compared: Compared | None = None,
    outcome_level: Hashable = None,
) -> Effect:
    """The effect in this graph, with an interval and a probability over the graphs of a bootstrap.

    Every resample's graph gives an estimate with its standard error, a point at zero where it rules the effect out; a
    class of graphs gives one for each set of causes that the cause may have, and they share the weight of the resample.
    The interval holds the middle of their mixture, so it knows two doubts: about the graph, and about the numbers.

    Parameters
    ----------
    graph, cause, effect, data, kind, adjustment, level, compared, outcome_level
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
    asked = Contrast.of(graph, sample, (i, j), compared, outcome_level)
    slopes = asked.after - asked.before
    parts = []
    for found in confidence.graphs:
        member = found.graph
        if set(member.names) != set(graph.names):
            raise OptionError("the confidence is over other variables than the graph.")
        here = np.array([graph.position(name) for name in member.names], dtype=np.int64)
        if graph.lags is not None:
            member = replace(member, lags=tuple(graph.lags[k] for k in here))
        a, b = positions_of(member, cause, effect)
        if member.open_directions is None:
            regressions = [regression_for(member, a, b, kind, adjustment)]
        else:
            settings = sample.settings is not None
            regressions = regressions_in_class(member, member.pattern, (a, b), kind, adjustment, settings)
        share = found.count / len(regressions)
        for regression in regressions:
            if regression is None:
                parts.append((0.0, 0.0, 1.0, share))
                continue
            own = Regression(i, j, here[regression.fixed], here[regression.unset])
            fit = own.fit(graph, sample, asked.target)
            whole = np.append(slopes, np.zeros(len(fit.weights) - len(slopes)))
            parts.append((float(whole @ fit.weights), fit.standard_error(whole), fit.freedom, share))
    centers, spreads, freedoms, counts = (np.array(column, dtype=float) for column in zip(*parts, strict=True))
    mixture = Mixture(centers, spreads, freedoms, counts / counts.sum())
    interval = mixture.quantile((1 - level) / 2), mixture.quantile((1 + level) / 2)
    return replace(
        linear_effect(graph, cause, effect, sample, kind, adjustment, level, compared, outcome_level),
        standard_error=mixture.standard_deviation(),
        interval=interval,
        probability=float(mixture.shares[spreads > 0].sum()),
    )
