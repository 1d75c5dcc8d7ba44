"""Fits of every variable on its parents: residuals, effects, and how surely each effect is there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg, special

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.pruning.splines import basis_size, spline_basis
from precede.scores.assumptions import MechanismKind

MOST_ROWS = 5000
"""Checks look at this many rows at most, evenly spaced: more rows would only make tiny departures significant."""

CURVE_BASIS = 6
"""Basis functions of a curve, the constant included."""


@dataclass(frozen=True)
class Mechanisms:
    """Every variable regressed on its parents.

    Parameters
    ----------
    rows : (n_rows,) int array
        The rows of the data that were used.
    residuals : (n_rows, n_variables) float array
        Centred; of a variable without parents, the variable itself.
    effects : dict
        ``effects[i, j]``: the contribution of i to j, (n_rows,), centred.
    p_values : (n_variables, n_variables) float array
        Of the partial F test of each edge, NaN where there is none.
    spread : (n_variables,) float array
        Standard deviation of each variable.
    """

    rows: IntArray
    residuals: FloatArray
    effects: dict[tuple[int, int], FloatArray]
    p_values: FloatArray
    spread: FloatArray

    def strength(self, cause: int, effect: int) -> float:
        """Standard deviation of the cause's contribution over that of the variable: comparable between edges."""
        return float(self.effects[cause, effect].std() / self.spread[effect])


def fit_mechanisms(values: FloatArray, edges: BoolArray, kind: MechanismKind = "linear") -> Mechanisms:
    r"""Fit :math:`x_j = \alpha_j + \sum_{i \to j} f_{ij}(x_i) + \varepsilon_j` by least squares.

    Parameters
    ----------
    values : (n_samples, n_variables) float array
    edges : (n_variables, n_variables) bool array
        ``edges[i, j]`` means i -> j.
    kind : "linear" or "additive"
        Whether :math:`f_{ij}` is a straight line or a regression spline.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=500)
    >>> data = np.column_stack([x, 2 * x + 1e-6 * np.random.default_rng(1).normal(size=500)])
    >>> fit = fit_mechanisms(data, np.array([[0, 1], [0, 0]], dtype=bool))
    >>> bool(np.allclose(fit.effects[0, 1], 2 * (x - x.mean()), atol=1e-4))
    True
    """
    rows = evenly_spaced(len(values), MOST_ROWS)
    sample = values[rows] - values[rows].mean(axis=0)
    m, d = sample.shape
    residuals, p_values = sample.copy(), np.full((d, d), np.nan)
    effects: dict[tuple[int, int], FloatArray] = {}
    bases: dict[tuple[int, int], FloatArray] = {}
    for j in range(d):
        parents = np.flatnonzero(edges[:, j])
        if len(parents) == 0 or m < len(parents) + 3:
            effects |= {(int(i), j): np.zeros(m) for i in parents}
            continue
        size = 2 if kind == "linear" else min(CURVE_BASIS, basis_size(m, len(parents)))
        for i in parents:
            if (int(i), size) not in bases:
                bases[int(i), size] = spline_basis(sample[:, i], size).columns
        blocks = [bases[int(i), size] for i in parents]
        parts, p_values[parents, j] = _regress_blocks(blocks, sample[:, j])
        effects |= {(int(i), j): part for i, part in zip(parents, parts, strict=True)}
        residuals[:, j] -= np.sum(parts, axis=0)
    return Mechanisms(rows, residuals, effects, p_values, sample.std(axis=0))


def evenly_spaced(n_rows: int, most: int) -> IntArray:
    """At most ``most`` row numbers, spread over the table.

    Examples
    --------
    >>> evenly_spaced(7, 3)
    array([0, 3, 6])
    """
    if n_rows <= most:
        return np.arange(n_rows)
    return np.linspace(0, n_rows - 1, most).round().astype(np.int64)


def _regress_blocks(blocks: list[FloatArray], target: FloatArray) -> tuple[list[FloatArray], FloatArray]:
    """Contribution of each block of columns, and the p-value of its partial F test."""
    design = np.hstack(blocks)
    m, width = design.shape
    gram = design.T @ design
    gram[np.diag_indices(width)] += 1e-9 * m  # columns have variance one; curves of collinear parents may coincide
    factor = linalg.cho_factor(gram)
    coefficients = linalg.cho_solve(factor, design.T @ target)
    inverse = linalg.cho_solve(factor, np.eye(width))
    left = m - width - 1
    variance = float(((target - design @ coefficients) ** 2).sum()) / left
    parts, p_values, start = [], [], 0
    for block in blocks:
        span = slice(start, start + block.shape[1])
        start = span.stop
        b = coefficients[span]
        parts.append(block @ b)
        statistic = float(b @ np.linalg.solve(inverse[span, span], b)) / (len(b) * max(variance, 1e-300))
        p_values.append(f_tail(statistic, len(b), left))
    return parts, np.array(p_values)


def f_tail(statistic: float, numerator: int, denominator: int) -> float:
    """P(F > statistic), without the weight of scipy.stats."""
    return float(special.fdtrc(numerator, denominator, max(statistic, 0.0)))
