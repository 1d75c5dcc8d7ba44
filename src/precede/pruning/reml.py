"""Smoothing parameters by restricted maximum likelihood, from cross products only.

References
----------
Wood (2011), Fast stable restricted maximum likelihood and marginal likelihood estimation of semiparametric
generalized linear models, JRSS B 73 (Newton's method in the log smoothing parameters).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from precede.arrays import FloatArray, IntArray
from precede.lazy import linalg

RIDGE = 1e-8
"""Added to the diagonal of the normalized cross products, so that near-duplicate columns share their effect."""

LOG_SMOOTHING_RANGE = (-14.0, 16.0)
"""Bounds of the log smoothing parameters: at the upper one a term is a straight line to about 1e-6."""


@dataclass(frozen=True)
class Smoothing:
    r"""A penalized least-squares fit at the smoothing parameters that maximize the restricted likelihood.

    Parameters
    ----------
    log_smoothing : (n_terms,) float array
    coefficients : (n_columns,) float array
    inverse : (n_columns, n_columns) float array
        :math:`(Z^\top Z + S_\lambda)^{-1}`.
    n_iterations : int
        Newton steps taken.
    """

    log_smoothing: FloatArray
    coefficients: FloatArray
    inverse: FloatArray
    n_iterations: int


def select_smoothing(
    cross: FloatArray,
    target: FloatArray,
    total: float,
    n_samples: int,
    term: IntArray,
    roughness: FloatArray,
    start: FloatArray,
    max_iterations: int = 30,
) -> Smoothing:
    r"""Minimize :math:`(m - M) \log D + \log|Z^\top Z + S_\lambda| - \sum_j r_j \rho_j`, :math:`\rho = \log\lambda`.

    This is twice the negative restricted log-likelihood with the noise variance profiled out:
    :math:`D = \min_\beta \|y - Z\beta\|^2 + \beta^\top S_\lambda \beta`, :math:`M` counts the unpenalized
    coefficients (the intercept included), :math:`r_j` is the rank of the j-th penalty. Newton steps with the exact
    Hessian, made positive definite, halved until they descend. Only cross products are needed, so the cost of
    a step does not depend on the number of samples.

    Parameters
    ----------
    cross : (n_columns, n_columns) float array
        :math:`Z^\top Z / m`.
    target : (n_columns,) float array
        :math:`Z^\top y / m` of a centered response.
    total : float
        :math:`y^\top y / m`.
    n_samples : int
    term : (n_columns,) int array
        The term to which each column belongs.
    roughness : (n_columns,) float array
        Diagonal of the penalty, zero for a column without.
    start : (n_terms,) float array
        First :math:`\rho`.
    max_iterations : int
    """
    n_terms = len(start)
    member = np.zeros((len(term), n_terms))
    member[np.arange(len(term)), term] = 1.0
    penalized = roughness > 0
    rank = penalized @ member
    free = n_samples - 1.0 - float((~penalized).sum())
    low, high = LOG_SMOOTHING_RANGE
    ridged = cross + RIDGE * np.eye(len(cross))

    def evaluate(rho: FloatArray) -> tuple[float, FloatArray, FloatArray, FloatArray, float]:
        weight = np.exp(rho)[term] * roughness
        matrix = ridged.copy()
        matrix.flat[:: len(matrix) + 1] += weight
        factor = linalg.cholesky(matrix, lower=True, check_finite=False)
        beta = linalg.cho_solve((factor, True), target, check_finite=False)
        misfit = max(total - float(beta @ target), 1e-12 * total)
        objective = free * np.log(misfit) + 2 * np.log(np.diag(factor)).sum() - float(rank @ rho)
        return float(objective), weight, factor, beta, misfit

    rho = np.clip(np.asarray(start, dtype=float), low, high)
    objective, weight, factor, beta, misfit = evaluate(rho)
    iteration = 0
    while True:
        inverse = inverse_from_cholesky(factor)
        pull = weight * beta  # S beta
        bend = (pull * beta) @ member / misfit  # d log D / d rho
        trace = (weight * np.diag(inverse)) @ member  # d log|V| / d rho
        gradient = free * bend + trace - rank
        active = (rank > 0) & ~((rho >= high) & (gradient < 0)) & ~((rho <= low) & (gradient > 0))
        if iteration == max_iterations or not active.any() or np.abs(gradient[active]).max() < 1e-3:
            break
        spread = pull[:, None] * member
        squared = member.T @ (weight[:, None] * inverse**2 * weight) @ member
        hessian = np.diag(free * bend + trace) - squared
        hessian -= free * (2 * spread.T @ inverse @ spread / misfit + np.outer(bend, bend))
        step = np.zeros(n_terms)
        step[active] = -_descent(hessian[np.ix_(active, active)], gradient[active])
        for _ in range(8):
            trial = np.clip(rho + step, low, high)
            attempt = evaluate(trial)
            if attempt[0] < objective - 1e-10:
                break
            step /= 3
        else:
            break  # no step descends
        gained = objective - attempt[0]
        rho, (objective, weight, factor, beta, misfit) = trial, attempt
        iteration += 1
        if gained < 1e-5:
            inverse = inverse_from_cholesky(factor)
            break
    return Smoothing(rho, beta, inverse, iteration)


def _descent(hessian: FloatArray, gradient: FloatArray, longest: float = 5.0) -> FloatArray:
    """Newton direction with the eigenvalues' absolute values, no entry longer than ``longest``."""
    values, vectors = np.linalg.eigh(hessian)
    values = np.maximum(np.abs(values), 1e-4)
    direction: FloatArray = vectors @ ((vectors.T @ gradient) / values)
    reach = float(np.abs(direction).max())
    return direction if reach <= longest else np.clip(direction, -longest, longest)


def inverse_from_cholesky(factor: FloatArray) -> FloatArray:
    """Inverse of a positive definite matrix from its lower Cholesky factor."""
    inverse, info = linalg.lapack.dpotri(factor, lower=1)
    if info != 0:
        raise np.linalg.LinAlgError(f"dpotri stopped at column {info}")
    lower = np.tril(inverse)
    symmetric: FloatArray = lower + np.tril(lower, -1).T
    return symmetric
