"""``precede order``: the order and graph that a pretrained policy sees at once."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table as TerminalTable

from precede.cli.terminal import (
    AsJson,
    DataFile,
    Debug,
    Decimal,
    LeaveOut,
    Missing,
    Na,
    Quiet,
    SafeConsole,
    Types,
    load_named,
    loading_options,
    log_to_terminal,
    say_json,
    user_errors,
)

if TYPE_CHECKING:
    from precede.first_look import FirstLook

FIRST_LOOK = (
    "This is a first look: a pretrained policy's guess at order and edges, neither searched nor checked; "
    "'precede discover' does both."
)


def order(
    data: DataFile,
    pretrained: Annotated[str, typer.Option(help="default, or the path of a saved policy.")] = "default",
    missing: Missing = "em",
    leave_out: LeaveOut = None,
    types: Types = None,
    na: Na = None,
    decimal: Decimal = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Show at once the order and graph that a pretrained policy sees: a first look."""
    with user_errors(debug):
        from precede.first_look import first_look

        log_to_terminal(quiet)
        start = time.perf_counter()
        table = load_named(data, loading_options(missing, leave_out, types, na, decimal=decimal))
        look = first_look(table, pretrained)
        seconds = time.perf_counter() - start
        if as_json:
            say_json(look.to_dict() | {"remark": FIRST_LOOK})
            return
        console = SafeConsole()
        show_look(console, look)
        if not quiet:
            took = f"Reading and ordering took {seconds:.2f} s."
            for line in (*table.remarks, FIRST_LOOK, took):
                console.print(f"• {line}", highlight=False, markup=False)


def show_look(console: SafeConsole, look: FirstLook) -> None:
    """Print the order, and the edges with their probabilities."""
    names = " < ".join(map(str, look.graph.order))
    console.print(f"[bold]Causal order[/bold]  {escape(names)}", highlight=False)
    n_edges = look.graph.n_edges
    table = TerminalTable(title=f"{n_edges} edge{'' if n_edges == 1 else 's'}", title_justify="left")
    for heading in ("cause", "effect"):
        table.add_column(heading)
    for heading in ("weight", "probability", "of the reverse"):
        table.add_column(heading, justify="right")
    for edge in look.edges():
        table.add_row(
            escape(str(edge.cause)), escape(str(edge.effect)),
            f"{edge.weight:+.3f}", f"{edge.probability:.2f}", f"{edge.reverse:.2f}",
        )  # fmt: skip
    console.print(table)
