"""The bootstrap: the same method on resampled rows, many times over, with a journal so that a killed run can go on."""

from __future__ import annotations

import json
import os
import secrets
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from precede.arrays import IntArray
from precede.data.checks import check_values
from precede.data.load import Table, load_table
from precede.errors import DataError, OptionError, check_positive, listed
from precede.evidence.confidence.confidence import Confidence, matrix_of, pairs_of
from precede.files import append_line, write_text
from precede.options import Options
from precede.runtime.device import one_thread
from precede.runtime.progress import ProgressBar
from precede.runtime.randomness import RandomState, numpy_rng
from precede.runtime.workers import Workers, as_finished, check_jobs
from precede.scores.protocol import OrderScore
from precede.search.checkpoint import data_fingerprint
from precede.strict_json import JsonObject, to_json

FORMAT, VERSION = "precede-bootstrap", 3


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
    open : list of [int, int] or None
        Edges that may point either way, where only the class of the graph is known.
    """

    resample: int
    order: list[int]
    edges: list[list[int]]
    redraws: int
    open: list[list[int]] | None = None


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
        loose = [] if outcome.open is None else outcome.open
        pairs = [*outcome.edges, *loose]
        ends = [end for edge in pairs for end in edge]
        right = (
            isinstance(outcome.resample, int)
            and isinstance(outcome.redraws, int)
            and sorted(outcome.order) == list(range(n_variables))
            and all(len(edge) == 2 for edge in pairs)
            and all(edge in outcome.edges for edge in loose)
            and all(isinstance(end, int) and 0 <= end < n_variables for end in ends)
        )
    except TypeError:
        return None
    return outcome if right else None


MOST_DRAWS = 20
"""Rows are drawn again at most this often when a column comes out constant or collinear."""

OWN_OUTPUT: Options = {"verbose": False, "checkpoint": None, "resume": False, "tensorboard": None, "diagnose": False}
"""Options of a method that say where and what it reports; a resample has none of that."""


def bootstrap(
    model: Any,
    X: Any,
    *,
    n_resamples: int,
    workers: Workers,
    block: int | None,
    random_state: RandomState,
    checkpoint: str | os.PathLike[str] | None,
    verbose: bool,
) -> Confidence:
    """Fit a method to resampled rows; :meth:`precede.estimator.CausalEstimator.bootstrap` documents the options.

    Resample k draws its rows and its seed from (seed, k) alone and computes on one thread, so neither the number of
    jobs nor their sequence nor an interruption changes the result. What the method chooses by the data (CORL's
    ``score="auto"``) it chooses once, so that resamples are judged by the model that was fitted.
    """
    table = model._prepared(load_table(X))
    block = block or time_block(table)
    check_jobs("n_jobs", workers.jobs)
    _check(model, table, n_resamples, block)
    seed = random_state if random_state is not None else model.get_params(deep=False).get("random_state")
    header = {
        "data": data_fingerprint(table.values, table.names),
        "method": type(model).__name__,
        "settings": _settings(model),
        "block": block,
        "entropy": None if seed is None else int(numpy_rng(seed).integers(2**62)),
    }
    journal = Journal(checkpoint, header)
    journal.open(table.n_variables, new_entropy=int(numpy_rng(None).integers(2**62)))
    model = model._settled(table)
    missing = [k for k in range(n_resamples) if k not in journal.outcomes]
    tasks = ((model, table, block, journal.header["entropy"], k) for k in missing)
    done = n_resamples - len(missing)
    with ProgressBar("bootstrap", n_resamples, verbose) as progress:
        progress.update(done)
        for outcome in as_finished(fit_resample, tasks, workers):
            if outcome is None:
                raise KeyboardInterrupt
            journal.add(outcome)
            done += 1
            progress.update(done)
    return _summary(table, [journal.outcomes[k] for k in range(n_resamples)])


def fit_resample(model: Any, table: Table, block: int | None, entropy: int, k: int) -> Outcome | None:
    """Fit to the k-th resample; None when Ctrl-C cut the fit short."""
    rng = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(k,)))
    rows, redraws = resampled(table, block, rng)
    accepted = model.get_params(deep=False)
    options = {name: value for name, value in OWN_OUTPUT.items() if name in accepted}
    if "random_state" in accepted:
        options["random_state"] = int(rng.integers(2**31))
    with one_thread():
        again = model.unfitted().set_params(**options)
        again.diagnose = False
        fitted = again.fit(rows)
    search = fitted.diagnostics_.get("search")
    if isinstance(search, dict) and search.get("interrupted"):
        return None
    index = {name: position for position, name in enumerate(table.names)}
    order = [index[name] for name in fitted.causal_order_]
    return Outcome(k, order, pairs_of(fitted.graph_.edges), redraws, pairs_of(fitted.graph_.open_directions))


def time_block(table: Table) -> int | None:
    """Length of the blocks in which rows in time are drawn, so that neighbors stay together; None for other rows."""
    return None if table.steps is None else max(2, round(2 * table.n_samples ** (1 / 3)))


def draw_rows(n_rows: int, block: int | None, rng: np.random.Generator) -> IntArray:
    """Rows with replacement; or moving blocks of consecutive rows, which keep what is near in time together.

    Examples
    --------
    >>> draw_rows(6, 3, np.random.default_rng(0))
    array([3, 4, 5, 2, 3, 4])
    """
    if block is None:
        return rng.integers(n_rows, size=n_rows)
    starts = rng.integers(n_rows - block + 1, size=-(-n_rows // block))
    rows: IntArray = (starts[:, None] + np.arange(block)).ravel()[:n_rows]
    return rows


def resampled(table: Table, block: int | None, rng: np.random.Generator) -> tuple[Table, int]:
    """A resample without constant or collinear columns, and how many draws were thrown away for it."""
    for redraws in range(MOST_DRAWS):
        resample = table.with_rows(draw_rows(table.n_samples, block, rng), rng)
        try:
            check_values(resample.values, table.names, table.kinds)
        except DataError as error:
            fault = error
            continue
        return resample, redraws
    raise DataError(
        f"{MOST_DRAWS} resamples in a row cannot be used, the last since {str(fault).rstrip('.')}; in the data itself "
        "too few rows speak for that column: leave it out, or add rows."
    )


def _check(model: Any, table: Table, n_resamples: int, block: int | None) -> None:
    check_positive("n_resamples", n_resamples, integer=True)
    if block is not None:
        check_positive("block", block, integer=True)
        if block >= table.n_samples:
            raise OptionError(f"block={block} cannot be used: the data has {table.n_samples} rows, a block fewer.")
    for name, value in model.get_params(deep=False).items():
        if isinstance(value, OrderScore):
            raise OptionError(
                f"{name} is an object made from the data as it is, which resampling cannot reach: give its name, "
                f"{name}={value.name!r}."
            )


def _settings(model: Any) -> dict[str, str]:
    """The method's options as text, without those that do not matter to the result."""
    skipped = {*OWN_OUTPUT, "random_state"}
    return {name: repr(value) for name, value in model.get_params(deep=False).items() if name not in skipped}


def _summary(table: Table, outcomes: list[Outcome]) -> Confidence:
    redrawn = Counter(outcome.redraws > 0 for outcome in outcomes)[True]
    remarks = []
    if redrawn:
        remarks.append(
            f"The rows of {redrawn} of {len(outcomes)} resamples were drawn again, since a column came out constant or "
            "collinear: some column has few distinct values."
        )
    edges = [matrix_of(outcome.edges, table.n_variables) for outcome in outcomes]
    loose = [None if outcome.open is None else matrix_of(outcome.open, table.n_variables) for outcome in outcomes]
    return Confidence.of(table.names, edges, [np.array(outcome.order) for outcome in outcomes], remarks, loose)
