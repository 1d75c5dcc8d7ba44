"""``precede next``: which experiment, column or fact would settle the most."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from precede.cli.terminal import AsJson, Debug, SafeConsole, say_json, user_errors

RESTS_ON_ASSUMPTIONS = (
    "The method gives every edge a direction, by what it assumes about noise and curves. Without these assumptions "
    "some would be open; the steps below would test them."
)


def next_step(
    folder: Annotated[Path, typer.Argument(help="A folder that 'discover --out' wrote.")],
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Say which experiment, further column or fact would settle the most open directions."""
    with user_errors(debug):
        from precede.report.load import load_results

        results = load_results(folder)
        steps = results.graph.next_steps()
        if as_json:
            say_json(steps.to_dict())
            return
        console = SafeConsole()
        if results.identifies == "dag" and steps.n_open:
            console.print(f"• {RESTS_ON_ASSUMPTIONS}", highlight=False, markup=False)
        for sentence in steps.sentences:
            console.print(f"• {sentence}", highlight=False, markup=False)
