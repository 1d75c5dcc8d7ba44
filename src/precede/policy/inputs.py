"""What the encoder sees of the data: fixed rows, or rows drawn anew for every episode as in the paper."""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from torch import Tensor

from precede.arrays import FloatArray
from precede.data.checks import row_blocks

InputsName = Literal["fixed", "resample"]
RowScale = Literal["asinh", "common", "none"]


class FixedInputs:
    """The same rows throughout, standardized, with each column's log scale beside them.

    Deviations from the paper: it draws n rows anew for every episode, so that a variable looks different each time and
    the policy learns far more slowly. The states are then one set, shared by all orders of a batch.
    """

    def __init__(self, values: FloatArray, n_samples: int, rng: np.random.Generator, device: torch.device) -> None:
        rows = _draw_rows(len(values), n_samples, rng)
        mean, scale = column_moments(values)
        columns = np.vstack([(values[rows] - mean) / scale, np.log(scale) - np.log(scale).mean()])
        self.n_inputs = len(columns)
        self._inputs = torch.tensor(columns.T[None], dtype=torch.float32, device=device)

    def draw(self, batch: int, generator: torch.Generator | None = None) -> Tensor:
        """(1, n_variables, n_samples + 1) tensor, whatever the batch and the generator."""
        return self._inputs


class ResampledInputs:
    r"""Rows drawn anew for each order of a batch (Section 4.2).

    Parameters
    ----------
    values : (n_rows, n_variables) array
    n_samples : int
        Rows in a draw.
    generator : torch Generator
    device : torch device
    scale : {"asinh", "common", "none"}
        :math:`\operatorname{asinh}((x - \bar x) / s)` with s the smallest standard deviation of a column; or
        :math:`(x - \bar x) / s` with s the root mean square of all columns; or x as it is.

    Notes
    -----
    The paper does not say how its rows are scaled. Variances of one data set differ by four orders of magnitude and
    more; in a common unit the small columns all look like nothing beside the large ones, and the policy settles before
    it can tell them apart. The inverse hyperbolic sine keeps small values as they are and takes the logarithm of large
    ones (``benchmarks/paper_details.py``).
    """

    def __init__(
        self,
        values: FloatArray,
        n_samples: int,
        generator: torch.Generator,
        device: torch.device,
        scale: RowScale = "asinh",
    ) -> None:
        mean, deviations = column_moments(values)
        unit = deviations.min() if scale == "asinh" else np.sqrt(np.mean(deviations**2))
        if scale == "none":
            mean, unit = np.zeros_like(mean), np.ones(())
        self.n_inputs = n_samples
        self._values = torch.empty(values.shape, dtype=torch.float32, device=device)
        start = 0
        for block in row_blocks(values):
            scaled = (block - mean) / unit
            scaled = np.arcsinh(scaled) if scale == "asinh" else scaled
            self._values[start : start + len(block)] = torch.from_numpy(scaled)
            start += len(block)
        self.generator = generator

    def draw(self, batch: int, generator: torch.Generator | None = None) -> Tensor:
        """(batch, n_variables, n_samples) tensor, by a generator that is given or by its own."""
        generator = generator or self.generator
        shape = (batch, self.n_inputs)
        rows = torch.randint(len(self._values), shape, generator=generator, device=generator.device)
        return self._values[rows.to(self._values.device)].transpose(1, 2)


def column_moments(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of each column, by blocks of rows: ``std`` alone would copy the data."""
    mean: FloatArray = values.mean(axis=0)
    squares = sum(np.square(block - mean).sum(axis=0) for block in row_blocks(values))
    return mean, np.sqrt(squares / len(values))


def _draw_rows(n_rows: int, n_samples: int, rng: np.random.Generator) -> np.ndarray:
    """Distinct rows where there are enough of them."""
    return rng.choice(n_rows, size=n_samples, replace=n_rows < n_samples)
