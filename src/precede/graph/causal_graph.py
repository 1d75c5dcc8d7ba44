"""CausalGraph, and the conventions that every other file keeps.

- ``adjacency[i, j]`` means i -> j (row causes column); ``weights`` has the same orientation.
- An order lists causes first.
- A higher score is better.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.errors import GraphError, renamed
from precede.files import write_text
from precede.graph import dot, drawing, formats, peers
from precede.graph.dags import full_dag, topological_order
from precede.graph.mixed_graph import MixedGraph
from precede.graph.queries import GraphQueries
from precede.graph.sample import Sample
from precede.lazy import pandas as pd

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.axes import Axes

    from precede.graph.component import GraphWidget


@dataclass(frozen=True, eq=False)
class CausalGraph(GraphQueries):
    """A directed acyclic graph over named variables, with weights and a causal order.

    Build it with :meth:`from_matrix`; the constructor takes checked parts as they are.

    Parameters
    ----------
    edges : (n_variables, n_variables) bool array
        ``edges[i, j]`` means i -> j.
    strengths : (n_variables, n_variables) float array
        Zero where there is no edge.
    positions : (n_variables,) int array
        A causal order as column positions, causes first.
    names : tuple
        Variable names, in column order.
    sample : Sample, optional
        What is kept of the data that the graph was learned from, so that :meth:`effect` can answer with numbers; it is
        no part of the graph when two are compared or saved.
    lags : tuple of int, optional
        How many rows before now each column is, for time series; edges among lagged columns are not estimated.
    fixed_directions : (n_variables, n_variables) bool array, optional
        Edges whose direction interventions, time or background knowledge fix, whatever the data say.
    open_directions : (n_variables, n_variables) bool array, optional
        For a graph that was learned as a member of a class, edges that may point either way; None where the directions
        are taken as they are.
    standardized : (n_variables, n_variables) float array, optional
        What each cause contributes to the spread of its effect, in standard deviations of the effect, negative where
        the effect falls as the cause rises: the strength that every picture and report shows. NaN for categories.
    pag : MixedGraph, optional
        What is known where causes may be hidden; the edges are then those of one graph that agrees with it.

    Examples
    --------
    >>> graph = CausalGraph.from_matrix([[0, 1], [0, 0]], names=["rain", "wet"])
    >>> graph
    CausalGraph(2 variables, 1 edge: rain -> wet)
    >>> graph.order
    ('rain', 'wet')
    """

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

    @classmethod
    def from_matrix(
        cls,
        adjacency: Any,
        weights: Any = None,
        order: Sequence[Hashable] | npt.ArrayLike | None = None,
        names: Sequence[Hashable] | None = None,
    ) -> CausalGraph:
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
    def steps(self) -> tuple[int, ...] | None:
        """The old name of ``lags``."""
        renamed("CausalGraph.steps", "lags")
        return self.lags

    @property
    def told(self) -> BoolArray | None:
        """The old name of ``fixed_directions``."""
        renamed("CausalGraph.told", "fixed_directions")
        return self.fixed_directions

    @property
    def n_variables(self) -> int:
        return len(self.names)

    @property
    def n_edges(self) -> int:
        return int(self.edges.sum())

    @cached_property
    def adjacency(self) -> pd.DataFrame:
        """Labeled 0/1 matrix; ``[i, j] = 1`` means i -> j."""
        return pd.DataFrame(self.edges.astype(int), index=self.names, columns=self.names)

    @cached_property
    def weights(self) -> pd.DataFrame:
        """Labeled strengths, in the orientation of :attr:`adjacency`."""
        return pd.DataFrame(self.strengths, index=self.names, columns=self.names)

    @property
    def order(self) -> tuple[Hashable, ...]:
        """Names in causal order, causes first."""
        return tuple(self.names[i] for i in self.positions)

    def edge_list(self) -> list[tuple[Hashable, Hashable, float]]:
        """``(cause, effect, weight)`` of every edge, in causal order of the cause."""
        return [
            (self.names[i], self.names[j], float(self.strengths[i, j]))
            for i in self.positions
            for j in np.flatnonzero(self.edges[i])
        ]

    def to_networkx(self) -> nx.DiGraph[Hashable]:
        """A networkx ``DiGraph`` with a ``weight`` on every edge."""
        return formats.to_networkx(self._parts())

    @classmethod
    def from_networkx(cls, graph: Any) -> CausalGraph:
        """From a networkx ``DiGraph``; an edge without ``weight`` counts 1."""
        return cls._from_parts(formats.from_networkx(graph))

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """JSON with names, order and weighted edges; also written to ``path``.

        Examples
        --------
        >>> graph = CausalGraph.from_matrix([[0, 1], [0, 0]], names=["rain", "wet"])
        >>> CausalGraph.from_json(graph.to_json()) == graph
        True
        """
        return _delivered(formats.to_json(self._parts()), path)

    @classmethod
    def from_json(cls, source: str | os.PathLike[str]) -> CausalGraph:
        """From the text or the file that :meth:`to_json` wrote."""
        return cls._from_parts(formats.from_json(formats.text_of(source, "{")))

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """Labeled matrix of weights, causes in rows; also written to ``path``."""
        return _delivered(formats.to_csv(self._parts()), path)

    @classmethod
    def from_csv(cls, source: str | os.PathLike[str]) -> CausalGraph:
        """From the text or file of a square matrix, causes in rows, with or without names."""
        return cls._from_parts(formats.from_csv(formats.text_of(source, "\n")))

    def to_gml(self, path: str | os.PathLike[str] | None = None) -> str:
        """GML, for networkx, igraph, Gephi; also written to ``path``."""
        return _delivered(formats.to_gml(self._parts()), path)

    @classmethod
    def from_gml(cls, source: str | os.PathLike[str]) -> CausalGraph:
        """From GML text or a GML file."""
        return cls._from_parts(formats.from_gml(formats.text_of(source, "[")))

    def to_dot(self, path: str | os.PathLike[str] | None = None) -> str:
        """DOT, for Graphviz; also written to ``path``.

        Examples
        --------
        >>> print(CausalGraph.from_matrix([[0, 0.5], [0, 0]], names=["rain", "wet"]).to_dot())
        digraph {
          "rain";
          "wet";
          "rain" -> "wet" [strength="0.5", label="0.5"];
        }
        """
        return _delivered(dot.to_dot(self._parts()), path)

    @classmethod
    def from_dot(cls, source: str | os.PathLike[str]) -> CausalGraph:
        """From the text or file of a plain DOT digraph."""
        return cls._from_parts(dot.from_dot(formats.text_of(source, "{")))

    def to_dowhy(self) -> nx.DiGraph[Hashable]:
        """What ``dowhy.CausalModel(graph=...)`` and ``dowhy.gcm`` take."""
        return peers.to_dowhy(self._parts())

    @classmethod
    def from_dowhy(cls, source: Any) -> CausalGraph:
        """From a DoWhy model, its graph, or a GML string; unobserved nodes are left out."""
        return cls._from_parts(peers.from_dowhy(source))

    def to_causallearn(self) -> Any:
        """A causal-learn ``Dag`` (no weights); needs the package causal-learn."""
        return peers.to_causallearn(self._parts())

    @classmethod
    def from_causallearn(cls, source: Any) -> CausalGraph:
        """From a causal-learn graph whose edges are all directed."""
        return cls._from_parts(peers.from_causallearn(source))

    def to_lingam(self) -> FloatArray:
        """lingam's weight matrix: [i, j] is the effect of j on i, the transpose of :attr:`weights`."""
        return peers.to_lingam(self._parts())

    @classmethod
    def from_lingam(cls, source: Any, names: Sequence[Hashable] | None = None) -> CausalGraph:
        """From a fitted lingam model or its ``adjacency_matrix_``."""
        return cls._from_parts(peers.from_lingam(source, names))

    def to_gcastle(self) -> IntArray:
        """gcastle's ``causal_matrix``: 0/1 integers, causes in rows."""
        return peers.to_gcastle(self._parts())

    @classmethod
    def from_gcastle(cls, source: Any, names: Sequence[Hashable] | None = None) -> CausalGraph:
        """From a fitted gcastle learner or its ``causal_matrix``."""
        return cls._from_parts(peers.from_gcastle(source, names))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the graph with matplotlib: causes to the left, wider lines are stronger, negative ones in another color.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure when left out.
        """
        return drawing.to_axes(self._parts(), self.positions, self.shown_strengths, ax)

    @property
    def shown_strengths(self) -> FloatArray:
        """Strengths as pictures show them: standardized; weights where there are no data; else NaN, not known."""
        if self.standardized is not None:
            return self.standardized
        return self.strengths if self.sample is None else np.where(self.edges, np.nan, 0.0)

    @property
    def shared_causes(self) -> list[tuple[int, int]]:
        """Columns that share an unmeasured cause, where hidden causes were allowed for: a <-> b in the PAG."""
        marks = [] if self.pag is None else self.pag.edge_list()
        return [(self.position(first), self.position(second)) for first, second, mark in marks if mark == "<->"]

    def view(
        self,
        probability: FloatArray | pd.DataFrame | None = None,
        title: str = "Causal graph",
        height: int = 520,
    ) -> GraphWidget:
        """The graph to look at in a notebook: zoom, find a variable, follow its causes and effects, save a picture.

        Parameters
        ----------
        probability : (n_variables, n_variables) array or DataFrame, optional
            Of each edge, as ``model.bootstrap(...).edge_probability`` has it: less sure edges are fainter, those below
            one half dashed.
        title : str
            Of the pictures that are saved.
        height : int
            In pixels.

        Returns
        -------
        widget : GraphWidget
            Shows itself in a notebook; ``widget.save("graph.html")`` writes a page that opens anywhere, offline.

        Examples
        --------
        >>> CausalGraph.from_matrix([[0, 0.5], [0, 0]], names=["rain", "wet"]).view()._repr_html_()[:7]
        '<iframe'
        """
        from precede.graph.component import payload, widget  # reads half a megabyte of script

        if isinstance(probability, pd.DataFrame):
            probability = probability.loc[list(self.names), list(self.names)].to_numpy(dtype=float)
        return widget(payload(self, probability, placed=True), title, height)

    def _repr_html_(self) -> str:
        """The picture as inline SVG, for notebooks."""
        return drawing.to_svg(self._parts(), self.positions, self.shown_strengths)

    def _parts(self) -> formats.Parts:
        return formats.Parts(
            self.edges, self.strengths, self.names, self.order, self.lags, self.fixed_directions, self.open_directions
        )

    @classmethod
    def _from_parts(cls, parts: formats.Parts) -> CausalGraph:
        graph = cls.from_matrix(parts.edges, parts.strengths, parts.order, parts.names)
        return replace(
            graph, lags=parts.lags, fixed_directions=parts.fixed_directions, open_directions=parts.open_directions
        )

    def __eq__(self, other: object) -> bool:
        """Same names, edges and weights; the order is a witness, not part of the graph."""
        return (
            isinstance(other, CausalGraph)
            and self.names == other.names
            and np.array_equal(self.edges, other.edges)
            and np.allclose(self.strengths, other.strengths)
        )

    def __hash__(self) -> int:
        return hash((self.names, self.edges.tobytes()))

    def __repr__(self) -> str:
        by_column = np.argwhere(self.edges)[:4]  # not by strength, which two machines may round differently
        shown = ", ".join(f"{self.names[i]} -> {self.names[j]}" for i, j in by_column)
        more = ", ..." if self.n_edges > 4 else ""
        plural = "" if self.n_edges == 1 else "s"
        listing = f": {shown}{more}" if shown else ""
        return f"CausalGraph({self.n_variables} variables, {self.n_edges} edge{plural}{listing})"


def _delivered(text: str, path: str | os.PathLike[str] | None) -> str:
    if path is not None:
        write_text(path, text)
    return text


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
