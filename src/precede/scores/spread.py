"""Does the size of the noise depend on the causes? A check of model classes with additive noise, on held-out rows."""

from __future__ import annotations

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.ranks import rank_correlation

N_KNOTS = 6
"""Pieces of the regression splines."""

MOST_PARENTS = 6
TREND = 0.15
"""Rank correlation of a residual's size with a cause, or with the fit, from which on noise counts as not additive."""

TREND_P = 1e-3


def hinge_basis(column: FloatArray) -> FloatArray:
    """Constant, line, and hinges at inner quantiles: linear in the tails, so that an outlier bends nothing."""
    knots = np.quantile(column, np.linspace(0, 1, N_KNOTS + 2)[1:-1])
    hinges = np.maximum(column[:, None] - knots[None, :], 0)
    return np.column_stack([np.ones_like(column), column, hinges])


def least_squares(basis: FloatArray, targets: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Gram matrix, cross moments and least-squares weights."""
    gram, cross = basis.T @ basis, basis.T @ targets
    # a ridge, since hinges may coincide where values are tied
    weights = np.linalg.solve(gram + 1e-8 * len(basis) * np.eye(len(gram)), cross)
    return gram, cross, np.asarray(weights, dtype=np.float64)


def share_with_uneven_noise(columns: FloatArray, edges: BoolArray, *, curved: bool) -> float:
    """Share of the variables with causes whose noise grows or shrinks with a cause or with the fit.

    Each variable is regressed on its causes, each half of the rows by the other half's fit, and the size of the
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
    if not len(effects):
        return 0.0
    causes = [np.flatnonzero(edges[:, v])[:MOST_PARENTS] for v in effects]
    return float(np.mean([_uneven(columns, i, int(v), curved) for i, v in zip(causes, effects, strict=True)]))


def _uneven(columns: FloatArray, causes: IntArray, effect: int, curved: bool) -> bool:
    parts = [hinge_basis(columns[:, i])[:, 1:] if curved else columns[:, [i]] for i in causes]
    basis = np.column_stack([np.ones(len(columns)), *parts])
    target = columns[:, effect]
    fitted = np.empty_like(target)
    halves = np.arange(len(target)) % 2 == 0
    for held_out in (halves, ~halves):
        fitted[held_out] = basis[held_out] @ least_squares(basis[~held_out], target[~held_out])[2]
    size = np.abs(target - fitted)
    found = [rank_correlation(size, other) for other in (fitted, *columns[:, causes].T)]
    return any(abs(correlation) > TREND and p_value * len(found) < TREND_P for correlation, p_value in found)
