"""Validation suite: data sets that training never draws from, of its own families and of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from precede.arrays import BoolArray, FloatArray
from precede.options import Options
from precede.policy.actor import Actor
from precede.policy.pretrained import Architecture
from precede.pretraining.held_out import HELD_OUT, PAIR_FAMILIES, held_out_data, held_out_pair
from precede.pretraining.own_tables import LabeledTable
from precede.simulation import simulate

SUITE: dict[str, Options] = {
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
    """Size of the suite; families held out have two thirds of the variables, and of pairs there are four times more."""

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
    own : sequence of LabeledTable
        Tables of one's own, where there are any: they decide which weights are kept.
    """

    def __init__(
        self,
        settings: ValidationSettings,
        architecture: Architecture,
        device: torch.device,
        own: Sequence[LabeledTable] = (),
    ) -> None:
        n, sets = settings.n_samples, range(settings.n_sets)
        reader = Reader(architecture, device)
        smaller = max(4, settings.n_variables * 2 // 3)
        cause_first = np.array([[False, True], [False, False]])
        groups = {
            "mean": {name: [_simulated(options, settings, k) for k in sets] for name, options in SUITE.items()},
            "held-out": {name: [(*held_out_data(name, k, smaller, n), False) for k in sets] for name in HELD_OUT},
            "pairs": {
                name: [(held_out_pair(name, k, n), cause_first, False) for k in range(4 * settings.n_sets)]
                for name in PAIR_FAMILIES
            },
        }
        if own:
            groups["own"] = {table.name: [(table.values, table.edges, True)] for table in own}
        self._groups = {
            group: {name: reader.read(made) for name, made in cells.items()} for group, cells in groups.items()
        }

    def evaluate(self, actor: Actor) -> dict[str, float]:
        """Mean order TPR of each cell and of three groups, and the mean of the groups.

        The groups are ``mean`` (the families of training), ``held-out`` and ``pairs`` (families that training never
        draws from); ``overall`` is their mean, or the figure of tables of one's own.
        """
        result: dict[str, float] = {}
        for group, cells in self._groups.items():
            found = {
                name: float(order_shares(greedy_orders(actor, inputs), adjacency).nanmean())
                for name, (inputs, adjacency) in cells.items()
            }
            result |= found | {group: float(np.mean(list(found.values())))}
        deciding = ["own"] if "own" in self._groups else list(self._groups)
        return result | {"overall": float(np.mean([result[group] for group in deciding]))}


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


Made = tuple[FloatArray, BoolArray, bool]
"""Values, adjacency, and whether the columns' scales mean something."""


@dataclass(frozen=True)
class Reader:
    """Shows data sets of one size to a policy."""

    architecture: Architecture
    device: torch.device

    def read(self, made: Sequence[Made]) -> tuple[Tensor, Tensor]:
        """One look at each data set, and the graphs."""
        inputs, graphs = [], []
        for k, (values, adjacency, scales) in enumerate(made):
            rng = np.random.default_rng(FIRST_SEED + k)
            inputs.append(self.architecture.inputs(values, rng, self.device, scales=scales).draw(1)[:1])
            graphs.append(torch.tensor(adjacency, device=self.device))
        return torch.cat(inputs), torch.stack(graphs)


def _simulated(options: Mapping[str, Any], settings: ValidationSettings, k: int) -> Made:
    dataset = simulate(
        n_variables=settings.n_variables, n_samples=settings.n_samples, random_state=FIRST_SEED + k, **options
    )
    return dataset.data.to_numpy(), dataset.graph.adjacency.to_numpy() != 0, not options.get("standardize", False)
