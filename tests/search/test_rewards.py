"""Rewards against examples computed by hand."""

import numpy as np
import pytest
import torch

from precede.scores.linear import LinearScore
from precede.search.rewards import bound_rewards, episodic_rewards, plain_rewards, returns_to_go


@pytest.fixture
def score() -> LinearScore:
    rng = np.random.default_rng(3)
    return LinearScore(rng.normal(size=(400, 4)) @ rng.normal(size=(4, 4)))


class Additive:
    """Terms given by hand, the total is their sum."""

    name, n_variables, device = "by hand", 2, torch.device("cpu")

    def terms(self, orders: torch.Tensor) -> torch.Tensor:
        table = {(0, 1): (-4.0, -1.0), (1, 0): (-3.0, -2.5)}
        return torch.tensor([table[tuple(row)] for row in orders.tolist()], dtype=torch.float64)

    def total(self, sums: torch.Tensor) -> torch.Tensor:
        return sums

    def bounds(self) -> torch.Tensor:
        return torch.tensor([-2.5, -1.0], dtype=torch.float64)


def test_plain_rewards_are_the_terms() -> None:
    orders = torch.tensor([[0, 1], [1, 0]])
    assert plain_rewards(Additive().terms(orders)).tolist() == [[-4.0, -1.0], [-3.0, -2.5]]


def test_episodic_reward_comes_at_the_end() -> None:
    terms = Additive().terms(torch.tensor([[0, 1], [1, 0]]))
    assert episodic_rewards(Additive(), terms).tolist() == [[0.0, -5.0], [0.0, -5.5]]


def test_bound_rewards_by_hand() -> None:
    orders = torch.tensor([[0, 1], [1, 0]])
    rewards = bound_rewards(Additive(), orders, Additive().terms(orders), Additive().bounds())
    # placing 0 first costs -4 - (-2.5); placing 1 first costs -3 - (-1); the last variable always meets its bound
    assert rewards.tolist() == [[-1.5, 0.0], [-2.0, 0.0]]


def test_bound_rewards_telescope_to_the_score(score: LinearScore) -> None:
    orders = torch.tensor([[0, 1, 2, 3], [3, 1, 0, 2]])
    terms, bounds = score.terms(orders), score.bounds()
    rewards = bound_rewards(score, orders, terms, bounds)
    expected = score.total(terms.sum(1)) - score.total(bounds.sum())
    torch.testing.assert_close(rewards.sum(1), expected)
    assert (rewards <= 1e-9).all()


@pytest.mark.parametrize("gamma", [1.0, 0.98, 0.5])
def test_returns_equal_the_recursion(gamma: float) -> None:
    rewards = torch.randn(3, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    expected = torch.zeros_like(rewards)
    running = torch.zeros(3, dtype=torch.float64)
    for t in reversed(range(6)):
        running = rewards[:, t] + gamma * running
        expected[:, t] = running
    torch.testing.assert_close(returns_to_go(rewards, gamma), expected)
