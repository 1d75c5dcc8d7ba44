"""Directed acyclic graphs as bare adjacency matrices: orders, cycles, ancestors, and their equivalence classes."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np
import numpy.typing as npt

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.errors import GraphError, listed
from precede.lazy import sparse


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
    parents: dict[int, list[int]] = {k: [] for k in range(len(edges))}
    for i, j in np.argwhere(edges).tolist():
        parents[j].append(i)
    sorter = TopologicalSorter[int](dict.fromkeys(parents, ()))  # in column order
    for k, causes in parents.items():
        sorter.add(k, *causes)
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


MOST_DENSE = 200
"""Variables up to which products of full matrices are quicker than those of sparse ones."""


def cpdag(adjacency: npt.ArrayLike) -> IntArray:
    """Completed partially directed graph of a DAG: its skeleton, with the edges that every equivalent DAG shares.

    The v-structures are kept, then Meek's rules orient what follows from them.

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
    Dor, Tarsi (1992). A simple algorithm to construct a consistent extension of a partially oriented graph.

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
    # i -> j belongs to a v-structure when another parent of j is not adjacent to i
    directed: BoolArray = edges & (edges.sum(axis=0) - 1 > _paths(adjacent, edges))
    directed = meek_closure(adjacent, directed)
    return np.asarray(directed | (adjacent & ~directed.T), dtype=np.int64)  # transposed: the other direction


def meek_closure(adjacent: BoolArray, directed: BoolArray) -> BoolArray:
    """Directions that follow from known ones without a new collider or a cycle (Meek's rules 1 to 4).

    Parameters
    ----------
    adjacent : (n_variables, n_variables) bool array
        The skeleton, symmetric.
    directed : (n_variables, n_variables) bool array
        Known directions, ``[i, j]`` means i -> j.
    """
    apart = ~adjacent & ~np.eye(len(adjacent), dtype=bool)
    while True:
        loose = adjacent & ~directed & ~directed.T
        # rule 1: k -> i - j, k and j apart, gives i -> j: not all that lead to i are adjacent to j
        implied = loose & (directed.sum(axis=0)[:, None] > _paths(directed.T, adjacent))
        implied |= loose & (_paths(directed, directed) > 0)  # rule 2: i -> k -> j gives i -> j
        for i, j in np.argwhere(loose & ~implied & (_paths(adjacent, directed) > 0)):
            between = loose[i] & directed[:, j]  # rule 3: i - k -> j, i - l -> j, k and l apart, gives i -> j
            implied[i, j] = apart[np.ix_(between, between)].any()
            if not implied[i, j]:  # rule 4: i - k -> l -> j, i and l adjacent, k and j apart, gives i -> j
                via = adjacent[i] & directed[:, j]
                implied[i, j] = (loose[i] & apart[:, j] & directed[:, via].any(axis=1)).any()
        if not implied.any():
            return directed
        directed = directed | (implied & ~implied.T)
        if (implied & implied.T).any():  # contradictory knowledge: leave those as they are
            return directed


def consistent_extension(pattern: npt.ArrayLike, wish: IntArray) -> BoolArray | None:
    """A DAG with the skeleton, the directions and the colliders of a partially directed graph (Dor and Tarsi 1992).

    Of the variables that may come last, the one that comes last in the wished-for order does: so the result depends
    on the pattern and the wish alone.

    Parameters
    ----------
    pattern : (n_variables, n_variables) array
        As :func:`cpdag` gives it.
    wish : (n_variables,) int array
        Causes first.

    Returns
    -------
    adjacency : (n_variables, n_variables) bool array, or None
        None where there is no such DAG.

    Examples
    --------
    >>> chain = cpdag([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    >>> consistent_extension(chain, np.array([2, 1, 0])).astype(int)
    array([[0, 0, 0],
           [1, 0, 0],
           [0, 1, 0]])
    """
    marks = np.asarray(pattern) != 0
    edges: BoolArray = marks & ~marks.T
    waiting = np.asarray(wish)[::-1].tolist()
    refused: set[int] = set()  # until a neighbor is gone
    while waiting:
        for last in waiting:
            if last not in refused:
                if _may_come_last(marks, last):
                    break
                refused.add(last)
        else:
            return None
        edges[:, last] |= marks[:, last]
        refused.difference_update(np.flatnonzero(marks[last] | marks[:, last]).tolist())
        marks[last], marks[:, last] = False, False
        waiting.remove(last)
    return edges


def _may_come_last(marks: BoolArray, x: int) -> bool:
    """Whether x has no effect left, and each neighbor without a direction is adjacent to all its other neighbors."""
    if (marks[x] & ~marks[:, x]).any():
        return False
    around = np.flatnonzero(marks[x] | marks[:, x])
    loose = np.flatnonzero(marks[x] & marks[:, x])
    adjacent = marks[np.ix_(loose, around)] | marks[np.ix_(around, loose)].T
    adjacent |= loose[:, None] == around[None, :]
    return bool(adjacent.all())


def _paths(left: BoolArray, right: BoolArray) -> FloatArray:
    """Matrix product: how many k have ``left[i, k]`` and ``right[k, j]``; few do in graphs with many variables."""
    if len(left) <= MOST_DENSE:
        return np.asarray(left.astype(np.float32) @ right.astype(np.float32))
    product: Any = sparse.csr_array(left, dtype=np.float32) @ sparse.csr_array(right, dtype=np.float32)
    return np.asarray(product.toarray())


def told_by_targets(edges: BoolArray, targets: BoolArray) -> BoolArray:
    """Edges of a DAG whose direction v-structures and interventions tell together (Hauser and Bühlmann 2012).

    An intervention that set one end of an edge and not the other directs it.

    Parameters
    ----------
    edges : (n_variables, n_variables) bool array
    targets : (n_settings, n_variables) bool array
        What was set, in each row or in each kind of row.

    Examples
    --------
    >>> chain = np.array([[False, True, False], [False, False, True], [False, False, False]])
    >>> told_by_targets(chain, np.array([[False, False, False], [False, True, False]])).astype(int)
    array([[0, 1, 0],
           [0, 0, 1],
           [0, 0, 0]])
    """
    pattern = class_of(edges, parted_by(edges, targets)) != 0
    told: BoolArray = pattern & ~pattern.T  # transposed: not the other way as well
    return told


def parted_by(edges: BoolArray, targets: BoolArray) -> BoolArray:
    """Edges of which an intervention set one end and not the other."""
    parted = np.zeros_like(edges)
    for setting in np.unique(targets, axis=0):
        parted |= edges & (setting[:, None] != setting[None, :])
    return parted


def halves(pattern: IntArray | BoolArray) -> FloatArray:
    """What a class says of each direction: one where it has it, and a half each way where it may be either.

    Examples
    --------
    >>> halves(np.array([[0, 1, 0], [1, 0, 1], [0, 0, 0]]))
    array([[0. , 0.5, 0. ],
           [0.5, 0. , 1. ],
           [0. , 0. , 0. ]])
    """
    marks = pattern != 0
    return np.where(marks & marks.T, 0.5, marks)  # transposed: the other way as well


def class_of(edges: BoolArray, told: BoolArray | None = None) -> IntArray:
    """:func:`cpdag`, with the directions that something else tells, and what follows from them by Meek's rules.

    Parameters
    ----------
    edges : (n_variables, n_variables) bool array
        Of a DAG.
    told : (n_variables, n_variables) bool array, optional
        Edges whose direction interventions, time or background knowledge tell.

    Examples
    --------
    >>> chain = np.array([[False, True, False], [False, False, True], [False, False, False]])
    >>> class_of(chain, np.array([[False, True, False], [False, False, False], [False, False, False]]))
    array([[0, 1, 0],
           [0, 0, 1],
           [0, 0, 0]])
    """
    pattern = cpdag(edges)
    if told is not None and (told & (pattern.T != 0)).any():  # transposed: told where the class has both directions
        marks = pattern != 0
        directed = meek_closure(marks | marks.T, (marks & ~marks.T) | (told & edges)) & edges
        pattern[directed.T] = 0  # transposed: the other direction is ruled out
    return pattern
