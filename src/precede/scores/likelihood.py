"""From residual variances to BIC terms, with equal or unequal noise variances."""

from __future__ import annotations

import math
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


class NoiseModel:
    r"""Gaussian BIC of residual variances :math:`v_j`, with p coefficients in all (constants left out).

    Unequal: the terms are :math:`-\frac m2 \log v_j`, and ``total`` adds
    :math:`-\frac{p + d}{2} \log m` for the coefficients and d noise variances.

    Equal: the terms are :math:`-\frac{m}{2 \sigma_0^2} v_j` at a fixed :math:`\sigma_0^2`, the smallest column variance
    (the model says that it is a source's noise), and ``total`` is the BIC with the common variance profiled out,
    :math:`-\frac{md}{2} \log(\frac1d \sum_j v_j) - \frac{p + 1}{2} \log m`. It grows with the sum of the terms, so
    whatever maximizes the sum maximizes the BIC.

    Parameters
    ----------
    noise : {"equal", "unequal"}
    n_samples : int
    variances : (n_variables,) array
        Of the columns.
    n_coefficients : int

    Examples
    --------
    >>> model = NoiseModel("unequal", 100, np.array([1.0, 4.0]), 1)
    >>> model.terms(np.array([1.0, 1.0]))
    array([-0., -0.])
    >>> equal = NoiseModel("equal", 100, np.array([0.5, 4.0]), 1)
    >>> bool(torch.isclose(equal.total(equal.terms(torch.ones(1, 2)).sum(1)), torch.tensor([-math.log(100)])))
    True
    """

    def __init__(self, noise: Noise, n_samples: int, variances: FloatArray, n_coefficients: int) -> None:
        check_choice("noise", noise, ("equal", "unequal"))
        self.noise, self.n_samples, self.variances = noise, n_samples, variances
        self.noise_variance = float(variances.min())
        d, n_variances = len(variances), 1 if noise == "equal" else len(variances)
        self._all_rows = n_samples * d
        self._price = (n_coefficients + n_variances) / 2 * math.log(n_samples)

    @property
    def residual_units(self) -> tuple[float, float]:
        """See :attr:`precede.scores.protocol.OrderScore.residual_units`."""
        if self.noise == "equal":
            return self.n_samples / (2 * self.noise_variance), self._all_rows / 2
        return self.n_samples / 2, self.n_samples / 2

    def terms(self, variances: Variances) -> Variances:
        """Terms of residual variances whose last axis is the variables."""
        if self.noise == "equal":
            return variances * (-self.n_samples / (2 * self.noise_variance))
        logs = np.log(np.maximum(variances, SMALLEST_SHARE * self.variances))  # of arrays: tensors have equal noise
        return logs * (-self.n_samples / 2)  # type: ignore[return-value]

    def total(self, sums: Tensor) -> Tensor:
        """BIC of orders with these sums of terms."""
        if self.noise == "equal":
            sums = -self._all_rows / 2 * torch.log(sums * (-2 * self.noise_variance / self._all_rows))
        return sums - self._price
