"""A fitted model as one plain dictionary: everything that a report shows, ready for JSON."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from precede.arrays import FloatArray, IntArray
from precede.confidence import Confidence
from precede.data.load import Table
from precede.diagnostics import Diagnostic, controls, diagnose
from precede.diagnostics.mechanisms import Mechanisms, evenly_spaced, fit_mechanisms
from precede.errors import OptionError
from precede.estimator import CausalEstimator
from precede.graph import CausalGraph
from precede.graph.equivalence import cpdag
from precede.knowledge import constraints_over
from precede.metrics.alignment import aligned
from precede.metrics.structure import evaluate
from precede.pruning.cam import prune_by_gam
from precede.report.folder import describe_result
from precede.report.words import found_words, knowledge_words, sure_words, unknown_words
from precede.scores.assumptions import Assumptions
from precede.scores.build import assumptions_of

FORMAT, VERSION = "precede-summary", 1

MOST_POINTS, FEWEST_POINTS, POINTS_IN_ALL = 200, 40, 20_000
"""Points of a partial plot, and of all of them together, so that a report stays small."""

CURVE_POINTS = 25
CURVE_RECORDS = 300
"""Iterations that the learning curve keeps."""


def summarize(
    model: CausalEstimator,
    table: Table,
    truth: CausalGraph | None = None,
    confidence: Any = None,
    title: str | None = None,
) -> dict[str, Any]:
    """Collect what a report shows.

    Parameters
    ----------
    model : CausalEstimator
        Fitted to ``table``.
    table : Table
    truth : CausalGraph, optional
        A reference graph over the same variables, to compare with.
    confidence : Confidence, DataFrame or (n_variables, n_variables) array, optional
        What ``model.bootstrap`` found, or the probability of each edge, ``[i, j]`` for i -> j; an array is in the
        column order of the data.
    title : str, optional
        Name of the data, for the heading.

    Returns
    -------
    summary : dict
        Lists, numbers, strings and None only. ``render_report`` turns it into a page.
    """
    graph = model.graph_
    settings = model.get_params(deep=False)
    score = model.diagnostics_.get("score")
    assumed = assumptions_of(score, str(settings.get("noise", "auto")))
    certainty = None if confidence is None else _edge_probability(confidence, table)
    checks = _checks(model, table, settings, certainty)
    curves = fit_mechanisms(table.values, graph.edges, "additive")
    lines = fit_mechanisms(table.values, graph.edges, "linear") if assumed.mechanism != "additive" else None
    description = describe_result(model, table)
    edges, points = _edges(graph, table.values, curves, lines, certainty)
    identifies = str(model.diagnostics_.get("identifies", "dag"))
    if identifies == "cpdag":
        _mark_undirected(edges, graph)
    return {
        "format": FORMAT,
        "version": VERSION,
        "title": title or "the data",
        "method": description["method"],
        "score_name": score,
        "score": _finite(model.score_),
        "identifies": identifies,
        "data": description["data"],
        "assumed": _assumed(assumed, model),
        "found": found_words(graph, edges),
        "sure": sure_words(edges, checks, confidence if isinstance(confidence, Confidence) else None),
        "unknown": unknown_words(checks, identifies),
        "nodes": _nodes(graph, table.values, curves.rows, points),
        "edges": edges,
        "order": [int(k) for k in graph.positions],
        "has_confidence": certainty is not None,
        "learning": _learning(model),
        "diagnostics": [check.to_dict() for check in checks],
        "evaluation": None if truth is None else _evaluation(graph, truth, table, assumed),
        "settings": description["settings"],
        "versions": description["versions"],
        "reproduce": f"precede.{model!r}.fit(data)" if not settings.get("knowledge") else None,
    }


def _edge_probability(confidence: Any, table: Table) -> FloatArray:
    """Probabilities by column position."""
    matrix = getattr(confidence, "edge_probability", confidence)
    if isinstance(matrix, pd.DataFrame):
        matrix = matrix.loc[list(table.names), list(table.names)]
    result = np.asarray(matrix, dtype=float)
    if result.shape != (table.n_variables, table.n_variables):
        raise OptionError(f"confidence has shape {result.shape}, but the data has {table.n_variables} variables.")
    return result


def _checks(
    model: CausalEstimator, table: Table, settings: dict[str, Any], confidence: FloatArray | None
) -> list[Diagnostic]:
    search = dict(model.diagnostics_.get("search", {}))
    if "best_score" not in search and np.isfinite(model.score_):
        search["best_score"] = model.score_
    pruning = {name: settings[name] for name in ("threshold", "cutoff") if isinstance(settings.get(name), float)}
    return diagnose(
        table.values,
        model.graph_.edges,
        model.graph_.positions,
        table.names,
        score=model.diagnostics_.get("score"),
        noise=str(settings.get("noise", "auto")),
        identifies=str(model.diagnostics_.get("identifies", "dag")),
        search=search,
        pruning=str(settings.get("pruning", "auto")),
        constraints=constraints_over(settings.get("knowledge"), table.names),
        confidence=confidence,
        **pruning,
    )


def _assumed(assumptions: Assumptions, model: CausalEstimator) -> list[str]:
    """What was taken for granted, a sentence each."""
    sentences = [
        assumptions.words,
        "No variable that matters to two others is missing from the table, and nothing causes itself in a circle.",
        "The rows are independent draws of one and the same system.",
    ]
    choice = model.diagnostics_.get("score_choice")
    if choice:
        sentences.insert(1, f"The score was chosen by looking at the data: {choice['reason']}")
    knowledge = model.get_params(deep=False).get("knowledge")
    if knowledge is not None:
        sentences.append(knowledge_words(knowledge))
    return sentences


def _edges(
    graph: CausalGraph,
    values: FloatArray,
    curves: Mechanisms,
    lines: Mechanisms | None,
    confidence: FloatArray | None,
) -> tuple[list[dict[str, Any]], list[int]]:
    """Every edge with its strength and partial plot, in causal order; and the rows that the plots show."""
    budget = int(np.clip(POINTS_IN_ALL // max(graph.n_edges, 1), FEWEST_POINTS, MOST_POINTS))
    shown = evenly_spaced(len(curves.rows), budget)
    fit = lines or curves
    result = []
    for i in graph.positions:
        for j in np.flatnonzero(graph.edges[i]):
            edge = (int(i), int(j))
            partial = fit.residuals[:, j] + fit.effects[edge]
            x = values[curves.rows, i]
            grid = _grid(x)
            order = np.argsort(x, kind="stable")
            certain = None if confidence is None else confidence[edge]
            either = None if confidence is None else min(confidence[edge] + confidence[j, i], 1.0)
            slope = None if lines is None else float((x - x.mean()) @ lines.effects[edge] / (x.var() * len(x)))
            result.append(
                {
                    "cause": edge[0],
                    "effect": edge[1],
                    "weight": _finite(graph.strengths[edge]),
                    "strength": _rounded(fit.strength(*edge), 4),
                    "confidence": _rounded(certain, 3),
                    "connected": _rounded(either, 3),
                    "directed": True,
                    "slope": _rounded(slope, 4),
                    "points": _short(partial[shown]),
                    "curve": _short(np.interp(grid, x[order], curves.effects[edge][order])),
                }
            )
    return result, [int(k) for k in curves.rows[shown]]


def _mark_undirected(edges: list[dict[str, Any]], graph: CausalGraph) -> None:
    pattern = cpdag(graph.edges)
    for edge in edges:
        edge["directed"] = not pattern[edge["effect"], edge["cause"]]


def _nodes(graph: CausalGraph, values: FloatArray, rows: IntArray, shown: list[int]) -> list[dict[str, Any]]:
    place = np.argsort(graph.positions)
    return [
        {
            "name": str(name),
            "place": int(place[k]) + 1,
            "causes": int(graph.edges[:, k].sum()),
            "effects": int(graph.edges[k].sum()),
            "mean": _rounded(values[:, k].mean(), 5),
            "sd": _rounded(values[:, k].std(), 5),
            "values": _short(values[shown, k]),
            "grid": _short(_grid(values[rows, k])),
        }
        for k, name in enumerate(graph.names)
    ]


def _grid(column: FloatArray) -> FloatArray:
    """Places along a variable where its curves are drawn: all but the extreme tails."""
    low, high = np.quantile(column, [0.01, 0.99])
    return np.linspace(low, high, CURVE_POINTS)


def _learning(model: CausalEstimator) -> dict[str, Any] | None:
    """The best and the mean score by iteration, where the method keeps them."""
    history: pd.DataFrame = model.history_
    if not {"iteration", "best_score"} <= set(history.columns) or len(history) < 2:
        return None
    kept = history.iloc[evenly_spaced(len(history), CURVE_RECORDS)]
    search = model.diagnostics_.get("search", {})
    return {
        "iteration": [int(k) for k in kept["iteration"]],
        "best": [_finite(value) for value in kept["best_score"]],
        "mean": [_finite(value) for value in kept["mean_score"]] if "mean_score" in kept else None,
        "final": _finite(model.score_),
        "greedy": _finite(search.get("greedy_score")),
    }


def _evaluation(graph: CausalGraph, truth: CausalGraph, table: Table, assumed: Assumptions) -> dict[str, Any]:
    """Agreement with a reference graph, and what chance would reach."""
    prune = None
    if assumed.mechanism == "additive":

        def prune(order: Any) -> Any:
            position = np.argsort(order)
            return prune_by_gam(table.values, position[:, None] < position[None, :], test="f").edges

    metrics = evaluate(graph, truth).to_dict()
    true = aligned(truth, graph)[0].edges  # in the column order of the data
    quick = prune is None and graph.n_variables <= 20
    chance = controls(true, table.values, graph.edges, prune=prune, n_random=100 if quick else 10)
    return {"metrics": {name: _finite(value) for name, value in metrics.items()}, "controls": chance}


def _finite(value: Any) -> float | None:
    """A plain number, or None for what JSON cannot hold."""
    return float(value) if value is not None and np.isfinite(value) else None


def _rounded(value: Any, digits: int) -> float | None:
    number = _finite(value)
    return None if number is None else float(f"{number:.{digits}g}")


def _short(values: FloatArray) -> list[float]:
    """Three digits relative to the range are more than a plot of this size shows."""
    span = float(np.ptp(values)) or 1.0
    digits = max(0, 3 - int(np.floor(np.log10(span))) - 1)
    return [float(v) for v in np.round(values, min(digits, 300))]
