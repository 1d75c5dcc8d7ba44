"""A policy's probabilities of edges: added to a score's local terms, or a score of orders by themselves."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.knowledge import Constraints
from precede.scores.assumptions import Assumptions
from precede.scores.parent_tables import ColumnScore
from precede.scores.protocol import OrderScore, ParentSet

WEIGHT = 40.0
"""Nats of the data that one nat of the policy is worth. A score's own nats are too sure of themselves, since no model
is right. Chosen on simulated families, half of which the policy was never trained on (``docs/results/real``):
from 25 to 100 the distance to the truth hardly changes."""

UNLIKELY = 0.005
"""Probabilities are taken as at least this: a policy may be wrong about anything."""


@dataclass(frozen=True)
class PolicyEvidence:
    """What a policy says of the edges, and what that counts.

    Parameters
    ----------
    edges : (n_variables, n_variables) array
        ``[i, j]``: probability of i -> j; with ``[j, i]`` it sums to at most one.
    weight : float
        Nats of the data that one nat of the policy is worth.
    """

    edges: FloatArray
    weight: float = WEIGHT

    def log_odds(self) -> FloatArray:
        """Log-odds of i -> j against no edge at all, ``[i, j]``; zero on the diagonal.

        Examples
        --------
        >>> PolicyEvidence(np.array([[0, 0.6], [0.1, 0]])).log_odds().round(2).tolist()
        [[0.0, 0.69], [-1.1, 0.0]]
        """
        none = np.clip(1 - self.edges - self.edges.T, UNLIKELY, 1)  # transposed: neither direction
        odds = np.log(np.clip(self.edges, UNLIKELY, 1)) - np.log(none)
        np.fill_diagonal(odds, 0.0)
        return np.asarray(odds)


class PolicyPriorScore:
    r"""A local score plus what a policy says of the edges.

    .. math:: \mathrm{local}(v, S) + w \sum_{u \in S} \log \frac{P(u \to v)}{P(\text{no edge between } u, v)}

    Of a pair that is in the order u, v, an edge may lead from u to v or there is none; an edge that the policy sees the
    other way round is lost with this order. So orders are told apart as well, and every search, exact or not, with
    knowledge or without, works on the sum.

    Parameters
    ----------
    local : ColumnScore
    policy : PolicyEvidence
    """

    def __init__(self, local: ColumnScore, policy: PolicyEvidence) -> None:
        self.local = local
        self.name, self.assumes = f"{local.name}+policy", local.assumes
        self.n_samples, self.n_variables, self.columns = local.n_samples, local.n_variables, local.columns
        self.most_candidates, self.most_sets = local.most_candidates, local.most_sets
        self.sets_at_once = int(getattr(local, "sets_at_once", 16))
        self.notes = [
            *getattr(local, "notes", []),
            f"The score is the fit to the data plus the pretrained policy's log-odds of the edges, weighted × "
            f"{policy.weight:g}.",
        ]
        self._worth = policy.weight * policy.log_odds()

    def of_sets(self, sets: Sequence[ParentSet]) -> FloatArray:
        """Score of every variable given each set, (n_sets, n_variables); NaN for the members of the set."""
        said = np.stack([self._worth[list(members)].sum(axis=0) for members in sets])
        return np.asarray(self.local.of_sets(sets) + said)


def informed(local: ColumnScore, policy: PolicyEvidence | None) -> ColumnScore:
    """The local score with a policy's evidence, where there is some that counts."""
    return local if policy is None or policy.weight == 0 else PolicyPriorScore(local, policy)


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
    (``precede.policy.prediction.judge``).

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


def likely_edges(edges: FloatArray, order: IntArray, constraints: Constraints, cut: float = LIKELY) -> BoolArray:
    """Edges along an order whose probability is the cut or more, and what knowledge says."""
    position = np.argsort(order)
    along = position[:, None] < position[None, :]
    return np.asarray((constraints.apply(along) & (edges >= cut)) | constraints.required)
