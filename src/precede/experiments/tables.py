"""Tables of a finished or unfinished experiment: terminal, Markdown, CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table as TerminalTable
from rich.text import Text

from precede.experiments.cells import Experiment
from precede.experiments.ledger import Record, sentence
from precede.experiments.verdicts import LABELS, Entry

MARKS = {"better": "▲", "equal": "≈", "worse": "▼", "": ""}
COLORS = {"better": "green", "equal": "", "worse": "red", "": ""}
LEGEND = (
    "Mean (standard deviation) over data sets. ▲ ours is better, ≈ equal within one standard deviation of the paper, "
    "▼ worse; no mark where the paper has no number or fewer than three data sets were run. A cell is one data set; "
    "those cut had used up their time limit, and count as they stood."
)


def _rows(entries: Sequence[Entry], data: str) -> dict[str, dict[str, Entry]]:
    """Method to metric to entry, for one data setting."""
    rows: dict[str, dict[str, Entry]] = {}
    for entry in entries:
        if entry.data == data:
            rows.setdefault(entry.method, {})[entry.metric] = entry
    return rows


def _columns(experiment: Experiment, entries: Sequence[Entry]) -> list[tuple[str, bool]]:
    """Metrics, and whether the paper has numbers for them."""
    return [
        (metric, any(entry.published for entry in entries if entry.metric == metric)) for metric in experiment.metrics
    ]


def _heads(columns: Sequence[tuple[str, bool]], seconds: bool) -> list[str]:
    heads = ["method"]
    for metric, has_paper in columns:
        heads += [LABELS.get(metric, metric), "paper"] if has_paper else [LABELS.get(metric, metric)]
    return [*heads, "cells", *(["seconds"] if seconds else [])]


def _fields(row: dict[str, Entry], columns: Sequence[tuple[str, bool]], seconds: bool) -> list[tuple[str, str]]:
    """Text and verdict of every field of a row after the method's name."""
    fields: list[tuple[str, str]] = []
    for metric, has_paper in columns:
        entry = row[metric]
        mark = MARKS[entry.verdict]
        fields.append((f"{entry.ours()} {mark}".strip(), entry.verdict))
        if has_paper:
            fields.append((entry.papers(), ""))
    first = row[columns[0][0]]
    cut = f", {first.n_cut} cut" if first.n_cut else ""
    fields.append((f"{first.n_done}/{first.n_planned}{cut}", ""))
    if seconds:
        mean = row["seconds"].mean
        fields.append(("" if mean is None else f"{mean:.1f}", ""))
    return fields


def terminal_tables(experiment: Experiment, entries: Sequence[Entry], lines: Sequence[str]) -> RenderableType:
    """One table per data setting that was run, for rich."""
    columns, seconds = _columns(experiment, entries), "seconds" not in experiment.metrics
    parts: list[RenderableType] = [Text(f"{experiment.title} ({experiment.source})", style="bold")]
    touched = {entry.data for entry in entries if entry.n_done or entry.n_failed}
    for data in experiment.data:
        if data.name not in touched:
            continue
        table = TerminalTable(
            title=data.name, title_justify="left", box=SIMPLE_HEAD, collapse_padding=True, pad_edge=False
        )
        for k, head in enumerate(_heads(columns, seconds)):
            table.add_column(head, justify="right" if k else "left", no_wrap=True)
        for method, row in _rows(entries, data.name).items():
            table.add_row(method, *(Text(text, COLORS[v]) for text, v in _fields(row, columns, seconds)))
        parts.append(table)
    untouched = [data.name for data in experiment.data if data.name not in touched]
    if untouched:
        parts.append(Text(f"Not run: {', '.join(untouched)}."))
    return Group(*parts, Text(LEGEND, style="dim"), *(Text(f"• {line}") for line in lines))


def markdown_page(
    experiment: Experiment, entries: Sequence[Entry], lines: Sequence[str], runs: Sequence[Record], figure: str | None
) -> str:
    """The tables as a page, with where they come from."""
    columns, seconds = _columns(experiment, entries), "seconds" not in experiment.metrics
    heads = _heads(columns, seconds)
    page = [
        f"# {experiment.title}",
        "",
        f"{experiment.source} of the paper, `precede reproduce {experiment.name}`.",
        "",
        LEGEND,
    ]
    for data in experiment.data:
        page += ["", f"## {data.name}", "", f"| {' | '.join(heads)} |", f"|---|{'---:|' * (len(heads) - 1)}"]
        for method, row in _rows(entries, data.name).items():
            page.append(f"| {method} | {' | '.join(text for text, _ in _fields(row, columns, seconds))} |")
    if figure is not None:
        page += ["", f"![{experiment.title}]({figure})"]
    if lines:
        page += ["", *(f"- {line}" for line in lines)]
    page += ["", "Runs:", "", *(f"- {sentence(run)}" for run in runs)]
    return "\n".join(page) + "\n"


def csv_text(entries: Sequence[Entry]) -> str:
    """One line per number."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        ["data", "method", "metric", "mean", "std", "done", "failed", "planned", "paper_mean", "paper_std", "verdict"]
    )
    for entry in entries:
        paper = entry.published
        writer.writerow(
            [
                entry.data,
                entry.method,
                entry.metric,
                *("" if value is None else f"{value:.6g}" for value in (entry.mean, entry.std)),
                entry.n_done,
                entry.n_failed,
                entry.n_planned,
                *("" if value is None else f"{value:g}" for value in (paper and paper.mean, paper and paper.std)),
                entry.verdict,
            ]
        )
    return out.getvalue()
