"""Noise and root variables: shapes with mean zero and variance one, and the sizes of noise.

A new shape is one function and one line of :data:`SHAPES`: :func:`precede.simulate` then takes its name as ``noise``.
Pretraining draws from those that ``precede.pretraining.curriculum`` gives a share.
"""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from precede.simulation.draws import Draws, Shape, select, unit_rows

UNEQUAL_RANGE = (0.5, 2.0)
"""Standard deviations of ``noise="unequal"`` are uniform between these."""

EXPONENT_RANGES = ((0.5, 0.8), (1.2, 2.0))
"""Exponents that make Gaussian noise non-Gaussian (after Shimizu et al. 2006)."""

EULER = 0.5772156649015329
STUDENT_FREEDOM = 5
MOST_COMPONENTS = 5


def gaussian(shape: Shape, draws: Draws) -> Tensor:
    """Standard Gaussian noise."""
    return draws.normal(shape)


def power(shape: Shape, draws: Draws) -> Tensor:
    r"""Gaussian noise through a sign-preserving power.

    :math:`e = \mathrm{sign}(z)\,|z|^q / \sqrt{E|z|^{2q}}` with :math:`z \sim N(0, 1)`, the exponent q of each
    variable uniform in one of :data:`EXPONENT_RANGES`, and
    :math:`E|z|^{2q} = 2^q\,\Gamma(q + 1/2) / \sqrt\pi`.

    Deviations from the paper: it does not say whether the variance is restored after the power; here it is, so that
    the variance is one for any exponent.
    """
    (low_a, high_a), (low_b, high_b) = EXPONENT_RANGES
    of_variables = (shape[0], 1, shape[2])
    second = draws.integers(of_variables, 2) == 1
    position = draws.uniform(of_variables)
    exponents = torch.where(second, low_b + (high_b - low_b) * position, low_a + (high_a - low_a) * position)
    variance = 2**exponents * torch.lgamma(exponents + 0.5).exp() / math.sqrt(math.pi)
    z = draws.normal(shape)
    return z.sign() * z.abs() ** exponents / variance.sqrt()


def laplace(shape: Shape, draws: Draws) -> Tensor:
    """Laplace noise."""
    u = _quantiles(shape, draws)
    return torch.where(u < 0.5, (2 * u).log(), -(2 - 2 * u).log()) / math.sqrt(2)


def uniform(shape: Shape, draws: Draws) -> Tensor:
    """Uniform noise."""
    return draws.uniform(shape, -math.sqrt(3), math.sqrt(3))


def exponential(shape: Shape, draws: Draws) -> Tensor:
    """Exponential noise."""
    return draws.exponential(shape) - 1


def gumbel(shape: Shape, draws: Draws) -> Tensor:
    """Gumbel noise."""
    return (-(-(1 - _quantiles(shape, draws)).log()).log() - EULER) * (math.sqrt(6) / math.pi)


def student(shape: Shape, draws: Draws) -> Tensor:
    """Student's t, heavy in the tails."""
    return draws.student(shape, STUDENT_FREEDOM) * math.sqrt((STUDENT_FREEDOM - 2) / STUDENT_FREEDOM)


def bimodal(shape: Shape, draws: Draws) -> Tensor:
    """Two Gaussians of the same width and unequal weight."""
    of_variables = (shape[0], 1, shape[2])
    width, share = draws.uniform(of_variables, 0.15, 0.6), draws.uniform(of_variables, 0.2, 0.8)
    side = draws.chance(shape, share).float()
    distance = ((1 - width.square()) / (share * (1 - share))).sqrt()
    return width * draws.normal(shape) + (side - share) * distance


def heavy(shape: Shape, draws: Draws) -> Tensor:
    """Gaussian whose scale differs from row to row: tails heavier than of Student's t."""
    spread = 0.7
    return draws.normal(shape) * (spread * draws.normal(shape)).exp() * math.exp(-(spread**2))


SHAPES: dict[str, Callable[[Shape, Draws], Tensor]] = {
    shape.__name__: shape for shape in (gaussian, power, laplace, uniform, exponential, gumbel, bimodal, heavy, student)
}
"""From (batch, n_samples, n_variables) to noise of that shape, mean zero and variance one."""

NOISE_SHAPES = ("laplace", "uniform", "exponential", "gumbel", "student", "bimodal", "heavy")
"""Shapes that a user names; the other two are those of ``sem``."""

NOISE_KINDS = ("equal", "unequal", *NOISE_SHAPES)


def shaped_noise(kinds: Tensor, shapes: Sequence[str], n_samples: int, draws: Draws) -> Tensor:
    """Noise of variance one, each variable of its kind.

    Parameters
    ----------
    kinds : (batch, n_variables) int64 tensor
        Positions in ``shapes``.
    shapes : sequence of str
        Names in :data:`SHAPES`.

    Returns
    -------
    noise : (batch, n_variables, n_samples) tensor
        Skewed shapes lean to either side.
    """
    batch, d = kinds.shape
    made = [SHAPES[name]((batch, n_samples, d), draws) for name in shapes]
    return (select(kinds[:, None, :], made) * draws.sign((batch, 1, d))).mT.contiguous()


def mixture(shape: Shape, draws: Draws) -> Tensor:
    """Up to five Gaussians of random place, width and weight, (..., n_samples), standardized over the rows."""
    of_variables = shape[:-1]
    n_components = (draws.uniform((*of_variables, 1)) * MOST_COMPONENTS).floor() + 1
    number = torch.arange(MOST_COMPONENTS, device=draws.device)
    weights = draws.uniform((*of_variables, MOST_COMPONENTS), 0.1, 1.0) * (number < n_components)
    ends = (weights / weights.sum(-1, keepdim=True)).cumsum(-1)
    member = torch.searchsorted(ends, draws.uniform(shape)).clamp_max(MOST_COMPONENTS - 1)
    sizes = (*of_variables, MOST_COMPONENTS)
    places, widths = draws.normal(sizes), draws.log_uniform(sizes, 0.1, 1.0)
    return unit_rows(places.gather(-1, member) + widths.gather(-1, member) * draws.normal(shape))


def design(shape: Shape, draws: Draws) -> Tensor:
    """A few settings at equal distances, equally often: what an experimenter chooses."""
    n_settings = draws.log_uniform((*shape[:-1], 1), 2.0, 20.0).floor()
    return unit_rows((draws.uniform(shape) * n_settings).floor())


ROOTS = {"mixture": mixture, "uniform": uniform, "design": design}
"""Shapes of variables without causes, which are often irregular, broad, or set by someone."""


def _quantiles(shape: Shape, draws: Draws) -> Tensor:
    """Uniform in (0, 1), kept from the ends so that logarithms are finite."""
    return draws.unit(shape).clamp(1e-7, 1 - 1e-7)
