"""Random numbers of a given shape from one generator, of torch or of NumPy."""

import math

import numpy as np
import torch
from torch import Tensor

Shape = tuple[int, ...]


class Draws:
    """What the parts of the simulator draw from.

    Parameters
    ----------
    generator : torch Generator
        Its device is where everything is made, in single precision.

    Examples
    --------
    >>> draws = Draws(torch.Generator().manual_seed(0))
    >>> draws.uniform((2, 3), 1.0, 2.0).shape
    torch.Size([2, 3])
    """

    def __init__(self, generator: torch.Generator) -> None:
        self.generator, self.device = generator, generator.device

    def unit(self, shape: Shape) -> Tensor:
        """Uniform in [0, 1)."""
        return torch.rand(shape, generator=self.generator, device=self.device)

    def normal(self, shape: Shape) -> Tensor:
        """Independent standard Gaussians."""
        return torch.randn(shape, generator=self.generator, device=self.device)

    def exponential(self, shape: Shape) -> Tensor:
        """Exponential with mean one."""
        return torch.empty(shape, device=self.device).exponential_(generator=self.generator)

    def student(self, shape: Shape, freedom: int) -> Tensor:
        """Student's t."""
        squares = self.normal((freedom, *shape)).square().mean(0)
        return self.normal(shape) * squares.rsqrt()

    def integers(self, shape: Shape, n: int) -> Tensor:
        """Whole numbers from 0 to n - 1."""
        return torch.randint(n, shape, generator=self.generator, device=self.device)

    def permutations(self, batch: int, n: int) -> Tensor:
        """Random sequences of the numbers from 0 to n - 1, (batch, n)."""
        return self.unit((batch, n)).argsort(1)

    def subsets(self, n: int, sizes: Tensor) -> Tensor:
        """Which of n are in a random set of each of the sizes (batch,), as a bool tensor (batch, n)."""
        return self.permutations(len(sizes), n) < sizes[:, None]

    def picks(self, weights: Tensor, sizes: Tensor, replace: bool) -> Tensor:
        """How often each is picked, (batch, n), when as many as ``sizes`` are picked in proportion to weights."""
        if replace:
            picked = torch.multinomial(weights, int(sizes.max()), True, generator=self.generator)
            counted = (torch.arange(picked.shape[1], device=self.device) < sizes[:, None]).to(weights)
            return torch.zeros_like(weights).scatter_add_(1, picked, counted)
        # exponential race: the k smallest of E / w are k draws without replacement, proportional to w
        race = self.exponential(tuple(weights.shape)) / weights
        return (race.argsort(1).argsort(1) < sizes[:, None]).to(weights)

    def either_sign(self, shape: Shape, low: float | Tensor, high: float | Tensor) -> Tensor:
        """Uniform in ±[low, high]: one draw gives the size and the sign."""
        signed = self.uniform(shape, -1.0, 1.0)
        return signed.sign() * (low + (high - low) * signed.abs())

    def uniform(self, shape: Shape, low: float = 0.0, high: float = 1.0) -> Tensor:
        """Uniform between two numbers."""
        return low + (high - low) * self.unit(shape)

    def log_uniform(self, shape: Shape, low: float, high: float) -> Tensor:
        """Numbers whose logarithm is uniform."""
        return self.uniform(shape, math.log(low), math.log(high)).exp()

    def chance(self, shape: Shape, probability: float | Tensor) -> Tensor:
        """True with a probability."""
        return self.unit(shape) < probability

    def sign(self, shape: Shape) -> Tensor:
        """Plus or minus one."""
        return self.chance(shape, 0.5).float() * 2 - 1

    def choice(self, shape: Shape, shares: dict[str, float]) -> Tensor:
        """Positions of names in ``shares``, each as likely as its share."""
        edges = torch.tensor(list(shares.values()), device=self.device).cumsum(0)
        return torch.searchsorted(edges / edges[-1], self.uniform(shape)).clamp_max(len(shares) - 1)

    def kinds(self, batch: int, n_variables: int, shares: dict[str, float], alike: float = 0.5) -> Tensor:
        """A kind for each variable, (batch, n_variables): in a share ``alike`` of the tasks one kind for all."""
        own = self.choice((batch, n_variables), shares)
        common = self.choice((batch, 1), shares)
        return torch.where(self.chance((batch, 1), alike), common, own)


class NumpyDraws(Draws):
    """The same from a NumPy generator, in double precision on the CPU.

    Parameters
    ----------
    rng : numpy Generator
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng, self.device = rng, torch.device("cpu")

    def unit(self, shape: Shape) -> Tensor:
        """Uniform in [0, 1)."""
        return torch.from_numpy(self.rng.random(shape))

    def normal(self, shape: Shape) -> Tensor:
        """Independent standard Gaussians."""
        return torch.from_numpy(self.rng.standard_normal(shape))

    def exponential(self, shape: Shape) -> Tensor:
        """Exponential with mean one."""
        return torch.from_numpy(self.rng.exponential(size=shape))

    def student(self, shape: Shape, freedom: int) -> Tensor:
        """Student's t."""
        return torch.from_numpy(self.rng.standard_t(freedom, size=shape))

    def integers(self, shape: Shape, n: int) -> Tensor:
        """Whole numbers from 0 to n - 1."""
        return torch.from_numpy(self.rng.integers(n, size=shape))

    def permutations(self, batch: int, n: int) -> Tensor:
        """Random sequences of the numbers from 0 to n - 1, (batch, n)."""
        return torch.from_numpy(np.array([self.rng.permutation(n) for _ in range(batch)]))

    def subsets(self, n: int, sizes: Tensor) -> Tensor:
        """Which of n are in a random set of each of the sizes (batch,), as a bool tensor (batch, n)."""
        chosen = torch.zeros((len(sizes), n), dtype=torch.bool)
        for row, size in zip(chosen, sizes, strict=True):
            row[self.rng.choice(n, size=min(int(size), n), replace=False)] = True
        return chosen

    def picks(self, weights: Tensor, sizes: Tensor, replace: bool) -> Tensor:
        """How often each is picked, (batch, n), when as many as ``sizes`` are picked in proportion to weights."""
        counts = np.zeros(weights.shape)
        for row, share, size in zip(counts, weights.numpy(), sizes, strict=True):
            n = int(size) if replace else min(int(size), len(share))
            np.add.at(row, self.rng.choice(len(share), size=n, replace=replace, p=share / share.sum()), 1.0)
        return torch.from_numpy(counts)

    def either_sign(self, shape: Shape, low: float | Tensor, high: float | Tensor) -> Tensor:
        """Uniform in ±[low, high]."""
        size = low + (high - low) * self.unit(shape)
        return size * (2.0 * self.integers(shape, 2) - 1.0)


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
