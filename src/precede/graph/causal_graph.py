"""CausalGraph: a DAG over named variables, the questions that it answers, and how it is looked at."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.errors import OptionError
from precede.graph import adjustment as adjusting
from precede.graph import drawing
from precede.graph.dags import ancestors, class_of, consistent_extension
from precede.graph.formats import GraphFormats
from precede.lazy import pandas as pd

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from precede.effects import Effect, EffectCurve, Explanation, NextSteps, PossibleEffects, WhatIf
    from precede.evidence.confidence import Confidence
    from precede.graph.component import GraphWidget


@dataclass(frozen=True, eq=False)
class CausalGraph(GraphFormats):
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

    @property
    def pattern(self) -> IntArray:
        """The graph's class: 1 at both ``[i, j]`` and ``[j, i]`` where the edge could point either way.

        What interventions, time and background knowledge tell about directions counts, and where the graph was learned
        as a member of a class, what the model told. With hidden causes an edge has one direction where it is sure to be
        a cause.
        """
        if self.pag is not None:
            return self.pag.pattern
        if self.open_directions is not None:
            return (self.edges | self.open_directions.T).astype(np.int64)  # transposed: the other way as well
        fixed = np.zeros_like(self.edges) if self.fixed_directions is None else self.fixed_directions
        if self.lags is not None:
            lag = np.array(self.lags)
            fixed = fixed | (self.edges & (lag[:, None] > lag[None, :]))
        return class_of(self.edges, fixed)

    def parents(self, name: Hashable) -> tuple[Hashable, ...]:
        """Direct causes of a variable.

        Examples
        --------
        >>> chain = CausalGraph.from_matrix([[0, 1, 0], [0, 0, 1], [0, 0, 0]], names=["rain", "wet", "slip"])
        >>> chain.parents("slip"), chain.ancestors("slip")
        (('wet',), ('rain', 'wet'))
        """
        return self._named(self.edges[:, self.position(name)])

    def children(self, name: Hashable) -> tuple[Hashable, ...]:
        """Direct effects of a variable."""
        return self._named(self.edges[self.position(name)])

    def ancestors(self, name: Hashable) -> tuple[Hashable, ...]:
        """All that a directed path leads from to the variable."""
        return self._named(ancestors(self.edges)[:, self.position(name)])

    def descendants(self, name: Hashable) -> tuple[Hashable, ...]:
        """All that a directed path leads to from the variable."""
        return self._named(ancestors(self.edges)[self.position(name)])

    def adjustment_sets(self, cause: Hashable, effect: Hashable, most: int = 20) -> list[tuple[Hashable, ...]]:
        """Sets to adjust for, so that a regression gives the total effect; each without anything superfluous.

        What caused the past is not learned, so columns of earlier steps count as joined with each other: the effect of
        one is that with the rest of the past held fixed.

        Parameters
        ----------
        cause, effect : name
        most : int
            How many to look for.

        Returns
        -------
        sets : list of tuples
            Small ones first; empty where no directed path leads from cause to effect.

        Examples
        --------
        >>> graph = CausalGraph.from_matrix([[0, 1, 1], [0, 0, 1], [0, 0, 0]], names=["age", "dose", "pain"])
        >>> graph.adjustment_sets("dose", "pain")
        [('age',)]
        """
        found = adjusting.minimal_adjustments(self.edges, self.position(cause), self.position(effect), self.past)
        sets = [tuple(self.names[k] for k in chosen) for chosen in islice(found, most)]
        return sorted(sets, key=len)

    def is_adjustment_set(self, cause: Hashable, effect: Hashable, chosen: Sequence[Hashable]) -> bool:
        """Whether adjusting for the chosen variables gives the total effect (the generalized back-door criterion)."""
        columns = [self.position(name) for name in chosen]
        places = self.position(cause), self.position(effect)
        return adjusting.is_adjustment_set(self.edges, *places, columns, self.past)

    def effect(
        self,
        cause: Hashable,
        effect: Hashable,
        data: Any = None,
        kind: Literal["total", "direct"] = "total",
        adjustment: Literal["optimal", "minimal", "parents"] | Sequence[Hashable] = "optimal",
        confidence: Confidence | None = None,
        level: float = 0.95,
        compared: tuple[Any, Any] | None = None,
        outcome_level: Hashable = None,
        together: Sequence[Hashable] = (),
    ) -> Effect:
        """How much raising one variable by 1 changes another, in a linear model with this graph.

        Where the graph was learned as one of a class, and directions that are open matter to the effect, ``range`` has
        the smallest and the largest, and the interval holds all of them; with ``together`` or a set of names as the
        adjustment, the directions are taken as they are drawn.

        Categories, also among what is held fixed, are columns of 0 and 1. A 0/1 outcome makes the effect a difference
        of risks, with their ratio.

        Parameters
        ----------
        cause, effect : name
        data : as for ``fit``, optional
            What the graph was learned from when left out.
        kind : "total" or "direct"
            Along all directed paths, or along the edge alone.
        adjustment : "optimal", "minimal", "parents", or names
            What a total effect is adjusted for: the set of smallest variance, a smallest set, the causes of the cause,
            or the variables named.
        confidence : Confidence, optional
            Of ``model.bootstrap``: the interval then includes the doubt about the graph, and the answer says in what
            share of the resampled graphs there is an effect. The adjustment must then be one of the three names.
        level : float
            Of the interval.
        compared : (state, state), optional
            Levels of the cause, or two values of a number: the second instead of the first. A category needs it.
        outcome_level : optional
            The level of the effect whose probability is asked for, where it is a category.
        together : names
            Variables that are set at the same time: the effect is that of the cause past them.

        Examples
        --------
        >>> graph = CausalGraph.from_matrix([[0, 1], [0, 0]], names=["rain", "wet"])
        >>> rain = np.arange(50.0)
        >>> round(graph.effect("rain", "wet", np.column_stack([rain, 2 * rain + np.sin(rain)])).value, 2)
        2.0
        """
        from precede.effects import Question, effect_of  # points up: see .importlinter

        asked = Question(self, cause, effect, data, kind, adjustment, level, compared, outcome_level)
        return effect_of(asked, confidence, together)

    def effect_curve(self, cause: Hashable, effect: Hashable, data: Any = None, level: float = 0.95) -> EffectCurve:
        """The total effect of a number as a curve, with a band at the given level.

        Examples
        --------
        >>> graph = CausalGraph.from_matrix([[0, 1], [0, 0]], names=["dose", "pain"])
        >>> dose = np.linspace(-1, 1, 201)
        >>> graph.effect_curve("dose", "pain", np.column_stack([dose, dose**2])).table.round(2).iloc[20].tolist()
        [0.0, -0.33, -0.33, -0.33]
        """
        from precede.effects import effect_curve  # as in effect

        return effect_curve(self, cause, effect, data, level)

    def possible_effects(
        self,
        cause: Hashable,
        effect: Hashable,
        data: Any = None,
        level: float = 0.95,
        compared: tuple[Any, Any] | None = None,
        outcome_level: Hashable = None,
    ) -> PossibleEffects:
        """The total effects in all graphs that are equivalent to this one (IDA): in its class, ``pattern``.

        For a method that identifies only the equivalence class (``diagnostics_["identifies"] == "cpdag"``) this is all
        that the data tell.

        Parameters
        ----------
        cause, effect : name
        data : as for ``fit``, optional
        level : float
        compared, outcome_level
            As for :meth:`effect`.
        """
        from precede.effects import Question, possible_effects  # as in effect

        asked = Question(self, cause, effect, data, "total", "optimal", level, compared, outcome_level)
        return possible_effects(asked)

    def do(
        self,
        settings: Mapping[Hashable, float | str | Callable[[FloatArray], FloatArray]],
        data: Any = None,
        mechanism: Literal["additive", "linear"] = "additive",
        row: int | None = None,
    ) -> WhatIf:
        """The rows of the data as they would have been, had some variables been set.

        Parameters
        ----------
        settings : dict of name to number, level or function
            ``{"dose": 1.0}`` sets every row to 1; ``{"dose": lambda dose: dose + 1}`` raises each by 1; ``{"site":
            "north"}`` sets a category to one of its levels.
        data : as for ``fit``, optional
        mechanism : "additive" or "linear"
            Each variable is fitted on its causes with smooth curves, or with straight lines.
        row : int, optional
            Place of the one row to show, from 0.
        """
        from precede.effects import what_if  # as in effect

        return what_if(self, settings, data, mechanism, row)

    def explain(
        self,
        outcome: Hashable,
        data: Any,
        row: int | None = None,
        before: Sequence[int] | None = None,
        after: Sequence[int] | None = None,
    ) -> Explanation:
        """Root causes: what makes the outcome of a row unusual, or what changed it from some rows to others.

        Each contribution is in units of the outcome, along the graph, in a linear model.

        Parameters
        ----------
        outcome : name
        data : as for ``fit``
        row : int, optional
            Place of the row in the data, from 0.
        before, after : sequences of int, optional
            Places of the rows to compare, in place of ``row``.

        Examples
        --------
        >>> graph = CausalGraph.from_matrix([[0, 1], [0, 0]], names=["load", "heat"])
        >>> load = np.array([1.0, 2.0, 3.0, 9.0])
        >>> found = graph.explain("heat", np.column_stack([load, load + [0.1, 0.0, -0.1, 0.0]]), row=3)
        >>> found.contributions[0].variable
        'load'
        """
        from precede.effects import explain_change, explain_row  # as in effect

        if row is not None and before is None and after is None:
            return explain_row(self, outcome, row, data)
        if row is None and before is not None and after is not None:
            return explain_change(self, outcome, np.asarray(before), np.asarray(after), data)
        raise OptionError("say what to explain: row=..., or both before=... and after=...")

    def next_steps(self) -> NextSteps:
        """Experiments and facts that would settle the most open directions, the most useful first.

        Examples
        --------
        >>> chain = CausalGraph.from_matrix([[0, 1, 0], [0, 0, 1], [0, 0, 0]], names=["rain", "wet", "slip"])
        >>> chain.next_steps().experiments[0].variable
        'wet'
        """
        from precede.effects import next_steps  # as in effect

        return next_steps(self)

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
        return widget(
            payload(self, probability, placed=True), title, height, () if self.pag is None else self.pag.legend()
        )

    def _named(self, chosen: BoolArray) -> tuple[Hashable, ...]:
        return tuple(self.names[k] for k in np.flatnonzero(chosen))

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
