"""A summary as one HTML file that opens offline: nothing in it is fetched, and only its own script runs."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from precede.arrays import FloatArray
from precede.graph import CausalGraph
from precede.graph.component import DOUBTFUL, ShownEdge, ShownGraph, component_file, inline_module, payload, policy_hash
from precede.report.summary import LEVEL_MARKS, LearningEntry, Summary, TotalEntry, check_summary, said_in
from precede.strict_json import JsonObject

if TYPE_CHECKING:
    from jinja2 import Template

SCRIPTS = ("data.js", "card.js", "page.js")
"""Run one after the other, in one scope, after the graph component."""


def render_report(summary: Summary) -> str:
    """Turn what :func:`precede.report.summarize` collected into a page.

    Parameters
    ----------
    summary : dict
        Checked first: it may have been edited.

    Returns
    -------
    html : str
        The same summary always gives the same text.
    """
    from markupsafe import Markup  # the command line runs without it

    summary = check_summary(summary)
    graph, library, code = graph_of(summary), component_file("vendor/cytoscape.min.js").decode("utf-8"), script()
    said = said_in(summary)
    return template("report.html").render(
        summary=summary,
        said=said,
        not_run=[
            (sentence, [item.name for item in said if item.level == "not run" and item.sentence == sentence])
            for sentence in dict.fromkeys(item.sentence for item in said if item.level == "not run")
        ],
        by_policy=any(edge["policy_probability"] is not None for edge in summary["edges"]),
        warnings=[item for item in said if item.level == "warning"],
        learning=learning_curve(summary["learning"]),
        exports=_exports(graph),
        level_marks=LEVEL_MARKS,
        largest=max((edge["strength"] or 0.0 for edge in summary["edges"]), default=0.0) or 1.0,
        outcome=summary.get("outcome"),
        data=Markup(_embedded(summary, picture(summary, graph))),
        style=Markup(component_file("graph-view.css").decode("utf-8")),
        library=Markup(library),
        script=Markup(code),
        policy=" ".join(map(policy_hash, (library, code))),
    )


@cache
def template(name: str) -> Template:
    """A page of the package, in which numbers are written as people write them."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("precede.report"),
        autoescape=name.endswith(".html"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = _number
    environment.filters["total"] = _total
    return environment.get_template(name)


@cache
def script() -> str:
    """The page's own script after the graph component: with Cytoscape.js, all that its content policy lets run."""
    folder = files("precede.report") / "templates"
    own = "\n".join((folder / name).read_text(encoding="utf-8") for name in SCRIPTS)
    return f"{inline_module('elements.js', 'edge-plots.js')}\n{{\n{own}}}\n"  # in a block: its names are its own


def graph_of(summary: Summary) -> CausalGraph:
    """The graph that a summary describes; where edges have no weights, their strengths stand for them."""
    d = len(summary["nodes"])
    weights, edges = np.zeros((d, d)), np.zeros((d, d), dtype=bool)
    for edge in summary["edges"]:
        place = edge["cause"], edge["effect"]
        edges[place] = True
        weights[place] = (edge["strength"] if edge["weight"] is None else edge["weight"]) or 0.0
    order = np.array(summary["order"], dtype=np.int64)
    return CausalGraph.from_matrix(edges, weights, order, [node["name"] for node in summary["nodes"]])


def picture(summary: Summary, graph: CausalGraph) -> ShownGraph:
    """What the graph component shows: places of boxes, bends of edges, and how each edge is to look."""
    shared = [(pair["first"], pair["second"]) for pair in summary["shared_causes"]]
    shown = payload(graph, shared_causes=shared, placed=True)
    drawn = {(edge["cause"], edge["effect"]): edge for edge in shown["edges"] if edge["mark"] != "shared"}
    edges: list[ShownEdge] = [
        {
            **drawn[edge["cause"], edge["effect"]],
            "strength": edge["strength"],
            "sign": "negative" if edge["trend"] == "falling" else "positive",
            "probability": edge["confidence"],
            "doubtful": edge["confidence"] is not None and edge["confidence"] < DOUBTFUL,
            "mark": edge.get("mark", "line" if edge["source"] == "open" else "arrow"),
        }
        for edge in summary["edges"]
    ]
    return {**shown, "edges": [*edges, *(edge for edge in shown["edges"] if edge["mark"] == "shared")]}


CURVE = {"width": 720, "height": 250, "left": 78, "right": 708, "top": 8, "floor": 212}
"""Of the learning curve and its axes, in pixels."""


def learning_curve(learning: LearningEntry | None) -> JsonObject | None:
    """Polylines of the best and the mean score, in pixels."""
    if learning is None:
        return None
    iterations, best, mean = (
        np.array([np.nan if value is None else value for value in values or []], dtype=float)
        for values in (learning["iteration"], learning["best"], learning["mean"])
    )
    levels = [value for value in (learning["final"], learning["greedy"]) if value is not None]
    lowest = [np.nanquantile(mean, 0.15)] if np.isfinite(mean).any() else []
    low, high = np.nanmin([*best, *levels, *lowest]), np.nanmax([*best, *levels])
    span = max(high - low, 1e-9 * max(abs(high), 1.0))
    low, high = low - 0.05 * span, high + 0.08 * span

    def down(value: Any) -> Any:
        return None if value is None else np.round(np.interp(value, [low, high], [CURVE["floor"], CURVE["top"]]), 1)

    def line(values: FloatArray) -> str:
        across = np.interp(iterations, iterations[[0, -1]], [CURVE["left"], CURVE["right"]])
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across, down(values), strict=True) if np.isfinite(y))

    return {
        **CURVE,
        "best": line(best),
        "mean": line(mean) if len(mean) else "",
        "greedy": down(learning["greedy"]),
        "final": down(learning["final"]),
        "first": int(iterations[0]),
        "last": int(iterations[-1]),
        "ticks": [{"y": down(value), "label": f"{value:,.6g}"} for value in round_steps(low, high)],
        "final_value": learning["final"],
        "greedy_value": learning["greedy"],
    }


def round_steps(low: float, high: float) -> list[float]:
    """Three to six round numbers strictly between two others.

    Examples
    --------
    >>> round_steps(-31_500.0, -30_650.0)
    [-31400.0, -31200.0, -31000.0, -30800.0]
    """
    size = 10 ** np.floor(np.log10((high - low) / 3))
    step = max(size * factor for factor in (1, 2, 5) if (high - low) / (size * factor) >= 2.999)
    first = np.ceil(low / step) * step
    return [float(value) for value in np.arange(first, high, step)]


def _exports(graph: CausalGraph) -> list[dict[str, str]]:
    """The graph in the formats that other tools read, compressed, for buttons that hold their own content."""
    texts = [
        ("graph.json", "application/json", graph.to_json()),
        ("adjacency.csv", "text/csv", graph.adjacency.to_csv()),
        ("graph.dot", "text/vnd.graphviz", graph.to_dot()),
        ("graph.gml", "text/plain", graph.to_gml()),
    ]
    packed_texts = (gzip.compress(text.encode("utf-8", "backslashreplace"), mtime=0) for *_, text in texts)
    return [
        {"name": name, "type": kind, "gzip": base64.b64encode(data).decode()}
        for (name, kind, _), data in zip(texts, packed_texts, strict=True)
    ]


def _number(value: Any) -> str:
    """A number as people write it; a dash for none."""
    if value is None:
        return "–"
    if isinstance(value, float) and not value.is_integer():
        return f"{value:.3g}" if abs(value) < 1e4 else f"{value:,.0f}"
    return f"{value:,.0f}" if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)


def _total(effect: TotalEntry | None) -> str:
    """A total effect as the table has it.

    Examples
    --------
    >>> _total({"value": 0.5, "low": 0.25, "high": 0.75}), _total({"value": None, "low": 0.0, "high": 0.5})
    ('0.5', '0 to 0.5')
    """
    if effect is None:
        return "–"
    if effect["value"] is None:
        return f"{_number(effect['low'])} to {_number(effect['high'])}"
    return _number(effect["value"])


def _embedded(summary: Summary, drawn: ShownGraph) -> str:
    """What the script of the page needs, as JSON that cannot close its own script element."""
    lean = [
        {
            **edge,
            "points": packed(edge["points"]),
            "curve": packed(edge["curve"]),
            "extremes": edge["extremes"] or [[], []],
            "density": None if edge["density"] is None else shades(edge["density"]),
        }
        for edge in summary["edges"]
    ]
    nodes = [{**node, "values": packed(node["values"]), "grid": packed(node["grid"])} for node in summary["nodes"]]
    content = {
        "nodes": _columns(nodes),
        "edges": _columns(lean),
        "graph": drawn,
        "outcome": None if (asked := summary.get("outcome")) is None else asked["place"],
        "linear": summary["linear"],
        "title": summary["title"],
    }
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _columns(records: Sequence[Mapping[str, object]]) -> dict[str, list[object]]:
    """A list of like dictionaries as one dictionary of lists: each name once, null where a dictionary lacks it."""
    names = dict.fromkeys(name for record in records for name in record)
    return {name: [record.get(name) for record in records] for name in names} if records else {"none": []}


def shades(density: list[list[int]]) -> str:
    """Counts of a density as a byte each, column after column, the largest 255, in base 64."""
    counts = np.array(density, dtype=float).clip(0)
    dark = (255 * counts / max(counts.max(initial=0.0), 1.0)).round().astype(np.uint8)
    return base64.b64encode(dark.tobytes()).decode()


def packed(values: list[float] | None) -> list[Any] | None:
    """Numbers of a plot as their range and a byte each, in base 64: as fine as its pixels, a quarter as long.

    Examples
    --------
    >>> packed([0.0, 1.0, 2.0])
    [0.0, 2.0, 'AID/']
    """
    if not values:
        return None
    low, high = min(values), max(values)
    span = (high - low) or 1.0
    return [low, high, base64.b64encode(bytes(round((value - low) / span * 255) for value in values)).decode()]
