"""What a column holds, and columns as numbers: a category is an indicator for each of its levels but the first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from precede.arrays import FloatArray, IntArray

KindName = Literal["number", "count", "ordinal", "binary", "categorical"]


@dataclass(frozen=True)
class ColumnKind:
    """What a column holds.

    Parameters
    ----------
    name : "number", "count", "ordinal", "binary" or "categorical"
        Counts are whole numbers from zero or one up, with many ties. Ordinal columns have few levels in an order that
        means something; those of a categorical column mean nothing by their order.
    levels : tuple of float
        The values that stand for the levels in the matrix, ascending; none for numbers and counts.
    labels : tuple of str
        What the levels are called in the data.
    """

    name: KindName
    levels: tuple[float, ...] = ()
    labels: tuple[str, ...] = ()

    @property
    def n_levels(self) -> int:
        """Number of levels; 0 for numbers and counts."""
        return len(self.levels)

    @property
    def discrete(self) -> bool:
        """Whether the column has levels."""
        return bool(self.levels)

    def codes(self, column: FloatArray) -> IntArray:
        """Places of the values among the levels, from 0.

        Examples
        --------
        >>> ColumnKind("ordinal", (1.0, 2.0, 5.0), ("1", "2", "5")).codes(np.array([5.0, 1.0, 2.0]))
        array([2, 0, 1])
        """
        found = np.searchsorted(np.asarray(self.levels), column)
        return np.asarray(found, dtype=np.int64)

    def __str__(self) -> str:
        return f"{self.name} ({self.n_levels} levels)" if self.name in ("ordinal", "categorical") else self.name


NUMBER = ColumnKind("number")


def indicator_blocks(values: FloatArray, kinds: Sequence[ColumnKind]) -> tuple[FloatArray, list[slice]]:
    """Columns as numbers: one indicator for each level of a category but the first, every other column as it is.

    A missing cell of a category is missing in each of its indicators.

    Returns
    -------
    columns : (n_samples, n_columns) array
    blocks : list of slice
        Where each variable's columns are.

    Examples
    --------
    >>> color = ColumnKind("categorical", (0.0, 1.0, 2.0), ("blue", "green", "red"))
    >>> indicator_blocks(np.array([[0.0], [2.0], [1.0]]), [color])[0].astype(int)
    array([[0, 0],
           [0, 1],
           [1, 0]])
    """
    parts: list[FloatArray] = []
    for k, kind in enumerate(kinds):
        column = values[:, k]
        if kind.name == "categorical":
            part = (column[:, None] == np.array(kind.levels[1:])).astype(np.float64)
            part[np.isnan(column)] = np.nan
        else:
            part = column[:, None]
        parts.append(part)
    return np.concatenate(parts, axis=1), indicator_places(kinds)


def indicator_places(kinds: Sequence[ColumnKind]) -> list[slice]:
    """Where each variable's columns are once categories are indicators."""
    widths = [kind.n_levels - 1 if kind.name == "categorical" else 1 for kind in kinds]
    ends = np.cumsum(widths).tolist()
    return [slice(end - width, end) for end, width in zip(ends, widths, strict=True)]
