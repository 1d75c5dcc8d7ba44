"""``precede report``: the report of a folder, made again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from precede.cli.terminal import Debug, SafeConsole, user_errors


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
    with user_errors(debug):
        from precede.graph.formats import to_latex
        from precede.report import rebuild_report
        from precede.report.load import load_results

        if latex:
            results = load_results(folder)
            records: list[dict[str, object]] = [
                {"cause": cause, "effect": effect, "weight": weight}
                for cause, effect, weight in results.graph.edge_list()
            ]
            if results.confidence is not None:
                shares = {(cause, effect): share for cause, effect, share in results.confidence.edge_list()}
                for record, edge in zip(records, results.graph.edge_list(), strict=True):
                    record["confidence"] = shares.get(edge[:2], 0.0)
            typer.echo(to_latex(records))
            return

        SafeConsole().print(f"[bold]Written[/bold]  {rebuild_report(folder, title, note)}", highlight=False)
