"""Marks at the ends of edges: what a CPDAG or a PAG says, in letters and in words.

causal-learn writes the mark at i of the edge between i and j into ``graph[i, j]``: -1 a tail, 1 an arrowhead, 2 a
circle (either of the two), 0 no edge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np

from precede.arrays import BoolArray, IntArray
from precede.graph.dags import ancestors, topological_order
from precede.graph.equivalence import consistent_extension

TAIL, ARROW, CIRCLE = -1, 1, 2
LEFT = {TAIL: "-", ARROW: "<", CIRCLE: "o"}
RIGHT = {TAIL: "-", ARROW: ">", CIRCLE: "o"}

MEANING = {
    "-->": "the first causes the second",
    "---": "they are connected, and either may be the cause: the data cannot tell",
    "<->": "neither causes the other: they share a cause that is not in the data",
    "o->": "the second does not cause the first: the first causes it, or they share a hidden cause, or both",
    "o-o": "they are connected: either may be the cause, or they share a hidden cause",
    "o--": "the second causes the first, or rows were selected by what follows from both",
}
"""What each kind of edge says, read from the first variable to the second."""


def mark(at_first: int, at_second: int) -> str:
    """An edge in three letters.

    Examples
    --------
    >>> mark(TAIL, ARROW), mark(CIRCLE, ARROW), mark(ARROW, ARROW)
    ('-->', 'o->', '<->')
    """
    return f"{LEFT[at_first]}-{RIGHT[at_second]}"


def marked_edges(ends: IntArray, names: Sequence[Hashable]) -> list[tuple[Hashable, Hashable, str]]:
    """``(first, second, mark)`` of every edge, written so that an arrow or the fuller mark points to the right."""
    found = []
    for i, j in np.argwhere(np.triu(ends != 0)):
        first, second, text = names[i], names[j], mark(int(ends[i, j]), int(ends[j, i]))
        if text not in MEANING:
            first, second, text = names[j], names[i], mark(int(ends[j, i]), int(ends[i, j]))
        found.append((first, second, text))
    return found


def in_words(edges: Sequence[tuple[Hashable, Hashable, str]]) -> list[str]:
    """A sentence for each kind of mark that is there, and how many edges have it."""
    tally = Counter(text for _, _, text in edges)
    return [
        f"{tally[text]} edge{'' if tally[text] == 1 else 's'} marked a {text} b: {meaning}."
        for text, meaning in MEANING.items()
        if tally[text]
    ]


def member_dag(ends: IntArray, wish: IntArray) -> tuple[BoolArray, bool]:
    """A DAG that has the marks, and whether there is one that has them all.

    An edge between arrowheads is left out: no arrow stands for a hidden cause. A circle may be a tail. Where the marks
    contradict each other, arrows that would close a cycle are turned, and what is loose follows them.

    Parameters
    ----------
    ends : (n_variables, n_variables) int array
        Marks as causal-learn has them.
    wish : (n_variables,) int array
        The order to follow where the marks leave it open.

    Examples
    --------
    >>> member_dag(np.array([[0, -1], [1, 0]]), np.arange(2))[0].astype(int)
    array([[0, 1],
           [0, 0]])
    """
    d = len(ends)
    both = (ends == ARROW) & (ends.T == ARROW)  # transposed: the other end of the edge
    present = (ends != 0) & ~both
    pattern = present & (ends != ARROW)  # i may cause j where no arrowhead points at i
    whole = consistent_extension(pattern, wish)
    if whole is not None:
        return whole, True
    edges = np.zeros((d, d), dtype=bool)
    for i, j in np.argwhere(pattern & ~pattern.T):
        reach = ancestors(edges)
        edges[(j, i) if reach[j, i] else (i, j)] = True
    place = np.argsort(topological_order(edges))
    loose = np.triu(pattern & pattern.T)
    for i, j in np.argwhere(loose):
        edges[(i, j) if place[i] < place[j] else (j, i)] = True
    return edges, False
