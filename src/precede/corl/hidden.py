"""CORL(hidden="allowed"): from the graph that the search found to a PAG, in which causes may be missing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from precede.arrays import BoolArray, IntArray
from precede.data.load import Table
from precede.errors import OptionError
from precede.graph import MixedGraph
from precede.graph.dags import topological_order
from precede.knowledge import Constraints
from precede.runtime.deadline import Deadline
from precede.scores.assumptions import Assumptions
from precede.scores.choose import Choice
from precede.search.pag import independence_test, learn_pag


def refuse_rows(table: Table) -> None:
    """Refuse what the tests of independence cannot take."""
    for what, given in (("interventions", table.targets), ("lags", table.steps)):
        if given is not None:
            raise OptionError(f"hidden='allowed' does not take {what}: leave them out, or take hidden='none'.")


def start_constraints(constraints: Constraints) -> Constraints:
    """The knowledge for the search that starts: two columns that cannot cause each other may share a hidden cause."""
    neither = ~constraints.allowed & ~constraints.allowed.T & ~np.eye(len(constraints.allowed), dtype=bool)
    return replace(constraints, allowed=constraints.allowed | (neither & ~constraints.before.T))  # not against time


def start_choice(choice: Choice) -> Choice:
    """The score to start with: a hidden cause bends the shapes that tell directions, so correlations must do."""
    if choice.name not in ("linear-any", "location-scale", "policy"):
        return choice
    reason = f"{choice.reason} With hidden causes only the independences count, here those of correlations."
    return replace(choice, name="sparse-linear", reason=reason, informed=False)


def allow_hidden(
    edges: BoolArray, order: IntArray, table: Table, constraints: Constraints, assumes: Assumptions, deadline: Deadline
) -> tuple[MixedGraph, BoolArray, IntArray, Assumptions]:
    """The PAG, one DAG that has its marks with an order of it, and what was assumed."""
    test = independence_test(table, curves=assumes.mechanism == "additive")
    pag = MixedGraph(learn_pag(edges, test, constraints, deadline=deadline), table.names)
    member, _ = pag.member(constraints.nearest_order(order))
    if constraints.violated_by(member):  # a path against the tiers
        member, _ = pag.member(constraints.nearest_order(order), follow=True)
    words = f"{assumes.words} Any two variables may share a cause that is not in the table."
    return pag, member, topological_order(member), replace(assumes, hidden_causes=True, words=words)
