"""Random numbers of a given shape from one generator, on its device."""

from __future__ import annotations

import math

import torch
from torch import Tensor


class Draws:
    """What the parts of the prior draw from.

    Parameters
    ----------
    generator : torch Generator
        Its device is where everything is made.

    Examples
    --------
    >>> draws = Draws(torch.Generator().manual_seed(0))
    >>> draws.uniform((2, 3), 1.0, 2.0).shape
    torch.Size([2, 3])
    """

    def __init__(self, generator: torch.Generator) -> None:
        self.generator, self.device = generator, generator.device

    def uniform(self, shape: tuple[int, ...], low: float = 0.0, high: float = 1.0) -> Tensor:
        """Uniform between two numbers."""
        return low + (high - low) * torch.rand(shape, generator=self.generator, device=self.device)

    def log_uniform(self, shape: tuple[int, ...], low: float, high: float) -> Tensor:
        """Numbers whose logarithm is uniform."""
        return self.uniform(shape, math.log(low), math.log(high)).exp()

    def normal(self, shape: tuple[int, ...]) -> Tensor:
        """Independent standard Gaussians."""
        return torch.randn(shape, generator=self.generator, device=self.device)

    def chance(self, shape: tuple[int, ...], probability: float | Tensor) -> Tensor:
        """True with a probability."""
        return torch.rand(shape, generator=self.generator, device=self.device) < probability

    def sign(self, shape: tuple[int, ...]) -> Tensor:
        """Plus or minus one."""
        return self.chance(shape, 0.5).float() * 2 - 1

    def either_sign(self, shape: tuple[int, ...], low: float, high: float) -> Tensor:
        """Uniform in ±[low, high]: one draw gives the size and the sign."""
        signed = self.uniform(shape, -1.0, 1.0)
        return signed.sign() * (low + (high - low) * signed.abs())

    def choice(self, shape: tuple[int, ...], shares: dict[str, float]) -> Tensor:
        """Positions of names in ``shares``, each as likely as its share."""
        edges = torch.tensor(list(shares.values()), device=self.device).cumsum(0)
        return torch.searchsorted(edges / edges[-1], self.uniform(shape)).clamp_max(len(shares) - 1)

    def kinds(self, batch: int, n_variables: int, shares: dict[str, float], alike: float = 0.5) -> Tensor:
        """A kind for each variable, (batch, n_variables): in a share ``alike`` of the tasks one kind for all."""
        own = self.choice((batch, n_variables), shares)
        common = self.choice((batch, 1), shares)
        return torch.where(self.chance((batch, 1), alike), common, own)


def unit_rows(values: Tensor) -> Tensor:
    """Mean zero and variance one over the last axis; a constant row becomes zero."""
    centered = values - values.mean(-1, keepdim=True)
    return centered * torch.rsqrt(centered.square().mean(-1, keepdim=True).clamp_min(1e-12))


def select(kinds: Tensor, made: list[Tensor]) -> Tensor:
    """Of tensors that were made in every way, take at each place the one of its kind.

    Examples
    --------
    >>> select(torch.tensor([1, 0]), [torch.tensor([1.0, 2.0]), torch.tensor([10.0, 20.0])])
    tensor([10.,  2.])
    """
    result = made[0]
    for number, other in enumerate(made[1:], start=1):
        result = torch.where(kinds == number, other, result)
    return result
