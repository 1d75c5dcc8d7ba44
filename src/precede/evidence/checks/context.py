"""What was learned and how: the record that every check reads, and every variable regressed on its parents."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.data.copies import monotone_copies
from precede.data.load import Table
from precede.data.table import evenly_spaced
from precede.evidence.checks.record import Source
from precede.graph import CausalGraph
from precede.graph.dags import class_of, parted_by
from precede.knowledge import Constraints
from precede.lazy import linalg, special
from precede.pruning.gam import basis_size, spline_basis
from precede.pruning.weights import THRESHOLD
from precede.scores.assumptions import Assumptions, MechanismKind
from precede.scores.covariance import covariance, regularized
from precede.search.record import SearchRecord

MOST_ROWS = 5000
"""Checks look at this many rows at most, evenly spaced: more rows would only make tiny departures significant."""

FAR_OUT = 8.0
"""A value this many standard deviations from its column's mean is far out."""

CURVE_BASIS = 6
"""Basis functions of a curve, the constant included."""


@dataclass(frozen=True)
class ParentRegressions:
    """Every variable regressed on its parents.

    Parameters
    ----------
    rows : (n_rows,) int array
        The rows of the data that were used.
    residuals : (n_rows, n_variables) float array
        Centered; of a variable without parents, the variable itself. In rows where a variable was set it has none, and
        those of other rows stand in, evenly spread.
    effects : dict
        ``effects[i, j]``: the contribution of i to j, (n_rows,), centered.
    p_values : (n_variables, n_variables) float array
        Of the partial F test of each edge, NaN where there is none.
    partial_r2 : (n_variables, n_variables) float array
        Share of what the other parents leave of j that i explains, NaN where there is no edge.
    spread : (n_variables,) float array
        Standard deviation of each variable, where it was not set.
    """

    rows: IntArray
    residuals: FloatArray
    effects: dict[tuple[int, int], FloatArray]
    p_values: FloatArray
    partial_r2: FloatArray
    spread: FloatArray

    def strength(self, cause: int, effect: int) -> float:
        """Standard deviation of the cause's contribution over that of the variable: comparable between edges."""
        return float(self.effects[cause, effect].std() / self.spread[effect])


def regress_on_parents(
    values: FloatArray, edges: BoolArray, kind: MechanismKind = "linear", targets: BoolArray | None = None
) -> ParentRegressions:
    r"""Fit :math:`x_j = \alpha_j + \sum_{i \to j} f_{ij}(x_i) + \varepsilon_j` by least squares.

    Parameters
    ----------
    values : (n_samples, n_variables) float array
    edges : (n_variables, n_variables) bool array
        ``edges[i, j]`` means i -> j.
    kind : "linear" or "additive"
        Whether :math:`f_{ij}` is a straight line or a regression spline.
    targets : (n_samples, n_variables) bool array, optional
        True where a variable was set: a variable is regressed over the rows in which it was not.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=500)
    >>> data = np.column_stack([x, 2 * x + 1e-6 * np.random.default_rng(1).normal(size=500)])
    >>> fit = regress_on_parents(data, np.array([[0, 1], [0, 0]], dtype=bool))
    >>> bool(np.allclose(fit.effects[0, 1], 2 * (x - x.mean()), atol=1e-4))
    True
    """
    rows = rows_to_look_at(values)
    sample, spread = standard_columns(values[rows])
    m, d = sample.shape
    free = np.ones((m, d), dtype=bool) if targets is None else ~targets[rows]
    residuals, p_values, partial = sample.copy(), np.full((d, d), np.nan), np.full((d, d), np.nan)
    effects: dict[tuple[int, int], FloatArray] = {}
    bases: dict[tuple[int, int], FloatArray] = {}
    for j in range(d):
        parents, own = [int(i) for i in np.flatnonzero(edges[:, j])], free[:, j]
        n_own = int(own.sum())
        if len(parents) == 0 or n_own < len(parents) + 3:
            effects |= {(i, j): np.zeros(m) for i in parents}
            _stand_in(residuals[:, j], own)
            continue
        size = basis_of(kind, n_own, len(parents))
        bases |= {(i, size): spline_basis(sample[:, i], size).columns for i in parents if (i, size) not in bases}
        blocks = [bases[i, size] for i in parents]
        if n_own < m:  # centered where the regression is
            blocks = [block - block[own].mean(axis=0) for block in blocks]
            residuals[:, j] -= residuals[own, j].mean()
        family, p_values[parents, j], partial[parents, j] = regress_blocks([b[own] for b in blocks], residuals[own, j])
        parts = [block @ part for block, part in zip(blocks, family, strict=True)]
        effects |= {(i, j): part * spread[j] for i, part in zip(parents, parts, strict=True)}
        residuals[:, j] -= np.sum(parts, axis=0)
        _stand_in(residuals[:, j], own)
    own_spread = np.array([sample[free[:, j], j].std() or 1.0 for j in range(d)]) if targets is not None else 1.0
    return ParentRegressions(rows, residuals * spread, effects, p_values, partial, spread * own_spread)


def _stand_in(residuals: FloatArray, own: BoolArray) -> None:
    """Give rows in which a variable was set the residuals of others, so that their shape and spread stay."""
    n_set = int((~own).sum())
    if n_set and own.any():
        residuals[own] -= residuals[own].mean()
        residuals[~own] = residuals[own][np.arange(n_set) * int(own.sum()) // n_set % int(own.sum())]


def standard_columns(sample: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Columns of mean zero and variance one, and their standard deviations: units do not matter to a regression."""
    centered = sample - sample.mean(axis=0)
    largest = np.abs(centered).max(axis=0)
    largest[largest == 0] = 1.0
    centered /= largest  # first to size one, for squares of tiny numbers are zero
    spread = centered.std(axis=0)
    spread[spread == 0] = 1.0
    return centered / spread, spread * largest


def basis_of(kind: MechanismKind, n_rows: int, n_parents: int) -> int:
    """Basis functions of each parent's effect, the constant included."""
    return 2 if kind != "additive" else min(CURVE_BASIS, basis_size(n_rows, n_parents))


def rows_to_look_at(values: FloatArray) -> IntArray:
    """All rows of a small table; of a large one some evenly spaced, and every one with a value far out."""
    if len(values) <= MOST_ROWS:
        return np.arange(len(values))
    far, _, _ = far_out(values)
    return np.union1d(evenly_spaced(len(values), MOST_ROWS), np.unique(far)[:MOST_ROWS])


def far_out(values: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Rows and columns of the values far out, row by row, and how many standard deviations; column by column."""
    found = []
    for k, column in enumerate(values.T):  # one at a time: a large table leaves no room for a copy
        distance = np.abs(standard_columns(column[:, None])[0][:, 0])
        rows = np.flatnonzero(distance > FAR_OUT)
        found.append((rows, np.full(len(rows), k), distance[rows]))
    rows, columns, distances = map(np.concatenate, zip(*found, strict=True))
    row_by_row = np.argsort(rows, kind="stable")
    return rows[row_by_row], columns[row_by_row], distances[row_by_row]


def regress_blocks(blocks: list[FloatArray], target: FloatArray) -> tuple[list[FloatArray], FloatArray, FloatArray]:
    """Regress on blocks of columns of variance one: of each block its coefficients, its p-value and its partial R²."""
    design = np.hstack(blocks)
    m, width = design.shape
    gram = design.T @ design
    gram[np.diag_indices(width)] += 1e-9 * m  # columns have variance one; curves of collinear parents may coincide
    factor = linalg.cho_factor(gram)
    coefficients = linalg.cho_solve(factor, design.T @ target)
    inverse = linalg.cho_solve(factor, np.eye(width))
    left = max(m - width - 1, 1)
    rest = max(float(((target - design @ coefficients) ** 2).sum()), 1e-300)
    ends = np.cumsum([block.shape[1] for block in blocks])
    spans = [slice(end - block.shape[1], end) for end, block in zip(ends, blocks, strict=True)]
    p_values, partial = np.ones(len(blocks)), np.zeros(len(blocks))  # a block without columns explains nothing
    for k, span in enumerate(spans):
        if len(b := coefficients[span]):
            explained = float(b @ np.linalg.solve(inverse[span, span], b))
            p_values[k] = special.fdtrc(len(b), left, explained / len(b) / (rest / left))
            partial[k] = explained / (explained + rest)
    return [coefficients[span] for span in spans], p_values, partial


@dataclass(frozen=True, eq=False)
class CheckContext:
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
    def n_variables(self) -> int:
        return self.table.n_variables

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
    def alike(self) -> BoolArray:
        """Edges between columns of which one is a monotone copy of the other, which nothing known directs."""
        return np.asarray(self.edges & monotone_copies(self.table) & ~self.told)

    @property
    def open_directions(self) -> BoolArray | None:
        """Edges that may point either way, where a class was learned or classes of models voted; None elsewhere."""
        loose, place = np.zeros_like(self.edges), self.graph.position
        if self.score == "vote":
            for i, j, source in self.reported["direction_sources"]:
                loose[place(i), place(j)] = source == "open"
            loose &= ~self.told
        elif self.assumptions.hidden_causes:
            return None
        elif self.identifies == "cpdag":
            known = self.told.copy()
            for i, j in self.reported.get("told_directions", ()):
                known[place(i), place(j)] = True
            loose = self.edges & (class_of(self.edges, known).T != 0)  # transposed: the other way as well
        elif not self.alike.any():
            return None
        return loose | self.alike

    def variable_names(self, variables: IntArray) -> list[str]:
        """Names of columns, as text."""
        return [str(self.names[int(j)]) for j in variables]

    def edge_names(self, edges: BoolArray | Sequence[tuple[int, int]]) -> list[str]:
        """``cause -> effect`` for each pair of columns, or each place of a matrix that is true."""
        pairs = np.argwhere(edges) if isinstance(edges, np.ndarray) else edges
        return [f"{self.names[i]} -> {self.names[j]}" for i, j in pairs]
