"""Noise of simulated data: Gaussian or non-Gaussian, equal or unequal variances."""

from __future__ import annotations

import numpy as np

from precede.arrays import FloatArray
from precede.errors import check_choice
from precede.lazy import special

NOISE_SHAPES = ("laplace", "uniform", "exponential", "gumbel", "student")
"""Shapes of noise with variance one, as values of ``noise``."""

NOISE_KINDS = ("equal", "unequal", *NOISE_SHAPES)

STUDENT_FREEDOM = 5

UNEQUAL_RANGE = (0.5, 2.0)
"""Standard deviations of ``noise="unequal"`` are uniform between these."""

EXPONENT_RANGES = ((0.5, 0.8), (1.2, 2.0))
"""Exponents that make Gaussian noise non-Gaussian (after Shimizu et al. 2006)."""


def noise_scales(noise: str, n_variables: int, rng: np.random.Generator) -> FloatArray:
    """Standard deviation of each variable's noise: one, or uniform in :data:`UNEQUAL_RANGE` for "unequal"."""
    check_choice("noise", noise, NOISE_KINDS)
    return rng.uniform(*UNEQUAL_RANGE, size=n_variables) if noise == "unequal" else np.ones(n_variables)


def gaussian_noise(n_samples: int, scales: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Independent Gaussian noise, (n_samples, n_variables)."""
    return rng.standard_normal((n_samples, len(scales))) * scales


def power_noise(n_samples: int, scales: FloatArray, rng: np.random.Generator) -> FloatArray:
    r"""Gaussian noise through a sign-preserving power, (n_samples, n_variables).

    :math:`e = s \cdot \mathrm{sign}(z)\,|z|^q / \sqrt{E|z|^{2q}}` with :math:`z \sim N(0, 1)`, the exponent q of each
    variable uniform in one of :data:`EXPONENT_RANGES`, and
    :math:`E|z|^{2q} = 2^q\,\Gamma(q + 1/2) / \sqrt\pi`.

    Deviations from the paper: it does not say whether the variance is restored after the power; here it is, so that
    ``scales`` are the standard deviations for any exponent.
    """
    d = len(scales)
    low, high = np.array(EXPONENT_RANGES).T  # (2,), (2,)
    side = rng.integers(2, size=d)
    exponents = rng.uniform(low[side], high[side])
    variance = 2**exponents * special.gamma(exponents + 0.5) / np.sqrt(np.pi)
    z = rng.standard_normal((n_samples, d))
    result: FloatArray = np.sign(z) * np.abs(z) ** exponents * (scales / np.sqrt(variance))
    return result


def shaped_noise(shape: str, n_samples: int, scales: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Independent noise of a shape of :data:`NOISE_SHAPES`, mean zero and variance one before the scales.

    Examples
    --------
    >>> shaped_noise("uniform", 4, np.ones(2), np.random.default_rng(0)).shape
    (4, 2)
    """
    check_choice("noise", shape, NOISE_SHAPES)
    size = (n_samples, len(scales))
    match shape:
        case "laplace":
            noise = rng.laplace(size=size) / np.sqrt(2)
        case "uniform":
            noise = rng.uniform(-np.sqrt(3), np.sqrt(3), size=size)
        case "exponential":
            noise = rng.exponential(size=size) - 1
        case "gumbel":
            noise = (rng.gumbel(size=size) - np.euler_gamma) * np.sqrt(6) / np.pi
        case _:
            noise = rng.standard_t(STUDENT_FREEDOM, size=size) * np.sqrt((STUDENT_FREEDOM - 2) / STUDENT_FREEDOM)
    return np.asarray(noise * scales)
