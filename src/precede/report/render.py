"""A summary as one HTML file that opens offline: nothing in it is fetched from anywhere."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import numpy as np

from precede.errors import OptionError
from precede.graph import CausalGraph
from precede.graph.drawing import BOX_HEIGHT, MANY_VARIABLES, draw
from precede.graph.formats import Parts

LEVEL_WORDS = {"fine": "fine", "note": "note", "warning": "warning"}
LEVEL_MARKS = {"fine": "✓", "note": "i", "warning": "!"}

METRIC_WORDS = {
    "shd": "Structural Hamming distance",
    "tpr": "True edges found",
    "fdr": "Found edges that are wrong",
    "f1": "F1",
    "order_tpr": "True edges that agree with the order",
    "cpdag_shd": "Distance of the equivalence classes",
    "sid": "Structural intervention distance",
    "n_extra": "Extra edges",
    "n_missing": "Missing edges",
    "n_reversed": "Reversed edges",
}
SHARES = ("tpr", "fdr", "order_tpr")

TALLEST = 2600
"""Pixels that a large graph may take on the page, so that its names stay readable; what is larger is scaled down."""

EXPORT_TYPES = {"json": "application/json", "csv": "text/csv", "dot": "text/vnd.graphviz", "gml": "text/plain"}


def render_report(summary: dict[str, Any]) -> str:
    """Turn what :func:`precede.report.summarize.summarize` collected into a page.

    Parameters
    ----------
    summary : dict

    Returns
    -------
    html : str
        The same summary always gives the same text.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined  # the command line runs without it

    if summary.get("format") != "precede-summary" or summary.get("version") != 1:
        raise OptionError("this is not a summary of version 1 that this release of precede can show.")
    environment = Environment(
        loader=PackageLoader("precede.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = _number
    graph = graph_of(summary)
    return environment.get_template("report.html").render(
        summary=summary,
        picture=_picture(summary, graph),
        heatmap=_heatmap(summary),
        learning=_learning_curve(summary["learning"]),
        exports=_exports(graph),
        metrics=_metric_rows(summary["evaluation"]),
        level_words=LEVEL_WORDS,
        level_marks=LEVEL_MARKS,
        data=_embedded(summary),
    )


def graph_of(summary: dict[str, Any]) -> CausalGraph:
    """The graph that a summary describes."""
    d = len(summary["nodes"])
    weights, edges = np.zeros((d, d)), np.zeros((d, d), dtype=bool)
    for edge in summary["edges"]:
        edges[edge["cause"], edge["effect"]] = True
        weights[edge["cause"], edge["effect"]] = edge["weight"] or 0.0
    order = np.array(summary["order"], dtype=np.int64)
    return CausalGraph.from_matrix(edges, weights, order, [node["name"] for node in summary["nodes"]])


def _picture(summary: dict[str, Any], graph: CausalGraph) -> dict[str, Any]:
    """Boxes and curves of the graph, with the widths and opacities that the page uses."""
    drawing = draw(Parts(graph.edges, graph.strengths, graph.names), graph.positions)
    largest = max((edge["strength"] or 0.0 for edge in summary["edges"]), default=0.0) or 1.0
    many = len(summary["edges"]) > 60
    thin, thick = (0.9, 2.6) if many else (1.2, 4.8)
    return {
        "width": round(drawing.width),
        "height": round(drawing.height),
        "tall": TALLEST if len(graph.names) > MANY_VARIABLES else round(min(drawing.height * 1.5, 900)) + 30,
        "tip": 9 if many else 11,
        "box_height": BOX_HEIGHT,
        "largest": largest,
        "boxes": [
            {"x": round(box.x), "y": round(box.y), "left": round(box.x - box.width / 2), "width": round(box.width)}
            | {"label": box.label, "top": round(box.y - BOX_HEIGHT / 2)}
            for box in drawing.boxes
        ],
        "edges": [
            {
                "path": drawing.path((edge["cause"], edge["effect"])),
                "stroke": round(thin + thick * (edge["strength"] or 0.0) / largest, 2),
                "opacity": 0.9 if edge["confidence"] is None else round(0.2 + 0.8 * edge["confidence"], 2),
            }
            for edge in summary["edges"]
        ],
    }


def _heatmap(summary: dict[str, Any]) -> dict[str, Any]:
    """Cells of the adjacency in causal order; causes are rows."""
    d = len(summary["nodes"])
    cell = int(np.clip(620 // max(d, 1), 9, 30))
    place = {node: k for k, node in enumerate(summary["order"])}
    largest = max((edge["strength"] or 0.0 for edge in summary["edges"]), default=0.0) or 1.0
    longest = max(len(node["name"]) for node in summary["nodes"])
    letters = min(longest, 18)
    font = int(np.clip(cell - 2, 7, 12))
    return {
        "cell": cell,
        "margin": round(letters * font * 0.62) + 10,
        "font": font,
        "size": cell * d,
        "labels": [summary["nodes"][node]["name"][:18] for node in summary["order"]],
        "cells": [
            {
                "row": place[edge["cause"]],
                "column": place[edge["effect"]],
                "shade": round(0.25 + 0.75 * ((edge["strength"] or 0.0) / largest) ** 0.7, 2),
                "negative": (edge["weight"] or 0.0) < 0,
            }
            for edge in summary["edges"]
        ],
    }


def _learning_curve(learning: dict[str, Any] | None) -> dict[str, Any] | None:
    """Polylines of the best and the mean score, in pixels."""
    if learning is None:
        return None
    width, height, left, bottom = 720, 240, 78, 28
    iterations = np.array(learning["iteration"], dtype=float)
    best = np.array([np.nan if value is None else value for value in learning["best"]], dtype=float)
    mean = np.array([np.nan if value is None else value for value in learning["mean"] or []], dtype=float)
    levels = [value for value in (learning["final"], learning["greedy"]) if value is not None]
    low = np.nanmin([*best, *levels, np.nanquantile(mean, 0.15) if np.isfinite(mean).any() else np.nanmin(best)])
    high = np.nanmax([*best, *levels])
    span = (high - low) or 1.0
    low, high = low - 0.05 * span, high + 0.08 * span

    def across(value: Any) -> Any:
        return left + (value - iterations[0]) / max(iterations[-1] - iterations[0], 1.0) * (width - left - 12)

    def down(value: Any) -> Any:
        return np.clip((high - value) / (high - low), 0, 1) * (height - bottom - 8) + 8

    def line(values: Any) -> str:
        keep = np.isfinite(values)
        return " ".join(f"{across(x):.1f},{down(y):.1f}" for x, y in zip(iterations[keep], values[keep], strict=True))

    return {
        "width": width,
        "height": height,
        "left": left,
        "floor": height - bottom,
        "best": line(best),
        "mean": line(mean) if len(mean) else "",
        "greedy": None if learning["greedy"] is None else round(float(down(learning["greedy"])), 1),
        "final": None if learning["final"] is None else round(float(down(learning["final"])), 1),
        "first": int(iterations[0]),
        "last": int(iterations[-1]),
        "ticks": [{"y": round(float(down(v)), 1), "label": f"{v:,.6g}"} for v in round_steps(low, high)],
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
    texts = {
        "graph.json": graph.to_json(),
        "adjacency.csv": graph.adjacency.to_csv(),
        "graph.dot": graph.to_dot(),
        "graph.gml": graph.to_gml(),
    }
    return [
        {
            "name": name,
            "type": EXPORT_TYPES[name.rpartition(".")[2]],
            "gzip": base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode(),
        }
        for name, text in texts.items()
    ]


def _metric_rows(evaluation: dict[str, Any] | None) -> list[tuple[str, str]]:
    if evaluation is None:
        return []
    figures = evaluation["metrics"]
    return [
        (words, f"{figures[name]:.0%}" if name in SHARES else _number(figures[name]))
        for name, words in METRIC_WORDS.items()
        if figures.get(name) is not None
    ]


def _number(value: Any) -> str:
    """A number as people write it; a dash for none."""
    if value is None:
        return "–"
    if isinstance(value, float) and not value.is_integer():
        return f"{value:.3g}" if abs(value) < 1e4 else f"{value:,.0f}"
    return f"{value:,.0f}" if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)


def _embedded(summary: dict[str, Any]) -> str:
    """What the script of the page needs, as JSON that cannot close its own script element."""
    edges = [edge | {"weight": float(f"{edge['weight'] or 0.0:.5g}")} for edge in summary["edges"]]
    content = {
        "nodes": _columns([_with_packed(node, "values", "grid") for node in summary["nodes"]]),
        "edges": _columns([_with_packed(edge, "points", "curve") for edge in edges]),
        "order": summary["order"],
        "has_confidence": summary["has_confidence"],
    }
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _columns(records: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """A list of like dictionaries as one dictionary of lists: each name once."""
    return {name: [record[name] for record in records] for name in records[0]} if records else {"none": []}


def _with_packed(item: dict[str, Any], *names: str) -> dict[str, Any]:
    return item | {name: packed(item[name]) for name in names}


def packed(values: list[float]) -> list[Any]:
    """Numbers of a plot as their range and a byte each, in base 64: as fine as its pixels, a quarter as long.

    Examples
    --------
    >>> packed([0.0, 1.0, 2.0])
    [0.0, 2.0, 'AID/']
    """
    low, high = min(values), max(values)
    span = (high - low) or 1.0
    return [low, high, base64.b64encode(bytes(round((value - low) / span * 255) for value in values)).decode()]
