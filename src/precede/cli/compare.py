"""``precede compare``: where results agree."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table as TerminalTable

from precede.cli.terminal import AsJson, Debug, SafeConsole, say_json, user_errors

if TYPE_CHECKING:
    from precede.comparison import Comparison

MOST_ROWS = 40
"""Lines of the table on a terminal; --out writes them all."""


def compare(
    folders: Annotated[list[Path], typer.Argument(help="Two or more folders that 'discover --out' wrote.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for the table, the figure and the consensus.")
    ] = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Show where results agree, where they differ, and what they add up to."""
    with user_errors(debug):
        from precede.comparison import Comparison
        from precede.report.load import load_results

        results = {_label(folder, folders): load_results(folder) for folder in folders}
        found = Comparison.of(
            {label: one.graph for label, one in results.items()}, knowledge=[one.knowledge for one in results.values()]
        )
        files = [] if out is None else _write(found, out)
        if as_json:
            say_json(_document(found, files))
            return
        _show(found, files)


def _label(folder: Path, folders: list[Path]) -> str:
    """The folder's own name where it is the only one of that name."""
    names = [other.resolve().name for other in folders]
    return folder.resolve().name if names.count(folder.resolve().name) == 1 else str(folder)


def _write(found: Comparison, out: Path) -> list[Path]:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from precede.files import check_outputs, write_together

    out.mkdir(parents=True, exist_ok=True)
    names = ("comparison.csv", "consensus.json", "consensus.csv", "comparison.png")
    check_outputs(out, names, {"consensus.json": "precede-graph"}, {})
    picture = io.BytesIO()
    found.plot()
    plt.savefig(picture, dpi=150)
    plt.close()
    agreed = found.consensus
    contents = (found.table.to_csv(index=False), agreed.to_json(), agreed.to_csv(), picture.getvalue())
    return write_together(out, dict(zip(names, contents, strict=True)))


def _document(found: Comparison, files: list[Path]) -> dict[str, object]:
    return {
        "graphs": list(found.graphs),
        "weights": found.weights.tolist(),
        "pairs": found.table.to_dict("records"),
        "order_agreement": found.order_agreement.to_numpy().tolist(),
        "differences": found.differences,
        "consensus": [[cause, effect, share] for cause, effect, share in found.consensus.edge_list()],
        "files": [str(path) for path in files],
    }


def _show(found: Comparison, files: list[Path]) -> None:
    console = SafeConsole()
    table = TerminalTable(title="Pairs, the most disputed first", title_justify="left")
    for heading in ("pair", *found.graphs, "agreement", "consensus"):
        table.add_column(escape(heading))
    for row in found.table.head(MOST_ROWS).to_dict("records"):
        marks = [str(row[label]) for label in found.graphs]
        pair = escape(f"{row['first']}, {row['second']}")
        table.add_row(pair, *marks, f"{row['agreement']:.2f}", str(row["consensus"]))
    console.print(table)
    hidden = len(found.table) - MOST_ROWS
    lines = [f"{hidden} more pairs: --out writes them all." if hidden > 0 else "", found.sentence, *found.remarks]
    for line in filter(None, lines):
        console.print(f"• {line}", highlight=False, markup=False)
    if files:
        names = ", ".join(path.name for path in files)
        console.print(f"[bold]Written[/bold]  {escape(str(files[0].parent))}: {names}", highlight=False)
