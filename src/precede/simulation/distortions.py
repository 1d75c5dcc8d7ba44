"""What happens to a variable after the noise: instruments, logarithms, saturation, bounds."""

from __future__ import annotations

import torch
from torch import Tensor

from precede.simulation.draws import Draws, select

DISTORTIONS = {"power": 1.5, "exp": 1.5, "sigmoid": 1.0, "bounds": 1.0, "softplus": 1.0, "floor": 1.0, "log": 1.0}
"""Distortions and how often each is drawn; all are monotone, "bounds" and "floor" tie the values beyond them."""


def distort(kinds: Tensor, x: Tensor, draws: Draws) -> Tensor:
    """Pass standardized values (batch, n_samples) through a distortion of the kind of each row.

    Half of the rows are turned over first, so that a floor may be a ceiling.
    """
    shape = (len(x), 1)
    x = x * draws.sign(shape)
    strength = draws.uniform(shape)
    exponent = torch.where(draws.chance(shape, 0.5), 0.4 + 0.4 * strength, 1.3 + 1.2 * strength)
    bound = 0.5 + 1.2 * strength
    made = [
        x.sign() * x.abs() ** exponent,
        ((0.3 + 0.9 * strength) * x.clamp(-5, 5)).exp(),
        torch.sigmoid((1 + 2 * strength) * x),
        x.clamp(-bound, bound),
        torch.nn.functional.softplus((1 + 2 * strength) * x),
        torch.maximum(x, -bound + 0.7),
        x.sign() * torch.log1p((1 + 5 * strength) * x.abs()),
    ]
    return select(kinds[:, None], made) * draws.sign(shape)
