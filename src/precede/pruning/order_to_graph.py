"""From the order to the graph by the name of the pruning: what ``CORL(pruning=...)`` does after the search."""

from __future__ import annotations

from typing import Literal

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.data.load import Table
from precede.errors import OptionError
from precede.graph.dags import full_dag
from precede.knowledge import Constraints
from precede.pruning.gam import prune_by_gam
from precede.pruning.levels import LevelEffects, LevelRegression
from precede.pruning.weights import prune_by_bic, prune_by_weight, regression_weights
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
    pruning: PruningName,
    threshold: float,
    cutoff: float,
    edge_probability: FloatArray | None = None,
) -> tuple[BoolArray, FloatArray]:
    """Prune the densest graph along an order, and weigh the edges that are left.

    Parameters
    ----------
    order : (n_variables,) int array
    table : Table
    score : OrderScore
        The one that the order maximizes; it says what "auto" is, and whether weights are linear.
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
    weights : (n_variables, n_variables) array
        Of the linear regression on the parents, strengths of the smooth terms, or what
        :class:`precede.pruning.levels.LevelRegression` says about columns with levels.
    """
    check_pruning(pruning, score)
    linear = score.assumes.linear
    own = score.graph(order) if pruning in ("auto", "none") else None
    if pruning == "auto":
        pruning = "none" if own is not None else "bic" if linear else "cam"
    moments = moments_of(table)
    matrix = regularized(moments.covariance)
    candidates = constraints.apply(full_dag(order))
    match pruning:
        case "threshold":
            edges = prune_by_weight(matrix, order, threshold, constraints)
        case "bic":
            edges = prune_by_bic(matrix, order, moments.n_samples, constraints)
        case "cam" | "cam-f":
            test: Literal["wood", "f"] = "wood" if pruning == "cam" else "f"
            edges = prune_by_gam(
                table.values, candidates, required=constraints.required, cutoff=cutoff, test=test
            ).edges
        case "policy":
            if edge_probability is None:
                raise OptionError("pruning='policy' needs the edge probabilities of a pretrained policy.")
            edges = likely_edges(edge_probability, order, constraints)
        case "none":
            edges = candidates if own is None else own
    return edges, weigh(edges, order, table, score)


def check_pruning(pruning: PruningName, score: OrderScore) -> None:
    """Refuse a pruning that does not go with a score."""
    if score.assumes.mechanism == "levels" and pruning not in ("auto", "none"):
        raise OptionError(
            f"pruning={pruning!r} cannot be used with score={score.name!r}, whose sets are the graph: use 'auto'."
        )


def weigh(edges: BoolArray, order: IntArray, table: Table, score: OrderScore) -> FloatArray:
    """Weights of the edges of a graph that agrees with an order: linear ones, by level, or strengths of curves."""
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
