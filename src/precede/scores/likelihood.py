"""From residual variances to BIC terms, with equal or unequal noise variances."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
import torch
from torch import Tensor

from precede.arrays import FloatArray
from precede.errors import check_choice

Noise = Literal["equal", "unequal"]
Variances = TypeVar("Variances", FloatArray, Tensor)

SMALLEST_SHARE = 1e-12
"""A residual variance is taken as at least this share of the column's variance, so that its logarithm is finite."""


@dataclass(frozen=True)
class EqualNoise:
    r"""Equal noise variances: the terms are :math:`-\frac{m}{2 \sigma_0^2} v_j` at a fixed :math:`\sigma_0^2`.

    ``total`` is the BIC with the common variance profiled out,
    :math:`-\frac{md}{2} \log(\frac1d \sum_j v_j) - \frac{p + 1}{2} \log m` for p coefficients. It grows with the sum of
    the terms, so whatever maximizes the sum maximizes the BIC.

    Parameters
    ----------
    n_samples, n_variables : int
    noise_variance : float
        :math:`\sigma_0^2`; it scales the terms and leaves the total as it is.

    Examples
    --------
    >>> noise = EqualNoise(100, 2, noise_variance=0.5)
    >>> bool(torch.isclose(noise.total(noise.terms(torch.ones(1, 2)).sum(1), 1), torch.tensor([-math.log(100)])))
    True
    """

    n_samples: int
    n_variables: int
    noise_variance: float

    def terms(self, variances: Variances) -> Variances:
        """Terms of residual variances."""
        return variances * (-self.n_samples / (2 * self.noise_variance))

    @property
    def residual_units(self) -> tuple[float, float]:
        """See :attr:`precede.scores.protocol.OrderScore.residual_units`."""
        return self.n_samples / (2 * self.noise_variance), self.n_samples * self.n_variables / 2

    def total(self, sums: Tensor, n_coefficients: int) -> Tensor:
        """BIC of orders with these sums of terms and this many regression coefficients."""
        m, d = self.n_samples, self.n_variables
        mean_variance = sums * (-2 * self.noise_variance / (m * d))
        result: Tensor = -m * d / 2 * torch.log(mean_variance) - (n_coefficients + 1) / 2 * math.log(m)
        return result


class NoiseModel:
    r"""Gaussian log-likelihood of residual variances :math:`v_j` (constants left out).

    Unequal: the terms are :math:`-\frac m2 \log v_j`, and ``total`` adds
    :math:`-\frac{p + d}{2} \log m` for p coefficients and d noise variances.

    Equal: :class:`EqualNoise` with the smallest column variance for :math:`\sigma_0^2`.

    Parameters
    ----------
    values : (n_samples, n_variables) array
    noise : {"equal", "unequal"}

    Examples
    --------
    >>> model = NoiseModel(np.array([[0.0, 1.0], [2.0, 5.0]]), "unequal")
    >>> model.terms(np.array([1.0, 4.0])) + np.log([1.0, 4.0])
    array([0., 0.])
    """

    def __init__(self, values: FloatArray, noise: Noise) -> None:
        check_choice("noise", noise, ("equal", "unequal"))
        self.noise = noise
        self.n_samples, self.n_variables = values.shape
        self.variances: FloatArray = values.var(axis=0)
        self._equal = EqualNoise(self.n_samples, self.n_variables, float(self.variances.min()))

    @property
    def residual_units(self) -> tuple[float, float]:
        """See :attr:`precede.scores.protocol.OrderScore.residual_units`."""
        return self._equal.residual_units if self.noise == "equal" else (self.n_samples / 2, self.n_samples / 2)

    def terms(self, variances: FloatArray) -> FloatArray:
        """Terms of residual variances whose last axis is the variables."""
        if self.noise == "equal":
            return self._equal.terms(variances)
        result: FloatArray = np.log(np.maximum(variances, SMALLEST_SHARE * self.variances)) * (-self.n_samples / 2)
        return result

    def total(self, sums: Tensor, n_coefficients: int) -> Tensor:
        """BIC of orders with these sums of terms and this many regression coefficients."""
        if self.noise == "equal":
            return self._equal.total(sums, n_coefficients)
        result: Tensor = sums - (n_coefficients + self.n_variables) / 2 * math.log(self.n_samples)
        return result
