"""Ancestral graphs: what a DAG with hidden variables looks like from outside (MAG), and what data can tell of it (PAG).

``ends[i, j]`` is the mark at j of the edge between i and j: no edge, a circle, an arrowhead or a tail. A tail at i says
that i causes j, an arrowhead at j that j does not cause i, a circle that the data leave it open. Rows are not selected
by what follows from the columns, so the other end of a tail is an arrowhead.

References
----------
Richardson, Spirtes (2002), Ancestral graph Markov models, Annals of Statistics 30.
Zhang (2008), On the completeness of orientation rules for causal discovery in the presence of latent confounders and
selection bias, Artificial Intelligence 172. Without selection rules 1 to 4 and 8 to 10 are complete (Theorem 2).
Wang, Qin, Zhou (2022), Sound and complete causal identification with latent variables given local background knowledge,
NeurIPS 35.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from typing import Protocol

import numpy as np

from precede.arrays import BoolArray, IntArray
from precede.graph.adjustment import d_separated
from precede.graph.dags import ancestors

CIRCLE, ARROW, TAIL = 1, 2, 3

Triple = tuple[int, int, int]
Change = tuple[int, int, int]
Judge = Callable[[int, int, int, int], bool]
"""Of the path (first, ..., before, middle, last), which discriminates the middle: whether that is a collider."""


class Known(Protocol):
    """Background knowledge as matrices (:class:`precede.knowledge.Constraints`)."""

    @property
    def required(self) -> BoolArray: ...

    @property
    def allowed(self) -> BoolArray: ...

    @property
    def before(self) -> BoolArray: ...


def mag(edges: BoolArray, hidden: Iterable[int]) -> IntArray:
    """The maximal ancestral graph of the columns that are seen, in their sequence.

    Two are joined where nothing that is seen separates them; then their seen ancestors do not.

    Examples
    --------
    >>> mag(np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]], dtype=bool), [0])  # 1 and 2 share a hidden cause
    array([[0, 2],
           [2, 0]])
    """
    seen = np.ones(len(edges), dtype=bool)
    seen[list(hidden)] = False
    reach = ancestors(edges)
    places = np.flatnonzero(seen)
    ends = np.zeros((len(places), len(places)), dtype=np.int64)
    for (i, a), (j, b) in combinations(enumerate(places), 2):
        given = (reach[:, a] | reach[:, b]) & seen
        given[[a, b]] = False
        if not d_separated(edges, int(a), int(b), given):
            ends[i, j], ends[j, i] = TAIL if reach[b, a] else ARROW, TAIL if reach[a, b] else ARROW
    return ends


def pag(ends: IntArray, known: Known | None = None) -> IntArray:
    """The marks that all maximal ancestral graphs with the same independences share; circles elsewhere.

    With knowledge, also those that it tells.

    Examples
    --------
    >>> pag(mag(np.array([[0, 1, 0], [0, 0, 0], [0, 1, 0]], dtype=bool), []))  # 0 -> 1 <- 2: a cause, or a hidden one
    array([[0, 2, 0],
           [1, 0, 1],
           [0, 2, 0]])
    """
    arrow = ends == ARROW
    colliders = [(a, b, c) for a, b, c in unshielded(ends != 0) if arrow[a, b] and arrow[c, b]]
    judge: Judge = lambda _first, before, middle, last: bool(arrow[[before, last], middle].all())  # noqa: E731
    return orient(ends != 0, colliders, judge, known)


def unshielded(adjacent: BoolArray) -> list[Triple]:
    """``(a, b, c)`` with a - b - c and no edge between a and c, a < c."""
    return [
        (int(a), b, int(c))
        for b in range(len(adjacent))
        for a, c in combinations(np.flatnonzero(adjacent[b]), 2)
        if not adjacent[a, c]
    ]


def orient(
    adjacent: BoolArray, colliders: Iterable[Triple], judge: Judge | None, known: Known | None = None
) -> IntArray:
    """Marks of a skeleton: those of the knowledge, of the colliders, and what follows by Zhang's rules.

    Whatever contradicts what stands already (an ancestor of itself, a cause of something earlier) is left out, so the
    knowledge is obeyed and the marks never contradict each other; of colliders the first ones count.

    Parameters
    ----------
    adjacent : (n_variables, n_variables) bool array
        Symmetric.
    colliders : iterable of (a, b, c)
        Unshielded triples with arrowheads at b.
    judge : callable, optional
        Decides rule 4; without it no rule is applied.
    known : Constraints, optional
    """
    marks = _Marks(adjacent, known)
    wanted = [[(a, b, ARROW), (c, b, ARROW)] for a, b, c in colliders]
    if not marks.put([change for both in wanted for change in both]):
        for both in wanted:
            marks.put(both)
    if judge is not None:
        marks.follow(judge)
    return marks.ends


def refined(ends: IntArray, changes: Iterable[Change]) -> IntArray | None:
    """A PAG with further marks around one variable, and all that follows; None where no graph of the class has them.

    Complete for such marks (Wang, Qin, Zhou 2022): where they make a path discriminating, its middle is no collider,
    for else the data would have told.

    Examples
    --------
    >>> chain = pag(mag(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool), []))  # 0 o-o 1 o-o 2
    >>> refined(chain, [(0, 1, ARROW)])  # no collider, so 1 causes 2
    array([[0, 2, 0],
           [1, 0, 2],
           [0, 3, 0]])
    >>> refined(chain, [(0, 1, ARROW), (2, 1, ARROW)]) is None
    True
    """
    marks, wanted = _Marks(ends != 0, None), list(changes)
    marks.ends = ends
    if not marks.put(wanted) and any(ends[i, j] != mark for i, j, mark in wanted):
        return None
    marks.follow(lambda *_: False)
    new = (marks.ends == ARROW) & (ends != ARROW)
    arrow = marks.ends == ARROW
    met = any(arrow[a, b] and arrow[c, b] and (new[a, b] or new[c, b]) for a, b, c in unshielded(ends != 0))
    return None if met else marks.ends


def potentially_directed(ends: IntArray) -> BoolArray:
    """``[i, j]``: an edge that may lead from i to j, with neither an arrowhead at i nor a tail at j."""
    return np.asarray((ends != 0) & (ends.T != ARROW) & (ends != TAIL))  # transposed: the mark at i


def definite_ancestors(ends: IntArray) -> BoolArray:
    """``[i, j]``: a directed path leads from i to j, or i is j; cycles do no harm."""
    return reachable((ends == ARROW) & (ends.T == TAIL))  # transposed: the mark at i


def reachable(edges: BoolArray) -> BoolArray:
    """``[i, j]``: a directed path leads from i to j, or i is j; the graph may have cycles."""
    reach = edges | np.eye(len(edges), dtype=bool)
    while ((grown := _meet(reach, reach)) != reach).any():
        reach = grown
    return reach


def along_colliders(ends: IntArray, start: int, goal: int, avoided: Iterable[int] = ()) -> Iterator[int]:
    """Variables apart from the goal that a path joins to the start, with an arrowhead there; colliders between them.

    Those colliders are all parents of the goal.
    """
    arrow = ends == ARROW
    parent = arrow[:, goal] & (ends[goal] == TAIL)
    seen, front = {start, goal, *avoided}, [start]
    while front:
        node = front.pop(0)
        for further in map(int, np.flatnonzero(arrow[:, node])):
            if further in seen:
                continue
            if not ends[further, goal]:
                seen.add(further)
                yield further
            elif parent[further] and arrow[node, further]:
                seen.add(further)
                front.append(further)


class _Marks:
    """Marks that grow: only circles are replaced, and never by a contradiction."""

    def __init__(self, adjacent: BoolArray, known: Known | None) -> None:
        d = len(adjacent)
        self.ends = np.where(adjacent, CIRCLE, 0)
        self.adjacent = adjacent
        self.apart = ~adjacent & ~np.eye(d, dtype=bool)
        self.before = np.zeros((d, d), dtype=bool) if known is None else known.before
        if known is not None:
            for i, j in np.argwhere(known.required & adjacent):
                self.put(_causes(i, j))
            not_causes = adjacent & (~known.allowed | known.before.T)  # transposed: the later is no cause
            for i, j in np.argwhere(not_causes):
                self.put([(j, i, ARROW)])

    def put(self, changes: Iterable[Change]) -> bool:
        """Set ``ends[i, j]`` to the marks, all or none; whether that changed anything."""
        ends = self.ends.copy()
        for i, j, mark in changes:
            if ends[i, j] not in (CIRCLE, mark):
                return False
            ends[i, j] = mark
        if (ends == self.ends).all() or (definite_ancestors(ends) & self._not_ancestors(ends)).any():
            return False
        self.ends = ends
        return True

    def follow(self, judge: Judge) -> None:
        """All rules, until nothing changes."""
        while self.close() or any([self.rule_1(), self.rule_3()]) or self.rule_4(judge) or self.rules_9_and_10():
            pass

    def _not_ancestors(self, ends: IntArray) -> BoolArray:
        return np.asarray((ends == ARROW) | self.before).T  # transposed: [i, j] where i does not cause j

    def close(self) -> bool:
        """What causes and non-causes imply along directed paths: rules 2 and 8, and knowledge between tiers."""
        cause = definite_ancestors(self.ends)
        # were i a cause of j, a cause of i would be one of what j causes
        not_cause = _meet(_meet(cause.T, self._not_ancestors(self.ends)), cause.T)
        loose = self.ends == CIRCLE
        changes = [(int(i), int(j), ARROW) for i, j in np.argwhere(loose & not_cause.T)]
        tails = [_causes(int(i), int(j)) for i, j in np.argwhere(cause & loose.T)]
        return self._each([[change] for change in changes] + tails)

    def _each(self, wanted: Iterable[list[Change]]) -> bool:
        return any(self.put(changes) for changes in wanted)

    def rule_1(self) -> bool:
        """a *-> b o-* c with a and c apart: b causes c."""
        found = _meet((self.ends == ARROW).T, self.apart) & (self.ends == CIRCLE).T  # transposed: [b, c]
        return self._each(_causes(int(b), int(c)) for b, c in np.argwhere(found))

    def rule_3(self) -> bool:
        """a *-> b <-* c with a and c apart, both with a circle at t: t *-> b."""
        loose, arrow = self.ends == CIRCLE, self.ends == ARROW
        wanted = []
        for t, b in np.argwhere(loose):
            around = arrow[:, b] & loose[:, t]
            if self.apart[np.ix_(around, around)].any():
                wanted.append([(int(t), int(b), ARROW)])
        return self._each(wanted)

    def rule_4(self, judge: Judge) -> bool:
        """A discriminating path tells whether its last but one is a collider."""
        for b, c in np.argwhere((self.ends == CIRCLE).T):  # transposed: a circle at b
            for a, first in self._discriminating(int(b), int(c)):
                if judge(first, a, int(b), int(c)):
                    changes = [(a, int(b), ARROW), (int(c), int(b), ARROW), (int(b), int(c), ARROW)]
                else:
                    changes = _causes(int(b), int(c))
                if self.put(changes):
                    return True
        return False

    def _discriminating(self, b: int, c: int) -> Iterable[tuple[int, int]]:
        """``(a, first)`` of the paths (first, ..., a, b, c) whose inner variables are colliders and cause c."""
        parent = (self.ends[:, c] == ARROW) & (self.ends[c] == TAIL)
        for a in np.flatnonzero(parent & (self.ends[b] == ARROW)):
            for first in along_colliders(self.ends, int(a), c, {b}):
                yield int(a), first

    def rules_9_and_10(self) -> bool:
        """a o-> c: an uncovered path that may be directed, or two of them, make a a cause of c."""
        may, changed = potentially_directed(self.ends), False
        for a, c in np.argwhere((self.ends == ARROW) & (self.ends.T == CIRCLE)):  # transposed: the circle at a
            starts = [int(b) for b in np.flatnonzero(may[a]) if b != c]
            reached = {b: self._uncovered(may, int(a), b) for b in starts}
            parents = (self.ends[:, c] == ARROW) & (self.ends[c] == TAIL)
            ninth = any(self.apart[b, c] and reached[b][c] for b in starts)
            if ninth or self._tenth(reached, int(c), parents):
                changed |= self.put(_causes(int(a), int(c)))
        return changed

    def _tenth(self, reached: dict[int, BoolArray], c: int, parents: BoolArray) -> bool:
        ends_at = {b: np.flatnonzero(parents & found) for b, found in reached.items()}
        return any(
            self.apart[b, t] and len(ends_at[b]) and len(ends_at[t]) and len({*ends_at[b], *ends_at[t]}) > 1
            for b, t in combinations(reached, 2)
        )

    def _uncovered(self, may: BoolArray, a: int, b: int) -> BoolArray:
        """Where paths (a, b, ...) lead of which no three in a row are all joined, and each edge may be directed."""
        reached = np.zeros(len(may), dtype=bool)
        reached[b] = True
        seen, front = {(a, b)}, [(a, b)]
        while front:
            last, node = front.pop()
            for further in np.flatnonzero(may[node] & self.apart[last]):
                if further != a and (node, int(further)) not in seen:
                    seen.add((node, int(further)))
                    reached[further] = True
                    front.append((node, int(further)))
        return reached


def _causes(i: int, j: int) -> list[Change]:
    return [(j, i, TAIL), (i, j, ARROW)]


def _meet(left: BoolArray, right: BoolArray) -> BoolArray:
    """Boolean matrix product."""
    return np.asarray(left.astype(np.float32) @ right.astype(np.float32) > 0)
