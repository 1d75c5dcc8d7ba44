"""The columns of a table as the page shows them: kind, gaps, distinct values, a small histogram, and what is wrong."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from pathlib import Path

import numpy as np

from precede.arrays import FloatArray
from precede.data.columns import frame_to_columns
from precede.data.kinds import kind_of, known_order
from precede.data.load import Table, load_table
from precede.data.numbers import NA_MARKERS, spells_number
from precede.data.read import FileRead, read_file
from precede.data.survey import Survey, survey
from precede.errors import DataError, PrecedeError
from precede.evidence.checks.edge_readings import middle_of
from precede.kinds import ColumnKind
from precede.lazy import pandas as pd
from precede.report.collect import MOST_BARS
from precede.strict_json import JsonObject
from precede.studio.workspace import DataChoice

BINS = 16


def look_at(data: DataChoice) -> JsonObject:
    """Every column, the findings of ``precede check``, and whether the table can be used as it stands."""
    (frame, _, decimal, _), looked = _read(data.path, data.path.stat().st_mtime_ns, data.decimal)
    na = data.loading.get("na", NA_MARKERS)
    table, problem = _table(data, looked)
    kinds = {} if table is None else dict(zip(map(str, table.names), table.kinds, strict=True))
    columns = [_column(frame, place, data, kinds, na, decimal) for place in range(frame.shape[1])]
    return {
        "name": data.path.name,
        "rows": len(frame),
        "columns": columns,
        "reading": data.reading,
        "variables": [] if table is None else [str(name) for name in table.names],
        "findings": [
            {"column": _text(item.column), "sentence": item.sentence, "remedy": item.remedy} for item in looked.findings
        ],
        "problem": problem,
        "suggested": [str(name) for name in looked.reading.get("leave_out", [])],
    }


def suggested(path: Path) -> DataChoice:
    """The data as the command that ``precede check`` prints would read them."""
    return _suggested(path, _read(path, path.stat().st_mtime_ns)[1])


def _suggested(path: Path, looked: Survey) -> DataChoice:
    return DataChoice(path, **looked.reading)


@lru_cache(maxsize=2)
def _read(path: Path, changed: int, decimal: str | None = None) -> tuple[FileRead, Survey]:
    """A file as it is, and what was found in it; read again when it has changed."""
    return read_file(path, NA_MARKERS, decimal), survey(path, decimal)


def _table(data: DataChoice, looked: Survey) -> tuple[Table | None, str | None]:
    """The table as it is read, or why it cannot be used."""
    if looked.table is not None and data == _suggested(data.path, looked):
        return looked.table, None
    try:
        return load_table(data.path, **data.loading), None
    except PrecedeError as error:
        return None, str(error)


def _column(
    frame: pd.DataFrame,
    place: int,
    data: DataChoice,
    kinds: dict[str, ColumnKind],
    na: Collection[str],
    decimal: str | None,
) -> JsonObject:
    series, name = frame.iloc[:, place], str(frame.columns[place])
    values, own = _values(frame.iloc[:, [place]], na, decimal)
    kind = kinds.get(name, own)
    present = values[np.isfinite(values)] if values is not None else np.empty(0)
    words = kind is not None and any(not spells_number(label) for label in kind.labels)
    labels = [] if kind is None or not words else list(kind.labels)
    return {
        "name": name,
        "kind": "text" if kind is None else kind.name,
        "words": words,
        "levels": labels if kind is None or kind.name != "categorical" else known_order(labels) or labels,
        "set": data.types.get(name),
        "left_out": name in data.leave_out,
        "used": name in kinds,
        "missing": int(series.isna().sum()) if values is None else int(np.isnan(values).sum()),
        "distinct": int(series.nunique()),
        "range": [float(present.min()), float(present.max())] if len(present) else None,
        **_bars(present, kind),
    }


def _values(
    frame: pd.DataFrame, na: Collection[str], decimal: str | None
) -> tuple[FloatArray | None, ColumnKind | None]:
    """A column as numbers, and its kind; None where it is words without an end."""
    try:
        read = frame_to_columns(frame, {}, na, decimal)
    except DataError:
        return None, None
    if read.problems or not read.names:
        return None, None
    return read.values[:, 0], read.stated.get(0) or kind_of(read.values[:, 0])


def _bars(present: FloatArray, kind: ColumnKind | None) -> JsonObject:
    """Heights of a small histogram, and what its bars are called where they are levels."""
    if not len(present):
        return {"bars": [], "labels": []}
    if kind is not None and kind.discrete:
        counts = [int((present == level).sum()) for level in kind.levels]
        return {"bars": counts[:MOST_BARS], "labels": list(kind.labels[:MOST_BARS])}
    return {"bars": np.histogram(present, BINS, middle_of(present))[0].tolist(), "labels": []}


def _text(name: object) -> str | None:
    return None if name is None else str(name)
