"""The shape of a summary: all that a report shows, as ``summary.json`` holds it."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from precede.errors import OptionError
from precede.evidence.checks.record import EdgePlot, Level, NodePlot, Source, Trend
from precede.graph.component.payload import Mark
from precede.options import Options
from precede.strict_json import JsonObject, checked


class LevelsEntry(TypedDict):
    """The levels of a variable: what they are called, what stands for them, and how many rows have each."""

    labels: list[str]
    values: list[float]
    counts: list[int]


class NodeEntry(NodePlot):
    """A variable; what is drawn is None where nothing was checked."""

    name: str
    place: int
    causes: int
    effects: int
    mean: float | None
    sd: float | None
    levels: NotRequired[LevelsEntry | None]


class TotalEntry(TypedDict):
    """The total effect along an edge; no value, but its ends, where only the equivalence class is told."""

    value: float | None
    low: float
    high: float


class InfluenceEntry(TypedDict):
    """What is left of an edge without its most influential rows."""

    rows: list[int]
    strength: float | None
    farthest: float | None


class EdgeEntry(EdgePlot):
    """An edge, what is known of it, and its plot: points where rows are shown, a density where they are not."""

    cause: int
    effect: int
    weight: float | None
    strength: float | None
    trend: Trend
    partial_r2: float | None
    source: Source
    direction: str
    confidence: float | None
    connected: float | None
    policy_probability: float | None
    belief: str
    total: TotalEntry | None
    influence: InfluenceEntry | None
    mark: NotRequired[Mark]


class CheckEntry(TypedDict):
    """A check, or a remark, which has no value."""

    name: str
    value: float | None
    sentence: str
    level: Level
    remedy: str


class SharedCauseEntry(TypedDict):
    """Two variables that share an unmeasured cause."""

    first: int
    second: int


class OutcomeWords(TypedDict):
    """A cause of the outcome as it is told."""

    change: str
    size: str
    interval: str
    way: str
    adjusted_for: str


class OutcomeCauseEntry(TypedDict):
    """A cause of the outcome."""

    variable: str
    standardized: float
    certain: bool
    confidence: float | None
    weakest: float | None
    words: OutcomeWords


class CorrelatedEntry(TypedDict):
    """What goes along with the outcome, and does not cause it."""

    variable: str
    correlation: float


class OutcomeEntry(TypedDict):
    """The variable that was asked about, its causes, and what merely goes along with it."""

    place: int
    causes: list[OutcomeCauseEntry]
    correlated: list[CorrelatedEntry]


class LearningEntry(TypedDict):
    """Scores by iteration."""

    iteration: list[int]
    best: list[float | None]
    mean: list[float | None] | None
    final: float | None
    greedy: float | None


class ChanceEntry(TypedDict):
    """What chance reaches; its numbers lie beside it."""

    sentence: str


class EvaluationEntry(TypedDict):
    """Agreement with a reference graph."""

    metrics: JsonObject
    chance: ChanceEntry


class ProvenanceEntry(TypedDict):
    date: str
    file: str | None
    command: str | None
    loading: Options


class DataEntry(TypedDict):
    rows: int
    columns: list[str]


class VersionsEntry(TypedDict):
    """Of this package; those of others lie beside it."""

    precede: str


class Summary(TypedDict):
    """Everything that a report shows."""

    format: str
    version: int
    title: str
    note: str | None
    method: str
    score_name: str | None
    score: float | None
    provenance: ProvenanceEntry
    identifies: Literal["dag", "cpdag"]
    linear: bool
    checked: bool
    has_confidence: bool
    rows_shown: bool
    resamples: int
    data: DataEntry
    remarks: list[CheckEntry]
    checks: list[CheckEntry]
    assumed: list[str]
    found: list[str]
    sure: list[str]
    unknown: list[str]
    nodes: list[NodeEntry]
    edges: list[EdgeEntry]
    order: list[int]
    shared_causes: list[SharedCauseEntry]
    outcome: NotRequired[OutcomeEntry | None]
    learning: LearningEntry | None
    evaluation: EvaluationEntry | None
    settings: JsonObject
    versions: VersionsEntry
    reproduce: str | None


def check_summary(summary: Any) -> Summary:
    """Refuse, in a sentence, what is not a summary of this release.

    Examples
    --------
    >>> check_summary({"format": "precede-summary", "version": 5, "title": 5})
    Traceback (most recent call last):
        ...
    precede.errors.OptionError: the summary is damaged: 'title' should be a text, and is 5.
    """
    if not isinstance(summary, dict) or summary.get("format") != "precede-summary":
        raise OptionError("this is not a summary that 'precede discover --out' wrote.")
    if summary.get("version") != 5:
        raise OptionError(
            f"this is a summary of version {summary.get('version')!r}, and this release of precede shows version 5: "
            "run 'precede discover' again."
        )
    _check_sizes(checked(summary, Summary, "the summary"))
    return summary  # type: ignore[return-value]


def _check_sizes(summary: Summary) -> None:
    """Lengths and places that belong together."""
    nodes, edges, order, learning = summary["nodes"], summary["edges"], summary["order"], summary["learning"]
    d = len(nodes)
    if d == 0 or sorted(order) != list(range(d)):
        raise OptionError("the summary is damaged: 'order' does not list every variable once.")
    for k, edge in enumerate(edges):
        if not (0 <= edge["cause"] < d and 0 <= edge["effect"] < d):
            raise OptionError(f"the summary is damaged: 'edges[{k}]' joins variables that are not there.")
        cause = nodes[edge["cause"]]
        pairs = [(edge["points"], cause["values"]), (edge["curve"], cause["grid"])]
        broken = any(len(own or ()) != len(other or ()) for own, other in pairs if own is not None)
        extremes, density = edge["extremes"], edge["density"]
        broken |= extremes is not None and (len(extremes) != 2 or len(extremes[0]) != len(extremes[1]))
        if density is not None:
            broken |= len(edge["extent"] or ()) != 4 or {len(row) for row in density} != {len(density)}
        if broken:
            raise OptionError(f"the summary is damaged: the plot of 'edges[{k}]' has lists of different lengths.")
    if any(not (0 <= pair[end] < d) for pair in summary["shared_causes"] for end in ("first", "second")):
        raise OptionError("the summary is damaged: 'shared_causes' joins variables that are not there.")
    outcome = summary.get("outcome")
    if outcome is not None and not 0 <= outcome["place"] < d:
        raise OptionError("the summary is damaged: 'outcome' is a variable that is not there.")
    if any(levels and len(set(map(len, levels.values()))) != 1 for levels in (node.get("levels") for node in nodes)):  # type: ignore[arg-type]
        raise OptionError("the summary is damaged: 'levels' has lists of different lengths.")
    if any(node["range"] is not None and len(node["range"]) != 2 for node in nodes):
        raise OptionError("the summary is damaged: a 'range' has two ends.")
    if learning is not None:
        mean = learning["mean"]
        lengths = {len(learning["iteration"]), len(learning["best"]), *([] if mean is None else [len(mean)])}
        if len(lengths) != 1 or 0 in lengths or all(value is None for value in learning["best"]):
            raise OptionError("the summary is damaged: 'learning' has lists of different lengths, or none.")
