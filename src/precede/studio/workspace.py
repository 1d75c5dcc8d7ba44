"""The folder of a studio: the data it looks at, one folder of results for each run, and what a run is asked for."""

from __future__ import annotations

import re
import secrets
import shutil
from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Self, cast

from pydantic import ConfigDict
from typing_extensions import TypedDict

from precede.corl.estimator import make_method, methods
from precede.data.numbers import NA_MARKERS
from precede.errors import OptionError, check_choice, refusing
from precede.estimator import CausalEstimator
from precede.files import folder_lock, write_text
from precede.knowledge import Knowledge
from precede.options import Options, Range, check_options, declared
from precede.report.folder import load_results
from precede.scores.build import SCORE_NAMES
from precede.scores.policy_prior import WEIGHT
from precede.strict_json import JsonObject, checked, read_json, to_json

RUN_ID = re.compile(r"[0-9]{3,6}")
STUDIO_FILE, RUN_FILE, STOP_FILE = "studio.json", "run.json", ".stop"
ENDINGS = (".csv", ".tsv", ".txt", ".csv.gz", ".xlsx", ".parquet")
"""Files that can be uploaded: those that ``precede.load_table`` reads."""

State = Literal["waiting", "running", "done", "stopped", "failed"]


class AskedRun(TypedDict, total=False):
    """What is read of a request; the rest lies beside it."""

    name: str
    method: str
    adopted: bool
    knowledge: dict[str, list[str | list[str]]]
    outcome: str | None
    data: JsonObject
    __pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[misc]


@dataclass(frozen=True)
class DataChoice:
    """What the runs look at, and how it is read.

    Parameters
    ----------
    path : Path
    types, leave_out, na, missing, interventions, lags, group, decimal
        Options of :func:`precede.load_table`, as the user has set them; ``na`` adds to the usual texts.
    """

    path: Path
    types: dict[Hashable, str | list[str]] = field(default_factory=dict)
    leave_out: list[str] = field(default_factory=list)
    na: list[str] = field(default_factory=list)
    missing: Literal["em", "pairwise", "drop", "impute", "refuse"] = "em"
    interventions: str = ""
    lags: int | Literal["auto"] = 0
    group: str = ""
    decimal: Literal[".", ","] | None = None

    @property
    def reading(self) -> Options:
        """What is neither empty nor the default."""
        return {name: value for name, value in vars(self).items() if name != "path" and value and value != "em"}

    @property
    def loading(self) -> Options:
        """The options that were set, as :func:`precede.load_table` takes them."""
        return self.reading | ({"na": [*NA_MARKERS, *self.na]} if self.na else {})

    def to_dict(self) -> JsonObject:
        """Plain values, as a run and a studio keep them."""
        return {"path": str(self.path), **self.reading}

    @classmethod
    def read(cls, content: object, what: str) -> Self:
        """From what :meth:`to_dict` gave."""
        return checked(content, cls, what)


@dataclass(frozen=True)
class Run:
    """One run: what was asked for, and how it stands.

    Parameters
    ----------
    id : str
    folder : Path
    request : dict
        As the page sent it, with the data.
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
    request: AskedRun
    state: State
    created: str
    parent: str | None = None
    seconds: float | None = None
    error: str | None = None

    def to_dict(self) -> JsonObject:
        """Plain values, as run.json holds them and the page reads them."""
        return {"format": "precede-studio-run", **{k: value for k, value in vars(self).items() if k != "folder"}}

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
        with refusing(OSError, OptionError, f"the folder {str(folder)!r} cannot be made:"):
            (self.folder / "runs").mkdir(parents=True, exist_ok=True)
        self.data: DataChoice | None = None
        try:
            found = DataChoice.read(read_json(self.folder / STUDIO_FILE), STUDIO_FILE)
            self.data = found if found.path.is_file() else None
        except (OSError, ValueError):
            pass  # none was chosen, or what is kept of it is damaged

    # -- data ------------------------------------------------------------------------------------------------------

    def choose(self, data: DataChoice) -> None:
        """Look at these data from now on."""
        self.data = data
        content = {"format": "precede-studio", "version": 1, **data.to_dict()}
        write_text(self.folder / STUDIO_FILE, to_json(content, indent=1) + "\n")

    def place_for(self, name: str) -> Path:
        """Where an uploaded file of this name goes: inside the folder, whatever the name says."""
        plain = re.sub(r"[^\w.() -]+", "_", Path(name.replace("\\", "/")).name).strip(". ")[-100:]
        if not plain or not plain.lower().endswith(ENDINGS):
            raise OptionError(f"{name[:80]!r} is not a table: choose a file that ends with {', '.join(ENDINGS)}.")
        place = self.folder / "data"
        place.mkdir(exist_ok=True)
        return place / plain

    # -- runs ------------------------------------------------------------------------------------------------------

    def runs(self, alive: Collection[str] = ()) -> list[Run]:
        """Every run, the oldest first; also those that an earlier server has left.

        Parameters
        ----------
        alive : collection of str
            Runs that wait or are at work here; any other that says so was broken off, unless its folder is in use.
        """
        return [run for folder in self._folders() if (run := read_run(folder, alive)) is not None]

    def _folders(self) -> list[Path]:
        return sorted(path for path in (self.folder / "runs").iterdir() if RUN_ID.fullmatch(path.name))

    def run(self, name: str, alive: Collection[str] = ()) -> Run:
        """The run of this id."""
        found = read_run(self.folder / "runs" / name, alive) if RUN_ID.fullmatch(name) else None
        if found is None:
            raise OptionError("there is no such run.")
        return found

    def new_run(self, request: Mapping[str, Any], parent: str | None) -> Run:
        """A folder for a run that is about to start."""
        name = f"{max((int(path.name) for path in self._folders()), default=0) + 1:03d}"
        folder = self.folder / "runs" / name
        folder.mkdir()
        asked, now = cast(AskedRun, dict(request)), datetime.now(UTC)
        run = Run(name, folder, asked, "waiting", f"{now:%Y-%m-%d %H:%M:%S}", parent)
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


def read_run(folder: Path, alive: Collection[str]) -> Run | None:
    """A run; None where its folder is not there or has just been made, and a failed one where its record is damaged."""
    try:
        found = read_json(folder / RUN_FILE)
        place = {"id": folder.name, "folder": str(folder)}
        run = checked(found | place if isinstance(found, dict) else found, Run, f"{RUN_FILE} of this run")
    except OptionError as error:
        return Run(folder.name, folder, {"name": "damaged"}, "failed", "", error=str(error))
    except OSError:
        return None
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


OPTIONS = ("score", "search", "pruning", "hidden", "noise", "max_time", "n_iterations", "patience")
"""Options that the page may set; none of them names a file."""

LONGEST_NAME = 80


@dataclass(frozen=True)
class RunRequest:
    """A run as it is asked for.

    Parameters
    ----------
    name : str
        What the user calls it.
    method : str
    options : dict of str
        Texts by name, as after ``--set`` on the command line.
    knowledge : dict
        The fields of :class:`precede.Knowledge`.
    start : str or None
        The run whose order to start from.
    seed : int
    resamples : int
        Of the bootstrap; 0 for none.
    outcome : str or None
        The variable whose causes the report begins with.
    """

    name: str = ""
    method: str = "corl"
    options: dict[str, str] = field(default_factory=dict)
    knowledge: JsonObject = field(default_factory=dict)
    start: str | None = None
    seed: Annotated[int, Range(least=0, most=2**31)] = 0
    resamples: Annotated[int, Range(least=0, most=1000)] = 0
    outcome: str | None = None

    @classmethod
    def read(cls, content: Any) -> RunRequest:
        """From the JSON of a request; what is of another shape is refused in a sentence."""
        if not isinstance(content, dict):
            raise OptionError("a request for a run holds named values.")
        given = {name: content[name] for name in declared(cls) if content.get(name) not in (None, "")}
        check_options(cls, given)
        asked = cls(**given)
        check_choice("method", asked.method, methods())
        if not set(asked.options) <= set(OPTIONS) or not all(isinstance(text, str) for text in asked.options.values()):
            raise OptionError(f"options are texts, for {', '.join(OPTIONS)}.")
        Knowledge.from_dict(asked.knowledge)
        texts = {name: text for name, text in asked.options.items() if text != ""}
        return replace(asked, name=asked.name[:LONGEST_NAME], options=texts)

    def model(self, earlier: Options | None = None) -> CausalEstimator:
        """The estimator; where an earlier result is given, one that starts from its order.

        Parameters
        ----------
        earlier : dict, optional
            See :func:`earlier_result`.
        """
        given: Options = {}
        rules = {name: value for name, value in self.knowledge.items() if value}
        if rules:
            given["knowledge"] = Knowledge.from_dict(rules)
        for name, value in (("random_state", self.seed), ("verbose", False)):
            if name in methods()[self.method].option_names():
                given[name] = value
        if earlier is not None and self.method == "corl":
            same = self.options.get("score", "auto") in ("auto", earlier.get("score"))
            if not {"search", "n_iterations", "patience"} & set(self.options):
                given["n_iterations"] = 0
            # with what "auto" chose then: the data are the same
            given |= earlier if same else {"initial_order": earlier["initial_order"]}
        return make_method(self.method, given, {name: text for name, text in self.options.items() if name not in given})


def earlier_result(folder: Path) -> Options:
    """The order of a run that is there, and the options of its score as they were settled."""
    found = load_results(folder)
    settings, known = found.description["settings"], found.description["diagnostics"]
    options: Options = {name: settings[name] for name in ("score", "policy_weight") if name in settings}
    chosen = known.get("score_choice")
    if options.get("score") == "auto" and chosen is not None:
        options["score"] = chosen["name"]
        if chosen.get("informed") and options.get("policy_weight") == "auto":
            options["policy_weight"] = WEIGHT
    known_score = options.get("score") in (*SCORE_NAMES, "policy", "vote")
    return {"initial_order": [str(name) for name in found.graph.order], **(options if known_score else {})}
