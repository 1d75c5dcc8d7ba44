"""``precede studio``: look, constrain, run, ask and compare in the browser."""

import webbrowser
from pathlib import Path
from typing import Annotated

from precede.cli.flags import SafeConsole, command
from precede.errors import OptionError
from precede.options import Range


@command
def studio(
    source: Path | None = None,
    *,
    folder: Path = Path("precede-studio"),
    port: Annotated[int, Range(least=0, most=65535)] = 0,
    browser: bool = True,
) -> None:
    """Open a page on this machine: columns, knowledge, runs, effects, comparisons.

    Parameters
    ----------
    source
        A table (CSV, Excel, Parquet), a folder that 'discover --out' wrote, or a studio's own.
    folder
        Where runs are kept from one time to the next.
    port
        0 takes any free one.
    browser
        Open the page.
    """
    try:
        from precede.studio.server import open_workspace, serve
    except ModuleNotFoundError as error:
        if error.name not in ("starlette", "uvicorn"):
            raise
        raise OptionError(
            "the studio needs starlette and uvicorn, which are not installed: pip install 'precede[studio]'."
        ) from None
    console = SafeConsole()

    def announce(address: str) -> None:
        console.print("[bold]The studio is open[/bold] on this machine only; Ctrl-C closes it.")
        for line in (address, f"Runs are kept in {workspace.folder}"):
            console.print(f"  {line}", markup=False, soft_wrap=True)
        if browser:
            webbrowser.open(address)

    workspace = open_workspace(source, folder)
    serve(workspace, port, announce)
