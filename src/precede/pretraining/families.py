"""Six families of :func:`precede.simulation.simulate`, many data sets at once."""

from __future__ import annotations

from itertools import accumulate, pairwise

import torch
from torch import Tensor

from precede.simulation.draws import Draws
from precede.simulation.mechanisms import MECHANISMS, linear_data, structural_data
from precede.simulation.noise import UNEQUAL_RANGE, shaped_noise

SHARES = {"linear-gaussian": 0.2, "lingam": 0.25, "gp": 0.2, "gp-additive": 0.2, "mlp": 0.1, "quadratic": 0.05}
"""Share of each mechanism in a batch."""

NON_GAUSSIAN = {"power": 4.0, "laplace": 1.0, "uniform": 1.0, "exponential": 1.0, "gumbel": 1.0}
"""Shapes of noise of "lingam", and how often each is drawn."""


def family_data(adjacency: Tensor, n_samples: int, draws: Draws) -> Tensor:
    """Values (batch, n_variables, n_samples) in causal order, consecutive tasks sharing a mechanism."""
    batch, d, _ = adjacency.shape
    weights = adjacency * random_weights(batch, d, draws)
    scales = noise_scales(batch, d, draws)
    # every mechanism has its share in every batch, up to a rounded task
    ends = [0, *(round(share * batch) for share in accumulate(SHARES.values()))]
    parts = []
    for name, (start, stop) in zip(SHARES, pairwise(ends), strict=True):
        shapes = NON_GAUSSIAN if name == "lingam" else {"gaussian": 1.0}
        kinds = draws.choice((stop - start, 1), shapes).expand(-1, d)
        noise = shaped_noise(kinds, list(shapes), n_samples, draws) * scales[start:stop]
        if name in ("linear-gaussian", "lingam"):
            parts.append(linear_data(noise, weights[start:stop], range(d)))
        else:
            parts.append(structural_data(noise, weights[start:stop], range(d), MECHANISMS[name], draws))
    return torch.cat(parts)


def random_weights(batch: int, d: int, draws: Draws) -> Tensor:
    """Either sign, size in [0.5, 2] as in Appendix B.2 for most tasks, in a narrower or weaker range for others."""
    shape = (batch, 1, 1)
    usual = draws.chance(shape, 0.7)
    low = torch.where(usual, 0.5, draws.uniform(shape, 0.2, 0.7))
    high = torch.where(usual, 2.0, draws.uniform(shape, 0.8, 2.0))
    return draws.either_sign((batch, d, d), low, high)


def noise_scales(batch: int, d: int, draws: Draws) -> Tensor:
    """One for two tasks of three, uniform in the range of ``noise="unequal"`` for the third."""
    unequal = draws.chance((batch, 1, 1), 1 / 3)
    return torch.where(unequal, draws.uniform((batch, d, 1), *UNEQUAL_RANGE), 1.0)
