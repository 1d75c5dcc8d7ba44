"""Which member of a Markov equivalence class to return, where a score can tell only the class.

All members have the same score, so rounding must not choose. What chooses, in this sequence: background knowledge, how
far the residuals are from Gaussian in either direction, the order that a pretrained policy finds most likely, and the
sequence of the columns.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.data.table import Table
from precede.graph.dags import class_of, consistent_extension
from precede.knowledge import Constraints
from precede.scores.covariance import covariance, regularized
from precede.scores.protocol import OrderScore
from precede.scores.shape import SMALLEST_EVIDENCE, ResidualShapes, columns_for_shape, follow_shapes
from precede.strict_json import JsonObject

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
