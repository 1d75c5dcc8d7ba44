"""Several graphs over the same variables, side by side: where they agree, where not, and what they add up to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from precede.arrays import FloatArray
from precede.comparison import figure, votes
from precede.errors import OptionError
from precede.graph import CausalGraph
from precede.graph.dags import ancestors, full_dag
from precede.knowledge import Constraints, Knowledge
from precede.lazy import pandas as pd
from precede.metrics.alignment import aligned, as_graph

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Comparison:
    """Graphs side by side.

    Parameters
    ----------
    graphs : dict of label to CausalGraph
        Over the same variables, in the same column order.
    weights : (n_graphs,) float array
        Of the votes; sum to one.
    remarks : tuple of str
        What happened on the way, a sentence each.
    constraints : Constraints, optional
        The background knowledge of all members together, which the consensus obeys.

    Attributes
    ----------
    consensus : CausalGraph
        The acyclic graph of the weighted votes; its weights are the shares that have the edge.
    """

    graphs: dict[str, CausalGraph]
    weights: FloatArray
    remarks: tuple[str, ...] = ()
    constraints: Constraints | None = None

    @classmethod
    def of(
        cls,
        graphs: Mapping[str, Any],
        weights: Mapping[str, float] | None = None,
        remarks: Sequence[str] = (),
        knowledge: Iterable[Knowledge | None] = (),
    ) -> Comparison:
        """Line graphs up and count their votes.

        Parameters
        ----------
        graphs : dict of label to CausalGraph, fitted estimator, networkx DiGraph, DataFrame or array
        weights : dict of label to number, optional
            How much each counts. When left out, by how well it agrees with the consensus.
        remarks : sequence of str
        knowledge : iterable of Knowledge or None
            What the members were given beforehand; that of a fitted estimator is known. Where it contradicts itself,
            the votes decide, which a remark says.

        Examples
        --------
        >>> one, other = [[0, 1, 0], [0, 0, 1], [0, 0, 0]], [[0, 1, 0], [0, 0, 0], [0, 0, 0]]
        >>> Comparison.of({"a": one, "b": one, "c": other}).consensus
        CausalGraph(3 variables, 2 edges: 0 -> 1, 1 -> 2)
        """
        if len(graphs) < 2:
            raise OptionError(
                f"a comparison needs two graphs or more; there {'is' if graphs else 'are'} {len(graphs)}: name another."
            )
        labels = list(graphs)
        first = as_graph(graphs[labels[0]])
        lined = {labels[0]: first}
        for label in labels[1:]:
            moved, _ = aligned(graphs[label], first)
            lined[label] = replace(moved, names=first.names)
        given = [*knowledge, *(getattr(member, "knowledge", None) for member in graphs.values())]
        rules = [one.over(first.names) for one in given if one is not None]
        together = Constraints.together(rules) if rules else None
        if rules and together is None:
            remarks = [*remarks, "The rules that the members were given contradict each other: votes decide."]
        return cls(lined, _weights(lined, weights), tuple(remarks), together)

    @cached_property
    def _counted(self) -> tuple[CausalGraph, FloatArray]:
        members = list(self.graphs.values())
        edges, order, shares = votes.consensus(
            [graph.edges for graph in members],
            [graph.positions for graph in members],
            self.weights,
            np.any([graph.edges & fixed for graph in members if (fixed := graph.fixed_directions) is not None], axis=0),
            self.constraints,
        )
        graph = CausalGraph.from_matrix(edges, np.where(edges, np.maximum(shares, 1e-9), 0.0), order, members[0].names)
        return replace(graph, sample=members[0].sample, lags=members[0].lags), shares

    @property
    def consensus(self) -> CausalGraph:
        return self._counted[0]

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row for each pair that some graph joins: what each says, the share of votes each way, and the consensus.

        ``->`` and ``<-`` read from the first variable to the second, ``--`` is a pair with as many votes each way; an
        empty mark means that the pair is not joined.
        The most disputed pairs come first.
        """
        names, (agreed, shares) = self.consensus.names, self._counted
        joined = votes.joined_by(shares)
        rows = []
        for i, j in np.argwhere(np.triu(np.any([g.edges | g.edges.T for g in self.graphs.values()], axis=0))):
            marks = {label: _mark(graph, int(i), int(j)) for label, graph in self.graphs.items()}
            rows.append(
                {
                    "first": names[i],
                    "second": names[j],
                    **marks,
                    "forward": float(shares[i, j]),
                    "backward": float(shares[j, i]),
                    "agreement": float(max(shares[i, j], shares[j, i], 1 - shares[i, j] - shares[j, i])),
                    "consensus": _mark(agreed, int(i), int(j)) or ("--" if joined[i, j] else ""),
                }
            )
        columns = ["first", "second", *self.graphs, "forward", "backward", "agreement", "consensus"]
        return pd.DataFrame(rows, columns=columns).sort_values("agreement", kind="stable", ignore_index=True)

    @cached_property
    def order_agreement(self) -> pd.DataFrame:
        """``[a, b]``: share of the pairs joined in a or b by a directed path that the two orders put the same way."""
        members = list(self.graphs.values())
        shares = [[_same_order(one, other) for other in members] for one in members]
        return pd.DataFrame(shares, index=list(self.graphs), columns=list(self.graphs))

    @cached_property
    def differences(self) -> list[str]:
        """Where the graphs part ways, a sentence for each pair, the most disputed first."""
        sentences = []
        for row in self.table.to_dict("records"):
            says = {mark: [label for label in self.graphs if row[label] == mark] for mark in ("->", "<-", "")}
            heard = {mark: labels for mark, labels in says.items() if labels}
            if len(heard) < 2:
                continue
            first, second = row["first"], row["second"]
            words = {"->": f"{first} -> {second}", "<-": f"{second} -> {first}", "": "no edge"}
            parts = [f"{words[mark]} in {', '.join(labels)}" for mark, labels in heard.items()]
            sentences.append(f"{first} and {second}: {'; '.join(parts)}.")
        return sentences

    @property
    def sentence(self) -> str:
        """The comparison in plain words."""
        total, open_pairs = len(self.table), len(self.differences)
        ties = int((self.table["consensus"] == "--").sum())
        tied = f"; {ties} more are tied, direction open" if ties else ""
        return (
            f"{len(self.graphs)} graphs join {total} pairs of variables; they agree on {total - open_pairs} and differ "
            f"on {open_pairs}. The consensus has {self.consensus.n_edges} edges{tied}."
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """A grid of pairs and graphs: which has the edge, which way, and the consensus beside them."""
        return figure.agreement_grid(self.table, list(self.graphs), ax)


def _weights(graphs: Mapping[str, CausalGraph], given: Mapping[str, float] | None) -> FloatArray:
    if given is None:
        members = list(graphs.values())
        return votes.agreement_weights([graph.edges for graph in members], [graph.positions for graph in members])
    strange = [label for label in given if label not in graphs]
    if strange or len(given) != len(graphs):
        raise OptionError(f"weights must name each graph once: {', '.join(graphs)}.")
    weights = np.array([float(given[label]) for label in graphs])
    if not (weights >= 0).all() or not weights.sum() > 0 or not np.isfinite(weights).all():
        raise OptionError(f"weights={dict(given)!r} cannot be used: they must be at least 0, and not all 0.")
    return np.asarray(weights / weights.sum())


def _mark(graph: CausalGraph, i: int, j: int) -> str:
    return "->" if graph.edges[i, j] else "<-" if graph.edges[j, i] else ""


def _same_order(one: CausalGraph, other: CausalGraph) -> float:
    paths = ancestors(one.edges) | ancestors(other.edges)
    pairs = np.triu(paths | paths.T, 1)  # transposed: a pair counts once, whichever way
    if not pairs.any():
        return 1.0
    same = full_dag(one.positions) == full_dag(other.positions)
    return float(same[pairs].mean())
