"""Run cells: one after another, on several processes, or on a Dask cluster, with the same results."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from precede.errors import PrecedeError
from precede.estimator import CausalEstimator
from precede.experiments.cells import Cell
from precede.experiments.ledger import Ledger, Record
from precede.metrics.structure import evaluate
from precede.runtime.device import one_thread
from precede.runtime.progress import ProgressBar
from precede.runtime.workers import HERE, Workers, as_finished, check_jobs

METRICS = ("shd", "tpr", "fdr", "f1", "order_tpr", "cpdag_shd", "n_edges", "n_true_edges")
LONGEST_CURVE = 250
"""Points of a learning curve that are kept."""


@dataclass(frozen=True)
class Finished:
    """A cell that was run.

    Parameters
    ----------
    record : dict
        What it found: the same wherever and whenever it is run.
    times : dict
        What differs: ``seconds`` of the fit, ``device``.
    """

    record: Record
    times: Record


def run_cell(cell: Cell, device: str | None = None) -> Finished:
    """Draw the data, fit, evaluate; an error becomes a sentence in the record.

    Every cell computes on one CPU thread, so that results depend neither on the number of jobs nor on the machine's
    cores.
    """
    record: Record = {"key": cell.key, "settings": cell.settings(), "error": None, "metrics": {}}
    start = time.perf_counter()
    with one_thread():
        try:
            dataset = cell.data.draw(cell.seed)
            start = time.perf_counter()
            model = cell.build(device)
            model.diagnose = False  # a cell is a fit and its metrics
            model.fit(dataset.data)
            seconds = time.perf_counter() - start
            if model.diagnostics_.get("search", {}).get("interrupted"):
                raise KeyboardInterrupt  # CORL keeps its best order; a cell cut short is no result
            compared = evaluate(model.graph_, dataset.graph).to_dict()
            record["metrics"] = {name: compared[name] for name in METRICS} | search_numbers(model)
            if cell.keep_curve:
                record["curve"] = curve_of(model)
        except Exception as error:
            seconds = time.perf_counter() - start
            text = str(error).strip().partition("\n")[0]
            record["error"] = text if isinstance(error, PrecedeError) else f"{type(error).__name__}: {text}"
    return Finished(record, {"key": cell.key, "seconds": round(seconds, 4), "device": device or "auto"})


def search_numbers(model: CausalEstimator) -> dict[str, float | int | None]:
    """What the search says of itself: its score, and the iteration of its last improvement."""
    search = model.diagnostics_.get("search", {})
    numbers: dict[str, float | int | None] = {"score": model.score_}
    numbers |= {name: search[name] for name in ("policy_score", "greedy_score", "iterations") if name in search}
    if "converged_at" in model.diagnostics_:
        numbers["converged_at"] = model.diagnostics_["converged_at"]
        numbers["iterations"] = len(model.history_)
    elif "iterations" in search and len(model.history_):
        best = model.history_["best_score"].to_numpy()
        numbers["converged_at"] = int(model.history_["iteration"].to_numpy()[int(np.argmax(best == best[-1]))])
    return {name: None if isinstance(v, float) and not math.isfinite(v) else v for name, v in numbers.items()}


def curve_of(model: CausalEstimator) -> dict[str, list[float]]:
    """Mean and best score by iteration, thinned evenly; the last iteration is always there. Empty without training."""
    history = model.history_
    if history.empty:
        return {"iteration": [], "mean_score": [], "best_score": []}
    step = max(1, math.ceil(len(history) / LONGEST_CURVE))
    kept = history.iloc[sorted({*range(0, len(history), step), len(history) - 1})]
    return {name: kept[name].tolist() for name in ("iteration", "mean_score", "best_score")}


def run_cells(
    cells: Sequence[Cell],
    ledger: Ledger,
    *,
    label: str,
    run: str,
    workers: Workers = HERE,
    device: str | None = None,
    retry_failed: bool = False,
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
    retry_failed : bool
        Run the cells again that ended in an error.
    verbose : bool

    Returns
    -------
    n_run : int
        Number of cells that were run.
    """
    check_jobs("jobs", workers.jobs)
    waiting = [cell for cell in cells if not _is_done(ledger.cells.get(cell.key), cell, retry_failed)]
    n_failed = 0
    finished_cells = as_finished(run_cell, ((cell, device) for cell in waiting), workers)
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
