r"""Spline bases of one variable: natural cubic splines, rotated from smooth to rough.

References
----------
Wood (2003), Thin plate regression splines, JRSS B 65.
Green and Silverman (1994), Nonparametric Regression and Generalized Linear Models.
Demmler and Reinsch (1975), Oscillation matrices with spline smoothing, Numerische Mathematik 24.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from precede.arrays import FloatArray

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
    if len(knots) < 3:
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
    inner = np.arange(k - 2)
    differences = np.zeros((k - 2, k))
    differences[inner, inner] = 1 / gaps[:-1]
    differences[inner, inner + 2] = 1 / gaps[1:]
    differences[inner, inner + 1] = -1 / gaps[:-1] - 1 / gaps[1:]
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
