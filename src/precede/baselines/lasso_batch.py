"""Many small lasso problems at once, exactly, from second moments and a warm start."""

from __future__ import annotations

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray

TOLERANCE = 1e-9
"""Rounding allowed in a gradient, as a share of the two standard deviations in it."""

MOST_STEPS_PER_VARIABLE = 20
"""A guard against endless exchanges within rounding; a warm start takes a handful of steps."""


def solve_lassos(
    covariance: FloatArray, penalty: FloatArray, targets: IntArray, candidates: BoolArray, start: FloatArray
) -> FloatArray:
    r"""Weights of :math:`\min_w \tfrac12 w^T S w - w^T S_{\cdot j} + \sum_i \lambda_{ij} |w_i|` for several targets j.

    An active-set method: with the signs of the active weights fixed the minimum is one linear system; walk to it, stop
    at the first weight that reaches zero and let it go; at the minimum let the variable enter whose gradient exceeds
    its penalty most. Every step lowers the objective, so it ends, and it ends at the exact solution. All targets
    walk together, in one batched solve of their padded active systems.

    Parameters
    ----------
    covariance : (n_variables, n_variables) float array
        Positive definite.
    penalty : (n_variables, n_targets) float array
        Zero leaves a weight free.
    targets : (n_targets,) int array
    candidates : (n_variables, n_targets) bool array
        Variables that each target may be regressed on.
    start : (n_variables, n_targets) float array
        Where to start; zero outside the candidates. Close to the solution it saves most of the work.

    Returns
    -------
    weights : (n_variables, n_targets) float array

    Examples
    --------
    >>> moments = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> others = np.array([[False], [True]])
    >>> solve_lassos(moments, np.full((2, 1), 0.1), np.array([0]), others, np.zeros((2, 1)))
    array([[0. ],
           [0.4]])
    """
    weights = start.copy()
    signs = np.sign(weights)
    cross = covariance[:, targets]
    deviation = np.sqrt(np.diag(covariance))
    slack = TOLERANCE * np.outer(deviation, deviation[targets])
    busy = np.arange(len(targets))
    for _ in range(MOST_STEPS_PER_VARIABLE * len(covariance)):
        w, s = weights[:, busy], signs[:, busy]
        gradient = cross[:, busy] - covariance @ w
        lam = penalty[:, busy]
        active = s != 0
        settled = (~active | (np.abs(gradient - lam * s) <= slack[:, busy])).all(axis=0)
        excess = np.where(candidates[:, busy] & ~active, np.abs(gradient) - lam - slack[:, busy], -np.inf)
        entering = excess.argmax(axis=0)
        columns = np.arange(len(busy))
        enters = settled & (excess[entering, columns] > 0)
        s[entering[enters], columns[enters]] = np.sign(gradient[entering[enters], columns[enters]])
        walking = ~settled | enters
        busy, w, s, lam = busy[walking], w[:, walking], s[:, walking], lam[:, walking]
        if not len(busy):
            break
        weights[:, busy], signs[:, busy] = _walk(covariance, cross[:, busy], lam, w, s)
    return weights


def _walk(
    covariance: FloatArray, cross: FloatArray, penalty: FloatArray, weights: FloatArray, signs: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """One step to the minimum of the fixed signs, or to the first weight on the way that reaches zero."""
    goal = _minimum_of_signs(covariance, cross - penalty * signs, signs != 0)
    crossing = (signs != 0) & (penalty > 0) & (goal * signs < 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(crossing, weights / (weights - goal), 1.0)
    first = share.argmin(axis=0)
    columns = np.arange(weights.shape[1])
    step = share[first, columns]
    moved = np.where(step == 1.0, goal, weights + step * (goal - weights))
    stopped = crossing[first, columns]
    moved[first[stopped], columns[stopped]] = 0.0
    signs = signs.copy()
    signs[first[stopped], columns[stopped]] = 0.0
    return moved, signs


def _minimum_of_signs(covariance: FloatArray, right: FloatArray, active: BoolArray) -> FloatArray:
    """Solve each column's active system, padded with ones to the size of the largest; zero elsewhere."""
    size = int(active.sum(axis=0).max())
    columns = np.arange(active.shape[1])[:, None]
    chosen = np.argsort(~active, axis=0, kind="stable")[:size].T  # (n_targets, size): the active ones come first
    real = active[chosen, columns]
    systems = covariance[chosen[:, :, None], chosen[:, None, :]]
    systems = np.where(real[:, :, None] & real[:, None, :], systems, np.eye(size))
    solved = np.linalg.solve(systems, np.where(real, right[chosen, columns], 0.0)[:, :, None])[:, :, 0]
    result = np.zeros_like(right)
    result[chosen, columns] = np.where(real, solved, 0.0)
    return result


def lasso_costs(covariance: FloatArray, penalty: FloatArray, targets: IntArray, weights: FloatArray) -> FloatArray:
    r"""Objective at the solution, :math:`\tfrac12 (S_{jj} - w^T S_{\cdot j} + \sum_i \lambda_{ij} |w_i|)`, per target.

    The quadratic term is gone because :math:`w^T S w = w^T S_{\cdot j} - \sum_i \lambda_{ij} |w_i|` there.
    """
    fit = (weights * covariance[:, targets]).sum(axis=0)
    result: FloatArray = 0.5 * (np.diag(covariance)[targets] - fit + (penalty * np.abs(weights)).sum(axis=0))
    return result
