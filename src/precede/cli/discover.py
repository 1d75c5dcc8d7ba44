"""``precede discover``: from a table to a graph, and a folder that holds everything that belongs to it."""

from __future__ import annotations

import logging
import shlex
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from precede.cli.terminal import (
    KNOWN,
    SACHS,
    AsJson,
    DataFile,
    Debug,
    Decimal,
    Group,
    Interventions,
    KnowledgeFile,
    Lags,
    LeaveOut,
    Missing,
    Na,
    Quiet,
    Roots,
    SafeConsole,
    Seed,
    Sinks,
    Tiers,
    Types,
    Verbose,
    as_flags,
    edge_records,
    load_named,
    loading_options,
    log_to_terminal,
    say_json,
    show_graph,
    user_errors,
)
from precede.errors import OptionError, PrecedeError, unknown_column
from precede.strict_json import JsonObject

if TYPE_CHECKING:
    from precede.data.load import Table
    from precede.effects import Outcome
    from precede.estimator import CausalEstimator
    from precede.evidence.checks import Diagnostics
    from precede.evidence.confidence import Confidence
    from precede.graph import CausalGraph
    from precede.options import Options
    from precede.report import Heading
    from precede.report.summary import Summary
    from precede.runtime.deadline import Signals

MARKS = {"warning": "!", "note": "i", "fine": "✓", "not run": "·"}
WORST = 3
"""Warnings on a screen."""

JOURNAL_FILE = "bootstrap.jsonl"
"""The resamples that are finished, in the folder of the results."""


def discover(
    data: DataFile,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for the graph and everything that belongs to it.")
    ] = None,
    method: Annotated[str, typer.Option("--method", "-m", help="One of 'precede methods'.")] = "corl",
    score: Annotated[
        str | None,
        typer.Option(
            help="auto, linear, linear-any, sparse-linear, nongaussian, quadratic, gp, sparse-gp, sparse-gp-additive, "
            "location-scale; for columns with levels discrete-bic, bdeu, degenerate-gaussian, conditional-gaussian."
        ),
    ] = None,
    search: Annotated[
        str | None, typer.Option(help="auto, policy (reinforcement learning: always trains), local, exact.")
    ] = None,
    pruning: Annotated[str | None, typer.Option(help="auto, threshold, bic, cam, cam-f, none.")] = None,
    knowledge: KnowledgeFile = None,
    hidden: Annotated[
        str | None,
        typer.Option(
            help="Whether columns may share a cause that is not in the table: none (default), allowed.",
            rich_help_panel=KNOWN,
        ),
    ] = None,
    root: Roots = None,
    sink: Sinks = None,
    tier: Tiers = None,
    missing: Missing = "em",
    odd: Annotated[str | None, typer.Option(help="Cells too far out: missing (default), keep.")] = None,
    leave_out: LeaveOut = None,
    types: Types = None,
    na: Na = None,
    decimal: Decimal = None,
    interventions: Interventions = None,
    lags: Lags = 0,
    group: Group = None,
    outcome: Annotated[str | None, typer.Option(help="The variable to explain: its causes are told first.")] = None,
    max_time: Annotated[float | None, typer.Option(help="Stop after this many seconds, with the best found.")] = None,
    checkpoint: Annotated[Path | None, typer.Option(help="File that training is saved to every few seconds.")] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue from the checkpoint, and with the bootstrap in OUT.")
    ] = False,
    device: Annotated[str | None, typer.Option(help="auto, cpu, cuda.")] = None,
    resamples: Annotated[
        int,
        typer.Option("--bootstrap", min=0, help="Learn again on this many resamples, to see how sure each edge is."),
    ] = 0,
    stability: Annotated[
        bool, typer.Option("--stability/--no-stability", help="Resample quickly, to say how sure each edge is.")
    ] = True,
    rows: Annotated[
        bool | None,
        typer.Option("--rows/--no-rows", help="Whether plots of the report show single rows, or densities (default)."),
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title of the report, in place of the file's name.")] = None,
    note: Annotated[str | None, typer.Option(help="A paragraph of your own at the top of the report.")] = None,
    option: Annotated[
        list[str] | None, typer.Option("--set", help="Any other option of the method, as name=value; none is None.")
    ] = None,
    seed: Seed = None,
    verbose: Verbose = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Learn the causal graph of a table."""
    with user_errors(debug), ExitStack() as course:
        from precede.cli.terminal import known_from
        from precede.data.datasets import load_sachs
        from precede.report import Heading, with_confidence
        from precede.runtime.deadline import Deadline, stopped_by_signals

        log_to_terminal(quiet)
        flags = {
            "score": score, "search": search, "pruning": pruning, "odd": odd, "max_time": max_time, "device": device,
            "random_state": None if resamples and not _draws(method) else seed,
            "checkpoint": None if checkpoint is None else str(checkpoint),
            "resume": (resume and (checkpoint is not None or out is None or not resamples)) or None,
            "knowledge": known_from(knowledge, root, sink, tier), "hidden": hidden,
        }  # fmt: skip
        model = _make_model(method, flags, option or [], quiet)
        if not stability and model.diagnose:
            model.diagnose = "quick"
        truth = load_sachs().graph if data == SACHS else None
        loading = loading_options(missing, leave_out, types, na, interventions, lags, group, decimal)
        inputs = {"the data": None if data == SACHS else data, "the knowledge": knowledge}
        _check_written(out, {**inputs, "the checkpoint": checkpoint})
        table = load_named(data, loading)
        if outcome is not None and outcome not in map(str, table.names):
            raise unknown_column("--outcome", outcome, table.names)
        course.enter_context(_only_user(out))
        signals = course.enter_context(stopped_by_signals(Deadline(None)))
        model.fit(table)
        writer = _Writer(out, model, table, loading, resume)
        with writer.showing_what_is_lost():
            if resamples:
                writer.write()  # Ctrl-C during the bootstrap costs no fit
            confidence = _bootstrap(model, table, resamples, seed, out, quiet, signals) if resamples else None
            heading = Heading(
                title or Path(data.removesuffix(".gz")).stem, note, data == SACHS if rows is None else rows,
                None if outcome is None else model.graph_.names[model.graph_.position(outcome)],
            )  # fmt: skip
            summary = None
            try:
                summary = _summarized(model, table, truth, confidence, heading, data, loading)
            finally:
                writer.write(confidence, summary)
        if as_json:
            told = {} if outcome is None else {"outcome": _causes(model, outcome, confidence).to_dict()}
            say_json({**told, **_summary(model, with_confidence(model, table, confidence), writer.files)})
        else:
            if outcome is not None:
                _show_outcome(_causes(model, outcome, confidence))
            _show(model, with_confidence(model, table, confidence), summary, writer.files, verbose, quiet)
        if signals.heard or (resamples and confidence is None):
            raise KeyboardInterrupt("before the end: the result is what was known by then.")


class _Writer:
    """Writes what belongs to a result into a folder, each time all that is known as one; nothing without a folder."""

    def __init__(self, out: Path | None, model: CausalEstimator, table: Table, loading: Options, resume: bool) -> None:
        self.out, self.model, self.table, self.loading = out, model, table, loading
        self.files: list[Path] = []
        self._obsolete = () if resume else (JOURNAL_FILE,)

    def write(self, confidence: Confidence | None = None, summary: Summary | None = None) -> None:
        """The graph with what is known about it; what is there of an earlier one goes."""
        from precede.files import write_together
        from precede.report.load import CONFIDENCE_FILE
        from precede.report.result_files import ABOUT_THE_GRAPH, result_texts, summary_texts

        if self.out is None:
            return
        texts = result_texts(self.model, self.table, self.loading)
        if confidence is not None:
            texts[CONFIDENCE_FILE] = confidence.to_json()
        if summary is not None:
            with _sheltered("the report"):
                texts |= summary_texts(summary)
        gone = [name for name in (*ABOUT_THE_GRAPH, *self._obsolete) if name not in texts]
        self.files = write_together(self.out, texts, remove=gone)
        self._obsolete = ()

    @contextmanager
    def showing_what_is_lost(self) -> Iterator[None]:
        """Show the graph where it cannot be written, before the error says why."""
        try:
            yield
        except (OSError, MemoryError):
            show_graph(SafeConsole(), self.model.graph_, self.model.diagnostics_)
            raise


@contextmanager
def _only_user(out: Path | None) -> Iterator[None]:
    """Make the folder and keep other runs out of it; Ctrl-C after its first files says that they are there."""
    from precede.files import folder_lock

    if out is None:
        yield
        return
    made = not out.exists()
    try:
        out.mkdir(parents=True, exist_ok=True)
        with folder_lock(out):
            yield
    except KeyboardInterrupt as error:
        if error.args or not (out / "result.json").exists() or not made:
            raise
        raise KeyboardInterrupt(f"after the graph was written to {out}; the report is missing.") from None
    finally:
        if made and out.is_dir() and not any(out.iterdir()):
            out.rmdir()


def _check_written(out: Path | None, inputs: dict[str, str | Path | None]) -> None:
    """Refuse, before anything is learned, to write over what is read or over what others have written."""
    from precede.evidence.confidence.resampling import FORMAT
    from precede.files import check_outputs, finish_swap
    from precede.report.load import MARKS
    from precede.report.result_files import OUTPUTS

    if out is not None:
        finish_swap(out)
        check_outputs(out, (*OUTPUTS, JOURNAL_FILE), {**MARKS, JOURNAL_FILE: FORMAT}, inputs)


def _summarized(
    model: CausalEstimator,
    table: Table,
    truth: CausalGraph | None,
    confidence: Confidence | None,
    heading: Heading,
    data: str,
    loading: Options,
) -> Summary | None:
    """What the report and the terminal say; None if that fails, which costs no result."""
    from precede.report import Provenance, summarize

    command = shlex.join(["precede", *sys.argv[1:]])
    with _sheltered("the summary"):
        return summarize(model, table, truth, confidence, heading, Provenance.now(data, command, loading))
    return None


@contextmanager
def _sheltered(what: str) -> Iterator[None]:
    """Say in a sentence that something failed after the search; the results that are written stay."""
    try:
        yield
    except (PrecedeError, OSError):
        raise
    except Exception as error:
        logger = logging.getLogger("precede")
        logger.debug("%s failed", what, exc_info=True)
        logger.error(
            f"{what} failed ({type(error).__name__}: {error}); the graph and its files are complete without it."
        )


def _bootstrap(
    model: CausalEstimator,
    table: Table,
    n_resamples: int,
    seed: int | None,
    out: Path | None,
    quiet: bool,
    signals: Signals,
) -> Confidence | None:
    """Resample; each finished fit is kept in OUT, for ``--resume``. None after Ctrl-C, which leaves the graph."""
    journal = None if out is None else out / JOURNAL_FILE
    try:
        with signals.breaking_off():
            return model.bootstrap(
                table, n_resamples, n_jobs=-1, random_state=seed, checkpoint=journal, verbose=not quiet
            )
    except KeyboardInterrupt:
        how = "with --out, --resume could continue it" if journal is None else "--resume continues it"
        logging.getLogger("precede").warning(f"the bootstrap was interrupted, so edges have no confidence; {how}.")
        return None


def _make_model(method: str, flags: Options, pairs: list[str], quiet: bool) -> CausalEstimator:
    """Build the estimator from the flags that were given and from ``--set``; nothing that was given is dropped."""
    from precede.corl import make_method
    from precede.options import declared, from_text

    given = {name: value for name, value in flags.items() if value is not None}
    hints = declared(type(make_method(method, given)))  # refuses a flag that the method does not have
    for name, text in (_assignment(pair) for pair in pairs):
        if name in given:
            raise OptionError(f"{name!r} was given twice: write it once, as a flag or as --set {name}=value.")
        make_method(method, {name: None})
        if name == "knowledge":
            raise OptionError("knowledge is read from a file: give it as --knowledge FILE.")
        given[name] = from_text(name, text, hints[name])
    return make_method(method, {"verbose": not quiet, **given})


def _draws(method: str) -> bool:
    """Whether a method draws at random; where it does not, ``--seed`` is for the resamples."""
    from precede.corl import methods

    known = methods()
    return method not in known or "random_state" in known[method].option_names()


def _assignment(pair: str) -> tuple[str, str]:
    """Split ``name=value``; dashes in the name are taken for underscores."""
    name, equals, text = pair.partition("=")
    if not equals:
        raise OptionError(f"--set {pair!r} cannot be used: write it as name=value.")
    return name.strip().replace("-", "_"), text.strip()


def _summary(model: CausalEstimator, known: Diagnostics, files: list[Path]) -> JsonObject:
    return {
        "order": list(model.causal_order_),
        "edges": edge_records(model.graph_, known),
        "score": model.score_,
        "diagnostics": model.diagnostics_.to_dict(),
        "files": [str(path) for path in files],
    }


def _show(
    model: CausalEstimator, known: Diagnostics, summary: Summary | None, files: list[Path], verbose: bool, quiet: bool
) -> None:
    """The result on one screen: the graph, the worst warnings with what to do, how much more there is, and where."""
    from precede.evidence.checks.record import counted
    from precede.report import said_in
    from precede.report.words import searched_words

    console = SafeConsole()
    for line in searched_words(known):
        console.print(line, highlight=False, markup=False)
    show_graph(console, model.graph_, known, verbose)
    if quiet:
        return
    said = known.said if summary is None else said_in(summary)
    warnings = [item for item in said if item.level == "warning"]
    for item in said if verbose else warnings[:WORST]:
        console.print(f"{MARKS[item.level]} {as_flags(item.sentence)}", highlight=False, markup=False)
        if item.remedy:
            console.print(f"  → {as_flags(item.remedy)}", highlight=False, markup=False)
    if not verbose:
        levels = Counter(item.level for item in said)
        counts = [(len(warnings) - WORST, "more warning"), (levels["note"], "note"), (levels["fine"], "check")]
        words = ", ".join(counted(number, noun) for number, noun in counts if number > 0)
        console.print(f"{words or 'Nothing'}{' passed' if levels['fine'] else ''} (--verbose)", highlight=False)
    if verbose and "score_choice" in known:
        console.print(known["score_choice"]["reason"], highlight=False, markup=False)
    if files:
        page = next((path for path in files if path.name == "report.html"), files[0])
        console.print(f"[bold]Written[/bold]  {page} and {len(files) - 1} other files", highlight=False, soft_wrap=True)


def _causes(model: CausalEstimator, outcome: str, confidence: Confidence | None) -> Outcome:
    return model.causes_of(model.graph_.names[model.graph_.position(outcome)], confidence)


def _show_outcome(found: Outcome) -> None:
    """The causes of the named outcome, before everything else."""
    console = SafeConsole()
    console.print(f"[bold]Causes of {escape(str(found.name))}[/bold]", highlight=False)
    for sentence in found.sentences:
        console.print(f"• {sentence}", highlight=False, markup=False)
