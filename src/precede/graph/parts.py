"""What a causal graph is made of, checked, and the conventions that every other file keeps.

- ``adjacency[i, j]`` means i -> j (row causes column); ``weights`` has the same orientation.
- An order lists causes first.
- A higher score is better.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.errors import GraphError, did_you_mean, listed
from precede.graph.dags import full_dag, topological_order
from precede.graph.sample import Sample

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
