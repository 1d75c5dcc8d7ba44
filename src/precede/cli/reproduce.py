"""``precede reproduce``: a table or figure of the paper beside the published numbers."""

import shlex
import sys
from pathlib import Path
from typing import Any

from precede.cli.flags import SafeConsole, command
from precede.errors import OptionError


@command
def reproduce(
    name: str | None = None,
    folder: Path | None = None,
    *,
    list_: bool = False,
    seeds: str | None = None,
    methods: str | None = None,
    data: str | None = None,
    max_time: float | None = None,
    jobs: int = 1,
    stack: int = 0,
    quick: bool = False,
    shard: str | None = None,
    out: Path = Path("results"),
    cluster: str | None = None,
    device: str | None = None,
    render: bool = False,
    merge: list[Path] | None = None,
    retry_failed: bool = False,
    quiet: bool = False,
) -> None:
    """Run a table or figure of the paper beside the published numbers; 'panel DIR': labeled tables of your own.

    Parameters
    ----------
    name
        One of 'precede reproduce --list', or all.
    folder
        With 'panel': tables with known graphs, tiers or pairs.
    list_
        Show every table and figure.
    seeds
        5 for the first five data sets, or 0-4, or 0,2,4.
    methods
        Only these rows, separated by commas.
    data
        Only these data settings, separated by commas.
    max_time
        Seconds for each cell.
    jobs
        Processes; -1 takes every core.
    stack
        Train this many cells of CORL.paper together on one GPU.
    quick
        One data set and small limits.
    shard
        k/n: the k-th of n parts, in a folder of its own; --merge puts them together.
    out
        Results go to OUT/NAME; run again to continue.
    cluster
        Address of a Dask scheduler.
    device
        cpu or cuda.
    render
        Run nothing; write the tables again.
    merge
        Take over a folder of results from elsewhere.
    retry_failed
        Run failed cells again.
    """
    from precede.experiments.cells import Selection
    from precede.experiments.reproduce import list_experiments, parse_seeds, reproduce_all
    from precede.experiments.reproduce import reproduce as run
    from precede.runtime.workers import Workers

    console = SafeConsole()
    if list_ or name is None:
        console.print(list_experiments())
        return
    if name in ("panel", "real"):  # the second is what it was called
        _panel(console, folder, _names(methods), {"max_time": max_time, "workers": Workers(jobs, cluster)}, out, quiet)
        return
    numbers = None if seeds is None else parse_seeds(seeds)
    chosen = Selection(numbers, _names(methods), _names(data), max_time, quick, retry_failed, stack, shard)
    common: dict[str, Any] = {
        "workers": Workers(jobs, cluster), "device": device, "out": out, "render": render, "verbose": not quiet,
    }  # fmt: skip
    if name == "all":
        if methods or data or merge:
            raise OptionError("'precede reproduce all' takes no --methods, --data or --merge: name one experiment.")
        runs = reproduce_all(chosen, **common)
    else:
        runs = iter([run(name, chosen, merge=merge or (), **common)])
    for done in runs:
        console.print(done.tables)
        console.written(done.files[0].parent, f": {', '.join(path.name for path in done.files)}")


def _panel(
    console: SafeConsole, folder: Path | None, methods: list[str] | None, how: dict[str, Any], out: Path, quiet: bool
) -> None:
    """Print a panel of labeled tables and write its page; each method's means are said as soon as they are known."""
    from precede.experiments.panel import panel_table, read_panel, run_panel, write_page
    from precede.runtime.progress import logger
    from precede.runtime.workers import check_jobs

    if folder is None:
        raise OptionError("'precede reproduce panel' needs the folder of the tables: precede reproduce panel DIR.")
    check_jobs("--jobs", how["workers"].jobs)
    sets = read_panel(folder)
    rows = []
    for row in run_panel(sets, methods, **how, verbose=not quiet):
        rows.append(row)
        logger.info("%s: done with %d of %d tables", row.method, len(row.sets), len(sets))
    if methods is not None:
        rows.sort(key=lambda row: methods.index(row.method))  # as they were asked for
    heads, lines = panel_table(rows, sets)
    shown = [k for k, head in enumerate(heads) if head not in {one.name for one in sets}]  # each table is on the page
    console.table([heads[k] for k in shown], [[line[k] for k in shown] for line in lines], right=heads[1:])
    page = write_page(rows, sets, out / "panel", shlex.join(["precede", *sys.argv[1:]]), how["workers"].jobs)
    console.written(page.parent, f": {page.name}")


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]
