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

from precede.graph import CausalGraph
from precede.graph.component import ShownGraph, component_file, inline_module, policy_hash
from precede.report.geometry import heatmap, largest_strength, learning_curve, picture
from precede.report.summarize import said_in
from precede.report.summary import EvaluationEntry, Summary, TotalEntry, check_summary

if TYPE_CHECKING:
    from jinja2 import Template

LEVEL_MARKS = {"fine": "✓", "note": "i", "warning": "!", "not run": "·"}

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

EXPORT_TYPES = {"json": "application/json", "csv": "text/csv", "dot": "text/vnd.graphviz", "gml": "text/plain"}

SCRIPTS = ("data.js", "card.js", "page.js")
"""Run one after the other, in one scope, after the graph component."""


def render_report(summary: Summary) -> str:
    """Turn what :func:`precede.report.summarize.summarize` collected into a page.

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
    return _template().render(
        summary=summary,
        said=said,
        not_run=[
            (sentence, [item.name for item in said if item.level == "not run" and item.sentence == sentence])
            for sentence in dict.fromkeys(item.sentence for item in said if item.level == "not run")
        ],
        by_policy=any(edge["policy_probability"] is not None for edge in summary["edges"]),
        warnings=[item for item in said if item.level == "warning"],
        heatmap=heatmap(summary),
        learning=learning_curve(summary["learning"]),
        exports=_exports(graph),
        metrics=_metric_rows(summary["evaluation"]),
        level_marks=LEVEL_MARKS,
        largest=largest_strength(summary),
        outcome=summary.get("outcome"),
        data=Markup(_embedded(summary, picture(summary, graph))),
        style=Markup(component_file("graph-view.css").decode("utf-8")),
        library=Markup(library),
        script=Markup(code),
        policy=" ".join(map(policy_hash, (library, code))),
    )


@cache
def _template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("precede.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = _number
    environment.filters["total"] = _total
    return environment.get_template("report.html")


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
            "gzip": base64.b64encode(gzip.compress(text.encode("utf-8", "backslashreplace"), mtime=0)).decode(),
        }
        for name, text in texts.items()
    ]


def _metric_rows(evaluation: EvaluationEntry | None) -> list[tuple[str, str]]:
    if evaluation is None:
        return []
    found = evaluation["metrics"]
    return [
        (words, f"{found[name]:.0%}" if name in SHARES else _number(found[name]))
        for name, words in METRIC_WORDS.items()
        if isinstance(found.get(name), int | float)
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
    """A list of like dictionaries as one dictionary of lists: each name once."""
    return {name: [record[name] for record in records] for name in records[0]} if records else {"none": []}


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
