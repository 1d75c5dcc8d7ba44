"""``precede simulate`` and ``evaluate``: a data set and the graph behind it, and how far an estimate is from one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table as TerminalTable

from precede.cli.flags import AsJson, Quiet, Seed, command
from precede.cli.terminal import SafeConsole, say_json

OUTPUTS = ("data.csv", "truth.csv", "truth.json")


@command
def simulate(
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for data.csv and truth.csv.")],
    graph: Annotated[
        str,
        typer.Option(
            help="er (Erdős–Rényi), sf (scale-free, as igraph draws it), sf-degree, sf-repeat, ba (as networkx)."
        ),
    ] = "er",
    variables: Annotated[int, typer.Option(help="Number of variables.")] = 30,
    degree: Annotated[int, typer.Option(help="Edges per variable.")] = 2,
    sem: Annotated[
        str,
        typer.Option(
            help="linear-gaussian, lingam, gp, gp-quiet, gp-scaled, gp-additive, quadratic, mlp, heteroscedastic, "
            "post-nonlinear, multiplicative, steps."
        ),
    ] = "linear-gaussian",
    samples: Annotated[int, typer.Option(help="Number of rows.")] = 3000,
    noise: Annotated[
        str,
        typer.Option(
            help="equal or unequal variances; laplace, uniform, exponential, gumbel, student, bimodal, heavy."
        ),
    ] = "equal",
    discretize: Annotated[int | None, typer.Option(help="Show every variable as this many levels.")] = None,
    hidden: Annotated[int, typer.Option(help="Variables of the graph that are not shown.")] = 0,
    measurement_error: Annotated[float, typer.Option(help="Error on every cell, as a share of its column's.")] = 0.0,
    standardize: Annotated[bool, typer.Option("--standardize", help="Give every column variance 1.")] = False,
    seed: Seed = None,
    quiet: Quiet = False,
) -> None:
    """Draw a data set whose causal graph is known."""
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
def evaluate(
    *,
    estimated: Annotated[Path, typer.Argument(help="Adjacency matrix (CSV) or graph (JSON).")],
    truth: Annotated[Path, typer.Argument(help="The true one.")],
    as_json: AsJson = False,
) -> None:
    """Compare an estimated graph with the true one."""
    from precede.graph import CausalGraph
    from precede.metrics.structure import evaluate as compare

    read = {".json": CausalGraph.from_json}
    metrics = compare(*(read.get(path.suffix, CausalGraph.from_csv)(path) for path in (estimated, truth))).to_dict()
    if as_json:
        say_json(metrics)
        return
    table = TerminalTable("metric", "value")
    for name, value in metrics.items():
        table.add_row(name.replace("_", " "), f"{value:.3f}" if isinstance(value, float) else str(value))
    SafeConsole().print(table)
