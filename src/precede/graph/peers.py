"""Graphs to and from other packages: DoWhy, causal-learn, lingam, gcastle.

None of them is a dependency; only :func:`to_causallearn` must import one.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from precede.errors import GraphError, OptionError
from precede.graph.formats import Parts, from_gml, from_networkx, text_names, to_networkx
from precede.lazy import networkx as nx


def to_dowhy(parts: Parts) -> nx.DiGraph[Hashable]:
    """What ``dowhy.CausalModel(graph=...)`` and ``dowhy.gcm`` take: a networkx graph with string names."""
    return to_networkx(parts._replace(names=tuple(text_names(parts.names))))


def from_dowhy(source: Any) -> Parts:
    """Parts of a DoWhy ``CausalModel``, of its graph, or of a GML string; its unobserved nodes are left out."""
    if isinstance(source, str):
        return from_gml(source)
    for attribute in ("_graph", "graph"):  # CausalModel -> CausalGraph -> networkx; gcm models have .graph
        while not hasattr(source, "is_directed") and hasattr(source, attribute):
            source = getattr(source, attribute)
    if not hasattr(source, "is_directed"):
        raise GraphError(f"a {type(source).__name__} is not a DoWhy model or graph.")
    hidden = [node for node, data in source.nodes(data=True) if data.get("observed", "yes") == "no"]
    return from_networkx(source.subgraph([node for node in source.nodes if node not in hidden]))


def to_causallearn(parts: Parts) -> Any:
    """A ``causallearn.graph.Dag.Dag``; causal-learn has no weights."""
    try:
        dag_class = import_module("causallearn.graph.Dag").Dag
        node_class = import_module("causallearn.graph.GraphNode").GraphNode
    except ImportError:
        raise OptionError("to_causallearn needs the package causal-learn: install it first.") from None
    nodes = [node_class(name) for name in text_names(parts.names)]
    dag = dag_class(nodes)
    for i, j in np.argwhere(parts.edges):
        dag.add_directed_edge(nodes[i], nodes[j])
    return dag


def from_causallearn(source: Any) -> Parts:
    """Parts of a causal-learn graph (``Dag``, ``GeneralGraph``, or a result that holds one as ``G``).

    causal-learn marks i -> j by -1 at [i, j] (tail at i) and 1 at [j, i] (head at j).
    """
    graph = source["G"] if isinstance(source, dict) else getattr(source, "G", source)
    marks = np.asarray(graph.graph)
    edges = (marks == -1) & (marks.T == 1)  # transposed: the mark at the other end
    if ((marks != 0) & ~edges & ~edges.T).any():
        raise GraphError("the causal-learn graph has edges that are not directed: a causal graph needs a DAG.")
    return Parts(edges, edges.astype(float), tuple(node.get_name() for node in graph.get_nodes()))


def to_lingam(parts: Parts) -> npt.NDArray[np.float64]:
    """lingam's weight matrix, whose [i, j] is the effect of j on i."""
    return parts.strengths.T.copy()  # transposed: lingam puts effects in rows


def from_lingam(source: Any, names: Sequence[Hashable] | None = None) -> Parts:
    """Parts of a fitted lingam model, or of its ``adjacency_matrix_``."""
    matrix = np.asarray(getattr(source, "adjacency_matrix_", source), dtype=float).T  # transposed: as in to_lingam
    if np.isnan(matrix).any():
        raise GraphError("the lingam matrix has NaN where a hidden common cause is suspected: it is not a DAG.")
    return _bare(matrix, names)


def to_gcastle(parts: Parts) -> npt.NDArray[np.int64]:
    """gcastle's ``causal_matrix``: 0/1 integers, causes in rows."""
    return parts.edges.astype(np.int64)


def from_gcastle(source: Any, names: Sequence[Hashable] | None = None) -> Parts:
    """Parts of a fitted gcastle learner, or of its ``causal_matrix``, whose own column names are kept."""
    matrix = getattr(source, "causal_matrix", source)
    if names is None:
        names = getattr(matrix, "columns", None)
    return _bare(np.asarray(matrix, dtype=float), names)


def _bare(matrix: npt.NDArray[np.float64], names: Sequence[Hashable] | None) -> Parts:
    labels = tuple(range(len(matrix))) if names is None else tuple(names)
    return Parts(matrix != 0, matrix, labels)
