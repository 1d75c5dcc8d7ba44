"""Columns of a table into numbers: words become the places of their levels, what cannot be used is named."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from precede.arrays import FloatArray
from precede.data.kinds import ColumnKind, Types, from_labels, known_order, label_of, one_spelling
from precede.data.numbers import (
    Spelling,
    blanked,
    decimal_mark,
    markers_of,
    numbers_among,
    odd_measures,
    spelling_of,
    to_numbers,
)
from precede.errors import listed
from precede.lazy import pandas as pd

LOOKS_LIKE_A_DATE = re.compile(r"\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})\b")
LOOKS_LIKE_AN_ID = re.compile(
    r"(.*[_\W])?(id|ids|uuid|guid|index|key|nr|no|row|rownames?|unnamed: ?\d+)\W*", re.IGNORECASE
)

MOST_LABELS = 100
"""A column of words with more distinct ones is not a category."""

ROWS_PER_LABEL = 5
"""Nor is one with fewer rows for each word, on average (two words are always a category)."""

DISTINCT_SHARE = 0.9
"""A column of words labels the rows where this share of them is distinct."""

LARGEST_EXACT = 2**53
"""Whole numbers beyond it are not all floats."""

FEWEST_ROWS = 20
"""Rows from which a column may be told to label them."""


@dataclass
class Columns:
    """Columns as numbers, and what was found on the way.

    Parameters
    ----------
    values : (n_samples, n_variables) float64 array
        Missing values are NaN; a column of words holds the places of its levels.
    names : tuple
        Of the columns that can be used.
    stated : dict
        Kinds of the columns that came as words or with a type of their own, by position.
    notes : list of str
        What was done, a sentence each.
    problems : list of str
        Why other columns cannot be used, a sentence each.
    """

    values: FloatArray
    names: tuple[Hashable, ...]
    stated: dict[int, ColumnKind] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def frame_to_columns(frame: pd.DataFrame, types: Types, na: Collection[str]) -> Columns:
    """Convert a DataFrame to float64, as a view where it already is one block of it.

    Parameters
    ----------
    frame : DataFrame
    types : mapping
        What the user says about columns, by name.
    na : collection of str
        Texts that stand for a missing value.
    """
    if all(dtype == np.dtype(np.float64) for dtype in frame.dtypes):
        return matrix_to_columns(frame.to_numpy(), tuple(frame.columns), types, na)
    reader = _Reader(types, frozenset(na), frame.attrs[DECIMAL] if DECIMAL in frame.attrs else decimal_of(frame, na))
    used: list[Hashable] = []
    arrays: list[FloatArray] = []
    stated: dict[int, ColumnKind] = {}
    for k, name in enumerate(frame.columns):
        array, kind = reader.read(frame.iloc[:, k], name)
        if array is None:
            continue
        if kind is not None:
            stated[len(used)] = kind
        used.append(name)
        arrays.append(array)
    values = np.empty((len(frame), len(used)), dtype=np.float64, order="F")
    for k, array in enumerate(arrays):
        values[:, k] = array
    return Columns(values, tuple(used), stated, reader.notes(), reader.problems())


DECIMAL = "precede-decimal"
"""Attribute of a frame that was read from a file: the decimal mark of the whole file, None where nothing tells."""


def decimal_of(frame: pd.DataFrame, na: Collection[str]) -> str | None:
    """The decimal mark of the texts of a frame; None where they show both, or where none tells."""
    texts = [k for k, dtype in enumerate(frame.dtypes) if str(dtype) in ("object", "str")]
    return decimal_mark(spelling_in(frame.iloc[:, k], markers_of(na, frame.columns[k])) for k in texts)


def spelling_in(column: pd.Series[Any], na: Collection[str]) -> Spelling | None:
    """How a column writes its numbers; None where a cell is none."""
    try:
        return spelling_of(column.dropna().unique(), na)
    except TypeError:  # lists and the like
        return None


def matrix_to_columns(values: FloatArray, names: tuple[Hashable, ...], types: Types, na: Collection[str]) -> Columns:
    """Columns of a float64 matrix, as :func:`frame_to_columns` reads them: a view where nothing has to change.

    Examples
    --------
    >>> values = np.array([[1.0, -999.0], [2.0, 5.0]])
    >>> matrix_to_columns(values, ("a", "b"), {}, ["-999"]).values
    array([[ 1., nan],
           [ 2.,  5.]])
    """
    reader = _Reader(types, frozenset(na))
    values = blanked(values, reader.numbers)
    own = {k: numbers_among(markers_of(na, name)) for k, name in enumerate(names)} if "=" in "".join(na) else {}
    for k, numbers in own.items():
        if len(numbers) > len(reader.numbers):
            values = np.array(values, order="K")
            values[:, k] = blanked(values[:, k], numbers)
    kept = [k for k, name in enumerate(names) if not reader.labels_rows(values[:, k], name)]
    if len(kept) < len(names):
        values, names = np.asfortranarray(values[:, kept]), tuple(names[k] for k in kept)
    stated: dict[int, ColumnKind] = {}
    for k, name in enumerate(names):
        if reader.has_order(name):
            column, kind = reader.ordered(values[:, k], name)
            if column is not None and kind is not None:
                values = np.array(values, order="K")  # the caller's stays as it is
                values[:, k], stated[k] = column, kind
    return Columns(values, names, stated, reader.notes(), reader.problems())


Outcome = Literal["id", "markers", "commas", "marks", "spelled", "rounded"]
Trouble = Literal["date", "complex"]

DONE: dict[Outcome, tuple[str, str]] = {
    "id": ("labels the rows, so it was left out", "label the rows, so they were left out"),
    "markers": ("had texts that stand for missing values", "had texts that stand for missing values"),
    "commas": ("was read with decimal commas", "were read with decimal commas"),
    "marks": (
        "had marks between thousands, which were read as such",
        "had marks between thousands, read as such",
    ),
    "rounded": (
        "has whole numbers of more than 15 digits, which were rounded",
        "have whole numbers of more than 15 digits, which were rounded",
    ),
    "spelled": ("held numbers as text, and was read as numbers", "held numbers as text, and were read as numbers"),
}
REFUSED: dict[Trouble, tuple[str, str]] = {
    "date": (
        "holds dates: leave it out, or turn it into numbers such as days since a start",
        "hold dates: leave them out, or turn them into numbers such as days since a start",
    ),
    "complex": (
        "holds complex numbers: take real and imaginary parts",
        "hold complex numbers: take real and imaginary parts",
    ),
}


class _Reader:
    """Reads column after column, and remembers what to say about them."""

    def __init__(self, types: Types, na: frozenset[str], decimal: str | None = ".") -> None:
        self.types, self.decimal, self._all_na = types, decimal, na
        self.na, self.numbers = na, numbers_among(na)
        self._done: dict[Outcome, list[Hashable]] = {}
        self._refused: dict[Trouble, list[Hashable]] = {}
        self._texts: list[str] = []
        self._single: list[str] = []

    def notes(self) -> list[str]:
        return [f"{_subject(names, *DONE[what])}." for what, names in self._done.items()] + self._single

    def problems(self) -> list[str]:
        return [f"{_subject(names, *REFUSED[what])}." for what, names in self._refused.items()] + self._texts

    def read(self, column: pd.Series[Any], name: Hashable) -> tuple[FloatArray | None, ColumnKind | None]:
        """The column as numbers (None where it is not used), and its kind where that is told from its type."""
        self.na = markers_of(self._all_na, name)
        self.numbers = numbers_among(self.na)
        match storage(column):
            case "boolean" if self.has_order(name):
                return self._levels(column, name, [False, True], ordered=True)
            case "boolean":
                return _floats(column), from_labels((False, True), ordered=True)
            case "number":
                exact = column if column.dtype != object else _to_numeric(column)
                if exact is None:
                    self._texts.append(f"column {name!r} has whole numbers beyond 1e308: give it another unit.")
                    return None, None
                values = blanked(_floats(exact), self.numbers)
                if _rounded(column, values):
                    self._done.setdefault("rounded", []).append(name)
                if self.has_order(name):
                    return self.ordered(values, name)
                return (None if self.labels_rows(values, name) else values), None
            case "category":
                labels = column.cat.remove_unused_categories().cat.categories
                return self._levels(column, name, list(labels), bool(column.cat.ordered))
            case "date" | "complex" as trouble:
                self._refused.setdefault(trouble, []).append(name)
                return None, None
            case "nested":
                self._texts.append(f"column {name!r} holds lists or the like in its cells: leave it out.")
                return None, None
            case _:
                return self._text(column, name)

    def labels_rows(self, values: FloatArray, name: Hashable) -> bool:
        """Whether a column of numbers only labels the rows, which is then said."""
        if name in self.types or not _counts_rows(values, name):
            return False
        self._done.setdefault("id", []).append(name)
        return True

    def _text(self, column: pd.Series[Any], name: Hashable) -> tuple[FloatArray | None, ColumnKind | None]:
        column = column.astype(object).reset_index(drop=True)
        stripped = column.map(lambda cell: cell.strip() if isinstance(cell, str) else cell)
        marked = stripped.isin(self.na)
        if marked.any():
            column = stripped.mask(marked)
        told = self.types.get(name)
        spelled = spelling_in(column, self.na) if told in (None, "number", "count") else None
        if spelled is not None:
            return self._spelled(column, name, spelled, bool(marked.any())), None
        present = int(column.notna().sum())
        numeric = int(pd.to_numeric(column, errors="coerce").notna().sum()) / max(1, present)
        column = column.map(str, na_action="ignore")
        counts = {str(level): int(n) for level, n in column.value_counts().items()}
        spellings = one_spelling(counts) if len(counts) <= 5 * MOST_LABELS and not self.has_order(name) else {}
        if spellings:
            column = column.replace(spellings)
            pairs = ", ".join(f"{odd!r} as {usual!r}" for odd, usual in sorted(spellings.items())[:3])
            self._single.append(f"column {name!r} spells some levels in several ways: {pairs} were read alike.")
        labels = sorted(column.dropna().unique())
        if told is None:
            trouble = self._why_no_category(column, name, len(labels), numeric)
            if trouble is not None:
                if trouble:
                    self._texts.append(trouble)
                return None, None
        if marked.any():
            self._done.setdefault("markers", []).append(name)
        return self._levels(column, name, labels, ordered=False)

    def _spelled(self, column: pd.Series[Any], name: Hashable, spelled: Spelling, marked: bool) -> FloatArray | None:
        """A column of numbers that are written out, in the decimal mark that it shows or else in that of the table."""
        decimal = next(iter(spelled.marks)) if len(spelled.marks) == 1 else self.decimal
        if len(spelled.marks) > 1 or (decimal is None and spelled.unsure is not None):
            why = (
                f"has cells such as {_shortened(spelled.unsure)}, where the mark may stand for thousands or decimals"
                if spelled.unsure is not None
                else "has decimal points and decimal commas"
            )
            if len(spelled.marks) > 1:
                remedy = "write numbers as 1234.5, or leave it out"
            else:
                remedy = f"decimal='.' reads {_read_as(spelled, '.')}, decimal=',' reads {_read_as(spelled, ',')}"
            self._texts.append(f"column {name!r} {why}: {remedy}.")
            return None
        texts = "".join(map(str, column.dropna().unique()))
        values = to_numbers(column, decimal or ".", self.na)
        grouped = ("." if decimal == "," else ",") in texts or re.search(r"\d[ \u00a0\u202f\u2009'’]\d", texts)
        spelling: Outcome = "marks" if grouped else "commas" if "," in texts else "markers" if marked else "spelled"
        if spelled.unit:
            self._single.append(f"column {name!r} holds numbers in {spelled.unit}, read without the unit.")
        else:
            self._done.setdefault(spelling, []).append(name)
        if _rounded(column, values):
            self._done.setdefault("rounded", []).append(name)
        return blanked(values, self.numbers)

    def _levels(
        self, column: pd.Series[Any], name: Hashable, labels: Sequence[Hashable], ordered: bool
    ) -> tuple[FloatArray | None, ColumnKind | None]:
        """Places of the cells among the levels."""
        if len(labels) == 1:
            self._texts.append(f"column {name!r} is constant (every value is {labels[0]!r}): leave it out.")
            return None, None
        if self.has_order(name):
            told = self._told(name, list(map(str, labels)), list(map(str, self.types[name])))
            if told is None:
                return None, None
            labels, ordered = told, True
        elif self.types.get(name) == "ordinal" and not ordered:
            scale = known_order(list(map(str, labels)))
            if scale is None:
                levels = ", ".join(repr(str(label)) for label in labels)
                self._texts.append(
                    f"column {name!r} is to be ordinal, and the order of its levels is not known: put them from low to "
                    f"high, types={{{name!r}: [{levels}]}}."
                )
                return None, None
            labels, ordered = scale, True
            self._single.append(f"The levels of {name!r} are in the order {' < '.join(scale)}.")
        place = {str(label): float(k) for k, label in enumerate(labels)}
        codes = column.astype(object).map(lambda cell: place[str(cell)], na_action="ignore")
        return _floats(pd.to_numeric(codes)), from_labels(labels, ordered)

    def has_order(self, name: Hashable) -> bool:
        """Whether the user gives the levels of a column."""
        told = self.types.get(name)
        return told is not None and not isinstance(told, str)

    def ordered(self, values: FloatArray, name: Hashable) -> tuple[FloatArray | None, ColumnKind | None]:
        """Places of numbers among the levels that the user gives; the numbers themselves where those ascend."""
        present = ~np.isnan(values)
        distinct, which = np.unique(values[present], return_inverse=True)
        spelled = [label_of(value) for value in distinct]
        labels = self._told(name, spelled, list(map(label_of, self.types[name])))
        if labels is None or labels == spelled:
            return (None if labels is None else values), None
        places = np.full(len(values), np.nan)
        places[present] = np.array([labels.index(label) for label in spelled], dtype=np.float64)[which]
        return places, from_labels(labels, ordered=True)

    def _told(self, name: Hashable, labels: list[str], told: list[str]) -> list[str] | None:
        """Labels in the order that the user gives; None, and a sentence, where that is no order of them."""
        absent = [label for label in labels if label not in told]
        twice = [level for k, level in enumerate(told) if level in told[:k]]
        if absent:
            self._texts.append(f"types gives levels for {name!r}, but {listed(absent)} is not among them.")
        if twice:
            self._texts.append(f"types gives {listed(twice)} among the levels of {name!r} more than once.")
        return None if absent or twice else [level for level in told if level in labels]

    def _why_no_category(self, column: pd.Series[Any], name: Hashable, distinct: int, numeric: float) -> str | None:
        """A sentence where words are not levels; an empty one for a column that labels the rows."""
        rows = int(column.notna().sum())
        value, row = _first_text(column)
        shown = f"column {name!r} holds text, first {_shortened(value)} in row {row}"
        if numeric >= 0.5:
            return (
                f"{shown}, among numbers: na=[{_shortened(value)}] makes it missing, "
                f"types={{{name!r}: 'categorical'}} makes all of them levels."
            )
        if distinct <= max(2, min(MOST_LABELS, rows // ROWS_PER_LABEL)):
            return None
        odd = odd_measures(column.dropna().unique())
        if odd is not None:
            return (
                f"column {name!r} holds {odd}, first {_shortened(value)} in row {row}: write one number in each cell."
            )
        if rows >= FEWEST_ROWS and distinct >= DISTINCT_SHARE * rows:
            self._done.setdefault("id", []).append(name)
            return ""
        return (
            f"{shown}, and has {distinct} distinct ones in {rows} rows, too many for a category: leave it out, or "
            f"insist (types={{{name!r}: 'categorical'}})."
        )


INFERRED = dict.fromkeys(("integer", "floating", "mixed-integer-float", "decimal", "empty"), "number")
INFERRED |= dict.fromkeys(("datetime", "datetime64", "date", "time", "timedelta", "timedelta64", "period"), "date")
INFERRED |= {"boolean": "boolean", "complex": "complex"}


def storage(column: pd.Series[Any]) -> str:
    """How a column is stored: number, boolean, date, category, complex, nested or text."""
    dtype, types = column.dtype, pd.api.types
    if isinstance(dtype, pd.CategoricalDtype):
        return "category"
    if types.is_bool_dtype(dtype):
        return "boolean"
    if types.is_complex_dtype(dtype):
        return "complex"
    if types.is_numeric_dtype(dtype):
        return "number"
    if types.is_datetime64_any_dtype(dtype) or isinstance(dtype, pd.PeriodDtype) or types.is_timedelta64_dtype(dtype):
        return "date"
    inferred = types.infer_dtype(column.dropna(), skipna=True)
    if inferred in INFERRED:
        return INFERRED[inferred]
    if inferred == "mixed" and any(isinstance(cell, list | dict | set | np.ndarray) for cell in column):
        return "nested"
    first, _ = _first_text(column)
    return "date" if isinstance(first, str) and LOOKS_LIKE_A_DATE.match(first) else "text"


def _read_as(spelled: Spelling, decimal: str) -> str:
    """The number that an unsure cell is with a decimal mark."""
    return f"{to_numbers(pd.Series([spelled.unsure]), decimal, ())[0]:g}"


def _floats(column: pd.Series[Any]) -> FloatArray:
    return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))


def _counts_rows(values: FloatArray, name: Hashable) -> bool:
    """Whether a column is a row's number or key: all whole, all distinct, and called so."""
    if len(values) < FEWEST_ROWS or not LOOKS_LIKE_AN_ID.fullmatch(str(name)):
        return False
    return bool((values == np.round(values)).all()) and len(np.unique(values)) == len(values)


def _to_numeric(column: pd.Series[Any]) -> pd.Series[Any] | None:
    """Objects that are numbers; None where a whole number is beyond all floats."""
    try:
        return pd.to_numeric(column.map(float, na_action="ignore"))
    except OverflowError:
        return None


def _rounded(column: pd.Series[Any], values: FloatArray) -> bool:
    """Whether whole numbers have lost digits."""
    if str(column.dtype).lower().startswith("float"):
        return False
    large = np.flatnonzero(np.abs(values) > LARGEST_EXACT)
    for k in large:
        digits = re.sub(r"[\s.,'’]", "", str(column.iloc[k]))
        if re.fullmatch(r"[-+]?\d+", digits) and np.isfinite(values[k]) and int(values[k]) != int(digits):
            return True
    return False


def _first_text(column: pd.Series[Any]) -> tuple[object, int]:
    """First value that is not a number, and its row counted from 1."""
    strange = pd.to_numeric(column.astype(object), errors="coerce").isna() & column.notna()
    row = int(np.argmax(strange.to_numpy())) if strange.any() else 0
    return column.iloc[row], row + 1


def _subject(names: list[Hashable], singular: str, plural: str) -> str:
    one = len(names) == 1
    return f"column{'' if one else 's'} {listed(names)} {singular if one else plural}"


def _shortened(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
