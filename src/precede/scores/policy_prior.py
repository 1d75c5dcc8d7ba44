"""A policy's probabilities as a score of orders: pairwise log-odds, and the edges that are likely."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.knowledge import Constraints
from precede.scores.assumptions import Assumptions
from precede.scores.protocol import OrderScore

SURE = 0.995
"""Probabilities are kept within 1 - this and this: a policy may be wrong about anything."""

LIKELY = 0.4
"""Edges from this probability on are in the graph: half of the F1 that may be hoped for, where F1 is largest."""

NEVER = -1e6
"""Log-odds of a pair that knowledge rules out."""

NOTE = (
    "The result is the pretrained policy's answer: directions and probabilities by what it has seen in simulated data, "
    "not by the fit of a model to these data."
)


class PolicyScore(OrderScore):
    r"""Log-probability of an order by pairs of variables.

    .. math:: \mathrm{term}_t = \sum_{u \text{ before } v_t} \log P(u \prec v_t) + \log (1 - P(v_t \to u)),

    with the probabilities that u precedes v and that v causes u, as a pretrained policy gives them
    (:func:`precede.policy.prediction.judge`).

    Parameters
    ----------
    precedence, edges : (n_variables, n_variables) arrays
        ``[i, j]``: probability that i comes before j, and of i -> j.
    start : (n_variables,) int array
        The policy's own order.
    constraints : Constraints, optional
    notes : sequence of str
        Why this score was taken, beside what it is.

    Examples
    --------
    >>> edges = np.array([[0, 0.9, 0.0], [0.05, 0, 0.7], [0.0, 0.2, 0]])
    >>> precedence = np.array([[0, 0.9, 0.9], [0.1, 0, 0.8], [0.1, 0.2, 0]])
    >>> score = PolicyScore(precedence, edges, np.array([2, 0, 1]))
    >>> order = score.quick_order(Constraints.none(3))
    >>> order.tolist()
    [0, 1, 2]
    >>> score.graph(order).astype(int).tolist()
    [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    """

    name = "policy"
    identifies = "dag"
    assumes = Assumptions(
        words="Nothing about the form of the effects: the pretrained policy has seen tables of many kinds, simulated "
        "with known causes, and treats these data as one more."
    )

    def __init__(
        self,
        precedence: FloatArray,
        edges: FloatArray,
        start: IntArray,
        constraints: Constraints | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.n_variables = d = len(edges)
        self.edges, self.start = edges, start
        self.constraints = constraints or Constraints.none(d)
        likely = np.log(np.clip(precedence, 1 - SURE, SURE)) + np.log(np.clip(1 - edges.T, 1 - SURE, 1))
        np.fill_diagonal(likely, 0.0)
        self.log_odds = torch.from_numpy(np.where(self.constraints.before.T, NEVER, likely))  # [first, second]
        self.notes = (NOTE, *notes)

    def terms(self, orders: Tensor) -> Tensor:
        pairs = self.log_odds[orders[:, :, None], orders[:, None, :]]  # [order, earlier, later]
        return torch.triu(pairs, 1).sum(1)

    def insertion_sums(self, order: Tensor) -> Tensor:
        pairs = self.log_odds[order][:, order]
        now = torch.triu(pairs, 1).sum()
        change = pairs.T - pairs  # [moved, passed] to the right: the passed one comes first after the move
        right = torch.triu(change, 1).cumsum(1)
        left = torch.tril(-change, -1).flip(1).cumsum(1).flip(1)
        return now + torch.triu(right, 1) + torch.tril(left, -1)

    def quick_order(self, constraints: Constraints) -> IntArray:
        """Climb by insertion moves from the policy's own order."""
        order = torch.from_numpy(constraints.nearest_order(self.start))
        while True:
            sums = self.insertion_sums(order)
            best = int(sums.argmax())
            source, target = divmod(best, self.n_variables)
            if float(sums.view(-1)[best]) <= float(sums[0, 0]) + 1e-9:
                result: IntArray = order.numpy()
                return result
            others = torch.cat([order[:source], order[source + 1 :]])
            order = torch.cat([others[:target], order[source : source + 1], others[target:]])

    def graph(self, order: IntArray) -> BoolArray:
        """Likely edges that agree with the order, and those that knowledge requires."""
        return likely_edges(self.edges, order, self.constraints)


def likely_edges(edges: FloatArray, order: IntArray, constraints: Constraints) -> BoolArray:
    """Edges along an order whose probability is :data:`LIKELY` or more, and what knowledge says."""
    position = np.argsort(order)
    along = position[:, None] < position[None, :]
    return np.asarray((constraints.apply(along) & (edges >= LIKELY)) | constraints.required)
