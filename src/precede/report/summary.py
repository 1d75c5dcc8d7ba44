"""The shape of a summary: all that a report shows, as ``summary.json`` holds it."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from precede.evidence.checks.record import Level, Source, Trend
from precede.options import Options
from precede.strict_json import JsonObject


class NodeEntry(TypedDict):
    """A variable; what is drawn is None where nothing was checked."""

    name: str
    place: int
    causes: int
    effects: int
    mean: float | None
    sd: float | None
    values: list[float] | None
    grid: list[float] | None
    histogram: list[int] | None
    range: list[float] | None


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


class EdgeEntry(TypedDict):
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
    slope: float | None
    points: list[float] | None
    extremes: list[list[float]] | None
    curve: list[float] | None
    density: list[list[int]] | None
    extent: list[float] | None
    outside: int


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


class LearningEntry(TypedDict):
    """Scores by iteration."""

    iteration: list[int]
    best: list[float | None]
    mean: list[float | None] | None
    final: float | None
    greedy: float | None


class ChanceEntry(TypedDict):
    """What chance reaches."""

    learned: int
    empty: int
    random_mean: float
    random_best: int
    random_as_good: float
    random_perfect: float
    n_random: int
    n_variables: int
    sentence: str
    no_better: bool


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
    learning: LearningEntry | None
    evaluation: EvaluationEntry | None
    settings: JsonObject
    versions: VersionsEntry
    reproduce: str | None
