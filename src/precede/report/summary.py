"""The shape of a summary: all that a report shows, as ``summary.json`` holds it."""

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from precede.errors import OptionError
from precede.evidence.checks.record import Check, EdgePlot, Level, NodePlot, Source, Trend, ranked
from precede.graph.component import Mark
from precede.options import Options
from precede.strict_json import JsonObject, checked, document

LEVEL_MARKS: dict[Level, str] = {"fine": "✓", "note": "i", "warning": "!", "not run": "·"}


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


class EdgeRecord(TypedDict):
    """An edge and what is known of it, as result.json holds it too."""

    cause: int
    effect: int
    weight: float | None
    strength: float | None
    trend: Trend
    partial_r2: float | None
    source: Source
    confidence: float | None
    connected: float | None
    policy_probability: float | None
    influence: InfluenceEntry | None


class EdgeEntry(EdgeRecord, EdgePlot):
    """An edge with its plot: points where rows are shown, a density where they are not."""

    direction: str
    belief: str
    total: TotalEntry | None
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


def said_in(summary: Summary) -> list[Check]:
    """Everything that a report says about its result, the most harmful first."""
    return ranked(
        Check(item["name"], None, item["sentence"], item["level"], remedy=item["remedy"])
        for item in [*summary["remarks"], *summary["checks"]]
    )


def check_summary(summary: Any) -> Summary:
    """Refuse, in a sentence, what is not a summary of this release.

    Examples
    --------
    >>> check_summary({"format": "precede-summary", "version": 5, "title": 5})
    Traceback (most recent call last):
        ...
    precede.errors.OptionError: the summary is damaged: 'title' should be a text, and is 5.
    """
    _check_sizes(checked(document(summary, "precede-summary", 5, "the summary"), Summary, "the summary"))
    return summary  # type: ignore[no-any-return]


def _check_sizes(summary: Summary) -> None:
    """Lengths and places that belong together."""
    nodes, edges, learning, outcome = summary["nodes"], summary["edges"], summary["learning"], summary.get("outcome")
    d = len(nodes)

    def refuse(wrong: bool, why: str) -> None:
        if wrong:
            raise OptionError(f"the summary is damaged: {why}.")

    refuse(d == 0 or sorted(summary["order"]) != list(range(d)), "'order' does not list every variable once")
    for k, edge in enumerate(edges):
        joined = 0 <= edge["cause"] < d and 0 <= edge["effect"] < d
        refuse(not joined, f"'edges[{k}]' joins variables that are not there")
        cause, extremes, density = nodes[edge["cause"]], edge["extremes"], edge["density"]
        pairs = [(edge["points"], cause["values"]), (edge["curve"], cause["grid"])]
        broken = any(len(own or ()) != len(other or ()) for own, other in pairs if own is not None)
        broken |= extremes is not None and (len(extremes) != 2 or len(extremes[0]) != len(extremes[1]))
        if density is not None:
            broken |= len(edge["extent"] or ()) != 4 or {len(row) for row in density} != {len(density)}
        refuse(broken, f"the plot of 'edges[{k}]' has lists of different lengths")
    shared = [pair[end] for pair in summary["shared_causes"] for end in ("first", "second")]
    refuse(any(not 0 <= k < d for k in shared), "'shared_causes' joins variables that are not there")
    refuse(outcome is not None and not 0 <= outcome["place"] < d, "'outcome' is a variable that is not there")
    for node in nodes:
        sizes = {len(own) for own in (node.get("levels") or {}).values()}  # type: ignore[arg-type]
        refuse(len(sizes) > 1, "'levels' has lists of different lengths")
        refuse(node["range"] is not None and len(node["range"]) != 2, "a 'range' has two ends")
    if learning is not None:
        mean, best = learning["mean"], learning["best"]
        lengths = {len(learning["iteration"]), len(best), *([] if mean is None else [len(mean)])}
        empty = 0 in lengths or all(value is None for value in best)
        refuse(len(lengths) != 1 or empty, "'learning' has lists of different lengths, or none")
