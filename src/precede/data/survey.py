"""A look at a table before anything is learned: every problem at once, and how to read it so that all are mended."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from precede.arrays import FloatArray
from precede.data import untidy
from precede.data.checks import MOSTLY_EMPTY, value_problems
from precede.data.columns import frame_to_columns, spelling_in, storage
from precede.data.copies import without_copies
from precede.data.load import Table, load_table
from precede.data.numbers import NA_MARKERS, blanked, markers_of
from precede.data.odd import without_odd
from precede.data.read import read_file
from precede.data.untidy import Finding, left_out
from precede.errors import DataError
from precede.lazy import pandas as pd
from precede.options import Options

WIDE_SCALES = 1e4
"""Ratio of spreads from which the columns' units are remarked on."""

LIST_OPTIONS = ("leave_out", "na")


@dataclass(frozen=True)
class Survey:
    """All that was found in a table.

    Parameters
    ----------
    findings : tuple of Finding
    table : Table or None
        What can be used once it is read as ``reading`` says; None where it takes work by hand.
    """

    findings: tuple[Finding, ...]
    table: Table | None

    @property
    def reading(self) -> Options:
        """Options of :func:`precede.load_table` that mend what was found; ``na`` comes on top of the usual texts."""
        joined: Options = {}
        for found in self.findings:
            for name, value in found.options.items():
                if name in LIST_OPTIONS:
                    joined[name] = list(dict.fromkeys([*joined.get(name, []), *value]))
                else:
                    joined[name] = {**joined.get(name, {}), **value} if isinstance(value, dict) else value
        return joined


def with_usual(reading: Options) -> Options:
    """Options of :func:`precede.load_table`: texts for missing values on top of the usual ones."""
    return {**reading, "na": [*NA_MARKERS, *reading["na"]]} if reading.get("na") else reading


def survey(path: Path, decimal: str | None = None) -> Survey:
    """Read a file and look at its rows, at every column by itself and at all of them together.

    Parameters
    ----------
    path : Path
    decimal : "." or ",", optional
        See :func:`precede.load_table`.

    Raises
    ------
    DataError
        Where the file cannot be read as a table at all.
    """
    frame, remarks, mark, delimiter = read_file(path, NA_MARKERS, decimal)
    findings = [Finding(None, remark) for remark in remarks]
    if frame.empty:
        return _read(path, findings)
    if decimal is not None:
        findings.append(Finding(None, f"the decimal mark is {decimal!r}, as you say.", {"decimal": decimal}))
    elif mark is None and any(_unsure(frame[name]) for name in frame.columns):
        decimal = "," if delimiter == ";" else "."
        meaning = "decimals, as where semicolons divide the cells" if decimal == "," else "thousands"
        sentence = f"cells such as 1,234 can be read in two ways; commas before three digits are taken for {meaning}."
        findings.append(Finding(None, sentence, {"decimal": decimal}))
        frame, _, mark, _ = read_file(path, NA_MARKERS, decimal)
    findings += untidy.interventions(frame) + untidy.rows_in_time(frame)
    apart = {found.options.get(name) for found in findings for name in ("interventions", "group")}
    apart |= {found.column for found in findings if "leave_out" in found.options}
    columns: dict[Hashable, FloatArray] = {}
    for place, name in enumerate(frame.columns):
        if name not in apart:
            found, values = _look_at(frame.iloc[:, [place]], name, mark)
            findings += found
            if values is not None:
                columns[name] = values
    findings += untidy.derived(columns) + _scales(columns)
    return _read(path, findings)


def _unsure(column: pd.Series[Any]) -> bool:
    spelled = None if storage(column) != "text" else spelling_in(column, NA_MARKERS)
    return spelled is not None and spelled.unsure is not None and not spelled.marks


def _read(path: Path, findings: list[Finding]) -> Survey:
    """Read the table as the findings say; where earlier steps are in the way, without them."""
    looked = Survey(tuple(findings), None)
    try:
        table = load_table(path, **with_usual(looked.reading))
    except DataError as error:
        if "lags" in looked.reading:
            kept = [found for found in findings if "lags" not in found.options]
            series = next(found for found in findings if "lags" in found.options)
            out = {"leave_out": [str(series.column), *([series.options["group"]] if "group" in series.options else [])]}
            gone = [Finding(series.column, f"{series.sentence} Not here: {error}", out)]
            return _read(path, [*kept, *gone])
        return Survey((*findings, Finding(None, f"{error} Fix this first.", by_hand=True)), None)
    judged = without_odd(without_copies(table))
    findings += [Finding(None, sentence) for sentence in judged.remarks[len(table.remarks) :]]
    return Survey(tuple(findings), table)


def _look_at(frame: pd.DataFrame, name: Hashable, decimal: str | None) -> tuple[list[Finding], FloatArray | None]:
    """What is to be said of one column, and its values where it can be used."""
    column = frame.iloc[:, 0]
    findings = untidy.identity(column, name)
    if any(found.remedy == "leave out" for found in findings):
        return findings, None
    findings += untidy.words_for_missing(column, name)
    options = Survey(tuple(findings), None).reading
    read = frame_to_columns(frame, options.get("types", {}), with_usual(options).get("na", NA_MARKERS), decimal)
    if read.problems:
        return [left_out(name, problem) for problem in read.problems], None
    findings += [Finding(name, note) for note in read.notes]
    if not read.names:  # it labels rows, and is left out without being asked
        return findings, None
    values = read.values[:, 0]
    if not read.stated:
        coded = untidy.codes(values, name)
        findings += coded
        values = blanked(values, markers_of(Survey(tuple(coded), None).reading.get("na", []), name))
    problems = value_problems(values[:, None], (name,))
    if problems:
        return [*findings, *(left_out(name, problem) for problem in problems)], None
    share = float(np.isnan(values).mean())
    if share > MOSTLY_EMPTY:
        sentence = f"column {name!r} lacks {share:.0%} of its values: better left out than imputed from the others."
        return [*findings, left_out(name, sentence)], None
    if share:
        lacks = f"column {name!r} lacks {np.isnan(values).sum()} values ({share:.0%})"
        findings.append(Finding(name, f"{lacks}: they will be imputed from the other columns."))
    return findings + untidy.saturation(values, name), values


def _scales(columns: dict[Hashable, FloatArray]) -> list[Finding]:
    """Whether the columns' units differ so much that methods which read variances see nothing else."""
    spreads = {name: float(np.nanstd(values)) for name, values in columns.items()}
    if len(spreads) < 2 or max(spreads.values()) < WIDE_SCALES * min(spreads.values()):
        return []
    large, small = max(spreads, key=lambda n: spreads[n]), min(spreads, key=lambda n: spreads[n])
    return [
        Finding(
            None,
            f"spreads differ widely, from {spreads[small]:.2g} ({small}) to {spreads[large]:.2g} ({large}): a method "
            "that reads directions from variances would see only the units.",
        )
    ]
