"""How well a causal order agrees with a true graph."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from precede.arrays import BoolArray, IntArray
from precede.errors import GraphError
from precede.graph import CausalGraph
from precede.graph.dags import full_dag
from precede.metrics.alignment import as_graph


def share_in_order(order: IntArray, edges: BoolArray) -> float:
    """Share of the edges that lead forward in an order of column positions; one without edges."""
    n_edges = int(edges.sum())
    return float((edges & full_dag(order)).sum()) / n_edges if n_edges else 1.0


def order_tpr(order: CausalGraph | Sequence[Hashable] | IntArray | Any, truth: Any) -> float:
    r"""True positive rate of an ordering: share of the true edges in the order's full DAG.

    :math:`|\{i \to j : i \text{ before } j\}| / |\{i \to j\}|`.

    Parameters
    ----------
    order : sequence of names or column positions, CausalGraph or fitted estimator
        Causes first; a graph gives its own order.
    truth : CausalGraph, DataFrame or (n_variables, n_variables) array

    Examples
    --------
    >>> order_tpr([1, 0, 2], [[0, 1, 1], [0, 0, 1], [0, 0, 0]])
    0.6666666666666666
    """
    true = as_graph(truth)
    graph = getattr(order, "graph_", order)
    items: list[Any] = list(graph.order) if isinstance(graph, CausalGraph) else list(graph)
    index = {name: k for k, name in enumerate(true.names)}
    by_name = set(items) == set(index)
    try:
        positions = [index[item] if by_name else operator.index(item) for item in items]
    except TypeError:  # a name that the true graph does not have
        positions = []
    if sorted(positions) != list(range(true.n_variables)):
        raise GraphError(f"the order must list each of the {true.n_variables} variables of the true graph once.")
    return share_in_order(np.array(positions, dtype=np.int64), true.edges)
