"""The graph component of the studio, the report and notebooks: its files, and a graph on a page of its own.

``graph-view.js`` says at its top what it is given (:func:`payload`). Cytoscape.js and ELK lie beside it, with their
licenses, in ``vendor``.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict

import numpy as np

from precede.arrays import FloatArray, IntArray
from precede.files import write_text
from precede.graph.drawing import draw

if TYPE_CHECKING:
    from precede.graph.causal_graph import CausalGraph

FILES = (
    "elements.js", "edge-plots.js", "graph-view.css", "graph-view.js", "graph-layers.js", "graph-layout.js",
    "graph-picture.js", "graph-style.js", "vendor/cytoscape.min.js", "vendor/elk-worker.min.js",
)  # fmt: skip
"""What a page may ask for."""

BETWEEN_THEM = re.compile(r'^import \{[^}]*\} from "\./[\w-]+\.js";\n', re.MULTILINE)


def component_file(name: str) -> bytes:
    """The content of one of :data:`FILES`."""
    if name not in FILES:
        raise KeyError(name)
    return _read(name)


def _read(name: str) -> bytes:
    return files(__name__).joinpath(name).read_bytes()


def inline_module(*more: str) -> str:
    """The component as one text for ``<script type="module">``, without Cytoscape.js, which goes before it.

    Parameters
    ----------
    more : str
        Other :data:`FILES` that the page needs, in the sequence in which they need each other.

    Notes
    -----
    ELK is not in it: a page that serves no files takes the places that Python computed (:func:`payload`), and the small
    layout of ``graph-layers.js`` for neighborhoods.

    Examples
    --------
    >>> "import " in inline_module()
    False
    """
    names = [*more, "graph-layers.js", "graph-picture.js", "graph-style.js", "graph-view.js"]
    return "\n".join(BETWEEN_THEM.sub("", component_file(name).decode("utf-8")) for name in names)


def policy_hash(code: str) -> str:
    """A script as a page's content policy names it, so that it may run where it stands in the page.

    Examples
    --------
    >>> policy_hash("alert(1)")[:12]
    "'sha256-bhHH"
    """
    return f"'sha256-{base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()}'"


@dataclass(frozen=True, repr=False)
class GraphWidget:
    """A graph to look at, zoom, search and save as a picture; a notebook shows it.

    Parameters
    ----------
    page : str
        A whole page of HTML that fetches nothing.
    height : int
        Of its frame, in pixels.
    """

    page: str
    height: int

    def _repr_html_(self) -> str:
        frame = f"width:100%;height:{self.height}px;border:0"
        return (
            f'<iframe srcdoc="{html.escape(self.page)}" style="{frame}" sandbox="allow-scripts allow-downloads" '
            'title="Causal graph"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<GraphWidget of {len(self.page) / 1000:.0f} KB: a notebook shows it, save(path) writes it as a page>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page, for a browser."""
        write_text(Path(path), self.page)


def widget(shown: ShownGraph, title: str, height: int, legend: Iterable[tuple[str, str, int]] = ()) -> GraphWidget:
    """A page around what :func:`precede.graph.component` gives, and below it what its lines say."""
    library, script = (part.decode("utf-8") for part in (component_file("vendor/cytoscape.min.js"), _read("page.js")))
    script = f"{inline_module()}\n{script}"
    data = json.dumps(shown, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    page = Template(_read("page.html").decode("utf-8")).substitute(
        policy=f"{policy_hash(library)} {policy_hash(script)}",
        title=html.escape(title),
        style=component_file("graph-view.css").decode("utf-8"),
        legend="".join(f"<li><b>A {html.escape(mark)} B</b>: {words}</li>" for mark, words, _ in legend),
        data=data,
        library=library,
        script=script,
    )
    return GraphWidget(page, height)


DOUBTFUL = 0.5
"""Edges with a smaller probability are dashed."""


Sign = Literal["positive", "negative"]
Mark = Literal["arrow", "line", "shared", "half", "open"]
"""a -> b, a direction that is not told, a <-> b, a o-> b and a o-o b."""


class ShownNode(TypedDict):
    """A box, with its place where the page is not to find one itself."""

    name: str
    x: NotRequired[float]
    y: NotRequired[float]
    width: NotRequired[float]


class ShownEdge(TypedDict):
    """A line between two boxes, and how it is to look."""

    cause: int
    effect: int
    strength: float | None
    sign: Sign | None
    probability: float | None
    doubtful: bool
    mark: Mark
    change: NotRequired[Literal["added", "removed", "turned"]]
    bends: NotRequired[list[list[float]]]


class ShownGraph(TypedDict):
    """What ``graph-view.js`` is given."""

    nodes: list[ShownNode]
    edges: list[ShownEdge]
    order: list[int]


def payload(
    graph: CausalGraph,
    probability: FloatArray | None = None,
    cpdag: IntArray | None = None,
    shared_causes: Iterable[tuple[int, int]] | None = None,
    placed: bool = False,
) -> ShownGraph:
    """Nodes, edges and the order of a graph, ready for JSON.

    Parameters
    ----------
    graph : CausalGraph
    probability : (n_variables, n_variables) array, optional
        Of each edge.
    cpdag : (n_variables, n_variables) array, optional
        1 at both ``[i, j]`` and ``[j, i]`` where an edge could point either way, without a tip; what was left open
        when the graph was learned, where nothing is given.
    shared_causes : iterable of (first, second), optional
        Columns that share an unmeasured cause: drawn dotted, with two tips, never as an edge. Those of the graph's PAG
        where nothing is given.
    placed : bool
        Whether the places of boxes and the bends of edges come along, so that the page needs no layout of its own.

    Examples
    --------
    >>> from precede import CausalGraph
    >>> shown = payload(CausalGraph.from_matrix([[0, -2.0], [0, 0]], names=["rain", "dust"]))
    >>> shown["edges"][0]["sign"], shown["edges"][0]["strength"]
    ('negative', 2.0)
    """
    strengths = graph.shown_strengths
    sure = np.full_like(strengths, np.nan) if probability is None else probability
    nodes: list[ShownNode] = [{"name": str(name)} for name in graph.names]
    edges = [
        shown_edge(int(i), int(j), mark_of(graph, int(i), int(j), cpdag), strengths[i, j], sure[i, j])
        for i, j in np.argwhere(graph.edges)
    ]
    if placed:
        _place(graph, nodes, edges)
    edges += [shown_edge(*pair, "shared") for pair in (graph.shared_causes if shared_causes is None else shared_causes)]
    return {"nodes": nodes, "edges": edges, "order": [int(k) for k in graph.positions]}


def shown_edge(cause: int, effect: int, mark: Mark, strength: float = np.nan, probability: float = np.nan) -> ShownEdge:
    """A line between two boxes; what is not known of it is NaN."""
    return {
        "cause": cause,
        "effect": effect,
        "strength": _finite(abs(strength)),
        "sign": None if not np.isfinite(strength) else "negative" if strength < 0 else "positive",
        "probability": _finite(probability),
        "doubtful": bool(probability < DOUBTFUL),
        "mark": mark,
    }


def mark_of(graph: CausalGraph, i: int, j: int, cpdag: IntArray | None) -> Mark:
    """How the edge i -> j of a graph is drawn: by its marks where hidden causes were allowed."""
    if graph.pag is not None:
        read = graph.pag.mark(graph.names[i], graph.names[j])
        return "arrow" if read == "-->" else "half" if read == "o->" else "open" if read in ("o-o", "o--") else "line"
    if cpdag is None:
        return "line" if graph.open_directions is not None and graph.open_directions[i, j] else "arrow"
    return "line" if cpdag[i, j] and cpdag[j, i] else "arrow"


def _place(graph: CausalGraph, nodes: list[ShownNode], edges: list[ShownEdge]) -> None:
    drawing = draw(graph)
    for node, box in zip(nodes, drawing.boxes, strict=True):
        node["x"], node["y"], node["width"] = round(box.x, 1), round(box.y, 1), box.width
    for edge in edges:
        points = drawing.curves[edge["cause"], edge["effect"]]
        edge["bends"] = [[round(x, 1), round(y, 1)] for x, y, _ in points[1:-1]]


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
