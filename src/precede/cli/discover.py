"""``precede discover``: from a table to a graph, and a folder that holds all that belongs to it."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from precede.cli.terminal import (
    SACHS,
    AsJson,
    DataFile,
    Debug,
    LeaveOut,
    Missing,
    Na,
    Quiet,
    Seed,
    Types,
    edge_records,
    kindly,
    log_to_terminal,
    read_table,
    show_graph,
)
from precede.errors import OptionError

if TYPE_CHECKING:
    from precede.confidence import Confidence
    from precede.data.load import Table
    from precede.estimator import CausalEstimator
    from precede.graph import CausalGraph


def discover(
    data: DataFile,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for the graph and all that belongs to it.")
    ] = None,
    method: Annotated[str, typer.Option("--method", "-m", help="One of 'precede methods'.")] = "corl",
    score: Annotated[
        str | None,
        typer.Option(
            help="auto, linear, nongaussian, quadratic, gp, sparse-linear, sparse-gp, sparse-gp-additive; for columns "
            "with levels discrete-bic, bdeu, degenerate-gaussian, conditional-gaussian."
        ),
    ] = None,
    pruning: Annotated[str | None, typer.Option(help="auto, threshold, bic, cam, cam-f, none.")] = None,
    knowledge: Annotated[Path | None, typer.Option(help="JSON or TOML file with what is known.")] = None,
    missing: Missing = "refuse",
    leave_out: LeaveOut = None,
    types: Types = None,
    na: Na = None,
    max_time: Annotated[float | None, typer.Option(help="Seconds for the score and the search.")] = None,
    checkpoint: Annotated[Path | None, typer.Option(help="File that training is saved to every few seconds.")] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the checkpoint, and with the bootstrap in OUT.")
    ] = False,
    device: Annotated[str | None, typer.Option(help="auto, cpu, cuda.")] = None,
    resamples: Annotated[
        int,
        typer.Option("--bootstrap", min=0, help="Learn again on so many resamples of the rows: how sure is each edge."),
    ] = 0,
    option: Annotated[
        list[str] | None, typer.Option("--set", help="Any other option of the method, as name=value; none is None.")
    ] = None,
    seed: Seed = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Learn the causal graph of a table."""
    with kindly(debug):
        from precede.data.datasets import load_sachs
        from precede.knowledge import Knowledge
        from precede.report import write_report, write_results

        log_to_terminal(quiet)
        flags = {
            "score": score, "pruning": pruning, "max_time": max_time, "device": device,
            "random_state": None if resamples and not _draws(method) else seed,
            "checkpoint": None if checkpoint is None else str(checkpoint),
            "resume": (resume and (checkpoint is not None or out is None or not resamples)) or None,
            "knowledge": None if knowledge is None else Knowledge.from_file(knowledge),
        }  # fmt: skip
        model = _make_model(method, flags, option or [], quiet)
        truth = load_sachs().graph if data == SACHS else None
        table = read_table(data, missing, leave_out, types, na)
        model.fit(table)
        # before the bootstrap: Ctrl-C there costs no fit
        files = [] if out is None else write_results(out, model, table)
        confidence = _bootstrap(model, table, resamples, seed, out, resume, quiet) if resamples else None
        if out is not None:
            if confidence is not None:
                confidence.to_json(out / "confidence.json")
                files.append(out / "confidence.json")
            files += write_report(
                out, model, table, truth=truth, confidence=confidence, title=Path(data.removesuffix(".gz")).stem
            )
        if as_json:
            typer.echo(json.dumps(_summary(model, confidence, files), default=str))
        else:
            _show(model, truth, confidence, files)


def _bootstrap(
    model: CausalEstimator,
    table: Table,
    n_resamples: int,
    seed: int | None,
    out: Path | None,
    resume: bool,
    quiet: bool,
) -> Confidence | None:
    """Resample; each finished fit is kept in OUT, for ``--resume``. None after Ctrl-C, which leaves the graph."""
    journal = None if out is None else out / "bootstrap.jsonl"
    if journal is not None and not resume:
        journal.unlink(missing_ok=True)
    try:
        return model.bootstrap(table, n_resamples, n_jobs=-1, random_state=seed, checkpoint=journal, verbose=not quiet)
    except KeyboardInterrupt:
        how = "with --out, --resume could go on with it" if journal is None else "--resume goes on with it"
        logging.getLogger("precede").warning(f"the bootstrap was interrupted, so edges have no confidence; {how}.")
        return None


def _make_model(method: str, flags: dict[str, Any], pairs: list[str], quiet: bool) -> CausalEstimator:
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

    return method not in methods() or "random_state" in methods()[method]._get_param_names()


def _assignment(pair: str) -> tuple[str, str]:
    """Split ``name=value``; dashes in the name are taken for underscores."""
    name, equals, text = pair.partition("=")
    if not equals:
        raise OptionError(f"--set {pair!r} cannot be used: write it as name=value.")
    return name.strip().replace("-", "_"), text.strip()


def _summary(model: CausalEstimator, confidence: Confidence | None, files: list[Path]) -> dict[str, Any]:
    return {
        "order": list(model.causal_order_),
        "edges": edge_records(model.graph_, confidence),
        "score": model.score_,
        "diagnostics": model.diagnostics_,
        "files": [str(path) for path in files],
    }


def _show(model: CausalEstimator, truth: CausalGraph | None, confidence: Confidence | None, files: list[Path]) -> None:
    from precede.diagnostics import stability
    from precede.metrics.structure import evaluate

    console = Console()
    graph = model.graph_
    show_graph(console, graph, confidence)
    lines = _sentences(model.diagnostics_)
    if confidence is not None:
        shares = confidence.edge_probability.to_numpy()
        lines += [stability(graph.edges, shares, graph.names).sentence, *confidence.remarks]
    for line in lines:
        console.print(f"• {line}", highlight=False, markup=False)
    if truth is not None:
        metrics = evaluate(graph, truth)
        console.print(
            f"• Against the {truth.n_edges}-edge consensus network: SHD {metrics.shd}, TPR {metrics.tpr:.2f}, "
            f"order TPR {metrics.order_tpr:.2f}.", highlight=False)  # fmt: skip
    if files:
        console.print(
            f"[bold]Written[/bold]  {files[0].parent}: {', '.join(path.name for path in files)}", highlight=False
        )


def _sentences(diagnostics: dict[str, Any]) -> list[str]:
    """What the search found, in plain words."""
    lines = list(diagnostics.get("remarks", []))
    if "score_choice" in diagnostics:
        lines.append(diagnostics["score_choice"]["reason"])
    search = diagnostics.get("search", {})
    if "iterations" in search:
        lines.append(f"The policy was trained for {search['iterations']} iterations in {search['seconds']:.0f} s.")
    lines += [check["sentence"] for check in diagnostics.get("checks", [])]
    return lines
