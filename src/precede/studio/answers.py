"""What the page asks, each answered by the public API: columns, runs, effects, what-if, causes, comparisons, files.

An answer takes the studio and what is asked, the values of path, query and JSON by name.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Collection, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from precede.arrays import FloatArray
from precede.comparison import Comparison
from precede.data.columns import frame_to_columns
from precede.data.kinds import kind_of, known_order
from precede.data.load import Table, load_table
from precede.data.numbers import NA_MARKERS, spells_number
from precede.data.read import FileRead, read_file
from precede.data.survey import Survey, survey
from precede.effects import causes_of
from precede.errors import DataError, OptionError, PrecedeError
from precede.evidence.checks.edge_readings import middle_of
from precede.files import encoded
from precede.graph import CausalGraph
from precede.graph.component import ShownGraph, payload, shown_edge
from precede.kinds import ColumnKind
from precede.lazy import pandas as pd
from precede.report import Results, load_results
from precede.report.collect import MOST_BARS, outcome_entry
from precede.report.summary import check_summary
from precede.strict_json import JsonObject, read_json
from precede.studio.workspace import DataChoice, Run

if TYPE_CHECKING:
    from precede.studio.studio import Studio


TAKEN_AWAY = (
    "graph.json", "graph.dot", "graph.gml", "adjacency.csv", "weights.csv", "order.txt", "pag.json",
    "summary_graph.csv", "result.json", "confidence.json", "reproduce.py", "report.html",
)  # fmt: skip
"""What can be taken away one by one."""


CHANGES = {"added": "is new", "turned": "has turned round", "removed": "is gone"}


def show(studio: Studio, asked: JsonObject) -> JsonObject:
    """A run with its graph; what changed since another, or since the one that it started from."""
    run = studio.finished(asked["run"])
    other = asked.get("against", run.parent)
    return shown(run, studio.finished(other) if other and other != run.id else None)


def shown(run: Run, against: Run | None = None) -> JsonObject:
    """A run as the page draws it: graph, edges with all that is known of them, checks and settings.

    Parameters
    ----------
    run : Run
        With a graph.
    against : Run, optional
        What changed since this run is marked.
    """
    results = load_results(run.folder)
    summary = _summary(run.folder, results.graph.n_variables)
    pattern = results.graph.pattern if results.identifies == "cpdag" else None
    graph = payload(results.graph, _confidences(results, summary), pattern)
    changes = [] if against is None else mark_changes(graph, results.graph, load_results(against.folder).graph)
    return {
        "run": run.to_dict(),
        "graph": graph,
        "changes": changes,
        "against": None if against is None else against.id,
        "identifies": results.identifies,
        "score": results.description["score"],
        "score_name": results.description["diagnostics"].get("score"),
        "method": results.description["method"],
        "order": [str(name) for name in results.graph.order],
        "summary": summary,
        "files": [name for name in TAKEN_AWAY if name == "graph.gml" or (run.folder / name).is_file()],
        "script": _text(run.folder / "reproduce.py"),
    }


def mark_changes(graph: ShownGraph, now: CausalGraph, before: CausalGraph) -> list[JsonObject]:
    """Mark edges that are new or turned, and add those that are gone; what changed, a sentence for each."""
    names = [str(name) for name in now.names]
    place = {name: k for k, name in enumerate(names)}
    old = {(str(cause), str(effect)) for cause, effect, _ in before.edge_list()}
    drawn = {(names[e["cause"]], names[e["effect"]]): e for e in graph["edges"] if e["mark"] != "shared"}
    for (cause, effect), edge in drawn.items():
        if (cause, effect) not in old:
            edge["change"] = "turned" if (effect, cause) in old else "added"
    for cause, effect in sorted(old - set(drawn)):
        if (effect, cause) not in drawn and cause in place and effect in place:
            drawn[cause, effect] = {**shown_edge(place[cause], place[effect], "arrow"), "change": "removed"}
            graph["edges"].append(drawn[cause, effect])
    changed = [(cause, effect, edge["change"]) for (cause, effect), edge in drawn.items() if "change" in edge]
    return [
        {"kind": kind, "cause": cause, "effect": effect, "sentence": f"{cause} → {effect} {CHANGES[kind]}"}
        for cause, effect, kind in changed
    ]


def _summary(folder: Path, n_variables: int) -> JsonObject | None:
    """What the report knows; None while it is not written, and where it is damaged or of another graph."""
    try:
        found = check_summary(read_json(folder / "summary.json"))
    except (OSError, OptionError):
        return None
    if len(found["nodes"]) != n_variables:
        return None
    kept = ("remarks", "checks", "assumed", "found", "sure", "unknown", "nodes", "edges", "data", "has_confidence")
    return {name: value for name, value in found.items() if name in kept}


def _confidences(results: Results, summary: JsonObject | None) -> FloatArray | None:
    """Of each edge the share of resamples that have it; None where nothing was resampled."""
    if summary is None or not summary["has_confidence"]:
        return None
    found = np.full((results.graph.n_variables,) * 2, np.nan)
    for edge in summary["edges"]:
        if edge["confidence"] is not None:
            found[edge["cause"], edge["effect"]] = edge["confidence"]
    return found


def effect(studio: Studio, asked: JsonObject) -> JsonObject:
    """Total and direct effect, and the possible ones where only the equivalence class is told."""
    results = load_results(studio.finished(asked["run"]).folder)
    graph = results.graph
    start, end = (graph.names[graph.position(asked.get(name, ""))] for name in ("cause", "effect"))
    answers = {name: found.to_dict() for name, found in results.effects(start, end).items()}
    sets = [] if graph.pag is not None else graph.adjustment_sets(start, end, most=5)
    return {"answers": answers, "adjustment_sets": [[str(name) for name in found] for found in sets]}


def causes(studio: Studio, asked: JsonObject) -> JsonObject:
    """What causes a variable, the strongest first, and what merely goes along with it."""
    run = studio.finished(asked["run"])
    results = load_results(run.folder)
    graph = results.graph
    shares = _confidences(results, _summary(run.folder, graph.n_variables))
    found = causes_of(
        graph, graph.names[graph.position(asked.get("outcome", ""))], None, results.confidence,
        results.identifies == "cpdag", shares=None if shares is None else np.nan_to_num(shares),
    )  # fmt: skip
    return {"outcome": outcome_entry(graph, found), "sentences": found.sentences}


def explain(studio: Studio, asked: JsonObject) -> JsonObject:
    """Where the outcome of a row comes from, or its change from the rows before one to those from there on."""
    outcome, row = asked.get("outcome"), asked.get("row")
    if not isinstance(outcome, str) or type(row) is not int or abs(row) > 1 << 40:
        raise OptionError("this takes the name of a variable and the number of a row.")
    graph, table = _with_rows(studio, asked)
    name = graph.names[graph.position(outcome)]
    if asked.get("since"):
        found = graph.explain(name, table, None, range(row), range(row, table.n_samples))
    else:
        found = graph.explain(name, table, row)
    return {"sentences": found.sentences}


def what_if(studio: Studio, asked: JsonObject) -> JsonObject:
    """The variables as they would be, had some been set."""
    settings = asked.get("settings")
    if not isinstance(settings, dict) or not settings or not all(map(_is_state, settings.values())):
        raise OptionError("settings are numbers or levels by name.")
    graph, table = _with_rows(studio, asked)
    found = graph.do({graph.names[graph.position(name)]: value for name, value in settings.items()}, table)
    rows = found.summary.reset_index().to_dict("records")
    return {"sentence": found.sentence, "remarks": found.remarks, "rows": rows}


def _is_state(value: object) -> bool:
    return isinstance(value, str) or (
        isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e100
    )


def _with_rows(studio: Studio, asked: JsonObject) -> tuple[CausalGraph, Table]:
    """The graph of a run, and the rows it looked at."""
    run = studio.finished(asked["run"])
    table, graph = studio.table_of(run), load_results(run.folder).graph
    if set(map(str, graph.names)) != set(map(str, table.names)):
        raise OptionError(
            "the data have other columns than this run had: set their types and what is left out as they were then."
        )
    return graph, table


def compare(studio: Studio, asked: JsonObject) -> JsonObject:
    """Runs side by side."""
    return compared([studio.finished(name) for name in dict.fromkeys(asked.get("runs", "").split(",")) if name])


def compared(runs: Sequence[Run]) -> JsonObject:
    """Runs side by side: every pair that one of them joins, what differs, and the consensus."""
    results = {label_of(run): load_results(run.folder) for run in runs}
    graphs = {label: one.graph for label, one in results.items()}
    found = Comparison.of(graphs, knowledge=[one.knowledge for one in results.values()])
    agreed = found.consensus
    marks = {label: payload(graph) for label, graph in found.graphs.items()}
    first = next(iter(found.graphs.values()))
    for label, graph in list(found.graphs.items())[1:]:
        mark_changes(marks[label], graph, first)
    return {
        "labels": list(graphs),
        "sentence": found.sentence,
        "differences": found.differences,
        "table": found.table.to_dict("records"),
        "order_agreement": found.order_agreement.to_numpy(),
        "graphs": marks,
        "consensus": payload(agreed, np.where(agreed.edges, agreed.strengths, np.nan)),
    }


def label_of(run: Run) -> str:
    """What a run is called: its number, and its name where it has one."""
    name = encoded(str(run.request.get("name") or "")).decode()  # half a character can be in no table
    return f"{int(run.id)} {name}".strip()


def file_of(run: Run, name: str) -> bytes:
    """One of :data:`TAKEN_AWAY`; GML is written on the way."""
    path = run.folder / name
    if name == "graph.gml":
        return load_results(run.folder).graph.to_gml().encode("utf-8", "backslashreplace")
    if name not in TAKEN_AWAY or path.is_symlink() or not path.is_file():
        raise OptionError("there is no such file.")
    return path.read_bytes()


def archive_of(run: Run) -> bytes:
    """The whole folder of a run, as zip."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(run.folder.iterdir()):
            if path.is_file() and not path.is_symlink() and not path.name.startswith("."):
                archive.write(path, f"run-{run.id}/{path.name}")
    return buffer.getvalue()


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


BINS = 16


def look_at(data: DataChoice) -> JsonObject:
    """Every column, the findings of ``precede check``, and whether the table can be used as it stands."""
    (frame, _, decimal, _), looked = _read(data.path, data.path.stat().st_mtime_ns, data.decimal)
    na = data.loading.get("na", NA_MARKERS)
    table, problem = _table(data, looked)
    kinds = {} if table is None else dict(zip(map(str, table.names), table.kinds, strict=True))
    columns = [_column(frame, place, data, kinds, na, decimal) for place in range(frame.shape[1])]
    return {
        "name": data.path.name,
        "rows": len(frame),
        "columns": columns,
        "reading": data.reading,
        "variables": [] if table is None else [str(name) for name in table.names],
        "findings": [item.to_dict() for item in looked.findings],
        "problem": problem,
        "suggested": [str(name) for name in looked.reading.get("leave_out", [])],
    }


def suggested(path: Path) -> DataChoice:
    """The data as the command that ``precede check`` prints would read them."""
    return _suggested(path, _read(path, path.stat().st_mtime_ns)[1])


def _suggested(path: Path, looked: Survey) -> DataChoice:
    return DataChoice(path, **looked.reading)


@lru_cache(maxsize=2)
def _read(path: Path, changed: int, decimal: str | None = None) -> tuple[FileRead, Survey]:
    """A file as it is, and what was found in it; read again when it has changed."""
    return read_file(path, NA_MARKERS, decimal), survey(path, decimal)


def _table(data: DataChoice, looked: Survey) -> tuple[Table | None, str | None]:
    """The table as it is read, or why it cannot be used."""
    if looked.table is not None and data == _suggested(data.path, looked):
        return looked.table, None
    try:
        return load_table(data.path, **data.loading), None
    except PrecedeError as error:
        return None, str(error)


def _column(
    frame: pd.DataFrame,
    place: int,
    data: DataChoice,
    kinds: dict[str, ColumnKind],
    na: Collection[str],
    decimal: str | None,
) -> JsonObject:
    series, name = frame.iloc[:, place], str(frame.columns[place])
    values, own = _values(frame.iloc[:, [place]], na, decimal)
    kind = kinds.get(name, own)
    present = values[np.isfinite(values)] if values is not None else np.empty(0)
    words = kind is not None and any(not spells_number(label) for label in kind.labels)
    labels = [] if kind is None or not words else list(kind.labels)
    return {
        "name": name,
        "kind": "text" if kind is None else kind.name,
        "words": words,
        "levels": labels if kind is None or kind.name != "categorical" else known_order(labels) or labels,
        "set": data.types.get(name),
        "left_out": name in data.leave_out,
        "used": name in kinds,
        "missing": int(series.isna().sum()) if values is None else int(np.isnan(values).sum()),
        "distinct": int(series.nunique()),
        "range": [float(present.min()), float(present.max())] if len(present) else None,
        **_bars(present, kind),
    }


def _values(
    frame: pd.DataFrame, na: Collection[str], decimal: str | None
) -> tuple[FloatArray | None, ColumnKind | None]:
    """A column as numbers, and its kind; None where it is words without an end."""
    try:
        read = frame_to_columns(frame, {}, na, decimal)
    except DataError:
        return None, None
    if read.problems or not read.names:
        return None, None
    return read.values[:, 0], read.stated.get(0) or kind_of(read.values[:, 0])


def _bars(present: FloatArray, kind: ColumnKind | None) -> JsonObject:
    """Heights of a small histogram, and what its bars are called where they are levels."""
    if not len(present):
        return {"bars": [], "labels": []}
    if kind is not None and kind.discrete:
        counts = [int((present == level).sum()) for level in kind.levels]
        return {"bars": counts[:MOST_BARS], "labels": list(kind.labels[:MOST_BARS])}
    return {"bars": np.histogram(present, BINS, middle_of(present))[0].tolist(), "labels": []}
