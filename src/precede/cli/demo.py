"""``precede demo``: a table whose graph is known and found, then Sachs, where the data cannot tell."""

import time
from html import escape
from pathlib import Path

from precede.cli.flags import command
from precede.cli.terminal import SafeConsole, log_to_terminal

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Precede: two graphs</title>
<style>body {{ font: 1.05rem/1.6 system-ui, sans-serif; max-width: 42rem; margin: 3rem auto; padding: 0 1rem }}</style>
</head><body><h1>Two graphs, learned by Precede</h1>
{cases}
<p>Your own table: <code>precede discover data.csv --out results/</code></p>
</body></html>
"""
CASE = '<h2><a href="{folder}/report.html">{title}</a></h2>\n<p>{words}</p>'


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
        entries.append(CASE.format(folder=name, title=escape(title), words=escape(words)))
        console.print(f"[bold]{title}[/bold]  {words}")
    write_text(out / "index.html", PAGE.format(cases="\n".join(entries)))
    console.print(f"[bold]Open[/bold]  {out / 'index.html'}", soft_wrap=True)
