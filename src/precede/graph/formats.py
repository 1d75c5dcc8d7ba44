"""Graphs as networkx objects and as text: JSON, CSV, GML. (DOT is in ``dot.py``, other packages in ``peers.py``.)

Works on plain parts; :class:`precede.graph.CausalGraph` has a thin method for each format.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from precede.errors import GraphError, listed
from precede.lazy import networkx as nx
from precede.lazy import pandas as pd
from precede.strict_json import to_json as strict_json

JSON_FORMAT = "precede-graph"
JSON_VERSION = 1
MOST_VARIABLES = 10_000
"""A small file can name many variables, and a graph takes nine bytes for every pair of them."""


class Parts(NamedTuple):
    """What a graph is made of; ``edges[i, j]`` means i -> j.

    ``order`` holds names, causes first; it, ``lags``, ``fixed_directions`` and ``open_directions`` (as of a graph) are
    None where a format does not carry them.
    """

    edges: npt.NDArray[np.bool_]
    strengths: npt.NDArray[np.float64]
    names: tuple[Hashable, ...]
    order: tuple[Hashable, ...] | None = None
    lags: tuple[int, ...] | None = None
    fixed_directions: npt.NDArray[np.bool_] | None = None
    open_directions: npt.NDArray[np.bool_] | None = None


def parts_of_edges(
    names: Sequence[Hashable],
    edges: Sequence[tuple[Hashable, Hashable, float]],
    order: tuple[Hashable, ...] | None = None,
) -> Parts:
    """Parts from a list of (cause, effect, weight)."""
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
    return Parts(adjacency, strengths, tuple(names), order)


def edges_of(parts: Parts) -> list[tuple[Hashable, Hashable, float]]:
    """(cause, effect, weight) of every edge, by column."""
    return [(parts.names[i], parts.names[j], float(parts.strengths[i, j])) for i, j in np.argwhere(parts.edges)]


def text_names(names: Sequence[Hashable]) -> list[str]:
    """Names as strings, refused where two would become the same."""
    texts = [str(name) for name in names]
    if len(set(texts)) < len(texts):
        raise GraphError(f"as text, two of the names would be the same: {listed(names)}.")
    return texts


def numbered(names: Sequence[str]) -> tuple[Hashable, ...]:
    """Names read from text: the integers from 0 when they are just that, as for a bare array."""
    return tuple(range(len(names))) if list(names) == [str(k) for k in range(len(names))] else tuple(names)


def to_networkx(parts: Parts) -> nx.DiGraph[Hashable]:
    """A directed graph with a ``weight`` on every edge."""
    graph: nx.DiGraph[Hashable] = nx.DiGraph()
    graph.add_nodes_from(parts.names)
    graph.add_weighted_edges_from(edges_of(parts))
    return graph


def from_networkx(graph: Any) -> Parts:
    """Parts of a networkx graph; an edge without ``weight`` counts 1."""
    if not graph.is_directed():
        raise GraphError("the networkx graph is undirected: a causal graph needs a DiGraph.")
    try:
        edges = [(cause, effect, float(data.get("weight", 1.0))) for cause, effect, data in graph.edges(data=True)]
    except (TypeError, ValueError, OverflowError) as error:
        raise GraphError(f"a weight of the graph is not a number: {error}.") from None
    return parts_of_edges(list(graph.nodes), edges)


def to_json(parts: Parts) -> str:
    """Names, causal order and weighted edges, with a format and version field."""
    plain = {name: _json_name(name) for name in parts.names}
    document = {
        "format": JSON_FORMAT,
        "version": JSON_VERSION,
        "names": list(plain.values()),
        "order": None if parts.order is None else [plain[name] for name in parts.order],
        "edges": [
            {"cause": plain[cause], "effect": plain[effect], "weight": weight if math.isfinite(weight) else None}
            for cause, effect, weight in edges_of(parts)
        ],
    }
    if parts.lags is not None:
        document["lags"] = list(parts.lags)
    for name in ("fixed_directions", "open_directions"):
        if (marked := getattr(parts, name)) is not None:
            document[name] = [[plain[parts.names[i]], plain[parts.names[j]]] for i, j in np.argwhere(marked)]
    return strict_json(document, indent=1) + "\n"


def _json_name(name: Hashable) -> str | int | float:
    value = name.item() if isinstance(name, np.generic) else name
    if isinstance(value, str | int | float):
        return value
    raise GraphError(f"JSON cannot hold the name {name!r}: use strings or numbers.")


def from_json(text: str) -> Parts:
    """Parts of what :func:`to_json` wrote."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise GraphError(f"the graph is not valid JSON: {error}.") from None
    if not isinstance(document, dict) or document.get("format") != JSON_FORMAT:
        raise GraphError(f"the JSON is not a graph of this package: it lacks format={JSON_FORMAT!r}.")
    if document.get("version") != JSON_VERSION:
        raise GraphError(f"the graph has version {document.get('version')!r}; this release reads {JSON_VERSION}.")
    try:
        edges = [
            (edge["cause"], edge["effect"], math.nan if edge["weight"] is None else float(edge["weight"]))
            for edge in document["edges"]
        ]
        order = document["order"]
        parts = parts_of_edges(document["names"], edges, None if order is None else tuple(order))
        lags = document.get("lags", document.get("steps"))  # the second: names of earlier releases
        fixed = _among_edges(document.get("fixed_directions", document.get("told")), parts)
        loose = _among_edges(document.get("open_directions"), parts)
        return parts._replace(lags=_lags(lags, parts), fixed_directions=fixed, open_directions=loose)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        if isinstance(error, GraphError):
            raise
        raise GraphError(f"the graph's JSON is incomplete or misshapen: {error!r}.") from None


def _lags(given: list[int] | None, parts: Parts) -> tuple[int, ...] | None:
    if given is None:
        return None
    if len(given) != len(parts.names) or not all(isinstance(lag, int) and lag >= 0 for lag in given):
        raise GraphError("the graph's lags must be a whole number of at least 0 for each variable.")
    return tuple(given)


def _among_edges(given: list[list[Hashable]] | None, parts: Parts) -> npt.NDArray[np.bool_] | None:
    if given is None:
        return None
    marked = np.zeros_like(parts.edges)
    for cause, effect in given:
        marked[parts.names.index(cause), parts.names.index(effect)] = True
    if (marked & ~parts.edges).any():
        raise GraphError("the graph says that a direction is fixed or open where it has no edge.")
    return marked


def to_csv(parts: Parts) -> str:
    """Labeled matrix of weights, causes in rows; 0 means no edge."""
    if (parts.edges & (parts.strengths == 0)).any():
        raise GraphError("an edge has weight 0, which CSV cannot tell from no edge: use JSON.")
    names = [_csv_cell(name) for name in text_names(parts.names)]
    lines = [["", *names]]
    for name, row in zip(names, parts.strengths, strict=True):
        lines.append([name, *("0" if weight == 0 else repr(float(weight)) for weight in row)])
    return "".join(",".join(line) + "\n" for line in lines)


def _csv_cell(text: str) -> str:
    """Quote where needed; the csv module leaves a lone carriage return unquoted."""
    quoted = text.replace('"', '""')
    return f'"{quoted}"' if any(mark in text for mark in ',"\r\n') else text


def from_csv(text: str) -> Parts:
    """Parts of a square matrix: with row and column names, with column names only, or bare."""
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    except csv.Error as error:
        raise GraphError(f"the matrix is not well-formed CSV: {error}.") from None
    if not rows:
        raise GraphError("the file of the graph is empty.")
    width = len(rows[0])
    if any(len(row) != width for row in rows):
        raise GraphError("the lines of the matrix have different numbers of fields.")
    if len(rows) == width and not _is_number(rows[0][0]):  # names in both margins
        names = rows[0][1:]
        labels = [row[0] for row in rows[1:]]
        if labels != names:
            raise GraphError("the rows and the columns of the matrix must have the same names in the same order.")
        cells = [row[1:] for row in rows[1:]]
    elif len(rows) == width + 1:
        names, cells = rows[0], rows[1:]
    elif len(rows) == width:
        names, cells = [str(k) for k in range(width)], rows
    else:
        raise GraphError(f"an adjacency matrix is square; this one has {len(rows) - 1} lines for {width} columns.")
    strange = [cell for row in cells for cell in row if not _is_number(cell)]
    if strange:
        raise GraphError(f"the matrix holds {strange[0]!r} where a number should be.")
    strengths = np.array([[float(cell) for cell in row] for row in cells]).reshape(len(names), len(names))
    return Parts(strengths != 0, strengths, numbered(names))


def _is_number(cell: str) -> bool:
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return False


def to_gml(parts: Parts) -> str:
    """GML as networkx, igraph, Gephi and DoWhy read it."""
    texts = text_names(parts.names)
    graph = to_networkx(parts._replace(names=tuple(texts)))
    return "\n".join(nx.generate_gml(graph)) + "\n"


def from_gml(text: str) -> Parts:
    """Parts of a GML graph; nodes are named by their labels, or by their ids where there are none."""
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
    parts = from_networkx(graph)
    return parts._replace(names=numbered(text_names(parts.names)))


def text_of(source: str | os.PathLike[str], mark: str) -> str:
    """Text itself, or the content of a file: a string that contains ``mark`` is text, a path otherwise."""
    if isinstance(source, str) and mark in source:
        return source
    path = Path(source)
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise GraphError(f"{path.name} is not UTF-8 text.") from None
    except (OSError, ValueError) as error:
        raise GraphError(f"{str(path)!r} cannot be read: {getattr(error, 'strerror', None) or error}.") from None


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
