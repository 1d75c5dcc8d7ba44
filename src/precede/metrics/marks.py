"""How close the marks of an estimated MixedGraph are to the true ones."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from precede.arrays import BoolArray
from precede.errors import GraphError, listed
from precede.graph.ancestral import ARROW, TAIL, definite_ancestors
from precede.graph.mixed_graph import MixedGraph
from precede.metrics.structure import as_graph


@dataclass(frozen=True)
class MarkMetrics:
    """Agreement of two graphs with marks, such as an estimated PAG and the true one.

    Precision is the share of what was found that is true, recall the share of what is true that was found; a share of
    nothing is one.

    Parameters
    ----------
    shd : int
        Pairs of variables with another edge: one is missing, superfluous, or has another mark at an end.
    adjacency_precision, adjacency_recall : float
        Of the edges, whatever their marks.
    arrow_precision, arrow_recall : float
        Of the arrowheads ("does not cause").
    tail_precision, tail_recall : float
        Of the tails ("causes").
    ancestor_precision, ancestor_recall : float
        Of the pairs that a directed path joins.
    """

    shd: int
    adjacency_precision: float
    adjacency_recall: float
    arrow_precision: float
    arrow_recall: float
    tail_precision: float
    tail_recall: float
    ancestor_precision: float
    ancestor_recall: float

    @property
    def adjacency_f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return _harmonic(self.adjacency_precision, self.adjacency_recall)

    @property
    def arrow_f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return _harmonic(self.arrow_precision, self.arrow_recall)

    def to_dict(self) -> dict[str, int | float]:
        """Plain numbers by name, JSON-ready."""
        return {**asdict(self), "adjacency_f1": self.adjacency_f1, "arrow_f1": self.arrow_f1}


def evaluate_marks(estimated: Any, true: MixedGraph) -> MarkMetrics:
    """Compare a MixedGraph, a fitted model or a DAG with the true marks, matched by name."""
    graph = getattr(estimated, "graph_", estimated)
    if not isinstance(graph, MixedGraph):
        dag = as_graph(graph)
        graph = dag.pag if dag.pag is not None else MixedGraph.from_dag(dag).pag()
    if set(graph.names) != set(true.names):
        raise GraphError(
            f"the estimated graph is over {listed(graph.names)} and the true one over {listed(true.names)}: "
            "they must be over the same variables."
        )
    where = [graph.position(name) for name in true.names]
    here, there = graph.ends[np.ix_(where, where)], true.ends
    differs = here != there
    shares = [
        share
        for guess, truth in (
            (np.triu(here != 0), np.triu(there != 0)),
            (here == ARROW, there == ARROW),
            (here == TAIL, there == TAIL),
            (definite_ancestors(here), definite_ancestors(there)),
        )
        for share in _shares(guess, truth)
    ]
    return MarkMetrics(int(np.triu(differs | differs.T).sum()), *shares)  # transposed: a pair differs at either end


def _shares(guess: BoolArray, truth: BoolArray) -> tuple[float, float]:
    off_diagonal = ~np.eye(len(guess), dtype=bool)
    hits = float((guess & truth & off_diagonal).sum())
    parts = [float((each & off_diagonal).sum()) for each in (guess, truth)]
    precision, recall = (hits / whole if whole else 1.0 for whole in parts)
    return precision, recall


def _harmonic(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
