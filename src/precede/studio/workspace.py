"""The folder of a studio: the data it looks at, and one folder of results for each run."""

from __future__ import annotations

import re
import secrets
import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from precede.errors import OptionError
from precede.files import folder_lock, write_text
from precede.strict_json import JsonObject, checked, read_json, to_json
from precede.studio.messages import AskedRun, ChosenData, Reading, RunEntry, State, StudioRecord, reading_of

RUN_ID = re.compile(r"[0-9]{3,6}")
STUDIO_FILE, RUN_FILE, STOP_FILE = "studio.json", "run.json", ".stop"
ENDINGS = (".csv", ".tsv", ".txt", ".csv.gz", ".xlsx", ".parquet")
"""Files that can be uploaded: those that ``precede.load_table`` reads."""


@dataclass(frozen=True)
class DataChoice:
    """What the runs look at.

    Parameters
    ----------
    path : Path
    reading : dict
        How the file is read, as the user has set it.
    """

    path: Path
    reading: Reading = field(default_factory=Reading)

    def to_dict(self) -> ChosenData:
        """Plain values, as a run keeps them."""
        return {"path": str(self.path), **self.reading}


@dataclass(frozen=True)
class Run:
    """One run: what was asked for, and how it stands.

    Parameters
    ----------
    id : str
    folder : Path
    request : dict
        As the page sent it.
    state : "waiting", "running", "done", "stopped" or "failed"
    created : str
    parent : str or None
        The run whose order it started from.
    seconds : float or None
    error : str or None
        A sentence, where it failed.
    """

    id: str
    folder: Path
    request: JsonObject
    state: State
    created: str
    parent: str | None = None
    seconds: float | None = None
    error: str | None = None

    def to_dict(self) -> RunEntry:
        """Plain values, as run.json holds them and the page reads them."""
        return {
            "format": "precede-studio-run",
            "id": self.id,
            "request": cast(AskedRun, self.request),
            "state": self.state,
            "created": self.created,
            "parent": self.parent,
            "seconds": self.seconds,
            "error": self.error,
        }

    def write(self) -> None:
        """Keep it in the folder."""
        write_text(self.folder / RUN_FILE, to_json(self.to_dict(), indent=1) + "\n")

    @property
    def has_graph(self) -> bool:
        """Whether there are results to show, also of a run that did not come to its end."""
        return (self.folder / "graph.json").is_file()


class Workspace:
    """The folder.

    Parameters
    ----------
    folder : Path
        Made when it is not there.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        try:
            (self.folder / "runs").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OptionError(f"the folder {str(folder)!r} cannot be made: {error.strerror}.") from None
        self.data = self._read_choice()

    # -- data ------------------------------------------------------------------------------------------------------

    def choose(self, data: DataChoice) -> None:
        """Look at these data from now on."""
        self.data = data
        content = {"format": "precede-studio", "version": 1, "data": str(data.path), **data.reading}
        write_text(self.folder / STUDIO_FILE, to_json(content, indent=1) + "\n")

    def place_for(self, name: str) -> Path:
        """Where an uploaded file of this name goes: inside the folder, whatever the name says."""
        plain = re.sub(r"[^\w.() -]+", "_", Path(name.replace("\\", "/")).name).strip(". ")[-100:]
        if not plain or not plain.lower().endswith(ENDINGS):
            raise OptionError(f"{name[:80]!r} is not a table: choose a file that ends with {', '.join(ENDINGS)}.")
        place = self.folder / "data"
        place.mkdir(exist_ok=True)
        return place / plain

    def _read_choice(self) -> DataChoice | None:
        try:
            content = checked(read_json(self.folder / STUDIO_FILE), StudioRecord, STUDIO_FILE)
            found = DataChoice(Path(content["data"]), reading_of(content, STUDIO_FILE))
            return found if found.path.is_file() else None
        except (OSError, ValueError):
            return None

    # -- runs ------------------------------------------------------------------------------------------------------

    def runs(self, alive: Collection[str] = ()) -> list[Run]:
        """Every run, the oldest first; also those that an earlier server has left.

        Parameters
        ----------
        alive : collection of str
            Runs that wait or are at work here; any other that says so was broken off, unless its folder is in use.
        """
        folders = sorted(path for path in (self.folder / "runs").iterdir() if RUN_ID.fullmatch(path.name))
        return [run for run in (_read_run(folder, alive) for folder in folders) if run is not None]

    def run(self, name: str, alive: Collection[str] = ()) -> Run:
        """The run of this id."""
        if RUN_ID.fullmatch(name):
            found = _read_run(self.folder / "runs" / name, alive)
            if found is not None:
                return found
        raise OptionError("there is no such run.")

    def new_run(self, request: Mapping[str, Any], parent: str | None) -> Run:
        """A folder for a run that is about to start."""
        taken = [int(path.name) for path in (self.folder / "runs").iterdir() if RUN_ID.fullmatch(path.name)]
        name = f"{max(taken, default=0) + 1:03d}"
        folder = self.folder / "runs" / name
        folder.mkdir()
        run = Run(name, folder, dict(request), "waiting", datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S"), parent)
        run.write()
        return run

    def remove(self, name: str) -> None:
        """Delete the folder of a run, which is out of the list at once, however large it is."""
        folder = self.run(name).folder
        with folder_lock(folder):
            gone = folder.rename(folder.with_name(f".{name}.{secrets.token_hex(6)}"))
            shutil.rmtree(gone)

    def adopt(self, results: Path) -> Run:
        """Copy a folder that ``precede discover --out`` wrote; the copy is a run."""
        run = self.new_run({"name": results.resolve().name, "adopted": True}, None)
        for path in results.iterdir():
            if path.is_file() and not path.is_symlink() and path.name != RUN_FILE:
                shutil.copyfile(path, run.folder / path.name)
        done = replace(run, state="done")
        done.write()
        return done


def _read_run(folder: Path, alive: Collection[str]) -> Run | None:
    """A run; None where its folder is not there or has just been made, and a failed one where its record is damaged."""
    try:
        content = checked(read_json(folder / RUN_FILE), RunEntry, f"{RUN_FILE} of this run")
    except OptionError as error:
        return Run(folder.name, folder, {"name": "damaged"}, "failed", "", error=str(error))
    except OSError:
        return None
    fields = ("request", "state", "created", "parent", "seconds", "error")
    run = Run(folder.name, folder, **{name: content[name] for name in fields})  # type: ignore[literal-required]
    if run.state in ("waiting", "running") and run.id not in alive and not in_use(folder):
        why = None if run.has_graph else "it was stopped before there was a graph."
        return replace(run, state="stopped" if run.has_graph else "failed", error=why)
    return run


def in_use(folder: Path) -> bool:
    """Whether some process is at work on a run."""
    try:
        with folder_lock(folder):
            return False
    except OptionError:
        return True
    except OSError:
        return False
