"""Least-squares weights of given parents, and the threshold that order searches end with."""

import numpy as np

from precede.errors import OptionError
from precede.graph import BoolArray, FloatArray
from precede.knowledge import Constraints


def parent_weights(
    covariance: FloatArray, parents: BoolArray, threshold: float | None, constraints: Constraints
) -> tuple[BoolArray, FloatArray]:
    r"""Regress each variable on its parents and drop small weights.

    :math:`w_j = S_{PP}^{-1} S_{Pj}`, edge kept when :math:`|w_{ij}| \ge` threshold or when it is required.

    Parameters
    ----------
    covariance : (n_variables, n_variables) float array
    parents : (n_variables, n_variables) bool array
        ``[i, j]`` means i -> j.
    threshold : float or None
        None keeps every parent.
    constraints : Constraints

    Returns
    -------
    edges : (n_variables, n_variables) bool array
    weights : (n_variables, n_variables) float array
        Zero where there is no edge.

    Examples
    --------
    >>> parents = np.array([[False, True], [False, False]])
    >>> parent_weights(np.array([[1.0, 0.5], [0.5, 2.0]]), parents, 0.3, Constraints.none(2))[1]
    array([[0. , 0.5],
           [0. , 0. ]])
    """
    if threshold is not None and (isinstance(threshold, bool) or not threshold >= 0):
        raise OptionError(f"threshold={threshold!r} will not do: it must be a number, 0 or more, or None.")
    with_required = constraints.apply(parents)
    weights = np.zeros_like(covariance)
    for j in range(len(covariance)):
        chosen = np.flatnonzero(with_required[:, j])
        weights[chosen, j] = np.linalg.solve(covariance[np.ix_(chosen, chosen)], covariance[chosen, j])
    large = with_required & (np.abs(weights) >= (threshold or 0.0))
    edges = constraints.apply(large)
    return edges, np.where(edges, weights, 0.0)
