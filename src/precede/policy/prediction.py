"""What a pretrained policy says about a table at once: an order, what precedes what, and what causes what."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.data.table import Table
from precede.errors import OptionError
from precede.knowledge import Constraints
from precede.policy.edges import answer_log_probabilities, ruled
from precede.policy.inputs import Views, numeric_reading
from precede.policy.moments import MomentsEncoder
from precede.policy.pretrained import Pretrained, load_pretrained
from precede.policy.told import Told
from precede.runtime.device import one_thread
from precede.runtime.randomness import gumbel_noise
from precede.scores.policy_prior import PolicyScore, likely_edges

N_ORDERS = 200
"""Orders that are drawn for the precedence probabilities."""

SEED = 0
"""Of the rows in each view and of those orders: the same table gives the same answer."""


MOST_VARIABLES = 150
"""Tables with more columns are far beyond what the policy was trained on, which is 50."""

TAKES = f"at most {MOST_VARIABLES} columns, and more rows than columns"
"""What :func:`judge_table` reads."""

SHOWN = 0.01
"""Edges from this probability on are reported."""


@dataclass(frozen=True)
class EdgeOpinion:
    """How likely a policy finds an edge, that its cause comes first, and a hidden common cause in its place."""

    cause: Hashable
    effect: Hashable
    probability: float
    before: float
    common: float = 0.0


@dataclass(frozen=True)
class PolicyPrediction:
    """A policy's answer, without a score or a search.

    Parameters
    ----------
    order : (n_variables,) int array
        Causes first: the order that precedence and edges favor, from the most likely variable at every step on.
    precedence : (n_variables, n_variables) array
        ``[i, j]``: share of the policy's orders in which i comes before j.
    edges : (n_variables, n_variables) array
        ``[i, j]``: probability of i -> j.
    common : (n_variables, n_variables) array
        ``[i, j]``: probability of a hidden common cause and no edge; symmetric. With the edges either way it sums to at
        most one, and the rest is the probability that there is nothing.
    states : (1, n_variables, width) tensor, optional
        What the policy's encoder makes of the table, for whoever trains the policy further.
    """

    order: IntArray
    precedence: FloatArray
    edges: FloatArray
    common: FloatArray
    states: Tensor | None = None

    def likely(self) -> BoolArray:
        """The graph of the policy alone, along its order."""
        return likely_edges(self.edges, self.order, Constraints.none(len(self.order)))

    def opinions(self, names: Sequence[Hashable]) -> list[EdgeOpinion]:
        """Edges that are not ruled out, likeliest first."""
        cause, effect = np.nonzero(self.edges >= SHOWN)
        likeliest = np.argsort(-self.edges[cause, effect], kind="stable")
        said = self.edges, self.precedence, self.common
        return [
            EdgeOpinion(names[i], names[j], *(round(float(part[i, j]), 4) for part in said))
            for i, j in zip(cause[likeliest], effect[likeliest], strict=True)
        ]


def judge_table(table: Table, policy: Pretrained | None, constraints: Constraints) -> PolicyPrediction | None:
    """What a pretrained policy says of a table under what is known; None where it has too many columns or too few rows.

    It reads numbers, counts, levels and categories, with missing cells, and hears which cells were set. Where no policy
    is given, or one that tells orders only, the shipped one is asked.
    """
    if table.n_variables > MOST_VARIABLES or table.is_wide:
        return None
    values = table.values if table.gaps is None else np.where(table.gaps.mask, np.nan, table.values)
    unordered = np.array([kind.name == "categorical" for kind in table.kinds])
    if unordered.any():
        columns = torch.tensor(values.T[None], dtype=torch.float64)
        values = numeric_reading(columns, torch.from_numpy(unordered)[None])[0].T.numpy()
    told = Told.about(values, was_set=table.targets, unordered=unordered, constraints=constraints)
    if policy is None or not isinstance(policy.actor.encoder, MomentsEncoder):
        said = judge(values, told=told, constraints=constraints)
        return replace(said, states=None)  # which are of no use to another policy
    return judge(values, policy, told=told, constraints=constraints)


def judge(
    values: FloatArray,
    policy: Pretrained | None = None,
    *,
    scales: bool = False,
    told: Told | None = None,
    constraints: Constraints | None = None,
) -> PolicyPrediction:
    """Let a pretrained policy look at a table; the default policy where none is given.

    Parameters
    ----------
    values : (n_samples, n_variables) array
        A missing cell is NaN.
    policy : Pretrained, optional
    scales : bool
        Whether the columns' scales count, as they do under equal noise variances.
    told : Told, optional
        What is known of the cells, of the levels and of the edges; of the edges the constraints by default.
    constraints : Constraints, optional
        What every order has to agree with.

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
    d = values.shape[1]
    known = constraints or Constraints.none(d)
    told = told or Told.about(values, constraints=known)
    rng = np.random.default_rng(SEED)
    seen = Views(values, policy.architecture.n_samples, rng, torch.device("cpu"), scales=scales, told=told)
    encoder.eval()
    with torch.no_grad(), one_thread():
        # what is known of edges is heard in every second view, so that it moves no answer too far
        hears = torch.arange(len(seen.told.required))[:, None, None] % 2 == 1
        heard = seen.told._replace(required=seen.told.required & hears, forbidden=seen.told.forbidden & hears)
        states, logits = (torch.cat(parts) for parts in zip(*encoder.at_each(seen.draw(1), heard), strict=True))
        said = answer_log_probabilities(ruled(logits, seen.told))
        edges, common, _ = (part.exp().double().mean(0) for part in said)
        states = states.mean(0, keepdim=True)
        generator = torch.Generator().manual_seed(SEED)
        # a variable's noise goes by its state, not by its column: columns may come in any sequence
        noise = gumbel_noise((N_ORDERS + 1, d, d), generator)[:, :, states[0, :, 0].argsort().argsort()]
        noise[0] = 0.0  # the first is the most likely one
        before = torch.tensor(known.before, dtype=torch.float32) if known.before.any() else None
        orders = policy.actor.sample(states, noise, before)
        position = orders.argsort(1)
        precedence = (position[:, :, None] < position[:, None, :]).double().mean(0)
    apart = 1 - torch.eye(d, dtype=torch.float64)
    probabilities = (edges * apart).numpy(), (common * apart).numpy()
    score = PolicyScore(precedence.numpy(), probabilities[0], orders[0].numpy(), known)
    return PolicyPrediction(score.quick_order(known), precedence.numpy(), *probabilities, states)
