"""``precede order``: the order and graph that a pretrained policy sees at once."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from precede.cli.terminal import (
    AsJson,
    DataFile,
    Debug,
    LeaveOut,
    Missing,
    Na,
    Quiet,
    SafeConsole,
    Types,
    edge_records,
    kindly,
    log_to_terminal,
    read_table,
    show_graph,
)
from precede.strict_json import to_json

FIRST_LOOK = (
    "This is a first look: a pretrained policy's guess at the order and a linear graph along it, neither searched nor "
    "checked; 'precede discover' does both."
)


def order(
    data: DataFile,
    pretrained: Annotated[str, typer.Option(help="default, paper, or the path of a saved policy.")] = "default",
    missing: Missing = "em",
    leave_out: LeaveOut = None,
    types: Types = None,
    na: Na = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Show at once the order and graph that a pretrained policy sees: a first look."""
    with kindly(debug):
        from precede.first_look import first_look

        log_to_terminal(quiet)
        start = time.perf_counter()
        table = read_table(data, missing, leave_out, types, na)
        graph = first_look(table, pretrained)
        seconds = time.perf_counter() - start
        if as_json:
            typer.echo(to_json({"order": list(graph.order), "edges": edge_records(graph), "remark": FIRST_LOOK}))
            return
        console = SafeConsole()
        show_graph(console, graph)
        if not quiet:
            took = f"Reading, ordering and pruning took {seconds:.2f} s."
            for line in (*table.remarks, FIRST_LOOK, took):
                console.print(f"• {line}", highlight=False, markup=False)
