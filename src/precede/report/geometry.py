"""Boxes, curves and cells of the page's pictures, in pixels."""

from __future__ import annotations

from typing import Any

import numpy as np

from precede.graph import CausalGraph
from precede.graph.component import ShownEdge, ShownGraph, payload
from precede.graph.component.payload import DOUBTFUL
from precede.report.summary import LearningEntry, Summary
from precede.strict_json import JsonObject


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


def largest_strength(summary: Summary) -> float:
    """Of all edges; 1 where there is none."""
    return max((edge["strength"] or 0.0 for edge in summary["edges"]), default=0.0) or 1.0


def heatmap(summary: Summary) -> JsonObject:
    """Cells of the adjacency in causal order; causes are rows."""
    d = len(summary["nodes"])
    cell = int(np.clip(620 // max(d, 1), 9, 30))
    place = {node: k for k, node in enumerate(summary["order"])}
    largest = largest_strength(summary)
    letters = min(max(len(node["name"]) for node in summary["nodes"]), 18)
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
                "shade": round(0.25 + 0.75 * min(max(edge["strength"] or 0.0, 0.0) / largest, 1.0) ** 0.7, 2),
                "negative": edge["trend"] == "falling",
            }
            for edge in summary["edges"]
        ],
    }


def learning_curve(learning: LearningEntry | None) -> JsonObject | None:
    """Polylines of the best and the mean score, in pixels."""
    if learning is None:
        return None
    width, height, left, bottom = 720, 250, 78, 38
    iterations = np.array(learning["iteration"], dtype=float)
    best = np.array([np.nan if value is None else value for value in learning["best"]], dtype=float)
    mean = np.array([np.nan if value is None else value for value in learning["mean"] or []], dtype=float)
    levels = [value for value in (learning["final"], learning["greedy"]) if value is not None]
    low = np.nanmin([*best, *levels, np.nanquantile(mean, 0.15) if np.isfinite(mean).any() else np.nanmin(best)])
    high = np.nanmax([*best, *levels])
    span = max(high - low, 1e-9 * max(abs(high), 1.0))
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
