"""Does the size of the noise depend on the causes? A check of model classes with additive noise, on rows left out."""

from __future__ import annotations

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.ranks import rank_correlation

N_KNOTS = 6
"""Pieces of the regression splines."""

MOST_PARENTS = 6
LEAST_TREND, CLEAR_TREND = 0.1, 0.2
"""Rank correlations of a residual's size with a cause, or with the fit, at which noise begins to count as uneven, and
at which it does so fully."""

CHANCE = 3.3
"""Standard deviations of a rank correlation of nothing that do not count."""

MOST_LEVERAGE = 0.95


def hinge_basis(column: FloatArray) -> FloatArray:
    """Constant, line, and hinges at inner quantiles: linear in the tails, so that an outlier bends nothing."""
    knots = np.quantile(column, np.linspace(0, 1, N_KNOTS + 2)[1:-1])
    hinges = np.maximum(column[:, None] - knots[None, :], 0)
    return np.column_stack([np.ones_like(column), column, hinges])


def left_out_residuals(basis: FloatArray, targets: FloatArray, ridge: FloatArray | float = 0.0) -> FloatArray:
    """Residual of every row, predicted by the least-squares fit of all the others: no part of the rows decides.

    Parameters
    ----------
    basis : (n_samples, n_terms) array
    targets : (n_samples,) or (n_samples, n_targets) array
    ridge : float or (n_terms,) array
        Rows that speak against each term.
    """
    # a little ridge in any case, since hinges may coincide where values are tied
    penalty = np.broadcast_to(ridge, basis.shape[1]) + 1e-8 * len(basis)
    solved = np.linalg.solve(basis.T @ basis + np.diag(penalty), basis.T)
    leverage = np.minimum(np.einsum("ij,ji->i", basis, solved), MOST_LEVERAGE)
    left: FloatArray = (targets - basis @ (solved @ targets)) / (1 - leverage).reshape(-1, *[1] * (targets.ndim - 1))
    return left


def soft_share(strengths: FloatArray, low: float, high: float) -> float:
    """Mean of strengths that count from low on, and fully from high on; 0 where there are none.

    A share that small changes of the rows change little: a count of those above a limit would jump.

    Examples
    --------
    >>> soft_share(np.array([0.1, 0.2, 0.5, 0.0]), 0.1, 0.3)
    0.375
    """
    return float(np.clip((strengths - low) / (high - low), 0, 1).mean()) if len(strengths) else 0.0


def share_with_uneven_noise(columns: FloatArray, edges: BoolArray, *, curved: bool) -> float:
    """Share of the variables with causes whose noise grows or shrinks with a cause or with the fit.

    Each variable is regressed on its causes, each row by the fit of the others, and the size of the
    residual is compared with the fitted value and with every cause by rank correlation. A monotone trend is what is
    asked for: what a fit has missed rarely has one.

    Parameters
    ----------
    columns : (n_samples, n_variables) array
        Standardized.
    edges : (n_variables, n_variables) bool array
        Supposed causes, ``[i, j]`` for i -> j.
    curved : bool
        Splines of every cause instead of lines.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cause, noise = rng.normal(size=(2, 600))
    >>> edges = np.array([[False, True], [False, False]])
    >>> share_with_uneven_noise(np.column_stack([cause, cause + noise]), edges, curved=False)
    0.0
    >>> share_with_uneven_noise(np.column_stack([cause, cause + noise * np.exp(cause)]), edges, curved=False)
    1.0
    """
    effects = np.flatnonzero(edges.any(axis=0))
    causes = [np.flatnonzero(edges[:, v])[:MOST_PARENTS] for v in effects]
    trends = np.array([_trend(columns, i, int(v), curved) for i, v in zip(causes, effects, strict=True)])
    least = max(LEAST_TREND, CHANCE / np.sqrt(len(columns)))
    return soft_share(trends, least, least + CLEAR_TREND - LEAST_TREND)


def _trend(columns: FloatArray, causes: IntArray, effect: int, curved: bool) -> float:
    """Largest rank correlation of the residual's size."""
    parts = [hinge_basis(columns[:, i])[:, 1:] if curved else columns[:, [i]] for i in causes]
    basis = np.column_stack([np.ones(len(columns)), *parts])
    left = left_out_residuals(basis, columns[:, effect])
    others = (columns[:, effect] - left, *columns[:, causes].T)
    varied = [other for other in others if np.ptp(other) > 0]  # not constant among the rows that are looked at
    return max((abs(rank_correlation(np.abs(left), other)[0]) for other in varied if np.ptp(left) > 0), default=0.0)
