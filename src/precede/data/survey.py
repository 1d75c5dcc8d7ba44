"""A look at a table before anything is learned: every problem at once, and what to do about each."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from precede.arrays import FloatArray
from precede.data.checks import constant_problems, extremes
from precede.data.columns import frame_to_columns
from precede.data.copies import without_copies
from precede.data.load import Table, load_table
from precede.data.numbers import NA_MARKERS
from precede.data.odd import without_odd
from precede.data.read import read_file
from precede.errors import DataError
from precede.lazy import pandas as pd

WIDE_SCALES = 1e4
"""Ratio of spreads from which the columns' units are remarked on."""

COPY = 1e-10
"""Share of a column's variance that the columns before it must leave unexplained."""


@dataclass(frozen=True)
class Finding:
    """Something about a table.

    Parameters
    ----------
    column : name or None
        None where it is about the whole table.
    sentence : str
        What was found, and what will be done about it.
    remedy : "leave out", "none" or "by hand"
        Whether leaving the column out mends it, nothing needs to be done, or only the user can mend it.
    """

    column: Hashable | None
    sentence: str
    remedy: Literal["leave out", "none", "by hand"]


@dataclass(frozen=True)
class Survey:
    """All that was found in a table.

    Parameters
    ----------
    findings : tuple of Finding
    table : Table or None
        What can be used once the columns to leave out are gone; None where it takes work by hand.
    """

    findings: tuple[Finding, ...]
    table: Table | None

    @property
    def leave_out(self) -> list[Hashable]:
        """Columns that must go, each once."""
        named = [found.column for found in self.findings if found.remedy == "leave out" and found.column is not None]
        return list(dict.fromkeys(named))


def survey(path: Path, decimal: str | None = None) -> Survey:
    """Read a file and look at every column by itself and at all of them together.

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
    frame, remarks = read_file(path, NA_MARKERS, decimal=decimal)
    findings = [Finding(None, remark, "none") for remark in remarks]
    columns: dict[Hashable, FloatArray] = {}
    for place, name in enumerate(frame.columns):
        found, values = _look_at(frame.iloc[:, [place]], name)
        findings += found
        if values is not None:
            columns[name] = values
    findings += _copies(columns) + _scales(columns)
    looked = Survey(tuple(findings), None)
    try:
        table = load_table(path, leave_out=looked.leave_out, decimal=decimal)
    except DataError as error:
        return Survey((*findings, Finding(None, f"{error} This takes work by hand.", "by hand")), None)
    judged = without_odd(without_copies(table))
    findings += [Finding(None, sentence, "none") for sentence in judged.remarks[len(table.remarks) :]]
    return Survey(tuple(findings), table)


def _look_at(frame: pd.DataFrame, name: Hashable) -> tuple[list[Finding], FloatArray | None]:
    """What is wrong with one column, and its values where it can be used."""
    read = frame_to_columns(frame, {}, NA_MARKERS)
    if read.problems:
        return [Finding(name, problem, "leave out") for problem in read.problems], None
    findings = [Finding(name, note, "none") for note in read.notes]
    if not read.names:  # it labels rows, and is left out without being asked
        return findings, None
    values = read.values[:, 0]
    infinite, missing = int(np.isinf(values).sum()), int(np.isnan(values).sum())
    if infinite:
        return [*findings, Finding(name, f"column {name!r} has {infinite} infinite values.", "leave out")], None
    if missing == len(values):
        return [*findings, Finding(name, f"column {name!r} is empty.", "leave out")], None
    if missing:
        share = missing / len(values)
        findings.append(
            Finding(
                name, f"column {name!r} lacks {missing} values ({share:.0%}): the others of the row stand in.", "none"
            )
        )
    stuck = constant_problems(*extremes(values[:, None]), (name,))
    if stuck:
        return [*findings, *(Finding(name, problem, "leave out") for problem in stuck)], None
    return findings, values


def _copies(columns: dict[Hashable, FloatArray]) -> list[Finding]:
    """Columns that earlier ones determine: the same again in other units, or a sum of several."""
    found: list[Finding] = []
    seen: dict[Hashable, FloatArray] = {}
    basis: list[FloatArray] = []  # orthonormal, spans the columns that are kept
    for name, values in columns.items():
        centered = np.nan_to_num(values - np.nanmean(values))
        unit = centered / max(float(np.linalg.norm(centered)), 1e-300)
        twin = next((other for other, held in seen.items() if float(unit @ held) ** 2 > 1 - COPY), None)
        left = unit
        for _ in range(2):  # twice, for rounding
            for direction in basis:
                left = left - float(left @ direction) * direction
        size = float(np.linalg.norm(left))
        if size**2 < COPY:
            why = (
                "determined by the columns before it" if twin is None else f"{twin!r} again, in other units or the same"
            )
            found.append(Finding(name, f"column {name!r} is {why}.", "leave out"))
            continue
        seen[name] = unit
        basis.append(left / size)
    return found


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
            "none",
        )
    ]
