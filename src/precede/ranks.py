"""Ranks, and tests by ranks and moments: what would need ``scipy.stats``, which takes as long to import as a fit."""

from __future__ import annotations

import numpy as np

from precede.arrays import FloatArray
from precede.lazy import pandas as pd
from precede.lazy import special


def ranks(values: FloatArray) -> FloatArray:
    """Ranks from 1 along the first axis; equal values share their mean.

    Examples
    --------
    >>> ranks(np.array([3.0, 1.0, 3.0, 2.0]))
    array([3.5, 1. , 3.5, 2. ])
    """
    return pd.DataFrame(values).rank().to_numpy(dtype=np.float64).reshape(values.shape)


def normal_scores(values: FloatArray) -> FloatArray:
    """Ranks as quantiles of a Gaussian, along the first axis (van der Waerden scores).

    Examples
    --------
    >>> normal_scores(np.array([[3.0], [1.0], [200.0]])).round(2).ravel().tolist()
    [0.0, -0.97, 0.97]
    """
    return np.asarray(special.ndtri((ranks(values) - 0.5) / len(values)), dtype=np.float64)


def rank_correlation(one: FloatArray, other: FloatArray) -> tuple[float, float]:
    """Spearman's correlation of two samples, and how likely one as large is without a connection (Student's t).

    Examples
    --------
    >>> round(rank_correlation(np.arange(5.0), np.arange(5.0) ** 2)[0], 6)
    1.0
    """
    correlation = float(np.corrcoef(ranks(one), ranks(other))[0, 1])
    freedom = len(one) - 2
    rest = (1 + correlation) * (1 - correlation)
    statistic = np.sqrt(freedom / rest) * abs(correlation) if rest > 0 else np.inf
    return correlation, float(2 * special.stdtr(freedom, -statistic))


def normality_p_values(columns: FloatArray) -> FloatArray:
    r"""How likely skewness and kurtosis as far from a normal sample's are in one: :math:`K^2`, for each column.

    References
    ----------
    D'Agostino and Pearson (1973), Tests for departure from normality. Anscombe and Glynn (1983), Distribution of the
    kurtosis statistic b2 for normal samples.
    """
    n = len(columns)
    centered = columns - columns.mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = (centered**2).mean(axis=0)
        skewness = (centered**3).mean(axis=0) / variance**1.5
        kurtosis = (centered**4).mean(axis=0) / variance**2
        statistic = _skewness_in_normal_units(skewness, n) ** 2 + _kurtosis_in_normal_units(kurtosis, n) ** 2
    return np.asarray(np.exp(-statistic / 2), dtype=np.float64)  # chi squared with two degrees of freedom


def _skewness_in_normal_units(skewness: FloatArray, n: int) -> FloatArray:
    y = skewness * np.sqrt((n + 1) * (n + 3) / (6.0 * (n - 2)))
    beta = 3.0 * (n**2 + 27 * n - 70) * (n + 1) * (n + 3) / ((n - 2.0) * (n + 5) * (n + 7) * (n + 9))
    squared = -1 + np.sqrt(2 * (beta - 1))
    alpha = np.sqrt(2.0 / (squared - 1))
    return np.asarray(np.arcsinh(y / alpha) / np.sqrt(0.5 * np.log(squared)))


def _kurtosis_in_normal_units(kurtosis: FloatArray, n: int) -> FloatArray:
    expected = 3.0 * (n - 1) / (n + 1)
    variance = 24.0 * n * (n - 2) * (n - 3) / ((n + 1) ** 2 * (n + 3.0) * (n + 5))
    x = (kurtosis - expected) / np.sqrt(variance)
    root = 6.0 * (n**2 - 5 * n + 2) / ((n + 7) * (n + 9)) * np.sqrt(6.0 * (n + 3) * (n + 5) / (n * (n - 2.0) * (n - 3)))
    a = 6.0 + 8.0 / root * (2.0 / root + np.sqrt(1 + 4.0 / root**2))
    base = 1 + x * np.sqrt(2 / (a - 4.0))
    third = np.sign(base) * np.where(base == 0, np.nan, np.cbrt((1 - 2.0 / a) / np.abs(base)))
    return np.asarray((1 - 2 / (9.0 * a) - third) / np.sqrt(2 / (9.0 * a)))
