"""Two graphs over the same variables, matched by name or by position."""

from __future__ import annotations

from typing import Any

import numpy as np

from precede.arrays import IntArray
from precede.errors import GraphError, listed
from precede.graph import CausalGraph


def aligned(estimated: Any, truth: Any) -> tuple[CausalGraph, CausalGraph]:
    """Both as graphs over the same variables in the truth's column order."""
    guess, true = as_graph(estimated), as_graph(truth)
    if guess.n_variables != true.n_variables:
        raise GraphError(
            f"the estimated graph has {guess.n_variables} variables and the true one {true.n_variables}: "
            "they must be over the same ones."
        )
    if guess.names == true.names:
        return guess, true
    nameless = tuple(range(true.n_variables))
    if set(guess.names) == set(true.names):
        where = [guess.names.index(name) for name in true.names]
    elif nameless in (guess.names, true.names):
        where = list(nameless)
    else:
        strange = [name for name in guess.names if name not in set(true.names)]
        lacking = [name for name in true.names if name not in set(guess.names)]
        raise GraphError(
            f"the estimated graph has {listed(strange)} where the true one has {listed(lacking)}: "
            "they must be over the same variables."
        )
    position: IntArray = np.argsort(where)
    moved = CausalGraph.from_matrix(
        guess.edges[np.ix_(where, where)],
        guess.strengths[np.ix_(where, where)],
        position[guess.positions],
        range(true.n_variables),
    )
    return moved, true


def as_graph(graph: Any) -> CausalGraph:
    """A graph from any of the accepted forms; a fitted estimator gives its ``graph_``."""
    graph = getattr(graph, "graph_", graph)
    if hasattr(graph, "is_directed"):  # networkx
        return CausalGraph.from_networkx(graph)
    return graph if isinstance(graph, CausalGraph) else CausalGraph.from_matrix(graph)
