"""What the page, the server and the process that fits tell each other, as JSON."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Literal, NotRequired, cast

from typing_extensions import TypedDict

from precede.data.numbers import NA_MARKERS
from precede.graph.component import ShownGraph
from precede.options import Options
from precede.report.summary import OutcomeEntry
from precede.strict_json import JsonObject, checked

State = Literal["waiting", "running", "done", "stopped", "failed"]


class Reading(TypedDict, total=False):
    """How a table is read: options of :func:`precede.load_table`; ``na`` adds to the usual texts."""

    types: dict[Hashable, str | list[str]]
    leave_out: list[str]
    na: list[str]
    missing: Literal["em", "pairwise", "drop", "impute", "refuse"]
    interventions: str
    lags: int | Literal["auto"]
    group: str
    decimal: Literal[".", ","]


class ChosenData(Reading):
    """The table of a run, and how it is read."""

    path: str


class StudioRecord(Reading):
    """The data of a studio, as ``studio.json`` holds them."""

    data: str


def reading_of(content: object, what: str) -> Reading:
    """What some JSON says of how a table is read, checked; what is empty or the default is left out."""
    found = checked(content, Reading, what)
    kept = {name: found[name] for name in Reading.__annotations__ if name in found}  # type: ignore[literal-required]
    return cast(Reading, {name: value for name, value in kept.items() if value and value != "em"})


def loading_of(data: Reading) -> Options:
    """Options of :func:`precede.load_table`, those that were set."""
    given: Options = dict(reading_of(data, "the data of this run"))
    return given | ({"na": [*NA_MARKERS, *given["na"]]} if "na" in given else {})


class Earlier(TypedDict):
    """The order of a run to start from, and the options of its score as they were settled."""

    order: list[str]
    options: Options


class Job(TypedDict):
    """A run for the process that fits."""

    folder: str
    run: str
    data: ChosenData
    earlier: Earlier | None


class AskedRules(TypedDict, total=False):
    """Background knowledge, as the page shows it again."""

    required: list[list[str]]
    forbidden: list[list[str]]
    tiers: list[list[str]]
    roots: list[str]
    sinks: list[str]


class AskedRun(TypedDict, total=False):
    """What the page shows of a request in its list of runs; the rest lies beside it."""

    name: str
    method: str
    adopted: bool
    knowledge: AskedRules
    outcome: str | None


class RunEntry(TypedDict):
    """A run, as ``run.json`` holds it; the page is also told whether there is a graph."""

    format: str
    id: str
    request: AskedRun
    state: State
    created: str
    parent: str | None
    seconds: float | None
    error: str | None
    has_graph: NotRequired[bool]


class Event(TypedDict):
    """A piece of news: "ready", or of a run "created", "started", "progress", "graph" or "ended"."""

    kind: str
    run: NotRequired[str]
    state: NotRequired[State]
    error: NotRequired[str | None]
    listed: NotRequired[RunEntry]


class Bars(TypedDict):
    """A small histogram; its bars have labels where they are levels."""

    bars: list[int]
    labels: list[str]


class ColumnView(Bars):
    """A column as the page shows it."""

    name: str
    kind: str
    words: bool
    levels: list[str]
    set: str | list[str] | None
    left_out: bool
    used: bool
    missing: int
    distinct: int
    range: list[float] | None


class FindingView(TypedDict):
    """A finding of ``precede check``."""

    column: str | None
    sentence: str
    remedy: str


class TableView(TypedDict):
    """Every column, how they are read, the variables they become, the findings, and why the table cannot be used."""

    name: str
    rows: int
    columns: list[ColumnView]
    reading: Reading
    variables: list[str]
    findings: list[FindingView]
    problem: str | None
    suggested: list[str]


class MethodView(TypedDict):
    """A method, and whether it obeys background knowledge."""

    name: str
    obeys: bool


class StudioView(TypedDict):
    """Everything that a page needs to begin with."""

    folder: str
    data: TableView | None
    runs: list[RunEntry]
    methods: list[MethodView]
    running: str | None
    ready: bool


class Change(TypedDict):
    """An edge that is new, gone or turned."""

    kind: Literal["added", "removed", "turned"]
    cause: str
    effect: str
    sentence: str


class RunView(TypedDict):
    """A run with its graph, its checks and what changed since another."""

    run: RunEntry
    graph: ShownGraph
    changes: list[Change]
    against: str | None
    identifies: str
    score: float | None
    score_name: str | None
    method: str | None
    order: list[str]
    summary: JsonObject | None
    files: list[str]
    script: str | None


class EffectView(TypedDict):
    """Effects by name, and what could be adjusted for."""

    answers: dict[str, JsonObject]
    adjustment_sets: list[list[str]]


class CausesView(TypedDict):
    """The causes of an outcome, and all of it in sentences."""

    outcome: OutcomeEntry
    sentences: list[str]


class WhatIfView(TypedDict):
    """The variables as they would be, had some been set."""

    sentence: str
    remarks: list[str]
    rows: list[JsonObject]


class ComparisonView(TypedDict):
    """Runs side by side, and their consensus."""

    labels: list[str]
    sentence: str
    differences: list[str]
    table: list[JsonObject]
    order_agreement: list[list[float]]
    graphs: dict[str, ShownGraph]
    consensus: ShownGraph
