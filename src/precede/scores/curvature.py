"""Are the mechanisms curved? Joint curves of several causes, which no single pair shows, on held-out rows."""

from __future__ import annotations

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray

N_WAVES = 100
"""Random Fourier features of a joint curve."""

WAVE_RIDGE = 3.0
"""Rows that speak against each of them."""

MOST_ROWS = 1000
"""Rows that are looked at, evenly spaced."""

SMALLEST_GAIN = 0.015
"""Nats per row that the curve must gain over the plane, held out, for a mechanism to count as curved."""


def share_of_curved_mechanisms(columns: FloatArray, edges: BoolArray) -> float:
    r"""Share of the variables with causes that a joint curve of these explains better than a plane.

    A function of several variables may look like a line in each of them, so that pairs tell little:

    .. math:: y = b + w^\top x + \sum_k a_k \cos(\omega_k^\top x + \varphi_k), \qquad \omega_k \sim N(0, I / p),

    with a ridge on the a, against the plane alone; each half of the rows is predicted from the other.

    Parameters
    ----------
    columns : (n_samples, n_variables) array
        Standardized.
    edges : (n_variables, n_variables) bool array
        Supposed causes, ``[i, j]`` for i -> j.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, y, noise = rng.normal(size=(3, 600))
    >>> edges = np.array([[False, False, True], [False, False, True], [False, False, False]])
    >>> share_of_curved_mechanisms(np.column_stack([x, y, x * y + noise]), edges)
    1.0
    >>> share_of_curved_mechanisms(np.column_stack([x, y, x + y + noise**3]), edges)
    0.0
    """
    effects = np.flatnonzero(edges.any(axis=0))
    if not len(effects):
        return 0.0
    if len(columns) > MOST_ROWS:
        columns = columns[np.linspace(0, len(columns) - 1, MOST_ROWS).round().astype(int)]
    rng = np.random.default_rng(0)  # the same table gives the same share
    gains = [_gain(columns[:, np.flatnonzero(edges[:, v])], columns[:, v], rng) for v in effects]
    return float(np.mean(np.array(gains) > SMALLEST_GAIN))


def _gain(causes: FloatArray, effect: FloatArray, rng: np.random.Generator) -> float:
    """Nats per row that the curve gains over the plane."""
    n, p = causes.shape
    plane = np.column_stack([np.ones(n), causes])
    waves = np.cos(causes @ (rng.normal(size=(p, N_WAVES)) / np.sqrt(p)) + rng.uniform(0, 2 * np.pi, N_WAVES))
    both = np.column_stack([plane, waves])
    ridge = np.append(np.full(p + 1, 1e-6 * n), np.full(N_WAVES, WAVE_RIDGE))
    halves = np.arange(n) % 2
    left = [_held_out_square(basis, effect, ridge[: basis.shape[1]], halves) for basis in (plane, both)]
    return float(0.5 * np.log(left[0] / max(left[1], 1e-12)))


def _held_out_square(basis: FloatArray, target: FloatArray, ridge: FloatArray, halves: IntArray) -> float:
    """Mean squared residual, each half predicted from the other's fit."""
    total = 0.0
    for held_out in (halves == 0, halves == 1):
        fitted = basis[~held_out]
        weights = np.linalg.solve(fitted.T @ fitted + np.diag(ridge), fitted.T @ target[~held_out])
        total += float(np.square(target[held_out] - basis[held_out] @ weights).sum())
    return max(total / len(target), 1e-12)
