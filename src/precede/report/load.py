"""A folder of results, read back: the graph with what it needs to answer questions."""

import os
from collections.abc import Hashable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NotRequired

import numpy as np
from typing_extensions import TypedDict

from precede.effects.linear import Effect, Question
from precede.effects.possible import PossibleEffects, effect_of, possible_effects
from precede.errors import OptionError
from precede.evidence.checks.record import signed_strengths
from precede.evidence.confidence import Confidence
from precede.evidence.confidence.confidence import matrix_of
from precede.evidence.sample import moments_from_json, sample_for
from precede.files import finish_swap
from precede.graph import CausalGraph, MixedGraph
from precede.knowledge import Knowledge
from precede.options import Options
from precede.report.summary import EdgeRecord
from precede.strict_json import JsonObject, checked, document, read_json

MOMENTS_FILE, CONFIDENCE_FILE = "moments.json", "confidence.json"
SUMMARY_FILE, REPORT_FILE = "summary.json", "report.html"
PAG_FILE, SUMMARY_GRAPH_FILE, RESAMPLED_FILE = "pag.json", "summary_graph.csv", "resampled.json"
MARKS = {"result.json": "precede-result", SUMMARY_FILE: "precede-summary"}
"""Files by which a folder of results is known, and the formats that they name."""


class ScoreChoice(TypedDict):
    """The score that "auto" has chosen."""

    name: str


class PagRecord(TypedDict):
    """The content of pag.json: the first and the second variable of each edge, and its marks."""

    edges: list[list[str | int]]


class ResampledRecord(TypedDict):
    """The content of resampled.json: of each resample the pairs of cause and effect, both ways where that is open."""

    graphs: list[list[list[int]]]


class DiagnosticsRecord(TypedDict, total=False):
    """What is read again of the diagnostics; the rest lies beside it."""

    identifies: Literal["dag", "cpdag"]
    score: str | None
    score_choice: ScoreChoice | None
    edges: list[EdgeRecord]


class ResultRecord(TypedDict):
    """The content of result.json."""

    format: str
    version: int
    method: str
    settings: JsonObject
    score: float | None
    diagnostics: DiagnosticsRecord
    reading: NotRequired[JsonObject]


@dataclass(frozen=True)
class Results:
    """What ``precede discover --out`` wrote.

    Parameters
    ----------
    folder : Path
    graph : CausalGraph
        With the moments of the data, so that it answers :meth:`CausalGraph.effect`.
    description : ResultRecord
        The content of result.json: method, settings, data, score, diagnostics, versions.
    confidence : Confidence or None
        Where the rows were resampled.
    """

    folder: Path
    graph: CausalGraph
    description: ResultRecord
    confidence: Confidence | None = None

    @property
    def identifies(self) -> str:
        """What the method can tell: "dag", or "cpdag" for the equivalence class alone."""
        return self.description["diagnostics"].get("identifies", "dag")

    @property
    def knowledge(self) -> Knowledge | None:
        """What was known beforehand."""
        given = self.description["settings"].get("knowledge")
        return None if given is None else Knowledge.from_dict(given)

    @property
    def loading(self) -> Options:
        """How the data were read: options of :func:`precede.load_table`."""
        return dict(self.description.get("reading", {}))

    def effects(
        self,
        cause: Hashable,
        effect: Hashable,
        data: Any = None,
        level: float = 0.95,
        compared: tuple[Any, Any] | None = None,
        outcome_level: Hashable = None,
    ) -> dict[str, Effect | PossibleEffects]:
        """The total effect, the direct one along an edge, and the possible ones where only the class is told.

        A category of which no two levels are compared has a total effect for each level, against the most frequent one;
        a categorical outcome of which no level is named has one on the risk of each.
        """
        asked = Question(
            self.graph, cause, effect, sample_for(self.graph, data), "total", "optimal", level, compared, outcome_level
        )
        if len(levels := asked.by_level()) > 1:
            risk = len({one.outcome_level for one in levels}) > 1
            found = [effect_of(one, self.confidence) for one in levels]
            if not any(one.standard_error for one in found):  # ruled out, whatever the level
                return {"total": found[0]}
            return {f"total, {one.change}{f', {one.outcome_level}' if risk else ''}": one for one in found}
        if self.graph.pag is not None:
            possible = possible_effects(asked)
            return {"possible": possible} if possible.unmeasured else {"total": possible.effects[0]}
        answers: dict[str, Effect | PossibleEffects] = {"total": effect_of(asked, self.confidence)}
        if self.graph.edges[asked.pair]:
            answers["direct"] = effect_of(replace(asked, kind="direct"))
        if self.identifies == "cpdag":
            answers["possible"] = possible_effects(asked)
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
    description = read_result(place / "result.json")
    if (place / MOMENTS_FILE).is_file():
        sample = moments_from_json(place / MOMENTS_FILE)
        if sample.n_variables != graph.n_variables:
            raise OptionError(f"{MOMENTS_FILE} in {str(folder)!r} is about other columns than the graph.")
        graph = replace(graph, sample=sample)
    read = description["diagnostics"].get("edges")
    if read:
        if not all(0 <= edge[end] < graph.n_variables for edge in read for end in ("cause", "effect")):
            raise OptionError(f"result.json in {str(folder)!r} is about other columns than the graph.")
        strengths = [(edge["cause"], edge["effect"], edge["strength"], edge["trend"]) for edge in read]
        graph = replace(graph, standardized=signed_strengths(strengths, graph.n_variables))
    if (place / PAG_FILE).is_file():
        graph = replace(graph, pag=_read_pag(place / PAG_FILE, graph))
    if (place / RESAMPLED_FILE).is_file():
        found = checked(read_json(place / RESAMPLED_FILE), ResampledRecord, RESAMPLED_FILE)["graphs"]
        n = graph.n_variables
        if not all(len(pair) == 2 and min(pair) >= 0 and max(pair) < n for pairs in found for pair in pairs):
            raise OptionError(f"{RESAMPLED_FILE} in {str(folder)!r} is about other columns than the graph.")
        graph = replace(graph, resampled=np.array([matrix_of(pairs, n) for pairs in found]))
    resampled = place / CONFIDENCE_FILE
    return Results(place, graph, description, Confidence.from_json(resampled) if resampled.is_file() else None)


def _read_pag(path: Path, graph: CausalGraph) -> MixedGraph:
    """The marks of a graph with hidden causes."""
    edges = checked(read_json(path), PagRecord, str(path))["edges"]
    if any(len(edge) != 3 or not {*edge[:2]} <= set(graph.names) for edge in edges):
        raise OptionError(f"{str(path)!r} is about other columns than the graph.")
    return MixedGraph.from_edges([(first, second, str(mark)) for first, second, mark in edges], graph.names)


def read_result(path: Path) -> ResultRecord:
    """The content of a result.json, once it is known to be one of this release."""
    try:
        found = read_json(path)
    except OSError as error:
        raise OptionError(f"{str(path)!r} cannot be read: {error.strerror}.") from None
    return checked(document(found, "precede-result", 1, repr(str(path))), ResultRecord, str(path))
