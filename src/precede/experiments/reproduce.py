"""One call runs an experiment and puts ours beside the paper's: ``precede reproduce``."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from precede.errors import OptionError, check_positive, listed, refusing
from precede.experiments.cells import EVERYTHING, Experiment, Selection
from precede.experiments.designs import EXPERIMENTS, experiment_named
from precede.experiments.figures import draw_figure, draw_overview
from precede.experiments.ledger import CELLS, RUNS, TIMES, Ledger, by_key, read_lines
from precede.experiments.runner import run_cells
from precede.experiments.verdicts import Entry, csv_text, entries_of, markdown_page, remarks, terminal_tables
from precede.files import write_text
from precede.runtime import HERE, Workers, shard_name


@dataclass(frozen=True)
class Reproduction:
    """What came of an experiment.

    Parameters
    ----------
    entries : list of Entry
        Every number of the table.
    tables : renderable
        For a rich console.
    files : list of Path
        What was written.
    n_run : int
        Cells that this call ran.
    """

    entries: list[Entry]
    tables: RenderableType
    files: list[Path]
    n_run: int


def reproduce(
    name: str | Experiment,
    selection: Selection = EVERYTHING,
    *,
    workers: Workers = HERE,
    device: str | None = None,
    out: Path | str = "results",
    render: bool = False,
    merge: Sequence[Path | str] = (),
    verbose: bool = True,
) -> Reproduction:
    """Run a table or figure of the paper and compare it with the published numbers.

    Every cell is recorded in ``out/NAME/`` as it finishes; the same call again continues where it stopped.

    Parameters
    ----------
    name : str or Experiment
        A name of :data:`precede.experiments.designs.EXPERIMENTS`, or an experiment of your own.
    selection : Selection
        Which of its cells; quick ones are kept apart in ``out/NAME-quick/``.
    workers : Workers
    device : str, optional
        "cpu" or "cuda", for methods that take it.
    out : path
    render : bool
        Run nothing; write the tables of what is there.
    merge : sequence of paths
        Folders of results that are taken over first: of this experiment, run elsewhere, or of another one, of which
        the cells that are fits of this one too (the same data, method, options and seed) are taken.
    verbose : bool
        Show progress.
    """
    experiment, chosen = experiment_named(name) if isinstance(name, str) else name, selection
    if chosen.max_time is not None:
        check_positive("max_time", chosen.max_time)
    if chosen.stack:
        check_positive("stack", chosen.stack, integer=True)
    cells = experiment.cells(chosen)
    part = "" if chosen.shard is None else "." + shard_name(chosen.shard)
    folder = Path(out) / (experiment.name + ("-quick" if chosen.quick else "") + part)
    if render and not merge and not (folder / CELLS).exists():
        raise OptionError(
            f"render finds no results in {str(folder)!r}: run 'precede reproduce {experiment.name}' first."
        )
    n_run = 0
    with Ledger(folder) as ledger:
        for other in merge:
            ledger.merge(Path(other), experiment.adopt)
        if not render:
            run = ledger.start(command_line(experiment.name, chosen, workers, device), workers.jobs, device)
            try:
                n_run = run_cells(cells, ledger, run, workers, device, chosen, verbose=verbose)
            except KeyboardInterrupt:
                kept = [cell.key for cell in cells if cell.key in ledger.cells]
                raise KeyboardInterrupt(
                    f"with {len(kept)} of {len(cells)} cells finished and kept in {folder} ({listed(kept)}); the same "
                    "command continues with the others."
                ) from None
    return write_tables(experiment, folder, n_run)


def reproduce_all(
    selection: Selection = EVERYTHING, *, render: bool = False, out: Path | str = "results", **options: Any
) -> Iterator[Reproduction]:
    """Every experiment, one after another, and an overview of published against ours at the end.

    Parameters
    ----------
    selection : Selection
        Its ``quick`` takes one small cell of each, in ``out/NAME-quick/``: a rehearsal of seconds, not a result.
    render : bool
        Write the tables of what is there; experiments without results are passed over.
    out : path
    **options
        Of :func:`reproduce`.
    """
    entries: dict[str, list[Entry]] = {}
    for name, experiment in EXPERIMENTS.items():
        if selection.quick:
            yield _rehearsed(experiment, Path(out) / f"{name}-quick")
        elif not render or (Path(out) / name / CELLS).exists():
            done = reproduce(name, selection, render=render, out=out, **options)
            entries[name] = done.entries
            yield done
    if entries:
        draw_overview(entries, Path(out) / "overview.png")


def _rehearsed(experiment: Experiment, folder: Path) -> Reproduction:
    """Run the experiment's smallest cell."""
    with Ledger(folder) as ledger:
        run = ledger.start("precede reproduce all --quick")
        n_run = run_cells([experiment.rehearsal()], ledger, run, verbose=False)
    # drawing takes longer than all the rest, and an empty table makes no picture
    return write_tables(experiment, folder, n_run, figure=experiment.keep_curves)


def write_tables(experiment: Experiment, folder: Path, n_run: int = 0, figure: bool = True) -> Reproduction:
    """Write ``table.md``, ``table.csv`` and, unless told not to, ``figure.png`` from the results in a folder."""
    times = by_key(read_lines(folder / TIMES))
    cells = list(by_key(read_lines(folder / CELLS)).values())
    used = {record.get("run") for record in times.values()}
    runs = [run for run in read_lines(folder / RUNS) if run["run"] in used]
    entries, lines = entries_of(experiment, cells, times), remarks(experiment, cells)
    drawn = figure and draw_figure(experiment, entries, cells, folder / "figure.png")
    page = markdown_page(experiment, entries, lines, runs, "figure.png" if drawn else None)
    write_text(folder / "table.md", page)
    write_text(folder / "table.csv", csv_text(entries))
    written = ["table.md", "table.csv", *(["figure.png"] if drawn else []), CELLS, TIMES, RUNS]
    files = [folder / name for name in written]
    return Reproduction(entries, terminal_tables(experiment, entries, lines), files, n_run)


def command_line(name: str, selection: Selection, workers: Workers = HERE, device: str | None = None) -> str:
    """The command that would run this again.

    Examples
    --------
    >>> command_line("sachs", Selection([0, 1], ["cam"], max_time=60.0), Workers(2))
    'precede reproduce sachs --seeds 0,1 --methods cam --max-time 60 --jobs 2'
    """
    words = ["precede", "reproduce", name]
    seeds, max_time = selection.seeds, selection.max_time
    if seeds is not None:
        words += ["--seeds", ",".join(map(str, seeds)) + ("," if len(seeds) == 1 else "")]
    for option, chosen in (("--methods", selection.methods), ("--data", selection.data)):
        if chosen is not None:
            words += [option, ",".join(chosen)]
    words += [] if max_time is None else ["--max-time", f"{max_time:g}"]
    words += [] if workers.jobs == 1 else ["--jobs", str(workers.jobs)]
    words += ["--quick"] if selection.quick else []
    words += ["--stack", str(selection.stack)] if selection.stack else []
    words += [] if selection.shard is None else ["--shard", selection.shard]
    words += [] if workers.cluster is None else ["--cluster", workers.cluster]
    words += [] if device is None else ["--device", device]
    return shlex.join(words)


def parse_seeds(text: str) -> list[int]:
    """Read ``--seeds``: a number of seeds, a range, or a list.

    Examples
    --------
    >>> parse_seeds("3"), parse_seeds("2-4"), parse_seeds("0,7"), parse_seeds("7,")
    ([0, 1, 2], [2, 3, 4], [0, 7], [7])
    """
    remedy = "write '5' for the first five, '0-4', or '0,2,4'."
    with refusing(ValueError, OptionError, f"seeds={text!r} cannot be used: {remedy}"):
        if "," in text:
            return [int(part) for part in text.split(",") if part.strip()]
        if "-" in text:
            first, last = map(int, text.split("-"))
            return list(range(first, last + 1))
        return list(range(int(text)))


def list_experiments() -> RenderableType:
    """Every experiment with its rows, for ``precede reproduce --list``."""
    lines: list[Text] = []
    for name, experiment in EXPERIMENTS.items():
        title = f"  {experiment.title} ({experiment.source}; {len(experiment.cells())} cells)"
        lines += [
            Text.assemble((name, "bold"), title),
            Text(f"  data: {', '.join(data.name for data in experiment.data)}", style="dim"),
            Text(f"  methods: {', '.join(method.name for method in experiment.methods)}", style="dim"),
        ]
    return Group(*lines)
