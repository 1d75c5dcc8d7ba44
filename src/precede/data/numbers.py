"""Numbers as people write them: decimal marks, marks between thousands, exponents and units; codes for missing ones.

A comma before three digits may stand for thousands or for decimals. Which of them is decided once for a table, from all
of its cells: one cell such as ``0,5`` or ``1.234,5`` settles it. Where none does, nothing is guessed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from precede.arrays import FloatArray
from precede.lazy import pandas as pd

GROUP = "[ \u00a0\u202f\u2009'’]"
"""Marks between thousands that are never decimal marks."""

CURRENCY = "[$€£¥₹]|USD|EUR|GBP|CHF"
CELL = re.compile(
    rf"(?P<sign>[-+−]?)\s*(?P<before>{CURRENCY})?\s*(?P<inner>[-+−]?)(?P<digits>[.,]?\d(?:(?:[.,]|{GROUP})?\d)*[.,]?)"
    rf"(?P<power>[eE][-+]?\d{{1,3}})?\s*(?P<after>%|‰|{CURRENCY}|[^\W\d_µ°][^\W\d_/²³·^-]{{0,11}}|[µ°%][^\W\d_]{{0,9}}"
    rf"|[^\W\d_]{{1,6}}/[^\W\d_]{{1,6}}[²³]?|[^\W\d_]{{1,6}}[²³])?"
)
SPACED = rf"\d{{1,3}}(?P<gap>{GROUP})\d{{3}}(?:(?P=gap)\d{{3}})*"
BY_TWOS = r"[1-9]\d?(?:,\d\d)+,\d{3}"  # as in India
NUMBERS = {
    ".": re.compile(rf"(?:\d*|[1-9]\d{{0,2}}(?:,\d{{3}})+|{BY_TWOS}|{SPACED})(?:\.\d*)?"),
    ",": re.compile(rf"(?:\d*|[1-9]\d{{0,2}}(?:\.\d{{3}})+|{SPACED})(?:,\d*)?"),
}
"""What a number looks like, by its decimal mark."""

ODD_MEASURES = {
    "fractions": re.compile(r"[-+]?(\d+\s+)?\d+\s*[/⁄]\s*\d+"),
    "intervals": re.compile(r"[\[(]?\s*-?\d[\d.,]*\s*(-|–|—|to|\.\.+|,|;)\s*-?\d[\d.,]*\s*[\])]?"),
    "numbers with their errors": re.compile(r"-?\d[\d.,]*\s*(±|\+/?-)\s*\d[\d.,]*"),
    "limits": re.compile(r"[<>≤≥~≈]=?\s*-?\d[\d.,]*"),
    "numbers with different units": CELL,
}
"""Cells that hold numbers, but not one each."""

FEWEST_GROUPED = 5
"""Cells such as 1,234 that tell thousands where numbers below 1,000 have no comma, and a tenth as many of those."""


@dataclass
class Spelling:
    """How the numbers of a column are written.

    Parameters
    ----------
    marks : set of str
        Decimal marks that some cell shows beyond doubt.
    unsure : str or None
        A cell that can be read either way.
    unit : str
        What stands before or after every number.
    """

    marks: set[str] = field(default_factory=set)
    unsure: str | None = None
    unit: str = ""


def spelling_of(cells: Iterable[object], na: Collection[str] = ()) -> Spelling | None:
    """How a column writes its numbers; None where a cell is none, or has another unit than those before.

    Examples
    --------
    >>> spelling_of(["1.234,5 kg", "2 kg"])
    Spelling(marks={','}, unsure=None, unit='kg')
    >>> spelling_of(["1,234", "2,345"])
    Spelling(marks=set(), unsure='1,234', unit='')
    """
    found, units = Spelling(), set()
    grouped = small = 0
    for cell in cells:
        text = str(cell).strip()
        if text in na:
            continue
        parts = CELL.fullmatch(text)
        if parts is None:
            if not spells_number(text):  # inf
                return None
            units.add("")
            continue
        units.add(parts["before"] or parts["after"] or "")
        if len(units) > 1 or (parts["before"] and parts["after"]) or (parts["sign"] and parts["inner"]):
            return None
        mark = _mark(parts["digits"], parts["power"])
        if mark is None:
            return None
        if mark in (".", ","):
            found.marks.add(mark)
        elif mark == "either":
            found.unsure = found.unsure or text
            grouped += "," in text
        else:
            small += len(parts["digits"]) <= 3
    if not units:
        return None
    if grouped >= FEWEST_GROUPED and small >= max(2, grouped // 10) and not found.marks:
        found.marks.add(".")
    found.unit = units.pop()
    return found


def _mark(digits: str, power: str | None) -> str | None:
    """The decimal mark that a number shows: "." or ",", "none", or "either"; None where it is no number."""
    marks = [mark for mark, pattern in NUMBERS.items() if pattern.fullmatch(digits)]
    if len(marks) < 2:
        return marks[0] if marks else None
    seen = re.search("[.,]", digits)
    return "none" if seen is None else "either" if power is None else seen[0]


def decimal_mark(spellings: Iterable[Spelling | None]) -> str | None:
    """The decimal mark of a table: what its columns show; None where they show both, or where none tells.

    Examples
    --------
    >>> decimal_mark([spelling_of(["0,5"]), spelling_of(["1,234"])])
    ','
    >>> decimal_mark([spelling_of(["1,234"])]) is None
    True
    """
    known = [spelling for spelling in spellings if spelling is not None]
    marks = {mark for spelling in known for mark in spelling.marks}
    if not marks and not any("," in (spelling.unsure or "") for spelling in known):
        return "."
    return marks.pop() if len(marks) == 1 else None


def to_numbers(column: pd.Series[Any], decimal: str, na: Collection[str]) -> FloatArray:
    """The numbers of a column whose cells all are; NaN for those that are missing."""
    texts = {cell: str(cell).strip() for cell in column.dropna().unique()}
    values = {cell: math.nan if text in na else number_of(text, decimal) for cell, text in texts.items()}
    return np.asarray(column.map(values).to_numpy(dtype=np.float64, na_value=np.nan))


def number_of(text: str, decimal: str) -> float:
    """The number that a cell is with a decimal mark."""
    parts = CELL.fullmatch(text)
    if parts is None:
        return float(text)
    digits = re.sub(GROUP, "", parts["digits"]).replace("." if decimal == "," else ",", "").replace(",", ".")
    return float(("-" if (parts["sign"] or parts["inner"]) in ("-", "−") else "") + digits + (parts["power"] or ""))


def odd_measures(cells: Collection[object]) -> str | None:
    """What half of the cells or more hold, where that is numbers but not one each."""
    texts = [str(cell).strip() for cell in cells]
    for what, pattern in ODD_MEASURES.items():
        if 2 * sum(pattern.fullmatch(text) is not None for text in texts) >= len(texts) > 0:
            return what
    return None


NA_MARKERS = ("", "?", "-", "--", ".", "NA", "N/A", "n/a", "n.a.", "nan", "NaN", "null", "NULL", "#N/A")
"""Texts that stand for a missing value."""


def markers_of(na: Collection[str], name: Hashable) -> frozenset[str]:
    """Texts that stand for a missing value in one column: those of all columns, and what follows ``name=``.

    Examples
    --------
    >>> sorted(markers_of(["NA", "age=-1"], "age"))
    ['-1', 'NA', 'age=-1']
    """
    own = f"{name}="
    return frozenset(na) | {text.removeprefix(own) for text in na if text.startswith(own)}


def spells_number(text: str) -> bool:
    """Whether a text in a file is a number; "nan" is none."""
    try:
        return "_" not in text and not math.isnan(float(text))
    except ValueError:
        return False


def blanked(values: FloatArray, na: Collection[str]) -> FloatArray:
    """The values with NaN for numbers among the texts for missing ones; the same array where there are none.

    Examples
    --------
    >>> blanked(np.array([5.0, -999.0, 1e6]), ["NA", "nan", "-999", "1e6"])
    array([ 5., nan, nan])
    """
    numbers = [float(text) for text in na if spells_number(text)]
    marked = np.isin(values, numbers) if numbers else np.zeros(1, dtype=bool)
    return np.where(marked, np.nan, values) if marked.any() else values
