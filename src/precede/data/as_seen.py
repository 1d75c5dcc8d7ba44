"""What a table shows of the variables behind it: levels, errors of measurement, and not all of them."""

from __future__ import annotations

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray


def discretized(column: FloatArray, n_levels: int, rng: np.random.Generator) -> FloatArray:
    """Levels 0, 1, ... cut at random quantiles, each level with at least a third of an equal share.

    Examples
    --------
    >>> np.unique(discretized(np.arange(100.0), 3, np.random.default_rng(0)))
    array([0., 1., 2.])
    """
    shares = rng.uniform(0.5, 1.5, n_levels)
    cuts = np.quantile(column, np.cumsum(shares / shares.sum())[:-1])
    return np.searchsorted(cuts, column).astype(np.float64)


def with_measurement_error(data: FloatArray, share: float, rng: np.random.Generator) -> FloatArray:
    """Independent Gaussian error on every cell, its deviation a share of the column's."""
    return np.asarray(data + share * data.std(axis=0) * rng.standard_normal(data.shape))


def marginal_graph(adjacency: BoolArray, shown: IntArray) -> BoolArray:
    """Edges among the variables that are shown: direct, or along a path whose inner variables are all hidden.

    Examples
    --------
    >>> chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)
    >>> marginal_graph(chain, np.array([0, 2])).astype(int)
    array([[0, 1],
           [0, 0]])
    """
    hidden = np.setdiff1d(np.arange(len(adjacency)), shown)
    edges = adjacency.copy()
    for node in hidden:  # take it out, and connect its parents with its children
        edges |= np.outer(edges[:, node], edges[node])
    return np.asarray(edges[np.ix_(shown, shown)])
