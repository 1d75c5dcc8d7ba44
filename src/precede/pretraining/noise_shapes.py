"""Shapes of noise and of root variables, all with variance one, a whole batch at once."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from precede.data.noise import EXPONENT_RANGES
from precede.pretraining.drawing import Draws, select, unit_rows

EULER = 0.5772156649
SHAPES = {
    "gaussian": 3.0,
    "power": 2.0,
    "laplace": 1.0,
    "uniform": 1.5,
    "exponential": 1.0,
    "gumbel": 1.0,
    "bimodal": 1.0,
    "heavy": 1.0,
}
"""Shapes of noise and how often each is drawn."""

ROOTS = {"mixture": 4.0, "uniform": 2.0, "design": 1.0, "noise": 3.0}
"""Shapes of variables without causes: these are often irregular, broad, or set by someone."""

MOST_COMPONENTS = 5


def power(z: Tensor, draws: Draws) -> Tensor:
    """Gaussian noise through a sign-preserving power, as :func:`precede.data.noise.power_noise`."""
    (low_a, high_a), (low_b, high_b) = EXPONENT_RANGES
    shape = (*z.shape[:-1], 1)
    position = draws.uniform(shape)
    exponents = torch.where(
        draws.chance(shape, 0.5), low_a + (high_a - low_a) * position, low_b + (high_b - low_b) * position
    )
    variance = 2**exponents * torch.lgamma(exponents + 0.5).exp() / math.sqrt(math.pi)
    return z.sign() * z.abs() ** exponents / variance.sqrt()


def quantiles(z: Tensor) -> Tensor:
    """Gaussian noise to uniform, kept from the ends so that logarithms are finite."""
    return (0.5 * torch.erfc(-z / math.sqrt(2))).clamp(1e-6, 1 - 1e-6)


def laplace(u: Tensor) -> Tensor:
    """Laplace noise from uniform quantiles."""
    return -(u - 0.5).sign() * torch.log1p(-2 * (u - 0.5).abs()) / math.sqrt(2)


def uniform(u: Tensor) -> Tensor:
    """Uniform noise of variance one from quantiles."""
    return (u - 0.5) * math.sqrt(12)


def exponential(u: Tensor) -> Tensor:
    """Exponential noise from quantiles, mean zero."""
    return -torch.log1p(-u) - 1


def gumbel(u: Tensor) -> Tensor:
    """Gumbel noise from quantiles, mean zero and variance one."""
    return (-torch.log(-torch.log(u)) - EULER) * math.sqrt(6) / math.pi


def bimodal(z: Tensor, draws: Draws) -> Tensor:
    """Two Gaussians of the same width and unequal weight."""
    shape = (*z.shape[:-1], 1)
    width, share = draws.uniform(shape, 0.15, 0.6), draws.uniform(shape, 0.2, 0.8)
    side = draws.chance(tuple(z.shape), share).float()
    distance = ((1 - width.square()) / (share * (1 - share))).sqrt()
    return width * z + (side - share) * distance


def heavy(z: Tensor, draws: Draws) -> Tensor:
    """Gaussian whose scale differs from row to row: tails as of Student's t."""
    spread = 0.7
    return z * (spread * draws.normal(tuple(z.shape))).exp() * math.exp(-(spread**2))


def mixture(z: Tensor, draws: Draws) -> Tensor:
    """Up to five Gaussians of random place, width and weight, standardized over the rows."""
    shape = z.shape[:-1]
    n_components = (draws.uniform((*shape, 1)) * MOST_COMPONENTS).floor() + 1
    number = torch.arange(MOST_COMPONENTS, device=z.device)
    weights = draws.uniform((*shape, MOST_COMPONENTS), 0.1, 1.0) * (number < n_components)
    ends = (weights / weights.sum(-1, keepdim=True)).cumsum(-1)
    member = torch.searchsorted(ends, draws.uniform(tuple(z.shape))).clamp_max(MOST_COMPONENTS - 1)
    places, widths = draws.normal((*shape, MOST_COMPONENTS)), draws.log_uniform((*shape, MOST_COMPONENTS), 0.1, 1.0)
    return unit_rows(places.gather(-1, member) + widths.gather(-1, member) * z)


def design(u: Tensor, draws: Draws) -> Tensor:
    """A few settings at equal distances, equally often: what an experimenter chooses."""
    n_settings = draws.log_uniform((*u.shape[:-1], 1), 2.0, 20.0).floor()
    return unit_rows((u * n_settings).floor())


def root_values(kinds: Tensor, noise: Tensor, draws: Draws) -> Tensor:
    """Values of roots, each of its kind in :data:`ROOTS`; "noise" takes what it is given.

    Parameters
    ----------
    kinds : (batch, n_variables) int64 tensor
    noise : (batch, n_variables, n_samples) tensor
    """
    z = draws.normal(tuple(noise.shape))
    u = quantiles(z)
    return select(kinds[:, :, None], [mixture(z, draws), uniform(u), design(u, draws), noise])


def shaped_noise(kinds: Tensor, n_samples: int, draws: Draws) -> Tensor:
    """Noise of variance one, each variable of its kind.

    Parameters
    ----------
    kinds : (batch, n_variables) int64 tensor
        Positions in :data:`SHAPES`.

    Returns
    -------
    noise : (batch, n_variables, n_samples) tensor
        Skewed shapes lean to either side.
    """
    shape = (*kinds.shape, n_samples)
    z = draws.normal(shape)
    u = quantiles(z)
    made = [
        z,
        power(z, draws),
        laplace(u),
        uniform(u),
        exponential(u),
        gumbel(u),
        bimodal(z, draws),
        heavy(z, draws),
    ]
    return select(kinds[:, :, None], made) * draws.sign((*kinds.shape, 1))
