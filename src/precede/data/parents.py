"""A linear model along a graph: every column regressed on its causes."""

from __future__ import annotations

import numpy as np

from precede.arrays import BoolArray, FloatArray


def weights_on_parents(columns: FloatArray, edges: BoolArray) -> FloatArray:
    """Least-squares weights ``[cause, effect]``; of causes that say the same, the smallest.

    Parameters
    ----------
    columns : (n_rows, n_columns) float array
        Centered rows; a factor of a covariance gives the same weights.
    edges : (n_columns, n_columns) bool array

    Examples
    --------
    >>> weights_on_parents(np.array([[-1.0, -2.0], [1.0, 2.0]]), np.array([[False, True], [False, False]]))
    array([[0., 2.],
           [0., 0.]])
    """
    weights = np.zeros(edges.shape)
    for k in np.flatnonzero(edges.any(axis=0)):
        causes = np.flatnonzero(edges[:, k])
        weights[causes, k] = np.linalg.lstsq(columns[:, causes], columns[:, k], rcond=None)[0]
    return weights
