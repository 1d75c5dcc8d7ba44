"""The command line: flags become calls of the functions below it."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.logging import RichHandler
from rich.markup import escape
from rich.table import Table as TerminalTable

from precede.data.datasets import load_sachs
from precede.data.load import load_table
from precede.data.simulate import simulate as simulate_dataset
from precede.device import choose_device
from precede.discovery import CORL, methods
from precede.errors import OptionError, PrecedeError, check_choice
from precede.estimator import CausalEstimator
from precede.experiments.reproduce import list_experiments, parse_seeds
from precede.experiments.reproduce import reproduce as reproduce_experiment
from precede.graph import CausalGraph
from precede.knowledge import Knowledge
from precede.metrics.structure import evaluate as evaluate_graph
from precede.pretraining.command import command_settings
from precede.pretraining.listeners import pretrain_into
from precede.progress import ProgressBar, logger
from precede.report import rebuild_report, write_report
from precede.report.folder import write_results

app = typer.Typer(
    help="Learn which variable precedes which: causal discovery by ordering.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    add_completion=False,
    pretty_exceptions_enable=False,
    epilog="Try it: [bold]precede discover sachs --out results/[/bold]",
)

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show nothing but the result.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON on standard output.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Seed = Annotated[int | None, typer.Option("--seed", help="Same seed, same result.")]


@contextmanager
def kindly(debug: bool) -> Iterator[None]:
    """Turn an error that the user can mend into one sentence and exit code 2."""
    try:
        yield
    except PrecedeError as error:
        if debug:
            raise
        Console(stderr=True, soft_wrap=True).print(
            f"[bold red]precede:[/bold red] {escape(str(error))}", highlight=False
        )
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        Console(stderr=True).print(
            "[bold red]precede:[/bold red] interrupted before there was a result.", highlight=False
        )
        raise typer.Exit(130) from None


@app.command()
def discover(
    data: Annotated[str, typer.Argument(help="A CSV or Parquet file, or 'sachs' for the bundled protein data.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for the graph and all that belongs to it.")
    ] = None,
    method: Annotated[str, typer.Option("--method", "-m", help="One of 'precede methods'.")] = "corl",
    score: Annotated[
        str | None, typer.Option(help="auto, linear, nongaussian, quadratic, gp, sparse-linear, sparse-gp.")
    ] = None,
    pruning: Annotated[str | None, typer.Option(help="auto, threshold, bic, cam, cam-f, none.")] = None,
    knowledge: Annotated[Path | None, typer.Option(help="JSON or TOML file with what is known.")] = None,
    missing: Annotated[str, typer.Option(help="What to do with missing values: refuse, drop, impute.")] = "refuse",
    max_time: Annotated[float | None, typer.Option(help="Seconds for the search.")] = None,
    checkpoint: Annotated[Path | None, typer.Option(help="File that training is saved to every few seconds.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint.")] = False,
    device: Annotated[str | None, typer.Option(help="auto, cpu, cuda.")] = None,
    resamples: Annotated[
        int, typer.Option("--bootstrap", help="Learn again on so many resamples of the rows: how sure is each edge.")
    ] = 0,
    option: Annotated[
        list[str] | None, typer.Option("--set", help="Any other option of the method, as name=value.")
    ] = None,
    seed: Seed = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Learn the causal graph of a table."""
    with kindly(debug):
        _log_to_terminal(quiet)
        model = _make_model(method, {
            "score": score, "pruning": pruning, "max_time": max_time, "device": device, "random_state": seed,
            "checkpoint": None if checkpoint is None else str(checkpoint), "resume": resume or None,
            "knowledge": None if knowledge is None else Knowledge.from_file(knowledge),
            "verbose": not quiet, **_assignments(option or []),
        })  # fmt: skip
        truth = load_sachs().graph if data == "sachs" else None
        table = load_table(load_sachs().data if data == "sachs" else data, missing=missing)
        model.fit(table)
        files = (
            [] if out is None else write_results(out, model, table)
        )  # before the bootstrap: Ctrl-C there costs no fit
        confidence = None
        if resamples:
            confidence = model.bootstrap(table, n_resamples=resamples, n_jobs=-1, random_state=seed, verbose=not quiet)
        if out is not None:
            files += write_report(out, model, table, truth=truth, confidence=confidence, title=Path(data).stem)
        if as_json:
            typer.echo(json.dumps(_summary(model, files), default=str))
        else:
            _show(model, truth, files)


def _make_model(method: str, options: dict[str, Any]) -> CausalEstimator:
    """Build the estimator from the options that were given; one that the method does not have is refused."""
    known = methods()
    check_choice("method", method, known)
    accepted = known[method]._get_param_names()
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in accepted and name not in ("random_state", "verbose", "device"):
            check_choice(f"option of {method!r}", name, accepted)
    return known[method](**{name: value for name, value in given.items() if name in accepted})


def _assignments(pairs: list[str]) -> dict[str, Any]:
    """Read ``name=value``; a value is JSON where it can be (numbers, true, null), else text."""
    result: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals:
            raise OptionError(f"--set {pair!r} will not do: write it as name=value.")
        try:
            result[name.strip().replace("-", "_")] = json.loads(text)
        except json.JSONDecodeError:
            result[name.strip().replace("-", "_")] = text
    return result


def _log_to_terminal(quiet: bool) -> None:
    logger.handlers = [RichHandler(console=Console(stderr=True), show_path=False, show_level=False)]
    logger.setLevel(logging.ERROR if quiet else logging.INFO)


def _summary(model: CausalEstimator, files: list[Path]) -> dict[str, Any]:
    return {
        "order": list(model.causal_order_),
        "edges": [{"cause": i, "effect": j, "weight": w} for i, j, w in model.graph_.edge_list()],
        "score": model.score_,
        "diagnostics": model.diagnostics_,
        "files": [str(path) for path in files],
    }


def _show(model: CausalEstimator, truth: CausalGraph | None, files: list[Path]) -> None:
    console = Console()
    graph = model.graph_
    _show_graph(console, graph)
    for line in sentences(model.diagnostics_):
        console.print(f"• {line}", highlight=False)
    if truth is not None:
        metrics = evaluate_graph(graph, truth)
        console.print(
            f"• Against the {truth.n_edges}-edge consensus network: SHD {metrics.shd}, TPR {metrics.tpr:.2f}, "
            f"order TPR {metrics.order_tpr:.2f}.", highlight=False)  # fmt: skip
    if files:
        console.print(
            f"[bold]Written[/bold]  {files[0].parent}: {', '.join(path.name for path in files)}", highlight=False
        )


def _show_graph(console: Console, graph: CausalGraph) -> None:
    names = " < ".join(map(str, graph.order))
    console.print(f"[bold]Causal order[/bold]  {escape(names)}", highlight=False)
    table = TerminalTable("cause", "effect", "weight", title=f"{graph.n_edges} edges", title_justify="left")
    for cause, effect, weight in graph.edge_list():
        table.add_row(escape(str(cause)), escape(str(effect)), f"{weight:+.3f}")
    console.print(table)


def sentences(diagnostics: dict[str, Any]) -> list[str]:
    """What the search found, in plain words."""
    lines = list(diagnostics.get("remarks", []))
    if "score_choice" in diagnostics:
        lines.append(diagnostics["score_choice"]["reason"])
    search = diagnostics.get("search", {})
    if "policy_score" in search:
        lines.append(
            f"The policy alone reached {search['policy_score']:.2f} in {search['iterations']} iterations "
            f"({search['seconds']:.0f} s); polish added {search.get('polish_gain', 0.0):.2f}; "
            f"a greedy order gets {search['greedy_score']:.2f}."
        )
    lines += [check["sentence"] for check in diagnostics.get("checks", [])]
    return lines


FIRST_LOOK = (
    "This is a first look: a pretrained policy's guess at the order and a linear graph along it, neither searched nor "
    "checked; 'precede discover' does both."
)


@app.command()
def order(
    data: Annotated[str, typer.Argument(help="A CSV or Parquet file, or 'sachs' for the bundled protein data.")],
    pretrained: Annotated[str, typer.Option(help="default, paper, or the path of a saved policy.")] = "default",
    missing: Annotated[str, typer.Option(help="What to do with missing values: refuse, drop, impute.")] = "refuse",
    quiet: Quiet = False,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Show at once the order and graph that a pretrained policy sees: a first look."""
    with kindly(debug):
        _log_to_terminal(quiet)
        table = load_table(load_sachs().data if data == "sachs" else data, missing=missing)
        model = CORL(
            score="linear", pruning="bic", polish=False, pretrained=pretrained, n_iterations=0, diagnose=False,
            device="cpu", random_state=0, verbose=False,
        ).fit(table)  # fmt: skip
        if as_json:
            summary = _summary(model, [])
            typer.echo(json.dumps({"order": summary["order"], "edges": summary["edges"], "remark": FIRST_LOOK}))
            return
        _show_graph(Console(), model.graph_)
        if not quiet:
            for line in (*model.diagnostics_["remarks"], FIRST_LOOK):
                Console().print(f"• {line}", highlight=False)


@app.command()
def pretrain(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the log, checkpoints and weights.")],
    variant: Annotated[str, typer.Option(help="default, or paper for the paper's transformer.")] = "default",
    encoder: Annotated[str | None, typer.Option(help="moments or alternating, for the default variant.")] = None,
    name: Annotated[str | None, typer.Option(help="Of the files; the variant's name unless given.")] = None,
    max_time: Annotated[float, typer.Option(help="Seconds of training, over all resumed runs.")] = 420.0,
    steps: Annotated[int | None, typer.Option(help="End after so many steps, if that is sooner.")] = None,
    tasks_per_step: Annotated[int | None, typer.Option(help="Tasks of 30 variables and 400 samples in a step.")] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda.")] = "auto",
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the folder's checkpoint.")] = False,
    tiny: Annotated[bool, typer.Option("--tiny", help="Small tasks and validation, to try it on a CPU.")] = False,
    seed: Seed = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Train a policy on simulated data with known graphs, and save it for 'pretrained='."""
    with kindly(debug):
        _log_to_terminal(quiet)
        settings = command_settings(
            variant, encoder, tiny=tiny, max_time=max_time, n_steps=steps, tasks_per_step=tasks_per_step,
            random_state=seed, device=str(choose_device(device)),
        )  # fmt: skip
        name = name or variant
        total = int(max_time) if steps is None else steps
        try:
            with ProgressBar("pretraining", total, not quiet) as progress:
                for record in pretrain_into(out, name, settings, resume=resume):
                    progress.update(int(record.seconds) if steps is None else record.step, loss=record.loss)
                    if record.validation:
                        at = f"step {record.step}, {record.seconds:.0f} s"
                        logger.info("%s: order TPR %.3f on the validation suite", at, record.validation["mean"])
        except KeyboardInterrupt:
            logger.warning("interrupted; --resume goes on from the last checkpoint in %s", out)
            raise typer.Exit(130) from None
        if not quiet:
            Console().print(
                f"[bold]Written[/bold]  {out}: {name}.safetensors, {name}.jsonl, {name}.pt", highlight=False
            )


@app.command()
def simulate(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for data.csv and truth.csv.")],
    graph: Annotated[str, typer.Option(help="er (Erdős–Rényi) or sf (scale-free).")] = "er",
    variables: Annotated[int, typer.Option(help="Number of variables.")] = 30,
    degree: Annotated[int, typer.Option(help="Edges per variable.")] = 2,
    sem: Annotated[
        str, typer.Option(help="linear-gaussian, lingam, gp, gp-additive, quadratic, mlp.")
    ] = "linear-gaussian",
    samples: Annotated[int, typer.Option(help="Number of rows.")] = 3000,
    noise: Annotated[str, typer.Option(help="equal or unequal noise variances.")] = "equal",
    standardize: Annotated[bool, typer.Option("--standardize", help="Give every column variance 1.")] = False,
    seed: Seed = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Draw a data set whose causal graph is known."""
    with kindly(debug):
        made = simulate_dataset(
            graph=graph, n_variables=variables, degree=degree, sem=sem, n_samples=samples, noise=noise,
            standardize=standardize, random_state=seed,
        )  # fmt: skip
        out.mkdir(parents=True, exist_ok=True)
        made.data.to_csv(out / "data.csv", index=False)
        made.graph.to_csv(out / "truth.csv")
        made.graph.to_json(out / "truth.json")
        if not quiet:
            Console().print(
                f"{samples} rows of {variables} variables, {made.graph.n_edges} edges: {out}/data.csv, truth.csv"
            )


@app.command()
def evaluate(
    estimated: Annotated[Path, typer.Argument(help="Adjacency matrix (CSV) or graph (JSON).")],
    truth: Annotated[Path, typer.Argument(help="The true one.")],
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Compare an estimated graph with the true one."""
    with kindly(debug):
        metrics = evaluate_graph(_read_graph(estimated), _read_graph(truth)).to_dict()
        if as_json:
            typer.echo(json.dumps(metrics))
            return
        table = TerminalTable("metric", "value")
        for name, value in metrics.items():
            table.add_row(name.replace("_", " "), f"{value:.3f}" if isinstance(value, float) else str(value))
        Console().print(table)


def _read_graph(path: Path) -> CausalGraph:
    if path.suffix == ".json":
        return CausalGraph.from_json(path)
    return CausalGraph.from_csv(path)


@app.command()
def reproduce(
    name: Annotated[str | None, typer.Argument(help="One of 'precede reproduce --list'.")] = None,
    list_: Annotated[bool, typer.Option("--list", help="Show every table and figure.")] = False,
    seeds: Annotated[str | None, typer.Option(help="5 for the first five data sets, or 0-4, or 0,2,4.")] = None,
    methods: Annotated[str | None, typer.Option(help="Only these rows, with commas between.")] = None,
    data: Annotated[str | None, typer.Option(help="Only these data settings, with commas between.")] = None,
    max_time: Annotated[float | None, typer.Option(help="Seconds for each cell.")] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes; -1 takes every core.")] = 1,
    quick: Annotated[bool, typer.Option("--quick", help="One data set and small limits.")] = False,
    out: Annotated[Path, typer.Option("--out", "-o", help="Results go to OUT/NAME; run again to continue.")] = Path(
        "results"
    ),
    cluster: Annotated[str | None, typer.Option(help="Address of a Dask scheduler.")] = None,
    device: Annotated[str | None, typer.Option(help="cpu or cuda.")] = None,
    render: Annotated[bool, typer.Option("--render", help="Run nothing; write the tables of what is there.")] = False,
    merge: Annotated[list[Path] | None, typer.Option(help="Take over a folder of results from elsewhere.")] = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run failed cells again.")] = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Run a table or figure of the paper beside the published numbers."""
    with kindly(debug):
        _log_to_terminal(quiet)
        if list_ or name is None:
            Console().print(list_experiments())
            return
        done = reproduce_experiment(
            name, seeds=None if seeds is None else parse_seeds(seeds), methods=_names(methods), data=_names(data),
            max_time=max_time, jobs=jobs, quick=quick, out=out, cluster=cluster, device=device, render=render,
            merge=merge or (), retry_failed=retry_failed, verbose=not quiet,
        )  # fmt: skip
        Console().print(done.tables)
        Console().print(
            f"[bold]Written[/bold]  {done.files[0].parent}: {', '.join(path.name for path in done.files)}",
            highlight=False,
        )


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="A folder that 'discover --out' wrote.")],
    debug: Debug = False,
) -> None:
    """Make report.html again from the machine-readable files."""
    with kindly(debug):
        Console().print(f"[bold]Written[/bold]  {rebuild_report(folder)}", highlight=False)


@app.command("methods")
def list_methods() -> None:
    """List the methods that 'discover --method' takes."""
    table = TerminalTable("method", "what it is")
    for name, method in methods().items():
        table.add_row(name, (method.__doc__ or "").strip().splitlines()[0])
    Console().print(table)


def main() -> None:
    """Entry point."""
    app(prog_name="precede")


if __name__ == "__main__":
    main()
