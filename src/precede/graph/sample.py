"""What a graph keeps of the data it was learned from, so that it can answer with numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Absent:
    """Which cells are missing together, and how often.

    Parameters
    ----------
    patterns : (n_patterns, n_variables) bool array
        True where a cell is missing.
    counts : (n_patterns,) int array
        Rows of each.
    """

    patterns: BoolArray
    counts: IntArray


@dataclass(frozen=True, eq=False)
class Setting:
    """Moments of the rows in which the same variables were set by an intervention.

    Parameters
    ----------
    targets : frozenset of int
        Columns that were set; empty for rows that were only observed.
    n_samples, mean, covariance
        As of a sample.
    """

    targets: frozenset[int]
    n_samples: int
    mean: FloatArray
    covariance: FloatArray


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
    settings : tuple of Setting, optional
        With interventions, the moments by what was set; None where nothing ever was.
    row_targets : (n_rows, n_variables) bool array, optional
        With interventions, what was set in each of the rows.
    absent : Absent, optional
        Where cells are missing, which; the moments are then estimated from all that is there.
    """

    n_samples: int
    mean: FloatArray
    covariance: FloatArray
    rows: FloatArray | None = None
    categories: frozenset[int] = frozenset()
    settings: tuple[Setting, ...] | None = None
    row_targets: BoolArray | None = None
    absent: Absent | None = None

    def rows_with(self, columns: Iterable[int]) -> int:
        """Rows in which none of some columns is missing.

        Examples
        --------
        >>> absent = Absent(np.array([[False, False], [False, True]]), np.array([30, 70]))
        >>> sample = Sample(100, np.zeros(2), np.eye(2), absent=absent)
        >>> sample.rows_with([0]), sample.rows_with([0, 1])
        (100, 30)
        """
        if self.absent is None:
            return self.n_samples
        whole = ~self.absent.patterns[:, list(columns)].any(axis=1)
        return int(self.absent.counts[whole].sum())

    def where_unset(self, columns: Iterable[int]) -> Sample:
        """The moments of the rows in which none of some columns was set; no rows at all where there are none.

        Examples
        --------
        >>> observed = Setting(frozenset(), 2, np.array([0.0]), np.eye(1))
        >>> was_set = Setting(frozenset([0]), 2, np.array([9.0]), np.eye(1))
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
