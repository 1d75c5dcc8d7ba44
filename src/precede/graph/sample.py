"""What a graph keeps of the data it was learned from, so that it can answer with numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from precede.arrays import FloatArray, IntArray
from precede.kinds import NUMBER, ColumnKind, indicator_blocks, indicator_places
from precede.strict_json import Flags, Matrix, Vector


@dataclass(frozen=True, eq=False)
class Moments:
    """Means and covariances of rows.

    Parameters
    ----------
    n_samples : int
        Rows that the moments were computed from.
    mean : (n_columns,) float array
        A variable is one column, a category one of 0 and 1 for each level but the first.
    covariance : (n_columns, n_columns) float array
        Divided by the number of rows.
    """

    n_samples: int
    mean: Vector
    covariance: Matrix


@dataclass(frozen=True, eq=False)
class Setting(Moments):
    """Moments of the rows in which the same variables were set by an intervention.

    Parameters
    ----------
    targets : frozenset of int
        Columns that were set; empty for rows that were only observed.
    """

    targets: frozenset[int]


@dataclass(frozen=True, eq=False)
class Sample(Moments):
    """Moments of the data, and some of its rows.

    Parameters
    ----------
    rows : (n_rows, n_variables) float array, optional
        Rows for what moments cannot tell: curves and what-if questions. None where only the moments are known.
    kinds : tuple of ColumnKind
        What each variable is; numbers all where nothing is said.
    settings : tuple of Setting, optional
        With interventions, the moments by what was set; None where nothing ever was.
    row_targets : (n_rows, n_variables) bool array, optional
        With interventions, what was set in each of the rows.
    absent : tuple of (frozenset of int, int), optional
        Where cells are missing, columns that are missing together, and in how many rows; the moments are then estimated
        from all that is there.
    """

    rows: Matrix | None = None
    kinds: tuple[ColumnKind, ...] = ()
    settings: tuple[Setting, ...] | None = None
    row_targets: Flags | None = None
    absent: tuple[tuple[frozenset[int], int], ...] | None = None

    @property
    def levels(self) -> dict[int, ColumnKind]:
        """Variables that are compared level by level: categories, and columns of two values."""
        return {k: kind for k, kind in enumerate(self.kinds) if kind.name in ("categorical", "binary")}

    @property
    def categories(self) -> frozenset[int]:
        """Variables whose levels have no order."""
        return frozenset(k for k, kind in enumerate(self.kinds) if kind.name == "categorical")

    @property
    def n_variables(self) -> int:
        """Variables, however many columns they have in the moments."""
        return len(self.kinds) or len(self.mean)

    @property
    def owner(self) -> IntArray:
        """The variable of each column of the moments.

        Examples
        --------
        >>> color = ColumnKind("categorical", (0.0, 1.0, 2.0), ("blue", "green", "red"))
        >>> Sample(9, np.zeros(3), np.eye(3), kinds=(color, NUMBER)).owner
        array([0, 0, 1])
        """
        places = indicator_places(self.kinds or [NUMBER] * self.n_variables)
        return np.repeat(np.arange(len(places)), [place.stop - place.start for place in places])

    def columns_of(self, variables: Iterable[int]) -> IntArray:
        """Columns of the moments that belong to some variables, one variable after the other."""
        owner = self.owner
        return np.concatenate([np.zeros(0, np.int64), *(np.flatnonzero(owner == k) for k in variables)])

    def spread_of(self, variable: int, level: str) -> float:
        """Standard deviation of being at one level of a category or not."""
        shares = self.mean[self.columns_of([variable])]
        share = float([1 - shares.sum(), *shares][self.levels[variable].labels.index(level)])
        return float(np.sqrt(share * (1 - share)))

    @property
    def design(self) -> FloatArray | None:
        """The rows as columns of the moments; None where only the moments are known."""
        return self.rows if self.rows is None or not self.kinds else indicator_blocks(self.rows, self.kinds)[0]

    def rows_with(self, columns: Iterable[int]) -> int:
        """Rows in which none of some columns is missing.

        Examples
        --------
        >>> sample = Sample(100, np.zeros(2), np.eye(2), absent=((frozenset(), 30), (frozenset([1]), 70)))
        >>> sample.rows_with([0]), sample.rows_with([0, 1])
        (100, 30)
        """
        if self.absent is None:
            return self.n_samples
        asked = set(columns)
        return sum(rows for missing, rows in self.absent if not missing & asked)

    def where_unset(self, columns: Iterable[int]) -> Sample:
        """The moments of the rows in which none of some columns was set; no rows at all where there are none.

        Examples
        --------
        >>> observed = Setting(2, np.array([0.0]), np.eye(1), frozenset())
        >>> was_set = Setting(2, np.array([9.0]), np.eye(1), frozenset([0]))
        >>> sample = Sample(4, np.array([4.5]), np.eye(1), settings=(observed, was_set))
        >>> sample.where_unset([0]).mean, sample.where_unset([]).mean
        (array([0.]), array([4.5]))
        """
        if self.settings is None:
            return self
        asked = frozenset(int(k) for k in columns)
        kept = [part for part in self.settings if not part.targets & asked]
        if not kept:
            return replace(self, n_samples=0)
        counts = np.array([part.n_samples for part in kept], dtype=float)
        shares = counts / counts.sum()
        means = np.array([part.mean for part in kept])
        mean = shares @ means
        apart = means - mean
        within = np.einsum("k,kij->ij", shares, np.array([part.covariance for part in kept]))
        return replace(
            self, n_samples=int(counts.sum()), mean=mean, covariance=within + (shares[:, None] * apart).T @ apart
        )
