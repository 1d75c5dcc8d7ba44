"""Reading files: CSV in its many dialects and encodings, Excel, and Parquet."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import warnings
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from precede.data.checks import check_column_names
from precede.data.columns import decimal_of
from precede.data.numbers import spells_number
from precede.errors import DataError, did_you_mean, listed, refusing
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
CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
"""Characters that no text has; an escape may stand in a name, which is then shown escaped."""

SMALL_FILE = 2**23
"""Bytes up to which a file may unpack from any size."""

LONGEST_HEADER = 2**25
"""Bytes of a first line that are read before it is called none."""

FIRST_EXACT_PANDAS = (3, 1)
"""Reads every number as the nearest float without being asked; earlier versions have an option for it."""

MOST_EXPANSION = 200
"""Times its own size that a compressed file may unpack to."""

MOST_CELLS = 20_000_000
"""Of a sheet, empty ones included."""

LARGE_TABLE = 2**27
"""Bytes of numbers up to which a Parquet file may hold any number of rows."""

MOST_TEXTS = 50_000_000
"""Cells of text in a Parquet file, where a dictionary keeps the same ones in next to no space."""

EXCEL_ERRORS = ("#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!")


class FileRead(NamedTuple):
    """What was read from a file.

    Parameters
    ----------
    frame : DataFrame
    remarks : list of str
        What was done to it, a sentence each.
    decimal : str or None
        The decimal mark of the whole file; None where nothing tells.
    delimiter : str
        What divides the cells; empty where the file is no text.
    """

    frame: pd.DataFrame
    remarks: list[str]
    decimal: str | None
    delimiter: str = ""


def read_file(path: Path, na: Collection[str], decimal: str | None = None) -> FileRead:
    """Read a CSV, Excel or Parquet file, told apart by their first bytes; ``na`` are texts for missing values.

    Any trouble is a :class:`DataError`. ``decimal`` is the mark of cells that can be read either way.
    """
    if path.is_dir():
        raise DataError(f"{str(path)!r} is a directory: name a file in it.")
    try:
        with path.open("rb") as file:
            head = _head(file)
        packed = head.startswith(GZIP)
        if packed:
            _check_expansion(path)
            with gzip.open(path) as unpacked:
                head = _head(unpacked)
    except DataError:
        raise
    except FileNotFoundError:
        raise DataError(f"there is no file {str(path)!r}{_files_like(path)}") from None
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise DataError(f"{str(path)!r} cannot be read: {_reason(error)}.") from None
    if head.startswith((PARQUET, ZIP)):
        frame, said = _read_parquet(path) if head.startswith(PARQUET) else _read_excel(path)
        return FileRead(frame, said, decimal or decimal_of(frame, na))
    for magic, kind in OTHER_FORMATS.items():
        if head.startswith(magic):
            raise DataError(f"{path.name} is {kind}: save the table as CSV, Excel (.xlsx) or Parquet.")
    return _read_csv(path, head, packed, na, decimal)


def _head(file: IO[bytes] | gzip.GzipFile) -> bytes:
    """The first bytes of a file, as many as it takes to have its first line and some more."""
    head = file.read(SAMPLE_BYTES)
    while head.count(b"\n") < 2 and len(head) < LONGEST_HEADER and head[:2] not in (GZIP, PARQUET[:2], ZIP[:2]):
        more = file.read(len(head))
        if not more:
            break
        head += more
    return head


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


@contextmanager
def _readable(path: Path, article: str, kind: str, needs: str) -> Iterator[None]:
    """Say in a sentence what keeps a library from reading a file."""
    try:
        yield
    except DataError:
        raise
    except ImportError:
        raise DataError(f"{path.name} is {article} {kind} file, which needs {needs}.") from None
    except Exception as error:  # what a damaged file makes openpyxl, zipfile and pyarrow raise has no common class
        raise DataError(f"{path.name} is not a readable {kind} file: {_reason(error)}.") from None


def _read_excel(path: Path) -> tuple[pd.DataFrame, list[str]]:
    """The first sheet of a workbook, checked as a CSV file is."""
    with _readable(path, "an", "Excel", "openpyxl: install precede[excel]"), path.open("rb") as file:
        import openpyxl  # type: ignore[import-untyped]

        with zipfile.ZipFile(file) as archive:
            size = sum(part.file_size for part in archive.infolist())
        if size > max(MOST_EXPANSION // 2 * path.stat().st_size, SMALL_FILE):
            raise DataError(_too_large(path, f"unpacks to {size:,} bytes, over {MOST_EXPANSION // 2} times its size"))
        with closing(openpyxl.load_workbook(file, read_only=True, data_only=True)) as book:
            sheets = list(book.sheetnames)
            rows = _sheet_rows(path, book[sheets[0]])
    if not rows:
        raise DataError(f"{path.name} is empty.")
    width = max(map(len, rows))
    header, *body = ([*row, *[None] * (width - len(row))] for row in rows)
    names = ["" if name is None else str(name).strip() for name in header]
    _check_header(path, names)
    frame = pd.DataFrame(body, columns=names, dtype=object).infer_objects()
    frame, said = _without_counter(path, frame)
    if len(sheets) > 1:
        said.append(f"{path.name}: the first sheet, {sheets[0]!r}, was read, {listed(sheets[1:])} not.")
    return frame, said


def _sheet_rows(path: Path, sheet: Any) -> list[list[object]]:
    """The cells of a sheet, up to the last row that has some; a few cells far away are refused before memory is."""
    sheet.reset_dimensions()  # what the file says of its size need not be true
    rows: list[list[object]] = []
    width = last = 0
    for row in sheet.iter_rows(values_only=True):
        cells = [None if cell in EXCEL_ERRORS else cell for cell in row]
        while cells and cells[-1] is None:
            cells.pop()
        rows.append(cells)
        if cells:
            width, last = max(width, len(cells)), len(rows)
        if last * width > MOST_CELLS:
            span = f"reaches over {last:,} rows and {width:,} columns ({last * width:,} cells, at most {MOST_CELLS:,})"
            raise DataError(_too_large(path, span))
    return [cells for cells in rows[:last] if cells]


def _too_large(path: Path, why: str) -> str:
    return f"{path.name} {why}: keep only the table in it, or save a part of its rows and columns as CSV."


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


def _read_parquet(path: Path) -> tuple[pd.DataFrame, list[str]]:
    with _readable(path, "a", "Parquet", "pyarrow: install precede[tables]"):
        from pyarrow import parquet

        _check_parquet_size(path, parquet.read_metadata(path))
        frame = pd.read_parquet(path)
    _check_header(path, [str(name).strip() for name in frame.columns])
    said = []
    index = [name for name in frame.index.names if name is not None]
    if index:
        said.append(f"{path.name}: the index {listed(index)} was read as a column.")
        frame = frame.reset_index(level=index)
    if not isinstance(frame.index, pd.RangeIndex):
        said.append(f"{path.name}: the index has no name and labels the rows, so it was left out.")
        frame = frame.reset_index(drop=True)
    return frame, said


def _check_parquet_size(path: Path, about: Any) -> None:
    """Refuse what would take all memory, by what the file says of itself."""
    rows, columns, size = about.num_rows, about.num_columns, path.stat().st_size
    texts = rows * sum(about.schema.column(k).physical_type == "BYTE_ARRAY" for k in range(columns))
    memory = 8 * rows * columns + 8 * texts  # a text takes a pointer and some letters
    if memory > max(MOST_EXPANSION * size, LARGE_TABLE) or texts > MOST_TEXTS:
        words = f", {texts:,} cells of them texts," if texts else ""
        also = ", or texts as numbers" if texts else ""
        raise DataError(
            f"{path.name} holds {rows:,} rows of {columns:,} columns{words} in {size:,} bytes, which would take over "
            f"{memory / 1e9:.1f} GB: save a part of its rows and columns first{also}."
        )


def _read_csv(path: Path, head: bytes, packed: bool, na: Collection[str], decimal: str | None) -> FileRead:
    encoding, text = _decoded(path, head)
    if not text.strip():
        raise DataError(f"{path.name} is empty.")
    lines = list(io.StringIO(text.lstrip(), newline=""))  # other characters that end lines may stand in a name
    delimiter = _delimiter(lines)
    with refusing(csv.Error, DataError, f"{path.name} is not a well-formed table:"):
        header, *rows = _cut(lines, delimiter)
    header = [name.strip() for name in header]
    if rows and len(rows[0]) == len(header) + 1:  # as R writes row names: without a name of their own
        header = ["", *header]
    _check_header(path, header)
    dialect = {
        "sep": r"\s+" if delimiter == " " else delimiter, "names": header, "encoding": encoding,
        "na_values": list(na), "compression": "gzip" if packed else None,
    }  # fmt: skip
    try:
        frame = _parse(path, **dialect)
    except UnicodeDecodeError:  # further down than the sample goes
        dialect["encoding"] = encoding = "latin-1"
        frame = _parse(path, **dialect)
    mark = decimal or decimal_of(frame, na)
    if mark != ".":  # the dots of numbers may then stand between thousands
        texts = _parse(path, dtype=str, **dialect)
        mark = decimal or decimal_of(texts, na)
        for k, name in enumerate(header if mark != "." else ()):
            dotted = texts.iloc[:, k].str.contains(".", regex=False).any()
            if dotted and pd.api.types.is_numeric_dtype(frame.dtypes.iloc[k]):
                frame[name] = texts.iloc[:, k]
    frame, said = _without_counter(path, frame)
    if encoding in ("cp1252", "latin-1"):
        odd = "the text is not UTF-8 and was read as Latin-1 (Windows-1252): check names with accents."
        said = [f"{path.name}: {odd}", *said]
    return FileRead(frame, said, mark, delimiter)


def _without_counter(path: Path, frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The frame without a first column that has no name and counts the rows; any other without a name is refused."""
    if frame.columns[0] != "":
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


def _decoded(path: Path, head: bytes) -> tuple[str, str]:
    """Encoding and text of the first bytes; what is neither UTF nor plausible Latin-1 is refused."""
    if head.startswith(UTF16_MARKS):
        return "utf-16", head[: len(head) // 2 * 2].decode("utf-16", errors="ignore")
    if b"\0" in head:
        for encoding, zeros in (("utf-16-le", head[1::2]), ("utf-16-be", head[::2])):
            if zeros.count(0) > 0.9 * len(zeros):
                return encoding, head[: len(head) // 2 * 2].decode(encoding, errors="ignore")
    for encoding in ("utf-8-sig", "cp1252", "latin-1"):  # the last reads anything
        with suppress(UnicodeDecodeError):
            whole = len(head) < SAMPLE_BYTES  # else the last character may be cut in two
            text = codecs.getincrementaldecoder(encoding)().decode(head, whole)
            break
    if CONTROL.search(text):
        raise DataError(f"{path.name} is not a text file: save the table as CSV, Excel (.xlsx) or Parquet.")
    return encoding, text


def _delimiter(lines: list[str]) -> str:
    """The delimiter that cuts the header and the rows below it alike, into most fields; whitespace where none does."""
    best, most = ",", (False, False, False, 0)
    for mark in (*DELIMITERS, " "):
        with suppress(csv.Error):
            header, *rows = _cut(lines, mark)
            width = len(header)
            fitting = sum(len(row) in (width, width + 1) for row in rows[:-1]) >= 0.9 * len(rows[:-1])
            best, most = max((best, most), (mark, (width > 1, fitting, mark != " ", width)), key=lambda found: found[1])
    return best if most[0] else ","


def _cut(lines: list[str], delimiter: str) -> list[list[str]]:
    """The first records of a file: the header and a few rows."""
    if delimiter == " ":
        lines = [re.sub(r"[ \t]+", " ", line.strip(" \t\r\n")) for line in lines]
    records = islice(csv.reader(lines, delimiter=delimiter, skipinitialspace=True), 20)
    return [record for record in records if record]


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


def _parse(path: Path, **dialect: Any) -> pd.DataFrame:
    if tuple(map(int, pd.__version__.split(".")[:2])) < FIRST_EXACT_PANDAS:
        dialect["float_precision"] = "round_trip"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            warnings.simplefilter("ignore", pd.errors.DtypeWarning)  # mixed columns are refused later, by name
            frame: pd.DataFrame = pd.read_csv(
                path, header=0, index_col=False, skipinitialspace=True, keep_default_na=False, **dialect
            )
            return frame
    except UnicodeDecodeError:
        raise
    except pd.errors.ParserWarning:
        raise DataError(
            f"{path.name} has lines with more fields than its header has names ({len(dialect['names'])})."
        ) from None
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
