"""What was learned and how: the record that every check reads."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.data.load import Table
from precede.evidence.checks.parent_regressions import ParentRegressions, regress_on_parents
from precede.evidence.checks.record import Source
from precede.graph import CausalGraph, MixedGraph
from precede.graph.equivalence import class_of, parted_by
from precede.knowledge import Constraints
from precede.pruning.weights import THRESHOLD
from precede.scores.assumptions import Assumptions
from precede.scores.covariance import covariance, regularized
from precede.search.record import SearchRecord


@dataclass(frozen=True, eq=False)
class Learned:
    """A learned graph, the data, and what the method took for granted.

    Parameters
    ----------
    table : Table
    edges : (n_variables, n_variables) bool array
        ``edges[i, j]`` means i -> j.
    order : (n_variables,) int array
        Causes first.
    weights : (n_variables, n_variables) float array, optional
        Of the edges, as the method reports them.
    score : str or None
        The score by name; None for a method without one.
    noise : str
        The score's noise model.
    assumptions : Assumptions
        What the score or the method takes for granted.
    identifies : "dag" or "cpdag"
        What the score can tell apart.
    search : SearchRecord, optional
        How the search went; None for a method without a score.
    pruning, threshold, cutoff
        How the edges were chosen.
    constraints : Constraints, optional
        Background knowledge that was obeyed.
    seed : int
        Of the resampling.
    max_time : float, optional
        Seconds that the fit was given.
    reported : mapping
        All that the method says of itself, ``search`` among it.
    """

    table: Table
    edges: BoolArray
    order: IntArray
    weights: FloatArray | None = None
    score: str | None = None
    noise: str = "auto"
    assumptions: Assumptions = field(default_factory=Assumptions)
    identifies: str = "dag"
    search: SearchRecord | None = None
    pruning: str = "auto"
    threshold: float = THRESHOLD
    cutoff: float = 0.001
    constraints: Constraints | None = None
    seed: int = 0
    max_time: float | None = None
    reported: Mapping[str, Any] = field(default_factory=dict)

    @property
    def values(self) -> FloatArray:
        return self.table.values

    @property
    def names(self) -> Sequence[Hashable]:
        return self.table.names

    @property
    def n_samples(self) -> int:
        return self.table.n_samples

    @property
    def n_variables(self) -> int:
        return self.table.n_variables

    @property
    def n_edges(self) -> int:
        return int(self.edges.sum())

    @property
    def levels(self) -> bool:
        """Whether columns of few values are modeled as what they are, not as numbers on a line."""
        return self.assumptions.mechanism == "levels"

    @cached_property
    def linear_fit(self) -> ParentRegressions:
        """Every variable regressed linearly on its parents, over the rows in which it was not set."""
        return regress_on_parents(self.values, self.edges, "linear", self.table.targets)

    @cached_property
    def additive_fit(self) -> ParentRegressions:
        """Every variable regressed on its parents by a sum of curves."""
        return regress_on_parents(self.values, self.edges, "additive", self.table.targets)

    @property
    def fit(self) -> ParentRegressions:
        """Every variable regressed on its parents in the way that the method assumes."""
        return self.additive_fit if self.assumptions.mechanism == "additive" else self.linear_fit

    @cached_property
    def correlation(self) -> FloatArray:
        """Correlations over all rows, made regular where they are singular."""
        matrix = covariance(self.values)
        scale = np.sqrt(np.diag(matrix))
        return regularized(matrix / np.outer(scale, scale))

    @cached_property
    def covariance(self) -> FloatArray:
        """Covariances over all rows, made regular where they are singular."""
        return regularized(covariance(self.values))

    @cached_property
    def graph(self) -> CausalGraph:
        """The graph, which knows the columns of the past."""
        graph = CausalGraph.from_matrix(self.edges, order=self.order, names=self.names)
        return replace(graph, lags=self.table.steps)

    @property
    def caused(self) -> IntArray:
        """Columns whose causes are learned: all but those of earlier steps, whose residuals are no noise."""
        past = self.graph.past
        return np.arange(self.n_variables) if past is None else np.flatnonzero(~past)

    @cached_property
    def fixed(self) -> dict[Source, BoolArray]:
        """Edges whose direction is fixed whatever the data say, by what fixes it."""
        none = np.zeros_like(self.edges)
        lag = np.array(self.table.steps or [0] * self.n_variables)
        time = self.edges & (lag[:, None] > lag[None, :])
        known = none if self.constraints is None else self.constraints.directs(self.edges)
        targets = self.table.targets
        return {
            "time": time,
            "knowledge": known & ~time,
            "experiment": none if targets is None else parted_by(self.edges, targets),
        }

    @property
    def told(self) -> BoolArray:
        """Edges whose direction time, knowledge or an experiment fixes."""
        return np.asarray(np.any(list(self.fixed.values()), axis=0))

    @cached_property
    def pattern(self) -> IntArray:
        """Equivalence class of the graph, with what is told and what follows from it."""
        if self.assumptions.hidden_causes:
            return MixedGraph.from_edges(map(tuple, self.reported["marks"]), self.names).pattern
        return class_of(self.edges, self.told)

    def variable_names(self, variables: IntArray) -> list[str]:
        """Names of columns, as text."""
        return [str(self.names[int(j)]) for j in variables]

    def edge_names(self, edges: Sequence[tuple[int, int]]) -> list[str]:
        """``cause -> effect`` for each pair of columns."""
        return [f"{self.names[i]} -> {self.names[j]}" for i, j in edges]
