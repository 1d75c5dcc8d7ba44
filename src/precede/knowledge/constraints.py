"""Constraints: background knowledge compiled to matrices over columns, as every search obeys it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from precede.arrays import BoolArray, IntArray
from precede.graph.dags import ancestors


@dataclass(frozen=True)
class Constraints:
    """Knowledge compiled to matrices over columns.

    Parameters
    ----------
    required, allowed : (n_variables, n_variables) bool arrays
        Edges that the graph must have, and that it may have.
    before : (n_variables, n_variables) bool array
        ``before[i, j]``: i must be placed before j; transitively closed.
    """

    required: BoolArray
    allowed: BoolArray
    before: BoolArray = field(repr=False)

    @classmethod
    def none(cls, n_variables: int) -> Constraints:
        """No knowledge at all."""
        nothing = np.zeros((n_variables, n_variables), dtype=bool)
        return cls(nothing, ~np.eye(n_variables, dtype=bool), nothing)

    def with_precedences(self, edges: BoolArray) -> Constraints:
        """The same, and every edge of a graph that agrees with it as a precedence."""
        return Constraints(self.required, self.allowed, ancestors(self.before | edges)) if edges.any() else self

    def in_time(self, steps: Sequence[int] | None) -> Constraints:
        """The same, and those of time: columns of earlier steps come first, and have no causes among the columns."""
        if steps is None:
            return self
        lag = np.array(steps)
        before = ancestors(self.before | (lag[:, None] > lag[None, :]))
        return Constraints(self.required, self.allowed & (lag[None, :] == 0), before)

    def directs(self, edges: BoolArray) -> BoolArray:
        """Edges whose direction is known: they are required, or the other way is forbidden or against a precedence."""
        return np.asarray(edges & (self.before | self.required | ~self.allowed.T))  # transposed: the other way

    def apply(self, edges: BoolArray) -> BoolArray:
        """Drop what is forbidden, add what is required."""
        result: BoolArray = (edges & self.allowed) | self.required
        return result

    def violated_by(self, edges: BoolArray) -> bool:
        """Whether a graph breaks the knowledge, be it by an edge or, across the tiers, by a path."""
        if (edges & ~self.allowed).any() or (self.required & ~edges).any():
            return True
        return bool((ancestors(edges) & self.before.T).any())  # transposed: a path against a precedence

    def permits(self, order: IntArray) -> bool:
        """Whether an order keeps every precedence."""
        position = np.argsort(order)
        return not (self.before & (position[:, None] > position[None, :])).any()

    def nearest_order(self, order: IntArray) -> IntArray:
        """The permitted order that follows a wished-for one as closely as a stable sort can.

        Place, again and again, the earliest wished variable whose predecessors are all placed.
        """
        if self.permits(order):
            return order
        relabeled = self.before[np.ix_(order, order)]  # in wished sequence
        placed: list[int] = []
        waiting = relabeled.sum(axis=0)
        done = np.zeros(len(order), dtype=bool)
        for _ in range(len(order)):
            nxt = int(np.flatnonzero((waiting == 0) & ~done)[0])
            done[nxt] = True
            waiting = waiting - relabeled[nxt]
            placed.append(nxt)
        return np.asarray(order)[placed]
