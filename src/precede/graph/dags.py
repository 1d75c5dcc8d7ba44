"""Directed acyclic graphs as bare adjacency matrices: orders, cycles, ancestors."""

from graphlib import CycleError, TopologicalSorter

import numpy as np
import numpy.typing as npt

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.errors import GraphError, listed


def full_dag(order: IntArray) -> BoolArray:
    r"""Densest DAG that agrees with a causal order.

    :math:`A_{ij} = 1 \iff i` comes before :math:`j` (Figure 1 of the paper).

    Parameters
    ----------
    order : (n_variables,) int array
        Causes first; ``order[k]`` is the k-th variable.

    Returns
    -------
    adjacency : (n_variables, n_variables) bool array
        ``adjacency[i, j]`` means i -> j.

    Examples
    --------
    >>> full_dag(np.array([2, 0, 1])).astype(int)
    array([[0, 1, 0],
           [0, 0, 0],
           [1, 1, 0]])
    """
    position = np.argsort(order)  # inverse permutation
    result: BoolArray = position[:, None] < position[None, :]
    return result


def topological_order(adjacency: npt.ArrayLike) -> IntArray:
    """Causal order of a DAG, ties by column position; a cyclic graph is refused.

    Examples
    --------
    >>> topological_order([[0, 0], [1, 0]])
    array([1, 0])
    """
    edges = np.asarray(adjacency) != 0
    try:
        return np.array([*_sorter(edges).static_order()], dtype=np.int64)
    except CycleError:
        raise GraphError(f"the graph has a cycle through columns {listed(find_cycle(edges))}.") from None


def _sorter(edges: BoolArray) -> TopologicalSorter[int]:
    sorter = TopologicalSorter[int](dict.fromkeys(range(len(edges)), ()))  # in column order
    for k in range(len(edges)):
        sorter.add(k, *np.flatnonzero(edges[:, k]).tolist())
    return sorter


def is_acyclic(adjacency: npt.ArrayLike) -> bool:
    """Whether a directed graph has no cycle."""
    return not find_cycle(np.asarray(adjacency) != 0)


def find_cycle(adjacency: BoolArray) -> list[int]:
    """One directed cycle as a list of nodes from the smallest on, or an empty list.

    Examples
    --------
    >>> find_cycle(np.array([[0, 1], [1, 0]], dtype=bool))
    [0, 1]
    """
    try:
        _sorter(adjacency).prepare()
    except CycleError as error:
        cycle: list[int] = error.args[1][1:]
        start = cycle.index(min(cycle))
        return cycle[start:] + cycle[:start]
    return []


def ancestors(adjacency: BoolArray) -> BoolArray:
    """Transitive closure: ``[i, j]`` means a directed path leads from i to j."""
    closure = adjacency.copy()
    for node in topological_order(adjacency):
        parents = adjacency[:, node]
        closure[:, node] |= closure[:, parents].any(axis=1)
    return closure


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
