"""Validation suite: data sets of :func:`precede.data.simulate.simulate`, which training never draws from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from precede.data.simulate import simulate
from precede.policy.actor import Actor
from precede.policy.pretrained import Architecture

SUITE: dict[str, dict[str, Any]] = {
    "lg-er2": {"graph": "er", "degree": 2, "sem": "linear-gaussian"},
    "lg-sf2": {"graph": "sf", "degree": 2, "sem": "linear-gaussian"},
    "lg-er2-standardized": {"graph": "er", "degree": 2, "sem": "linear-gaussian", "standardize": True},
    "lingam-er2-standardized": {"graph": "er", "degree": 2, "sem": "lingam", "standardize": True},
    "gp-er2-standardized": {"graph": "er", "degree": 2, "sem": "gp", "standardize": True},
    "gp-additive-er2-standardized": {"graph": "er", "degree": 2, "sem": "gp-additive", "standardize": True},
}
FIRST_SEED = 900_000
"""Seeds of the suite; tests and benchmarks use others."""


@dataclass(frozen=True)
class ValidationSettings:
    """Size of the suite."""

    n_variables: int = 30
    n_samples: int = 500
    n_sets: int = 16


class ValidationSuite:
    """Order TPR of greedy decoding on each kind of data.

    Parameters
    ----------
    settings : ValidationSettings
    architecture : Architecture
        Says how many rows the policy sees.
    device : torch.device
    """

    def __init__(self, settings: ValidationSettings, architecture: Architecture, device: torch.device) -> None:
        self._cells = {name: _cell(options, settings, architecture, device) for name, options in SUITE.items()}

    def evaluate(self, actor: Actor) -> dict[str, float]:
        """Mean order TPR of each cell, and their mean as "mean"."""
        result = {
            name: float(order_shares(greedy_orders(actor, inputs), adjacency).mean())
            for name, (inputs, adjacency) in self._cells.items()
        }
        return result | {"mean": float(np.mean(list(result.values())))}


@torch.no_grad()
def greedy_orders(actor: Actor, inputs: Tensor) -> Tensor:
    """The most likely variable at every step, (batch, n_variables): the zero-shot order of each data set."""
    actor.eval()
    states = actor.encoder(inputs)
    batch, d, _ = states.shape
    return actor.sample(states, states.new_zeros((batch, d, d)))


def order_shares(orders: Tensor, adjacency: Tensor) -> Tensor:
    """Share of true edges that agree with each order, (batch,).

    Examples
    --------
    >>> chain = torch.tensor([[[0, 1, 0], [0, 0, 1], [0, 0, 0]]])
    >>> order_shares(torch.tensor([[0, 2, 1]]), chain)
    tensor([0.5000])
    """
    position = orders.argsort(1)
    agrees = position[:, :, None] < position[:, None, :]
    edges = adjacency.float()
    return (edges * agrees).sum((1, 2)) / edges.sum((1, 2))


def _cell(
    options: Mapping[str, Any], settings: ValidationSettings, architecture: Architecture, device: torch.device
) -> tuple[Tensor, Tensor]:
    inputs, graphs = [], []
    for k in range(settings.n_sets):
        dataset = simulate(
            n_variables=settings.n_variables,
            n_samples=settings.n_samples,
            random_state=FIRST_SEED + k,
            **options,
        )
        rng = np.random.default_rng(FIRST_SEED + k)
        scales = not options.get("standardize", False)
        looks = architecture.inputs(dataset.data.to_numpy(), rng, device, scales=scales).draw(1)
        inputs.append(looks[:1])
        graphs.append(torch.tensor(dataset.graph.adjacency.to_numpy() != 0, device=device))
    return torch.cat(inputs), torch.stack(graphs)
