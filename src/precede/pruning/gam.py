"""Generalized additive models: spline bases, smoothing by restricted likelihood, tests of each term, CAM's pruning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil, floor, sqrt
from typing import Literal

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.errors import DataError, OptionError, check_choice, is_number
from precede.lazy import linalg, special

BASIS_SIZE = 10
"""Basis functions per term, the constant included, where the samples suffice (Bühlmann et al. 2014, R's CAM)."""

KNOTS = 30
"""Knots of the spline whose smoothest directions make the basis."""

SAMPLES_PER_BASIS_FUNCTION = 3
"""Fewer samples than this per basis function shrink the basis (the same)."""


@dataclass(frozen=True)
class SplineBasis:
    r"""Columns of one term, orthonormal over the samples, from smooth to rough (Demmler and Reinsch).

    Parameters
    ----------
    columns : (n_samples, n_columns) float array
        Sum to zero; :math:`Z^\top Z = m I`. The first column is the standardized variable itself.
    roughness : (n_columns,) float array
        :math:`\int f''^2` of each column relative to the second one's; the first is zero.
    """

    columns: FloatArray
    roughness: FloatArray

    def cut(self, size: int) -> SplineBasis:
        """The basis of ``size`` functions, the constant included, out of a larger one."""
        return SplineBasis(self.columns[:, : size - 1], self.roughness[: size - 1])


def basis_size(n_samples: int, n_terms: int) -> int:
    """Basis functions per term: ten, or a third of the samples per term where those are fewer; three at the least.

    Two (a straight line) remain where three would leave no residual degrees of freedom.

    Examples
    --------
    >>> basis_size(500, 4), basis_size(500, 30), basis_size(40, 12), basis_size(20, 12)
    (10, 6, 3, 2)
    """
    if n_terms == 0 or n_samples / n_terms >= SAMPLES_PER_BASIS_FUNCTION * BASIS_SIZE:
        return BASIS_SIZE
    size = max(3, ceil(n_samples / (SAMPLES_PER_BASIS_FUNCTION * n_terms)))
    return size if n_samples > 2 + n_terms * (size - 1) else 2


def spline_basis(x: FloatArray, size: int) -> SplineBasis:
    r"""The ``size - 1`` smoothest directions of a natural cubic spline with knots at quantiles, constant left out.

    Cutting the rotated basis of a fine spline, as thin-plate regression splines do (Wood 2003), places no knots by
    hand: the tails are fitted as well as the middle. A column with few distinct values gets a knot at each of them:
    two values make a straight line, one makes no columns at all.

    Examples
    --------
    >>> basis = spline_basis(np.arange(20.0), 5)
    >>> basis.columns.shape, bool(np.allclose(basis.columns.T @ basis.columns, 20 * np.eye(4)))
    ((20, 4), True)
    """
    m = len(x)
    spread = float(x.std())
    if spread <= 1e-12 * float(np.abs(x).max()):
        return SplineBasis(np.empty((m, 0)), np.empty(0))
    z = (x - x.mean()) / spread
    if size < 3:
        return SplineBasis(z[:, None], np.zeros(1))
    distinct = np.unique(z)
    distinct = distinct[np.concatenate([[True], np.diff(distinct) > 1e-9])]
    place = np.linspace(0.0, len(distinct) - 1.0, min(max(KNOTS, size), len(distinct)))
    knots = np.interp(place, np.arange(len(distinct)), distinct)  # quantiles of the distinct values
    if min(size, len(knots)) < 3:
        return SplineBasis(z[:, None], np.zeros(1))
    raw, penalty = _natural_spline(z, knots)
    # Leave out the constant and the line, which the penalty does not see, then diagonalise what is left.
    raw -= raw.mean(axis=0)
    bent = raw - z[:, None] * (z @ raw / m)
    size_squared, directions = np.linalg.eigh(bent.T @ bent / m)
    kept = size_squared > 1e-9 * size_squared[-1]
    whiten = directions[:, kept] / np.sqrt(size_squared[kept])
    roughness, rotation = np.linalg.eigh(whiten.T @ penalty @ whiten)
    n_bent = min(size - 2, len(roughness))
    columns = np.hstack([z[:, None], bent @ (whiten @ rotation[:, :n_bent])])
    return SplineBasis(columns, np.concatenate([[0.0], roughness[:n_bent] / roughness[0]]))


def _natural_spline(x: FloatArray, knots: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""Values at ``x`` of the natural cubic splines that are one at a knot and zero at the others, and their penalty.

    With values :math:`v` at the knots the second derivatives at the inner knots are :math:`R^{-1} Q^\top v` and
    :math:`\int f''^2 = v^\top Q R^{-1} Q^\top v` (Green and Silverman 1994, Section 2.1).
    """
    k, gaps = len(knots), np.diff(knots)
    differences = np.diff(np.diff(np.eye(k), axis=0) / gaps[:, None], axis=0)
    band = np.diag((gaps[:-1] + gaps[1:]) / 3) + np.diag(gaps[1:-1] / 6, 1) + np.diag(gaps[1:-1] / 6, -1)
    bends = np.zeros((k, k))  # second derivatives at all knots, zero at the ends
    bends[1:-1] = np.linalg.solve(band, differences)
    cell = np.clip(np.searchsorted(knots, x, side="right") - 1, 0, k - 2)
    gap = gaps[cell]
    left = (knots[cell + 1] - x) / gap
    right = 1 - left
    rows = np.arange(len(x))
    values, curvature = np.zeros((len(x), k)), np.zeros((len(x), k))
    values[rows, cell], values[rows, cell + 1] = left, right
    curvature[rows, cell] = (left**3 - left) * gap**2 / 6
    curvature[rows, cell + 1] = (right**3 - right) * gap**2 / 6
    return values + curvature @ bends, differences.T @ bends[1:-1]


RIDGE = 1e-8
"""Added to the diagonal of the normalized cross products, so that near-duplicate columns share their effect."""

LOG_SMOOTHING_RANGE = (-14.0, 16.0)
"""Bounds of the log smoothing parameters: at the upper one a term is a straight line to about 1e-6."""


@dataclass(frozen=True)
class Smoothing:
    r"""A penalized least-squares fit at some smoothing parameters.

    Parameters
    ----------
    log_smoothing : (n_terms,) float array
    coefficients : (n_columns,) float array
    inverse : (n_columns, n_columns) float array
        :math:`(Z^\top Z + S_\lambda)^{-1}`.
    penalty : (n_columns,) float array
        Diagonal of :math:`S_\lambda`.
    misfit : float
        D, and so on: see :func:`select_smoothing`.
    objective : float
        Twice the negative restricted log-likelihood.
    """

    log_smoothing: FloatArray
    coefficients: FloatArray
    inverse: FloatArray
    penalty: FloatArray
    misfit: float
    objective: float


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

    def fit(rho: FloatArray) -> Smoothing:
        rho = np.clip(rho, low, high)
        penalty = np.exp(rho)[term] * roughness
        factor = linalg.cholesky(ridged + np.diag(penalty), lower=True, check_finite=False)
        beta = linalg.cho_solve((factor, True), target, check_finite=False)
        misfit = max(total - float(beta @ target), 1e-12 * total)
        objective = free * np.log(misfit) + 2 * np.log(np.diag(factor)).sum() - float(rank @ rho)
        return Smoothing(rho, beta, inverse_from_cholesky(factor), penalty, misfit, float(objective))

    here = fit(start)
    for _ in range(max_iterations):
        rho, inverse, penalty = here.log_smoothing, here.inverse, here.penalty
        pull = penalty * here.coefficients  # S beta
        bend = (pull * here.coefficients) @ member / here.misfit  # d log D / d rho
        trace = (penalty * np.diag(inverse)) @ member  # d log|V| / d rho
        gradient = free * bend + trace - rank
        active = (rank > 0) & ~((rho >= high) & (gradient < 0)) & ~((rho <= low) & (gradient > 0))
        if not active.any() or np.abs(gradient[active]).max() < 1e-3:
            break
        spread = pull[:, None] * member
        squared = member.T @ (penalty[:, None] * inverse**2 * penalty) @ member
        hessian = np.diag(free * bend + trace) - squared
        hessian -= free * (2 * spread.T @ inverse @ spread / here.misfit + np.outer(bend, bend))
        step = np.zeros(n_terms)
        step[active] = -_descent(hessian[np.ix_(active, active)], gradient[active])
        trials = (fit(rho + step / 3**shorter) for shorter in range(8))
        there = next((trial for trial in trials if trial.objective < here.objective - 1e-10), here)
        gained, here = here.objective - there.objective, there
        if gained < 1e-5:
            break
    return here


def _descent(hessian: FloatArray, gradient: FloatArray, longest: float = 5.0) -> FloatArray:
    """Newton direction with the eigenvalues' absolute values, no entry longer than ``longest``."""
    values, vectors = np.linalg.eigh(hessian)
    values = np.maximum(np.abs(values), 1e-4)
    direction: FloatArray = vectors @ ((vectors.T @ gradient) / values)
    return np.clip(direction, -longest, longest)


def inverse_from_cholesky(factor: FloatArray) -> FloatArray:
    """Inverse of a positive definite matrix from its lower Cholesky factor."""
    lower = np.tril(linalg.lapack.dpotri(factor, lower=1)[0])
    symmetric: FloatArray = lower + np.tril(lower, -1).T
    return symmetric


@dataclass(frozen=True)
class GamFit:
    """A fitted additive model.

    Parameters
    ----------
    p_values : (n_terms,) float array
        Of the hypothesis that the term is zero.
    strengths : (n_terms,) float array
        Standard deviation of each fitted term over that of the response.
    terms : (n_samples, n_terms) float array
        What each term contributes to the fitted response, in its units; each sums to zero.
    """

    p_values: FloatArray
    strengths: FloatArray
    terms: FloatArray


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


def fit_gam(x: FloatArray, y: FloatArray, penalized: bool = True) -> GamFit:
    r"""Fit :math:`y = \alpha + \sum_j f_j(x_j) + \varepsilon` and test each :math:`f_j = 0`.

    Each :math:`f_j` is a natural cubic spline that sums to zero over the samples. With penalty, :math:`\lambda_j \int
    f_j''^2` is selected by REML and the test is Wood's with :math:`\mathrm{tr}(2F - FF)_j` reference degrees of
    freedom, :math:`F = (Z^\top Z + S_\lambda)^{-1} Z^\top Z`. Without, the test is the partial F test.

    Parameters
    ----------
    x : (n_samples, n_terms) float array
        A constant column gets a zero term with p-value one.
    y : (n_samples,) float array
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
    return fit_terms([spline_basis(column, basis_size(*x.shape)) for column in x.T], y, penalized)


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
        return GamFit(np.ones(n_terms), np.zeros(n_terms), np.zeros((m, n_terms)))
    response = (y - center) / spread
    design = np.hstack([basis.columns for basis in bases])
    roughness = np.concatenate([basis.roughness for basis in bases])
    term = np.repeat(np.arange(n_terms), sizes)
    cross, target = design.T @ design / m, design.T @ response / m
    if penalized:
        chosen = select_smoothing(cross, target, 1.0, m, term, roughness, np.zeros(n_terms))
        beta, inverse = chosen.coefficients, chosen.inverse
    else:
        ridged = cross + RIDGE * np.eye(len(cross))
        inverse = inverse_from_cholesky(linalg.cholesky(ridged, lower=True, check_finite=False))
        beta = inverse @ target
    terms = np.column_stack([design[:, term == j] @ beta[term == j] for j in range(n_terms)])
    influence, member = inverse @ cross, np.eye(n_terms)[term]
    edf = np.diag(influence) @ member
    reference = 2 * edf - np.einsum("ij,ji->i", influence, influence) @ member
    residual_df = max(m - 1 - float(edf.sum()), 1.0)
    noise = max(float(((response - terms.sum(axis=1)) ** 2).sum()) / residual_df, 1e-14)
    p_values, strengths = np.ones(n_terms), np.zeros(n_terms)
    for j in np.flatnonzero(sizes):
        of_term = np.flatnonzero(term == j)
        # The columns of a term are orthonormal, so its coefficients are the coordinates that the test asks for.
        covariance = inverse[np.ix_(of_term, of_term)] * (noise / m)
        rank = float(reference[j]) if penalized else float(sizes[j])
        p_values[j] = wood_p_value(beta[of_term], covariance, rank, residual_df)
        strengths[j] = sqrt(float(beta[of_term] @ beta[of_term]))
    return GamFit(p_values, strengths, spread * terms)


GamTest = Literal["wood", "f"]


@dataclass(frozen=True)
class GamPruning:
    """What significance testing left of a graph; all matrices have ``[i, j]`` for i -> j.

    Parameters
    ----------
    edges : (n_variables, n_variables) bool array
        The edges that stay.
    p_values : (n_variables, n_variables) float array
        Of every edge that was tested, NaN elsewhere.
    strengths : (n_variables, n_variables) float array
        Standard deviation of the cause's fitted effect over that of the variable, zero where there was no edge.
    """

    edges: BoolArray
    p_values: FloatArray
    strengths: FloatArray


def prune_by_gam(
    values: FloatArray,
    edges: BoolArray,
    *,
    required: BoolArray | None = None,
    cutoff: float = 0.001,
    test: GamTest = "wood",
) -> GamPruning:
    r"""Keep i -> j when :math:`f_{ij} = 0` is refused in :math:`x_j = \alpha_j + \sum_i f_{ij}(x_i) + \varepsilon_j`.

    One additive model per variable, on all its parents at once. The result depends on nothing but the arguments.

    Parameters
    ----------
    values : (n_samples, n_variables) float array
    edges : (n_variables, n_variables) bool array
        ``edges[i, j]`` means i -> j; only these are tested.
    required : (n_variables, n_variables) bool array, optional
        Edges that stay whatever their p-value; they are added where ``edges`` lacks them.
    cutoff : float
        Largest p-value that keeps an edge (the default of the authors' R package).
    test : "wood" or "f"
        Penalized splines with REML and the test of Wood (2013), or unpenalized splines with the partial F test, which
        is faster and has less power.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cause, other = rng.normal(size=(2, 300))
    >>> data = np.column_stack([cause, other, np.cos(2 * cause) + 0.3 * rng.normal(size=300)])
    >>> candidates = np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]], dtype=bool)
    >>> prune_by_gam(data, candidates).edges.astype(int)
    array([[0, 0, 1],
           [0, 0, 0],
           [0, 0, 0]])
    """
    check_choice("test", test, ("wood", "f"))
    if not is_number(cutoff) or not 0 < cutoff <= 1:
        raise OptionError(f"cutoff={cutoff!r} cannot be used: it is a p-value, above 0 and at most 1.")
    d = values.shape[1]
    if edges.shape != (d, d):
        raise DataError(f"the data has {d} columns but the graph has shape {edges.shape}: they must fit.")
    kept_anyway = np.zeros((d, d), dtype=bool) if required is None else required
    candidates = edges | kept_anyway
    parents = [np.flatnonzero(candidates[:, j]) for j in range(d)]
    bases = [spline_basis(column, BASIS_SIZE) for column in values.T]  # the smaller ones are cut from these
    p_values, strengths = np.full((d, d), np.nan), np.zeros((d, d))
    for j in filter(lambda j: len(parents[j]), range(d)):
        size = basis_size(len(values), len(parents[j]))
        fit = fit_terms([bases[i].cut(size) for i in parents[j]], values[:, j], test == "wood")
        p_values[parents[j], j] = fit.p_values
        strengths[parents[j], j] = fit.strengths
    significant = np.less_equal(p_values, cutoff, where=candidates, out=np.zeros((d, d), dtype=bool))
    return GamPruning(significant | kept_anyway, p_values, strengths)
