"""``precede evaluate``: how far an estimated graph is from the true one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table as TerminalTable

from precede.cli.terminal import AsJson, Debug, SafeConsole, say_json, user_errors

if TYPE_CHECKING:
    from precede.graph import CausalGraph


def evaluate(
    estimated: Annotated[Path, typer.Argument(help="Adjacency matrix (CSV) or graph (JSON).")],
    truth: Annotated[Path, typer.Argument(help="The true one.")],
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Compare an estimated graph with the true one."""
    with user_errors(debug):
        from precede.metrics.structure import evaluate as compare

        metrics = compare(_read_graph(estimated), _read_graph(truth)).to_dict()
        if as_json:
            say_json(metrics)
            return
        table = TerminalTable("metric", "value")
        for name, value in metrics.items():
            table.add_row(name.replace("_", " "), f"{value:.3f}" if isinstance(value, float) else str(value))
        SafeConsole().print(table)


def _read_graph(path: Path) -> CausalGraph:
    from precede.graph import CausalGraph

    if path.suffix == ".json":
        return CausalGraph.from_json(path)
    return CausalGraph.from_csv(path)
