"""Reading files: CSV in its many dialects and encodings, Excel, and Parquet."""

from __future__ import annotations

import csv
import gzip
import re
import warnings
import zlib
from collections.abc import Collection, Hashable
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from precede.arrays import FloatArray
from precede.data.checks import check_column_names
from precede.data.markers import spells_number
from precede.errors import DataError, did_you_mean, listed
from precede.lazy import pandas as pd

DELIMITERS = ",;\t|"
SAMPLE_BYTES = 2**16
GZIP, PARQUET, ZIP = b"\x1f\x8b", b"PAR1", b"PK\x03\x04"
OTHER_FORMATS = {
    b"\xd0\xcf\x11\xe0": "an old Excel file",
    b"\x89HDF": "an HDF5 file",
    b"\x93NUMPY": "a NumPy file",
    b"%PDF": "a PDF",
}
TABLE_ENDINGS = (".csv", ".tsv", ".txt", ".xlsx", ".parquet", ".gz")
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
DOTS_BETWEEN_THOUSANDS = re.compile(r"[-+]?\d{1,3}(\.\d{3})+,\d+")
CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
"""Characters that no text has; an escape may stand in a name, which is then shown escaped."""

SMALL_FILE = 2**23
"""Bytes up to which a CSV file of nothing but numbers may be read without pandas, whose import would take longer."""

LARGEST_WHOLE = 2.0**63
"""Whole numbers that pandas stores as such are smaller."""

FIRST_EXACT_PANDAS = (3, 1)
"""Reads every number as the nearest float without being asked; earlier versions have an option for it."""

MOST_EXPANSION = 200
"""Times its own size that a compressed file may unpack to."""


class Numbers(NamedTuple):
    """A file that holds nothing but numbers: a float64 matrix (n_samples, n_variables), and the names."""

    values: FloatArray
    names: tuple[Hashable, ...]


@overload
def read_file(path: Path, na: Collection[str], quick: Literal[False] = False) -> tuple[pd.DataFrame, list[str]]: ...


@overload
def read_file(path: Path, na: Collection[str], quick: bool) -> tuple[pd.DataFrame | Numbers, list[str]]: ...


def read_file(path: Path, na: Collection[str], quick: bool = False) -> tuple[pd.DataFrame | Numbers, list[str]]:
    """Read a CSV, Excel or Parquet file, told apart by their first bytes; ``na`` are texts for missing values.

    Returns the table and remarks about what was done to it; any trouble is a :class:`DataError`. ``quick`` spares
    pandas where a small file holds nothing but numbers.
    """
    if path.is_dir():
        raise DataError(f"{str(path)!r} is a directory: name a file in it.")
    try:
        with path.open("rb") as file:
            head = file.read(SAMPLE_BYTES)
        packed = head.startswith(GZIP)
        if packed:
            with gzip.open(path) as unpacked:
                head = unpacked.read(SAMPLE_BYTES)
            _check_expansion(path)
    except FileNotFoundError:
        raise DataError(f"there is no file {str(path)!r}{_files_like(path)}") from None
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise DataError(f"{str(path)!r} cannot be read: {_reason(error)}.") from None
    if head.startswith(PARQUET):
        return _read_parquet(path), []
    if head.startswith(ZIP):
        return _read_excel(path)
    for magic, kind in OTHER_FORMATS.items():
        if head.startswith(magic):
            raise DataError(f"{path.name} is {kind}: save the table as CSV, Excel (.xlsx) or Parquet.")
    return _read_csv(_TextFile(path, packed, na, quick), head)


def _files_like(path: Path) -> str:
    """What to type instead of a name that is not there: a file beside it, or where to look."""
    folder = path.parent
    try:
        names = sorted(other.name for other in folder.iterdir() if other.is_file())
    except OSError:
        return f": there is no folder {str(folder)!r} either."
    hint = did_you_mean(path.name, names)
    tables = [name for name in names if name.lower().endswith(TABLE_ENDINGS)]
    beside = f"; the tables there are {listed(tables)}." if tables else f", nor any table in {str(folder.resolve())!r}."
    return f":{hint}" if hint else beside


def _read_excel(path: Path) -> tuple[pd.DataFrame, list[str]]:
    """The first sheet of a workbook."""
    try:
        with pd.ExcelFile(path, engine="openpyxl") as book:
            sheets = list(map(str, book.sheet_names))
            frame = pd.read_excel(book, sheet_name=sheets[0])
    except ImportError:
        raise DataError(f"{path.name} is an Excel file, which needs openpyxl: install precede[excel].") from None
    except Exception as error:  # what a damaged workbook makes openpyxl and zipfile raise has no common class
        raise DataError(f"{path.name} is not a readable Excel file: {_reason(error)}.") from None
    frame.columns = pd.Index([str(name).strip() for name in frame.columns])
    other = (
        []
        if len(sheets) == 1
        else [f"{path.name}: the first sheet, {sheets[0]!r}, was read, {listed(sheets[1:])} not."]
    )
    return frame, other


def _check_expansion(path: Path) -> None:
    """Refuse a small file that unpacks to a huge one, piece by piece, before anything of that size is made."""
    most = max(MOST_EXPANSION * path.stat().st_size, SMALL_FILE)
    size = 0
    with gzip.open(path) as unpacked:
        while piece := unpacked.read(2**20):
            size += len(piece)
            if size > most:
                raise DataError(
                    f"{path.name} unpacks to more than {MOST_EXPANSION} times its size, which no table of measurements "
                    "does: if it is meant so, unpack it first."
                )


def _read_parquet(path: Path) -> pd.DataFrame:
    try:
        frame = pd.read_parquet(path)
    except ImportError:
        raise DataError(f"{path.name} is a Parquet file, which needs pyarrow: install precede[tables].") from None
    except Exception as error:  # damaged notes of pandas in a file make pyarrow raise anything
        raise DataError(f"{path.name} is not a readable Parquet file: {_reason(error)}.") from None
    return frame


class _TextFile(NamedTuple):
    """A file of text: whether it is packed, texts that stand for missing values, and whether pandas may be spared."""

    path: Path
    packed: bool
    na: Collection[str]
    quick: bool


def _read_csv(file: _TextFile, head: bytes) -> tuple[pd.DataFrame | Numbers, list[str]]:
    path = file.path
    encoding, text = _decoded(path, head)
    try:
        return _read_text(file, text, encoding)
    except UnicodeDecodeError:  # further down than the sample goes
        frame, remarks = _read_text(file, text, "latin-1")
        return frame, [*remarks, _odd_encoding(path)]


def _odd_encoding(path: Path) -> str:
    return f"{path.name}: the text is not UTF-8 and was read as Latin-1 (Windows-1252): check names with accents."


def _read_text(file: _TextFile, text: str, encoding: str) -> tuple[pd.DataFrame | Numbers, list[str]]:
    path = file.path
    said = [_odd_encoding(path)] if encoding == "cp1252" else []
    if not text.strip():
        raise DataError(f"{path.name} is empty.")
    delimiter = _delimiter(text.lstrip().splitlines()[0])
    header, *rows = _records(path, text, delimiter)
    header = [name.strip() for name in header]
    if rows and len(rows[0]) == len(header) + 1:  # as R writes row names: without a name of their own
        header = ["", *header]
    _check_header(path, header)
    dots = delimiter != "," and any(DOTS_BETWEEN_THOUSANDS.fullmatch(cell.strip()) for row in rows for cell in row)
    decimal = "," if dots or (delimiter == ";" and _decimal_commas(rows)) else "."
    if file.quick and header[0] and rows and not file.packed and path.stat().st_size <= SMALL_FILE:
        values = _parse_numbers(path, delimiter, encoding)
        if values is not None and values.shape[1] == len(header):
            return Numbers(values, tuple(header)), said
    frame = _parse(
        file, sep=r"\s+" if delimiter == " " else delimiter, names=header, decimal=decimal,
        thousands="." if dots else None, encoding=encoding,
    )  # fmt: skip
    if header[0] != "":
        return frame, said
    first = frame.iloc[:, 0]
    count = np.arange(len(frame))
    if pd.api.types.is_integer_dtype(first) and any(np.array_equal(first, count + start) for start in (0, 1)):
        remark = f"{path.name}: the first column has no name and only counts the rows, so it was left out."
        return frame.iloc[:, 1:], [*said, remark]
    raise DataError(
        f"the first column of {path.name} has no name and does not just count the rows: name it in the header, "
        "or remove it if it labels the rows."
    )


def _decoded(path: Path, head: bytes) -> tuple[str, str]:
    """Encoding and text of the first bytes; what is neither UTF nor plausible Latin-1 is refused."""
    if head.startswith(UTF16_MARKS):
        return "utf-16", head[: len(head) // 2 * 2].decode("utf-16", errors="ignore")
    if b"\0" in head:
        for encoding, zeros in (("utf-16-le", head[1::2]), ("utf-16-be", head[::2])):
            if zeros.count(0) > 0.9 * len(zeros):
                return encoding, head[: len(head) // 2 * 2].decode(encoding, errors="ignore")
    try:
        encoding, text = "utf-8-sig", head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if len(head) == SAMPLE_BYTES and error.start >= len(head) - 4:  # a character cut in two
            encoding, text = "utf-8-sig", head[: error.start].decode("utf-8-sig")
        else:
            encoding, text = "cp1252", head.decode("latin-1")
            try:
                text = head.decode("cp1252")
            except UnicodeDecodeError:
                encoding = "latin-1"
    if CONTROL.search(text):
        raise DataError(f"{path.name} is not a text file: save the table as CSV, Excel (.xlsx) or Parquet.")
    return encoding, text


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
        check_column_names(tuple(header))
    except DataError as error:
        raise DataError(f"{path.name}: {error}") from None
    counted = [[str(k + start) for k in range(len(header))] for start in (0, 1)]
    if all(map(spells_number, header)) and header not in counted:
        raise DataError(
            f"the first line of {path.name} holds numbers ({', '.join(header[:3])}, ...), not names: "
            "add a line of names."
        )


def _parse_numbers(path: Path, delimiter: str, encoding: str) -> FloatArray | None:
    """The lines below the header; None where a cell is not plainly a number, which is for pandas to judge."""
    try:
        header, *lines = (line for line in path.read_text(encoding).split("\n") if line.strip())
        if not lines or '"' in header:  # a quoted header can go on in the next line
            return None
        values = np.loadtxt(lines, delimiter=None if delimiter == " " else delimiter, comments=None, ndmin=2)
    except UnicodeDecodeError:
        raise
    except ValueError:
        return None
    if not (np.abs(values) < LARGEST_WHOLE).all():  # nan is a text that may stand for a missing value, or not
        return None
    return np.asfortranarray(values)  # as pandas lays out its columns, so that sums round alike


def _parse(file: _TextFile, *, names: list[str], **dialect: Any) -> pd.DataFrame:
    path, header = file.path, names
    if _pandas_version() < FIRST_EXACT_PANDAS:
        dialect["float_precision"] = "round_trip"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            warnings.simplefilter("ignore", pd.errors.DtypeWarning)  # mixed columns are refused later, by name
            frame: pd.DataFrame = pd.read_csv(
                path,
                header=0,
                names=header,
                index_col=False,
                skipinitialspace=True,
                na_values=list(file.na),
                keep_default_na=False,
                compression="gzip" if file.packed else None,
                **dialect,
            )
            return frame
    except UnicodeDecodeError:
        raise
    except pd.errors.ParserWarning:
        raise DataError(f"{path.name} has lines with more fields than its header has names ({len(header)}).") from None
    except pd.errors.EmptyDataError:
        raise DataError(f"{path.name} is empty.") from None
    except pd.errors.ParserError as error:
        raise DataError(f"{path.name} is not a well-formed table: {_reason(error)}.") from None
    except (OSError, EOFError, ValueError, zlib.error, OverflowError) as error:
        raise DataError(f"{path.name} cannot be read: {_reason(error)}.") from None


def _pandas_version() -> tuple[int, ...]:
    return tuple(map(int, pd.__version__.split(".")[:2]))


def _reason(error: Exception) -> str:
    """The library's own words, on one line and without a full stop."""
    text = getattr(error, "strerror", None) or str(error).removeprefix("Error tokenizing data. C error: ")
    return re.sub(r"\s+", " ", text).strip().rstrip(".")
