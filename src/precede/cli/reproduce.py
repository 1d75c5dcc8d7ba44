"""``precede reproduce``: a table or figure of the paper beside the published numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from precede.cli.flags import Quiet, command
from precede.cli.terminal import SafeConsole
from precede.errors import OptionError


@command
def reproduce(
    *,
    name: Annotated[str | None, typer.Argument(help="One of 'precede reproduce --list', or all.")] = None,
    folder: Annotated[Path | None, typer.Argument(help="With 'real': data with known tiers, pairs or graphs.")] = None,
    list_: Annotated[bool, typer.Option("--list", help="Show every table and figure.")] = False,
    seeds: Annotated[str | None, typer.Option(help="5 for the first five data sets, or 0-4, or 0,2,4.")] = None,
    methods: Annotated[str | None, typer.Option(help="Only these rows, separated by commas.")] = None,
    data: Annotated[str | None, typer.Option(help="Only these data settings, separated by commas.")] = None,
    max_time: Annotated[float | None, typer.Option(help="Seconds for each cell.")] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes; -1 takes every core.")] = 1,
    stack: Annotated[int, typer.Option(help="Train this many cells of CORL.paper together on one GPU.")] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="One data set and small limits.")] = False,
    out: Annotated[Path, typer.Option("--out", "-o", help="Results go to OUT/NAME; run again to continue.")] = Path(
        "results"
    ),
    cluster: Annotated[str | None, typer.Option(help="Address of a Dask scheduler.")] = None,
    device: Annotated[str | None, typer.Option(help="cpu or cuda.")] = None,
    render: Annotated[bool, typer.Option("--render", help="Run nothing; write the tables again.")] = False,
    merge: Annotated[list[Path] | None, typer.Option(help="Take over a folder of results from elsewhere.")] = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run failed cells again.")] = False,
    quiet: Quiet = False,
) -> None:
    """Run a table or figure of the paper beside the published numbers; 'real DIR': a panel of real data."""
    from precede.experiments.cells import Selection
    from precede.experiments.reproduce import list_experiments, parse_seeds, reproduce_all
    from precede.experiments.reproduce import reproduce as run
    from precede.runtime.workers import Workers

    console = SafeConsole()
    if list_ or name is None:
        console.print(list_experiments())
        return
    if name == "real":
        _real(console, folder, _names(methods), {"max_time": max_time, "workers": Workers(jobs, cluster)}, quiet)
        return
    numbers = None if seeds is None else parse_seeds(seeds)
    chosen = Selection(numbers, _names(methods), _names(data), max_time, quick, retry_failed, stack)
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


def _real(
    console: SafeConsole, folder: Path | None, methods: list[str] | None, how: dict[str, Any], quiet: bool
) -> None:
    """Print the panel of real data, and each method's shares as soon as they are known."""
    from precede.experiments.real_data import read_real_sets
    from precede.experiments.real_panel import panel_table, run_panel
    from precede.runtime.progress import logger
    from precede.runtime.workers import check_jobs

    if folder is None:
        raise OptionError("'precede reproduce real' needs the folder of the data sets: precede reproduce real DIR.")
    check_jobs("--jobs", how["workers"].jobs)
    sets = read_real_sets(folder)
    rows = []
    for row in run_panel(sets, methods, **how, verbose=not quiet):
        rows.append(row)
        logger.info("%s: tiers %.3f, pairs %.3f", row.method, row.share("tiers", sets), row.share("pair", sets))
    if methods is not None:
        rows.sort(key=lambda row: methods.index(row.method))  # as they were asked for
    console.print(panel_table(rows, sets))


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]
