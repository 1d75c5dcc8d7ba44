"""The journal of a bootstrap: JSON lines, one for each finished resample, so that a killed run can be continued."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from precede.errors import OptionError, listed
from precede.files import append_line, write_text
from precede.strict_json import JsonObject, to_json

FORMAT, VERSION = "precede-bootstrap", 2


@dataclass(frozen=True)
class Outcome:
    """What one resample gave, by column.

    Parameters
    ----------
    resample : int
        Its number; with the seed it decides the rows.
    order : list of int
        Causes first.
    edges : list of [int, int]
        Pairs of cause and effect.
    redraws : int
        How often its rows had to be drawn again.
    """

    resample: int
    order: list[int]
    edges: list[list[int]]
    redraws: int


class Journal:
    """A file that grows by a line; without a path nothing is kept.

    The header comes into being whole; a last line that was torn by a kill is cut off; anything else that does not
    parse is an error. Every line has the name of the journal it was written to: lines of a run that did not notice
    that its file was replaced are not read.

    Parameters
    ----------
    path : path or None
    header : dict
        What the run is about; a file with another header is refused. ``entropy`` None takes that of the file.
    """

    def __init__(self, path: str | os.PathLike[str] | None, header: JsonObject) -> None:
        self.path = None if path is None else Path(path)
        self.header = {"format": FORMAT, "version": VERSION, **header}
        self.outcomes: dict[int, Outcome] = {}

    def open(self, n_variables: int, new_entropy: int) -> None:
        """Read what an earlier run left, or start the file; ``new_entropy`` serves where no seed was given."""
        if self.path is not None and self.path.exists():
            self._read(n_variables)
            return
        if self.header["entropy"] is None:
            self.header["entropy"] = new_entropy
        self.header["journal"] = secrets.token_hex(8)
        if self.path is not None:
            try:
                write_text(self.path, to_json(self.header) + "\n")
            except OSError as error:
                raise OptionError(f"checkpoint={str(self.path)!r} cannot be written: {error.strerror}.") from None

    def add(self, outcome: Outcome) -> None:
        """Keep an outcome, at once."""
        self.outcomes[outcome.resample] = outcome
        if self.path is not None:
            append_line(self.path, to_json({"journal": self.header["journal"], **asdict(outcome)}))

    def _read(self, n_variables: int) -> None:
        assert self.path is not None
        shown = f"checkpoint={str(self.path)!r}"
        try:
            content = self.path.read_bytes()
        except OSError as error:
            raise OptionError(f"{shown} cannot be read: {error.strerror}.") from None
        whole, _, torn = content.rpartition(b"\n")
        first, *lines = whole.split(b"\n")
        self._check_header(_parsed(first), shown)
        for number, line in enumerate(lines, start=2):
            entry = _parsed(line)
            if isinstance(entry, dict) and entry.pop("journal", None) not in (None, self.header["journal"]):
                continue  # written by a run whose file this one has replaced
            outcome = _outcome(entry, n_variables)
            if outcome is None:
                raise OptionError(f"{shown} is damaged in line {number}: remove the file to start anew.")
            self.outcomes[outcome.resample] = outcome
        if torn:
            os.truncate(self.path, len(content) - len(torn))

    def _check_header(self, header: Any, shown: str) -> None:
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise OptionError(f"{shown} is not a bootstrap that can be resumed: name another file.")
        if header.get("version") != VERSION:
            raise OptionError(f"{shown} has version {header.get('version')!r}; this release reads {VERSION}.")
        if self.header["entropy"] is None and isinstance(header.get("entropy"), int):
            self.header["entropy"] = header["entropy"]
        self.header["journal"] = header.get("journal")
        here = json.loads(to_json(self.header))
        differing = [name for name in {**header, **here} if header.get(name) != here.get(name)]
        if differing:
            what = ["random_state" if name == "entropy" else name for name in differing]
            raise OptionError(f"{shown} was made with other {listed(what)}: name another file, or use the same.")


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _outcome(entry: Any, n_variables: int) -> Outcome | None:
    """An outcome whose numbers make sense, else None."""
    try:
        outcome = Outcome(**entry)
        ends = [end for edge in outcome.edges for end in edge]
        right = (
            isinstance(outcome.resample, int)
            and isinstance(outcome.redraws, int)
            and sorted(outcome.order) == list(range(n_variables))
            and all(len(edge) == 2 for edge in outcome.edges)
            and all(isinstance(end, int) and 0 <= end < n_variables for end in ends)
        )
    except TypeError:
        return None
    return outcome if right else None
