"""Are the mechanisms curved, and do their curves add up? Functions of several causes, compared on rows left out."""

from __future__ import annotations

import numpy as np

from precede.arrays import BoolArray, FloatArray
from precede.scores.spread import hinge_basis, left_out_residuals, soft_share

N_WAVES = 100
"""Random Fourier features of a joint curve."""

BEND_RIDGE = 3.0
"""Rows that speak against each of them, and against each hinge."""

MOST_ROWS = 1000
"""Rows that are looked at, evenly spaced."""

LEAST_GAIN, CLEAR_GAIN = 0.005, 0.025
"""Nats per row that the curve must gain over the plane, on rows left out, to count at all, and to count fully."""

CHANCE_ROWS = 1.0
"""Nats over all rows that are added to both: with few rows a gain is mostly chance."""


def share_of_curved_mechanisms(columns: FloatArray, edges: BoolArray) -> float:
    r"""Share of the variables with causes that a joint curve of these explains better than a plane.

    A function of several variables may look like a line in each of them, so that pairs tell little:

    .. math:: y = b + w^\top x + \sum_k a_k \cos(\omega_k^\top x + \varphi_k), \qquad \omega_k \sim N(0, I / p),

    with a ridge on the a, against the plane alone; each row is predicted from all the others.

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
    gains = _gains(columns, edges, 1)[0]
    return share_of_gains(gains, len(columns))


def share_of_gains(gains: FloatArray, n_rows: int) -> float:
    """Share of the gains, in nats per row, that count."""
    chance = CHANCE_ROWS / n_rows
    return soft_share(gains, LEAST_GAIN + chance, CLEAR_GAIN + chance)


def gain_of_adding_up(columns: FloatArray, edges: BoolArray) -> float:
    """Nats per row that a sum of curves gains over a joint curve, mean over the variables with several causes.

    Both have a plane beside them and the same ridge; hinges of each cause against waves of all. Parameters as in
    :func:`share_of_curved_mechanisms`; zero where no variable has two causes.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, y, noise = rng.normal(size=(3, 600))
    >>> edges = np.array([[False, False, True], [False, False, True], [False, False, False]])
    >>> added, multiplied = np.abs(x) + np.sin(2 * y), np.abs(x) * np.sin(2 * y)
    >>> tables = [np.column_stack([x, y, effect + 0.3 * noise]) for effect in (added, multiplied)]
    >>> [gain_of_adding_up(table, edges) > 0 for table in tables]
    [True, False]
    """
    jointly, added = _gains(columns, edges, 2)
    return float(np.mean(added - jointly)) if len(added) else 0.0


def _gains(columns: FloatArray, edges: BoolArray, fewest: int) -> FloatArray:
    """What a joint curve and a sum of curves gain over a plane, (2, n_effects), for effects with this many causes."""
    if len(columns) > MOST_ROWS:
        columns = columns[np.linspace(0, len(columns) - 1, MOST_ROWS).round().astype(int)]
    rng = np.random.default_rng(0)  # the same table gives the same figures
    effects = np.flatnonzero(edges.sum(axis=0) >= fewest)
    gains = [_gain(columns[:, np.flatnonzero(edges[:, v])], columns[:, v], rng) for v in effects]
    return np.array(gains).reshape(-1, 2).T


def _gain(causes: FloatArray, effect: FloatArray, rng: np.random.Generator) -> tuple[float, float]:
    """Nats per row that a joint curve and a sum of curves gain over a plane."""
    n, p = causes.shape
    plane = np.column_stack([np.ones(n), causes])
    waves = np.cos(causes @ (rng.normal(size=(p, N_WAVES)) / np.sqrt(p)) + rng.uniform(0, 2 * np.pi, N_WAVES))
    hinges = np.column_stack([hinge_basis(cause)[:, 2:] for cause in causes.T])
    left = [_left_out_square(plane, bends, effect) for bends in (plane[:, :0], waves, hinges)]
    jointly, added = (float(0.5 * np.log(left[0] / square)) for square in left[1:])
    return jointly, added


def _left_out_square(plane: FloatArray, bends: FloatArray, target: FloatArray) -> float:
    """Mean squared residual of rows left out, with a ridge on the bends."""
    ridge = np.append(np.zeros(plane.shape[1]), np.full(bends.shape[1], BEND_RIDGE))
    left = left_out_residuals(np.column_stack([plane, bends]), target, ridge)
    return max(float(np.square(left).mean()), 1e-12)
