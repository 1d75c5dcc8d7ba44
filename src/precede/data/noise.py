"""Noise of simulated data: Gaussian or non-Gaussian, equal or unequal variances."""

from __future__ import annotations

import numpy as np
from scipy.special import gamma

from precede.arrays import FloatArray
from precede.errors import check_choice

NOISE_KINDS = ("equal", "unequal")

UNEQUAL_RANGE = (0.5, 2.0)
"""Standard deviations of ``noise="unequal"`` are uniform between these."""

EXPONENT_RANGES = ((0.5, 0.8), (1.2, 2.0))
"""Exponents that make Gaussian noise non-Gaussian (METHODS 7, after Shimizu et al. 2006)."""


def noise_scales(noise: str, n_variables: int, rng: np.random.Generator) -> FloatArray:
    """Standard deviation of each variable's noise: one, or uniform in :data:`UNEQUAL_RANGE`."""
    check_choice("noise", noise, NOISE_KINDS)
    return np.ones(n_variables) if noise == "equal" else rng.uniform(*UNEQUAL_RANGE, size=n_variables)


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
    variance = 2**exponents * gamma(exponents + 0.5) / np.sqrt(np.pi)
    z = rng.standard_normal((n_samples, d))
    result: FloatArray = np.sign(z) * np.abs(z) ** exponents * (scales / np.sqrt(variance))
    return result
