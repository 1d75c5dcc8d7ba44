"""A folder of results, read back: the graph with what it needs to answer questions."""

from __future__ import annotations

import json
import os
from collections.abc import Hashable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from precede.confidence import Confidence
from precede.effects.linear import Effect
from precede.effects.possible import PossibleEffects
from precede.effects.sample import moments_from_json
from precede.errors import OptionError
from precede.files import finish_swap
from precede.graph import CausalGraph, MixedGraph
from precede.strict_json import JsonObject

MOMENTS_FILE, CONFIDENCE_FILE = "moments.json", "confidence.json"
SUMMARY_FILE, REPORT_FILE = "summary.json", "report.html"
MARKS = {"result.json": "precede-result", SUMMARY_FILE: "precede-summary"}
"""Files by which a folder of results is known, and the formats that they name."""


@dataclass(frozen=True)
class Results:
    """What ``precede discover --out`` wrote.

    Parameters
    ----------
    folder : Path
    graph : CausalGraph
        With the moments of the data, so that it answers :meth:`CausalGraph.effect`.
    description : dict
        The content of result.json: method, settings, data, score, diagnostics, versions.
    confidence : Confidence or None
        Where the rows were resampled.
    """

    folder: Path
    graph: CausalGraph
    description: JsonObject
    confidence: Confidence | None = None

    @property
    def identifies(self) -> str:
        """What the method can tell: "dag", or "cpdag" for the equivalence class alone."""
        return str(self.description.get("diagnostics", {}).get("identifies", "dag"))

    def effects(
        self, cause: Hashable, effect: Hashable, data: Any = None, level: float = 0.95
    ) -> dict[str, Effect | PossibleEffects]:
        """The total effect, the direct one along an edge, and the possible ones where only the class is told."""
        graph = self.graph
        if graph.pag is not None:
            return {"total": graph.effect(cause, effect, data, level=level)}
        answers: dict[str, Effect | PossibleEffects] = {
            "total": graph.effect(cause, effect, data, confidence=self.confidence, level=level)
        }
        if graph.edges[graph.position(cause), graph.position(effect)]:
            answers["direct"] = graph.effect(cause, effect, data, kind="direct", level=level)
        if self.identifies == "cpdag":
            answers["possible"] = graph.possible_effects(cause, effect, data, level=level)
        return answers


def load_results(folder: str | os.PathLike[str]) -> Results:
    """Read a folder that ``precede discover --out`` wrote.

    Raises
    ------
    OptionError
        When it is no such folder.
    """
    place = Path(folder)
    finish_swap(place)
    if not (place / "graph.json").is_file():
        raise OptionError(f"{str(folder)!r} holds no result: 'precede discover data.csv --out {place.name}' makes one.")
    graph = CausalGraph.from_json(place / "graph.json")
    try:
        description = json.loads((place / "result.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise OptionError(f"result.json in {str(folder)!r} cannot be read: {error}.") from None
    if not isinstance(description, dict):
        raise OptionError(f"result.json in {str(folder)!r} is not what 'precede discover --out' writes.")
    found = description.get("diagnostics", {})
    if found.get("hidden") == "allowed":
        graph = replace(graph, pag=MixedGraph.from_edges([tuple(edge) for edge in found["marks"]], graph.names))
    if (place / MOMENTS_FILE).is_file():
        sample = moments_from_json(place / MOMENTS_FILE)
        if len(sample.mean) != graph.n_variables:
            raise OptionError(f"{MOMENTS_FILE} in {str(folder)!r} is about other columns than the graph.")
        graph = replace(graph, sample=sample)
    resampled = place / CONFIDENCE_FILE
    return Results(place, graph, description, Confidence.from_json(resampled) if resampled.is_file() else None)
