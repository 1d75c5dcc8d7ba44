"""What a policy is told of a table beside its cells: what was set, what is known of edges, levels without order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from precede.arrays import BoolArray, FloatArray
from precede.knowledge import Constraints


class Told(NamedTuple):
    """Of some tables; nothing is said where all is False.

    Parameters
    ----------
    was_set : (batch, n_variables, n_samples) bool tensor
        Cells that an intervention set, whatever the variable's causes.
    required, forbidden : (batch, n_variables, n_variables) bool tensors
        ``[i, j]`` of i -> j. Tiers and lags forbid every edge against them.
    unordered : (batch, n_variables) bool tensor
        Columns of categories, whose numbers are a reading (:func:`precede.policy.inputs.numeric_reading`).
    """

    was_set: Tensor
    required: Tensor
    forbidden: Tensor
    unordered: Tensor

    @classmethod
    def nothing(cls, inputs: Tensor) -> Told:
        """What is told of inputs (batch, n_variables, n_samples + 1) about which nothing is."""
        batch, d, width = inputs.shape
        shapes = (batch, d, width - 1), (batch, d, d), (batch, d, d), (batch, d)
        return cls(*(torch.zeros(shape, dtype=torch.bool, device=inputs.device) for shape in shapes))

    @classmethod
    def about(
        cls,
        values: FloatArray,
        *,
        was_set: BoolArray | None = None,
        unordered: BoolArray | None = None,
        constraints: Constraints | None = None,
    ) -> Told:
        """Of one table (n_samples, n_variables), whose cells ``was_set`` speaks of in the same shape.

        A precedence forbids every edge against it.
        """
        n, d = values.shape
        known = constraints or Constraints.none(d)
        forbidden = (~known.allowed | known.before.T) & ~np.eye(d, dtype=bool)  # transposed: the other way round
        cells = np.zeros((n, d), dtype=bool) if was_set is None else was_set
        columns = np.zeros(d, dtype=bool) if unordered is None else unordered
        return cls(*(torch.tensor(part)[None] for part in (cells.T, known.required, forbidden, columns)))

    def of(self, tables: slice | Tensor) -> Told:
        """Of some of the tables."""
        return Told(*(part[tables] for part in self))

    def with_columns(self, columns: Tensor) -> Told:
        """The same for tables whose k-th column shows variable ``columns[:, k]``."""
        task = torch.arange(len(columns), device=columns.device)[:, None]
        pairs = task[:, :, None], columns[:, :, None], columns[:, None, :]
        cells, unordered = self.was_set[task, columns], self.unordered[task, columns]
        return Told(cells, self.required[pairs], self.forbidden[pairs], unordered)
