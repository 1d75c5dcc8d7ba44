"""From an order to a linear graph: regress on the predecessors, drop what is too small."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.graph.dags import full_dag
from precede.knowledge import Constraints
from precede.lazy import linalg
from precede.pruning.backward import ParentRegression, eliminate, regress_on

THRESHOLD = 0.3
"""Section 5.1 of the paper."""


def regression_weights(covariance: FloatArray, order: IntArray, edges: BoolArray | None = None) -> FloatArray:
    r"""Weights of each variable's regression on its parents.

    On all predecessors they come from one Cholesky factor: with :math:`S_{PP} = U D U^T`, U unit lower triangular, they
    are :math:`I - U^{-1}`.

    Parameters
    ----------
    covariance : (n_variables, n_variables) array
    order : (n_variables,) int array
        Causes first: parents are taken in this sequence, which keeps the regressions accurate.
    edges : (n_variables, n_variables) bool array, optional
        ``[i, j]`` means that i is a parent of j; without it, all predecessors are. The graph may be cyclic.

    Returns
    -------
    weights : (n_variables, n_variables) array
        ``[i, j]`` is the weight of i in the regression of j.

    Examples
    --------
    >>> regression_weights(np.array([[1.0, 2.0], [2.0, 5.0]]), np.array([0, 1]))
    array([[0., 2.],
           [0., 0.]])
    """
    weights = np.zeros_like(covariance)
    if edges is not None and (edges != full_dag(order)).any():
        for j in np.flatnonzero(edges.any(axis=0)):
            parents = order[edges[order, j]]
            weights[parents, j] = regress_on(covariance, parents, int(j)).weights
        return weights
    factor = np.linalg.cholesky(covariance[np.ix_(order, order)])
    unit = factor / np.diag(factor)
    inverse = linalg.solve_triangular(unit, np.eye(len(order)), lower=True, unit_diagonal=True)
    weights[np.ix_(order, order)] = (np.eye(len(order)) - inverse).T  # transposed: rows of the inverse are effects
    return weights


def _regress_each(covariance: FloatArray, order: IntArray) -> Iterator[ParentRegression]:
    """Regress each variable on all before it, in causal order: all of them from one factor and its inverse.

    Their inverse covariance is a view, right until the next one is asked for.
    """
    factor = np.linalg.cholesky(covariance[np.ix_(order, order)])
    rows = linalg.solve_triangular(factor, np.eye(len(order)), lower=True)
    inverse = np.zeros_like(rows)
    for t in range(len(order)):
        yield ParentRegression(rows[:t, :t].T @ factor[t, :t], float(factor[t, t] ** 2), inverse[:t, :t])
        row = rows[t, : t + 1]
        inverse[: t + 1, : t + 1] += row[:, None] * row


def prune_by_weight(
    covariance: FloatArray,
    order: IntArray,
    threshold: float = THRESHOLD,
    constraints: Constraints | None = None,
    *,
    candidates: BoolArray | None = None,
    standardized: bool = False,
) -> BoolArray:
    """Keep an edge when its weight in the regression on all candidates is large enough (Section 4.3).

    Parameters
    ----------
    covariance : (n_variables, n_variables) array
    order : (n_variables,) int array
    threshold : float
    constraints : Constraints, optional
        Forbidden candidates are left out of the regression; required edges are always kept.
    candidates : (n_variables, n_variables) bool array, optional
        ``[i, j]`` means i -> j, in agreement with the order; all predecessors when left out.
    standardized : bool
        The threshold is for the weights between standardized columns.

    Returns
    -------
    adjacency : (n_variables, n_variables) bool array
    """
    constraints = constraints or Constraints.none(len(order))
    candidates = constraints.apply(full_dag(order) if candidates is None else candidates)
    scale = np.sqrt(np.diag(covariance)) if standardized else np.ones(len(covariance))
    weights = regression_weights(covariance, order, candidates) * scale[:, None] / scale
    return constraints.apply(candidates & (np.abs(weights) >= threshold))


def prune_by_bic(
    covariance: FloatArray,
    order: IntArray,
    n_samples: int,
    constraints: Constraints | None = None,
    *,
    extended: float = 1.0,
) -> BoolArray:
    r"""Keep the predecessors that the extended BIC keeps, by backward elimination; does not depend on the scale.

    Dropping parent i from the regression of j costs
    :math:`\frac m2 \log(1 + w_{ij}^2 / (\sigma_j^2 [S_{UU}^{-1}]_{ii}))` of likelihood; it is dropped while
    the cheapest costs less than :math:`\frac12 \log m + \gamma \log d`.

    Parameters
    ----------
    covariance : (n_variables, n_variables) array
    order : (n_variables,) int array
    n_samples : int
    constraints : Constraints, optional
    extended : float
        :math:`\gamma`; 0 is the plain BIC, which keeps about 20 false edges at 100 variables.

    Returns
    -------
    adjacency : (n_variables, n_variables) bool array
    """
    d = len(order)
    constraints = constraints or Constraints.none(d)
    price = math.log(n_samples) / 2 + extended * math.log(d)
    limit = math.expm1(2 * price / n_samples)
    before = full_dag(order)
    candidates = constraints.apply(before)
    edges = np.zeros((d, d), dtype=bool)
    for j, on_all in zip(order, _regress_each(covariance, order), strict=True):
        parents = order[candidates[order, j]]
        first = on_all if (candidates[:, j] == before[:, j]).all() else None
        kept = eliminate(covariance, parents, j, constraints.required[parents, j], limit, first)
        edges[kept, j] = True
    return edges
