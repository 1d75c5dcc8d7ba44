r"""Additive models with penalized splines, and significance tests of their terms.

The way of a fit: a :func:`~precede.pruning.splines.spline_basis` per column, smoothing parameters by
:func:`~precede.pruning.reml.select_smoothing`, then the test of each term, :func:`wood_p_value` or the partial F test.

References
----------
Wood (2013), On p-values for smooth components of an extended generalized additive model, Biometrika 100.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import floor, sqrt

import numpy as np

from precede.arrays import FloatArray, IntArray
from precede.errors import DataError, OptionError
from precede.lazy import linalg, special
from precede.pruning.reml import RIDGE, inverse_from_cholesky, select_smoothing
from precede.pruning.splines import SplineBasis, basis_size, spline_basis


@dataclass(frozen=True)
class GamFit:
    """A fitted additive model.

    Parameters
    ----------
    p_values : (n_terms,) float array
        Of the hypothesis that the term is zero.
    edf : (n_terms,) float array
        Effective degrees of freedom of each term.
    strengths : (n_terms,) float array
        Standard deviation of each fitted term over that of the response.
    residual_variance : float
        Residual sum of squares over the residual degrees of freedom, in the response's units.
    fitted : (n_samples,) float array
    terms : (n_samples, n_terms) float array
        What each term contributes to it, in the response's units; each sums to zero.
    log_smoothing : (n_terms,) float array
        Minus infinity without penalty.
    """

    p_values: FloatArray
    edf: FloatArray
    strengths: FloatArray
    residual_variance: float
    fitted: FloatArray
    terms: FloatArray
    log_smoothing: FloatArray


def wood_p_value(effect: FloatArray, covariance: FloatArray, rank: float, residual_df: float) -> float:
    r"""P-value of Wood's (2013) rank-truncated Wald statistic :math:`T = \hat f^\top V_f^{r-} \hat f`.

    :math:`V_f^{r-}` inverts the leading :math:`r` eigenvalues. With :math:`r = k + \nu` the last two directions share
    :math:`\bigl(\begin{smallmatrix}1 & \rho\\ \rho & \nu\end{smallmatrix}\bigr)`, :math:`\rho^2 = \nu(1-\nu)/2`,
    and under the null :math:`T \sim \chi^2_{k-1} + \nu_1\chi^2_1 + \nu_2\chi^2_1`. The sign of :math:`\rho` is
    arbitrary: the two p-values are averaged.

    Parameters
    ----------
    effect : (n_columns,) float array
        Coordinates of the fitted term in an orthonormal basis of its column space.
    covariance : (n_columns, n_columns) float array
        Their Bayesian covariance, with the estimated noise variance.
    rank : float
        Reference degrees of freedom.
    residual_df : float
        Degrees of freedom of the noise variance.

    Examples
    --------
    A whole rank is the F test:

    >>> p = wood_p_value(np.array([2.0, 1.0]), np.eye(2), 2.0, 50.0)
    >>> bool(np.isclose(p, special.fdtrc(2, 50, 5 / 2)))
    True
    """
    values, vectors = np.linalg.eigh(covariance)
    values, vectors = values[::-1], vectors[:, ::-1]
    usable = int((values > 1e-12 * values[0]).sum())
    rank = min(max(rank, 1.0), float(usable))
    score = (vectors[:, :usable].T @ effect) / np.sqrt(values[:usable])
    whole = floor(rank)
    part = rank - whole
    if part < 1e-8:
        statistic = float(score[:whole] @ score[:whole])
        return float(special.fdtrc(whole, residual_df, statistic / whole))
    leading = float(score[: whole - 1] @ score[: whole - 1])
    a, b = float(score[whole - 1]), float(score[whole])
    shared = sqrt(part * (1 - part) / 2)
    plain = leading + a * a + part * b * b
    first = (part + 1 + sqrt(1 - part * part)) / 2
    return 0.5 * sum(
        mixture_tail(max(plain + sign * 2 * shared * a * b, 0.0), whole - 1, first, part + 1 - first, residual_df)
        for sign in (-1, 1)
    )


def mixture_tail(statistic: float, n_whole: int, first: float, second: float, residual_df: float) -> float:
    r"""Exact :math:`P\{\chi^2_a + \nu_1\chi^2_1 + \nu_2\chi^2_1 > t\,\chi^2_n/n\}`.

    The length of the :math:`a + 2` normals is independent of their direction :math:`u`, so the tail is the mean of
    :math:`P\{F_{a+2,n} > t / ((a+2)\,w(u))\}` with :math:`w = 1 - (1-\nu_1)u_1^2 - (1-\nu_2)u_2^2`: a smooth, positive
    integrand over :math:`u_1^2 + u_2^2 \sim \mathrm{Beta}(1, a/2)` and a uniform angle. So small tails keep their
    relative precision.

    Examples
    --------
    >>> bool(np.isclose(mixture_tail(9.0, 2, 1.0, 1.0, 80.0), special.fdtrc(4, 80, 9 / 4)))
    True
    """
    size = n_whole + 2
    angle = (np.arange(16) + 0.5) * (np.pi / 32)  # a quarter turn suffices by symmetry; midpoints are exact for cosines
    mixed = 1 - (first * np.cos(angle) ** 2 + second * np.sin(angle) ** 2)
    if n_whole == 0:
        radius, mass = np.ones(1), np.ones(1)
    else:
        radius, mass = _beta_quadrature(n_whole)
    width = 1 - radius[:, None] * mixed
    tails = special.fdtrc(size, residual_df, statistic / (size * width))
    return float(mass @ tails.mean(axis=1))


@cache
def _beta_quadrature(n_whole: int) -> tuple[FloatArray, FloatArray]:
    """Gauss points and masses of the Beta(1, n_whole / 2) distribution."""
    nodes, weights = special.roots_jacobi(20, n_whole / 2 - 1, 0.0)
    return (1 + nodes) / 2, weights / weights.sum()


def fit_gam(x: FloatArray, y: FloatArray, n_basis: int | None = None, penalized: bool = True) -> GamFit:
    r"""Fit :math:`y = \alpha + \sum_j f_j(x_j) + \varepsilon` and test each :math:`f_j = 0`.

    Each :math:`f_j` is a natural cubic spline that sums to zero over the samples. With penalty, :math:`\lambda_j \int
    f_j''^2` is selected by REML and the test is Wood's with :math:`\mathrm{tr}(2F - FF)_j` reference degrees of
    freedom, :math:`F = (Z^\top Z + S_\lambda)^{-1} Z^\top Z`. Without, the test is the partial F test.

    Parameters
    ----------
    x : (n_samples, n_terms) float array
        A constant column gets a zero term with p-value one.
    y : (n_samples,) float array
    n_basis : int, optional
        Basis functions per term, the constant included; :func:`basis_size` when left out.
    penalized : bool
        False is the fast mode: least squares and partial F tests.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(300, 3))
    >>> fit = fit_gam(x, np.sin(2 * x[:, 0]) + 0.3 * rng.normal(size=300))
    >>> fit.p_values < 0.001
    array([ True, False, False])
    """
    m, n_terms = x.shape
    if n_basis is not None and not (n_basis >= 2 and m > 2 + n_terms * (n_basis - 1)):
        raise OptionError(
            f"n_basis={n_basis!r} cannot be used: it must be at least 2, and {n_terms} terms of it must leave residual "
            f"degrees of freedom with {m} samples."
        )
    size = n_basis or basis_size(m, n_terms)
    return fit_terms([spline_basis(column, size) for column in x.T], y, penalized)


def fit_terms(bases: Sequence[SplineBasis], y: FloatArray, penalized: bool = True) -> GamFit:
    """The additive model of :func:`fit_gam` on bases that are already there, one a term."""
    m, n_terms = len(y), len(bases)
    if m < n_terms + 3:
        raise DataError(
            f"an additive model of {n_terms} terms needs at least {n_terms + 3} samples, but there are {m}: "
            "use more samples or fewer candidate parents."
        )
    center, spread = float(y.mean()), float(y.std())
    sizes = [len(basis.roughness) for basis in bases]
    if sum(sizes) == 0 or spread <= 1e-12 * float(np.abs(y).max()):
        nothing = np.zeros(n_terms)
        variance = float(y.var() * m / (m - 1))
        return GamFit(np.ones(n_terms), nothing, nothing, variance, np.full(m, center), np.zeros((m, n_terms)), nothing)
    response = (y - center) / spread
    design = np.hstack([basis.columns for basis in bases])
    roughness = np.concatenate([basis.roughness for basis in bases])
    term = np.repeat(np.arange(n_terms), sizes)
    cross, target = design.T @ design / m, design.T @ response / m
    if penalized:
        chosen = select_smoothing(cross, target, 1.0, m, term, roughness, np.zeros(n_terms))
        rho, beta, inverse = chosen.log_smoothing, chosen.coefficients, chosen.inverse
    else:
        rho = np.full(n_terms, -np.inf)
        ridged = cross + RIDGE * np.eye(len(cross))
        inverse = inverse_from_cholesky(linalg.cholesky(ridged, lower=True, check_finite=False))
        beta = inverse @ target
    terms = np.column_stack([design[:, term == j] @ beta[term == j] for j in range(n_terms)])
    fitted = terms.sum(axis=1)
    edf, reference = _degrees_of_freedom(inverse @ cross, term, n_terms)
    residual_df = max(m - 1 - float(edf.sum()), 1.0)
    noise = max(float(((response - fitted) ** 2).sum()) / residual_df, 1e-14)
    p_values, strengths = np.ones(n_terms), np.zeros(n_terms)
    for j in np.flatnonzero(sizes):
        of_term = np.flatnonzero(term == j)
        # The columns of a term are orthonormal, so its coefficients are the coordinates that the test asks for.
        covariance = inverse[np.ix_(of_term, of_term)] * (noise / m)
        rank = float(reference[j]) if penalized else float(sizes[j])
        p_values[j] = wood_p_value(beta[of_term], covariance, rank, residual_df)
        strengths[j] = sqrt(float(beta[of_term] @ beta[of_term]))
    return GamFit(p_values, edf, strengths, noise * spread**2, center + spread * fitted, spread * terms, rho)


def _degrees_of_freedom(influence: FloatArray, term: IntArray, n_terms: int) -> tuple[FloatArray, FloatArray]:
    """Sums over each term of the diagonals of F, the effective, and of 2F - FF, the reference degrees of freedom."""
    diagonal = np.diag(influence)
    member = np.eye(n_terms)[term]
    return diagonal @ member, (2 * diagonal - np.einsum("ij,ji->i", influence, influence)) @ member
