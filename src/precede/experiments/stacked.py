"""Cells of the paper's methods that are trained together: ``precede reproduce --stack N``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from precede.arrays import IntArray
from precede.corl import CORL
from precede.corl.fit import make_score
from precede.data.canonical import canonical
from precede.data.datasets import Dataset
from precede.data.load import load_table
from precede.data.table import Table, standardized_table
from precede.experiments.cells import Cell
from precede.experiments.ledger import Record
from precede.experiments.single import METRICS, Finished, now, resolved_options, thinned_curve
from precede.graph import CausalGraph
from precede.knowledge import Constraints
from precede.metrics.structure import evaluate
from precede.policy.pretrained import load_pretrained
from precede.pruning.order_to_graph import order_to_graph
from precede.runtime.deadline import Deadline
from precede.runtime.device import one_thread
from precede.runtime.randomness import numpy_rng
from precede.search.greedy import greedy_order
from precede.search.learner import Learner
from precede.search.train import IterationRecord, Trainer


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


@dataclass
class _Run:
    """A cell on its way through a stack: what a fit would have made of it."""

    cell: Cell
    dataset: Dataset
    model: CORL
    table: Table
    learner: Learner
    places: np.ndarray
    history: list[IterationRecord] = field(default_factory=list)

    @classmethod
    def opened(cls, cell: Cell, device: str | None) -> _Run:
        dataset = cell.data.draw(cell.seed)
        model = cell.build(device)
        assert isinstance(model, CORL)
        table, places = canonical(load_table(dataset.data), columns=model._columns_by_name, rows=model._rows_by_value)
        plan, constraints = model._plan(table), Constraints.none(table.n_variables)
        seen = standardized_table(table) if plan.score.standardize_columns else table
        score, _ = make_score(plan, seen, constraints, None, Deadline(None))
        pretrained = None if plan.search.start is None else load_pretrained(plan.search.start)
        rng = numpy_rng(model.random_state)
        learner = Learner(score, seen.values, plan.search.training, constraints, rng, pretrained)
        return cls(cell, dataset, model, table, learner, places)

    @property
    def ended(self) -> str:
        """As :func:`precede.experiments.single.why_ended`."""
        if not self.learner.finished:
            return "time"
        return "iterations" if self.learner.iteration >= self.learner.settings.n_iterations else "patience"

    def record(self, known: tuple[IntArray, float] | None) -> Record:
        """Prune the best order, or the greedy one where there was no time for any, and judge the graph."""
        score, constraints = self.learner.score, Constraints.none(self.table.n_variables)
        quick = greedy_order(score, constraints)
        greedy = score.score_of(quick)
        order, best = known or (quick, greedy)
        pruning = self.model._plan(self.table).pruning
        edges, _ = order_to_graph(
            order, self.table, score, constraints,
            pruning=pruning.name, threshold=pruning.threshold, cutoff=pruning.cutoff,
        )  # fmt: skip
        inverse = np.argsort(self.places)
        graph = CausalGraph.from_matrix(
            edges[np.ix_(inverse, inverse)], order=self.places[order], names=self.dataset.graph.names
        )
        compared = evaluate(graph, self.dataset.graph).to_dict()
        moved = next((record.iteration for record in self.history if record.best_score == best), 0)
        metrics = {name: compared[name] for name in METRICS} | {
            "score": best, "policy_score": best, "greedy_score": greedy,
            "iterations": self.learner.iteration, "converged_at": moved,
        }  # fmt: skip
        record: Record = {
            "key": self.cell.key, "settings": self.cell.settings(), "error": None, "metrics": metrics
        }  # fmt: skip
        if self.cell.keep_curve:
            rows = [(row.iteration, row.mean_score, row.best_score) for row in self.history]
            record["curve"] = thinned_curve(rows)
        return record


def run_stack(cells: Sequence[Cell], device: str | None) -> Iterator[Finished]:
    """Train the cells together; each is judged as a fit by itself would be. Its seconds are its share of the stack's.

    ``max_time`` holds for the whole stack.
    """
    date = now()
    with one_thread():
        runs = [_Run.opened(cell, device) for cell in cells]
        within = Deadline(cells[0].max_time)
        trainer = Trainer([run.learner for run in runs])
        for records in trainer.run(within):
            for run, record in zip(runs, records, strict=True):
                if record is not None:
                    run.history.append(record)
        seconds = within.elapsed() / len(runs)
        for k, run in enumerate(runs):
            times = {
                "key": run.cell.key, "seconds": round(seconds, 4), "device": device or "auto",
                "cut": not run.learner.finished, "start": date, "end": now(), "options": resolved_options(run.model),
                "ended": run.ended,
            }  # fmt: skip
            yield Finished(run.record(trainer.best.known(k)), times)
