"""The table that every method learns from: a checked matrix with names, kinds of columns, and what was missing."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from precede.arrays import FloatArray, IntArray
from precede.data.kinds import NUMBER, ColumnKind
from precede.data.missing import Gaps, complete, gaps_of


@dataclass(frozen=True)
class Table:
    """A checked matrix with names.

    Parameters
    ----------
    values : (n_samples, n_variables) float64 array
        Finite, no constant column, no exactly collinear columns; read-only, and often a view of the caller's own
        memory: copy before changing it.
    names : tuple
        Column names; the integers from 0 for a bare array.
    labelled : bool
        Whether the names are strings that came with the data.
    remarks : tuple of str
        What was done to the data on the way, a sentence each.
    kinds : tuple of ColumnKind
        What each column holds; numbers where nothing is said. A column of words holds the places of its levels.
    gaps : Gaps, optional
        Where cells were missing, with the moments that linear scores use; ``values`` then has drawn values there.
    """

    values: FloatArray
    names: tuple[Hashable, ...]
    labelled: bool
    remarks: tuple[str, ...] = ()
    kinds: tuple[ColumnKind, ...] = ()
    gaps: Gaps | None = None

    def __post_init__(self) -> None:
        if not self.kinds:
            object.__setattr__(self, "kinds", (NUMBER,) * self.values.shape[1])

    @property
    def n_samples(self) -> int:
        return int(self.values.shape[0])

    @property
    def n_variables(self) -> int:
        return int(self.values.shape[1])

    def with_rows(self, rows: IntArray, rng: np.random.Generator) -> Table:
        """The table of some rows, any of them several times; missing cells are drawn anew (multiple imputation)."""
        values = self.values[rows]
        if self.gaps is None:
            return Table(values, self.names, self.labelled, kinds=self.kinds)
        values[self.gaps.mask[rows]] = np.nan
        return filled_table(Table(values, self.names, self.labelled, kinds=self.kinds), self.gaps.how, rng)

    def with_columns(self, kept: list[int]) -> Table:
        """The table of some columns."""
        values, kinds = self.values[:, kept], tuple(self.kinds[k] for k in kept)
        gaps = None
        if self.gaps is not None and self.gaps.mask[:, kept].any():
            holed = np.where(self.gaps.mask[:, kept], np.nan, values)
            gaps = gaps_of(holed, kinds, self.gaps.how)
        values.flags.writeable = False
        return Table(values, tuple(self.names[k] for k in kept), self.labelled, self.remarks, kinds, gaps)


def filled_table(table: Table, how: str, rng: np.random.Generator) -> Table:
    """A table with NaN where cells are missing, turned into one without."""
    gaps = gaps_of(table.values, table.kinds, how)
    values = complete(table.values, table.kinds, gaps, rng)
    values.flags.writeable = False
    return Table(values, table.names, table.labelled, table.remarks, table.kinds, gaps)
