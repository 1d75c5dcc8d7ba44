"""Small files that ask for all memory: each must end in one sentence, with exit code 2, soon and in little memory.

    OMP_NUM_THREADS=1 python benchmarks/bombs.py [--megabytes 500] [--seconds 5]

Each file is given to ``precede check`` in a process of its own; its largest resident size and its processor time are
printed. Exit code 1 where one is read, takes more than that, or ends without a sentence.
"""

from __future__ import annotations

import argparse
import gzip
import io
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq

ROW = b"<row><c><v>1</v></c><c><v>2</v></c></row>"


def workbook(path: Path, rows: Callable[[], bytes] | None = None) -> None:
    """A workbook of four cells, with other rows where they are given."""
    book = openpyxl.Workbook()
    for row in (["a", "b"], [1, 2]):
        book.active.append(row)
    if rows is None:
        book.active["XFD1048576"] = 1
        book.save(path)
        return
    plain = io.BytesIO()
    book.save(plain)
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = old.read(name)
            if name.endswith("sheet1.xml"):
                content = content.replace(b"</sheetData>", rows() + b"</sheetData>")
            new.writestr(name, content)


def far_cell(path: Path) -> None:
    workbook(path.with_suffix(".xlsx"))


def two_million_rows(path: Path) -> None:
    workbook(path.with_suffix(".xlsx"), lambda: ROW * 2_000_000)


def many_far_cells(path: Path) -> None:
    """A cell in the last column of every thousandth row: not one row is large."""
    cells = b"".join(b'<row r="%d"><c r="XFD%d"><v>1</v></c></row>' % (k, k) for k in range(1000, 1_048_000, 1000))
    workbook(path.with_suffix(".xlsx"), lambda: cells)


def constant_rows(path: Path) -> None:
    """600 million rows of one constant."""
    group = pa.table({"a": np.ones(10_000_000, np.int8)})
    with pq.ParquetWriter(path.with_suffix(".parquet"), group.schema, compression="zstd") as writer:
        for _ in range(60):
            writer.write_table(group)


def repeated_texts(path: Path) -> None:
    """100 million texts of 300 kinds, in some 15 MB."""
    kinds = np.array([f"a text of no use, number {k}" for k in range(300)])
    rng = np.random.default_rng(0)
    schema = pa.schema([("a", pa.string())])
    with pq.ParquetWriter(path.with_suffix(".parquet"), schema, compression="zstd") as writer:
        for _ in range(50):  # runs of some ten equal ones
            places = np.repeat(rng.integers(len(kinds), size=200_000), 10)
            column = pa.DictionaryArray.from_arrays(pa.array(places, pa.int32()), pa.array(kinds))
            writer.write_table(pa.table({"a": column.cast(pa.string())}, schema))


def packed_zeros(path: Path) -> None:
    with gzip.open(path.with_suffix(".gz"), "wb", 9) as file:
        file.write(b"a,b\n")
        for _ in range(500):
            file.write(b"0,0\n" * 2**20)


def endless_line(path: Path) -> None:
    """A first line without an end."""
    with gzip.open(path.with_suffix(".gz"), "wb", 9) as file:
        for _ in range(500):
            file.write(b"a" * 2**22)


BOMBS = (far_cell, two_million_rows, many_far_cells, constant_rows, repeated_texts, packed_zeros, endless_line)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=500.0)
    parser.add_argument("--seconds", type=float, default=5.0)
    given = parser.parse_args()
    failed = 0
    for make in BOMBS:
        with tempfile.TemporaryDirectory() as top:
            make(Path(top) / make.__name__)
            path = next(Path(top).iterdir())
            command = [sys.executable, "-m", "precede", "check", str(path)]
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            assert process.stderr is not None
            said = process.stderr.read().decode().strip()
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            seconds, megabytes = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
            fine = process.returncode == 2 and "Traceback" not in said and said.endswith(".")
            fine = fine and seconds <= given.seconds and megabytes <= given.megabytes
            failed += not fine
            size = path.stat().st_size
            print(f"{make.__name__:18} {size:>10,} bytes: {seconds:5.2f} s, {megabytes:4.0f} MB  {said}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
