"""What a causal graph is written to and read from: JSON, CSV, GML, DOT, networkx, and the forms of other packages.

DoWhy, causal-learn, lingam and gcastle are no dependencies; only ``to_causallearn`` must import one.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.errors import MISSHAPEN, GraphError, OptionError, listed, refusing
from precede.files import write_text
from precede.graph import dot
from precede.graph.parts import GraphParts
from precede.lazy import networkx as nx
from precede.lazy import pandas as pd
from precede.strict_json import to_json as strict_json

JSON_FORMAT = "precede-graph"
JSON_VERSION = 1
MOST_VARIABLES = 10_000
"""A small file can name many variables, and a graph takes nine bytes for every pair of them."""


class GraphFormats(GraphParts):
    """What :class:`CausalGraph` is written to and read from."""

    @classmethod
    def _of_edges(
        cls,
        names: Sequence[Hashable],
        edges: Iterable[tuple[Hashable, Hashable, float]],
        order: Sequence[Hashable] | None = None,
    ) -> Self:
        """From a list of (cause, effect, weight)."""
        if len(names) > MOST_VARIABLES:
            raise GraphError(f"the graph has {len(names)} variables; at most {MOST_VARIABLES} can be read.")
        index = {name: k for k, name in enumerate(names)}
        if len(index) < len(names):
            raise GraphError(f"the variables need distinct names: {listed(names)}.")
        adjacency = np.zeros((len(names), len(names)), dtype=bool)
        strengths = np.zeros(adjacency.shape)
        for cause, effect, weight in edges:
            if cause not in index or effect not in index:
                raise GraphError(f"the edge {cause!r} -> {effect!r} names a variable that the graph does not have.")
            if math.isinf(weight):
                raise GraphError(f"the edge {cause!r} -> {effect!r} has an infinite weight.")
            adjacency[index[cause], index[effect]] = True
            strengths[index[cause], index[effect]] = weight
        return cls.from_matrix(adjacency, strengths, order, names)

    def _by_column(self) -> list[tuple[Hashable, Hashable, float]]:
        """(cause, effect, weight) of every edge, by column."""
        return [(self.names[i], self.names[j], float(self.strengths[i, j])) for i, j in np.argwhere(self.edges)]

    def to_networkx(self) -> nx.DiGraph[Hashable]:
        """A networkx ``DiGraph`` with a ``weight`` on every edge."""
        graph: nx.DiGraph[Hashable] = nx.DiGraph()
        graph.add_nodes_from(self.names)
        graph.add_weighted_edges_from(self._by_column())
        return graph

    @classmethod
    def from_networkx(cls, graph: Any) -> Self:
        """From a networkx ``DiGraph``; an edge without ``weight`` counts 1."""
        if not graph.is_directed():
            raise GraphError("the networkx graph is undirected: a causal graph needs a DiGraph.")
        with refusing(MISSHAPEN, GraphError, "a weight of the graph is not a number:"):
            edges = [(cause, effect, float(data.get("weight", 1.0))) for cause, effect, data in graph.edges(data=True)]
        return cls._of_edges(list(graph.nodes), edges)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """JSON with names, order and weighted edges; also written to ``path``.

        Examples
        --------
        >>> from precede import CausalGraph
        >>> graph = CausalGraph.from_matrix([[0, 1], [0, 0]], names=["rain", "wet"])
        >>> CausalGraph.from_json(graph.to_json()) == graph
        True
        """
        plain = [_json_name(name) for name in self.names]
        document = {
            "format": JSON_FORMAT,
            "version": JSON_VERSION,
            "names": plain,
            "order": [plain[k] for k in self.positions],
            "edges": [
                {"cause": plain[i], "effect": plain[j], "weight": float(self.strengths[i, j])}
                for i, j in np.argwhere(self.edges)
            ],
        }
        if self.lags is not None:
            document["lags"] = self.lags
        for name in ("fixed_directions", "open_directions"):
            if (marked := getattr(self, name)) is not None:
                document[name] = [[plain[i], plain[j]] for i, j in np.argwhere(marked)]
        return delivered(strict_json(document, indent=1) + "\n", path)

    @classmethod
    def from_json(cls, source: str | os.PathLike[str]) -> Self:
        """From the text or the file that :meth:`to_json` wrote."""
        text = text_of(source, "{")
        with refusing(MISSHAPEN, GraphError, "the graph is not valid JSON:"):
            document = json.loads(text)
        if not isinstance(document, dict) or document.get("format") != JSON_FORMAT:
            raise GraphError(f"the JSON is not a graph of this package: it lacks format={JSON_FORMAT!r}.")
        if document.get("version") != JSON_VERSION:
            raise GraphError(f"the graph has version {document.get('version')!r}; this release reads {JSON_VERSION}.")
        with refusing(MISSHAPEN, GraphError, "the graph's JSON is incomplete or misshapen:"):
            edges = [
                (edge["cause"], edge["effect"], math.nan if edge["weight"] is None else float(edge["weight"]))
                for edge in document["edges"]
            ]
            order = document["order"]
            found = cls._of_edges(document["names"], edges, None if order is None else tuple(order))
            fixed, loose = (found._among_edges(document.get(f"{what}_directions")) for what in ("fixed", "open"))
            lags = found._lags_of(document.get("lags"))
            return replace(found, lags=lags, fixed_directions=fixed, open_directions=loose)

    def _lags_of(self, given: list[int] | None) -> tuple[int, ...] | None:
        if given is None:
            return None
        if len(given) != len(self.names) or not all(isinstance(lag, int) and lag >= 0 for lag in given):
            raise GraphError("the graph's lags must be a whole number of at least 0 for each variable.")
        return tuple(given)

    def _among_edges(self, given: list[list[Hashable]] | None) -> BoolArray | None:
        if given is None:
            return None
        marked = np.zeros_like(self.edges)
        for cause, effect in given:
            marked[self.names.index(cause), self.names.index(effect)] = True
        if (marked & ~self.edges).any():
            raise GraphError("the graph says that a direction is fixed or open where it has no edge.")
        return marked

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """Labeled matrix of weights, causes in rows; also written to ``path``."""
        if (self.edges & (self.strengths == 0)).any():
            raise GraphError("an edge has weight 0, which CSV cannot tell from no edge: use JSON.")
        names = [_csv_cell(name) for name in text_names(self.names)]
        lines = [["", *names]]
        for name, row in zip(names, self.strengths, strict=True):
            lines.append([name, *("0" if weight == 0 else repr(float(weight)) for weight in row)])
        return delivered("".join(",".join(line) + "\n" for line in lines), path)

    @classmethod
    def from_csv(cls, source: str | os.PathLike[str]) -> Self:
        """From the text or file of a square matrix, causes in rows, with or without names."""
        with refusing(csv.Error, GraphError, "the matrix is not well-formed CSV:"):
            rows = [row for row in csv.reader(io.StringIO(text_of(source, "\n"), newline="")) if row]
        if not rows:
            raise GraphError("the file of the graph is empty.")
        width = len(rows[0])
        if any(len(row) != width for row in rows):
            raise GraphError("the lines of the matrix have different numbers of fields.")
        left = len(rows) == width and not _is_number(rows[0][0])  # names in both margins
        top = left or len(rows) == width + 1
        if not top and len(rows) != width:
            raise GraphError(f"an adjacency matrix is square; this one has {len(rows) - 1} lines for {width} columns.")
        names = rows[0][left:] if top else [str(k) for k in range(width)]
        if left and [row[0] for row in rows[1:]] != names:
            raise GraphError("the rows and the columns of the matrix must have the same names in the same order.")
        cells = [row[left:] for row in rows[top:]]
        strange = [cell for row in cells for cell in row if not _is_number(cell)]
        if strange:
            raise GraphError(f"the matrix holds {strange[0]!r} where a number should be.")
        strengths = np.array([[float(cell) for cell in row] for row in cells]).reshape(len(names), len(names))
        return cls.from_matrix(strengths != 0, strengths, names=_numbered(names))

    def to_gml(self, path: str | os.PathLike[str] | None = None) -> str:
        """GML, for networkx, igraph, Gephi and DoWhy; also written to ``path``."""
        return delivered("\n".join(nx.generate_gml(self.to_dowhy())) + "\n", path)

    @classmethod
    def from_gml(cls, source: str | os.PathLike[str]) -> Self:
        """From GML text or a GML file; nodes are named by their labels, or by their ids where there are none."""
        text = text_of(source, "[")
        for label in ("label", "id"):
            try:
                graph = nx.parse_gml(text, label=label)
            except nx.NetworkXError as error:
                if label == "label" and "no 'label' attribute" in str(error):
                    continue
                raise GraphError(f"the graph is not valid GML: {error}.") from None
            except (ValueError, KeyError, TypeError, IndexError, RecursionError, OverflowError) as error:
                raise GraphError(f"the graph is not valid GML: {error}.") from None
            break
        names = _numbered(text_names(list(graph.nodes)))
        return cls.from_networkx(nx.relabel_nodes(graph, dict(zip(graph.nodes, names, strict=True))))

    def to_dot(self, path: str | os.PathLike[str] | None = None) -> str:
        """DOT, for Graphviz, with the weights as ``strength`` (exact) and as ``label``; also written to ``path``.

        Graphviz has a ``weight`` of its own, which must not be negative.

        Examples
        --------
        >>> from precede import CausalGraph
        >>> print(CausalGraph.from_matrix([[0, 0.5], [0, 0]], names=["rain", "wet"]).to_dot())
        digraph {
          "rain";
          "wet";
          "rain" -> "wet" [strength="0.5", label="0.5"];
        }
        """
        text_names(self.names)  # refuses names that would become the same
        edges = ((a, b, f'strength="{weight!r}", label="{weight:.3g}"') for a, b, weight in self._by_column())
        return delivered(dot.written(self.names, edges), path)

    @classmethod
    def from_dot(cls, source: str | os.PathLike[str]) -> Self:
        """From the text or file of a plain DOT digraph.

        An edge's weight is its ``strength``, else its ``weight``, else its ``label`` where that is a number, else 1.
        """
        names, edges = dot.read(text_of(source, "{"))
        return cls._of_edges(names, [(a, b, _dot_weight(attributes)) for a, b, attributes in edges])

    def to_dowhy(self) -> nx.DiGraph[Hashable]:
        """What ``dowhy.CausalModel(graph=...)`` and ``dowhy.gcm`` take: networkx, with names that are text."""
        named = dict(zip(self.names, text_names(self.names), strict=True))
        graph: nx.DiGraph[Hashable] = nx.relabel_nodes(self.to_networkx(), named)
        return graph

    @classmethod
    def from_dowhy(cls, source: Any) -> Self:
        """From a DoWhy model, its graph, or a GML string; unobserved nodes are left out."""
        if isinstance(source, str):
            return cls.from_gml(source)
        for attribute in ("_graph", "graph"):  # CausalModel -> CausalGraph -> networkx; gcm models have .graph
            while not hasattr(source, "is_directed") and hasattr(source, attribute):
                source = getattr(source, attribute)
        if not hasattr(source, "is_directed"):
            raise GraphError(f"a {type(source).__name__} is not a DoWhy model or graph.")
        seen = [node for node, data in source.nodes(data=True) if data.get("observed", "yes") != "no"]
        return cls.from_networkx(source.subgraph(seen))

    def to_causallearn(self) -> Any:
        """A causal-learn ``Dag`` (no weights); needs the package causal-learn."""
        with refusing(ImportError, OptionError, "to_causallearn needs the package causal-learn: install it first."):
            dag_class = import_module("causallearn.graph.Dag").Dag
            node_class = import_module("causallearn.graph.GraphNode").GraphNode
        nodes = [node_class(name) for name in text_names(self.names)]
        dag = dag_class(nodes)
        for i, j in np.argwhere(self.edges):
            dag.add_directed_edge(nodes[i], nodes[j])
        return dag

    @classmethod
    def from_causallearn(cls, source: Any) -> Self:
        """From a causal-learn graph whose edges are all directed, or a result that holds one as ``G``.

        causal-learn marks i -> j by -1 at [i, j] (tail at i) and 1 at [j, i] (head at j).
        """
        graph = source["G"] if isinstance(source, dict) else getattr(source, "G", source)
        marks = np.asarray(graph.graph)
        edges = (marks == -1) & (marks.T == 1)  # transposed: the mark at the other end
        if ((marks != 0) & ~edges & ~edges.T).any():
            raise GraphError("the causal-learn graph has edges that are not directed: a causal graph needs a DAG.")
        return cls.from_matrix(edges, edges.astype(float), names=[node.get_name() for node in graph.get_nodes()])

    def to_lingam(self) -> FloatArray:
        """lingam's weight matrix: [i, j] is the effect of j on i, the transpose of :attr:`weights`."""
        return self.strengths.T.copy()  # transposed: lingam puts effects in rows

    @classmethod
    def from_lingam(cls, source: Any, names: Sequence[Hashable] | None = None) -> Self:
        """From a fitted lingam model or its ``adjacency_matrix_``."""
        matrix = np.asarray(getattr(source, "adjacency_matrix_", source), dtype=float).T  # transposed: as in to_lingam
        if np.isnan(matrix).any():
            raise GraphError("the lingam matrix has NaN where a hidden common cause is suspected: it is not a DAG.")
        return cls.from_matrix(matrix != 0, matrix, names=names)

    def to_gcastle(self) -> IntArray:
        """gcastle's ``causal_matrix``: 0/1 integers, causes in rows."""
        return self.edges.astype(np.int64)

    @classmethod
    def from_gcastle(cls, source: Any, names: Sequence[Hashable] | None = None) -> Self:
        """From a fitted gcastle learner or its ``causal_matrix``, whose own column names are kept."""
        found = getattr(source, "causal_matrix", source)
        matrix: npt.NDArray[np.float64] = np.asarray(found, dtype=float)
        own = getattr(found, "columns", None)
        return cls.from_matrix(matrix != 0, matrix, names=own if names is None else names)


def text_names(names: Sequence[Hashable]) -> list[str]:
    """Names as strings, refused where two would become the same."""
    texts = [str(name) for name in names]
    if len(set(texts)) < len(texts):
        raise GraphError(f"as text, two of the names would be the same: {listed(names)}.")
    return texts


def _numbered(names: Sequence[str]) -> Sequence[Hashable]:
    """Names read from text: the integers from 0 when they are just that, as for a bare array."""
    return range(len(names)) if list(names) == [str(k) for k in range(len(names))] else names


def _json_name(name: Hashable) -> str | int | float:
    value = name.item() if isinstance(name, np.generic) else name
    if isinstance(value, str | int | float):
        return value
    raise GraphError(f"JSON cannot hold the name {name!r}: use strings or numbers.")


def _csv_cell(text: str) -> str:
    """Quote where needed; the csv module leaves a lone carriage return unquoted."""
    quoted = text.replace('"', '""')
    return f'"{quoted}"' if any(mark in text for mark in ',"\r\n') else text


def _is_number(cell: str) -> bool:
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return False


def _dot_weight(attributes: Mapping[str, str]) -> float:
    for key in ("strength", "weight", "label"):
        try:
            return float(attributes[key])
        except (KeyError, ValueError):
            continue
    return 1.0


def delivered(text: str, path: str | os.PathLike[str] | None) -> str:
    """The text, also written to a file where one is named."""
    if path is not None:
        write_text(path, text)
    return text


def text_of(source: str | os.PathLike[str], mark: str) -> str:
    """Text itself, or the content of a file: a string that contains ``mark`` is text, a path otherwise."""
    if isinstance(source, str) and mark in source:
        return source
    path = Path(source)
    with refusing((OSError, ValueError), GraphError, f"{str(path)!r} cannot be read:"):
        content = path.read_bytes()
    with refusing(UnicodeDecodeError, GraphError, f"{path.name} is not UTF-8 text."):
        return content.decode("utf-8-sig")


def to_latex(records: Sequence[Mapping[str, object]]) -> str:
    r"""A table of edges for a paper (booktabs), one line each, numbers with three digits.

    Examples
    --------
    >>> print(to_latex([{"cause": "dose_mg", "effect": "pain", "weight": -0.51234}]))
    \begin{tabular}{llr}
    \toprule
    cause & effect & weight \\
    \midrule
    dose\_mg & pain & -0.512 \\
    \bottomrule
    \end{tabular}
    """
    shown = pd.DataFrame(list(records)).style.hide(axis="index").format(precision=3, escape="latex", na_rep="")
    return str(shown.format_index(escape="latex", axis=1).to_latex(hrules=True)).rstrip()
