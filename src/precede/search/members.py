"""Which member of a Markov equivalence class to return, where a score can tell only the class.

All members have the same score, so rounding must not choose. What chooses, in this sequence: background knowledge, how
far the residuals are from Gaussian in either direction, the order that a pretrained policy finds most likely, and the
sequence of the columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.graph.equivalence import class_of, consistent_extension
from precede.knowledge import Constraints
from precede.scores.nongaussian import negentropy
from precede.ties import first_best

SMALLEST_EVIDENCE = 5.0
"""Nats that a turned edge must gain: in Gaussian data the gains of chance are about one."""

MOST_ROWS = 20_000
"""Rows that residuals are judged by: enough to tell what can be told."""

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
        member, turned = _follow_residuals(member, values, constraints)
    otherwise: Reason = "columns" if policy_order is None else "policy"
    loose = member & (pattern != 0).T  # transposed: the class has the other direction too
    chosen: dict[tuple[int, int], Reason] = {
        (int(i), int(j)): "residuals" if (int(i), int(j)) in turned else otherwise for i, j in np.argwhere(loose)
    }
    along = Constraints(constraints.required, constraints.allowed, member | constraints.before)
    return Member(member, along.nearest_order(wish), chosen)


def _follow_residuals(
    edges: BoolArray, values: FloatArray, constraints: Constraints
) -> tuple[BoolArray, set[tuple[int, int]]]:
    """Turn covered edges while that makes the residuals clearly less Gaussian; also gives the edges so decided.

    Turning an edge i -> j leads to another member exactly when j has the parents of i, and i (Chickering 1995). An
    edge counts as decided where the other direction is clearly worse.
    """
    evidence = _ResidualEvidence(values)
    may_turn = constraints.allowed.T & ~constraints.required & ~constraints.before  # transposed: of j -> i
    edges = edges.copy()
    for _ in range(int(edges.sum()) ** 2 + 1):  # every turn gains, so this ends; the limit is for rounding
        covered = [(int(i), int(j)) for i, j in np.argwhere(edges) if _is_covered(edges, i, j)]
        covered = [(i, j) for i, j in covered if may_turn[i, j]]
        gains = np.array([evidence.gain_of_turning(edges, i, j) for i, j in covered])
        best = first_best(gains) if len(gains) else -1
        if best < 0 or gains[best] <= SMALLEST_EVIDENCE:
            return edges, {pair for pair, gain in zip(covered, gains, strict=True) if gain < -SMALLEST_EVIDENCE}
        i, j = covered[best]
        edges[i, j], edges[j, i] = False, True
        if constraints.violated_by(edges):
            edges[i, j], edges[j, i] = True, False
            return edges, set()
    return edges, set()


def _is_covered(edges: BoolArray, i: int, j: int) -> bool:
    parents = edges[:, j].copy()
    parents[i] = False
    return bool((parents == edges[:, i]).all())


class _ResidualEvidence:
    """How far a variable's residual given its parents is from Gaussian, in nats over all rows."""

    def __init__(self, values: FloatArray) -> None:
        self._centered = values[:MOST_ROWS] - values[:MOST_ROWS].mean(axis=0)
        self._known: dict[tuple[int, bytes], float] = {}

    def gain_of_turning(self, edges: BoolArray, i: int, j: int) -> float:
        """Of i -> j, a covered edge."""
        above = edges[:, i]
        with_i, with_j = above.copy(), above.copy()
        with_i[i], with_j[j] = True, True
        return self._of(j, above) + self._of(i, with_j) - self._of(i, above) - self._of(j, with_i)

    def _of(self, variable: int, parents: BoolArray) -> float:
        key = variable, parents.tobytes()
        if key not in self._known:
            target, inputs = self._centered[:, variable], self._centered[:, parents]
            residual = target - inputs @ np.linalg.lstsq(inputs, target, rcond=None)[0] if parents.any() else target
            scaled = torch.from_numpy(residual / residual.std())
            self._known[key] = len(residual) * float(negentropy(scaled))
        return self._known[key]
