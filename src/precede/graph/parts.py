"""What a causal graph is made of, checked, what it keeps of its data, and the conventions that every file keeps.

- ``adjacency[i, j]`` means i -> j (row causes column); ``weights`` has the same orientation.
- An order lists causes first.
- A higher score is better.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.errors import GraphError, did_you_mean, listed
from precede.graph.dags import full_dag, topological_order
from precede.kinds import NUMBER, ColumnKind, indicator_blocks, indicator_places
from precede.strict_json import Flags, Matrix, Vector

if TYPE_CHECKING:
    from precede.graph.mixed_graph import MixedGraph


@dataclass(frozen=True, eq=False)
class GraphParts:
    """The fields of a :class:`precede.CausalGraph`, which says what they hold."""

    edges: BoolArray
    strengths: FloatArray
    positions: IntArray
    names: tuple[Hashable, ...]
    sample: Sample | None = None
    lags: tuple[int, ...] | None = None
    fixed_directions: BoolArray | None = None
    open_directions: BoolArray | None = None
    standardized: FloatArray | None = None
    pag: MixedGraph | None = None
    resampled: BoolArray | IntArray | None = None

    @classmethod
    def from_matrix(
        cls,
        adjacency: Any,
        weights: Any = None,
        order: Sequence[Hashable] | npt.ArrayLike | None = None,
        names: Sequence[Hashable] | None = None,
    ) -> Self:
        """Check and label a graph.

        Parameters
        ----------
        adjacency : (n_variables, n_variables) array or DataFrame
            Non-zero at ``[i, j]`` means i -> j.
        weights : same shape, optional
            Edge strengths; the adjacency's own values when left out.
        order : sequence of names or of column positions, optional
            Causes first; computed when left out. An integer array always holds positions.
        names : sequence, optional
            Taken from a DataFrame's columns, else the integers from 0.
        """
        if names is None:
            columns = getattr(adjacency, "columns", None)
            names = range(len(adjacency)) if columns is None else list(columns)
        matrix = np.asarray(adjacency, dtype=float)
        labels = tuple(names)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise GraphError(f"an adjacency matrix is square; this one has shape {matrix.shape}.")
        if len(labels) != len(matrix) or len(set(labels)) != len(labels):
            raise GraphError(f"{len(matrix)} variables need the same number of distinct names: {labels}.")
        if not np.isfinite(matrix).all():
            raise GraphError("the adjacency matrix has missing or infinite entries.")
        edges = matrix != 0
        strengths = matrix if weights is None else np.asarray(weights, dtype=float)
        if strengths.shape != matrix.shape:
            raise GraphError(f"weights of shape {strengths.shape} do not fit {matrix.shape}.")
        return cls(edges, np.where(edges, strengths, 0.0), _positions(edges, order, labels), labels)

    @property
    def n_variables(self) -> int:
        return len(self.names)

    @property
    def n_edges(self) -> int:
        return int(self.edges.sum())

    @property
    def past(self) -> BoolArray | None:
        """Which columns are lagged, for time series."""
        return None if self.lags is None else np.array(self.lags) > 0

    def position(self, name: Hashable) -> int:
        """The column of a variable."""
        return place_of(name, self.names)


def _positions(
    edges: BoolArray, order: Sequence[Hashable] | npt.ArrayLike | None, names: tuple[Hashable, ...]
) -> IntArray:
    """Check an order against the edges, or find one."""
    if order is None:
        return topological_order(edges)
    items: list[Any] = list(order)  # type: ignore[arg-type]
    index = {name: k for k, name in enumerate(names)}
    try:
        by_name = set(items) == set(names) and not (isinstance(order, np.ndarray) and order.dtype.kind in "iu")
        positions = np.array([index[i] for i in items] if by_name else items)
        complete = sorted(positions.tolist()) == list(range(len(names)))
    except (TypeError, ValueError):  # names of a kind that no variable has
        complete = False
    if not complete:
        raise GraphError(f"the order must list each of the {len(names)} variables once.")
    if (edges & ~full_dag(positions)).any():
        i, j = np.argwhere(edges & ~full_dag(positions))[0]
        raise GraphError(f"the order puts {names[j]!r} before its cause {names[i]!r}.")
    return positions.astype(np.int64)


def place_of(name: Hashable, names: tuple[Hashable, ...]) -> int:
    """The column of a variable; "3", as a command line has it, is the column 3."""
    if name in names:
        return names.index(name)
    as_text = [k for k, known in enumerate(names) if str(known) == str(name)]
    if len(as_text) == 1:
        return as_text[0]
    raise GraphError(f"the graph has no variable {name!r};{did_you_mean(name, names)} it has {listed(names, 20)}.")


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
