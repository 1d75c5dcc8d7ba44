"""Sortability: how far a mere sorting of the variables gives their causal order away."""

from typing import Any

import numpy as np
import numpy.typing as npt

from precede.arrays import FloatArray
from precede.errors import DataError
from precede.graph.dags import topological_order

TIE = 1e-9
"""Relative difference below which two variables count as equal."""


def var_sortability(data: Any, adjacency: Any) -> float:
    """Share of the directed paths along which the variance grows (Reisach et al. 2021).

    Parameters
    ----------
    data : (n_samples, n_variables) array or DataFrame
    adjacency : CausalGraph, DataFrame or (n_variables, n_variables) array
        The true DAG, over the columns of ``data``.

    Returns
    -------
    float
        One: sorting by variance gives a causal order; a half: it tells nothing; NaN for a graph without edges.

    Examples
    --------
    >>> var_sortability([[0, 0], [1, 3], [0, 1]], [[0, 1], [0, 0]])
    1.0
    """
    return sortability(_matrix(data).var(axis=0), adjacency)


def r2_sortability(data: Any, adjacency: Any) -> float:
    r"""Share of the directed paths along which the explained share of variance grows (Reisach et al. 2023).

    The criterion of a variable is the :math:`R^2` of its linear regression on all the others,
    :math:`1 - 1 / (C_{jj} (C^{-1})_{jj})` with C the correlations, so it does not depend on scales.
    Parameters, result and conventions are those of :func:`var_sortability`.
    """
    return sortability(explained_shares(data), adjacency)


def explained_shares(data: Any) -> FloatArray:
    """:math:`R^2` of each variable regressed linearly on all the others, (n_variables,)."""
    correlations = np.corrcoef(_matrix(data), rowvar=False)
    precision = np.diag(np.linalg.pinv(correlations, hermitian=True))
    return np.clip(1.0 - 1.0 / precision, 0.0, 1.0)


def sortability(criterion: npt.ArrayLike, adjacency: Any) -> float:
    r"""Share of the directed paths that lead from a smaller to a larger criterion.

    .. math:: \frac{\sum_{k=1}^{d-1} \sum_{i \to j \in E^k} \mathrm{increasing}(c_i, c_j)}
                   {\sum_{k=1}^{d-1} \sum_{i \to j \in E^k} 1}

    where :math:`E^k` holds the pairs joined by a path of k edges, and increasing is 1, or 1/2 for a tie.

    Parameters
    ----------
    criterion : (n_variables,) array
    adjacency : CausalGraph, DataFrame or (n_variables, n_variables) array

    Examples
    --------
    >>> sortability([1, 3, 2], [[0, 1, 0], [0, 0, 1], [0, 0, 0]])  # 0 -> 1, 0 -> 2 grow, 1 -> 2 does not
    0.6666666666666666
    """
    edges = np.asarray(getattr(adjacency, "edges", adjacency)) != 0
    topological_order(edges)  # refuses cycles
    values = np.asarray(criterion, dtype=float)
    difference = values[None, :] - values[:, None]  # [i, j]: growth from i to j
    tie = np.abs(difference) <= TIE * np.maximum(np.abs(values[None, :]), np.abs(values[:, None]))
    increasing = np.where(tie, 0.5, difference > 0)
    total, grown = 0, 0.0
    joined = edges
    while joined.any():
        total += int(joined.sum())
        grown += float(increasing[joined].sum())
        joined = joined.astype(np.float32) @ edges.astype(np.float32) > 0
    return grown / total if total else float("nan")


def _matrix(data: Any) -> FloatArray:
    values = np.asarray(getattr(data, "values", data), dtype=float)
    if values.ndim != 2 or not np.isfinite(values).all():
        raise DataError("sortability needs a table of finite numbers, samples in rows.")
    return values
