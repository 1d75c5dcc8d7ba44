"""Ours beside the paper: mean and deviation over the cells of a row, which is better, and the tables that say so.

The paper's numbers, mean (standard deviation), as they are printed in Wang et al. (IJCAI 2021).

Where the print has a slip it is typed as meant, and said here: "(19,8)" in Table 1 (A* Lasso, SF5) and in the table of
other baselines (ICA-LiNGAM, 30 nodes SF2) is 19.8, "24.0 (32.3" in the 50-node table lacks its bracket. Twice
the paper contradicts itself, and the tables are followed: L1OBS on 50-node ER2 has SHD 288.0 (66.2) in its table and
215.4 (26.3) in Section 5.1, and RL-BIC2 has numbers at 100 nodes though Section 5.1 says that it did not converge.
Figures 3, 4 and 7 are drawn without numbers, so "gp" and "curves" have none.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table as TerminalTable
from rich.text import Text

from precede.experiments.cells import Experiment, Method
from precede.experiments.ledger import Record, sentence
from precede.lazy import pandas as pd
from precede.report.render import template


@dataclass(frozen=True)
class Published:
    """One printed number.

    Parameters
    ----------
    mean : float
    std : float or None
        None where the paper gives a single number.
    rounding : float
        Half a unit of the last printed digit.
    """

    mean: float
    std: float | None
    rounding: float


CellName = tuple[str, str, str]
"""(data, method, metric)."""

PRINTED = re.compile(r"(\d+(?:\.(\d+))?)(?: \((\d+(?:\.\d+)?)\))?")


def number(text: str, unit: float = 1.0) -> Published:
    """Read ``"4.4 (3.5)"``.

    Examples
    --------
    >>> number("4.4 (3.5)")
    Published(mean=4.4, std=3.5, rounding=0.05)
    """
    match = PRINTED.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a printed number.")
    mean, decimals, std = match.groups()
    spread = None if std is None else unit * float(std)
    return Published(unit * float(mean), spread, unit * 0.5 * 10.0 ** -len(decimals or ""))


def printed(table: str) -> dict[CellName, Published]:
    """Read a table of ``published.txt``; iterations are printed in thousands."""
    head, *lines = [re.split(r" {2,}", line.strip()) for line in table.strip().splitlines()]
    return {
        (data, method, metric): number(text, 1000.0 if metric == "converged_at" else 1.0)
        for data, metric, *numbers in lines
        for method, text in zip(head[2:], numbers, strict=True)
        if text != "×"
    }


def read_published() -> dict[str, dict[CellName, Published]]:
    """Experiment to its printed numbers; the other generators of GP data are told apart by what CAM gets on them."""
    text = (Path(__file__).parent / "published.txt").read_text(encoding="utf-8")
    _, *parts = re.split(r"^\[([\w-]+)\].*\n", text, flags=re.MULTILINE)
    tables = {name: printed(table) for name, table in zip(parts[::2], parts[1::2], strict=True)}
    of_cam = {name: number for name, number in tables["gp-20"].items() if name[1] == "cam"}
    return tables | {"gp-20-joint": of_cam, "gp-20-additive": of_cam}


PUBLISHED = read_published()


HIGHER_IS_BETTER = ("tpr", "order_tpr", "f1")
DECIMALS = {"tpr": 2, "order_tpr": 2, "f1": 2, "fdr": 2, "shd": 1, "converged_at": 0, "seconds": 1}
LABELS = {"tpr": "TPR", "order_tpr": "order TPR", "shd": "SHD", "converged_at": "iterations", "seconds": "seconds"}

LEAST_CELLS = 3
"""A row with fewer finished cells than this (or than it has) gets no verdict: one data set says little."""

OF_THE_WHOLE_RUN = ("seconds", "converged_at")
"""Metrics that a run which was cut cannot tell."""

Verdict = Literal["better", "equal", "worse", ""]


@dataclass(frozen=True)
class Entry:
    """One number of a table.

    Parameters
    ----------
    data, method, metric : str
    mean, std : float or None
        Over the cells that finished; std (with n - 1) needs two of them.
    n_done, n_failed, n_planned, n_cut : int
        Cells; those cut took all the time that they had, and their figures are those of the moment.
    published : Published or None
    verdict : "better", "equal", "worse" or ""
        Ours against the paper's; empty where either is missing or too few cells were run.
    """

    data: str
    method: str
    metric: str
    mean: float | None
    std: float | None
    n_done: int
    n_failed: int
    n_planned: int
    n_cut: int
    published: Published | None
    verdict: Verdict

    def ours(self) -> str:
        """As the table shows it; "not run" and "failed" are never filled in."""
        if self.mean is None:
            return "failed" if self.n_failed else "not run" if not self.n_done else "–"
        return shown(self.metric, self.mean, self.std)

    def papers(self) -> str:
        return "" if self.published is None else shown(self.metric, self.published.mean, self.published.std)


def shown(metric: str, mean: float, std: float | None) -> str:
    """Write a mean and its standard deviation as the paper does.

    Examples
    --------
    >>> shown("shd", 4.4, 3.5), shown("tpr", 0.987, None)
    ('4.4 (3.5)', '0.99')
    """
    digits = DECIMALS.get(metric, 2)
    return f"{mean:.{digits}f}" + ("" if std is None else f" ({std:.{digits}f})")


def verdict_on(metric: str, mean: float, published: Published) -> Verdict:
    """Compare with the paper: "equal" is within one of its standard deviations, and the rounding of its print.

    Examples
    --------
    >>> verdict_on("shd", 0.2, Published(4.4, 3.5, 0.05)), verdict_on("tpr", 0.5, Published(0.99, 0.01, 0.005))
    ('better', 'worse')
    """
    gain = (mean - published.mean) * (1 if metric in HIGHER_IS_BETTER else -1)
    if abs(gain) <= (published.std or 0.0) + published.rounding + 1e-9:
        return "equal"
    return "better" if gain > 0 else "worse"


def entries_of(experiment: Experiment, cells: Iterable[Record], times: Mapping[str, Record]) -> list[Entry]:
    """Average the recorded cells of every row; rows that were not run are there too.

    Parameters
    ----------
    experiment : Experiment
    cells : iterable of records
        Lines of ``cells.jsonl``.
    times : mapping from key to record
        Lines of ``times.jsonl``; the metric "seconds" is theirs.
    """
    rows: dict[str, list[Record]] = {}
    for record in cells:
        rows.setdefault(record["key"].rpartition("/")[0], []).append(record)
    planned = Counter(f"{cell.data.name}/{cell.method.name}" for cell in experiment.cells())
    numbers = PUBLISHED.get(experiment.name, {})
    entries = []
    for data in experiment.data:
        for method in experiment.methods:
            row = f"{data.name}/{method.name}"
            records = rows.get(row, [])
            done = [record for record in records if record.get("error") is None]
            n_cut = sum(_was_cut(record, times) for record in done)
            bounded = any(times.get(record["key"], {}).get("ended") == "iterations" for record in done)
            for metric in dict.fromkeys([*experiment.metrics, "seconds"]):
                values = [value for record in done if (value := _value(record, metric, times)) is not None]
                mean = float(np.mean(values)) if values else None
                std = float(np.std(values, ddof=1)) if len(values) > 1 else None
                published = numbers.get((data.name, method.beside or method.name, metric))
                judged = len(values) >= min(LEAST_CELLS, planned[row])
                judged &= metric not in OF_THE_WHOLE_RUN or not (n_cut or bounded)
                verdict = verdict_on(metric, mean, published) if judged and published and mean is not None else ""
                counts = len(done), len(records) - len(done), planned[row], n_cut
                entries.append(Entry(data.name, method.name, metric, mean, std, *counts, published, verdict))
    return entries


def _was_cut(record: Record, times: Mapping[str, Record]) -> bool:
    """Whether a fit took all the time that it had, so that its seconds say nothing; a stack tells it of each run."""
    told = times.get(record["key"], {}).get("cut")
    if told is not None:
        return bool(told)
    limit, seconds = record["settings"].get("max_time"), _value(record, "seconds", times)
    return limit is not None and seconds is not None and seconds >= limit


def _value(record: Record, metric: str, times: Mapping[str, Record]) -> float | None:
    value: Any = times.get(record["key"], {}).get("seconds") if metric == "seconds" else record["metrics"].get(metric)
    return None if value is None or not math.isfinite(value) else float(value)


def remarks(experiment: Experiment, cells: Iterable[Record]) -> list[str]:
    """Sentences below the table: the experiment's own, other limits, what was not run, a control's share, failures."""
    rows = {method.name: method for method in experiment.methods}
    # a ledger keeps rows of old tables
    records = [(record["key"].split("/"), record) for record in cells if record["key"].split("/")[1] in rows]
    lines = list(experiment.notes) + _limits(rows, records)
    for method in experiment.methods:
        run = {data for (data, name, _), _ in records if name == method.name}
        missing = [data.name for data in experiment.data if data.name not in run]
        if missing and method.cost:
            lines.append(f"{method.name} was not run on {', '.join(missing)}: {method.cost}.")
    if experiment.bound is not None:
        control, metric, bound = experiment.bound
        found = [record["metrics"].get(metric) for (_, name, _), record in records if name == control]
        known = [value for value in found if value is not None]
        if known:
            share = np.mean(np.array(known) <= bound)
            lines.append(
                f"Random orders with the same pruning ({control}) have {LABELS[metric]} ≤ {bound:g} in {share:.0%} of "
                f"{len(known)} draws."
            )
    return lines + [f"{one['key']} failed: {one['error']}" for _, one in records if one.get("error") is not None]


def _limits(rows: Mapping[str, Method], records: Iterable[tuple[list[str], Record]]) -> list[str]:
    """Which rows were run with options other than the experiment's: an earlier budget, a quick run, a time limit."""
    found: dict[str, list[str]] = {}
    for (_, method, _), record in records:
        own, settings = rows[method].options, record["settings"]
        given = settings["options"] | {name: settings[name] for name in ("max_time",) if settings.get(name) is not None}
        texts = [f"{name}={value!r}" for name, value in given.items() if own.get(name) != value]
        text = ", ".join(texts + [f"its own {name}" for name in own if name not in given])
        if text and method not in found.setdefault(text, []):
            found[text].append(method)
    return [f"Run with {text}: {', '.join(names)}." for text, names in found.items()]


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
    told = {"legend": LEGEND, "figure": figure, "remarks": lines, "runs": map(sentence, runs)}
    return template("table.md").render(experiment=experiment, heads=heads, grid=grid, **told)


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
