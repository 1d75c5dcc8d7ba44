"""The six families of simulated data that :func:`precede.data.simulate.simulate` has, many data sets at once."""

from __future__ import annotations

from itertools import accumulate, pairwise

import torch
from torch import Tensor

from precede.data.noise import UNEQUAL_RANGE
from precede.pretraining import batched_equations as equations
from precede.pretraining import noise_shapes
from precede.pretraining.drawing import Draws, select

NONLINEAR: dict[str, equations.BatchedMechanism] = {
    "gp": equations.gp_joint,
    "gp-additive": equations.gp_additive,
    "mlp": equations.mlp,
    "quadratic": equations.quadratic,
}
SHARES = {"linear-gaussian": 0.2, "lingam": 0.25, "gp": 0.2, "gp-additive": 0.2, "mlp": 0.1, "quadratic": 0.05}
"""Share of each mechanism in a batch."""


def family_data(adjacency: Tensor, n_samples: int, draws: Draws) -> Tensor:
    """Values (batch, n_variables, n_samples) in causal order, consecutive tasks sharing a mechanism."""
    batch, d, _ = adjacency.shape
    edges = adjacency.float()
    weights = edges * random_weights(batch, d, draws)
    noise = draws.normal((batch, d, n_samples))
    scales = noise_scales(batch, d, draws)
    # every mechanism has its share in every batch, up to a rounded task
    ends = [0, *(round(share * batch) for share in accumulate(SHARES.values()))]
    parts = []
    for name, (start, stop) in zip(SHARES, pairwise(ends), strict=True):
        if start == stop:
            continue
        part = slice(start, stop)
        if name == "lingam":
            parts.append(equations.linear(non_gaussian(noise[part], draws) * scales[part], weights[part]))
        elif name == "linear-gaussian":
            parts.append(equations.linear(noise[part] * scales[part], weights[part]))
        else:
            make = NONLINEAR[name]
            parts.append(make(noise[part] * scales[part], edges[part], weights[part], draws.generator))
    return torch.cat(parts)


def random_weights(batch: int, d: int, draws: Draws) -> Tensor:
    """Either sign, size in [0.5, 2] as in Appendix B.2 for most tasks, in a narrower or weaker range for others."""
    shape = (batch, 1, 1)
    usual = draws.chance(shape, 0.7)
    low = torch.where(usual, 0.5, draws.uniform(shape, 0.2, 0.7))
    high = torch.where(usual, 2.0, draws.uniform(shape, 0.8, 2.0))
    signed = draws.uniform((batch, d, d), -1.0, 1.0)
    return signed.sign() * (low + (high - low) * signed.abs())


def noise_scales(batch: int, d: int, draws: Draws) -> Tensor:
    """One for two tasks of three, uniform in the range of ``noise="unequal"`` for the third."""
    unequal = draws.chance((batch, 1, 1), 1 / 3)
    return torch.where(unequal, draws.uniform((batch, d, 1), *UNEQUAL_RANGE), 1.0)


def non_gaussian(z: Tensor, draws: Draws) -> Tensor:
    """Gaussian noise to non-Gaussian, variance one: half powers, the rest Laplace, uniform, exponential, Gumbel."""
    u = noise_shapes.quantiles(z)
    shapes = {"power": 4.0, "laplace": 1.0, "uniform": 1.0, "exponential": 1.0, "gumbel": 1.0}
    made = [
        noise_shapes.power(z, draws),
        noise_shapes.laplace(u),
        noise_shapes.uniform(u),
        noise_shapes.exponential(u),
        noise_shapes.gumbel(u),
    ]
    return select(draws.choice((len(z), 1, 1), shapes), made)
