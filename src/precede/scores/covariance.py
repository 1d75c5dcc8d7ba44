"""The covariance matrix, and the batched Cholesky factor that linear scores read everything from."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from precede.arrays import FloatArray
from precede.data.load import Table
from precede.kinds import indicator_blocks

CHUNK_BYTES = 8 * 2**20
"""Rows are centered in pieces of about this size, so that a large data set is never copied whole."""

SMALLEST_PIVOT = 1e-12
"""Share of a column's variance that must be left after regressing on the others; below it a ridge is added."""

RIDGE = 1e-10
"""Added to a singular covariance, as a share of each column's own variance."""


class Moments(NamedTuple):
    """A covariance matrix, and how many rows it is worth."""

    covariance: FloatArray
    n_samples: int


def moments_of(table: Table) -> Moments:
    """Moments of the columns, categories as indicators: those by EM where cells are missing."""
    if table.gaps is not None:
        return Moments(table.gaps.covariance, round(table.gaps.n_effective))
    categories = any(kind.name == "categorical" for kind in table.kinds)
    columns = indicator_blocks(table.values, table.kinds)[0] if categories else table.values
    return Moments(covariance(columns), table.n_samples)


def covariance(values: FloatArray, features: Callable[[FloatArray], FloatArray] = np.asarray) -> FloatArray:
    r"""Sample covariance :math:`S = \frac1m \sum_k (x_k - \bar x)(x_k - \bar x)^T`, without a second copy of the data.

    Parameters
    ----------
    values : (n_samples, n_variables) array
    features : callable
        What is made of a piece of the rows, (n_rows, n_features); the values themselves when left out.

    Examples
    --------
    >>> covariance(np.array([[0.0, 1.0], [2.0, 5.0]]))
    array([[1., 2.],
           [2., 4.]])
    """
    width = features(values[:1]).shape[1]
    rows = max(1, CHUNK_BYTES // (8 * width))
    pieces = [values[start : start + rows] for start in range(0, len(values), rows)]
    mean = np.sum([features(piece).sum(axis=0) for piece in pieces], axis=0) / len(values)
    total = np.zeros((width, width))
    for piece in pieces:
        centered = features(piece) - mean
        total += centered.T @ centered
    result: FloatArray = total / len(values)
    return result


def standardized(values: FloatArray) -> FloatArray:
    """Columns of mean zero and variance one, whatever their units; squares of raw values may overflow or vanish.

    A column that is constant among these rows, which may be a part of all, becomes zero.

    Examples
    --------
    >>> standardized(np.array([[1e-200, 3.0], [3e-200, 5.0]]))
    array([[-1., -1.],
           [ 1.,  1.]])
    """
    centered = np.where((values == values[:1]).all(axis=0), 0.0, values - values.mean(axis=0))
    largest = np.abs(centered).max(axis=0)
    centered = centered / np.where(largest > 0, largest, 1.0)
    spread = np.sqrt((centered**2).mean(axis=0))
    result: FloatArray = centered / np.where(spread > 0, spread, 1.0)
    return result


def regularized(matrix: FloatArray) -> FloatArray:
    """Add a small ridge to a singular covariance (collinear columns, fewer rows than columns); else leave it alone."""
    scale = np.sqrt(np.diag(matrix))
    scale = np.where(scale > 0, scale, 1.0)  # constant among these rows
    correlation = matrix / np.outer(scale, scale)
    factor, failed = torch.linalg.cholesky_ex(torch.from_numpy(correlation))
    if not failed and factor.diagonal().min() ** 2 > SMALLEST_PIVOT:
        return matrix
    return matrix + RIDGE * np.diag(scale**2)


def ordered_cholesky(covariance: Tensor, orders: Tensor, which: Tensor | None = None) -> Tensor:
    r"""Lower factors :math:`L L^T = S_{PP}` of the covariance in each order :math:`P`.

    :math:`L_{tt}^2` is the residual variance of the t-th variable given its predecessors.

    Parameters
    ----------
    covariance : (n_variables, n_variables) or (n_data_sets, n_variables, n_variables) float64 tensor
    orders : (n_orders, n_variables) int64 tensor
    which : (n_orders,) int64 tensor, optional
        The data set of each order, where there are several.

    Returns
    -------
    factors : (n_orders, n_variables, n_variables) tensor
    """
    rows, columns = orders[:, :, None], orders[:, None, :]
    matrices = covariance[rows, columns] if which is None else covariance[which[:, None, None], rows, columns]
    # cholesky_ex does not look at the result, so nothing waits for a GPU
    factors: Tensor = torch.linalg.cholesky_ex(matrices)[0]
    return factors
