"""``precede next``: which experiment, column or fact would settle the most."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from precede.cli.terminal import AsJson, Debug, SafeConsole, kindly
from precede.strict_json import to_json


def next_step(
    folder: Annotated[Path, typer.Argument(help="A folder that 'discover --out' wrote.")],
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Say which experiment, further column or fact would settle the most open directions."""
    with kindly(debug):
        from precede.report.load import load_results

        steps = load_results(folder).graph.next_steps()
        if as_json:
            typer.echo(to_json(steps.to_dict()))
            return
        console = SafeConsole()
        for sentence in steps.sentences:
            console.print(f"• {sentence}", highlight=False, markup=False)
