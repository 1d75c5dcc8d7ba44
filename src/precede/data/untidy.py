"""What people's tables hold beside measurements: time, groups, targets, codes, spellings, columns made from others.

Each function looks at a table as it was read and answers with :class:`Finding`; nothing is changed here.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Hashable
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from precede.arrays import FloatArray
from precede.data.columns import LOOKS_LIKE_AN_ID, all_distinct, storage
from precede.data.interventions import names_in
from precede.data.numbers import CELL, NA_MARKERS, spelling_of, spells_number
from precede.errors import listed, typed
from precede.lazy import pandas as pd
from precede.options import Options

TIME = re.compile(r"t|.*(time|date|day|week|month|quarter|year|hour|minute|second|step|tick|period|epoch)s?", re.I)
MONTH = r"\d{4}[-/.](0[1-9]|1[0-2])"
UNIT = re.compile(r"(.*[_\W])?(patient|subject|participant|person|user|customer|device|machine|batch|lot)s?\W*", re.I)
"""Names of columns that say when a row was measured, and on what."""

UNKNOWN = re.compile(
    r"unk(nown)?|missing|unavailable|undefined|unspecified|undetermined|nil|n\.?[dk]\.?|void|err(or)?|\(blank\)|\?+|"
    r"not (available|known|recorded|measured|done)|no (data|answer)|don't know",
    re.IGNORECASE,
)
"""Words for a missing value that may also be levels, so that only ``check`` takes them for it."""

CODES = [-1.0, -7.0, -8.0, -9.0] + [
    sign * float(digit * length + rest)
    for digit in "987"
    for length in range(2, 8)
    for rest in ("", f".{digit}", f".{digit * 2}")
    for sign in (1, -1)
]
"""Numbers that often stand for a missing value: -1, 99, -999.9 and the like."""

FEWEST_NUMBERS = 10
"""Different numbers from which other texts among them are no levels."""

MOST_ODD_TEXTS = 5
"""Different texts among numbers that may all stand for missing values."""

SATURATED = 0.05
"""Share of cells at the least or largest value from which readings may be cut off there."""

EVEN, EVENLY = 0.1, 0.9
"""Steps in time this close to the median are even; this share of them must be."""

COPY = 1e-10
"""Share of a column's variance that the columns before it must leave unexplained."""

GRAINS = 20.0
"""Steps of rounding in a column's standard deviation from which what is left may be no more than rounding."""


@dataclass(frozen=True)
class Finding:
    """Something about a table.

    Parameters
    ----------
    column : name or None
        None where it is about the whole table.
    sentence : str
        What was found, and what will be done about it.
    options : dict
        Options of :func:`precede.load_table` that mend it; ``na`` holds what comes on top of the usual texts.
    by_hand : bool
        Whether only the user can mend it.
    """

    column: Hashable | None
    sentence: str
    options: Options = field(default_factory=dict)
    by_hand: bool = False

    @property
    def remedy(self) -> Literal["leave out", "option", "none", "by hand"]:
        """Whether leaving columns out mends it, other options do, nothing needs to be done, or only the user can."""
        if self.by_hand or not self.options:
            return "by hand" if self.by_hand else "none"
        return "leave out" if set(self.options) == {"leave_out"} else "option"

    def to_dict(self) -> dict[str, str | None]:
        """What a page or a program is told."""
        name = None if self.column is None else str(self.column)
        return {"column": name, "sentence": self.sentence, "remedy": self.remedy}


def left_out(name: Hashable, sentence: str) -> Finding:
    """A column that must go."""
    return Finding(name, sentence, {"leave_out": [str(name)]})


# -- rows ------------------------------------------------------------------------------------------------------------


def rows_in_time(frame: pd.DataFrame) -> list[Finding]:
    """Columns that say when a row was measured, whether rows are in that order, and whose they are."""
    found: list[Finding] = []
    clock: FloatArray | None = None
    read: dict[Hashable, FloatArray | None] = {name: _times(frame[name], name) for name in frame.columns}
    times = {name: when for name, when in read.items() if when is not None}
    for name, when in times.items():
        steps, number = np.diff(when), storage(frame[name]) == "number"
        out: Options = {"leave_out": [str(name)]} if number else {}
        if clock is not None:
            if number and (bool((steps[clock > 0] >= 0).all()) or _of_calendar(when, frame, times)):
                found.append(left_out(name, f"column {name!r} says when, as another column does: left out."))
            continue
        group = None if (steps > 0).all() else _owner(frame, steps, list(times))
        within = steps if group is None else steps[_same(frame[group])]
        if not (within > 0).all():
            if not number:
                sentence = f"rows are not in the order of {name!r}, so they are not taken as a series."
                found.append(Finding(name, sentence))
            continue
        clock = np.where(steps > 0, steps, 0)
        whose = "" if group is None else f", for each {group!r} by itself"
        even = (np.abs(within / np.median(within) - 1) <= EVEN).mean() >= EVENLY
        sentence = (
            f"rows are in time (by {name!r}{whose}): earlier rows may be causes where they help to predict."
            if even
            else f"rows are in the order of {name!r}{whose}, but not evenly: earlier rows are not taken as causes."
        )
        steady: Options = {"lags": "auto", **({} if group is None else {"group": str(group)})} if even else {}
        found.append(Finding(name, sentence, {**out, **steady}))
    return found


def _seconds(texts: pd.Series[str]) -> FloatArray | None:
    """Dates in seconds; the day first where that puts them in order, or alone reads them."""
    read = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that the day comes first
        for day_first in (False, True):
            dates = pd.to_datetime(texts, errors="coerce", format="mixed", dayfirst=day_first)
            if not dates.isna().any():
                read.append(dates.to_numpy().astype("datetime64[s]").astype(np.float64))
    return next((when for when in read if (np.diff(when) > 0).all()), read[0] if read else None)


def _of_calendar(values: FloatArray, frame: pd.DataFrame, times: dict[Hashable, FloatArray]) -> bool:
    """Whether numbers are the year, month, day or hour of a date in the table."""
    for name, when in times.items():
        if storage(frame[name]) == "date":
            date = pd.DatetimeIndex(when.astype("datetime64[s]"))
            parts = (date.year, date.quarter, date.month, date.day, date.day_of_week, date.day_of_week + 1, date.hour)
            if any(np.array_equal(values, part) for part in parts):
                return True
    return False


def _times(column: pd.Series[Any], name: Hashable) -> FloatArray | None:
    """When each row was, where a column says it: dates, or whole numbers under such a name."""
    if column.isna().any() or len(column) < 3:
        return None
    kind = storage(column)
    if kind == "date" or (kind == "text" and bool(column.astype(str).str.fullmatch(MONTH).all())):
        return _seconds(column.astype(str))
    if kind != "number" or not TIME.fullmatch(str(name)):
        return None
    values = column.to_numpy(dtype=np.float64)
    return values if np.array_equal(values, np.round(values)) and len(np.unique(values)) > 2 else None


def _owner(frame: pd.DataFrame, steps: FloatArray, times: list[Hashable]) -> Hashable | None:
    """The column that changes wherever time starts again, and whose values come in one piece each."""
    again = steps <= 0
    found = []
    for name in frame.columns:
        if name not in times and storage(frame[name]) != "nested":
            changes = ~_same(frame[name])
            if changes[again].all() and changes.sum() + 1 == frame[name].nunique() < len(frame) / 2:
                found.append((int(changes.sum()), name))
    return min(found, key=lambda one: one[0])[1] if found else None


def _same(column: pd.Series[Any]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Whether each row has the value of the row before."""
    codes, _ = pd.factorize(column)
    return np.asarray(codes[1:] == codes[:-1])


def interventions(frame: pd.DataFrame) -> list[Finding]:
    """The column that names the variable that was set in a row, where there is one."""
    names = set(map(str, frame.columns))
    for name in frame.columns:
        if storage(frame[name]) == "text":
            targets = {part for cell in frame[name].dropna().unique() for part in names_in(cell, names)}
            if targets and targets <= names - {str(name)}:
                sentence = f"column {name!r} names what was set in a row: {listed(sorted(targets))}."
                return [Finding(name, sentence, {"interventions": str(name)})]
    return []


# -- one column ------------------------------------------------------------------------------------------------------


def identity(column: pd.Series[Any], name: Hashable) -> list[Finding]:
    """A column of numbers or words that only says which row, or on whom it was measured."""
    named = UNIT.match(str(name)) or LOOKS_LIKE_AN_ID.fullmatch(str(name))
    there = column.dropna()
    kind = storage(column)
    distinct = int(there.nunique()) if kind in ("number", "text") else 0
    if distinct < 3:
        return []
    if kind == "number":
        values = there.to_numpy(dtype=np.float64)
        if not np.array_equal(values, np.round(values)):
            return []
        if all_distinct(values) and (named or np.ptp(values) == len(values) - 1):
            return [left_out(name, f"column {name!r} numbers the rows: left out.")]
    if not named:
        return []
    if distinct > 10 and distinct < 0.9 * len(there):
        each = len(there) / distinct
        sentence = (
            f"rows are grouped by {name!r} ({distinct} with {each:.3g} rows each), which is no measurement: left out. "
            "Rows of one are not independent, so confidences are too high."
        )
        return [left_out(name, sentence)]
    if kind == "number" and distinct <= 10:
        sentence = f"column {name!r} says which one, so its numbers are taken as names."
        return [Finding(name, sentence, {"types": {str(name): "categorical"}})]
    return []


def words_for_missing(column: pd.Series[Any], name: Hashable) -> list[Finding]:
    """Words among numbers, or among levels, that stand for missing values, and levels that are slips of the pen."""
    if storage(column) != "text":
        return []
    counts = column.dropna().astype(str).str.strip().value_counts()
    counts = counts[[text not in NA_MARKERS for text in counts.index]]
    odd = [text for text in counts.index if not CELL.fullmatch(text) and not spells_number(text)]
    rest = [text for text in counts.index if text not in odd]
    numbers = counts[rest].sum() >= counts.sum() / 2 and len(rest) >= FEWEST_NUMBERS and spelling_of(rest) is not None
    if not numbers:
        odd = [text for text in counts.index if UNKNOWN.fullmatch(text)]
    if 0 < len(odd) <= MOST_ODD_TEXTS and len(odd) < len(counts):
        where = f"{counts[odd].sum()} cells{' among numbers' if numbers else ''} of column {name!r}"
        limits = " What lies below or above a limit is then lost." if any(text[0] in "<>≤≥" for text in odd) else ""
        return [_coded(name, odd, f"{where} say {listed(odd)}: they count as missing.{limits}")]
    return [] if numbers else _misspelled(counts, name)


def _coded(name: Hashable, texts: list[str], sentence: str) -> Finding:
    return Finding(name, sentence, {"na": [f"{name}={text}" for text in texts]})


def codes(column: FloatArray, name: Hashable) -> list[Finding]:
    """Numbers that stand for missing values."""
    values = column[np.isfinite(column)]
    coded = np.isin(values, CODES)
    rest = values[~coded]
    levels = np.unique(rest)
    found = []
    if len(levels) > 2 and coded.any():
        low, high = np.quantile(rest, [0.005, 0.995])
        for value, count in zip(*np.unique(values[coded], return_counts=True), strict=True):
            beyond = value > high + (high - low) or value < low - 2 * (high - low)
            never = value < 0 <= levels[0] and (len(levels) > 10 or value < levels[0] - 1)
            if (beyond or never) and (count > 1 or abs(value) >= 999):
                found.append(f"{value:.12g}")
    if found:
        n = int(np.isin(values, [float(text) for text in found]).sum())
        return [_coded(name, found, f"{n} cells of column {name!r} hold {listed(found)}: they count as missing.")]
    rest = values[values != 0]
    zeros = len(values) - len(rest)
    if zeros > 1 and len(np.unique(rest)) > 10 and rest.min() > 0 and np.median(rest) > 4 * rest.std():
        sentence = (
            f"column {name!r} has {zeros} zeros, far from all other values ({rest.min():g} to {rest.max():g}): where "
            f"they stand for missing values, say so ({typed('na', [f'{name}=0'])})."
        )
        return [Finding(name, sentence)]
    return []


def _misspelled(counts: pd.Series[int], name: Hashable) -> list[Finding]:
    """Rare levels that are one slip away from a frequent one; they count as missing."""
    if len(counts) > 50:
        return []
    often = [text for text, count in counts.items() if count >= max(5, 0.05 * counts.sum())]
    pairs = {}
    for text, count in counts.items():
        near = get_close_matches(str(text).lower(), [str(one).lower() for one in often], 1, 0.8)
        if count <= max(1, 0.01 * counts.sum()) and len(str(text)) > 3 and near and near[0] != str(text).lower():
            pairs[str(text)] = near[0]
    if not pairs or any(re.search(r"\d", text) for text in pairs):
        return []
    slips = ", ".join(f"{slip!r} (for {usual!r}?)" for slip, usual in pairs.items())
    return [_coded(name, list(pairs), f"levels of column {name!r} look misspelled and count as missing: {slips}.")]


def saturation(values: FloatArray, name: Hashable) -> list[Finding]:
    """Whether readings pile up at the least or the largest value."""
    there = values[np.isfinite(values)]
    distinct, counts = np.unique(there, return_counts=True)
    if len(distinct) <= 20:
        return []
    usual = np.median(counts)
    ends = [
        f"its {words} value, {distinct[end]:.6g}, in {counts[end] / len(there):.0%} of the rows"
        for end, words in ((0, "least"), (-1, "largest"))
        if counts[end] > max(SATURATED * len(there), 5 * usual)
    ]
    if not ends:
        return []
    return [Finding(name, f"column {name!r} has {' and '.join(ends)}: readings may be cut off there.")]


# -- columns made from others ----------------------------------------------------------------------------------------


def derived(columns: dict[Hashable, FloatArray]) -> list[Finding]:
    """Columns that earlier ones determine: sums, products, the same in other units or along a curve, and classes."""
    found: list[Finding] = []
    kept: dict[Hashable, FloatArray] = {}
    ranked: dict[bytes, Hashable] = {}
    plain, logs = list[FloatArray](), list[FloatArray]()  # directions that span the columns and their logarithms
    for name, values in columns.items():
        grain = _grain(values)
        rounding = 2 * grain if np.nanstd(values) > GRAINS * grain else 0.0
        positive = bool((values > 0).all())  # and none missing
        ranking = _ranking(values)
        share, error, own = _rest(values, plain)
        power, off, own_log = _rest(np.log(values), logs) if positive else (1.0, values, values)
        whole = next((other for other, held in kept.items() if _classes(values, held)), None)
        if share < COPY or np.abs(error).max() <= rounding:
            twin = next((other for other, held in kept.items() if _alike(values, held)), None)
            why = (
                "determined by the columns before it" if twin is None else f"{twin!r} again, in other units or the same"
            )
        elif positive and (power < COPY or np.abs(off * values).max() <= rounding):
            why = "a product or ratio of the columns before it"
        elif ranking in ranked:
            why = f"a function of {ranked[ranking]!r}: both put the rows in the same order"
        elif whole is not None:
            why = f"{whole!r} in classes"
        else:
            kept[name] = values
            plain.append(own)
            if positive:
                logs.append(own_log)
            if ranking is not None:
                ranked[ranking] = name
            continue
        found.append(left_out(name, f"column {name!r} is {why}."))
    return found


def _alike(values: FloatArray, other: FloatArray) -> bool:
    """Whether one column is nearly a linear function of the other."""
    both = ~np.isnan(values) & ~np.isnan(other)
    return bool(both.sum() > 2 and abs(np.corrcoef(values[both], other[both])[0, 1]) > 0.9999)


def _ranking(values: FloatArray) -> bytes | None:
    """The order into which a column puts the rows, upward or downward; None for few levels or with gaps."""
    distinct, places = np.unique(values, return_inverse=True)
    if len(distinct) <= 20 or np.isnan(distinct[-1]):
        return None
    return min(places.tobytes(), (len(distinct) - 1 - places).tobytes())


def _rest(values: FloatArray, basis: list[FloatArray]) -> tuple[float, FloatArray, FloatArray]:
    """Share of a column's variance that orthonormal directions leave, the residuals, and their direction."""
    centered = np.nan_to_num(values - np.nanmean(values))
    size = max(float(np.linalg.norm(centered)), 1e-300)
    left = centered / size
    few = basis if len(basis) < len(values) / 3 else []  # as many columns as rows determine everything
    for _ in range(2):  # twice, for rounding
        for direction in few:
            left = left - float(left @ direction) * direction
    share = float(left @ left)
    return share, left * size, left / max(np.sqrt(share), 1e-300)


def _grain(values: FloatArray) -> float:
    """Step to which a column is rounded, as 0.01; 0 where it is not."""
    there = values[np.isfinite(values)]
    steps = (10.0**-k for k in range(7))
    return next((step for step in steps if np.allclose(there / step, np.round(there / step), atol=1e-6)), 0.0)


def _classes(values: FloatArray, whole: FloatArray) -> bool:
    """Whether three or more levels are ranges of another column."""
    both = ~np.isnan(values) & ~np.isnan(whole)
    levels = np.unique(values[both])
    if not 3 <= len(levels) <= 12 or len(np.unique(whole)) <= 2 * len(levels):
        return False
    parts = sorted((whole[both & (values == level)] for level in levels), key=lambda part: float(part.min()))
    return all(low.max() < high.min() for low, high in pairwise(parts))
