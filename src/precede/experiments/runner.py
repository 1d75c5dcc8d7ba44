"""Run cells: one after another, on several processes, on a Dask cluster, or many on one GPU together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from precede.experiments.cells import EVERYTHING, Cell, Selection
from precede.experiments.ledger import Ledger, Record
from precede.experiments.single import run_cell
from precede.experiments.stacked import run_stack, stacks_of
from precede.runtime.progress import ProgressBar
from precede.runtime.workers import HERE, Workers, as_finished, check_jobs


def run_cells(
    cells: Sequence[Cell],
    ledger: Ledger,
    *,
    label: str,
    run: str,
    workers: Workers = HERE,
    device: str | None = None,
    chosen: Selection = EVERYTHING,
    verbose: bool = True,
) -> int:
    """Run the cells that the ledger does not have yet, and record each as it finishes.

    Parameters
    ----------
    cells : sequence of Cell
    ledger : Ledger
        Open.
    label : str
        For the progress bar.
    run : str
        Name of this run, kept with the times.
    workers : Workers
    device : str or None
        For the methods that take one, instead of their default.
    chosen : Selection
        Whether cells that ended in an error are run again, and how many are trained together.
    verbose : bool

    Returns
    -------
    n_run : int
        Number of cells that were run.
    """
    check_jobs("jobs", workers.jobs)
    waiting = [cell for cell in cells if not _is_done(ledger.cells.get(cell.key), cell, chosen.retry_failed)]
    n_failed = 0
    stacks = stacks_of(waiting, chosen.stack) if chosen.stack else []
    stacked = {cell.key for cells in stacks for cell in cells}
    single = [cell for cell in waiting if cell.key not in stacked]
    finished_cells = chain(
        chain.from_iterable(run_stack(cells, device) for cells in stacks),
        as_finished(run_cell, ((cell, device) for cell in single), workers),
    )
    with ProgressBar(label, len(cells), verbose) as bar:
        bar.update(len(cells) - len(waiting))
        for count, finished in enumerate(finished_cells, start=1):
            ledger.add(finished.record, {**finished.times, "run": run})
            n_failed += finished.record["error"] is not None
            shown: dict[str, float | str] = {"last": finished.record["key"]}
            bar.update(len(cells) - len(waiting) + count, **shown, **({"failed": str(n_failed)} if n_failed else {}))
    return len(waiting)


def _is_done(record: Record | None, cell: Cell, retry_failed: bool) -> bool:
    if record is None or record["settings"] != cell.settings():
        return False
    return record.get("error") is None or not retry_failed
