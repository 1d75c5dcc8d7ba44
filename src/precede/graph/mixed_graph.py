"""MixedGraph: edges with a tail, an arrowhead or a circle at either end, as PAGs, MAGs and CPDAGs have them."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from precede.arrays import BoolArray, IntArray
from precede.errors import GraphError, listed
from precede.graph import ancestral, dot
from precede.graph.ancestral import ARROW, CIRCLE, TAIL
from precede.graph.dags import consistent_extension, full_dag
from precede.graph.formats import delivered, text_names, text_of
from precede.graph.parts import place_of
from precede.lazy import networkx as nx
from precede.lazy import pandas as pd

if TYPE_CHECKING:
    from precede.graph.causal_graph import CausalGraph

LEFT = {TAIL: "-", ARROW: "<", CIRCLE: "o"}
RIGHT = {TAIL: "-", ARROW: ">", CIRCLE: "o"}
NAMED = {TAIL: "tail", ARROW: "arrow", CIRCLE: "circle"}
CAUSAL_LEARN = {TAIL: -1, ARROW: 1, CIRCLE: 2}
GRAPHVIZ = {TAIL: "none", ARROW: "normal", CIRCLE: "odot"}
TETRAD_EDGE = re.compile(r"^\s*(?:\d+\.\s+)?(.+?)\s+([<o-]-[>o-])\s+(.+?)\s*$")
MEANING = {
    "-->": "{a} causes {b}",
    "<->": "{a} and {b} share an unmeasured cause; neither causes the other",
    "o->": "either {a} causes {b}, or they share an unmeasured cause, or both; {b} does not cause {a}",
    "o-o": "cannot tell: {a} and {b} are related, by a cause in either direction or an unmeasured one",
    "---": "cannot tell: {a} causes {b} or the other way round",
}
"""What each kind of edge says; the legend of every picture."""


@dataclass(frozen=True, eq=False)
class MixedGraph:
    """A graph over named variables whose edges have a mark at either end.

    Parameters
    ----------
    ends : (n_variables, n_variables) int array
        ``ends[i, j]`` is the mark at j of the edge between i and j: 0 no edge, 1 a circle, 2 an arrowhead, 3 a tail.
    names : tuple
        Variable names, in column order.

    Examples
    --------
    >>> graph = MixedGraph.from_edges([("smoking", "cancer", "o->"), ("gene", "cancer", "o->")])
    >>> graph
    MixedGraph(3 variables, 2 edges: smoking o-> cancer, gene o-> cancer)
    >>> graph.mark("cancer", "smoking")
    '<-o'
    """

    ends: IntArray
    names: tuple[Hashable, ...]

    def __post_init__(self) -> None:
        ends = np.asarray(self.ends)
        d = len(self.names)
        if ends.shape != (d, d) or len(set(self.names)) != d:
            raise GraphError(f"{d} distinct names need {d} x {d} marks; these have shape {ends.shape}.")
        if not np.isin(ends, (0, CIRCLE, ARROW, TAIL)).all() or np.diag(ends).any():
            raise GraphError("a mark is 0 (no edge), 1 (circle), 2 (arrowhead) or 3 (tail), and 0 on the diagonal.")
        if ((ends == 0) != (ends.T == 0)).any():
            raise GraphError("an edge has a mark at both ends: ends[i, j] and ends[j, i] are both 0 or neither is.")

    @classmethod
    def from_edges(
        cls, edges: Iterable[tuple[Hashable, Hashable, str]], names: Sequence[Hashable] | None = None
    ) -> MixedGraph:
        """From ``(first, second, mark)`` with marks such as ``"-->"``, ``"o->"`` and ``"<->"``."""
        found = list(edges)
        labels = tuple(dict.fromkeys(n for a, b, _ in found for n in (a, b))) if names is None else tuple(names)
        place = {name: k for k, name in enumerate(labels)}
        ends = np.zeros((len(labels), len(labels)), dtype=np.int64)
        at_left, at_right = ({text: mark for mark, text in side.items()} for side in (LEFT, RIGHT))
        for first, second, text in found:
            if len(text) != 3 or text[0] not in at_left or text[2] not in at_right or text[1] != "-":
                raise GraphError(f"{first} {text} {second} is no edge: write {listed(sorted(MEANING))} or <->.")
            ends[place[second], place[first]], ends[place[first], place[second]] = at_left[text[0]], at_right[text[2]]
        return cls(ends, labels)

    @classmethod
    def from_dag(cls, graph: CausalGraph, hidden: Iterable[Hashable] = ()) -> MixedGraph:
        """The maximal ancestral graph (MAG) of a DAG some of whose variables are not seen.

        Examples
        --------
        >>> from precede import CausalGraph
        >>> dag = CausalGraph.from_matrix([[0, 1, 1], [0, 0, 0], [0, 0, 0]], names=["gene", "smoking", "cancer"])
        >>> MixedGraph.from_dag(dag, hidden=["gene"])
        MixedGraph(2 variables, 1 edge: smoking <-> cancer)
        """
        places = [graph.position(name) for name in hidden]
        names = tuple(name for k, name in enumerate(graph.names) if k not in places)
        return cls(ancestral.mag(graph.edges, places), names)

    def pag(self) -> MixedGraph:
        """The marks that all ancestral graphs with the same independences share: what data can tell of this MAG."""
        if (self.ends == CIRCLE).any():
            raise GraphError("pag() is asked of a MAG, and this graph has circles: it is a PAG already.")
        return MixedGraph(ancestral.pag(self.ends), self.names)

    @property
    def n_edges(self) -> int:
        return int((self.ends != 0).sum()) // 2

    @property
    def arrows(self) -> BoolArray:
        """``[i, j]``: i -> j, with a tail at i and an arrowhead at j."""
        return np.asarray((self.ends == ARROW) & (self.ends.T == TAIL))  # transposed: the mark at i

    def position(self, name: Hashable) -> int:
        """The column of a variable."""
        return place_of(name, self.names)

    def mark(self, first: Hashable, second: Hashable) -> str | None:
        """The edge between two variables in three letters, read from the first; None where there is none."""
        i, j = self.position(first), self.position(second)
        return LEFT[int(self.ends[j, i])] + "-" + RIGHT[int(self.ends[i, j])] if self.ends[i, j] else None

    def edge_list(self) -> list[tuple[Hashable, Hashable, str]]:
        """``(first, second, mark)`` of every edge, written so that an arrow or the fuller mark points to the right."""
        found = []
        for i, j in np.argwhere(np.triu(self.ends != 0)):
            turned = self.ends[i, j] != ARROW and self.ends[j, i] == ARROW
            first, second = (self.names[j], self.names[i]) if turned else (self.names[i], self.names[j])
            found.append((first, second, str(self.mark(first, second))))
        return found

    def sentences(self) -> list[str]:
        """What each edge says, in words."""
        return [f"{MEANING.get(mark, '{a} ' + mark + ' {b}').format(a=a, b=b)}." for a, b, mark in self.edge_list()]

    def legend(self) -> list[tuple[str, str, int]]:
        """``(mark, meaning, number of edges)`` of each kind that is there."""
        tally = Counter(mark for _, _, mark in self.edge_list())
        return [(mark, MEANING[mark].format(a="A", b="B"), tally[mark]) for mark in MEANING if tally[mark]]

    def to_frame(self) -> pd.DataFrame:
        """One row for each edge: ``first``, ``second``, ``mark``, ``meaning``."""
        rows = [(*edge, text) for edge, text in zip(self.edge_list(), self.sentences(), strict=True)]
        return pd.DataFrame(rows, columns=["first", "second", "mark", "meaning"])

    @property
    def pattern(self) -> IntArray:
        """1 at ``[i, j]`` alone where i causes j; at both ``[i, j]`` and ``[j, i]`` where that is not sure."""
        return np.asarray((self.ends != 0) & ~self.arrows.T, dtype=np.int64)  # transposed: not the other way

    def member(self, wish: IntArray, follow: bool = False) -> tuple[BoolArray, bool]:
        """A DAG with the marks, and whether it has them all: hidden causes are left out, circles may be tails.

        Parameters
        ----------
        wish : (n_variables,) int array
            The order to follow where the marks leave it open, and where no DAG has them all; causes first.
        follow : bool
            Follow it in any case.
        """
        may = (self.ends != 0) & (self.ends.T != ARROW)  # transposed: no arrowhead points back at i
        whole = None if follow else consistent_extension(may, wish)
        return ((may | may.T) & full_dag(wish), False) if whole is None else (whole, True)  # transposed: either way

    # -- other packages ----------------------------------------------------------------------------------------

    def to_tetrad(self, path: str | os.PathLike[str] | None = None) -> str:
        """Tetrad's text; also written to ``path``."""
        lines = [f"{k}. {a} {mark} {b}" for k, (a, b, mark) in enumerate(self.edge_list(), 1)]
        text = "\n".join(["Graph Nodes:", ";".join(text_names(self.names)), "", "Graph Edges:", *lines, ""])
        return delivered(text, path)

    @classmethod
    def from_tetrad(cls, source: str | os.PathLike[str]) -> MixedGraph:
        r"""From the text or the file of a Tetrad graph; its remarks on edges (dd, pl, ...) are left out.

        Examples
        --------
        >>> MixedGraph.from_tetrad("Graph Nodes:\na;b;c\n\nGraph Edges:\n1. a o-> b\n2. b <-> c\n")
        MixedGraph(3 variables, 2 edges: a o-> b, b <-> c)
        """
        text = text_of(source, "Graph")
        head, found, tail = text.partition("Graph Edges:")
        if not found:
            raise GraphError("the text is no Tetrad graph: it has no line 'Graph Edges:'.")
        names = [name.strip() for name in re.split("[;,]", head.partition("Graph Nodes:")[2]) if name.strip()]
        edges = [match.groups() for line in tail.splitlines() if (match := TETRAD_EDGE.match(line))]
        return cls.from_edges([(a, b.split()[0], mark) for a, mark, b in edges], names)

    def to_causallearn(self) -> npt.NDArray[np.int64]:
        """causal-learn's ``graph`` array: the mark at i of the edge between i and j in ``[i, j]``, -1, 1 or 2."""
        codes = np.array([CAUSAL_LEARN.get(mark, 0) for mark in range(TAIL + 1)])
        return np.asarray(codes[self.ends.T])  # transposed: causal-learn writes the mark of the row

    @classmethod
    def from_causallearn(cls, source: Any, names: Sequence[Hashable] | None = None) -> MixedGraph:
        """From causal-learn's graph, a result that holds one as ``G``, or its array of marks.

        Examples
        --------
        >>> MixedGraph.from_causallearn([[0, 2], [1, 0]], names=["a", "b"])
        MixedGraph(2 variables, 1 edge: a o-> b)
        """
        graph = source["G"] if isinstance(source, dict) else getattr(source, "G", source)
        if names is None and hasattr(graph, "get_nodes"):
            names = [node.get_name() for node in graph.get_nodes()]
        marks = np.asarray(getattr(graph, "graph", graph))
        ends = np.sum([mark * (code == marks.T) for mark, code in CAUSAL_LEARN.items()], axis=0)  # transposed: as above
        return cls(ends, tuple(range(len(marks)) if names is None else names))

    def to_pgmpy(self) -> dict[str, list[tuple[Hashable, Hashable]]]:
        """Arguments of pgmpy's ``PDAG``, which knows directed and undirected edges; other marks are refused."""
        kinds = {"-->": "directed_ebunch", "---": "undirected_ebunch", "o-o": "undirected_ebunch"}
        result: dict[str, list[tuple[Hashable, Hashable]]] = {"directed_ebunch": [], "undirected_ebunch": []}
        for a, b, mark in self.edge_list():
            if mark not in kinds:
                raise GraphError(f"pgmpy's PDAG has no edge such as {a} {mark} {b}: use to_networkx().")
            result[kinds[mark]].append((a, b))
        return result

    @classmethod
    def from_pgmpy(cls, source: Any) -> MixedGraph:
        """From pgmpy's ``PDAG``, asked for its nodes, ``directed_edges`` and ``undirected_edges``, or a ``DAG``."""
        directed = list(getattr(source, "directed_edges", source.edges()))
        loose = list(getattr(source, "undirected_edges", ()))
        edges = [(a, b, "-->") for a, b in directed] + [(a, b, "---") for a, b in loose]
        return cls.from_edges(edges, list(source.nodes()))

    def to_networkx(self) -> nx.DiGraph[Hashable]:
        """A ``DiGraph`` with both directions of every edge, each with the ``mark`` at its end: arrow, circle, tail."""
        graph: nx.DiGraph[Hashable] = nx.DiGraph()
        graph.add_nodes_from(self.names)
        for i, j in np.argwhere(self.ends != 0):
            graph.add_edge(self.names[i], self.names[j], mark=NAMED[int(self.ends[i, j])])
        return graph

    @classmethod
    def from_networkx(cls, graph: Any) -> MixedGraph:
        """From what :meth:`to_networkx` gives; an edge without marks is i -> j, or i - j where both ways are there."""
        names = tuple(graph.nodes)
        place, codes = {name: k for k, name in enumerate(names)}, {text: mark for mark, text in NAMED.items()}
        ends = np.zeros((len(names), len(names)), dtype=np.int64)
        for a, b, data in graph.edges(data=True):
            i, j = place[a], place[b]
            ends[i, j] = codes[data["mark"]] if "mark" in data else TAIL if graph.has_edge(b, a) else ARROW
            if not graph.has_edge(b, a):
                ends[j, i] = TAIL
        return cls(ends, names)

    def to_dot(self, path: str | os.PathLike[str] | None = None) -> str:
        """DOT, for Graphviz, with ``odot`` for circles; also written to ``path``."""
        text_names(self.names)  # refuses names that would become the same
        at_left, at_right = ({text: GRAPHVIZ[mark] for mark, text in side.items()} for side in (LEFT, RIGHT))
        edges = (
            (a, b, f"dir=both, arrowtail={at_left[mark[0]]}, arrowhead={at_right[mark[2]]}")
            for a, b, mark in self.edge_list()
        )
        return delivered(dot.written(self.names, edges), path)

    @classmethod
    def from_dot(cls, source: str | os.PathLike[str]) -> MixedGraph:
        """From the text or file that :meth:`to_dot` wrote."""
        names, edges = dot.read(text_of(source, "{"))
        marks, codes = [], {text: mark for mark, text in GRAPHVIZ.items()}
        for a, b, attributes in edges:
            tail, head = (codes.get(attributes.get(end, "")) for end in ("arrowtail", "arrowhead"))
            if tail is None or head is None:
                raise GraphError(f"the DOT edge {a} -> {b} has no marks at both ends: CausalGraph.from_dot reads it.")
            marks.append((a, b, f"{LEFT[tail]}-{RIGHT[head]}"))
        return cls.from_edges(marks, names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MixedGraph) and self.names == other.names and np.array_equal(self.ends, other.ends)

    def __hash__(self) -> int:
        return hash((self.names, self.ends.tobytes()))

    def __repr__(self) -> str:
        edges = self.edge_list()
        shown = ", ".join(f"{a} {mark} {b}" for a, b, mark in edges[:4]) + (", ..." if len(edges) > 4 else "")
        count = f"{len(edges)} edge{'' if len(edges) == 1 else 's'}"
        return f"MixedGraph({len(self.names)} variables, {count}{': ' if shown else ''}{shown})"
