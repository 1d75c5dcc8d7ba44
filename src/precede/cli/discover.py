"""``precede discover``: from a table to a graph, and a folder that holds everything that belongs to it."""

from __future__ import annotations

import logging
import math
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape

import precede
from precede import report
from precede.cli.flags import SACHS, SafeConsole, command, load_named, name_of, say_json
from precede.errors import OptionError, PrecedeError, unknown_column
from precede.evidence.checks.record import SOURCE_WORDS, Diagnostics, EdgeDiagnostics, counted, unchecked_edges
from precede.files import check_outputs, finish_swap, folder_lock
from precede.graph import CausalGraph, MixedGraph
from precede.knowledge import Knowledge
from precede.options import CountOrZero, Options
from precede.report.summary import LEVEL_MARKS, Summary, said_in
from precede.runtime import Deadline, Signals, stopped_by_signals
from precede.strict_json import JsonObject

if TYPE_CHECKING:
    from precede.effects import Outcome
    from precede.estimator import CausalEstimator

WORST, FEW_EDGES, ORDER_LENGTH = 3, 12, 200
"""Warnings, lines of the table of edges and letters of the order on a screen."""

JOURNAL_FILE = "bootstrap.jsonl"
"""The resamples that are finished, in the folder of the results."""


@command
def discover(
    data: str,
    *,
    out: Path | None = None,
    method: str = "corl",
    score: str | None = None,
    search: str | None = None,
    pruning: str | None = None,
    knowledge: Path | None = None,
    known: Knowledge | None,
    hidden: str | None = None,
    reading: Options,
    odd: str | None = None,
    outcome: str | None = None,
    max_time: float | None = None,
    checkpoint: Path | None = None,
    resume: bool = False,
    device: str | None = None,
    bootstrap: CountOrZero = 0,
    stability: bool = True,
    rows: bool | None = None,
    title: str | None = None,
    note: str | None = None,
    set_: list[str] | None = None,
    seed: int | None = None,
    verbose: bool = False,
    quiet: bool = False,
    json_: bool = False,
) -> None:
    """Learn the causal graph of a table.

    Parameters
    ----------
    out
        Folder for the graph and everything that belongs to it.
    method
        One of 'precede methods'.
    score
        auto, linear, linear-any, sparse-linear, nongaussian, quadratic, gp, sparse-gp, sparse-gp-additive,
        location-scale; for columns with levels discrete-bic, bdeu, degenerate-gaussian, conditional-gaussian.
    search
        auto, policy (reinforcement learning: always trains), local, exact.
    pruning
        auto, threshold, bic, cam, cam-f, none.
    hidden
        Whether columns may share a cause that is not in the table: none (default), allowed.
    odd
        Cells too far out: missing (default), keep.
    outcome
        The variable to explain: its causes are told first.
    max_time
        Stop after this many seconds, with the best found.
    checkpoint
        File that training is saved to every few seconds.
    resume
        Continue from the checkpoint, and with the bootstrap in OUT.
    device
        auto, cpu, cuda.
    bootstrap
        Learn again on this many resamples, to see how sure each edge is.
    stability
        Resample quickly, to say how sure each edge is.
    rows
        Whether plots of the report show single rows, or densities (default).
    title
        Title of the report, in place of the file's name.
    note
        A paragraph of your own at the top of the report.
    set_
        Any other option of the method, as name=value; none is None.
    verbose
        Show every edge, every check and the log of the search.
    """
    from precede.report.collect import with_confidence
    from precede.report.folder import CONFIDENCE_FILE

    flags = {
        "score": score, "search": search, "pruning": pruning, "odd": odd, "max_time": max_time, "device": device,
        "random_state": None if bootstrap and not _draws(method) else seed,
        "checkpoint": None if checkpoint is None else str(checkpoint),
        "resume": (resume and (checkpoint is not None or out is None or not bootstrap)) or None,
        "knowledge": known, "hidden": hidden,
    }  # fmt: skip
    model = _make_model(method, flags, set_ or [], quiet)
    if not stability and model.diagnose:
        model.diagnose = "quick"
    truth = precede.load_sachs().graph if data == SACHS else None
    inputs = {"the data": None if data == SACHS else data, "the knowledge": knowledge}
    _check_written(out, {**inputs, "the checkpoint": checkpoint})
    table = load_named(data, reading)
    if outcome is not None and outcome not in map(str, table.names):
        raise unknown_column("outcome", outcome, table.names)
    with _only_user(out), stopped_by_signals(Deadline(None)) as signals:
        model.fit(table)
        name = None if outcome is None else model.graph_.names[model.graph_.position(outcome)]
        heading = report.Heading(
            title or Path(data.removesuffix(".gz")).stem, note, data == SACHS if rows is None else rows, name
        )
        journal = None if out is None else out / JOURNAL_FILE
        if journal is not None and not resume:
            journal.unlink(missing_ok=True)
        known_texts: dict[str, str] = {}  # the files that say more about the graph
        write = list[Path] if out is None else partial(report.write_results, out, model, table, reading, known_texts)
        confidence = summary = None
        try:
            if bootstrap:
                write()  # Ctrl-C during the bootstrap costs no fit
                how: Options = {"n_jobs": -1, "random_state": seed, "checkpoint": journal, "verbose": not quiet}
                confidence = _resampled(partial(model.bootstrap, table, bootstrap, **how), signals, journal)
                known_texts |= {} if confidence is None else {CONFIDENCE_FILE: confidence.to_json()}
            try:
                origin = report.Provenance.now(data, shlex.join(["precede", *sys.argv[1:]]), reading)
                collect = partial(report.summarize, model, table, truth, confidence, heading, origin)
                summary = _summarized(collect, known_texts)
            finally:
                files = write()
        except (OSError, MemoryError):
            _show_graph(SafeConsole(), model.graph_, model.diagnostics_)  # which cannot be written
            raise
        known_of_edges = with_confidence(model, table, confidence)
        causes = None if name is None else model.causes_of(name, confidence)
        if json_:
            told = {} if causes is None else {"outcome": causes.to_dict()}
            say_json({**told, **_summary(model, known_of_edges, files)})
        else:
            _show(model, known_of_edges, summary, causes, files, verbose, quiet)
        if signals.heard or (bootstrap and confidence is None):
            raise KeyboardInterrupt("before the end: the result is what was known by then.")


@contextmanager
def _only_user(out: Path | None) -> Iterator[None]:
    """Make the folder and keep other runs out of it; Ctrl-C after its first files says that they are there."""
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
    from precede.report.folder import MARKS, OUTPUTS

    if out is not None:
        finish_swap(out)
        check_outputs(out, (*OUTPUTS, JOURNAL_FILE), {**MARKS, JOURNAL_FILE: FORMAT}, inputs)


def _summarized(collect: Callable[[], Summary], texts: dict[str, str]) -> Summary | None:
    """What the terminal says and, among the texts, the report; None if that fails, which costs no result."""
    from precede.report.folder import summary_texts

    try:
        summary = collect()
        texts |= summary_texts(summary)
    except (PrecedeError, OSError):
        raise
    except Exception as error:
        logger = logging.getLogger("precede")
        logger.debug("the report failed", exc_info=True)
        logger.error(
            f"the report failed ({type(error).__name__}: {error}); the graph and its files are complete without it."
        )
        return None
    return summary


def _resampled(
    bootstrap: Callable[[], precede.Confidence], signals: Signals, journal: Path | None
) -> precede.Confidence | None:
    """Resample; each finished fit is kept in OUT, for ``--resume``. None after Ctrl-C, which leaves the graph."""
    try:
        with signals.breaking_off():
            return bootstrap()
    except KeyboardInterrupt:
        how = "with --out, --resume could continue it" if journal is None else "--resume continues it"
        logging.getLogger("precede").warning(f"the bootstrap was interrupted, so edges have no confidence; {how}.")
        return None


def _make_model(method: str, flags: Options, pairs: list[str], quiet: bool) -> CausalEstimator:
    """Build the estimator from the flags that were given and from ``--set``; nothing that was given is dropped."""
    from precede.corl import make_method

    given, texts = {name: value for name, value in flags.items() if value is not None}, dict[str, str]()
    for name, text in map(_assignment, pairs):
        if name in given or name in texts:
            raise OptionError(f"{name!r} was given twice: write it once, as a flag or as --set {name}=value.")
        make_method(method, {name: None})
        if name == "knowledge":
            raise OptionError("knowledge is read from a file: give it as --knowledge FILE.")
        texts[name] = text
    return make_method(method, {"verbose": not quiet, **given}, texts)


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
    """For ``--json``: of each edge the names and weight, and what the checks found."""
    graph = model.graph_
    found = {(graph.names[edge.cause], graph.names[edge.effect]): edge for edge in known.edges}
    edges: list[JsonObject] = []
    for cause, effect, weight in graph.edge_list():
        edges.append({"cause": cause, "effect": effect, "weight": weight})
        if (edge := found.get((cause, effect))) is not None:
            edges[-1] |= {"strength": edge.strength, "confidence": edge.confidence, "source": edge.source}
            if edge.policy_probability is not None:
                edges[-1]["policy_probability"] = edge.policy_probability
    return {
        "order": list(model.causal_order_),
        "edges": edges,
        "score": model.score_,
        "diagnostics": model.diagnostics_.to_dict(),
        "files": [str(path) for path in files],
    }


def _show(
    model: CausalEstimator,
    known: Diagnostics,
    summary: Summary | None,
    causes: Outcome | None,
    files: list[Path],
    verbose: bool,
    quiet: bool,
) -> None:
    """The result on one screen: the graph, the worst warnings with what to do, how much more there is, and where."""
    from precede.report.words import searched_words

    console = SafeConsole()
    if causes is not None:
        console.print(f"[bold]Causes of {escape(str(causes.name))}[/bold]")
        console.say(*(f"• {sentence}" for sentence in causes.sentences))
    console.say(*searched_words(known))
    _show_graph(console, model.graph_, known, verbose)
    if quiet:
        return
    said = known.said if summary is None else said_in(summary)
    warnings = [item for item in said if item.level == "warning"]
    for item in said if verbose else warnings[:WORST]:
        console.say(f"{LEVEL_MARKS[item.level]} {item.sentence}")
        if item.remedy:
            console.say(f"  → {item.remedy}")
    if not verbose:
        levels = Counter(item.level for item in said)
        counts = [(len(warnings) - WORST, "more warning"), (levels["note"], "note"), (levels["fine"], "check")]
        words = ", ".join(counted(number, noun) for number, noun in counts if number > 0)
        console.say(f"{words or 'Nothing'}{' passed' if levels['fine'] else ''} (--verbose)")
    if verbose and "score_choice" in known:
        console.say(known["score_choice"]["reason"])
    if files:
        page = next((path for path in files if path.name == "report.html"), files[0])
        console.written(page, f" and {len(files) - 1} other files", wrap=True)


def _show_graph(console: SafeConsole, graph: CausalGraph, known: Diagnostics, verbose: bool = False) -> None:
    """Print the order and the strongest edges: standardized strength, confidence, where the direction comes from."""
    if graph.pag is not None:
        _show_marks(console, graph.pag)
        return
    order = " < ".join(map(name_of, graph.order))
    if len(order) > ORDER_LENGTH and not verbose:
        order = f"{order[:ORDER_LENGTH].rpartition(' < ')[0]} < …"
    console.print(f"[bold]Causal order[/bold]  {order}")
    if not graph.n_edges:
        console.print("No edges.")
        return
    shown = sorted(
        known.edges or unchecked_edges(graph),
        key=lambda edge: -abs(edge.strength) if math.isfinite(edge.strength) else 0.0,
    )
    shown = shown if verbose else shown[:FEW_EDGES]
    policy = not known.has_confidence and any(edge.policy_probability is not None for edge in shown)
    rows = []
    for edge in shown:
        tip = "→" if edge.directed else "–"
        sure = edge.policy_probability if policy else edge.confidence
        rests = "" if edge.influence is None else f"; rests on {counted(len(edge.influence.rows), 'row')}"
        rows.append((
            f"{name_of(graph.names[edge.cause])} {tip} {name_of(graph.names[edge.effect])}",
            _strength_words(edge), "–" if sure is None else f"{sure:.2f}", SOURCE_WORDS[edge.source] + rests,
        ))  # fmt: skip
    headings = ("Edge", "Strength", "Policy" if policy else "Confidence", "Direction from")
    console.table(headings, rows, ("Strength", "Policy", "Confidence"), box=None, pad_edge=False, header_style="bold")
    which = "" if len(shown) == graph.n_edges else f", the {len(shown)} strongest shown"
    meaning = "; confidence: share of fits to resampled rows with the edge" if known.has_confidence else ""
    meaning = "; policy: the pretrained policy's probability" if policy else meaning
    console.print(f"{counted(graph.n_edges, 'edge')}{which}; strength in standard deviations{meaning}.")


def _show_marks(console: SafeConsole, pag: MixedGraph) -> None:
    """Print the edges with their marks, and what the marks mean."""
    for first, second, mark in pag.edge_list():
        console.print(f"  {name_of(first)} {mark} {name_of(second)}")
    for mark, words, count in pag.legend():
        console.print(f"[bold]A {mark} B[/bold]  {words} ({count})")


def _strength_words(edge: EdgeDiagnostics) -> str:
    """Standardized, with a sign where the effect rises or falls throughout."""
    if not math.isfinite(edge.strength):
        return "–"
    return {"rising": "+", "falling": "−", "mixed": "±"}[edge.trend] + f"{edge.strength:.2f}"
