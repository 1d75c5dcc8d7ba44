"""What is left of each variable once its causes are taken away, and whether two such residuals are still dependent.

In a graph that lacks nothing, the noise of every variable is its own. A hidden common cause shows as noise that two
variables share: between two that no edge joins already as a correlation; along an edge, where the regression has taken
the correlation away, as dependence of higher order, which Gaussian noise does not have.
"""

from __future__ import annotations

import numpy as np

from precede.arrays import BoolArray, FloatArray
from precede.falsification.curves import DEGREE, polynomial_columns
from precede.lazy import special
from precede.pruning.splines import basis_size, spline_basis

CURVE_BASIS = 6
"""Basis functions of a curve, the constant included."""

CLIP = 3.0
"""Standard deviations beyond which a rest counts no more."""


def residuals(values: FloatArray, edges: BoolArray) -> FloatArray:
    """Every variable less its regression on its parents, a sum of regression splines.

    Parameters
    ----------
    values : (n_samples, n_variables) float array
    edges : (n_variables, n_variables) bool array
        ``edges[i, j]`` means i -> j.

    Returns
    -------
    residuals : (n_samples, n_variables) float array
        Centered, each row's divided by what its leverage leaves; of a variable without parents, the variable itself.
    """
    left = values - values.mean(axis=0)
    for j in range(values.shape[1]):
        parents = np.flatnonzero(edges[:, j])
        if 0 < len(parents) < len(values) - 3:
            size = min(CURVE_BASIS, basis_size(len(values), len(parents)))
            basis, _ = np.linalg.qr(np.hstack([spline_basis(values[:, i], size).columns for i in parents]))
            leverage = np.minimum((basis**2).sum(axis=1) + 1 / len(values), 0.9)
            # a row far out pulls the curve towards it: without this, noise would look smaller there
            left[:, j] = (left[:, j] - basis @ (basis.T @ left[:, j])) / np.sqrt(1 - leverage)
    return np.asarray(left)


def dependence(residuals: FloatArray, edges: BoolArray) -> FloatArray:
    r"""P-value that the residuals of each pair are independent.

    With orthogonal polynomials :math:`h_k` up to the third degree, :math:`m \sum_{kl} r(h_k(e_i), h_l(e_j))^2` is
    chi-squared with nine degrees of freedom; beside it stands the correlation alone, with one. Twice the smaller
    p-value is taken. Along an edge i -> j the regression has removed what is linear in j's rest: six degrees are left.

    Parameters
    ----------
    residuals : (n_samples, n_variables) float array
        As :func:`residuals` gives them.
    edges : (n_variables, n_variables) bool array

    Returns
    -------
    p_values : (n_variables, n_variables) float array
        Symmetric; one on the diagonal.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> hidden = rng.normal(size=800)
    >>> x = np.column_stack([hidden + rng.normal(size=800), hidden + rng.normal(size=800), rng.normal(size=800)])
    >>> (dependence(residuals(x, np.zeros((3, 3), bool)), np.zeros((3, 3), bool)) < 0.01).astype(int)
    array([[0, 1, 0],
           [1, 0, 0],
           [0, 0, 0]])
    """
    m, d = residuals.shape
    squares = polynomial_squares(residuals)
    whole = special.chdtrc(DEGREE**2, m * squares.sum(axis=(2, 3)))
    linear = special.chdtrc(1, m * squares[:, :, 0, 0])
    apart = np.minimum(2 * np.minimum(whole, linear), 1.0)
    bent = special.chdtrc(DEGREE * (DEGREE - 1), m * squares[:, :, :, 1:].sum(axis=(2, 3)))  # j's rest beyond the line
    joined = np.where(edges, bent, bent.T)  # transposed: of an edge j -> i
    upper = np.triu(np.where(edges | edges.T, joined, apart), 1)
    return np.asarray(upper + upper.T + np.eye(d))  # transposed: the same both ways, to the last bit


def polynomial_squares(values: FloatArray) -> FloatArray:
    r"""Squared correlations :math:`r(h_k(x_i), h_l(x_j))^2` of polynomials of two variables, ``[i, j, k, l]``.

    Parameters
    ----------
    values : (n_samples, n_variables) float array
        Centered.

    Returns
    -------
    squares : (n_variables, n_variables, degree, degree) float array
    """
    m, d = values.shape
    spread = values.std(axis=0)
    # clipped, so that single rows do not decide; not ranked, as ranks near a hard edge of the noise depend on the fit
    columns = polynomial_columns(np.clip(values / np.where(spread > 0, spread, 1.0), -CLIP, CLIP))
    return np.asarray(((columns.T @ columns / m) ** 2).reshape(d, DEGREE, d, DEGREE).transpose(0, 2, 1, 3))
