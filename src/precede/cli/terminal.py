"""What the commands share: common flags, errors in one sentence, and a graph on the terminal."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table as TerminalTable

from precede.errors import PrecedeError

if TYPE_CHECKING:
    from precede.graph import CausalGraph

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show nothing but the result.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON on standard output.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Seed = Annotated[int | None, typer.Option("--seed", help="Same seed, same result.")]
DataFile = Annotated[str, typer.Argument(help="A CSV or Parquet file, or 'sachs' for the bundled protein data.")]
Missing = Annotated[str, typer.Option(help="What to do with missing values: refuse, drop, impute.")]


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


def log_to_terminal(quiet: bool) -> None:
    """Show what the library logs, on standard error."""
    from rich.logging import RichHandler

    logger = logging.getLogger("precede")
    logger.handlers = [RichHandler(console=Console(stderr=True), show_path=False, show_level=False)]
    logger.setLevel(logging.ERROR if quiet else logging.INFO)


def show_graph(console: Console, graph: CausalGraph) -> None:
    """Print the order and the edges."""
    names = " < ".join(map(str, graph.order))
    console.print(f"[bold]Causal order[/bold]  {escape(names)}", highlight=False)
    table = TerminalTable("cause", "effect", "weight", title=f"{graph.n_edges} edges", title_justify="left")
    for cause, effect, weight in graph.edge_list():
        table.add_row(escape(str(cause)), escape(str(effect)), f"{weight:+.3f}")
    console.print(table)


def edge_records(graph: CausalGraph) -> list[dict[str, object]]:
    """The edges for ``--json``."""
    return [{"cause": i, "effect": j, "weight": w} for i, j, w in graph.edge_list()]
