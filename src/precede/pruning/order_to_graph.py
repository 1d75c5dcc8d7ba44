"""From the order to the graph by the name of the pruning: what ``CORL(pruning=...)`` does after the search."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.data.load import Table
from precede.errors import OptionError
from precede.graph.dags import full_dag
from precede.kinds import ColumnKind, indicator_places
from precede.knowledge import Constraints
from precede.pruning.gam import prune_by_gam
from precede.pruning.weights import THRESHOLD, prune_by_bic, prune_by_weight, regression_weights
from precede.scores.covariance import moments_of, regularized
from precede.scores.policy_prior import likely_edges
from precede.scores.protocol import OrderScore

PruningName = Literal["auto", "threshold", "bic", "cam", "cam-f", "policy", "none"]


def order_to_graph(
    order: IntArray,
    table: Table,
    score: OrderScore,
    constraints: Constraints,
    *,
    pruning: PruningName = "auto",
    threshold: float = THRESHOLD,
    cutoff: float = 0.001,
    edge_probability: FloatArray | None = None,
) -> BoolArray:
    """Prune the densest graph along an order.

    Parameters
    ----------
    order : (n_variables,) int array
    table : Table
    score : OrderScore
        The one that the order maximizes; it says what "auto" is.
    constraints : Constraints
    pruning : str
        "auto" takes the graph of a score that has one, "bic" for linear scores and "cam" for the others.
    threshold : float
        Smallest absolute weight for "threshold".
    cutoff : float
        Largest p-value for "cam" and "cam-f".
    edge_probability : (n_variables, n_variables) array, optional
        For "policy": what a pretrained policy says of i -> j.

    Returns
    -------
    edges : (n_variables, n_variables) bool array
    """
    linear = score.assumes.linear
    own = score.graph(order) if pruning in ("auto", "none") else None
    if pruning == "auto":
        pruning = "none" if own is not None else "bic" if linear else "cam"
    moments = moments_of(table)
    matrix = regularized(moments.covariance)
    candidates = constraints.apply(full_dag(order))
    match pruning:
        case "threshold":
            return prune_by_weight(matrix, order, threshold, constraints)
        case "bic":
            return prune_by_bic(matrix, order, moments.n_samples, constraints)
        case "cam" | "cam-f":
            test: Literal["wood", "f"] = "wood" if pruning == "cam" else "f"
            return prune_by_gam(table.values, candidates, required=constraints.required, cutoff=cutoff, test=test).edges
        case "policy":
            if edge_probability is None:
                raise OptionError("pruning='policy' needs the edge probabilities of a pretrained policy.")
            return likely_edges(edge_probability, order, constraints)
        case "none":
            return candidates if own is None else own


def weigh(edges: BoolArray, order: IntArray, table: Table, score: OrderScore) -> FloatArray:
    """Weights of the edges of a graph that agrees with an order.

    Those of the linear regression on the parents, what :class:`LevelRegression` says about columns with levels, or
    strengths of the smooth terms.
    """
    if score.assumes.mechanism == "levels":
        return np.asarray(sum(part.weights() for part in _level_regressions(table, edges)))
    if score.assumes.linear:
        return regression_weights(regularized(moments_of(table).covariance), order, edges)
    return prune_by_gam(table.values, edges, required=edges, test="f").strengths


def effects_by_level(table: Table, edges: BoolArray) -> list[LevelEffects]:
    """Effects of and on each level of the categories."""
    return [effect for part in _level_regressions(table, edges) for effect in part.effects(table.names)]


def _level_regressions(table: Table, edges: BoolArray) -> list[LevelRegression]:
    """One regression, or with interventions one for the effects that share the rows in which they were not set."""
    if table.targets is None:
        return [LevelRegression(moments_of(table).covariance, table.kinds, edges)]
    settings, which = np.unique(table.targets, axis=1, return_inverse=True)
    parts = []
    for k in range(settings.shape[1]):
        matrix = moments_of(table.only(~settings[:, k])).covariance
        parts.append(LevelRegression(matrix, table.kinds, edges & (np.ravel(which) == k)))
    return parts


SMALLEST = 1e-9
"""Share of the largest eigenvalue below which a direction of the causes counts as none."""


@dataclass(frozen=True)
class LevelEffects:
    """Effects along an edge from or to a category.

    Parameters
    ----------
    cause, effect : str
    cause_levels, effect_levels : tuple of str
        Empty for a column that is not a category.
    effects : list of list of float
        ``effects[k][l]``: for level k of the cause, against its first (one row, per
        unit, for a cause that is not a category), what is added to the effect, or to the probability of its level l.
    """

    cause: str
    effect: str
    cause_levels: tuple[str, ...]
    effect_levels: tuple[str, ...]
    effects: list[list[float]]


class LevelRegression:
    r"""Each variable's block of columns regressed on those of its parents; categories are indicators.

    Parameters
    ----------
    covariance : (n_columns, n_columns) array
        Of the columns, categories as indicators.
    kinds : sequence of ColumnKind
    edges : (n_variables, n_variables) bool array

    Examples
    --------
    >>> from precede.data.load import Table
    >>> from precede.scores.covariance import moments_of
    >>> color = ColumnKind("categorical", (0.0, 1.0, 2.0), ("blue", "green", "red"))
    >>> values = np.array([[0.0, 1.0], [0.0, 3.0], [1.0, 6.0], [1.0, 8.0], [2.0, 2.0], [2.0, 2.0]])
    >>> table = Table(values, ("color", "size"), True, kinds=(color, ColumnKind("number")))
    >>> found = LevelRegression(moments_of(table).covariance, table.kinds, np.array([[False, True], [False, False]]))
    >>> found.effects(["color", "size"])[0].effects
    [[0.0], [5.0], [0.0]]
    """

    def __init__(self, covariance: FloatArray, kinds: Sequence[ColumnKind], edges: BoolArray) -> None:
        self._places = [np.arange(block.start, block.stop) for block in indicator_places(kinds)]
        self.kinds, self.edges = kinds, edges
        self._covariance = covariance
        self._coefficients: dict[tuple[int, int], FloatArray] = {}
        for j in np.flatnonzero(edges.any(axis=0)).tolist():
            parents = np.flatnonzero(edges[:, j]).tolist()
            ends = np.cumsum([len(self._places[p]) for p in parents])
            blocks = np.split(self._regress(parents, j)[0], ends[:-1])
            self._coefficients.update({(p, j): block for p, block in zip(parents, blocks, strict=True)})

    def _regress(self, parents: Sequence[int], target: int) -> tuple[FloatArray, FloatArray]:
        """Coefficients (columns of the parents, columns of the target), and the covariance that is left."""
        here, there = np.concatenate([np.zeros(0, np.int64), *(self._places[p] for p in parents)]), self._places[target]
        cross = self._covariance[np.ix_(here, there)]
        spread = np.sqrt(np.maximum(np.diag(self._covariance)[here], np.finfo(float).tiny))
        scaled = self._covariance[np.ix_(here, here)] / np.outer(spread, spread)
        weights = np.linalg.pinv(scaled, rcond=SMALLEST, hermitian=True) @ (cross / spread[:, None]) / spread[:, None]
        return weights, self._covariance[np.ix_(there, there)] - cross.T @ weights

    def weights(self) -> FloatArray:
        r"""One number for each edge, (n_variables, n_variables).

        The coefficient where cause and effect are one column each (numbers, counts, ordinal and 0/1 columns: for a 0/1
        effect the difference in probability). Else the strength :math:`\sqrt{1 - (|S_{j|P}| / |S_{j|P \setminus
        i}|)^{1/b_j}}`, between 0 and 1: for a number the share of its standard deviation, given the other causes,
        that the category explains.
        """
        result = np.zeros(self.edges.shape)
        for i, j in np.argwhere(self.edges).tolist():
            block = self._coefficients[i, j]
            result[i, j] = block[0, 0] if block.size == 1 else self._strength(i, j)
        return result

    def _strength(self, cause: int, effect: int) -> float:
        parents = np.flatnonzero(self.edges[:, effect]).tolist()
        left = self._regress(parents, effect)[1]
        without = self._regress([p for p in parents if p != cause], effect)[1]
        values = np.linalg.eigvals(np.linalg.pinv(without, rcond=SMALLEST, hermitian=True) @ left).real
        ratio = np.clip(values, SMALLEST, 1.0).prod() ** (1 / len(values))
        return float(np.sqrt(max(0.0, 1 - ratio)))

    def effects(self, names: Sequence[Hashable]) -> list[LevelEffects]:
        """Effects by level for every edge from or to a category."""
        found = []
        for i, j in np.argwhere(self.edges).tolist():
            cause, effect = self.kinds[i], self.kinds[j]
            if "categorical" not in (cause.name, effect.name):
                continue
            block = self._coefficients[i, j]
            if effect.name == "categorical":
                block = np.column_stack([-block.sum(axis=1), block])  # the first level's indicator is left out
            if cause.name == "categorical":
                block = np.vstack([np.zeros(block.shape[1]), block])
            found.append(
                LevelEffects(
                    str(names[i]),
                    str(names[j]),
                    tuple(cause.labels) if cause.name == "categorical" else (),
                    tuple(effect.labels) if effect.name == "categorical" else (),
                    (np.round(block, 12) + 0.0).tolist(),
                )
            )
        return found
