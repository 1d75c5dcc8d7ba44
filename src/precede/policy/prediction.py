"""What a pretrained policy says about a table at once: an order, what precedes what, and what causes what."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.data.table import Table
from precede.errors import OptionError
from precede.knowledge import Constraints
from precede.policy.edges import answer_log_probabilities
from precede.policy.moments import MomentsEncoder
from precede.policy.pretrained import Pretrained, load_pretrained
from precede.runtime.device import one_thread
from precede.runtime.randomness import gumbel_noise
from precede.scores.policy_prior import PolicyScore

N_ORDERS = 200
"""Orders that are drawn for the precedence probabilities."""

SEED = 0
"""Of the rows in each view and of those orders: the same table gives the same answer."""


MOST_VARIABLES = 150
"""Tables with more columns are far beyond what the policy was trained on, which is 50."""

TAKES = f"at most {MOST_VARIABLES} columns, no categories and no interventions, and more rows than columns"
"""What :func:`judge_table` reads."""

SHOWN = 0.01
"""Edges from this probability on are reported."""


@dataclass(frozen=True)
class EdgeOpinion:
    """How likely a policy finds an edge, and that its cause comes first."""

    cause: Hashable
    effect: Hashable
    probability: float
    before: float


@dataclass(frozen=True)
class PolicyPrediction:
    """A policy's answer, without a score or a search.

    Parameters
    ----------
    order : (n_variables,) int array
        The most likely variable at every step, causes first.
    precedence : (n_variables, n_variables) array
        ``[i, j]``: share of the policy's orders in which i comes before j.
    edges : (n_variables, n_variables) array
        ``[i, j]``: probability of i -> j; with ``[j, i]`` it sums to at most one.
    states : (1, n_variables, width) tensor, optional
        What the policy's encoder makes of the table, for whoever trains the policy further.
    """

    order: IntArray
    precedence: FloatArray
    edges: FloatArray
    states: Tensor | None = None

    def likely(self) -> BoolArray:
        """The graph of the policy alone, along the order that its probabilities favor."""
        score = PolicyScore(self.precedence, self.edges, self.order)
        return score.graph(score.quick_order(Constraints.none(len(self.order))))

    def opinions(self, names: Sequence[Hashable]) -> list[EdgeOpinion]:
        """Edges that are not ruled out, likeliest first."""
        cause, effect = np.nonzero(self.edges >= SHOWN)
        likeliest = np.argsort(-self.edges[cause, effect], kind="stable")
        return [
            EdgeOpinion(names[i], names[j], round(float(self.edges[i, j]), 4), round(float(self.precedence[i, j]), 4))
            for i, j in zip(cause[likeliest], effect[likeliest], strict=True)
        ]


def judge_table(table: Table, policy: Pretrained | None) -> PolicyPrediction | None:
    """What a pretrained policy says of a table; None where it cannot read it.

    It reads numbers, counts and levels that have an order, with missing cells, but knows nothing of interventions.
    Where no policy is given, or one that tells orders only, the shipped one is asked.
    """
    categories = any(kind.name == "categorical" for kind in table.kinds)
    if table.n_variables > MOST_VARIABLES or table.is_wide or categories or table.targets is not None:
        return None
    if policy is None or not isinstance(policy.actor.encoder, MomentsEncoder):
        return replace(judge(seen_values(table)), states=None)  # which are of no use to another policy
    return judge(seen_values(table), policy)


def seen_values(table: Table) -> FloatArray:
    """Values of a table, NaN for the cells that are missing."""
    return table.values if table.gaps is None else np.where(table.gaps.mask, np.nan, table.values)


def judge(values: FloatArray, policy: Pretrained | None = None, *, scales: bool = False) -> PolicyPrediction:
    """Let a pretrained policy look at a table; the default policy where none is given.

    Parameters
    ----------
    values : (n_samples, n_variables) array
        A missing cell is NaN.
    policy : Pretrained, optional
    scales : bool
        Whether the columns' scales count, as they do under equal noise variances.

    Raises
    ------
    OptionError
        The policy has no edge head.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.uniform(-1, 1, 500)
    >>> said = judge(np.column_stack([cause**3 + 0.1 * rng.normal(size=500), cause]))
    >>> said.order.tolist()
    [1, 0]
    """
    policy = policy or load_pretrained("default")
    encoder = policy.actor.encoder
    if not isinstance(encoder, MomentsEncoder):
        raise OptionError("this policy tells orders only: edge probabilities need one like 'default'.")
    views = policy.architecture.inputs(values, np.random.default_rng(SEED), torch.device("cpu"), scales=scales).draw(1)
    d = values.shape[1]
    encoder.eval()
    with torch.no_grad(), one_thread():
        states, logits = (torch.cat(parts) for parts in zip(*encoder.at_each(views), strict=True))
        edges = answer_log_probabilities(logits).edge.exp().mean(0)
        states = states.mean(0, keepdim=True)
        generator = torch.Generator().manual_seed(SEED)
        # a variable's noise goes by its state, not by its column: columns may come in any sequence
        noise = gumbel_noise((N_ORDERS + 1, d, d), generator)[:, :, states[0, :, 0].argsort().argsort()]
        noise[0] = 0.0  # the first is the most likely one
        orders = policy.actor.sample(states, noise)
        position = orders.argsort(1)
        precedence = (position[:, :, None] < position[:, None, :]).double().mean(0)
    probabilities = edges.double() * (1 - torch.eye(d, dtype=torch.float64))
    return PolicyPrediction(orders[0].numpy(), precedence.numpy(), probabilities.numpy(), states)
