"""From an order to a linear graph: regress on the predecessors, drop what is too small."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.graph.dags import full_dag
from precede.knowledge import Constraints
from precede.lazy import linalg

THRESHOLD = 0.3
"""Section 5.1 of the paper."""


def regression_weights(covariance: FloatArray, order: IntArray) -> FloatArray:
    r"""Weights of each variable's regression on all its predecessors, from one Cholesky factor.

    With :math:`S_{PP} = U D U^T`, U unit lower triangular, the weights on the predecessors are
    :math:`I - U^{-1}`.

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
    factor = np.linalg.cholesky(covariance[np.ix_(order, order)])
    unit = factor / np.diag(factor)
    inverse = linalg.solve_triangular(unit, np.eye(len(order)), lower=True, unit_diagonal=True)
    weights = np.zeros_like(covariance)
    weights[np.ix_(order, order)] = (np.eye(len(order)) - inverse).T  # transposed: rows of the inverse are effects
    return weights


def regression_on(covariance: FloatArray, edges: BoolArray, order: IntArray) -> FloatArray:
    """Weights of each variable's regression on its parents in a given graph that agrees with the order."""
    weights = np.zeros_like(covariance)
    for j in range(len(covariance)):
        parents = order[edges[order, j]]
        if len(parents):
            weights[parents, j] = _regress(covariance, parents, j)[0]
    return weights


class _Regression(NamedTuple):
    """Weights, residual variance, and the diagonal of the parents' inverse covariance."""

    weights: FloatArray
    residual: float
    inverse_diagonal: FloatArray


def _regress(covariance: FloatArray, parents: IntArray, target: int) -> _Regression:
    """Regress a variable on its parents.

    The parents come in causal order: then the factor stays accurate even where later variables have variances
    many orders of magnitude above the noise, and normal equations would lose the residual to rounding.
    """
    chosen = np.append(parents, target)
    factor = np.linalg.cholesky(covariance[np.ix_(chosen, chosen)])
    inverse = linalg.solve_triangular(factor[:-1, :-1], np.eye(len(parents)), lower=True)
    return _Regression(inverse.T @ factor[-1, :-1], float(factor[-1, -1] ** 2), (inverse**2).sum(axis=0))


def _regress_each(covariance: FloatArray, order: IntArray) -> Iterator[_Regression]:
    """Regress each variable on all before it, in causal order: all of them from one factor and its inverse."""
    factor = np.linalg.cholesky(covariance[np.ix_(order, order)])
    inverse = linalg.solve_triangular(factor, np.eye(len(order)), lower=True)
    squares = (inverse**2).cumsum(axis=0)
    for t in range(len(order)):
        diagonal = squares[t - 1, :t] if t else np.empty(0)
        yield _Regression(inverse[:t, :t].T @ factor[t, :t], float(factor[t, t] ** 2), diagonal)


def prune_by_weight(
    covariance: FloatArray,
    order: IntArray,
    threshold: float = THRESHOLD,
    constraints: Constraints | None = None,
) -> BoolArray:
    """Keep an edge when its weight in the regression on all predecessors is large enough (Section 4.3).

    Forbidden predecessors are left out of the regression; required edges are always kept.

    Returns
    -------
    adjacency : (n_variables, n_variables) bool array
    """
    constraints = constraints or Constraints.none(len(order))
    candidates = full_dag(order)
    if (candidates & ~constraints.allowed).any():
        weights = regression_on(covariance, candidates & constraints.allowed, order)
    else:
        weights = regression_weights(covariance, order)
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
    before = full_dag(order)
    candidates = constraints.apply(before)
    edges = np.zeros((d, d), dtype=bool)
    for j, on_all in zip(order, _regress_each(covariance, order), strict=True):
        parents = order[candidates[order, j]]
        first = on_all if (candidates[:, j] == before[:, j]).all() else None
        kept = _eliminate(covariance, parents, j, constraints.required[parents, j], n_samples, price, first)
        edges[kept, j] = True
    return edges


def _eliminate(
    covariance: FloatArray,
    parents: IntArray,
    target: int,
    required: BoolArray,
    n_samples: int,
    price: float,
    first: _Regression | None,
) -> IntArray:
    """Backward elimination of one variable's parents; the hopeless go in one step, then one by one.

    ``first`` is the regression on all of them, where it is known.
    """
    hopeless = price / 2
    while len(parents):
        weights, residual, inverse_diagonal = first or _regress(covariance, parents, target)
        first = None
        cost = n_samples / 2 * np.log1p(weights**2 / (residual * inverse_diagonal))
        cost[required] = np.inf
        keep = cost >= hopeless
        if keep.all():
            if cost.min() >= price:
                return parents
            hopeless = 0.0  # from here on only the cheapest goes
            keep = cost > cost.min()
        parents, required = parents[keep], required[keep]
    return parents
