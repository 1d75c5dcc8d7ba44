"""``precede simulate`` and ``evaluate``: a data set and the graph behind it, and how far an estimate is from one."""

from pathlib import Path

from precede.cli.flags import SafeConsole, command, say_json

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
