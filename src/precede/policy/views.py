"""Several views of a table, for a policy whose answer is their mean."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from precede.arrays import FloatArray, IntArray

MOST_VIEWS = 8
FEWEST_VIEWS = 2
WORK = 120_000
"""Cells and pairs (a pair counts as nine cells) of all views together; small tables are looked at more often."""


class Views:
    """Standardized rows, other ones in each view where there are more than the policy reads, columns turned over.

    Which end of a column is called large tells nothing about causes, so views differ in that as well: in the k-th
    view the signs are a Walsh function of the columns' ranks by skewness. The first view has the columns as they are.
    Nothing here depends on the sequence of the columns.

    Parameters
    ----------
    values : (n_rows, n_variables) array
        A missing cell is NaN.
    n_rows : int
        Most rows in a view.
    rng : numpy Generator
        Chooses the rows.
    device : torch.device
    scales : bool
        Whether the columns' scales are shown; they mean something under equal noise variances alone.
    """

    def __init__(
        self, values: FloatArray, n_rows: int, rng: np.random.Generator, device: torch.device, *, scales: bool = False
    ) -> None:
        mean = np.nanmean(values, axis=0)
        scale = np.sqrt(np.nanmean(np.square(values - mean), axis=0))
        log_scale = np.log(scale) - np.log(scale).mean() if scales else np.zeros(len(scale))
        m, d = values.shape
        n_rows = min(n_rows, m)
        n_views = int(np.clip(WORK // (d * (n_rows + 9 * d)), FEWEST_VIEWS, MOST_VIEWS))
        skewness = np.nanmean(((values - mean) / scale) ** 3, axis=0)
        signs = walsh_signs(n_views, np.argsort(np.argsort(skewness)))
        views = [
            np.vstack([(values[rows] - mean) / scale * sign, log_scale]).T
            for rows, sign in zip(_rows(m, n_rows, n_views, rng), signs, strict=True)
        ]
        self.n_inputs = n_rows + 1
        self._views = torch.tensor(np.stack(views), dtype=torch.float32, device=device)

    def draw(self, batch: int, generator: torch.Generator | None = None) -> Tensor:
        """(n_views, n_variables, n_rows + 1) tensor, whatever the batch and the generator."""
        return self._views


def walsh_signs(n_views: int, ranks: IntArray) -> FloatArray:
    """Signs (n_views, n_variables): the k-th row is minus one where k and the rank share an odd number of bits.

    Examples
    --------
    >>> walsh_signs(3, np.arange(4)).astype(int)
    array([[ 1,  1,  1,  1],
           [ 1, -1,  1, -1],
           [ 1,  1, -1, -1]])
    """
    shared = np.arange(n_views)[:, None] & ranks[None, :]
    odd = np.zeros_like(shared)
    while shared.any():
        odd ^= shared & 1
        shared >>= 1
    return 1.0 - 2.0 * odd


def _rows(m: int, n_rows: int, n_views: int, rng: np.random.Generator) -> list[IntArray]:
    """Rows of each view: all of them, or other ones every time until none is left."""
    if m == n_rows:
        return [np.arange(m)] * n_views
    passes = -(-n_views * n_rows // m)
    drawn = np.concatenate([rng.permutation(m) for _ in range(passes)])
    return [drawn[k * n_rows : (k + 1) * n_rows] for k in range(n_views)]
