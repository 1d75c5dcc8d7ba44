"""Tests of independence given other variables, along curves, from one matrix of moments.

Every variable becomes three columns: the Hermite polynomials of its normal scores. Whether v depends on u given P is
then an F test of the three columns of u beside those of P, and all that it needs is the covariance of all columns. So
a test costs microseconds whatever the number of rows, extreme rows do not decide, and curves are seen.
"""

from __future__ import annotations

import numpy as np

from precede.arrays import FloatArray, IntArray
from precede.lazy import special
from precede.ranks import normal_scores

DEGREE = 3
"""Hermite polynomials of each variable."""

RIDGE = 1e-9


def hermite_moments(values: FloatArray) -> FloatArray:
    """Correlations of the Hermite polynomials of every variable's normal scores.

    Parameters
    ----------
    values : (n_samples, n_variables) float array

    Returns
    -------
    moments : (3 n_variables, 3 n_variables) float array
        Variable k has the columns 3k, 3k + 1, 3k + 2; a variable of two values has zeros in the last two.
    """
    columns = hermite_columns(values)
    return np.asarray(columns.T @ columns / len(values))


def hermite_columns(values: FloatArray) -> FloatArray:
    """The columns themselves, of mean zero and variance one (or zero where a polynomial is constant)."""
    return polynomial_columns(normal_scores(values))


def polynomial_columns(scores: FloatArray) -> FloatArray:
    """Polynomials of first to third degree of each column, orthogonal to each other, of mean zero and variance one."""
    m, d = scores.shape
    columns = np.empty((m, DEGREE * d))
    columns[:, 0::DEGREE], columns[:, 1::DEGREE] = scores, scores**2
    columns[:, 2::DEGREE] = scores**3 - 3 * scores
    columns -= columns.mean(axis=0)
    for k in range(1, DEGREE):  # each orthogonal to the ones before, so that few levels give zeros, not copies
        for earlier in range(k):
            basis = columns[:, earlier::DEGREE]
            power = (basis**2).sum(axis=0)
            share = np.divide(
                (columns[:, k::DEGREE] * basis).sum(axis=0), power, out=np.zeros(d), where=power > 1e-9 * m
            )
            columns[:, k::DEGREE] -= share * basis
    spread = columns.std(axis=0)
    columns[:, spread < 1e-6] = 0.0
    return np.asarray(columns / np.where(spread < 1e-6, 1.0, spread))


def dependence_p_values(
    moments: FloatArray, n_samples: int, target: int, others: IntArray, given: IntArray
) -> FloatArray:
    """P-value that the target is independent of each of the others, given some variables.

    Parameters
    ----------
    moments : (3 n_variables, 3 n_variables) float array
        As :func:`hermite_moments` gives them.
    n_samples : int
    target : int
    others, given : int arrays
        Variables; ``others`` are tested one at a time.

    Returns
    -------
    p_values : (n_others,) float array

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(500, 3))
    >>> x[:, 1] += x[:, 0] ** 2
    >>> x[:, 2] += x[:, 1]
    >>> moments = hermite_moments(x)
    >>> (dependence_p_values(moments, 500, 2, np.array([0, 1]), np.array([], dtype=int)) < 0.01).tolist()
    [True, True]
    >>> bool(dependence_p_values(moments, 500, 2, np.array([0]), np.array([1]))[0] > 0.01)
    True
    """
    place = DEGREE * target
    held = _columns(given)
    tested = _columns(others)
    joint = moments[place, tested].reshape(-1, DEGREE)
    cells = tested.reshape(-1, DEGREE)
    blocks = moments[cells[:, :, None], cells[:, None, :]] + RIDGE * np.eye(DEGREE)
    total = float(moments[place, place])
    if len(held):  # what is left of each once the given ones are taken out
        block = moments[np.ix_(held, held)] + RIDGE * np.eye(len(held))
        cross, own = moments[np.ix_(held, tested)], moments[held, place]
        weights = np.linalg.solve(block, np.column_stack([cross, own]))
        by_variable = (len(held), len(others), DEGREE)
        joint = joint - (own @ weights[:, :-1]).reshape(joint.shape)
        blocks -= np.einsum("hvi,hvj->vij", cross.reshape(by_variable), weights[:, :-1].reshape(by_variable))
        total -= float(own @ weights[:, -1])
    freedom = n_samples - len(held) - DEGREE - 1
    if freedom < 1:
        return np.ones(len(others))
    explained = (joint * np.linalg.solve(blocks, joint[:, :, None])[:, :, 0]).sum(axis=1)
    share = np.clip(explained / max(total, 1e-12), 0.0, 1 - 1e-12)
    statistic = share / DEGREE / ((1 - share) / freedom)
    return np.asarray(special.fdtrc(DEGREE, freedom, statistic))


def _columns(variables: IntArray) -> IntArray:
    return (DEGREE * np.asarray(variables, dtype=np.int64)[:, None] + np.arange(DEGREE)).ravel()
