"""The total effect along each edge: one number where the graph settles it, a range where only its class is known."""

from __future__ import annotations

from precede.effects.linear import linear_effect
from precede.effects.possible import effects_in_class
from precede.errors import PrecedeError
from precede.evidence.checks import EdgeDiagnostics
from precede.graph import CausalGraph
from precede.report.summary import TotalEntry

LEVEL = 0.95


def total_effects(graph: CausalGraph, readings: tuple[EdgeDiagnostics, ...]) -> list[TotalEntry | None]:
    """Change of the effect per unit of the cause, along all paths, for each edge.

    Parameters
    ----------
    graph : CausalGraph
        With the data that it was learned from.
    readings : tuple of EdgeDiagnostics

    Returns
    -------
    effects : list of dict or None
        ``value`` with the ends of its 95% interval, ``low`` and ``high``. Where the direction is open, ``value``
        is None, and the ends are the least and the largest effect in all equivalent graphs. None where no number tells
        it: for columns of words, too few rows, or a graph without data.
    """
    if graph.sample is None:
        return [None] * len(readings)
    pattern = None if all(reading.directed for reading in readings) else graph.pattern
    result: list[TotalEntry | None] = []
    for reading in readings:
        i, j = reading.cause, reading.effect
        try:
            if pattern is None or reading.directed:
                found = linear_effect(graph, graph.names[i], graph.names[j], level=LEVEL)
                result.append({"value": found.value, "low": found.interval[0], "high": found.interval[1]})
            else:
                low, high = effects_in_class(graph, graph.sample, pattern, (i, j), LEVEL).range
                result.append({"value": None, "low": low, "high": high})
        except PrecedeError:
            result.append(None)
    return result
