"""Classes that vote: the answer where no single class of models survives its check on held-out rows.

Each member is a score that exists, with a search of its own, or the pretrained policy. A pair is joined where most
members join it; the order is the one that loses the fewest votes, and a direction that members dispute is open.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.data.table import Table
from precede.graph.dags import full_dag
from precede.knowledge import Constraints
from precede.pruning.order_to_graph import order_to_graph
from precede.runtime import Deadline
from precede.scores.assumptions import Assumptions
from precede.scores.build import ScoreName, build_score
from precede.scores.policy_prior import PolicyScore
from precede.scores.protocol import OrderScore
from precede.search.run import OrderSearch
from precede.search.settings import SearchSettings
from precede.strict_json import JsonObject

if TYPE_CHECKING:
    from precede.corl.fit import Fit

MEMBERS: dict[ScoreName, tuple[int, int]] = {
    "sparse-linear": (0, 10_000),
    "linear-any": (41, 10_000),
    "sparse-gp-additive": (0, 20),
    "location-scale": (0, 40),
}
"""Fewest and most variables with which a score votes: curves and uneven noise take seconds at 20 variables and minutes
at 80, and what takes their place beyond is too sure of the noise's shape to vote on fewer."""

ORDER_SHARE = 0.25
"""A precedence in a member's order counts this share of a vote for the direction; an edge counts a whole one."""

FULL_SUPPORT = 0.5
"""A pair is joined when more than this share of the votes joins it, whichever way."""

DISPUTED = 0.5
"""A direction is open when the votes against it are this share of those for it, or more."""

SHARPNESS = 4.0
"""Log-odds of a precedence for a whole vote: large enough that votes add up to an order and none is certain."""


@dataclass(frozen=True)
class Ballot:
    """What a member says: ``pattern[i, j]`` is one for i -> j, and a half both ways where it leaves that open.

    Its ``order`` counts as well, but for a member that tells a class of graphs only, where the order is any of many.
    """

    member: str
    pattern: FloatArray
    order: IntArray | None = None


def joined_by(votes: FloatArray) -> BoolArray:
    """Pairs that most votes join, whichever way."""
    return np.asarray(votes + votes.T > FULL_SUPPORT)  # transposed: a vote for a pair


def best_linear_order(preference: FloatArray) -> IntArray:
    r"""An order that :math:`\sum_{i \text{ before } j} P_{ij}` is high for: by net preference, then by insertions.

    Every variable is moved to its best place until no move gains (the linear ordering problem's usual local search).

    Parameters
    ----------
    preference : (n_variables, n_variables) float array
        ``[i, j]`` is what it is worth to have i before j.

    Examples
    --------
    >>> best_linear_order(np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 1.0], [3.0, 0.0, 0.0]]))
    array([1, 2, 0])
    """
    net = preference - preference.T  # transposed: what it costs to have them the other way round
    order = np.argsort(-net.sum(axis=1), kind="stable")
    improved = True
    while improved:
        improved = False
        for variable in np.arange(len(net)):
            place = int(np.flatnonzero(order == variable)[0])
            rest = np.delete(order, place)
            # worth of each slot, relative to the first: every variable it is put behind is lost and theirs gained
            worth = np.concatenate([[0.0], np.cumsum(-net[variable, rest])])
            slot = int(np.argmax(worth))
            if worth[slot] > worth[place] + 1e-12:
                order = np.insert(rest, slot, variable)
                improved = True
    return order.astype(np.int64)


class VoteScore(PolicyScore):
    """What the ballots add up to, as a score of orders: each has one vote.

    Parameters
    ----------
    ballots : sequence of Ballot
    constraints : Constraints
    left_out : sequence of str
        Members that would cost too much at this size.

    Examples
    --------
    >>> chain, turned = np.eye(3, k=1), np.eye(3, k=-1)
    >>> ballots = [Ballot(name, say, np.arange(3)) for name, say in (("a", chain), ("b", chain), ("c", turned))]
    >>> score = VoteScore(ballots, Constraints.none(3))
    >>> edges = score.graph(score.quick_order(score.constraints))
    >>> edges.astype(int).tolist(), score.described(edges, "xyz")["direction_sources"][0]
    ([[0, 1, 0], [0, 0, 1], [0, 0, 0]], ['x', 'y', 'open'])
    """

    name = "vote"
    assumes = Assumptions(
        words="No single model: several kinds were fitted, and what most of them say stands. Each assumes that no "
        "common cause is missing."
    )

    def __init__(self, ballots: Sequence[Ballot], constraints: Constraints, left_out: Sequence[str] = ()) -> None:
        self.ballots = ballots
        self.votes = np.mean([ballot.pattern for ballot in ballots], axis=0)
        orders = [full_dag(ballot.order) for ballot in ballots if ballot.order is not None]
        before = np.sum(orders, axis=0) / len(ballots)
        preference = self.votes + ORDER_SHARE * before
        precedence = 1 / (1 + np.exp(SHARPNESS * (preference.T - preference)))  # transposed: the other way round
        super().__init__(precedence, joined_by(self.votes).astype(float), best_linear_order(preference), constraints)
        said = (
            f"No single class of models holds: {', '.join(ballot.member for ballot in ballots)} vote, and most decide."
        )
        too_slow = f" {', '.join(left_out)} would take too long on {self.n_variables} columns." if left_out else ""
        self.notes = (said + too_slow,)

    def source_of(self, i: int, j: int) -> Literal["structure", "curvature", "shape", "policy", "open"]:
        """What tells the direction of i -> j: the first member that does, where few say otherwise."""
        if self.votes[j, i] >= DISPUTED * self.votes[i, j]:
            return "open"
        heard = {ballot.member for ballot in self.ballots if ballot.pattern[i, j] == 1}
        if "sparse-linear" in heard:
            return "structure"
        if heard & {"sparse-gp-additive", "location-scale"}:
            return "curvature"
        return "shape" if "linear-any" in heard else "policy" if "policy" in heard else "open"

    def described(self, edges: BoolArray, names: Sequence[Hashable]) -> JsonObject:
        """Where each direction comes from, and who voted how."""
        pairs = [(int(i), int(j)) for i, j in np.argwhere(edges)]
        marks = {(1.0, 0.0): "for", (0.0, 1.0): "against", (0.5, 0.5): "open", (0.0, 0.0): "no edge"}
        votes = [
            {"cause": names[i], "effect": names[j]}
            | {b.member: marks[float(b.pattern[i, j]), float(b.pattern[j, i])] for b in self.ballots}
            for i, j in pairs
        ]
        return {"direction_sources": [[names[i], names[j], self.source_of(i, j)] for i, j in pairs], "votes": votes}


def vote(fit: Fit, device: torch.device) -> VoteScore:
    """Let every member that can afford it learn the graph, under the same knowledge, and count.

    Where the time runs out, those that are done vote; there is always one.
    """
    table, constraints, said, deadline = fit.seen, fit.constraints, fit.said, fit.deadline
    ballots: list[Ballot] = []
    left_out = []
    if said is not None:
        policy = PolicyScore(said.precedence, said.edges, said.order, constraints)
        order = policy.quick_order(constraints)
        ballots.append(Ballot("policy", policy.graph(order).astype(float), order))
    for name, (fewest, most) in MEMBERS.items():
        if table.n_variables > most or (ballots and deadline.passed()):
            left_out.append(name)
        elif table.n_variables >= fewest:
            start = ballots[0].order if ballots else None
            score, order, edges = learn_graph(name, table, constraints, device, fit.rng, deadline, start)
            told = order if score.identifies == "dag" else None
            ballots.append(Ballot(name, score.marks(edges, constraints), told))
    return VoteScore(ballots, constraints, left_out)


def learn_graph(
    name: ScoreName,
    table: Table,
    constraints: Constraints,
    device: torch.device,
    rng: np.random.Generator,
    deadline: Deadline,
    start: IntArray | None = None,
) -> tuple[OrderScore, IntArray, BoolArray]:
    """The score, order and edges that local search finds, from the greedy order and from a given one."""
    score = build_score(name, table, constraints, device=device, deadline=deadline)
    settings = SearchSettings("local", initial_order=start)
    order = OrderSearch(score, table.values, constraints, settings, rng, deadline).run().order
    return score, order, order_to_graph(order, table, score, constraints)
