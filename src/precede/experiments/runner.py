"""Run cells: one after another, on several processes, on a Dask cluster, or many on one GPU together."""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import chain

import numpy as np

from precede.arrays import IntArray
from precede.corl import CORL
from precede.corl.fit import Fit
from precede.corl.settings import pretrained_start, training_of
from precede.data.datasets import Dataset
from precede.data.load import load_table
from precede.data.table import canonical, evenly_spaced
from precede.errors import PrecedeError
from precede.estimator import CausalEstimator, FitResult
from precede.experiments.cells import EVERYTHING, Cell, Selection
from precede.experiments.ledger import Ledger, Record
from precede.knowledge import Constraints
from precede.lazy import pandas as pd
from precede.metrics import evaluate
from precede.pruning.order_to_graph import weigh
from precede.runtime import Deadline, ProgressBar, Signals, numpy_rng, one_thread
from precede.runtime.workers import HERE, Workers, as_finished, check_jobs
from precede.search.learner import Learner
from precede.search.local import greedy_order
from precede.search.record import SearchRecord
from precede.search.train import IterationRecord, Trainer
from precede.strict_json import JsonObject

METRICS = ("shd", "tpr", "fdr", "f1", "order_tpr", "cpdag_shd", "n_edges", "n_true_edges")
CURVE = ("iteration", "mean_score", "best_score")
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
        What differs, and what ran: ``seconds`` of the fit, ``device``, ``start`` and ``end``, the resolved ``options``,
        and why it ``ended``.
    """

    record: Record
    times: Record


def run_cell(cell: Cell, device: str | None = None) -> Finished:
    """Draw the data, fit, evaluate; an error becomes a sentence in the record.

    Every cell computes on one CPU thread, so that results depend neither on the number of jobs nor on the machine's
    cores.
    """
    start, date, model = time.perf_counter(), now(), None
    with one_thread():
        try:
            dataset = cell.data.draw(cell.seed)
            start = time.perf_counter()
            model = cell.build(device)
            model.diagnose = False  # a cell is a fit and its metrics
            model.fit(dataset.data)
            seconds = time.perf_counter() - start
            if model.diagnostics_.get("search", {}).get("interrupted"):
                raise KeyboardInterrupt  # CORL keeps its best order; a cell cut short is not a result
            found: Record = {"error": None, **found_by(cell, model, dataset)}
        except Exception as error:
            seconds = time.perf_counter() - start
            text = str(error).strip().partition("\n")[0]
            found = {"error": text if isinstance(error, PrecedeError) else f"{type(error).__name__}: {text}"}
    times = {"seconds": seconds, "device": device or "auto", "start": date}
    return finished(cell, {"metrics": {}, **found}, times, model)


def found_by(cell: Cell, model: CausalEstimator, dataset: Dataset) -> Record:
    """Metrics of a fitted method, and its learning curve where that is kept."""
    compared = evaluate(model.graph_, dataset.graph).to_dict()
    metrics = {name: compared[name] for name in METRICS} | search_numbers(model)
    return {"metrics": metrics, **({"curve": thinned_curve(model.history_)} if cell.keep_curve else {})}


def finished(cell: Cell, found: Record, times: Record, model: CausalEstimator | None) -> Finished:
    """The two records of a cell, from what was found and how long it took."""
    times = {"key": cell.key, **times, "seconds": round(times["seconds"], 4), "end": now()}
    if model is not None:
        times["options"] = resolved_options(model)
    times["ended"] = "error" if model is None or found["error"] is not None else why_ended(model)
    return Finished({"key": cell.key, "settings": cell.settings(), **found}, times)


def now() -> str:
    """Date and time to the second."""
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"


def resolved_options(model: CausalEstimator) -> JsonObject:
    """Every option as it held, defaults included, JSON-ready; what is no plain value is written out."""
    options = model.get_params(deep=False)
    if isinstance(model, CORL):
        options |= asdict(training_of(model, pretrained_start(model)))
    for name in ("random_state", "verbose", "diagnose", "max_time", "device"):  # in the cell's settings, or no choice
        options.pop(name, None)
    plain = (bool, int, float, str, list, tuple, dict, type(None))
    return {name: value if isinstance(value, plain) else str(value) for name, value in options.items()}


def why_ended(model: CausalEstimator) -> str:
    """What ended a fit: "time", "iterations", "patience", or "itself" for what comes to an end by itself."""
    search = model.diagnostics_.get("search", {})
    if search.get("out_of_time"):
        return "time"
    if not isinstance(model, CORL) or model.history_.empty:
        return "itself"
    return "iterations" if len(model.history_) >= training_of(model, None).n_iterations else "patience"


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


def thinned_curve(history: pd.DataFrame) -> dict[str, list[float]]:
    """Mean and best score by iteration, every few and the last one. Empty without training."""
    kept = history.iloc[evenly_spaced(len(history), LONGEST_CURVE)]
    return {name: kept[name].tolist() for name in CURVE}


def stacks_of(cells: Sequence[Cell], size: int) -> list[list[Cell]]:
    """Cells that can be trained together, at most ``size`` in a stack; two at least, or it is not a stack."""
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        method = cell.method
        if method.paper is not None and "score" not in method.options:
            alike = cell.data.n_variables, method.paper, method.nonlinear, sorted(method.options.items()), cell.max_time
            groups.setdefault(str(alike), []).append(cell)
    parts = [group[k : k + size] for group in groups.values() for k in range(0, len(group), size)]
    return [part for part in parts if len(part) > 1]


class _Run:
    """A cell on its way through a stack: what its own fit would have made of it."""

    def __init__(self, cell: Cell, device: str | None) -> None:
        self.cell, self.dataset = cell, cell.data.draw(cell.seed)
        self.history: list[IterationRecord] = []
        model = cell.build(device)
        assert isinstance(model, CORL)
        model.diagnose = False
        self.given = load_table(self.dataset.data)
        table, self.places = canonical(self.given, columns=model._columns_by_name, rows=model._rows_by_value)
        constraints, rng = Constraints.none(table.n_variables), numpy_rng(model.random_state)
        self.fit = fit = Fit(model, table, constraints, rng, Deadline(None))
        score, _ = fit.score()
        self.learner = Learner(score, fit.seen.values, fit.settings.training, constraints, rng, fit.pretrained)

    def fitted(self, known: tuple[IntArray, float] | None) -> CORL:
        """Prune the best order, or the greedy one where there was no time for any; the method as its fit leaves it."""
        model, learner, score = self.fit.model, self.learner, self.learner.score
        quick = greedy_order(score, self.fit.constraints)
        greedy = score.score_of(quick)
        order, best = known or (quick, greedy)
        edges = self.fit.prune(order, self.fit.table, score)
        weights = weigh(edges, order, self.fit.table, score)
        late = not learner.finished
        search = SearchRecord(
            best, "policy", greedy_score=greedy, policy_score=best, iterations=learner.iteration, out_of_time=late
        )
        found = FitResult(edges, order, weights, best, self.history, IterationRecord, search=search)
        model._store(self.given, found.at(self.places), Signals(Deadline(None)))
        return model


def run_stack(cells: Sequence[Cell], device: str | None) -> Iterator[Finished]:
    """Train the cells together; each is judged as a fit by itself would be. Its seconds are its share of the stack's.

    ``max_time`` holds for the whole stack.
    """
    date = now()
    with one_thread():
        runs = [_Run(cell, device) for cell in cells]
        within = Deadline(cells[0].max_time)
        trainer = Trainer([run.learner for run in runs])
        for records in trainer.run(within):
            for run, record in zip(runs, records, strict=True):
                if record is not None:
                    run.history.append(record)
        seconds = within.elapsed() / len(runs)
        for k, run in enumerate(runs):
            model = run.fitted(trainer.best.known(k))
            found = {"error": None, **found_by(run.cell, model, run.dataset)}
            times = {"seconds": seconds, "device": device or "auto", "start": date, "cut": not run.learner.finished}
            yield finished(run.cell, found, times, model)


def run_cells(
    cells: Sequence[Cell],
    ledger: Ledger,
    run: str,
    workers: Workers = HERE,
    device: str | None = None,
    chosen: Selection = EVERYTHING,
    *,
    verbose: bool = True,
) -> int:
    """Run the cells that the ledger does not have yet, and record each as it finishes.

    Parameters
    ----------
    cells : sequence of Cell
    ledger : Ledger
        Open.
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
    with ProgressBar(ledger.folder.name, len(cells), verbose) as bar:
        bar.update(len(cells) - len(waiting))
        for count, finished in enumerate(finished_cells, start=1):
            ledger.add(finished.record, {**finished.times, "run": run})
            n_failed += finished.record["error"] is not None
            shown = {"last": finished.record["key"], **({"failed": str(n_failed)} if n_failed else {})}
            bar.update(len(cells) - len(waiting) + count, **shown)
    return len(waiting)


def _is_done(record: Record | None, cell: Cell, retry_failed: bool) -> bool:
    if record is None or record["settings"] != cell.settings():
        return False
    return record.get("error") is None or not retry_failed
