"""Least-squares weights of given parents, and the threshold that order searches end with."""

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.knowledge import Constraints
from precede.pruning.weights import regression_on


def parent_weights(
    covariance: FloatArray,
    parents: BoolArray,
    order: IntArray,
    threshold: float | None,
    constraints: Constraints,
    *,
    standardized: bool = False,
) -> tuple[BoolArray, FloatArray]:
    r"""Regress each variable on its parents and drop small weights.

    :math:`w_j = S_{PP}^{-1} S_{Pj}`, edge kept when :math:`|w_{ij}| \ge` threshold or when it is required.

    Parameters
    ----------
    covariance : (n_variables, n_variables) float array
    parents : (n_variables, n_variables) bool array
        ``[i, j]`` means i -> j.
    order : (n_variables,) int array
        An order that the parents agree with.
    threshold : float or None
        None keeps every parent.
    constraints : Constraints
    standardized : bool
        The threshold is for the weights between standardized columns; those returned are in the units of the data.

    Returns
    -------
    edges : (n_variables, n_variables) bool array
    weights : (n_variables, n_variables) float array
        Zero where there is no edge.

    Examples
    --------
    >>> parents = np.array([[False, True], [False, False]])
    >>> moments = np.array([[1.0, 0.5], [0.5, 2.0]])
    >>> parent_weights(moments, parents, np.array([0, 1]), 0.3, Constraints.none(2))[1]
    array([[0. , 0.5],
           [0. , 0. ]])
    """
    candidates = constraints.apply(parents)
    weights = regression_on(covariance, candidates, order)
    scale = np.sqrt(np.diag(covariance)) if standardized else np.ones(len(covariance))
    large = np.abs(weights) * scale[:, None] / scale >= (threshold or 0.0)
    edges = constraints.apply(candidates & large)
    return edges, np.where(edges, weights, 0.0)
