"""Missing cells and linear scores: the graph that was learned says what is in the gaps, and it is learned again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from precede.arrays import FloatArray
from precede.corl.settings import Plan
from precede.data.load import Table
from precede.data.redraw import redrawn, reestimated
from precede.knowledge import Constraints
from precede.pruning.order_to_graph import order_to_graph
from precede.runtime.deadline import Deadline
from precede.scores.build import ScoreName, build_score
from precede.scores.protocol import OrderScore
from precede.search.run import OrderSearch, Searched, search_exactly

ROUNDS: dict[ScoreName, int] = {"linear-any": 5, "nongaussian": 5, "sparse-linear": 1}
"""How often the gaps are told and the order is learned again, by the score (``benchmarks/missing_cells.py``)."""

RESTARTS = 4
"""Of the climbs in between: they start where the last one ended, so that few do."""

DRAWN_AGAIN = (
    "Once there was a graph, missing cells were drawn again from it and the shape of its noise, and the order was "
    "learned again."
)
ESTIMATED_AGAIN = "Once there was a graph, EM ran again along it, and the order was learned again."


def refit_imputed(
    plan: Plan,
    score: OrderScore,
    found: Searched,
    table: Table,
    constraints: Constraints,
    rng: np.random.Generator,
    deadline: Deadline,
    edge_probability: FloatArray | None,
) -> tuple[Searched, OrderScore, Table]:
    """The order once the graph has told what is in the gaps, the score that it maximizes, and the table.

    Where the noise tells directions, cells are drawn in its shape; else EM estimates the moments along the graph, which
    is all that a score of parent sets reads. Scores of curves see what EM draws; ``"pairwise"`` stays what it is.
    """
    name = next((known for known in ROUNDS if known == score.name), None)
    if table.gaps is None or table.gaps.how != "em" or table.targets is not None:
        return found, score, table
    if name is None or isinstance(plan.score.score, OrderScore) or not plan.search.polish:
        return found, score, table
    settings = plan.search
    restarts = RESTARTS if settings.n_restarts is None else min(RESTARTS, settings.n_restarts)
    climbs = replace(settings, kind="local", n_restarts=restarts)
    for _ in range(ROUNDS[name]):
        if deadline.passed():
            break
        edges, _ = order_to_graph(
            found.order, table, score, constraints,
            pruning=plan.pruning.name, threshold=plan.pruning.threshold, cutoff=plan.pruning.cutoff,
            edge_probability=edge_probability,
        )  # fmt: skip
        table = reestimated(table, edges) if name == "sparse-linear" else redrawn(table, edges, rng, deadline)
        score = build_score(name, table, constraints, noise=plan.score.noise, device=score.device)
        if settings.kind == "exact":
            found = search_exactly(score, constraints, deadline, settings.why)
            continue
        from_here = replace(climbs, initial_order=found.order)
        again = OrderSearch(score, table.values, constraints, from_here, rng, deadline).run()
        first = found.record
        kept = {name: getattr(first, name) for name in ("kind", "why", "policy_order", "iterations")}
        record = replace(again.record, **kept)
        found = replace(found, order=again.order, record=record)
    return found, score, table
