"""Votes of several graphs, and the acyclic graph that most of them would agree to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.graph.dags import full_dag
from precede.knowledge import Constraints

ORDER_SHARE = 0.25
"""A precedence in a member's order counts this share of a vote for the direction; an edge counts a whole one."""

FULL_SUPPORT = 0.5
"""A pair is joined in the consensus when more than this share of the votes joins it, whichever way."""


OUTWEIGHS, TIE = 1e3, 1e-9
"""What a known direction is worth, and the difference of votes below which two directions are tied."""

ROUNDS = 10
"""Of weights and consensus in turn; they settle after two or three."""


def agreement_weights(graphs: Sequence[BoolArray], orders: Sequence[IntArray]) -> FloatArray:
    r"""Weights of the members by how well they agree with what all add up to, summing to one.

    A vote of a member that is right with probability p is worth :math:`\log \frac{p}{1-p}`. Here p is its likeness to
    the consensus (the mean :math:`F_1` of edges and of joined pairs), found in turn with it, from equal weights on. So
    one that stands alone counts little. Two members count alike.

    Parameters
    ----------
    graphs : sequence of (n_variables, n_variables) bool arrays
    orders : sequence of (n_variables,) int arrays

    Examples
    --------
    >>> a, b = np.array([[0, 1], [0, 0]], bool), np.zeros((2, 2), bool)
    >>> agreement_weights([a, a, b], [[0, 1]] * 3).round(2)
    array([0.5, 0.5, 0. ])
    """
    n = len(graphs)
    weights = np.full(n, 1 / n)
    if n < 3:
        return weights
    for _ in range(ROUNDS):
        agreed, _, _ = consensus(graphs, orders, weights)
        likeness = np.clip([_likeness(graph, agreed) for graph in graphs], 0.02, 0.98)
        worth = np.maximum(np.log(likeness / (1 - likeness)), 0.0)
        if worth.sum() == 0:
            return np.full(n, 1 / n)
        weights = worth / worth.sum()
    return weights


def consensus(
    graphs: Sequence[BoolArray],
    orders: Sequence[IntArray],
    weights: FloatArray,
    known: npt.ArrayLike = False,
    constraints: Constraints | None = None,
) -> tuple[BoolArray, IntArray, FloatArray]:
    """The graph that the weighted votes add up to, and an order of it.

    A pair is joined when more than half of the votes join it. The directions follow the order that goes against the
    fewest votes: an edge is a vote for its direction, a precedence in a member's order a part of one. So there is no
    cycle, whatever the votes. A pair with as many votes one way as the other gets no edge: a tie is no arrow.

    Parameters
    ----------
    graphs : sequence of (n_variables, n_variables) bool arrays
    orders : sequence of (n_variables,) int arrays
        Causes first.
    weights : (n_graphs,) float array
        Sum to one.
    known : (n_variables, n_variables) bool array, optional
        Directions that knowledge, time or experiments fixed in a member: they outweigh all votes.
    constraints : Constraints, optional
        Required and forbidden edges and precedences, which hold whatever the votes.

    Returns
    -------
    edges : (n_variables, n_variables) bool array
    order : (n_variables,) int array
    votes : (n_variables, n_variables) float array
        Weighted share of the members that have the edge.

    Examples
    --------
    >>> one, other = np.array([[0, 1], [0, 0]], bool), np.array([[0, 0], [1, 0]], bool)
    >>> edges, order, votes = consensus([one, one, other], [[0, 1], [0, 1], [1, 0]], np.full(3, 1 / 3))
    >>> edges.astype(int), order
    (array([[0, 1],
           [0, 0]]), array([0, 1]))
    """
    votes = np.einsum("k,kij->ij", weights, np.asarray(graphs, dtype=float))
    before = np.einsum("k,kij->ij", weights, np.array([full_dag(np.asarray(order)) for order in orders], dtype=float))
    preference = votes + ORDER_SHARE * before
    rules = constraints or Constraints.none(len(votes))
    fixed = np.broadcast_to(known, votes.shape).astype(bool)
    preference += OUTWEIGHS * ((fixed & ~fixed.T) | rules.before)  # transposed: where members do not contradict
    order = rules.nearest_order(best_linear_order(preference))
    tied = np.abs(preference - preference.T) < TIE  # transposed: as much for the other way
    return rules.apply(joined_by(votes) & full_dag(order) & ~tied), order, votes


def joined_by(votes: FloatArray) -> BoolArray:
    """Pairs that most votes join, whichever way."""
    return np.asarray(votes + votes.T > FULL_SUPPORT)  # transposed: a vote for a pair


def best_linear_order(preference: FloatArray) -> IntArray:
    r"""An order that :math:`\sum_{i \text{ before } j} P_{ij}` is high for: by net preference, then by insertions.

    Every variable is moved to its best place until no move gains (the linear ordering problem's usual local search).

    Parameters
    ----------
    preference : (n_variables, n_variables) float array
        ``[i, j]`` is what it is worth to have i before j.

    Examples
    --------
    >>> best_linear_order(np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 1.0], [3.0, 0.0, 0.0]]))
    array([1, 2, 0])
    """
    net = preference - preference.T  # transposed: what it costs to have them the other way round
    order = np.argsort(-net.sum(axis=1), kind="stable")
    improved = True
    while improved:
        improved = False
        for variable in np.arange(len(net)):
            place = int(np.flatnonzero(order == variable)[0])
            rest = np.delete(order, place)
            # worth of each slot, relative to the first: every variable it is put behind is lost and theirs gained
            worth = np.concatenate([[0.0], np.cumsum(-net[variable, rest])])
            slot = int(np.argmax(worth))
            if worth[slot] > worth[place] + 1e-12:
                order = np.insert(rest, slot, variable)
                improved = True
    return order.astype(np.int64)


def _likeness(one: BoolArray, other: BoolArray) -> float:
    """Mean of the F1 of two graphs' directed edges and of their joined pairs; one for two empty graphs."""

    def f1(left: BoolArray, right: BoolArray) -> float:
        total = int(left.sum() + right.sum())
        return 2 * float((left & right).sum()) / total if total else 1.0

    return (f1(one, other) + f1(one | one.T, other | other.T)) / 2  # transposed: pairs, whichever way
