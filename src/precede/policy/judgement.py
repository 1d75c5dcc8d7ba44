"""What a pretrained policy says about a table at once: an order, which variable precedes which, and which causes which."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from precede.arrays import FloatArray, IntArray
from precede.device import one_thread
from precede.errors import OptionError
from precede.policy.edges import edge_log_probabilities
from precede.policy.moments import MomentsEncoder
from precede.policy.pretrained import Pretrained, load_pretrained

N_ORDERS = 200
"""Orders that are drawn for the precedence probabilities."""

SEED = 0
"""Of the rows in each look and of those orders: the same table gives the same answer."""


@dataclass(frozen=True)
class Judgement:
    """A policy's answer, without a score or a search.

    Parameters
    ----------
    order : (n_variables,) int array
        The most likely variable at every step, causes first.
    precedence : (n_variables, n_variables) array
        ``[i, j]``: share of the policy's orders in which i comes before j.
    edges : (n_variables, n_variables) array
        ``[i, j]``: probability of i -> j; with ``[j, i]`` it sums to at most one.
    """

    order: IntArray
    precedence: FloatArray
    edges: FloatArray


def judge(values: FloatArray, policy: Pretrained | None = None, *, scales: bool = False) -> Judgement:
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
    looks = policy.architecture.inputs(values, np.random.default_rng(SEED), torch.device("cpu"), scales=scales).draw(1)
    d = values.shape[1]
    with torch.no_grad(), one_thread():
        states, logits = encoder.eval().states_and_edges(looks)
        edges = edge_log_probabilities(logits)[0].exp().mean(0)
        states = states.mean(0, keepdim=True)
        generator = torch.Generator().manual_seed(SEED)
        noise = -torch.empty((N_ORDERS + 1, d, d)).exponential_(generator=generator).log_()
        noise[0] = 0.0  # the first is the most likely one
        orders = policy.actor.sample(states, noise)
        position = orders.argsort(1)
        precedence = (position[:, :, None] < position[:, None, :]).double().mean(0)
    probabilities = edges.double() * (1 - torch.eye(d, dtype=torch.float64))
    return Judgement(orders[0].numpy(), precedence.numpy(), probabilities.numpy())
