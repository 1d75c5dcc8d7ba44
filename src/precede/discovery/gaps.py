"""Missing cells where the noise tells directions: drawn again from what was learned, and learned again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from precede.arrays import FloatArray
from precede.data.load import Table
from precede.data.redraw import redrawn
from precede.discovery.plan import Plan
from precede.knowledge import Constraints
from precede.pruning.order_to_graph import order_to_graph
from precede.runtime.deadline import Deadline
from precede.scores.build import build_score
from precede.scores.protocol import OrderScore
from precede.search.run import OrderSearch, Searched, search_exactly

ROUNDS = 5
"""How often cells are drawn and the order is learned again (``benchmarks/missing_cells.py``)."""

RESTARTS = 4
"""Of the climbs in between: they start where the last one ended, so that few do."""

DRAWN_AGAIN = (
    "Missing cells were drawn again from the graph and the noise that were learned, then the order was learned again."
)


def search_again(
    plan: Plan,
    score: OrderScore,
    found: Searched,
    table: Table,
    constraints: Constraints,
    rng: np.random.Generator,
    deadline: Deadline,
    edge_probability: FloatArray | None,
) -> tuple[Searched, OrderScore, Table]:
    """The order once the gaps are filled by the model itself, and the score that it maximizes; a round takes a climb.

    Linear scores take their moments from EM and see no cell that was drawn; scores of curves see such as EM draws.
    """
    asked = plan.score.score
    excluded = score.assumes.linear and score.assumes.gaussian == "excluded"
    if table.gaps is None or isinstance(asked, OrderScore) or not excluded or not plan.search.settings.polish:
        return found, score, table
    settings = plan.search.settings
    restarts = RESTARTS if settings.n_restarts is None else min(RESTARTS, settings.n_restarts)
    climbs = replace(settings, n_restarts=restarts, training=replace(settings.training, n_iterations=0))
    for _ in range(ROUNDS):
        if deadline.passed():
            break
        edges, _ = order_to_graph(
            found.order, table, score, constraints,
            pruning=plan.pruning.name, threshold=plan.pruning.threshold, cutoff=plan.pruning.cutoff,
            edge_probability=edge_probability,
        )  # fmt: skip
        table = redrawn(table, edges, rng)
        score = build_score("nongaussian", table, constraints, device=score.device)
        if plan.search.exact:
            found = search_exactly(score, constraints, deadline)
            continue
        from_here = replace(climbs, initial_order=found.order)
        again = OrderSearch(score, table.values, constraints, from_here, rng, deadline).run()
        first = found.record
        record = replace(again.record, policy_order=first.policy_order, iterations=first.iterations)
        found = replace(found, order=again.order, record=record)
    return found, score, table
