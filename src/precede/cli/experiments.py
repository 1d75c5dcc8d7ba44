"""``precede reproduce``, ``pretrain``, ``simulate`` and ``evaluate``: what experiments are made of."""

import shlex
import sys
from pathlib import Path
from typing import Any

import typer

from precede.cli.flags import SafeConsole, command, say_json
from precede.errors import OptionError


@command
def reproduce(
    name: str | None = None,
    folder: Path | None = None,
    *,
    list_: bool = False,
    seeds: str | None = None,
    methods: str | None = None,
    data: str | None = None,
    max_time: float | None = None,
    jobs: int = 1,
    stack: int = 0,
    quick: bool = False,
    shard: str | None = None,
    out: Path = Path("results"),
    cluster: str | None = None,
    device: str | None = None,
    render: bool = False,
    merge: list[Path] | None = None,
    retry_failed: bool = False,
    quiet: bool = False,
) -> None:
    """Run a table or figure of the paper beside the published numbers; 'panel DIR': labeled tables of your own.

    Parameters
    ----------
    name
        One of 'precede reproduce --list', or all.
    folder
        With 'panel': tables with known graphs, tiers or pairs.
    list_
        Show every table and figure.
    seeds
        5 for the first five data sets, or 0-4, or 0,2,4.
    methods
        Only these rows, separated by commas.
    data
        Only these data settings, separated by commas.
    max_time
        Seconds for each cell.
    jobs
        Processes; -1 takes every core.
    stack
        Train this many cells of CORL.paper together on one GPU.
    quick
        One data set and small limits.
    shard
        k/n: the k-th of n parts, in a folder of its own; --merge puts them together.
    out
        Results go to OUT/NAME; run again to continue.
    cluster
        Address of a Dask scheduler.
    device
        cpu or cuda.
    render
        Run nothing; write the tables again.
    merge
        Take over a folder of results from elsewhere.
    retry_failed
        Run failed cells again.
    """
    from precede.experiments.cells import Selection
    from precede.experiments.reproduce import list_experiments, parse_seeds, reproduce_all
    from precede.experiments.reproduce import reproduce as run
    from precede.runtime import Workers

    console = SafeConsole()
    if list_ or name is None:
        console.print(list_experiments())
        return
    if name in ("panel", "real"):  # the second is what it was called
        _panel(console, folder, _names(methods), {"max_time": max_time, "workers": Workers(jobs, cluster)}, out, quiet)
        return
    numbers = None if seeds is None else parse_seeds(seeds)
    chosen = Selection(numbers, _names(methods), _names(data), max_time, quick, retry_failed, stack, shard)
    common: dict[str, Any] = {
        "workers": Workers(jobs, cluster), "device": device, "out": out, "render": render, "verbose": not quiet,
    }  # fmt: skip
    if name == "all":
        if methods or data or merge:
            raise OptionError("'precede reproduce all' takes no --methods, --data or --merge: name one experiment.")
        runs = reproduce_all(chosen, **common)
    else:
        runs = iter([run(name, chosen, merge=merge or (), **common)])
    for done in runs:
        console.print(done.tables)
        console.written(done.files[0].parent, f": {', '.join(path.name for path in done.files)}")


def _panel(
    console: SafeConsole, folder: Path | None, methods: list[str] | None, how: dict[str, Any], out: Path, quiet: bool
) -> None:
    """Print a panel of labeled tables and write its page; each method's means are said as soon as they are known."""
    from precede.experiments.panel import panel_table, read_panel, run_panel, write_page
    from precede.runtime import check_jobs, logger

    if folder is None:
        raise OptionError("'precede reproduce panel' needs the folder of the tables: precede reproduce panel DIR.")
    check_jobs("--jobs", how["workers"].jobs)
    sets = read_panel(folder)
    rows = []
    for row in run_panel(sets, methods, **how, verbose=not quiet):
        rows.append(row)
        logger.info("%s: done with %d of %d tables", row.method, len(row.sets), len(sets))
    if methods is not None:
        rows.sort(key=lambda row: methods.index(row.method))  # as they were asked for
    heads, lines = panel_table(rows, sets)
    shown = [k for k, head in enumerate(heads) if head not in {one.name for one in sets}]  # each table is on the page
    console.table([heads[k] for k in shown], [[line[k] for k in shown] for line in lines], right=heads[1:])
    page = write_page(rows, sets, out / "panel", shlex.join(["precede", *sys.argv[1:]]), how["workers"].jobs)
    console.written(page.parent, f": {page.name}")


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


OUTPUTS = ("data.csv", "truth.csv", "truth.json")


@command
def simulate(
    *,
    out: Path,
    graph: str = "er",
    variables: int = 30,
    degree: int = 2,
    sem: str = "linear-gaussian",
    samples: int = 3000,
    noise: str = "equal",
    discretize: int | None = None,
    hidden: int = 0,
    measurement_error: float = 0.0,
    standardize: bool = False,
    seed: int | None = None,
    quiet: bool = False,
) -> None:
    """Draw a data set whose causal graph is known.

    Parameters
    ----------
    out
        Folder for data.csv and truth.csv.
    graph
        er (Erdős–Rényi), sf (scale-free, as igraph draws it), sf-degree, sf-repeat, ba (as networkx).
    variables
        Number of variables.
    degree
        Edges per variable.
    sem
        linear-gaussian, lingam, gp, gp-quiet, gp-scaled, gp-additive, quadratic, mlp, heteroscedastic, post-nonlinear,
        multiplicative, steps.
    samples
        Number of rows.
    noise
        equal or unequal variances; laplace, uniform, exponential, gumbel, student, bimodal, heavy.
    discretize
        Show every variable as this many levels.
    hidden
        Variables of the graph that are not shown.
    measurement_error
        Error on every cell, as a share of its column's.
    standardize
        Give every column variance 1.
    """
    from precede.files import check_outputs, write_together
    from precede.simulation import simulate as draw

    out.mkdir(parents=True, exist_ok=True)
    check_outputs(out, OUTPUTS, {"truth.json": "precede-graph"}, {})
    made = draw(
        graph=graph, n_variables=variables, degree=degree, sem=sem, n_samples=samples, noise=noise,
        discretize=discretize, hidden=hidden, measurement_error=measurement_error, standardize=standardize,
        random_state=seed,
    )  # fmt: skip
    contents = (made.data.to_csv(index=False), made.graph.to_csv(), made.graph.to_json())
    write_together(out, dict(zip(OUTPUTS, contents, strict=True)))
    if not quiet:
        SafeConsole().print(
            f"{samples} rows of {variables} variables, {made.graph.n_edges} edges: {out}/data.csv, truth.csv"
        )


@command
def evaluate(estimated: Path, truth: Path, *, json_: bool = False) -> None:
    """Compare an estimated graph with the true one.

    Parameters
    ----------
    estimated
        Adjacency matrix (CSV) or graph (JSON).
    truth
        The true one.
    """
    from precede.graph import CausalGraph
    from precede.metrics import evaluate as compare

    read = {".json": CausalGraph.from_json}
    metrics = compare(*(read.get(path.suffix, CausalGraph.from_csv)(path) for path in (estimated, truth))).to_dict()
    if json_:
        say_json(metrics)
        return
    rows = [(k.replace("_", " "), f"{v:.3f}" if isinstance(v, float) else str(v)) for k, v in metrics.items()]
    SafeConsole().table(("metric", "value"), rows)


@command
def pretrain(
    *,
    out: Path,
    variant: str = "default",
    data: Path | None = None,
    start: Path | None = None,
    name: str | None = None,
    max_time: float = 420.0,
    steps: int | None = None,
    tasks_per_step: int | None = None,
    learning_rate: float | None = None,
    device: str = "auto",
    resume: bool = False,
    tiny: bool = False,
    seed: int | None = None,
    quiet: bool = False,
) -> None:
    """Train a policy on data with known graphs, simulated or your own, and save it for 'pretrained='.

    Parameters
    ----------
    out
        Folder for the log, checkpoints and weights.
    variant
        default, or paper for the paper's transformer.
    data
        Folder of labeled tables to train on: in each sub-folder data.csv and truth.csv.
    start
        Weights to start from, as far as they fit.
    name
        Name of the files; the variant's by default.
    max_time
        Seconds of training, over all resumed runs.
    steps
        End after this many steps, if that is sooner.
    tasks_per_step
        Tasks of 30 variables and 400 samples in a step.
    learning_rate
        Highest learning rate.
    device
        auto, cpu, cuda.
    resume
        Continue from the checkpoint in the folder.
    tiny
        Small tasks and validation, to try it on a CPU.
    """
    from precede.pretraining.supervised import pretrain_into, variant_settings
    from precede.runtime import ProgressBar, choose_device, logger

    settings = variant_settings(
        variant, tiny=tiny, data=data, start=None if start is None else str(start), max_time=max_time,
        n_steps=steps, tasks_per_step=tasks_per_step, learning_rate=learning_rate,
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
                    figures = (record.validation[group] for group in ("mean", "held-out", "pairs"))
                    logger.info("%s: order TPR %.3f, %.3f on families held out, pairs %.3f", at, *figures)
                    if "own" in record.validation:
                        logger.info("%s: order TPR %.3f on your own tables", at, record.validation["own"])
    except KeyboardInterrupt:
        logger.warning("interrupted; --resume continues from the last checkpoint in %s", out)
        raise typer.Exit(130) from None
    if not quiet:
        SafeConsole().written(out, f": {name}.safetensors, {name}.jsonl, {name}.pt")
