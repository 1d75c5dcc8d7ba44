"""What the encoder sees of the data: fixed rows, or rows drawn anew for every episode as in the paper."""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from torch import Tensor

from precede.graph import FloatArray

InputsName = Literal["fixed", "resample"]


class FixedInputs:
    """The same rows throughout, standardised, with each column's log scale beside them.

    Deviations from the paper: it draws n rows anew for every episode, so that a variable looks different each time and
    the policy learns far more slowly (METHODS 2). The states are then one set, shared by all orders of a batch.
    """

    def __init__(self, values: FloatArray, n_samples: int, rng: np.random.Generator, device: torch.device) -> None:
        rows = _draw_rows(len(values), n_samples, rng)
        mean, scale = values.mean(axis=0), values.std(axis=0)
        columns = np.vstack([(values[rows] - mean) / scale, np.log(scale) - np.log(scale).mean()])
        self.n_inputs = len(columns)
        self._inputs = torch.tensor(columns.T[None], dtype=torch.float32, device=device)

    def draw(self, batch: int, generator: torch.Generator | None = None) -> Tensor:
        """(1, n_variables, n_samples + 1) tensor, whatever the batch and the generator."""
        return self._inputs


class ResampledInputs:
    """Rows drawn anew for each order of a batch (Section 4.2), centred and divided by one overall scale."""

    def __init__(
        self,
        values: FloatArray,
        n_samples: int,
        generator: torch.Generator,
        device: torch.device,
    ) -> None:
        scaled = (values - values.mean(axis=0)) / values.std()
        self.n_inputs = n_samples
        self._values = torch.tensor(scaled, dtype=torch.float32, device=device)
        self.generator = generator

    def draw(self, batch: int, generator: torch.Generator | None = None) -> Tensor:
        """(batch, n_variables, n_samples) tensor, by a generator that is given or by its own."""
        generator = generator or self.generator
        shape = (batch, self.n_inputs)
        rows = torch.randint(len(self._values), shape, generator=generator, device=generator.device)
        return self._values[rows.to(self._values.device)].transpose(1, 2)


def _draw_rows(n_rows: int, n_samples: int, rng: np.random.Generator) -> np.ndarray:
    """Distinct rows where there are enough of them."""
    return rng.choice(n_rows, size=n_samples, replace=n_rows < n_samples)
