"""Background knowledge: required and forbidden edges, tiers, roots and sinks, by name."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from precede.errors import KnowledgeError, listed
from precede.graph import BoolArray, IntArray, ancestors, find_cycle

Edge = tuple[Hashable, Hashable]


@dataclass(frozen=True)
class Knowledge:
    """What is known before looking at the data.

    Parameters
    ----------
    required, forbidden : iterables of (cause, effect)
        Edges that must, and that must not, be in the graph.
    tiers : sequence of sequences
        No edge leads from a later tier to an earlier one.
    roots, sinks : sequences
        Variables without causes, variables without effects.

    Examples
    --------
    >>> knowledge = Knowledge(required=[("rain", "wet")], tiers=[["rain"], ["wet", "slip"]])
    >>> knowledge.over(["wet", "rain", "slip"]).allowed.astype(int)
    array([[0, 0, 1],
           [1, 0, 1],
           [1, 0, 0]])
    """

    required: Iterable[Edge] = ()
    forbidden: Iterable[Edge] = ()
    tiers: Sequence[Sequence[Hashable]] = ()
    roots: Sequence[Hashable] = ()
    sinks: Sequence[Hashable] = ()

    def over(self, names: Sequence[Hashable]) -> Constraints:
        """Compile to matrices over columns; unknown names, contradictions and cycles are refused."""
        d = len(names)
        index = {name: k for k, name in enumerate(names)}
        mentioned = [
            *(v for edge in [*self.required, *self.forbidden] for v in edge),
            *(v for tier in self.tiers for v in tier),
            *self.roots,
            *self.sinks,
        ]
        unknown = [name for name in dict.fromkeys(mentioned) if name not in index]
        if unknown:
            raise KnowledgeError(
                f"the knowledge names {listed(unknown)}, which the data does not have; "
                f"its columns are {listed(names, 20)}."
            )
        required = np.zeros((d, d), dtype=bool)
        forbidden = np.eye(d, dtype=bool)
        for cause, effect in self.required:
            required[index[cause], index[effect]] = True
        for cause, effect in self.forbidden:
            forbidden[index[cause], index[effect]] = True
        root = np.isin(np.arange(d), [index[v] for v in self.roots])
        sink = np.isin(np.arange(d), [index[v] for v in self.sinks])
        forbidden[:, root] = True
        forbidden[sink, :] = True
        tier = self._tier_of(index, d)
        earlier = (tier[:, None] >= 0) & (tier[:, None] < tier[None, :])  # [i, j]: i's tier is before j's
        forbidden |= earlier.T  # transposed: no edge from the later to the earlier
        _refuse_contradictions(required, forbidden, names)
        # Placing roots first and sinks last costs no generality, nor does placing the tiers one after another.
        # Between an earlier tier and a root (or from a sink) no edge is possible either way, so no order is needed.
        first, last = root, sink & ~root
        before = first[:, None] & ~first[None, :]
        before |= ~last[:, None] & last[None, :]
        before |= earlier & ~(first | last)[None, :] & ~(first | last)[:, None]
        before |= required
        return Constraints(required, ~forbidden, ancestors(before))

    def _tier_of(self, index: dict[Hashable, int], d: int) -> IntArray:
        """Tier number of each column, -1 where it is in none."""
        tier = np.full(d, -1, dtype=np.int64)
        for level, members in enumerate(self.tiers):
            for name in members:
                if tier[index[name]] not in (-1, level):
                    raise KnowledgeError(f"{name!r} is in tier {tier[index[name]]} and in tier {level}.")
                tier[index[name]] = level
        return tier


def _refuse_contradictions(required: BoolArray, forbidden: BoolArray, names: Sequence[Hashable]) -> None:
    clash = np.argwhere(required & forbidden)
    if len(clash):
        cause, effect = names[clash[0][0]], names[clash[0][1]]
        if cause == effect:
            raise KnowledgeError(f"{cause!r} is required to cause itself.")
        raise KnowledgeError(
            f"the edge {cause!r} -> {effect!r} is both required and forbidden "
            "(by name, by the tiers, or by a root or sink)."
        )
    cycle = find_cycle(required)
    if cycle:
        path = " -> ".join(repr(names[k]) for k in [*cycle, cycle[0]])
        raise KnowledgeError(f"the required edges form a cycle: {path}.")


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

    def apply(self, edges: BoolArray) -> BoolArray:
        """Drop what is forbidden, add what is required."""
        result: BoolArray = (edges & self.allowed) | self.required
        return result

    def violated_by(self, edges: BoolArray) -> bool:
        """Whether a graph breaks the knowledge."""
        return bool((edges & ~self.allowed).any() or (self.required & ~edges).any())

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
        relabelled = self.before[np.ix_(order, order)]  # in wished sequence
        placed: list[int] = []
        waiting = relabelled.sum(axis=0)
        done = np.zeros(len(order), dtype=bool)
        for _ in range(len(order)):
            nxt = int(np.flatnonzero((waiting == 0) & ~done)[0])
            done[nxt] = True
            waiting = waiting - relabelled[nxt]
            placed.append(nxt)
        return np.asarray(order)[placed]


def constraints_over(knowledge: Knowledge | None, names: Sequence[Hashable]) -> Constraints:
    """Compile knowledge that may be absent."""
    return Constraints.none(len(names)) if knowledge is None else knowledge.over(names)
