"""The one regression behind every effect: which columns, which rows, and errors that hold for noise of uneven size."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from precede.arrays import FloatArray, IntArray
from precede.errors import GraphError, OptionError, listed
from precede.graph import CausalGraph, MixedGraph
from precede.graph.adjustment import causal_nodes, is_adjustment_set, minimal_adjustments, optimal_adjustment
from precede.graph.dags import ancestors
from precede.graph.pag_adjustment import NoSet, adjustment_in_pag, possibly_confounded
from precede.graph.parts import Sample
from precede.lazy import special
from precede.scores.covariance import covariance, regularized

if TYPE_CHECKING:
    from precede.effects.linear import Question

HIDDEN_SHARE = 0.3
"""Share of what is left of both that a hidden cause of them is taken to explain at most, where one is not ruled out."""

EffectKind = Literal["total", "direct"]
AdjustmentName = Literal["optimal", "minimal", "parents"]
Adjustment = AdjustmentName | Sequence[Hashable]

FEW_ROWS, CLEAR_BEND = 20.0, 0.001
"""Rows that are few to decide an average slope, and the p-value from which an effect clearly bends."""


@dataclass(frozen=True, eq=False)
class LeastSquares:
    r"""A target regressed on columns, from moments, or from rows.

    Parameters
    ----------
    weights : (n_columns,) float array
    freedom : int
        Degrees of freedom.
    n_rows : int
    mean : (n_columns,) float array
        Of the columns.
    goal : float
        Mean of the target.
    inverse, spread : (n_columns, n_columns) float arrays
        Inverse and covariance of the columns.
    residual : float
        Variance that is left of the target.
    rows : (n_rows, n_columns) float array, optional
        Centered; all, or some of them.
    left : (n_rows,) float array, optional
        Residuals of the rows.
    errors : (n_rows,) float array, optional
        The same, each divided by one less its leverage.
    """

    weights: FloatArray
    freedom: int
    n_rows: int
    mean: FloatArray
    goal: float
    inverse: FloatArray
    spread: FloatArray
    residual: float
    rows: FloatArray | None = None
    left: FloatArray | None = None
    errors: FloatArray | None = None

    @classmethod
    def of(
        cls, moments: Sample, columns: IntArray, target: FloatArray, n_rows: int, rows: FloatArray | None = None
    ) -> LeastSquares:
        """From moments; the target is a sum of their columns, with these weights.

        With rows (all, or some of them) the errors are HC3's (MacKinnon and White 1985).

        Examples
        --------
        >>> x, noise = np.arange(6.0), np.array([0.1, -0.2, 0.1, 0.1, -0.2, 0.1])
        >>> rows = np.column_stack([x, 2 * x + noise])
        >>> moments = Sample(6, rows.mean(axis=0), np.cov(rows.T, bias=True))
        >>> found = LeastSquares.of(moments, np.array([0]), np.array([0.0, 1.0]), 6, rows)
        >>> found.weights.round(2), round(found.standard_error(np.ones(1)), 4)
        (array([2.]), 0.0548)
        """
        matrix, mean, goal = moments.covariance, moments.mean[columns], float(moments.mean @ target)
        spread = regularized(matrix[np.ix_(columns, columns)])
        inverse = np.asarray(np.linalg.inv(spread), dtype=np.float64)
        cross = matrix[columns] @ target
        weights = inverse @ cross
        residual = max(float(target @ matrix @ target - cross @ weights), 0.0)
        own = left = errors = None
        if rows is not None:
            own = rows[:, columns] - mean
            leverage = (1 + np.einsum("ij,ij->i", own @ inverse, own)) / n_rows
            left = (rows - moments.mean) @ target - own @ weights
            errors = left / np.maximum(1 - leverage, 1e-3)
        return cls(weights, n_rows - len(columns) - 1, n_rows, mean, goal, inverse, spread, residual, own, left, errors)

    def hidden_bias(self, slopes: FloatArray) -> float:
        r"""By how much ``slopes @ weights`` may be wrong if a common cause is hidden, unless that is strong.

        .. math:: \sqrt{R^2 \cdot R^2 / (1 - R^2)} \; \mathrm{sd}(y) / \mathrm{sd}(x)

        where it explains the share R² of what the other columns leave of cause and effect, x and y (Cinelli and Hazlett
        2020, Section 4.1).
        """
        return float(HIDDEN_SHARE * np.sqrt(self.residual * (slopes @ self.inverse @ slopes) / (1 - HIDDEN_SHARE)))

    def standard_error(self, slopes: FloatArray, mean: float = 0.0, shift: FloatArray | None = None) -> float:
        """Of ``slopes @ weights + mean * (mean of the noise) + shift @ (means of the columns)``."""
        shift = np.zeros(len(slopes)) if shift is None else shift
        pulls = self._pulls(slopes, mean)
        if pulls is None or self.rows is None:
            noise = self.residual * (mean**2 + slopes @ self.inverse @ slopes) / self.freedom
            return float(np.sqrt(noise + shift @ self.spread @ shift / self.n_rows))
        return float(np.sqrt(np.mean((pulls + self.rows @ shift) ** 2) / self.n_rows))

    def _pulls(self, slopes: FloatArray, mean: float = 0.0) -> FloatArray | None:
        """What each row pulls an estimate by, times the number of rows."""
        if self.rows is None or self.errors is None:
            return None
        return np.asarray(self.errors * (mean + self.rows @ (self.inverse @ slopes)))

    def deciding_rows(self, slopes: FloatArray) -> float:
        r"""How many rows decide ``slopes @ weights``: :math:`(\sum p^2)^2 / \sum p^4` with p what each pulls it by.

        The standard error is known no better than from so many.
        """
        pulls = self._pulls(slopes)
        if pulls is None or not pulls.any():
            return float(self.freedom + 1)
        square = (pulls / np.abs(pulls).max()) ** 2
        return float(square.sum() ** 2 / (square**2).sum() * self.n_rows / len(pulls))

    def interval(self, slopes: FloatArray, level: float) -> tuple[float, float]:
        """Student's for ``slopes @ weights``, by as many degrees of freedom as rows decide, less one.

        An average slope that few rows decide may be another in the next rows, where the effect bends: then the interval
        also holds the slopes where the cause is low and where it is high, with their errors.
        """
        value = float(slopes @ self.weights)
        reach = float(special.stdtrit(self.freedom_of(slopes), (1 + level) / 2)) * self.standard_error(slopes)
        ends = [value - reach, value + reach]
        bent = self.in_two_pieces() if self.deciding_rows(slopes) < FEW_ROWS and not slopes[1:].any() else None
        if bent is not None:
            for piece in np.eye(2, len(bent.weights)) * slopes[0]:
                reach = float(special.stdtrit(bent.freedom_of(piece), (1 + level) / 2)) * bent.standard_error(piece)
                ends += [piece @ bent.weights - reach, piece @ bent.weights + reach]
        return float(min(ends)), float(max(ends))

    def freedom_of(self, slopes: FloatArray) -> float:
        """Degrees of freedom of the standard error of ``slopes @ weights``."""
        return max(min(self.freedom, self.deciding_rows(slopes) - 1), 1.0)

    def in_two_pieces(self) -> LeastSquares | None:
        """The regression on lines that bend at the median of each column; None where that explains hardly more.

        The first two weights are the first column's slopes above its median and below it.
        """
        if self.rows is None or self.left is None or self.freedom <= self.rows.shape[1]:
            return None
        above = np.maximum(self.rows - np.median(self.rows, axis=0), 0.0)
        first = above[:, :1]
        rows = np.hstack([first, self.rows[:, :1] - first, self.rows[:, 1:], above[:, 1:],
                          (self.left + self.rows @ self.weights)[:, None]])  # fmt: skip
        width = rows.shape[1] - 1
        moments = Sample(self.n_rows, rows.mean(axis=0), covariance(rows))
        found = LeastSquares.of(moments, np.arange(width), np.eye(width + 1)[-1], self.n_rows, rows)
        bends = width // 2
        gain = max(float(self.left.var()) - found.residual, 0.0) / bends / max(found.residual / found.freedom, 1e-300)
        return found if float(special.fdtrc(bends, found.freedom, gain)) < CLEAR_BEND else None


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
    confounded : bool
        Whether a cause of both may be hidden.
    """

    cause: int
    effect: int
    fixed: IntArray
    unset: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    confounded: bool = False

    @property
    def columns(self) -> list[int]:
        """All variables that it speaks of."""
        return [self.cause, self.effect, *self.fixed.tolist()]

    def fit(self, graph: CausalGraph, sample: Sample, target: FloatArray) -> LeastSquares:
        """The regression, the cause's columns first.

        Its errors hold for noise of uneven size and for 0/1 outcomes wherever the rows are known and nothing was set.
        Where cells are missing, the moments come from all that is there, and are at least as good as those of the rows
        in which every variable of the regression is: the error is that of so many rows, each as large as the filled
        rows are on average, which is on the safe side.
        """
        columns = sample.columns_of([self.cause, *self.fixed.tolist()])
        own = sample.where_unset(self.unset)
        n_rows = own.rows_with(self.columns)
        if n_rows - len(columns) - 1 < 1:
            raise OptionError(self._too_few(graph, n_rows, sample))
        rows = own.design if own.settings is None else None
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


def regression_for(asked: Question, graph: CausalGraph, together: Sequence[int] = ()) -> Regression | None:
    """The regression that tells an effect in a graph over the columns of the one asked; None where it rules it out.

    With interventions, not every row tells it. The regression on an effect's parents holds wherever the effect was not
    set, that on the optimal set wherever nothing on a causal path was: there it is a sum of structural equations, and
    how the rest came about does not matter. Other sets only stand in for what they hide, so that the regression on
    them holds where nothing was set that leads to any of its variables.
    """
    (i, j), edges = asked.pair, graph.edges
    if together:
        return _joint_regression(asked, graph, [i, *together])
    if graph.pag is not None:
        return _where_causes_may_hide(asked, graph.pag)
    if asked.kind == "direct":
        others = edges[:, j].copy()
        others[i] = False
        return Regression(i, j, np.flatnonzero(others), np.array([j])) if edges[i, j] else None
    best = optimal_adjustment(edges, i, j)
    if best is None:
        return None
    fixed = best if asked.adjustment == "optimal" else _chosen_set(graph, i, j, asked.adjustment)
    if set(fixed.tolist()) == set(best.tolist()):
        return Regression(i, j, fixed, np.flatnonzero(causal_nodes(edges, i, j)))
    leading = (ancestors(edges) | np.eye(len(edges), dtype=bool))[:, [i, j, *fixed.tolist()]].any(axis=1)
    return Regression(i, j, fixed, np.flatnonzero(leading))


def _joint_regression(asked: Question, graph: CausalGraph, causes: list[int]) -> Regression | None:
    """The same for the first of several causes that are set at once."""
    j, edges = asked.pair[1], graph.edges
    if asked.kind == "direct" or asked.adjustment != "optimal" or graph.pag is not None:
        raise OptionError(
            "together=... asks for a total effect with adjustment='optimal', in a graph without hidden causes."
        )
    if j in causes:
        raise OptionError(f"{graph.names[j]!r} is both set and looked at: name other variables.")
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


def _where_causes_may_hide(asked: Question, pag: MixedGraph) -> Regression | None:
    """The same by the PAG; refused where no set of columns tells the effect."""
    pair, names = asked.pair, asked.graph.names
    cause, effect = (names[k] for k in pair)
    if asked.kind == "direct" or asked.adjustment != "optimal":
        raise OptionError(
            f"where causes may be hidden, only the total effect of {cause} on {effect} can be asked for, with "
            "adjustment='optimal'."
        )
    fixed = adjustment_in_pag(pag.ends, *pair)
    if fixed is NoSet.NOT_IDENTIFIED:
        behind = [names[k] for k in possibly_confounded(pag.ends, *pair)]
        raise OptionError(no_set_will_do(cause, effect, behind))
    return None if isinstance(fixed, NoSet) else Regression(*pair, fixed)


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
