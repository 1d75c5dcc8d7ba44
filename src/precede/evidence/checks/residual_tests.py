"""Tests of residuals: normality, equal variances, curvature that a straight line left behind."""

from __future__ import annotations

import numpy as np

from precede.arrays import BoolArray, FloatArray
from precede.evidence.checks.parent_regressions import ParentRegressions, f_tail, standard_columns
from precede.ranks import normal_scores, normality_p_values

SIGNIFICANT = 0.01
"""Level of every check, after Holm's correction for testing many variables."""

FEWEST_ROWS = 20
"""The normality test is not calibrated below this."""


def holm(p_values: FloatArray) -> FloatArray:
    """P-values corrected for multiple testing by Holm's method; NaN (not tested) stays.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.02, np.nan]))
    array([0.03, 0.04, 0.04,  nan])
    """
    result = np.full(p_values.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(p_values))
    ascending = tested[np.argsort(p_values[tested], kind="stable")]
    factors = np.arange(len(ascending), 0, -1)
    result[ascending] = np.minimum(np.maximum.accumulate(p_values[ascending] * factors), 1.0)
    return result


def normality(residuals: FloatArray) -> FloatArray:
    """Corrected p-value of D'Agostino and Pearson's test for each column; NaN for fewer than 20 rows."""
    if len(residuals) < FEWEST_ROWS:
        return np.full(residuals.shape[1], np.nan)
    return holm(normality_p_values(standard_columns(residuals)[0]))


def equal_variances(residuals: FloatArray) -> tuple[float, float]:
    """Largest over smallest variance of the columns, and the p-value of Brown and Forsythe's test."""
    residuals = residuals / (float(np.abs(residuals).max()) or 1.0)  # squares of tiny or huge numbers leave the floats
    variances = residuals.var(axis=0)
    spread = np.abs(residuals - np.median(residuals, axis=0))
    m, d = spread.shape
    means = spread.mean(axis=0)
    between = m * ((means - means.mean()) ** 2).sum() / (d - 1)
    within = ((spread - means) ** 2).sum() / (m * d - d)
    ratio = float(variances.max() / max(variances.min(), 1e-300))
    return ratio, f_tail(float(between / max(within, 1e-300)), d - 1, m * d - d)


def curvature(values: FloatArray, edges: BoolArray, fit: ParentRegressions) -> FloatArray:
    """Corrected p-value, for each variable with parents, that its linear fit leaves curvature in a parent.

    The second and third Hermite polynomials of each parent's normal scores join the regression, and an F test judges
    them together. Ranks keep single extreme rows from deciding.

    Parameters
    ----------
    values : (n_samples, n_variables) float array
    edges : (n_variables, n_variables) bool array
    fit : ParentRegressions
        Linear fits of the same graph.

    Returns
    -------
    p_values : (n_variables,) float array
        NaN for a variable that has no parents, or too few rows for its parents.
    """
    sample = values[fit.rows]
    m, d = sample.shape
    result = np.full(d, np.nan)
    scores: dict[int, FloatArray] = {}
    for j in range(d):
        parents = [int(i) for i in np.flatnonzero(edges[:, j])]
        left = m - 3 * len(parents) - 1
        if not parents or left < m / 2:
            continue
        for i in parents:
            if i not in scores:
                z = normal_scores(sample[:, i])
                scores[i] = np.column_stack([z**2, z**3 - 3 * z])
        base = np.column_stack([np.ones(m), *(sample[:, i] / fit.spread[i] for i in parents)])
        basis, _ = np.linalg.qr(base)
        extra = np.hstack([scores[i] for i in parents])
        extra -= basis @ (basis.T @ extra)
        residual = fit.residuals[:, j] / fit.spread[j]
        coefficients, *_ = np.linalg.lstsq(extra, residual, rcond=1e-8)
        explained = float(((extra @ coefficients) ** 2).sum())
        rest = max(float((residual**2).sum()) - explained, 1e-300)
        result[j] = f_tail(explained / extra.shape[1] / (rest / left), extra.shape[1], left)
    return holm(result)
