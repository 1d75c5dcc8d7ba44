"""One cell by itself: draw the data, fit, evaluate."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

import numpy as np

from precede.corl import CORL
from precede.corl.settings import pretrained_start, training_of
from precede.errors import PrecedeError
from precede.estimator import CausalEstimator
from precede.experiments.cells import Cell
from precede.experiments.ledger import Record
from precede.metrics.structure import evaluate
from precede.runtime.device import one_thread
from precede.search.settings import Details
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
    record: Record = {"key": cell.key, "settings": cell.settings(), "error": None, "metrics": {}}
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
            compared = evaluate(model.graph_, dataset.graph).to_dict()
            record["metrics"] = {name: compared[name] for name in METRICS} | search_numbers(model)
            if cell.keep_curve:
                record["curve"] = curve_of(model)
        except Exception as error:
            seconds = time.perf_counter() - start
            text = str(error).strip().partition("\n")[0]
            record["error"] = text if isinstance(error, PrecedeError) else f"{type(error).__name__}: {text}"
    times = {"key": cell.key, "seconds": round(seconds, 4), "device": device or "auto", "start": date, "end": now()}
    if model is not None:
        times["options"] = resolved_options(model)
    times["ended"] = "error" if model is None or record["error"] is not None else why_ended(model)
    return Finished(record, times)


def now() -> str:
    """Date and time to the second."""
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"


def resolved_options(model: CausalEstimator) -> JsonObject:
    """Every option as it held, defaults included, JSON-ready; what is no plain value is written out."""
    options = model.get_params(deep=False)
    if isinstance(model, CORL):
        options |= vars(training_of(model, pretrained_start(model)))
    plain = (bool, int, float, str, list, tuple, dict, type(None))
    grouped = {name: asdict(value) if isinstance(value, Details) else value for name, value in options.items()}
    left_out = ("random_state", "verbose", "diagnose", "max_time", "device")  # in the cell's settings, or no choice
    return {
        name: value if isinstance(value, plain) else str(value)
        for name, value in grouped.items()
        if name not in left_out
    }


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


def curve_of(model: CausalEstimator) -> dict[str, list[float]]:
    """Mean and best score by iteration, thinned evenly; the last iteration is always there. Empty without training."""
    history = model.history_
    if history.empty:
        return thinned_curve([])
    return thinned_curve(list(zip(*(history[name].tolist() for name in CURVE), strict=True)))


def thinned_curve(rows: Sequence[tuple[float, float, float]]) -> dict[str, list[float]]:
    """Iteration, mean and best score as columns, of every few rows and of the last."""
    step = max(1, math.ceil(len(rows) / LONGEST_CURVE))
    kept = [rows[k] for k in sorted({*range(0, len(rows), step), *range(len(rows))[-1:]})]
    return {name: [row[k] for row in kept] for k, name in enumerate(CURVE)}
