"""Constraints: background knowledge compiled to matrices over columns, as every search obeys it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np

from precede.arrays import BoolArray, IntArray
from precede.errors import KnowledgeError
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

    @classmethod
    def together(cls, parts: Sequence[Constraints]) -> Constraints | None:
        """What several say together; None where they contradict each other."""
        required, allowed = np.any([one.required for one in parts], 0), np.all([one.allowed for one in parts], 0)
        before = ancestors(np.any([one.before for one in parts], 0) | required)
        contradict = (required & ~allowed).any() or (before & before.T).any()  # transposed: both ways round
        return None if contradict else cls(required, allowed, before)

    def with_precedences(self, edges: BoolArray) -> Constraints:
        """The same, and every edge of a graph that agrees with it as a precedence."""
        return Constraints(self.required, self.allowed, ancestors(self.before | edges)) if edges.any() else self

    def in_time(self, steps: Sequence[int] | None, names: Sequence[Hashable]) -> Constraints:
        """The same, and those of time: columns of earlier steps come first, and have no causes among the columns.

        Knowledge that contradicts time is refused. That roots come first and sinks last is no part of it: they do so
        within their step, since a root has no cause, and a sink no effect, wherever it stands.
        """
        if steps is None:
            return self
        lag = np.array(steps)
        _refuse_causes_of_the_past(self.required, lag, names)
        backward = self.before & (lag[:, None] < lag[None, :])
        root, sink = (~np.asarray(self.allowed.any(axis=axis)) for axis in (0, 1))
        free = root[:, None] | sink[None, :]
        against = np.argwhere(backward & ~free)
        if len(against):
            late, early = (names[int(k)] for k in against[0])
            raise KnowledgeError(
                f"the tiers place {late!r} before {early!r}, which is of an earlier step: time orders the steps by "
                "itself, so name columns of one step only in the tiers."
            )
        before = ancestors((self.before & ~backward) | (lag[:, None] > lag[None, :]))
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


def _refuse_causes_of_the_past(required: BoolArray, lag: IntArray, names: Sequence[Hashable]) -> None:
    """Refuse required edges into columns of earlier steps, whose causes no window of steps shows."""
    for cause, effect in np.argwhere(required & (lag[None, :] > 0)):
        edge = f"the required edge {names[cause]!r} -> {names[effect]!r}"
        if lag[cause] < lag[effect]:
            raise KnowledgeError(
                f"{edge} leads back in time: a cause is of the same step as its effect, or of an earlier one."
            )
        raise KnowledgeError(
            f"{edge} is about the past, whose causes are not learned: require it of the present, with an effect that "
            "is not lagged."
        )
