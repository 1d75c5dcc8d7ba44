"""``precede demo``, ``studio``, ``methods`` and ``cite``: where to start, and whose it is."""

import time
import webbrowser
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

import precede
from precede.cli.flags import SafeConsole, command, log_to_terminal
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


def _text(name: str) -> str:
    """What a file of this folder says."""
    return (files("precede.cli") / name).read_text(encoding="utf-8").rstrip()


def cite() -> None:
    """Print BibTeX for the software and the paper of the method."""
    typer.echo(_text("citation.bib").replace("VERSION", precede.__version__))


def list_methods() -> None:
    """List the methods that 'discover --method' takes."""
    rows = (line.split(": ", 1) for line in _text("methods.txt").splitlines())
    SafeConsole().table(("method", "what it is"), rows)


@command
def demo(*, out: Path = Path("results/demo"), quiet: bool = False) -> None:
    """Learn a table whose graph is known, then the Sachs protein data; a page leads to both reports.

    Parameters
    ----------
    out
        Folder for both reports.
    """
    from precede import CORL, evaluate, load_sachs, simulate
    from precede.data.load import load_table
    from precede.files import write_text
    from precede.report import Heading, write_report, write_results
    from precede.report.render import template

    log_to_terminal(quiet=True)
    console, entries = SafeConsole(), []
    known = simulate(n_variables=30, degree=2, sem="lingam", n_samples=1000, random_state=0)
    cases = {"known": ("30 variables whose graph is known", known), "sachs": ("Sachs protein data", load_sachs())}
    for name, (title, dataset) in cases.items():
        started, table = time.perf_counter(), load_table(dataset.data)
        model = CORL(random_state=0, verbose=False).fit(table)
        seconds = time.perf_counter() - started
        folder = out / name
        folder.mkdir(parents=True, exist_ok=True)
        write_results(folder, model, table)
        write_report(folder, model, table, dataset.graph, heading=Heading(title, rows=True))
        found = evaluate(model.graph_, dataset.graph)
        right = model.graph_.n_edges - found.n_extra - found.n_reversed
        words = (
            f"{right} of {dataset.graph.n_edges} true edges found, {found.n_reversed} turned, "
            f"{found.n_extra} extra, in {seconds:.0f} s."
        )
        if name == "sachs":
            words += " The data do not determine this graph; the report says what to believe, and why."
        entries.append((name, title, words))
        console.print(f"[bold]{title}[/bold]  {words}")
    write_text(out / "index.html", template("demo.html").render(cases=entries) + "\n")
    console.print(f"[bold]Open[/bold]  {out / 'index.html'}", soft_wrap=True)
