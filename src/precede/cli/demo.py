"""``precede demo``: a table whose graph is known and found, then Sachs, where the data cannot tell."""

import time
from pathlib import Path

from precede.cli.flags import SafeConsole, command, log_to_terminal


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
