"""Tables of a finished or unfinished experiment: terminal, Markdown, CSV."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table as TerminalTable
from rich.text import Text

from precede.experiments.cells import Experiment
from precede.experiments.ledger import Record, sentence
from precede.experiments.verdicts import LABELS, Entry
from precede.lazy import pandas as pd

MARKS = {"better": "▲", "equal": "≈", "worse": "▼", "": ""}
COLORS = {"better": "green", "equal": "", "worse": "red", "": ""}
LEGEND = (
    "Mean (standard deviation) over data sets. ▲ ours is better, ≈ equal within one standard deviation of the paper, "
    "▼ worse; no mark where the paper has no number or fewer than three data sets were run. A cell is one data set; "
    "those cut had used up their time limit, and count as they stood."
)


Field = tuple[str, str]
"""Text and verdict."""


def _grid(experiment: Experiment, entries: Sequence[Entry]) -> tuple[list[str], dict[str, dict[str, list[Field]]]]:
    """Heads of the columns, and for each data setting the fields of every method after its name."""
    seconds = "seconds" not in experiment.metrics
    printed = {entry.metric for entry in entries if entry.published}
    heads = ["method"]
    for metric in experiment.metrics:
        heads += [LABELS.get(metric, metric), "paper"] if metric in printed else [LABELS.get(metric, metric)]
    by_place = {(entry.data, entry.method, entry.metric): entry for entry in entries}
    grid: dict[str, dict[str, list[Field]]] = {}
    for data, method in dict.fromkeys((entry.data, entry.method) for entry in entries):
        fields: list[Field] = []
        for metric in experiment.metrics:
            entry = by_place[data, method, metric]
            fields.append((f"{entry.ours()} {MARKS[entry.verdict]}".strip(), entry.verdict))
            fields += [(entry.papers(), "")] if metric in printed else []
        first, mean = by_place[data, method, experiment.metrics[0]], by_place[data, method, "seconds"].mean
        cut = f", {first.n_cut} cut" if first.n_cut else ""
        fields.append((f"{first.n_done}/{first.n_planned}{cut}", ""))
        fields += [("" if mean is None else f"{mean:.1f}", "")] if seconds else []
        grid.setdefault(data, {})[method] = fields
    return [*heads, "cells", *(["seconds"] if seconds else [])], grid


def terminal_tables(experiment: Experiment, entries: Sequence[Entry], lines: Sequence[str]) -> RenderableType:
    """One table per data setting that was run, for rich."""
    heads, grid = _grid(experiment, entries)
    parts: list[RenderableType] = [Text(f"{experiment.title} ({experiment.source})", style="bold")]
    touched = {entry.data for entry in entries if entry.n_done or entry.n_failed}
    for data in filter(touched.__contains__, grid):
        table = TerminalTable(title=data, title_justify="left", box=SIMPLE_HEAD, collapse_padding=True, pad_edge=False)
        for k, head in enumerate(heads):
            table.add_column(head, justify="right" if k else "left", no_wrap=True)
        for method, row in grid[data].items():
            table.add_row(method, *(Text(text, COLORS[verdict]) for text, verdict in row))
        parts.append(table)
    untouched = [data for data in grid if data not in touched]
    if untouched:
        parts.append(Text(f"Not run: {', '.join(untouched)}."))
    return Group(*parts, Text(LEGEND, style="dim"), *(Text(f"• {line}") for line in lines))


def markdown_page(
    experiment: Experiment, entries: Sequence[Entry], lines: Sequence[str], runs: Sequence[Record], figure: str | None
) -> str:
    """The tables as a page, with where they come from."""
    heads, grid = _grid(experiment, entries)
    source = f"{experiment.source} of the paper, `precede reproduce {experiment.name}`."
    page = [f"# {experiment.title}", "", source, "", LEGEND]
    for data, rows in grid.items():
        page += ["", f"## {data}", "", f"| {' | '.join(heads)} |", f"|---|{'---:|' * (len(heads) - 1)}"]
        page += [f"| {method} | {' | '.join(text for text, _ in row)} |" for method, row in rows.items()]
    if figure is not None:
        page += ["", f"![{experiment.title}]({figure})"]
    if lines:
        page += ["", *(f"- {line}" for line in lines)]
    page += ["", "Runs:", "", *(f"- {sentence(run)}" for run in runs)]
    return "\n".join(page) + "\n"


def csv_text(entries: Sequence[Entry]) -> str:
    """One line per number."""
    digits = {"mean": ".6g", "std": ".6g", "paper_mean": "g", "paper_std": "g"}
    table = pd.DataFrame(
        {
            "data": entry.data, "method": entry.method, "metric": entry.metric, "mean": entry.mean, "std": entry.std,
            "done": entry.n_done, "failed": entry.n_failed, "planned": entry.n_planned,
            "paper_mean": entry.published and entry.published.mean,
            "paper_std": entry.published and entry.published.std, "verdict": entry.verdict,
        }
        for entry in entries
    )  # fmt: skip
    for column, form in digits.items():
        table[column] = [None if pd.isna(value) else format(value, form) for value in table[column]]
    return table.to_csv(index=False, lineterminator="\n")
