"""Results on disk, one JSON line per cell, written as each cell finishes.

A folder holds three files. ``cells.jsonl`` has what a cell found and depends on nothing but its settings: at the end of
a run it is sorted by cell, so that a run that was killed and continued leaves the same bytes as one that was not.
``times.jsonl`` has what differs from run to run: seconds, device, and which run it was. ``runs.jsonl`` says of each run
what command, commit, machine and date it had. Where a cell is recorded twice, the later line counts.
"""

import os
import platform
import subprocess
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any, NotRequired, Self

import numpy as np
import torch
from pydantic import StringConstraints
from typing_extensions import TypedDict

from precede.errors import OptionError, PrecedeError, refusing
from precede.files import append_line, cut_torn_line, folder_lock, write_text
from precede.strict_json import JsonObject, checked, parsed, to_json


def provenance(command: str, jobs: int, device: str | None) -> JsonObject:
    """Describe a run, JSON-ready; ``run`` names it within its folder."""
    now = datetime.now(UTC)
    uses_gpu = device != "cpu" and torch.cuda.is_available()
    return {
        "run": f"{now:%Y%m%dT%H%M%S.%f}-{os.getpid()}",
        "command": command,
        "commit": commit(),
        "date": f"{now:%Y-%m-%d %H:%M} UTC",
        "cpu": cpu_name(),
        "cores": os.cpu_count() or 1,
        "gpu": torch.cuda.get_device_name(0) if uses_gpu else None,
        "jobs": jobs,
        "versions": {"python": platform.python_version(), "torch": torch.__version__, "numpy": np.__version__},
    }


def commit() -> str:
    """Commit of the code that runs, with "+" where the code differs from it; "unknown" outside a repository.

    A copy of a commit that lies elsewhere, or in another repository, is told by the environment variable
    ``PRECEDE_COMMIT``.
    """
    if told := os.environ.get("PRECEDE_COMMIT"):
        return told
    here = Path(__file__).parent
    name = _git(here, "rev-parse", "--short", "HEAD")
    if not name:
        return "unknown"
    return name + ("+" if _git(here, "status", "--porcelain", "--", str(here.parent)) else "")


def _git(folder: Path, *words: str) -> str:
    try:
        done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def cpu_name() -> str:
    """Name of the processor."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def sentence(run: JsonObject) -> str:
    """Say it in a line.

    Examples
    --------
    >>> sentence({"command": "precede reproduce sachs", "commit": "abc", "date": "2026-11-15 12:00 UTC", "cpu": "a CPU",
    ...           "cores": 2, "gpu": None, "jobs": 2})
    '`precede reproduce sachs`, commit abc, 2026-11-15 12:00 UTC, a CPU (2 cores, 2 at work)'
    """
    gpu = f", {run['gpu']}" if run["gpu"] else ""
    return (
        f"`{run['command']}`, commit {run['commit']}, {run['date']}, "
        f"{run['cpu']} ({run['cores']} cores, {run['jobs']} at work){gpu}"
    )


Record = JsonObject

CELLS, TIMES, RUNS = "cells.jsonl", "times.jsonl", "runs.jsonl"

Key = Annotated[str, StringConstraints(pattern="^[^/]+/[^/]+/[0-9]+$")]
"""Data, method and seed."""


class SettingsLine(TypedDict):
    """What a record says of how its cell was run."""

    data: JsonObject
    estimator: str
    options: JsonObject
    seed: int
    max_time: NotRequired[float | None]


class CellLine(TypedDict):
    """What every line of ``cells.jsonl`` says, among other things."""

    key: Key
    settings: SettingsLine
    metrics: dict[str, float | None]
    error: NotRequired[str | None]


class TimesLine(TypedDict):
    """What every line of ``times.jsonl`` says."""

    key: Key
    seconds: float


class RunLine(TypedDict):
    """What every line of ``runs.jsonl`` says."""

    run: str


SHAPES: Mapping[str, Any] = {CELLS: CellLine, TIMES: TimesLine, RUNS: RunLine}


def read_lines(path: Path) -> list[Record]:
    """Read JSON lines; a torn last line, left by a killed run, is not read."""
    if not path.exists():
        return []
    *whole, _torn = path.read_bytes().split(b"\n")
    records: list[Record] = []
    for number, line in enumerate(whole, start=1):
        try:
            records.append(checked(parsed(line, "it"), SHAPES.get(path.name, CellLine), "it"))
        except OptionError as error:
            what = f"line {number} of {path} is not a record of a ledger"
            raise PrecedeError(f"{what} ({str(error).rstrip('.')}): remove it and start again.") from error
    return records


def by_key(records: Iterable[Record]) -> dict[str, Record]:
    """Index by cell; the later of two lines counts."""
    return {record["key"]: record for record in records}


def as_line(record: Mapping[str, Any]) -> str:
    return to_json(record, sort_keys=True)


class Ledger:
    """The result files of one experiment, open for one run at a time; a context manager.

    Parameters
    ----------
    folder : Path
        Made when it is not there.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as name:
    ...     settings = {"data": {}, "estimator": "eqvar", "options": {}, "seed": 0}
    ...     with Ledger(Path(name)) as ledger:
    ...         cell = {"key": "er2/eqvar/0", "metrics": {"shd": 0}, "settings": settings}
    ...         ledger.add(cell, {"key": "er2/eqvar/0", "seconds": 0.1})
    ...     read_lines(Path(name) / CELLS)[0]["metrics"]
    {'shd': 0}
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> Self:
        with refusing(OSError, OptionError, f"out={str(self.folder)!r} cannot be written to:"):
            self.folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            stack.enter_context(folder_lock(self.folder))
            for name in (CELLS, TIMES, RUNS):
                if (self.folder / name).exists():
                    cut_torn_line(self.folder / name)
            self.cells = by_key(read_lines(self.folder / CELLS))
            self._lock = stack.pop_all()
        return self

    def start(self, command: str, jobs: int = 1, device: str | None = None) -> str:
        """Say under what command, commit, machine and date the cells to come are run; the name of the run."""
        run = provenance(command, jobs, device)
        append_line(self.folder / RUNS, as_line(run))
        return str(run["run"])

    def add(self, cell: Record, times: Mapping[str, Any]) -> None:
        """Record a finished cell: its times first, so that a cell that counts as finished always has them."""
        append_line(self.folder / TIMES, as_line(times))
        append_line(self.folder / CELLS, as_line(cell))
        self.cells[cell["key"]] = cell

    def merge(self, other: Path, adopt: Callable[[Record], Record | None]) -> int:
        """Take over results of another folder; returns the number of cells.

        Parameters
        ----------
        other : Path
        adopt : callable
            A cell of the other folder as it is to stand in this one; None leaves it out.
        """
        found = by_key(read_lines(other / CELLS))
        if not found:
            raise OptionError(f"merge={str(other)!r} holds no results: it takes a folder with a {CELLS} in it.")
        adopted = {key: cell for key, record in found.items() if (cell := adopt(record)) is not None}
        times = [
            {**record, "key": adopted[record["key"]]["key"]}
            for record in by_key(read_lines(other / TIMES)).values()
            if record["key"] in adopted
        ]
        used = {record.get("run") for record in times}
        runs = [run for run in read_lines(other / RUNS) if run["run"] in used]
        for name, records in ((RUNS, runs), (TIMES, times), (CELLS, list(adopted.values()))):
            known = {as_line(record) for record in read_lines(self.folder / name)}
            for record in records:
                if as_line(record) not in known:
                    append_line(self.folder / name, as_line(record))
        self.cells |= by_key(adopted.values())
        return len(adopted)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            for name in (CELLS, TIMES):
                rewrite_sorted(self.folder / name)


def rewrite_sorted(path: Path) -> None:
    """Sort by cell, the earlier of two records first; the new file takes the old one's place at once.

    No record is ever changed or dropped.
    """
    lines = dict.fromkeys((place(record["key"]), as_line(record)) for record in read_lines(path))
    if lines:
        write_text(path, "".join(line + "\n" for _, line in sorted(lines, key=lambda found: found[0])))


def place(key: str) -> tuple[str, int]:
    """Where a cell stands in a sorted file: seeds by number."""
    row, _, seed = key.rpartition("/")
    return row, int(seed)
