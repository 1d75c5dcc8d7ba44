"""``precede report``: the report of a folder, made again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from precede.cli.terminal import Debug, SafeConsole, kindly


def report(
    folder: Annotated[Path, typer.Argument(help="A folder that 'discover --out' wrote.")],
    title: Annotated[str | None, typer.Option(help="A new title.")] = None,
    note: Annotated[str | None, typer.Option(help="A paragraph of your own at the top.")] = None,
    debug: Debug = False,
) -> None:
    """Make report.html again from the machine-readable files."""
    with kindly(debug):
        from precede.report import rebuild_report

        SafeConsole().print(f"[bold]Written[/bold]  {rebuild_report(folder, title, note)}", highlight=False)
