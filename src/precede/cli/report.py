"""``precede report``: the report of a folder, made again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from precede.cli.terminal import Debug, SafeConsole, edge_records, kindly


def report(
    folder: Annotated[Path, typer.Argument(help="A folder that 'discover --out' wrote.")],
    title: Annotated[str | None, typer.Option(help="A new title.")] = None,
    note: Annotated[str | None, typer.Option(help="A paragraph of your own at the top.")] = None,
    latex: Annotated[
        bool, typer.Option("--latex", help="Print the table of edges for a paper; write nothing.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Make report.html again from the machine-readable files."""
    with kindly(debug):
        from precede.graph.formats import to_latex
        from precede.report import rebuild_report
        from precede.report.load import load_results

        if latex:
            results = load_results(folder)
            typer.echo(to_latex(edge_records(results.graph, results.confidence)))
            return

        SafeConsole().print(f"[bold]Written[/bold]  {rebuild_report(folder, title, note)}", highlight=False)
