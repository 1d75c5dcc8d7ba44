"""The bootstrap: the same method on resampled rows, many times over, with a journal so that a killed run can go on."""

import json
import os
import secrets
from pathlib import Path
from typing import Any, NotRequired

import numpy as np
from typing_extensions import TypedDict

from precede.arrays import IntArray
from precede.data.checks import check_values
from precede.data.load import Table, load_table
from precede.errors import DataError, OptionError, check_positive, listed, refusing
from precede.evidence.confidence.confidence import Confidence, matrix_of, pairs_of
from precede.files import append_line, write_text
from precede.options import Options
from precede.runtime import ProgressBar, RandomState, numpy_rng, one_thread
from precede.runtime.workers import Workers, as_finished, check_jobs, part_of, shard_name
from precede.scores.protocol import OrderScore
from precede.search.checkpoint import data_fingerprint
from precede.strict_json import JsonObject, checked, document, parsed, to_json

FORMAT, VERSION = "precede-bootstrap", 3


class Outcome(TypedDict):
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
    journal : str or None
        Name of the journal that it was written to.
    """

    resample: int
    order: list[int]
    edges: list[list[int]]
    redraws: int
    open: NotRequired[list[list[int]] | None]
    journal: NotRequired[str | None]


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

    def open(self, n_variables: int, new_entropy: int, shard: str | None = None) -> None:
        """Read what an earlier run left, or start the file; ``new_entropy`` serves where no seed was given.

        A part of a bootstrap has a file of its own beside that of the whole, which reads those of all parts.
        """
        if self.path is not None and shard is not None:
            self.path = self.path.with_stem(f"{self.path.stem}.{shard_name(shard)}")
        self._read_or_start(n_variables, new_entropy)
        if self.path is not None and shard is None:
            for path in sorted(self.path.parent.glob(f"{self.path.stem}.*-of-*{self.path.suffix}")):
                part = Journal(path, self.header)
                part._read(n_variables, mends=False)  # it may be written to, elsewhere
                self.outcomes = part.outcomes | self.outcomes

    def _read_or_start(self, n_variables: int, new_entropy: int) -> None:
        if self.path is not None and self.path.exists():
            self._read(n_variables)
            return
        if self.header["entropy"] is None:
            self.header["entropy"] = new_entropy
        self.header["journal"] = secrets.token_hex(8)
        if self.path is not None:
            with refusing(OSError, OptionError, f"checkpoint={str(self.path)!r} cannot be written:"):
                write_text(self.path, to_json(self.header) + "\n")

    def add(self, outcome: Outcome) -> None:
        """Keep an outcome, at once."""
        self.outcomes[outcome["resample"]] = outcome
        if self.path is not None:
            append_line(self.path, to_json({"journal": self.header["journal"], **outcome}))

    def _read(self, n_variables: int, mends: bool = True) -> None:
        assert self.path is not None
        shown = f"checkpoint={str(self.path)!r}"
        with refusing(OSError, OptionError, f"{shown} cannot be read:"):
            content = self.path.read_bytes()
        whole, _, torn = content.rpartition(b"\n")
        first, *lines = whole.split(b"\n")
        self._check_header(first, shown)
        for number, line in enumerate(lines, start=2):
            try:
                outcome = _outcome(line, n_variables)
            except OptionError:
                raise OptionError(f"{shown} is damaged in line {number}: remove the file to start anew.") from None
            if outcome.get("journal") in (None, self.header["journal"]):  # else its file has been replaced by this one
                self.outcomes[outcome["resample"]] = outcome
        if torn and mends:
            os.truncate(self.path, len(content) - len(torn))

    def _check_header(self, line: bytes, shown: str) -> None:
        try:
            header = document(parsed(line, shown), FORMAT, VERSION, shown)
        except OptionError as error:
            raise OptionError(f"{error} It is not a bootstrap that can be resumed: name another file.") from None
        if self.header["entropy"] is None and isinstance(header.get("entropy"), int):
            self.header["entropy"] = header["entropy"]
        self.header["journal"] = header.get("journal")
        here = json.loads(to_json(self.header))
        differing = [name for name in {**header, **here} if header.get(name) != here.get(name)]
        if differing:
            what = ["random_state" if name == "entropy" else name for name in differing]
            raise OptionError(f"{shown} was made with other {listed(what)}: name another file, or use the same.")


def _outcome(line: bytes, n_variables: int) -> Outcome:
    """An outcome, once its numbers are known to make sense."""
    found = checked(parsed(line, "a line"), Outcome, "a line")
    edges, variables = found["edges"], list(range(n_variables))
    pairs = all(len(edge) == 2 and set(edge) <= set(variables) for edge in edges)
    if not pairs or sorted(found["order"]) != variables or any(edge not in edges for edge in found.get("open") or ()):
        raise OptionError("a line names variables that are not there.")
    return found


MOST_DRAWS = 20
"""Rows are drawn again at most this often when a column comes out constant or collinear."""

OWN_OUTPUT: Options = {"verbose": False, "checkpoint": None, "resume": False, "tensorboard": None, "diagnose": False}
"""Options of a method that say where and what it reports; a resample has none of that."""


def bootstrap(  # noqa: PLR0913 (options of a method)
    model: Any,
    X: Any,
    n_resamples: int = 100,
    n_jobs: int = 1,
    block: int | None = None,
    random_state: RandomState = None,
    checkpoint: str | os.PathLike[str] | None = None,
    cluster: str | None = None,
    verbose: bool | None = None,
    shard: str | None = None,
) -> Confidence:
    """How stable the result is: fit this method, with these options, to resampled rows.

    Parameters
    ----------
    X : as for :meth:`fit`
    n_resamples : int
    n_jobs : int
        Processes; -1 for one per core. Each resample computes on one thread, so that the result is the same.
    block : int, optional
        For rows in sequence (time series): resample blocks of this many consecutive rows, not single ones. For
        a table with lags, twice the cube root of the rows where nothing is said.
    random_state : int, Generator or None
        None takes the method's own, where it has one.
    checkpoint : path, optional
        File that keeps each finished resample. A run with the same file continues where an earlier one stopped,
        also to more resamples.
    cluster : str, optional
        Address of a Dask scheduler whose workers do the fits (``pip install precede[cluster]``).
    verbose : bool, optional
        Show progress; None takes the method's own.
    shard : str, optional
        Do the k-th of n parts of the resamples, "k/n", and keep it in a file of its own beside the checkpoint; the same
        call without it puts all parts together, and does what is missing. Needs a checkpoint and a seed.

    Returns
    -------
    Confidence
        The method itself is left as it was, fitted or not.

    Notes
    -----
    Resample k draws its rows and its seed from (seed, k) alone and computes on one thread, so neither the number of
    jobs nor their sequence nor an interruption changes the result. What the method chooses by the data (CORL's
    ``score="auto"``) it chooses once, so that resamples are judged by the model that was fitted.

    Each resample is a whole fit. For CORL, ``search="local"`` is the quickest; where a policy is trained, take
    fewer iterations than for the result itself (``n_iterations=50``): what they do not reach counts as
    instability, so the probabilities err on the side of doubt.

    Examples
    --------
    >>> from precede import baselines, simulate
    >>> data = simulate(n_variables=4, degree=1, n_samples=500, random_state=0)
    >>> found = baselines.EqVar(verbose=False).bootstrap(data.data, n_resamples=20, random_state=0)
    >>> float(found.edge_probability.to_numpy()[data.graph.edges].min()) > 0.9
    True
    """
    verbose = bool(getattr(model, "verbose", True)) if verbose is None else verbose
    table = model._prepared(load_table(X))
    block = block or time_block(table)
    check_jobs("n_jobs", n_jobs)
    _check(model, table, n_resamples, block)
    seed = random_state if random_state is not None else model.get_params(deep=False).get("random_state")
    header = {
        "data": data_fingerprint(table.values, table.names),
        "method": type(model).__name__,
        "settings": _settings(model),
        "block": block,
        "entropy": None if seed is None else int(numpy_rng(seed).integers(2**62)),
    }
    numbers = part_of(range(n_resamples), shard)
    if shard is not None and (checkpoint is None or not isinstance(seed, int)):
        raise OptionError(f"shard={shard!r} needs checkpoint=FILE and random_state=NUMBER, the same for every part.")
    journal = Journal(checkpoint, header)
    journal.open(table.n_variables, int(numpy_rng(None).integers(2**62)), shard)
    model = model._settled(table)
    missing = [k for k in numbers if k not in journal.outcomes]
    tasks = ((model, table, block, journal.header["entropy"], k) for k in missing)
    done = len(numbers) - len(missing)
    with ProgressBar("bootstrap", len(numbers), verbose) as progress:
        progress.update(done)
        for outcome in as_finished(fit_resample, tasks, Workers(n_jobs, cluster)):
            if outcome is None:
                raise KeyboardInterrupt
            journal.add(outcome)
            done += 1
            progress.update(done)
    return _summary(table, [journal.outcomes[k] for k in numbers])


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
    edges, loose = np.argwhere(fitted.graph_.edges).tolist(), pairs_of(fitted.graph_.open_directions)
    return Outcome(resample=k, order=order, edges=edges, redraws=redraws, open=loose)


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


def resampled(table: Table, block: int | None, rng: np.random.Generator, *, distinct: bool = True) -> tuple[Table, int]:
    """A resample without constant or collinear columns, and how many draws were thrown away for it.

    With ``distinct`` a row that is drawn twice counts once: a score takes its copy for evidence, above all where curves
    can follow it.
    """
    for redraws in range(MOST_DRAWS):
        rows = draw_rows(table.n_samples, block, rng)
        resample = table.with_rows(np.unique(rows) if distinct else rows, rng)
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
    redrawn, n, remarks = sum(outcome["redraws"] > 0 for outcome in outcomes), table.n_variables, []
    if redrawn:
        remarks.append(
            f"The rows of {redrawn} of {len(outcomes)} resamples were drawn again, since a column came out constant or "
            "collinear: some column has few distinct values."
        )
    edges = [matrix_of(outcome["edges"], n) for outcome in outcomes]
    loose = [None if (pairs := outcome.get("open")) is None else matrix_of(pairs, n) for outcome in outcomes]
    return Confidence.of(table.names, edges, [np.array(outcome["order"]) for outcome in outcomes], remarks, loose)
