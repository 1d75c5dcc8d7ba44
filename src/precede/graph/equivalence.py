"""Markov equivalence: what observational data alone can tell about a DAG."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from precede.arrays import BoolArray, IntArray
from precede.graph.dags import topological_order


def cpdag(adjacency: npt.ArrayLike) -> IntArray:
    """Completed partially directed graph of a DAG: its skeleton, with the edges that every equivalent DAG shares.

    The v-structures are kept, then Meek's rules 1 to 3 orient what follows from them (rule 4 is only needed with
    background knowledge).

    Parameters
    ----------
    adjacency : (n_variables, n_variables) array
        A DAG; non-zero at ``[i, j]`` means i -> j.

    Returns
    -------
    pattern : (n_variables, n_variables) int array
        1 at ``[i, j]`` only: i -> j in every equivalent DAG; 1 at ``[i, j]`` and ``[j, i]``: either way.

    References
    ----------
    Meek (1995). Causal inference and causal explanation with background knowledge. UAI.

    Examples
    --------
    >>> cpdag([[0, 1, 0], [0, 0, 1], [0, 0, 0]])  # a chain can be turned round
    array([[0, 1, 0],
           [1, 0, 1],
           [0, 1, 0]])
    >>> cpdag([[0, 1, 0], [0, 0, 0], [0, 1, 0]])  # a collider cannot
    array([[0, 1, 0],
           [0, 0, 0],
           [0, 1, 0]])
    """
    edges = np.asarray(adjacency) != 0
    topological_order(edges)  # refuses cycles
    adjacent = edges | edges.T  # transposed: an undirected graph has both directions
    apart = ~adjacent & ~np.eye(len(edges), dtype=bool)
    # i -> j belongs to a v-structure when another parent of j is not adjacent to i
    directed: BoolArray = edges & _meet(apart, edges)
    while True:
        loose = adjacent & ~directed & ~directed.T
        implied = loose & _meet(directed.T, apart)  # rule 1: k -> i - j, k and j apart, gives i -> j
        implied |= loose & _meet(directed, directed)  # rule 2: i -> k -> j gives i -> j
        for i, j in np.argwhere(loose & ~implied):  # rule 3: i - k -> j, i - l -> j, k and l apart, gives i -> j
            between = loose[i] & directed[:, j]
            implied[i, j] = apart[np.ix_(between, between)].any()
        if not implied.any():
            return np.asarray(directed | loose, dtype=np.int64)
        directed |= implied


def _meet(left: BoolArray, right: BoolArray) -> BoolArray:
    """Boolean matrix product: ``[i, j]`` when some k has ``left[i, k]`` and ``right[k, j]``."""
    return np.asarray(left.astype(np.float32) @ right.astype(np.float32) > 0)
