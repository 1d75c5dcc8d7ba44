"""From a causal order to a linear graph: the last step of every method here that finds an order first."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from sklearn.linear_model import lars_path_gram

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.data.load import Table
from precede.estimator import Findings
from precede.graph.dags import full_dag
from precede.knowledge import Constraints
from precede.pruning.weights import prune_by_bic, prune_by_weight, regression_weights
from precede.runtime.deadline import Deadline
from precede.runtime.progress import ProgressBar
from precede.scores.covariance import covariance, regularized
from precede.strict_json import JsonObject

OrderPruning = Literal["threshold", "bic", "lasso", "none"]


def findings_from_order(
    table: Table,
    order: IntArray,
    pruning: OrderPruning,
    threshold: float,
    constraints: Constraints,
    deadline: Deadline,
    *,
    verbose: bool,
    diagnostics: JsonObject,
) -> Findings:
    r"""Prune the full DAG of an order and estimate the weights of what is left by least squares.

    Parameters
    ----------
    table : Table
    order : (n_variables,) int array
        Causes first; must keep the precedences of ``constraints``.
    pruning : {"threshold", "bic", "lasso", "none"}
        Regress on all predecessors and drop :math:`|w| <` ``threshold`` (Section 5.1 of the CORL paper); drop what
        the extended BIC drops; adaptive lasso by BIC (:func:`adaptive_lasso`); or keep every predecessor.
    threshold : float
        For ``pruning="threshold"``, in the units of the data; the others do not depend on them.
    constraints : Constraints
        Forbidden predecessors are left out, required edges kept.
    deadline : Deadline
    verbose : bool
    diagnostics : dict
        Passed on to the findings.
    """
    moments = regularized(covariance(table.values))
    match pruning:
        case "threshold":
            edges = prune_by_weight(moments, order, threshold, constraints)
        case "bic":
            edges = prune_by_bic(moments, order, table.n_samples, constraints)
        case "lasso":
            edges = prune_by_lasso(moments, order, table.n_samples, constraints, deadline, verbose=verbose)
        case "none":
            edges = constraints.apply(full_dag(order))
    weights = regression_weights(moments, order, edges)
    return Findings(edges, order, weights, diagnostics=diagnostics)


def prune_by_lasso(
    moments: FloatArray,
    order: IntArray,
    n_samples: int,
    constraints: Constraints,
    deadline: Deadline,
    *,
    verbose: bool,
) -> BoolArray:
    """Keep the predecessors that the adaptive lasso keeps; after the deadline, those that the BIC keeps."""
    candidates = full_dag(order) & constraints.allowed
    edges = prune_by_bic(moments, order, n_samples, constraints)
    with ProgressBar("Lasso", len(order), verbose) as bar:
        for done, j in enumerate(order):
            if deadline.passed():
                break
            parents = order[candidates[order, j]]
            edges[:, j] = False
            edges[parents[adaptive_lasso(moments, parents, int(j), n_samples) != 0], j] = True
            bar.update(done + 1)
    return constraints.apply(edges)


def adaptive_lasso(moments: FloatArray, parents: IntArray, target: int, n_samples: int) -> FloatArray:
    r"""Adaptive lasso of one variable on its possible parents, its penalty chosen by BIC.

    .. math:: \min_w \tfrac12 w^T G w - c^T w + \lambda \sum_i |w_i| / |\hat w_i|,

    :math:`\hat w` the least-squares weights (Zou 2006), solved as a plain lasso path in :math:`w_i / |\hat w_i|`. Along
    the path, :math:`\mathrm{RSS} / \hat\sigma^2 + \log(m) |\{w \ne 0\}|` is smallest. This is the pruning of the
    ``lingam`` package and of sort-and-regress (Reisach et al. 2021).

    Parameters
    ----------
    moments : (n_variables, n_variables) float array
        Covariance.
    parents : (n_parents,) int array
    target : int
    n_samples : int

    Returns
    -------
    weights : (n_parents,) float array

    Examples
    --------
    >>> moments = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 0.001], [2.0, 0.001, 5.0]])
    >>> adaptive_lasso(moments, np.array([0, 1]), 2, 1000) != 0
    array([ True, False])
    """
    p = len(parents)
    if p == 0:
        return np.zeros(0)
    scale = np.sqrt(np.diag(moments))  # the solver has floors of its own, so it is given correlations
    moments = moments / np.outer(scale, scale)
    gram, cross, power = moments[np.ix_(parents, parents)], moments[parents, target], float(moments[target, target])
    ordinary = np.linalg.solve(gram, cross)
    size = np.abs(ordinary)
    _, _, path = lars_path_gram(
        size * cross, size[:, None] * gram * size, n_samples=n_samples, method="lasso", copy_X=False, copy_Gram=False
    )
    weights = path * size[:, None]  # shape: (n_parents, n_knots)
    residual = power - 2 * cross @ weights + (weights * (gram @ weights)).sum(axis=0)
    noise = (power - cross @ ordinary) * n_samples / max(n_samples - p - 1, 1)
    criterion = n_samples * residual / noise + math.log(n_samples) * (weights != 0).sum(axis=0)
    best: FloatArray = weights[:, int(criterion.argmin())] * scale[target] / scale[parents]
    return best
