"""Backward elimination: the cheapest regressor goes, the rest are priced again, until none is below its price."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
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
