"""From residual variances to BIC terms, with equal or unequal noise variances."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from precede.arrays import FloatArray
from precede.errors import check_choice
from precede.scores.linear import Noise

SMALLEST_SHARE = 1e-12
"""A residual variance is taken as at least this share of the column's variance, so that its logarithm is finite."""


class NoiseModel:
    r"""Gaussian log-likelihood of residual variances :math:`v_j` (constants left out).

    Unequal: the terms are :math:`-\frac m2 \log v_j`, and ``total`` adds
    :math:`-\frac{p + d}{2} \log m` for p coefficients and d noise variances.

    Equal: the terms are :math:`-\frac{m}{2 \sigma_0^2} v_j` at the fixed :math:`\sigma_0^2` of the smallest column
    variance, and ``total`` is :math:`-\frac{md}{2} \log(\frac1d \sum_j v_j) - \frac{p + 1}{2} \log m`.

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
        self.noise_variance = float(self.variances.min())

    def terms(self, variances: FloatArray) -> FloatArray:
        """Terms of residual variances whose last axis is the variables."""
        result: FloatArray
        if self.noise == "equal":
            result = variances * (-self.n_samples / (2 * self.noise_variance))
        else:
            result = np.log(np.maximum(variances, SMALLEST_SHARE * self.variances)) * (-self.n_samples / 2)
        return result

    def total(self, sums: Tensor, n_coefficients: int) -> Tensor:
        """BIC of orders with these sums of terms and this many regression coefficients."""
        m, d = self.n_samples, self.n_variables
        result: Tensor
        if self.noise == "unequal":
            result = sums - (n_coefficients + d) / 2 * math.log(m)
        else:
            mean_variance = sums * (-2 * self.noise_variance / (m * d))
            result = -m * d / 2 * torch.log(mean_variance) - (n_coefficients + 1) / 2 * math.log(m)
        return result
