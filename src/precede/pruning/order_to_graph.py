"""From the order to the graph, as ``CORL(pruning=...)`` names it, and which member of an equivalence class to return.

All members of a class have the same score, so rounding must not choose. What chooses, in this sequence: background
knowledge, how far the residuals are from Gaussian in either direction, the order that a pretrained policy finds most
likely, and the sequence of the columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.data.table import Table
from precede.errors import OptionError
from precede.graph.dags import class_of, consistent_extension, full_dag
from precede.kinds import indicator_places
from precede.knowledge import Constraints
from precede.pruning.gam import prune_by_gam
from precede.pruning.weights import THRESHOLD, prune_by_bic, prune_by_weight, regression_weights
from precede.scores.covariance import covariance, moments_of, regularized
from precede.scores.grow_shrink import GrowShrinkScore
from precede.scores.policy_prior import likely_edges
from precede.scores.protocol import OrderScore
from precede.scores.shape import SMALLEST_EVIDENCE, ResidualShapes, columns_for_shape, follow_shapes
from precede.strict_json import JsonObject

PruningName = Literal["auto", "threshold", "bic", "cam", "cam-f", "policy", "none"]

ALL_UP_TO = 150
"""Variables up to which BIC chooses among all predecessors: that costs the fourth power of their number. With more, the
score's own parent sets are what it chooses from."""


def order_to_graph(
    order: IntArray,
    table: Table,
    score: OrderScore,
    constraints: Constraints,
    *,
    pruning: PruningName = "auto",
    threshold: float = THRESHOLD,
    cutoff: float = 0.001,
    edge_probability: FloatArray | None = None,
) -> BoolArray:
    """Prune the densest graph along an order.

    Parameters
    ----------
    order : (n_variables,) int array
    table : Table
    score : OrderScore
        The one that the order maximizes; it says what "auto" is.
    constraints : Constraints
    pruning : str
        "auto" takes the graph of a score that has one, "bic" for linear scores and "cam" for the others.
    threshold : float
        Smallest absolute weight for "threshold".
    cutoff : float
        Largest p-value for "cam" and "cam-f".
    edge_probability : (n_variables, n_variables) array, optional
        For "policy": what a pretrained policy says of i -> j.

    Returns
    -------
    edges : (n_variables, n_variables) bool array
    """
    linear = score.assumes.linear
    own = score.graph(order) if pruning in ("auto", "none") else None
    if pruning == "auto":
        pruning = "none" if own is not None else "bic" if linear else "cam"
    moments = moments_of(table)
    matrix = regularized(moments.covariance)
    candidates = constraints.apply(full_dag(order))
    if pruning == "bic" and len(order) > ALL_UP_TO and isinstance(score, GrowShrinkScore):
        candidates &= score.parent_sets(order)
    match pruning:
        case "threshold":
            return prune_by_weight(matrix, order, threshold, constraints)
        case "bic":
            return prune_by_bic(matrix, order, moments.n_samples, constraints, candidates=candidates)
        case "cam" | "cam-f":
            test: Literal["wood", "f"] = "wood" if pruning == "cam" else "f"
            return prune_by_gam(table.values, candidates, required=constraints.required, cutoff=cutoff, test=test).edges
        case "policy":
            if edge_probability is None:
                raise OptionError("pruning='policy' needs the edge probabilities of a pretrained policy.")
            return likely_edges(edge_probability, order, constraints)
        case "none":
            return candidates if own is None else own


def weigh(edges: BoolArray, order: IntArray, table: Table, score: OrderScore) -> FloatArray:
    """Weights of the edges of a graph that agrees with an order.

    Those of the linear regression on the parents, what :class:`LevelRegressions` says about columns with levels, or
    strengths of the smooth terms.
    """
    if score.assumes.mechanism == "levels":
        return LevelRegressions(table, edges).weights()
    if score.assumes.linear:
        return regression_weights(regularized(moments_of(table).covariance), order, edges)
    return prune_by_gam(table.values, edges, required=edges, test="f").strengths


SMALLEST = 1e-9
"""Share of the largest eigenvalue below which a direction of the causes counts as none."""


@dataclass(frozen=True)
class LevelEffects:
    """Effects along an edge from or to a category.

    Parameters
    ----------
    cause, effect : str
    cause_levels, effect_levels : tuple of str
        Empty for a column that is not a category.
    effects : list of list of float
        ``effects[k][l]``: for level k of the cause, against its first (one row, per
        unit, for a cause that is not a category), what is added to the effect, or to the probability of its level l.
    """

    cause: str
    effect: str
    cause_levels: tuple[str, ...]
    effect_levels: tuple[str, ...]
    effects: list[list[float]]


class LevelRegressions:
    r"""Each variable's block of columns regressed on those of its parents; categories are indicators.

    With interventions, over the rows in which the variable was not set.

    Parameters
    ----------
    table : Table
    edges : (n_variables, n_variables) bool array

    Examples
    --------
    >>> from precede.kinds import ColumnKind
    >>> color = ColumnKind("categorical", (0.0, 1.0, 2.0), ("blue", "green", "red"))
    >>> values = np.array([[0.0, 1.0], [0.0, 3.0], [1.0, 6.0], [1.0, 8.0], [2.0, 2.0], [2.0, 2.0]])
    >>> table = Table(values, ("color", "size"), True, kinds=(color, ColumnKind("number")))
    >>> LevelRegressions(table, np.array([[False, True], [False, False]])).effects()[0].effects
    [[0.0], [5.0], [0.0]]
    """

    def __init__(self, table: Table, edges: BoolArray) -> None:
        self.table, self.edges = table, edges
        self._places = [np.arange(block.start, block.stop) for block in indicator_places(table.kinds)]
        self._known: dict[bytes, FloatArray] = {}

    def _covariance(self, target: int) -> FloatArray:
        """Of the rows in which a variable was not set."""
        free = None if self.table.targets is None else ~self.table.targets[:, target]
        key = b"" if free is None else free.tobytes()
        if key not in self._known:
            self._known[key] = moments_of(self.table if free is None else self.table.only(free)).covariance
        return self._known[key]

    def _regress(self, parents: Sequence[int], target: int) -> tuple[list[FloatArray], FloatArray]:
        """Coefficients (columns of a parent, columns of the target), and the covariance that is left."""
        matrix, blocks, there = self._covariance(target), [self._places[p] for p in parents], self._places[target]
        here = np.concatenate([np.zeros(0, np.int64), *blocks])
        cross = matrix[np.ix_(here, there)]
        spread = np.sqrt(np.maximum(np.diag(matrix)[here], np.finfo(float).tiny))
        scaled = matrix[np.ix_(here, here)] / np.outer(spread, spread)
        weights = np.linalg.pinv(scaled, rcond=SMALLEST, hermitian=True) @ (cross / spread[:, None]) / spread[:, None]
        parts = np.split(weights, np.cumsum([len(block) for block in blocks])[:-1])
        return parts, matrix[np.ix_(there, there)] - cross.T @ weights

    def _families(self) -> Iterator[tuple[int, list[int], list[FloatArray], FloatArray]]:
        """Each variable with parents, these, and its regression on them."""
        for j in np.flatnonzero(self.edges.any(axis=0)).tolist():
            parents = np.flatnonzero(self.edges[:, j]).tolist()
            yield j, parents, *self._regress(parents, j)

    def weights(self) -> FloatArray:
        r"""One number for each edge, (n_variables, n_variables).

        The coefficient where cause and effect are one column each (numbers, counts, ordinal and 0/1 columns: for a 0/1
        effect the difference in probability). Else the strength :math:`\sqrt{1 - (|S_{j|P}| / |S_{j|P \setminus
        i}|)^{1/b_j}}`, between 0 and 1: for a number the share of its standard deviation, given the other causes,
        that the category explains.
        """
        result = np.zeros(self.edges.shape)
        for j, parents, blocks, left in self._families():
            for i, block in zip(parents, blocks, strict=True):
                without = [k for k in parents if k != i]
                result[i, j] = block[0, 0] if block.size == 1 else _strength(left, self._regress(without, j)[1])
        return result

    def effects(self) -> list[LevelEffects]:
        """Effects by level for every edge from or to a category."""
        names, kinds, found = self.table.names, self.table.kinds, {}
        for j, parents, blocks, _ in self._families():
            for i, block in zip(parents, blocks, strict=True):
                here, there = (kinds[k].labels if kinds[k].name == "categorical" else () for k in (i, j))
                if there:
                    block = np.column_stack([-block.sum(axis=1), block])  # the first level's indicator is left out
                if here:
                    block = np.vstack([np.zeros(block.shape[1]), block])
                if here or there:
                    shown = (np.round(block, 12) + 0.0).tolist()
                    found[i, j] = LevelEffects(str(names[i]), str(names[j]), here, there, shown)
        return [found[edge] for edge in sorted(found)]


def _strength(left: FloatArray, without: FloatArray) -> float:
    """Of a cause, by the covariances that are left with it and without it."""
    values = np.linalg.eigvals(np.linalg.pinv(without, rcond=SMALLEST, hermitian=True) @ left).real
    ratio = np.clip(values, SMALLEST, 1.0).prod() ** (1 / len(values))
    return float(np.sqrt(max(0.0, 1 - ratio)))


Reason = Literal["residuals", "policy", "columns"]


@dataclass(frozen=True)
class Member:
    """A DAG of the class, an order of it, and why the edges that the class leaves open point as they do.

    Parameters
    ----------
    edges : (n_variables, n_variables) bool array
    order : (n_variables,) int array
    chosen : dict
        ``(i, j)``: "residuals" where the residuals' distance from a Gaussian decided for i -> j, "policy" where the
        policy's order did, "columns" where nothing but the sequence of the columns did.
    """

    edges: BoolArray
    order: IntArray
    chosen: dict[tuple[int, int], Reason]


def choose_member(
    edges: BoolArray,
    order: IntArray,
    constraints: Constraints,
    values: FloatArray | None,
    policy_order: IntArray | None,
) -> Member:
    """The member of a graph's class that the evidence beside the score prefers.

    Parameters
    ----------
    edges : (n_variables, n_variables) bool array
        Any member, obeying the constraints.
    order : (n_variables,) int array
        An order of it.
    constraints : Constraints
    values : (n_samples, n_variables) array, optional
        The data of a linear model; None where residuals tell nothing.
    policy_order : (n_variables,) int array, optional
        What a pretrained policy finds most likely.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.uniform(size=1000)
    >>> values = np.column_stack([cause + rng.uniform(size=1000), cause])
    >>> backward = np.array([[False, True], [False, False]])
    >>> choose_member(backward, np.array([0, 1]), Constraints.none(2), values, None).chosen
    {(1, 0): 'residuals'}
    """
    wish = np.arange(len(edges)) if policy_order is None else policy_order
    pattern = class_of(edges, constraints.directs(edges))
    member = consistent_extension(pattern, constraints.nearest_order(wish))
    if member is None or constraints.violated_by(member):
        return Member(edges, order, {})
    turned: set[tuple[int, int]] = set()
    if values is not None:
        scatter = regularized(covariance(values))
        scale = np.sqrt(np.diag(scatter))
        shapes = ResidualShapes(columns_for_shape(values, scale), scatter / np.outer(scale, scale))
        may_turn = constraints.allowed.T & ~constraints.required & ~constraints.before  # transposed: of j -> i
        member, gains = follow_shapes(member, shapes, may_turn, lambda edges: not constraints.violated_by(edges))
        turned = {pair for pair, gain in gains.items() if gain < -SMALLEST_EVIDENCE}
    otherwise: Reason = "columns" if policy_order is None else "policy"
    loose = member & (pattern != 0).T  # transposed: the class has the other direction too
    chosen: dict[tuple[int, int], Reason] = {
        (int(i), int(j)): "residuals" if (int(i), int(j)) in turned else otherwise for i, j in np.argwhere(loose)
    }
    along = Constraints(constraints.required, constraints.allowed, member | constraints.before)
    return Member(member, along.nearest_order(wish), chosen)


def direction_sources(edges: BoolArray, told: BoolArray) -> dict[tuple[int, int], Literal["structure", "shape"]]:
    """What tells the direction of each edge i -> j: the class, or the shape of noise and what follows from that.

    Parameters
    ----------
    edges : (n_variables, n_variables) bool array
    told : (n_variables, n_variables) bool array
        Edges whose direction shapes tell. One that nothing tells is left out.

    Examples
    --------
    >>> chain = np.array([[False, True, False], [False, False, True], [False, False, False]])
    >>> direction_sources(chain, chain & [[True], [False], [False]])
    {(0, 1): 'shape', (1, 2): 'shape'}
    """
    by_structure, known = (class_of(edges, fixed).T == 0 for fixed in (None, told))  # transposed: not the other way
    return {(int(i), int(j)): "structure" if by_structure[i, j] else "shape" for i, j in np.argwhere(edges & known)}


def graph_of_class(
    score: OrderScore,
    edges: BoolArray,
    order: IntArray,
    table: Table,
    constraints: Constraints,
    policy_order: IntArray | None,
) -> tuple[BoolArray, IntArray, JsonObject]:
    """The member of the class that a score identifies, an order of it, and what tells the direction of each edge."""
    known, values = constraints.with_precedences(score.told(edges)), table.values
    member = choose_member(edges, order, known, values if score.assumes.linear else None, policy_order)
    names, told = table.names, score.told(member.edges)
    directions: JsonObject = {"told_directions": [[names[i], names[j]] for i, j in np.argwhere(told)]}
    if table.targets is None:
        sources = direction_sources(member.edges, told)
        directions["direction_sources"] = [[names[i], names[j], source] for (i, j), source in sources.items()]
    directions["chosen_directions"] = [[names[i], names[j], why] for (i, j), why in member.chosen.items()]
    return member.edges, member.order, directions
