"""``-`` in place of a file: the table comes from standard input."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from precede.errors import OptionError

STANDARD_INPUT = "-"


@contextmanager
def as_file(data: str) -> Iterator[str]:
    """The path to read: the one given, or a temporary file that holds what standard input sends."""
    if data != STANDARD_INPUT:
        yield data
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "standard input"
        if sys.stdin is None:
            raise OptionError("standard input is closed: send a table to it, as in 'precede check - < data.csv'.")
        path.write_bytes(sys.stdin.buffer.read())
        yield str(path)
