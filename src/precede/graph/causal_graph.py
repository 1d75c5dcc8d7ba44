"""CausalGraph: a DAG over named variables, what it says, and how it is looked at."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from precede.arrays import FloatArray
from precede.graph import drawing
from precede.graph.dags import consistent_extension
from precede.graph.formats import GraphFormats
from precede.graph.queries import GraphQueries
from precede.lazy import pandas as pd

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from precede.graph.component import GraphWidget


@dataclass(frozen=True, eq=False)
class CausalGraph(GraphQueries, GraphFormats):
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
    resampled : (n_resamples, n_variables, n_variables) array, optional
        What learning again on resampled rows gave: ``[k, i, j]`` true for i -> j, both ways where that was open; where
        causes may be hidden, the marks. The interval of an effect counts these graphs.

    Examples
    --------
    >>> graph = CausalGraph.from_matrix([[0, 1], [0, 0]], names=["rain", "wet"])
    >>> graph
    CausalGraph(2 variables, 1 edge: rain -> wet)
    >>> graph.order
    ('rain', 'wet')
    """

    @cached_property
    def alternatives(self) -> list[CausalGraph]:
        """The graph of each resample, where there is one without cycles, with the directions that it left open."""
        patterns = () if self.resampled is None else self.resampled
        if self.pag is not None:
            return [replace(self, pag=replace(self.pag, ends=ends)) for ends in patterns]
        members = [(consistent_extension(pattern, self.positions), pattern) for pattern in patterns]
        return [
            replace(CausalGraph.from_matrix(edges, names=self.names), open_directions=edges & pattern.T, lags=self.lags)
            for edges, pattern in members
            if edges is not None
        ]

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

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the graph with matplotlib: causes to the left, wider lines are stronger, negative ones in another color.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure when left out.
        """
        return drawing.to_axes(self, ax)

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
        return drawing.to_svg(self)

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
