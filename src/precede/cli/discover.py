"""``precede discover``: from a table to a graph, and a folder that holds everything that belongs to it."""

from __future__ import annotations

import logging
import shlex
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from precede.cli.terminal import (
    SACHS,
    AsJson,
    DataFile,
    Debug,
    Group,
    Interventions,
    Lags,
    LeaveOut,
    Missing,
    Na,
    Quiet,
    SafeConsole,
    Seed,
    Types,
    as_flags,
    edge_records,
    kindly,
    load_named,
    loading_options,
    log_to_terminal,
    show_graph,
)
from precede.errors import OptionError, PrecedeError, unknown_column
from precede.strict_json import JsonObject, to_json

if TYPE_CHECKING:
    from precede.confidence import Confidence
    from precede.data.load import Table
    from precede.diagnostics import Diagnostics
    from precede.effects import Outcome
    from precede.estimator import CausalEstimator
    from precede.graph import CausalGraph
    from precede.options import Options
    from precede.report import Heading
    from precede.report.summary import Summary
    from precede.runtime.deadline import Signals

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
            help="auto, linear, nongaussian, quadratic, gp, sparse-linear, sparse-gp, sparse-gp-additive; for columns "
            "with levels discrete-bic, bdeu, degenerate-gaussian, conditional-gaussian."
        ),
    ] = None,
    search: Annotated[
        str | None, typer.Option(help="auto, policy (reinforcement learning: always trains), local, exact.")
    ] = None,
    pruning: Annotated[str | None, typer.Option(help="auto, threshold, bic, cam, cam-f, none.")] = None,
    knowledge: Annotated[Path | None, typer.Option(help="JSON or TOML file with what is known.")] = None,
    root: Annotated[list[str] | None, typer.Option(help="A variable without causes; may be repeated.")] = None,
    sink: Annotated[list[str] | None, typer.Option(help="A variable without effects; may be repeated.")] = None,
    tier: Annotated[str | None, typer.Option(help="What comes first, from early to late: 'a,b<c'.")] = None,
    missing: Missing = "em",
    leave_out: LeaveOut = None,
    types: Types = None,
    na: Na = None,
    interventions: Interventions = None,
    lags: Lags = 0,
    group: Group = None,
    outcome: Annotated[str | None, typer.Option(help="The variable whose causes are told first.")] = None,
    max_time: Annotated[float | None, typer.Option(help="Seconds for the score and the search.")] = None,
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
    quiet: Quiet = False,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Learn the causal graph of a table."""
    with kindly(debug), ExitStack() as course:
        from precede.cli.known import known_from
        from precede.data.datasets import load_sachs
        from precede.report import Heading, with_confidence, write_summary
        from precede.report.load import CONFIDENCE_FILE
        from precede.runtime.deadline import Deadline, stopped_by_signals

        log_to_terminal(quiet)
        flags = {
            "score": score, "search": search, "pruning": pruning, "max_time": max_time, "device": device,
            "random_state": None if resamples and not _draws(method) else seed,
            "checkpoint": None if checkpoint is None else str(checkpoint),
            "resume": (resume and (checkpoint is not None or out is None or not resamples)) or None,
            "knowledge": known_from(knowledge, root, sink, tier),
        }  # fmt: skip
        model = _make_model(method, flags, option or [], quiet)
        if not stability and model.diagnose:
            model.diagnose = "quick"
        truth = load_sachs().graph if data == SACHS else None
        loading = loading_options(missing, leave_out, types, na, interventions, lags, group)
        table = load_named(data, loading)
        if outcome is not None and outcome not in map(str, table.names):
            raise unknown_column("--outcome", outcome, table.names)
        course.enter_context(_only_user(out))
        signals = course.enter_context(stopped_by_signals(Deadline(None)))
        model.fit(table)
        # before the bootstrap: Ctrl-C there costs no fit
        files = [] if out is None else _write_anew(out, model, table, resume)
        confidence = _bootstrap(model, table, resamples, seed, out, quiet, signals) if resamples else None
        heading = Heading(title or Path(data.removesuffix(".gz")).stem, note, data == SACHS if rows is None else rows)
        summary = _summarized(model, table, truth, confidence, heading, data, loading)
        if out is not None:
            if confidence is not None:
                confidence.to_json(out / CONFIDENCE_FILE)
                files.append(out / CONFIDENCE_FILE)
            if summary is not None:
                with _sheltered("the report"):
                    files += write_summary(out, summary)
        if as_json:
            told = {} if outcome is None else {"outcome": _causes(model, outcome, confidence).to_dict()}
            typer.echo(to_json({**told, **_summary(model, confidence, files)}))
        else:
            if outcome is not None:
                _show_outcome(_causes(model, outcome, confidence))
            _show(model, with_confidence(model, table, confidence), summary, files)
        if signals.heard or (resamples and confidence is None):
            raise KeyboardInterrupt("before the end: the result is what was known by then.")


@contextmanager
def _only_user(out: Path | None) -> Iterator[None]:
    """Make the folder and keep other runs out of it; Ctrl-C after its first files says that they are there."""
    from precede.files import only_user

    if out is None:
        yield
        return
    made = not out.exists()
    try:
        out.mkdir(parents=True, exist_ok=True)
        with only_user(out):
            yield
    except KeyboardInterrupt as error:
        if error.args or not (out / "result.json").exists() or not made:
            raise
        raise KeyboardInterrupt(f"after the graph was written to {out}; the report is missing.") from None
    finally:
        if made and out.is_dir() and not any(out.iterdir()):
            out.rmdir()


def _write_anew(out: Path, model: CausalEstimator, table: Table, resume: bool) -> list[Path]:
    """Write the graph; what an earlier run left about its own graph is removed first, and its resamples, too."""
    from precede.report import write_results
    from precede.report.load import CONFIDENCE_FILE
    from precede.report.report_files import REPORT_FILE, SUMMARY_FILE

    for name in (CONFIDENCE_FILE, SUMMARY_FILE, REPORT_FILE, *(() if resume else (JOURNAL_FILE,))):
        (out / name).unlink(missing_ok=True)
    return write_results(out, model, table)


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
    from precede.discovery import make_method, methods
    from precede.options import declared, from_text

    given = {name: value for name, value in flags.items() if value is not None}
    make_method(method, given)  # refuses a flag that the method does not have
    hints = declared(methods()[method])
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
    from precede.discovery import methods

    known = methods()
    return method not in known or "random_state" in known[method].option_names()


def _assignment(pair: str) -> tuple[str, str]:
    """Split ``name=value``; dashes in the name are taken for underscores."""
    name, equals, text = pair.partition("=")
    if not equals:
        raise OptionError(f"--set {pair!r} cannot be used: write it as name=value.")
    return name.strip().replace("-", "_"), text.strip()


def _summary(model: CausalEstimator, confidence: Confidence | None, files: list[Path]) -> JsonObject:
    return {
        "order": list(model.causal_order_),
        "edges": edge_records(model.graph_, confidence),
        "score": model.score_,
        "diagnostics": model.diagnostics_.to_dict(),
        "files": [str(path) for path in files],
    }


def _show(model: CausalEstimator, known: Diagnostics, summary: Summary | None, files: list[Path]) -> None:
    """The graph, and below it what the report says too: warnings first."""
    from precede.report import sentences_of
    from precede.report.words import searched_words

    console = SafeConsole()
    for line in searched_words(known):
        console.print(line, highlight=False, markup=False)
    show_graph(console, model.graph_, known)
    lines = known.sentences if summary is None else sentences_of(summary)
    for line in [*lines, *([known["score_choice"]["reason"]] if "score_choice" in known else [])]:
        console.print(f"• {as_flags(line)}", highlight=False, markup=False)
    if files:
        console.print(
            f"[bold]Written[/bold]  {files[0].parent}: {', '.join(path.name for path in files)}", highlight=False
        )


def _causes(model: CausalEstimator, outcome: str, confidence: Confidence | None) -> Outcome:
    return model.causes_of(model.graph_.names[model.graph_.position(outcome)], confidence)


def _show_outcome(found: Outcome) -> None:
    """The causes of the named outcome, before everything else."""
    console = SafeConsole()
    console.print(f"[bold]Causes of {escape(str(found.name))}[/bold]", highlight=False)
    for sentence in found.sentences:
        console.print(f"• {sentence}", highlight=False, markup=False)
