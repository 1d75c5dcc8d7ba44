"""A folder of results: its machine-readable files, each written whole or not at all, and the folder read back."""

import os
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import Any, Literal, NotRequired

import numpy as np
from typing_extensions import TypedDict

from precede.arrays import BoolArray, IntArray
from precede.data.load import Table, load_table
from precede.effects.linear import Effect, Question
from precede.effects.possible import PossibleEffects, effect_of, possible_effects
from precede.errors import OptionError, PrecedeError, refusing
from precede.estimator import CausalEstimator
from precede.evidence.checks.record import signed_strengths
from precede.evidence.confidence import Confidence
from precede.evidence.confidence.confidence import matrix_of, pairs_of
from precede.evidence.sample import moments_from_json, moments_to_json, sample_for, sample_of
from precede.files import check_outputs, finish_swap, write_together
from precede.graph import CausalGraph, MixedGraph
from precede.knowledge import Knowledge
from precede.options import Options, check_names
from precede.report.collect import Heading, Provenance, summarize, versions
from precede.report.render import render_report
from precede.report.summary import EdgeRecord, Summary
from precede.strict_json import JsonObject, checked, document, read_json, to_json

MOMENTS_FILE, CONFIDENCE_FILE = "moments.json", "confidence.json"
SUMMARY_FILE, REPORT_FILE = "summary.json", "report.html"
PAG_FILE, SUMMARY_GRAPH_FILE, RESAMPLED_FILE = "pag.json", "summary_graph.csv", "resampled.json"
MARKS = {"result.json": "precede-result", SUMMARY_FILE: "precede-summary"}
"""Files by which a folder of results is known, and the formats that they name."""


def write_results(
    folder: Path,
    model: CausalEstimator,
    table: Table,
    loading: Mapping[str, Any] | None = None,
    more: Mapping[str, str] | None = None,
) -> list[Path]:
    """Write the graph, the order, the history, the settings and the versions.

    Parameters
    ----------
    folder : Path
        Made when it is not there.
    model : CausalEstimator
        Fitted.
    table : Table
        What it was fitted to.
    loading : mapping, optional
        How it was read: options of :func:`precede.load_table`, which later questions take again.
    more : mapping of str, optional
        Further files that say something of the graph, by name.

    Returns
    -------
    files : list of Path
    """
    with refusing(OSError, OptionError, f"the folder {str(folder)!r} cannot be made:"):
        folder.mkdir(parents=True, exist_ok=True)
    check_outputs(folder, OUTPUTS, MARKS, {})
    texts = result_texts(model, table, loading) | dict(more or {})
    return write_together(folder, texts, remove=[name for name in ABOUT_THE_GRAPH if name not in texts])


OUTPUTS = (
    "adjacency.csv", "weights.csv", "order.txt", "graph.json", "graph.dot", MOMENTS_FILE, "history.csv", "result.json",
    CONFIDENCE_FILE, SUMMARY_FILE, REPORT_FILE, PAG_FILE, SUMMARY_GRAPH_FILE, RESAMPLED_FILE,
)  # fmt: skip
"""All that a folder of results may hold."""

ABOUT_THE_GRAPH = (CONFIDENCE_FILE, SUMMARY_FILE, REPORT_FILE, PAG_FILE, SUMMARY_GRAPH_FILE, RESAMPLED_FILE)
"""What an earlier result has said about its own graph goes with it."""


def result_texts(model: CausalEstimator, table: Table, loading: Mapping[str, Any] | None = None) -> dict[str, str]:
    """The files of :func:`write_results`, by name; result.json says what was run, on what, with which versions."""
    graph = model.graph_
    sample = graph.sample or sample_of(table.values, table.kinds, table.targets, table.gaps)
    described = {
        "format": "precede-result",
        "version": 1,
        "method": type(model).__name__,
        "settings": model.get_params(deep=False),
        "data": {"rows": table.n_samples, "columns": list(map(str, table.names)), "remarks": table.remarks},
        "score": model.score_,
        "diagnostics": model.diagnostics_.to_dict(),
        "versions": versions(),
        "reading": dict(loading or {}),
    }
    more = {} if graph.lags is None else {SUMMARY_GRAPH_FILE: model.summary_graph_.to_csv()}
    if graph.pag is not None:
        more[PAG_FILE] = to_json({"edges": graph.pag.edge_list()}, indent=1) + "\n"
    if graph.resampled is not None:
        drawn: list[Any] = [pairs_of(pattern > 0) for pattern in graph.resampled]
        if graph.pag is not None:
            drawn = [MixedGraph(ends, graph.names).edge_list() for ends in graph.resampled]
        more[RESAMPLED_FILE] = to_json({"graphs": drawn}) + "\n"
    return more | {
        "adjacency.csv": graph.adjacency.to_csv(),
        "weights.csv": graph.weights.to_csv(),
        "order.txt": "".join(f"{one_line(name)}\n" for name in graph.order),
        "graph.json": graph.to_json(),
        "graph.dot": graph.to_dot() if graph.pag is None else graph.pag.to_dot(),
        MOMENTS_FILE: moments_to_json(sample, graph.names),
        "history.csv": model.history_.to_csv(index=False),
        "result.json": to_json(described, indent=1) + "\n",
    }


def one_line(name: Hashable) -> str:
    r"""A name on one line: as it is, or as JSON text where it has line breaks or starts with a quotation mark.

    Examples
    --------
    >>> print(one_line("dose"), one_line("dose\nin mg"))
    dose "dose\nin mg"
    """
    text = str(name)
    return to_json(text) if text[:1] == '"' or len(text.splitlines()) > 1 or text.endswith(("\n", "\r")) else text


def write_report(
    folder: Path,
    model: CausalEstimator,
    table: Table,
    truth: CausalGraph | None = None,
    confidence: Any = None,
    heading: Heading | None = None,
    provenance: Provenance | None = None,
) -> list[Path]:
    """Write ``summary.json`` and ``report.html`` into a folder that is there; each whole or not at all.

    Parameters
    ----------
    folder : Path
    model, table, truth, confidence, heading, provenance
        As for :func:`precede.report.summarize`.

    Returns
    -------
    files : list of Path
    """
    check_outputs(folder, (SUMMARY_FILE, REPORT_FILE), MARKS, {})
    return write_together(folder, summary_texts(summarize(model, table, truth, confidence, heading, provenance)))


def summary_texts(summary: Summary) -> dict[str, str]:
    """The files of :func:`write_report`, by name."""
    return {SUMMARY_FILE: to_json(summary) + "\n", REPORT_FILE: render_report(summary)}


def rebuild_report(folder: Path, title: str | None = None, note: str | None = None) -> Path:
    """Write ``report.html`` again from the folder's ``summary.json``.

    Parameters
    ----------
    folder : Path
    title, note : str, optional
        In place of those of the summary, in which they are kept.

    Raises
    ------
    OptionError
        When there is no such file, or it is not a summary.
    """
    source = folder / SUMMARY_FILE
    finish_swap(folder)
    command = f"'precede discover data.csv --out {folder.name}' writes one."
    with refusing(
        (FileNotFoundError, NotADirectoryError), OptionError, f"{str(folder)!r} has no {SUMMARY_FILE}: {command}"
    ):
        summary = read_json(source)
    given = {name: text for name, text in (("title", title), ("note", note)) if text is not None}
    if isinstance(summary, dict):
        summary |= given
    try:
        page = render_report(summary)
    except PrecedeError as error:
        raise OptionError(f"{str(source)!r}: {error}") from None
    edited = {SUMMARY_FILE: to_json(summary) + "\n"} if given else {}
    write_together(folder, {**edited, REPORT_FILE: page})
    return folder / REPORT_FILE


class ScoreChoice(TypedDict):
    """The score that "auto" has chosen."""

    name: str


class PagRecord(TypedDict):
    """The content of pag.json: the first and the second variable of each edge, and its marks."""

    edges: list[list[str | int]]


class ResampledRecord(TypedDict):
    """The content of resampled.json: of each resample the pairs of cause and effect, both ways where that is open.

    Where causes may be hidden, the edges of each as pag.json has them.
    """

    graphs: list[list[list[str | int]]]


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
        reading = dict(self.description.get("reading", {}))
        check_names("'reading' in result.json", reading, list(signature(load_table).parameters)[1:])
        return reading

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
            one = len(possible.effects) == 1 and not possible.unmeasured
            return {"total": effect_of(asked, self.confidence)} if one else {"possible": possible}
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
        marked = checked(read_json(place / PAG_FILE), PagRecord, str(place / PAG_FILE))["edges"]
        graph = replace(graph, pag=MixedGraph(_marks(marked, graph, place / PAG_FILE), graph.names))
    if (place / RESAMPLED_FILE).is_file():
        found = checked(read_json(place / RESAMPLED_FILE), ResampledRecord, RESAMPLED_FILE)["graphs"]
        of_file = _pattern if graph.pag is None else _marks
        graph = replace(graph, resampled=np.array([of_file(edges, graph, place / RESAMPLED_FILE) for edges in found]))
    resampled = place / CONFIDENCE_FILE
    return Results(place, graph, description, Confidence.from_json(resampled) if resampled.is_file() else None)


def _marks(edges: list[list[str | int]], graph: CausalGraph, path: Path) -> IntArray:
    """The marks of a graph with hidden causes."""
    if any(len(edge) != 3 or not {*edge[:2]} <= set(graph.names) for edge in edges):
        raise OptionError(f"{str(path)!r} is about other columns than the graph.")
    return MixedGraph.from_edges([(first, second, str(mark)) for first, second, mark in edges], graph.names).ends


def _pattern(edges: list[list[str | int]], graph: CausalGraph, path: Path) -> BoolArray:
    """The directions of a graph that was learned from a resample."""
    places = set(range(graph.n_variables))
    if any(len(pair) != 2 or not {*pair} <= places for pair in edges):
        raise OptionError(f"{str(path)!r} is about other columns than the graph.")
    return matrix_of([[int(end) for end in pair] for pair in edges], graph.n_variables)


def read_result(path: Path) -> ResultRecord:
    """The content of a result.json, once it is known to be one of this release."""
    with refusing(OSError, OptionError, f"{str(path)!r} cannot be read:"):
        found = read_json(path)
    return checked(document(found, "precede-result", 1, repr(str(path))), ResultRecord, str(path))
