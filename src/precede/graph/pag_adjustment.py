"""Adjustment in a PAG: which variables to hold fixed where causes may be hidden, or that no set of columns will do.

References
----------
Perković, Textor, Kalisch, Maathuis (2018), Complete graphical characterization and construction of adjustment sets in
Markov equivalence classes of ancestral graphs, JMLR 18: the generalized adjustment criterion (Definition 4) and the set
that is valid if any is (Theorem 15).
"""

from enum import Enum

import numpy as np

from precede.arrays import BoolArray, IntArray
from precede.graph.adjustment import causal_nodes, downstream, only
from precede.graph.ancestral import ARROW, TAIL, along_colliders, potentially_directed


class NoSet(Enum):
    """Why there is nothing to adjust for."""

    NO_EFFECT = "no effect"
    NOT_IDENTIFIED = "not identified"


def adjustment_in_pag(ends: IntArray, cause: int, effect: int) -> IntArray | NoSet:
    """Columns to adjust for, so that a regression gives the total effect in every graph that the PAG stands for.

    Examples
    --------
    >>> ends = np.array([[0, 2, 0, 0], [1, 0, 1, 2], [0, 2, 0, 0], [0, 3, 0, 0]])  # 0 o-> 1 <-o 2, 1 --> 3
    >>> adjustment_in_pag(ends, 1, 3), adjustment_in_pag(ends, 3, 0)
    (array([0, 2]), <NoSet.NO_EFFECT: 'no effect'>)
    >>> adjustment_in_pag(ends, 0, 3)  # 0 and 1 may share a hidden cause
    <NoSet.NOT_IDENTIFIED: 'not identified'>
    """
    may = potentially_directed(ends)
    between = causal_nodes(may, cause, effect)
    if not between.any():
        return NoSet.NO_EFFECT
    if len(possibly_confounded(ends, cause, effect)):
        return NoSet.NOT_IDENTIFIED
    chosen = widest_set(ends, cause, effect)
    without, first = ends.copy(), may[cause] & between
    without[cause, first] = without[first, cause] = 0
    return NoSet.NOT_IDENTIFIED if _connected(ends, without, cause, effect, chosen) else np.flatnonzero(chosen)


def widest_set(ends: IntArray, cause: int, effect: int) -> BoolArray:
    """What may lead to either and is no effect of the cause on the way: valid if any set is (Theorem 15)."""
    may, pair = potentially_directed(ends), only([cause, effect], len(ends))
    forbidden = downstream(may, causal_nodes(may, cause, effect), only(cause, len(ends)))
    return downstream(may.T, pair) & ~forbidden & ~pair  # transposed: what may lead to either


def possibly_confounded(ends: IntArray, cause: int, effect: int) -> IntArray:
    """Variables that may lie between cause and effect and share a hidden cause with the cause: why no set will do."""
    may = potentially_directed(ends)
    first = np.flatnonzero(may[cause] & causal_nodes(may, cause, effect))
    return np.array([b for b in first if not _is_visible(ends, cause, int(b))], dtype=np.int64)


def _is_visible(ends: IntArray, x: int, y: int) -> bool:
    """Whether x -> y for sure without a hidden common cause (Zhang 2006)."""
    return ends[x, y] == ARROW and ends[y, x] == TAIL and any(True for _ in along_colliders(ends, x, y))


def _connected(ends: IntArray, without: IntArray, start: int, goal: int, given: BoolArray) -> bool:
    """Whether a path of definite status joins two variables given others, once the causal paths are cut."""
    opened = downstream(potentially_directed(ends).T, given)  # transposed: what may lead to them, rather too many
    front = [(start, int(k)) for k in np.flatnonzero(without[start])]
    seen = set(front)
    while front:
        last, node = front.pop()
        if node == goal:
            return True
        for further in map(int, np.flatnonzero(without[node])):
            if further in (last, start) or (node, further) in seen:
                continue
            marks = (ends[last, node], ends[further, node])
            collider = marks == (ARROW, ARROW)
            other = TAIL in marks or (ARROW not in marks and not ends[last, further])
            if (collider and opened[node]) or (other and not given[node]):
                seen.add((node, further))
                front.append((node, further))
    return False
