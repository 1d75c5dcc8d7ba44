"""Rewards: what the policy is paid for an order (Section 4.1), and the returns it learns from."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import torch
from torch import Tensor

from precede.scores.protocol import BatchedScore, OrderScore

Judge = OrderScore | BatchedScore
"""Who says totals and bounds; with several scores, all tensors have one axis more, the first."""

RewardName = Literal["dense", "episodic"]
ShapingName = Literal["bound", "plain"]


def episodic_rewards(score: Judge, terms: Tensor) -> Tensor:
    """CORL-1: the order's score at the last step, nothing before (Equation 2).

    Returns
    -------
    rewards : (batch, n_variables) tensor
    """
    rewards = torch.zeros_like(terms)
    rewards[..., -1] = score.total(terms.sum(-1))
    return rewards


def plain_rewards(terms: Tensor) -> Tensor:
    """CORL-2: each variable's own term (Equation 3)."""
    return terms


def bound_rewards(score: Judge, orders: Tensor, terms: Tensor, bounds: Tensor) -> Tensor:
    r"""CORL-2 shaped by a bound: how much each choice takes off the best score still possible.

    With :math:`C_t` the sum of the terms placed so far and of the bounds of the rest, the reward is
    :math:`\mathrm{total}(C_t) - \mathrm{total}(C_{t-1})`. It telescopes to the order's score (less that of the bounds),
    is never positive, and is well scaled where the terms range over orders of magnitude.

    Parameters
    ----------
    orders : (batch, n_variables) int64 tensor
    terms : (batch, n_variables) tensor
        ``score.terms(orders)``.
    bounds : (n_variables,) tensor
        ``score.bounds()``.
    """
    beside = bounds.expand(orders.shape)
    start = beside.sum(-1, keepdim=True)
    still_possible = torch.cat([start, start + (terms - beside.gather(-1, orders)).cumsum(-1)], dim=-1)
    return score.total(still_possible).diff(dim=-1)


def returns_to_go(rewards: Tensor, gamma: float) -> Tensor:
    r"""Returns :math:`R_t = \sum_{l \ge 0} \gamma^l r_{t+l}` (Section 4.2).

    Examples
    --------
    >>> returns_to_go(torch.tensor([[1.0, 2.0, 4.0]]), 0.5)
    tensor([[3., 4., 4.]])
    """
    steps = torch.arange(rewards.shape[-1], device=rewards.device, dtype=rewards.dtype)
    powers = torch.tril(gamma ** (steps[:, None] - steps[None, :]).clamp_min(0))  # [l, t] = gamma^(l - t), l >= t
    return rewards @ powers


@dataclass
class Returns:
    """Return of every step of a batch of orders, by the reward that is named.

    Parameters
    ----------
    score : OrderScore or BatchedScore
    reward : "dense" or "episodic"
    shaping : "bound" or "plain"
        Of dense rewards.
    gamma : float
        Discount of dense rewards; every choice of an order is paid its whole episodic reward (Section 4.2, CORL-1).
    """

    score: Judge
    reward: RewardName
    shaping: ShapingName
    gamma: float

    @cached_property
    def bounds(self) -> Tensor:
        """Of the score's terms; asked for when first needed, since some scores take long to say."""
        return self.score.bounds()

    def __call__(self, orders: Tensor, terms: Tensor) -> Tensor:
        """Returns (..., batch, n_variables) of orders with the given terms."""
        if self.reward == "episodic":
            return returns_to_go(episodic_rewards(self.score, terms), 1.0)
        if self.shaping == "plain":
            return returns_to_go(plain_rewards(terms), self.gamma)
        return returns_to_go(bound_rewards(self.score, orders, terms, self.bounds), self.gamma)


def standardized_returns(returns: Tensor) -> Tensor:
    """Returns (..., batch, n_variables) centered at each step and scaled over the batch.

    Their size differs between data sets by orders of magnitude, and the learning rates are fixed.
    """
    centered = returns - returns.mean(-2, keepdim=True)
    return (centered / centered.std((-2, -1), keepdim=True).clamp_min(1e-12)).float()
