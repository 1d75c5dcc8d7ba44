"""What a graph keeps of the data it was learned from, so that it can answer with numbers."""

from __future__ import annotations

from dataclasses import dataclass

from precede.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Sample:
    """Moments of the data, and some of its rows.

    Parameters
    ----------
    n_samples : int
        Rows that the moments were computed from.
    mean : (n_variables,) float array
    covariance : (n_variables, n_variables) float array
        Divided by the number of rows.
    rows : (n_rows, n_variables) float array, optional
        Rows for what moments cannot tell: curves and what-if questions. None where only the moments are known.
    categories : frozenset of int
        Columns whose values are the places of words without an order: they have no size, so no effect per unit.
    """

    n_samples: int
    mean: FloatArray
    covariance: FloatArray
    rows: FloatArray | None = None
    categories: frozenset[int] = frozenset()
