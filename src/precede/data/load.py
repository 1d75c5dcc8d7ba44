"""Loading: DataFrame, array, polars, CSV or Parquet into one checked matrix with names."""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Hashable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

import numpy as np

from precede.arrays import BoolArray, IntArray
from precede.data import checks
from precede.data.columns import Columns, decimal_of, frame_to_columns
from precede.data.copies import monotone_copies, without_tied_columns
from precede.data.interventions import read_targets, remark_on_targets
from precede.data.kinds import Types, kinds_of, remark_on
from precede.data.lags import chosen_lags, with_lags
from precede.data.numbers import NA_MARKERS
from precede.data.read import read_file
from precede.data.table import Table, filled_table
from precede.errors import DataError, OptionError, check_choice, joined, listed, refusing, typed, unknown_column
from precede.lazy import pandas as pd

logger = logging.getLogger("precede")

__all__ = ["Table", "load_table"]

MISSING_CHOICES = ("em", "pairwise", "drop", "impute", "refuse")
DONE = {
    "em": "they were imputed from the other columns",
    "pairwise": "linear scores use covariances of the rows in which both are present, other steps see draws",
    "impute": "they were replaced by the column's mean, which weakens edges and can make false ones",
}


def load_table(
    source: Any,
    missing: str = "em",
    leave_out: str | Sequence[Hashable] = (),
    types: Types | None = None,
    na: str | Collection[str] = NA_MARKERS,
    interventions: Any = None,
    lags: int | Literal["auto"] = 0,
    group: str | Sequence[Hashable] | None = None,
    decimal: str | None = None,
) -> Table:
    """Check and label a data set.

    Parameters
    ----------
    source : DataFrame, (n_samples, n_variables) array, polars frame, pyarrow table, or path
        A path is a CSV file (any of the usual delimiters and encodings, gzip too), Excel or Parquet file. Integers and
        booleans become floats, words the places of their levels. Never modified; a float64 array is not copied.
    missing : "em", "pairwise", "drop", "impute" or "refuse"
        What becomes of missing values. "em": linear scores get the covariance that EM estimates from all that is
        there, others see cells drawn from what the rest of their row says, the non-Gaussian one also from the graph
        that it learns; ``bootstrap`` draws them anew each time.
        "pairwise": the same, with each covariance from the rows where both columns are there. "drop" costs a row for
        each, with lags also those that look back at it, "impute" fills in the column's mean, "refuse" is an error.
    leave_out : name or sequence of names
        Columns that are not looked at. A name may be a pattern, such as "gene_*"; a column's own name is never read as
        one.
    types : mapping, optional
        Kinds of columns by name, where the data would be taken otherwise: "number", "count", "ordinal", "binary",
        "categorical", or a list of the levels of an ordinal column from low to high.
    na : str or collection of str
        Texts that stand for a missing value. One that is a number ("-999") stands for it in columns of numbers, too;
        "age=-1" does so in that column alone.
    interventions : column name, sequence or matrix, optional
        Which variables were set in which rows, whatever their causes: the name of a column (which is then no variable),
        a sequence with the name or names for each row (nothing where nothing was set), or a matrix of 0 and 1. Where it
        is not known what was set, leave the column in the table and say that it is a root (``Knowledge(roots=...)``).
    lags : int or "auto"
        For rows in sequence: put the columns of this many earlier steps beside those of each row. "auto" takes as many
        as help to predict the next row, at most five (:func:`precede.data.lags.chosen_lags`).
    group : column name or sequence, optional
        With lags, whose row each is (a panel): steps do not cross from one to another. The column is then no variable.
    decimal : "." or ",", optional
        The decimal mark of cells that can be read either way, such as ``1,234``; without it, what other cells show.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        A sentence for each problem, which names the column: missing or infinite values, dates, text that is no
        category, constant, duplicate or exactly collinear columns, duplicate names, too few rows or columns, and
        unreadable files.

    Examples
    --------
    >>> table = load_table(pd.DataFrame({"a": [1, 2, 4], "b": [True, False, False]}))
    >>> table.values
    array([[1., 1.],
           [2., 0.],
           [4., 0.]])
    >>> [str(kind) for kind in table.kinds]
    ['number', 'binary']
    >>> load_table(pd.DataFrame({"a": [1, 2, 4], "b": [5, 5, 5]}))
    Traceback (most recent call last):
        ...
    precede.errors.DataError: column 'b' is constant (every value is 5): leave it out.
    """
    check_choice("missing", missing, MISSING_CHOICES)
    if decimal is not None:
        check_choice("decimal", decimal, (".", ","))
    leave_out = [leave_out] if isinstance(leave_out, str) else list(leave_out)  # an Index has no truth value
    types = {} if types is None else dict(types)
    na = [na] if isinstance(na, str) else list(map(str, na))
    if isinstance(source, Table):  # checked before
        return _in_steps(_with_targets(_chosen(source, leave_out, types), interventions), lags, group)
    path: Path | None = None
    remarks: list[str] = []
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        source, remarks, decimal, _ = read_file(path, na, decimal)
        for remark in remarks:
            logger.warning(remark)  # nobody asked for it
    else:
        source = _as_frame(source)
        decimal = decimal or decimal_of(source, na)
    try:
        source, targets = _split(source, interventions, "interventions")
        source, group = _split(source, group, "group")
        checks.check_column_names(tuple(source.columns))
        if leave_out:  # before the columns are looked at
            source = source.iloc[:, _kept(tuple(source.columns), leave_out)]
        columns = frame_to_columns(source, types, na, decimal)
        table, kept = _table(columns, missing, _left_out(leave_out), types)
        table = replace(table, remarks=(*remarks, *table.remarks))
        return _in_steps(_with_targets(table, _of_rows(targets, kept)), lags, _of_rows(group, kept))
    except DataError as error:
        if path is None:
            raise
        raise DataError(f"{path.name}: {error}") from None


def _split(frame: pd.DataFrame, column: Any, option: str) -> tuple[pd.DataFrame, Any]:
    """The data without a column that is not a variable, and that column; what is not a name is left as it is."""
    if not isinstance(column, str):
        return frame, column
    if column not in frame.columns:
        raise unknown_column(option, column, frame.columns)
    return frame.drop(columns=column), frame[column].tolist()


def _of_rows(labels: Any, kept: BoolArray) -> Any:
    """Labels of the rows that were kept, where there is one for each row; others are left to be refused."""
    if labels is None or isinstance(labels, str) or kept.all() or len(labels) != len(kept):
        return labels
    if isinstance(labels, np.ndarray | pd.DataFrame | pd.Series):
        return labels[kept]
    return [label for label, stays in zip(labels, kept, strict=True) if stays]


def _in_steps(table: Table, lags: int | Literal["auto"], group: Any) -> Table:
    if lags == 0:
        if group is not None:
            raise OptionError("group is for rows in sequence: give lags=... as well.")
        return table
    if lags == "auto":
        lags = chosen_lags(table, group)
        if lags == 0:
            remark = "No earlier row helps to predict the next one, so no lags were added."
            return replace(table, remarks=(*table.remarks, remark))
    return with_lags(table, lags, group)


def _with_targets(table: Table, interventions: Any) -> Table:
    if interventions is None:
        return table
    if isinstance(interventions, str):
        raise DataError(f"interventions={interventions!r}: name the column when the table is read.")
    targets = read_targets(interventions, table.n_samples, table.names)
    if not targets.any():
        return table
    return replace(table, targets=targets, remarks=(*table.remarks, remark_on_targets(targets, table.names)))


def _table(columns: Columns, missing: str, left_out: list[str], types: Types) -> tuple[Table, BoolArray]:
    """The table, and which rows of the source are in it."""
    values, names, notes = columns.values, columns.names, [*columns.notes, *left_out]
    if not columns.problems:
        labels = any("label" in note for note in notes)
        checks.check_size(values, names, " once columns that label the rows are left out" if labels else "")
    absent = np.sum([np.isnan(block).sum(axis=0) for block in checks.row_blocks(values)], axis=0)
    problems = [*columns.problems, *checks.value_problems(values, names)]
    if absent.any() and missing == "refuse":
        problems.append(
            f"{absent.sum()} of the {values.size} values are missing, in {_where(names, absent)}: "
            f"{typed('missing', 'em')} allows for them, {typed('missing', 'drop')} leaves out their rows."
        )
    if problems:
        numbered = [f"({k}) {problem.removesuffix('.')}" for k, problem in enumerate(problems, 1)]
        raise DataError(problems[0] if len(problems) == 1 else f"{len(problems)} problems: {'; '.join(numbered)}.")
    gappy = bool(absent.any())
    kept: BoolArray = np.ones(len(values), dtype=bool)
    if gappy and missing == "drop":
        kept = np.asarray(~np.isnan(values).any(axis=1))
        values, m = values[kept], len(values)
        notes.append(f"{m - kept.sum()} of {m} rows were dropped for missing values in {_where(names, absent)}.")
        checks.check_size(values, names, " once the rows with missing values are dropped")
    elif gappy:
        if missing != "impute" and len(values) <= values.shape[1]:
            raise DataError(
                f"{absent.sum()} of the {values.size} values are missing, in {_where(names, absent)}, and there are no "
                f"more rows ({len(values)}) than columns ({values.shape[1]}), too few to say what belongs there: "
                f"{typed('missing', 'impute')} takes the column's mean, {typed('missing', 'drop')} leaves out their "
                "rows."
            )
        checks.check_gaps(values, names)
        notes += checks.remarks_on_gaps(values, names, DONE[missing])
        values = np.where(np.isnan(values), np.nanmean(values, axis=0), values) if missing == "impute" else values
    kinds = kinds_of(values, names, columns.stated, types)
    labeled = all(isinstance(name, str) for name in names)
    table = Table(values.view(), names, labeled, kinds=kinds, rows=None if kept.all() else np.flatnonzero(kept))
    table = without_tied_columns(table)
    notes += table.remarks
    if gappy and missing in ("em", "pairwise"):
        table = filled_table(table, missing)
    table.values.flags.writeable = False
    names, kinds = table.names, table.kinds
    checks.check_values(table.values, names, kinds)
    notes += remark_on(names, kinds)
    notes += [
        f"Columns {names[i]!r} and {names[j]!r} rise and fall together exactly, as a number and its rank do: nothing "
        "tells a direction between them."
        for i, j in np.argwhere(np.triu(monotone_copies(table)))
    ]
    for note in notes:
        logger.info(note)
    return replace(table, remarks=tuple(notes)), kept


def _as_frame(source: Any) -> pd.DataFrame:
    """Any accepted object as a frame, copying at most once."""
    if isinstance(source, pd.DataFrame):
        return source
    if type(source).__module__.partition(".")[0] in ("polars", "pyarrow"):
        return _columnar_frame(source)
    if hasattr(source, "toarray"):
        raise DataError("the data is a sparse matrix: pass its .toarray().")
    if hasattr(source, "detach"):  # a torch tensor
        source = source.detach().cpu()
    if isinstance(source, np.ma.MaskedArray):
        source = np.ma.filled(source.astype(float), np.nan)
    with refusing((TypeError, ValueError), DataError, "the data cannot be read as a matrix:"):
        array = np.asarray(source)
    if array.dtype.names is not None:
        raise DataError("the data is a structured array: pass pandas.DataFrame(data).")
    if array.ndim != 2:
        raise DataError(
            f"the data must be a table with rows and columns; this {type(source).__name__} "
            f"has {array.ndim} dimension{'' if array.ndim == 1 else 's'}."
        )
    if array.dtype.kind not in "fiub":
        return pd.DataFrame(array).infer_objects()
    return pd.DataFrame(array.astype(np.float64, copy=False), copy=False)


def _kept(names: tuple[Hashable, ...], leave_out: Sequence[Hashable]) -> list[int]:
    """Places of the columns that stay."""
    out: set[int] = set()
    for name in leave_out:
        found = {k for k, column in enumerate(names) if column == name}
        found = found or {k for k, column in enumerate(names) if fnmatchcase(str(column), str(name))}
        if not found:
            raise unknown_column("leave_out", name, names)
        out |= found
    return [k for k in range(len(names)) if k not in out]


def _left_out(names: Sequence[Hashable]) -> list[str]:
    return [f"Left out as asked: {listed(names, 20)}."] if names else []


def _chosen(table: Table, leave_out: Sequence[Hashable], types: Types) -> Table:
    """A checked table with fewer columns, or with other kinds of columns."""
    if leave_out:
        kept = _kept(table.names, leave_out)
        checks.check_size(table.values[:, kept], tuple(table.names[k] for k in kept), " once columns are left out")
        table = table.with_columns(kept)
        table = replace(table, remarks=(*table.remarks, *_left_out(leave_out)))
    if types:
        table = replace(table, kinds=kinds_of(table.values, table.names, dict(enumerate(table.kinds)), types))
    return table


def _columnar_frame(source: Any) -> pd.DataFrame:
    """Put a polars or pyarrow table into pandas, column by column and without copies where it can be."""
    if hasattr(source, "collect"):  # a polars LazyFrame
        source = source.collect()
    if hasattr(source, "column_names"):  # a pyarrow Table
        checks.check_column_names(tuple(source.column_names))
        return source.to_pandas()  # type: ignore[no-any-return]
    if not hasattr(source, "get_columns"):
        raise DataError(f"a {type(source).__name__} is one variable: pass a table of several columns.")
    return pd.DataFrame({name: source[name].to_numpy() for name in source.columns}, copy=False)


def _where(names: tuple[Hashable, ...], absent: IntArray) -> str:
    """The columns with missing values, with how many each."""
    gappy = np.flatnonzero(absent)
    return f"column{'' if len(gappy) == 1 else 's'} {joined(f'{names[k]!r} ({absent[k]})' for k in gappy)}"
