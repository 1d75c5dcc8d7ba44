"""Columns of a table into numbers: what kind each one is, and a refusal for what is not a number."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from precede.arrays import FloatArray
from precede.errors import DataError, listed
from precede.lazy import pandas as pd

LOOKS_LIKE_A_DATE = re.compile(r"\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})\b")


def frame_to_matrix(frame: pd.DataFrame) -> tuple[FloatArray, list[str]]:
    """Convert a DataFrame to float64, as a view where it already is one block of it.

    Returns the matrix, and a remark when booleans became 0 and 1.
    """
    kinds = [_kind(frame.iloc[:, k]) for k in range(frame.shape[1])]
    _refuse(frame, kinds)
    booleans = [name for name, kind in zip(frame.columns, kinds, strict=True) if kind == "boolean"]
    notes = [f"{_subject(booleans, 'was', 'were')} boolean and became 0 and 1."] if booleans else []
    if all(dtype == np.dtype(np.float64) for dtype in frame.dtypes):
        return frame.to_numpy(), notes
    values = np.empty(frame.shape, dtype=np.float64, order="F")  # filled column by column: one copy in all
    for k in range(frame.shape[1]):
        column = frame.iloc[:, k]
        if column.dtype == object:
            column = pd.to_numeric(column)
        values[:, k] = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return values, notes


def _kind(column: pd.Series[Any]) -> str:
    """One of number, boolean, date, category, complex, text."""
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
    present = column.dropna()
    inferred = types.infer_dtype(present, skipna=True)
    if inferred in ("integer", "floating", "mixed-integer-float", "decimal", "empty"):
        return "number"
    if inferred == "boolean":
        return "boolean"
    if inferred in ("datetime", "datetime64", "date", "time", "timedelta", "timedelta64", "period"):
        return "date"
    if inferred == "complex":
        return "complex"
    first, _ = _first_text(column)
    return "date" if isinstance(first, str) and LOOKS_LIKE_A_DATE.match(first) else "text"


def _first_text(column: pd.Series[Any]) -> tuple[object, int]:
    """First value that is not a number, and its row counted from 1."""
    strange = pd.to_numeric(column.astype(object), errors="coerce").isna() & column.notna()
    row = int(np.argmax(strange.to_numpy())) if strange.any() else 0
    return column.iloc[row], row + 1


def _refuse(frame: pd.DataFrame, kinds: list[str]) -> None:
    def of(kind: str) -> list[Hashable]:
        return [name for name, k in zip(frame.columns, kinds, strict=True) if k == kind]

    if of("date"):
        raise DataError(
            f"{_subject(of('date'), 'holds', 'hold')} dates: leave them out, or turn them into numbers "
            "such as days since a start."
        )
    if of("category"):
        raise DataError(
            f"{_subject(of('category'), 'is', 'are')} categorical: leave it out, use numbers where the categories "
            "have an order, or 0/1 indicator columns (all but one category)."
        )
    if of("complex"):
        raise DataError(f"{_subject(of('complex'), 'holds', 'hold')} complex numbers: take real and imaginary parts.")
    if of("text"):
        position = kinds.index("text")
        column = frame.iloc[:, position]
        value, row = _first_text(column)
        distinct = column.nunique()
        if isinstance(value, str) and pd.notna(pd.to_numeric(value, errors="coerce")):
            advice = "convert it with pandas.to_numeric"
        elif distinct <= max(2, min(20, len(column) // 2)):
            advice = f"it has {distinct} distinct values, so 0/1 indicator columns may do, or leave it out"
        else:
            advice = "make it numeric (an empty cell counts as missing) or leave it out"
        others = [name for name in of("text") if name != frame.columns[position]]
        also = f" (as does {listed(others)})" if others else ""
        raise DataError(
            f"column {frame.columns[position]!r} holds text{also}, first {_shortened(value)} in row {row}: {advice}."
        )


def _subject(names: Sequence[Hashable], singular: str, plural: str) -> str:
    one = len(names) == 1
    return f"column{'' if one else 's'} {listed(names)} {singular if one else plural}"


def _shortened(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
