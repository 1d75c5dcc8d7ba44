"""Linear pruning: by the size of a weight, and by BIC, one edge at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import repeat
from typing import NamedTuple

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.graph.dags import full_dag
from precede.knowledge import Constraints
from precede.lazy import linalg
from precede.ties import TOLERANCE

BLOCK = 64
"""Regressors that go before the whole matrix is brought up to date, by one product of matrices."""

WORTH_KEEPING = 0.8
"""Share of rows and columns still in use below which the others are taken out."""

CANCELED = 1e-4
"""Share of an inverse's diagonal entry below which too many of its digits are gone, and it is computed anew."""


class ParentRegression(NamedTuple):
    """Weights, residual variance, and the inverse covariance of the regressors."""

    weights: FloatArray
    residual: float
    inverse: FloatArray


def regress_on(covariance: FloatArray, parents: IntArray, target: int) -> ParentRegression:
    """Regress a variable on its parents.

    The parents come in causal order: then the factor stays accurate even where later variables have variances
    many orders of magnitude above the noise, and normal equations would lose the residual to rounding.
    """
    chosen = np.append(parents, target)
    factor = np.linalg.cholesky(covariance[np.ix_(chosen, chosen)])
    inverse = linalg.solve_triangular(factor[:-1, :-1], np.eye(len(parents)), lower=True)
    return ParentRegression(inverse.T @ factor[-1, :-1], float(factor[-1, -1] ** 2), inverse.T @ inverse)


def eliminate(
    covariance: FloatArray,
    parents: IntArray,
    target: int,
    required: BoolArray,
    limit: float,
    on_all: ParentRegression | None = None,
) -> IntArray:
    r"""The parents that are left when the cheapest has gone as long as it costs less than a limit.

    Without parent i the residual variance is larger by the share :math:`w_i^2 / (\sigma^2 [S_{UU}^{-1}]_{ii})`, with
    all others there. Each of two that stand in for one another is cheap while the other is there, so only one
    goes at a time. Of equally cheap ones the first goes.

    Parameters
    ----------
    covariance : (n_variables, n_variables) array
    parents : (n_parents,) int array
        In causal order.
    target : int
    required : (n_parents,) bool array
        Parents that never go.
    limit : float
        Of the share.
    on_all : ParentRegression, optional
        On all parents, where it is known.

    Examples
    --------
    >>> covariance = np.array([[1.0, 0.99, 0.5], [0.99, 1.0, 0.5], [0.5, 0.5, 1.0]])
    >>> eliminate(covariance, np.array([0, 1]), 2, np.zeros(2, dtype=bool), 0.1)  # one of the two says it all
    array([1])
    """
    while len(parents):
        stay = _stay(on_all or regress_on(covariance, parents, target), required, limit)
        if stay.all():
            break
        parents, required, on_all = parents[stay], required[stay], None
    return parents


def _stay(regression: ParentRegression, required: BoolArray, limit: float) -> BoolArray:
    r"""Which are left once the cheapest have gone one by one, as far as the inverse stays accurate.

    When i goes, :math:`P - p_i p_i^T / P_{ii}` is the inverse for the others, and the weights change by
    :math:`-p_i w_i / P_{ii}`. In the units taken here the first inverse has ones on its diagonal and the first residual
    variance is one.
    """
    scale = np.sqrt(regression.inverse.diagonal())
    inverse = (regression.inverse / scale / scale[:, None]).T  # symmetric; columns lie together, as BLAS has them
    weights = regression.weights / (scale * math.sqrt(regression.residual))
    weights[required] = np.inf  # so is their price, and nothing else depends on it
    diagonal, residual = np.ones(len(scale)), 1.0
    places = np.arange(len(scale))
    stay = np.ones(len(scale), dtype=bool)
    while True:
        rows = np.empty((BLOCK, len(places)))  # each is p_i / sqrt(P_ii) when i goes
        for b in range(len(rows)):
            share = weights * weights
            share /= diagonal
            least = share[share.argmin()]
            if least >= limit * residual * (1 - TOLERANCE):
                return stay
            i = int((share <= least + TOLERANCE * limit * residual).argmax())
            row, root = rows[b], math.sqrt(diagonal[i])
            row[:i], row[i:] = inverse[i, :i], inverse[i:, i]
            row -= rows[:b, i] @ rows[:b]
            row /= root
            change = weights[i] / root
            residual += change * change
            weights -= change * row
            diagonal -= row * row
            weights[i], diagonal[i], stay[places[i]] = np.inf, 1.0, False
            if diagonal[diagonal.argmin()] < CANCELED:
                return stay
        left = stay[places]
        if not left.any():
            return stay
        if left.mean() < WORTH_KEEPING:
            rows, inverse = rows[:, left], inverse.T.compress(left, 0).compress(left, 1).T
            places, weights, diagonal = places[left], weights[left], diagonal[left]
        inverse = linalg.blas.dsyrk(-1.0, rows.T, 1.0, inverse, lower=1, overwrite_c=1)  # below the diagonal alone


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
    candidates: BoolArray | None = None,
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
    candidates : (n_variables, n_variables) bool array, optional
        ``[i, j]`` means i -> j, in agreement with the order and the constraints; all predecessors when left out.

    Returns
    -------
    adjacency : (n_variables, n_variables) bool array
    """
    d = len(order)
    constraints = constraints or Constraints.none(d)
    price = math.log(n_samples) / 2 + extended * math.log(d)
    limit = math.expm1(2 * price / n_samples)
    before = full_dag(order)
    candidates = constraints.apply(before) if candidates is None else candidates
    edges = np.zeros((d, d), dtype=bool)
    all_may = (candidates == before).all(axis=0)[order]
    each = _regress_each(covariance, order) if 2 * all_may.sum() > d else repeat(None)
    for j, on_all, is_first in zip(order, each, all_may, strict=False):
        parents = order[candidates[order, j]]
        first = on_all if is_first else None
        kept = eliminate(covariance, parents, j, constraints.required[parents, j], limit, first)
        edges[kept, j] = True
    return edges


def or_eliminated(
    edges: BoolArray, covariance: FloatArray, order: IntArray, n_samples: int, constraints: Constraints
) -> BoolArray:
    """Of each variable its parents, or those that backward elimination leaves where BIC is better with them.

    A search that takes up one parent at a time overlooks several whose influences cancel.

    Parameters
    ----------
    edges : (n_variables, n_variables) bool array
        In agreement with the order.
    covariance : (n_variables, n_variables) array
    order : (n_variables,) int array
    n_samples : int
    constraints : Constraints
    """
    others = prune_by_bic(covariance, order, n_samples, constraints)
    prices = []
    for graph in (edges, others):
        rest = np.eye(len(order)) - regression_weights(covariance, order, graph)
        left = np.einsum("ij,ij->j", rest, covariance @ rest)
        prices.append((n_samples * np.log(left) + np.log(n_samples) * graph.sum(axis=0)) / 2)
    return np.where(prices[0] - prices[1] > TOLERANCE * np.abs(prices[0]), others, edges)
