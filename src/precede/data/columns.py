"""Columns of a table into numbers: words become the places of their levels, what cannot be used is named."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from precede.arrays import FloatArray
from precede.data import numbers
from precede.data.kinds import Types, from_labels, known_order, label_of, one_spelling
from precede.errors import listed, typed
from precede.kinds import ColumnKind
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


def frame_to_columns(frame: pd.DataFrame, types: Types, na: Collection[str], decimal: str | None = ".") -> Columns:
    """Convert a DataFrame to float64, as a view where it already is one block of it and nothing has to change.

    Parameters
    ----------
    frame : DataFrame
    types : mapping
        What the user says about columns, by name.
    na : collection of str
        Texts that stand for a missing value.
    decimal : str or None
        The decimal mark of the whole table; None where nothing tells.

    Examples
    --------
    >>> frame = pd.DataFrame({"a": [1.0, 2.0], "b": [-999.0, 5.0]})
    >>> frame_to_columns(frame, {}, ["-999"]).values
    array([[ 1., nan],
           [ 2.,  5.]])
    """
    reader = _Reader(types, na, decimal)
    plain = frame.to_numpy() if all(dtype == np.dtype(np.float64) for dtype in frame.dtypes) else None
    names, arrays = list[Hashable](), list[FloatArray]()
    stated: dict[int, ColumnKind] = {}
    for k, name in enumerate(frame.columns):
        reader.turn_to(name)
        array, kind = reader.read(frame.iloc[:, k]) if plain is None else reader.numeric(plain[:, k])
        if array is not None:
            if kind is not None:
                stated[len(names)] = kind
            names.append(name)
            arrays.append(array)
    if plain is not None and len(names) == plain.shape[1] and all(np.may_share_memory(plain, own) for own in arrays):
        values = plain
    else:
        values = np.empty((len(frame), len(names)), dtype=np.float64, order="F")
        for k, array in enumerate(arrays):
            values[:, k] = array
    return Columns(values, tuple(names), stated, reader.said(refused=False), reader.said(refused=True))


def decimal_of(frame: pd.DataFrame, na: Collection[str]) -> str | None:
    """The decimal mark of the texts of a frame; None where they show both, or where none tells."""
    texts = [k for k, dtype in enumerate(frame.dtypes) if str(dtype) in ("object", "str")]
    return numbers.decimal_mark(spelling_in(frame.iloc[:, k], numbers.markers_of(na, frame.columns[k])) for k in texts)


def spelling_in(column: pd.Series[Any], na: Collection[str]) -> numbers.Spelling | None:
    """How a column writes its numbers; None where a cell is none."""
    try:
        return numbers.spelling_of(column.dropna().unique(), na)
    except TypeError:  # lists and the like
        return None


Alike = Literal["id", "markers", "commas", "marks", "spelled", "rounded", "date", "complex"]

SAID: dict[Alike, str] = {
    "id": "{labels|label} the rows, so {it was|they were} left out",
    "markers": "had texts that stand for missing values",
    "commas": "{was|were} read with decimal commas",
    "marks": "had marks between thousands, {which were |}read as such",
    "rounded": "{has|have} whole numbers of more than 15 digits, which were rounded",
    "spelled": "held numbers as text, and {was|were} read as numbers",
    "date": "{holds|hold} dates: leave {it|them} out, or turn {it|them} into numbers such as days since a start",
    "complex": "{holds|hold} complex numbers: take real and imaginary parts",
}
"""What is said of {one column|several at once}."""

REFUSED = ("date", "complex")

Read = tuple[FloatArray | None, ColumnKind | None]
"""A column as numbers (None where it is not used), and its kind where that is told from its type."""


def _agreed(words: str, number: int) -> str:
    """Words such as ``{it was|they were}`` in the form that one thing, or several, ask for."""
    return re.sub(r"\{(.*?)\|(.*?)\}", r"\1" if number == 1 else r"\2", words)


class _Reader:
    """Reads column after column, and remembers what to say about them."""

    def __init__(self, types: Types, na: Collection[str], decimal: str | None) -> None:
        self.types, self.decimal, self._all_na = types, decimal, frozenset(na)
        self._alike: dict[Alike, list[Hashable]] = {}
        self._notes: list[str] = []
        self._problems: list[str] = []

    def turn_to(self, name: Hashable) -> None:
        """Go on with the column of this name."""
        self.name, self.told, self.na = name, self.types.get(name), numbers.markers_of(self._all_na, name)
        self.has_order = self.told is not None and not isinstance(self.told, str)

    def said(self, refused: bool) -> list[str]:
        """What was done to the columns, or why others cannot be used: first what holds for several at once."""
        together = [
            f"column{'' if len(names) == 1 else 's'} {listed(names)} {_agreed(SAID[what], len(names))}."
            for what, names in self._alike.items()
            if (what in REFUSED) == refused
        ]
        return together + (self._problems if refused else self._notes)

    def _say(self, what: Alike) -> Read:
        self._alike.setdefault(what, []).append(self.name)
        return None, None

    def _refuse(self, problem: str) -> Read:
        self._problems.append(problem)
        return None, None

    def read(self, column: pd.Series[Any]) -> Read:
        """Read a column of any type."""
        match storage(column):
            case "boolean" if self.has_order:
                return self._levels(column, [False, True], ordered=True)
            case "boolean":
                return _floats(column), from_labels((False, True), ordered=True)
            case "number":
                try:
                    exact = column if column.dtype != object else pd.to_numeric(column.map(float, na_action="ignore"))
                except OverflowError:
                    return self._refuse(f"column {self.name!r} has whole numbers beyond 1e308: give it another unit.")
                values = _floats(exact)
                if _rounded(column, values):
                    self._say("rounded")
                return self.numeric(values)
            case "category":
                labels = column.cat.remove_unused_categories().cat.categories
                return self._levels(column, list(labels), bool(column.cat.ordered))
            case "date" | "complex" as trouble:
                return self._say(trouble)
            case "nested":
                return self._refuse(f"column {self.name!r} holds lists or the like in its cells: leave it out.")
            case _:
                return self._text(column)

    def numeric(self, values: FloatArray) -> Read:
        """A column of numbers: the same array where nothing has to change."""
        values = numbers.blanked(values, self.na)
        if self.has_order:
            return self._ordered(values)
        if self.told is None and LOOKS_LIKE_AN_ID.fullmatch(str(self.name)) and all_distinct(values):
            return self._say("id")
        return values, None

    def _text(self, column: pd.Series[Any]) -> Read:
        column = column.astype(object).reset_index(drop=True)
        stripped = column.map(lambda cell: cell.strip() if isinstance(cell, str) else cell)
        marked = stripped.isin(self.na)
        if marked.any():
            column = stripped.mask(marked)
        spelled = spelling_in(column, self.na) if self.told in (None, "number", "count") else None
        if spelled is not None:
            return self._spelled(column, spelled, bool(marked.any()))
        present = int(column.notna().sum())
        numeric = int(pd.to_numeric(column, errors="coerce").notna().sum()) / max(1, present)
        column = column.map(str, na_action="ignore")
        counts = {str(level): int(n) for level, n in column.value_counts().items()}
        spellings = one_spelling(counts) if len(counts) <= 5 * MOST_LABELS and not self.has_order else {}
        if spellings:
            column = column.replace(spellings)
            pairs = ", ".join(f"{odd!r} as {usual!r}" for odd, usual in sorted(spellings.items())[:3])
            self._notes.append(f"column {self.name!r} spells some levels in several ways: {pairs} were read alike.")
        labels = sorted(column.dropna().unique())
        if self.told is None and (numeric >= 0.5 or len(labels) > max(2, min(MOST_LABELS, present // ROWS_PER_LABEL))):
            return self._no_category(column, len(labels), numeric >= 0.5)
        if marked.any():
            self._say("markers")
        return self._levels(column, labels, ordered=False)

    def _spelled(self, column: pd.Series[Any], spelled: numbers.Spelling, marked: bool) -> Read:
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
                read = [
                    f"{typed('decimal', mark)} reads {numbers.number_of(str(spelled.unsure), mark):g}"
                    for mark in (".", ",")
                ]
                remedy = ", ".join(read)
            return self._refuse(f"column {self.name!r} {why}: {remedy}.")
        texts = "".join(map(str, column.dropna().unique()))
        values = numbers.to_numbers(column, decimal or ".", self.na)
        grouped = ("." if decimal == "," else ",") in texts or re.search(rf"\d{numbers.GROUP}\d", texts)
        if spelled.unit:
            self._notes.append(f"column {self.name!r} holds numbers in {spelled.unit}, read without the unit.")
        else:
            self._say("marks" if grouped else "commas" if "," in texts else "markers" if marked else "spelled")
        if _rounded(column, values):
            self._say("rounded")
        return numbers.blanked(values, self.na), None

    def _levels(self, column: pd.Series[Any], labels: Sequence[Hashable], ordered: bool) -> Read:
        """Places of the cells among the levels."""
        if len(labels) == 1:
            return self._refuse(f"column {self.name!r} is constant (every value is {labels[0]!r}): leave it out.")
        if self.has_order:
            told = self._in_order(list(map(str, labels)), str)
            if told is None:
                return None, None
            labels, ordered = told, True
        elif self.told == "ordinal" and not ordered:
            scale = known_order(list(map(str, labels)))
            if scale is None:
                return self._refuse(
                    f"column {self.name!r} is to be ordinal, and the order of its levels is not known: put them from "
                    f"low to high, {typed('types', {self.name: [*map(str, labels)]})}."
                )
            labels, ordered = scale, True
            self._notes.append(f"The levels of {self.name!r} are in the order {' < '.join(scale)}.")
        place = {str(label): float(k) for k, label in enumerate(labels)}
        codes = column.astype(object).map(lambda cell: place[str(cell)], na_action="ignore")
        return _floats(pd.to_numeric(codes)), from_labels(labels, ordered)

    def _ordered(self, values: FloatArray) -> Read:
        """Places of numbers among the levels that the user gives; the numbers themselves where those ascend."""
        present = ~np.isnan(values)
        distinct, which = np.unique(values[present], return_inverse=True)
        spelled = [label_of(value) for value in distinct]
        labels = self._in_order(spelled, label_of)
        if labels is None or labels == spelled:
            return (None if labels is None else values), None
        places = np.full(len(values), np.nan)
        places[present] = np.array([labels.index(label) for label in spelled], dtype=np.float64)[which]
        return places, from_labels(labels, ordered=True)

    def _in_order(self, labels: list[str], called: Callable[[Hashable], str]) -> list[str] | None:
        """Labels in the order that the user gives; None, and a sentence, where that is no order of them."""
        told = [called(level) for level in self.told or ()]
        absent = [label for label in labels if label not in told]
        twice = [level for k, level in enumerate(told) if level in told[:k]]
        if absent:
            self._refuse(f"types gives levels for {self.name!r}, but {listed(absent)} is not among them.")
        if twice:
            self._refuse(f"types gives {listed(twice)} among the levels of {self.name!r} more than once.")
        return None if absent or twice else [level for level in told if level in labels]

    def _no_category(self, column: pd.Series[Any], distinct: int, among_numbers: bool) -> Read:
        """Words that are no levels: they label the rows, or a sentence says why they cannot be used."""
        rows = int(column.notna().sum())
        value, row = _first_text(column)
        shown = f"column {self.name!r} holds text, first {_shortened(value)} in row {row}"
        insist = typed("types", {self.name: "categorical"})
        if among_numbers:
            return self._refuse(
                f"{shown}, among numbers: {typed('na', [str(value)[:40]])} makes it missing, {insist} makes all of "
                "them levels."
            )
        odd = numbers.odd_measures(column.dropna().unique())
        if odd is not None:
            holds = f"column {self.name!r} holds {odd}, first {_shortened(value)} in row {row}"
            return self._refuse(f"{holds}: write one number in each cell.")
        if rows >= FEWEST_ROWS and distinct >= DISTINCT_SHARE * rows:
            return self._say("id")
        return self._refuse(
            f"{shown}, and has {distinct} distinct ones in {rows} rows, too many for a category: leave it out, or "
            f"insist ({insist})."
        )


INFERRED = dict.fromkeys(("integer", "floating", "mixed-integer-float", "decimal", "empty"), "number")
INFERRED |= dict.fromkeys(("datetime", "datetime64", "date", "time", "timedelta", "timedelta64", "period"), "date")
INFERRED |= {"boolean": "boolean", "complex": "complex", "categorical": "category"}


def storage(column: pd.Series[Any]) -> str:
    """How a column is stored: number, boolean, date, category, complex, nested or text."""
    inferred = pd.api.types.infer_dtype(column.dropna(), skipna=True)
    if inferred in INFERRED:
        return INFERRED[inferred]
    if inferred == "mixed" and any(isinstance(cell, list | dict | set | np.ndarray) for cell in column):
        return "nested"
    first, _ = _first_text(column)
    return "date" if isinstance(first, str) and LOOKS_LIKE_A_DATE.match(first) else "text"


def all_distinct(values: FloatArray) -> bool:
    """Whether numbers are whole, each another one, and enough of them to say that they count or label the rows."""
    whole = len(values) >= FEWEST_ROWS and np.array_equal(values, np.round(values))
    return whole and len(np.unique(values)) == len(values)


def _floats(column: pd.Series[Any]) -> FloatArray:
    return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))


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


def _shortened(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
