"""Reading files: CSV in its many dialects, and Parquet."""

from __future__ import annotations

import csv
import gzip
import math
import re
import warnings
import zlib
from collections.abc import Hashable
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from precede.arrays import FloatArray
from precede.data.checks import check_names
from precede.errors import DataError, listed
from precede.lazy import pandas as pd

DELIMITERS = ",;\t|"
SAMPLE_BYTES = 2**16
GZIP, PARQUET = b"\x1f\x8b", b"PAR1"
OTHER_FORMATS = {
    b"PK\x03\x04": "an Excel or zip file",
    b"\xd0\xcf\x11\xe0": "an old Excel file",
    b"\x89HDF": "an HDF5 file",
    b"\x93NUMPY": "a NumPy file",
    b"%PDF": "a PDF",
}
SMALL_FILE = 2**23
"""Bytes up to which a CSV file of nothing but numbers is read without pandas, whose import would take longer."""


class Numbers(NamedTuple):
    """A file that holds nothing but numbers: a float64 matrix (n_samples, n_variables), and the names."""

    values: FloatArray
    names: tuple[Hashable, ...]


def read_file(path: Path) -> tuple[pd.DataFrame | Numbers, list[str]]:
    """Read a CSV or Parquet file, told apart by their first bytes.

    Returns the table and remarks about what was done to it; any trouble is a :class:`DataError`.
    """
    if path.is_dir():
        raise DataError(f"{str(path)!r} is a directory: name a CSV or Parquet file in it.")
    try:
        with path.open("rb") as file:
            head = file.read(SAMPLE_BYTES)
        packed = head.startswith(GZIP)
        if packed:
            with gzip.open(path) as unpacked:
                head = unpacked.read(SAMPLE_BYTES)
    except FileNotFoundError:
        raise DataError(f"there is no file {str(path)!r}.") from None
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise DataError(f"{str(path)!r} cannot be read: {_reason(error)}.") from None
    if head.startswith(PARQUET):
        return _read_parquet(path), []
    for magic, kind in OTHER_FORMATS.items():
        if head.startswith(magic):
            raise DataError(f"{path.name} is {kind}: save the table as CSV or Parquet.")
    if b"\0" in head:
        raise DataError(f"{path.name} is not a text file: save the table as UTF-8 CSV or as Parquet.")
    return _read_csv(path, head, packed)


def _read_parquet(path: Path) -> pd.DataFrame:
    try:
        frame = pd.read_parquet(path)
    except ImportError:
        raise DataError(f"{path.name} is a Parquet file, which needs pyarrow: install precede[tables].") from None
    except (OSError, ValueError) as error:  # what pyarrow raises for a damaged file derives from these
        raise DataError(f"{path.name} is not a readable Parquet file: {_reason(error)}.") from None
    return frame


def _read_csv(path: Path, head: bytes, packed: bool) -> tuple[pd.DataFrame | Numbers, list[str]]:
    text = _decoded(path, head)
    if not text.strip():
        raise DataError(f"{path.name} is empty.")
    delimiter = _delimiter(text.lstrip().splitlines()[0])
    header, *rows = _records(path, text, delimiter)
    header = [name.strip() for name in header]
    if rows and len(rows[0]) == len(header) + 1:  # as R writes row names: without a name of their own
        header = ["", *header]
    _check_header(path, header)
    decimal = "," if delimiter == ";" and _decimal_commas(rows) else "."
    if header[0] and rows and not packed and path.stat().st_size <= SMALL_FILE:
        values = _parse_numbers(path, delimiter)
        if values is not None and values.shape[1] == len(header):
            return Numbers(values, tuple(header)), []
    frame = _parse(path, delimiter, header, decimal, packed)
    if header[0] != "":
        return frame, []
    first = frame.iloc[:, 0]
    count = np.arange(len(frame))
    if pd.api.types.is_integer_dtype(first) and any(np.array_equal(first, count + start) for start in (0, 1)):
        remark = f"{path.name}: the first column has no name and only counts the rows, so it was left out."
        return frame.iloc[:, 1:], [remark]
    raise DataError(
        f"the first column of {path.name} has no name and does not just count the rows: name it in the header, "
        "or remove it if it labels the rows."
    )


def _decoded(path: Path, head: bytes) -> str:
    try:
        return head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if len(head) < SAMPLE_BYTES or error.start < len(head) - 4:  # not just a character cut in two
            raise _encoding_error(path, error) from None
        return head[: error.start].decode("utf-8-sig")


def _encoding_error(path: Path, error: UnicodeDecodeError) -> DataError:
    byte = error.object[error.start]
    return DataError(f"{path.name} is not UTF-8 text (byte 0x{byte:02x} at {error.start}): save it as UTF-8.")


def _delimiter(line: str) -> str:
    """The delimiter that cuts the header into most fields; whitespace where none does."""
    counts = {mark: line.count(mark) for mark in DELIMITERS}
    best = max(counts, key=lambda mark: counts[mark])
    return best if counts[best] else (" " if len(line.split()) > 1 else ",")


def _records(path: Path, text: str, delimiter: str) -> list[list[str]]:
    """The first records of the file: the header and a few rows."""
    lines = text.splitlines(keepends=True)
    if delimiter == " ":
        lines = [re.sub(r"[ \t]+", " ", line.strip()) for line in lines]
    try:
        records = islice(csv.reader(lines, delimiter=delimiter, skipinitialspace=True), 20)
        found = [record for record in records if record]
    except csv.Error as error:
        raise DataError(f"{path.name} is not a well-formed table: {_reason(error)}.") from None
    whole_file = len(text.encode()) < SAMPLE_BYTES - 8
    return found if whole_file or len(found) == 20 or len(found) == 1 else found[:-1]  # the last may be cut


def _decimal_commas(rows: list[list[str]]) -> bool:
    cells = [cell for row in rows for cell in row]
    return any(re.fullmatch(r"[-+]?\d+,\d+", c) for c in cells) and not any(
        re.fullmatch(r"[-+]?\d+\.\d+", c) for c in cells
    )


def _check_header(path: Path, header: list[str]) -> None:
    nameless = [k + 1 for k, name in enumerate(header) if not name and k > 0]
    if nameless:
        raise DataError(f"{path.name}: column {listed(nameless)} has no name: the first line must name every column.")
    try:
        check_names(tuple(header))
    except DataError as error:
        raise DataError(f"{path.name}: {error}") from None
    counted = [[str(k + start) for k in range(len(header))] for start in (0, 1)]
    if all(map(_is_number, header)) and header not in counted:
        raise DataError(
            f"the first line of {path.name} holds numbers ({', '.join(header[:3])}, ...), not names: "
            "add a line of names."
        )


def _is_number(text: str) -> bool:
    try:
        return "_" not in text and not math.isnan(float(text))
    except ValueError:
        return False


def _parse_numbers(path: Path, delimiter: str) -> FloatArray | None:
    """The lines below the header; None where a cell is anything but a number, which is for pandas to judge."""
    try:
        header, *lines = (line for line in path.read_text("utf-8-sig").split("\n") if line.strip())
        if not lines or '"' in header:  # a quoted header can go on in the next line
            return None
        values = np.loadtxt(lines, delimiter=None if delimiter == " " else delimiter, comments=None, ndmin=2)
    except ValueError:
        return None
    return np.asfortranarray(values)  # as pandas lays out its columns, so that sums round alike


def _parse(path: Path, delimiter: str, header: list[str], decimal: str, packed: bool) -> pd.DataFrame:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            warnings.simplefilter("ignore", pd.errors.DtypeWarning)  # mixed columns are refused later, by name
            return pd.read_csv(
                path,
                sep=r"\s+" if delimiter == " " else delimiter,
                header=0,
                names=header,
                index_col=False,
                skipinitialspace=True,
                decimal=decimal,
                encoding="utf-8-sig",
                compression="gzip" if packed else None,
            )
    except UnicodeDecodeError as error:
        raise _encoding_error(path, error) from None
    except pd.errors.ParserWarning:
        raise DataError(f"{path.name} has lines with more fields than its header has names ({len(header)}).") from None
    except pd.errors.EmptyDataError:
        raise DataError(f"{path.name} is empty.") from None
    except pd.errors.ParserError as error:
        raise DataError(f"{path.name} is not a well-formed table: {_reason(error)}.") from None
    except (OSError, EOFError, ValueError, zlib.error, OverflowError) as error:
        raise DataError(f"{path.name} cannot be read: {_reason(error)}.") from None


def _reason(error: Exception) -> str:
    """The library's own words, on one line and without a full stop."""
    text = getattr(error, "strerror", None) or str(error).removeprefix("Error tokenizing data. C error: ")
    return re.sub(r"\s+", " ", text).strip().rstrip(".")
