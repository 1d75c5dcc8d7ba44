"""Adjustment: which variables must be held fixed so that a regression gives a causal effect.

References
----------
Perković, Textor, Kalisch, Maathuis (2018), Complete graphical characterization and construction of adjustment sets in
Markov equivalence classes of ancestral graphs, JMLR 18.
Henckel, Perković, Maathuis (2022), Graphical criteria for efficient total effect estimation via adjustment in causal
linear models, JRSS B 84.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np

from precede.arrays import BoolArray, IntArray
from precede.graph.dags import ancestors

Causes = int | Sequence[int]
"""One cause, or several that are set at once."""


def causal_nodes(edges: BoolArray, cause: Causes, effect: int) -> BoolArray:
    """Variables on a directed path from the cause to the effect, the cause itself left out; none without a path.

    Of several causes, paths that pass through another of them do not count.
    """
    led = edges.copy()
    led[:, cause] = False
    # transposed: upstream of the effect
    nodes = downstream(led, only(cause, len(edges))) & downstream(led.T, only(effect, len(edges)))
    nodes[cause] = False
    return nodes


def with_joined_past(edges: BoolArray, past: BoolArray) -> BoolArray:
    """The graph with one more variable, the last, that causes all columns of the past.

    What caused the past is not learned, so any two of its columns may share a cause: nobody can adjust for that.

    Examples
    --------
    >>> with_joined_past(np.zeros((3, 3), dtype=bool), np.array([False, True, True])).astype(int)
    array([[0, 0, 0, 0],
           [0, 0, 0, 0],
           [0, 0, 0, 0],
           [0, 1, 1, 0]])
    """
    d = len(edges)
    joined = np.zeros((d + 1, d + 1), dtype=bool)
    joined[:d, :d] = edges
    joined[d, :d] = past
    return joined


def forbidden_nodes(edges: BoolArray, cause: Causes, effect: int) -> BoolArray:
    """What no adjustment set may hold: cause, effect, and all that a variable on a causal path leads to."""
    nodes = downstream(edges, causal_nodes(edges, cause, effect))
    nodes[cause] = nodes[effect] = True
    return nodes


def only(nodes: Causes, n_variables: int) -> BoolArray:
    """True for one variable, or for several."""
    return np.isin(np.arange(n_variables), nodes)


def downstream(edges: BoolArray, start: BoolArray, removed: BoolArray | None = None) -> BoolArray:
    """Some variables, and all that paths lead to from them without passing through the removed ones."""
    found, front = start.copy(), start
    while front.any():
        front = edges[front].any(axis=0) & ~found
        front = front if removed is None else front & ~removed
        found |= front
    return found


def is_adjustment_set(
    edges: BoolArray, cause: Causes, effect: int, chosen: Iterable[int], past: BoolArray | None = None
) -> bool:
    """Whether adjusting for the chosen variables gives the total effect: none is forbidden, all back doors are shut.

    Parameters
    ----------
    edges : (n_variables, n_variables) bool array
    cause : int, or a list of those that are set at once
    effect : int
    chosen : iterable of int
    past : (n_variables,) bool array, optional
        Columns of earlier steps: back doors lead from any of them to any other.

    Examples
    --------
    >>> edges = np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]], dtype=bool)  # 0 confounds 1 -> 2
    >>> is_adjustment_set(edges, 1, 2, []), is_adjustment_set(edges, 1, 2, [0])
    (False, True)
    """
    if past is not None:
        edges = with_joined_past(edges, past)
    given = np.zeros(len(edges), dtype=bool)
    given[list(chosen)] = True
    if (given & forbidden_nodes(edges, cause, effect)).any():
        return False
    without = _back_door_graph(edges, cause, effect)
    return all(d_separated(without, int(one), effect, given) for one in np.atleast_1d(cause))


def optimal_adjustment(edges: BoolArray, cause: Causes, effect: int) -> IntArray | None:
    """The set of smallest asymptotic variance in a linear model: the parents of the causal nodes, less the forbidden.

    Returns
    -------
    columns : (n_chosen,) int array or None
        None when no directed path leads from cause to effect, so that there is nothing to estimate.

    Examples
    --------
    >>> edges = np.array([[0, 1, 0], [0, 0, 0], [0, 1, 0]], dtype=bool)  # 0 -> 1 <- 2
    >>> optimal_adjustment(edges, 0, 1)
    array([2])
    """
    on_path = causal_nodes(edges, cause, effect)
    if not on_path.any():
        return None
    return np.flatnonzero(edges[:, on_path].any(axis=1) & ~forbidden_nodes(edges, cause, effect))


def minimal_adjustments(edges: BoolArray, cause: int, effect: int, past: BoolArray | None = None) -> Iterator[IntArray]:
    r"""Every adjustment set that holds nothing superfluous, one at a time; none where no directed path leads on.

    They are the minimal separators of cause and effect in the moral graph of the back-door graph's ancestors, with the
    forbidden variables eliminated. The first is the one closest to the cause. From a separator S with the component C
    of the cause, the next are found by letting C swallow a member of S (Berry, Bordat, Cogis 2000).

    Examples
    --------
    >>> edges = np.zeros((4, 4), dtype=bool)
    >>> edges[[0, 0, 1, 2], [1, 2, 3, 3]] = True  # 0 -> 1 -> 3 and 0 -> 2 -> 3
    >>> [chosen.tolist() for chosen in minimal_adjustments(edges, 1, 3)]
    [[0], [2]]
    """
    if not causal_nodes(edges, cause, effect).any():
        return
    links = _separation_graph(edges, cause, effect, past)
    if links[cause, effect]:
        return
    first = _boundary(links, _component(links, effect, links[cause] | only(cause, len(links))))
    seen, waiting = {first.tobytes()}, [first]
    while waiting:
        separator = waiting.pop(0)
        yield np.flatnonzero(separator)
        near_cause = _component(links, cause, separator)
        for member in np.flatnonzero(separator & ~links[effect]):
            grown = near_cause.copy()
            grown[member] = True
            taken = grown | links[grown].any(axis=0)
            if taken[effect]:
                continue
            further = _boundary(links, _component(links, effect, taken))
            if further.tobytes() not in seen:
                seen.add(further.tobytes())
                waiting.append(further)


def d_separated(edges: BoolArray, first: int, second: int, given: BoolArray) -> bool:
    """Whether two variables are independent given others, by the graph: separated in the moral graph of ancestors."""
    links = _moral_graph(edges, np.flatnonzero(given), first, second)
    return not _component(links, first, given)[second]


def _back_door_graph(edges: BoolArray, cause: Causes, effect: int) -> BoolArray:
    """The graph without the first edge of every causal path."""
    return edges & ~(only(cause, len(edges))[:, None] & causal_nodes(edges, cause, effect))


def _moral_graph(edges: BoolArray, given: IntArray, first: int, second: int) -> BoolArray:
    """Undirected links among the ancestors of the named variables: edges, and marriages of parents."""
    reach = ancestors(edges) | np.eye(len(edges), dtype=bool)
    kept = np.asarray(reach[:, [first, second, *given.tolist()]].any(axis=1))
    inside = edges & kept[:, None] & kept[None, :]
    married = inside.astype(np.float32) @ inside.T.astype(np.float32) > 0  # transposed: parents of the same child
    links: BoolArray = inside | inside.T | married
    np.fill_diagonal(links, False)
    return links


def _separation_graph(edges: BoolArray, cause: int, effect: int, past: BoolArray | None) -> BoolArray:
    """The moral graph in which a minimal adjustment set is a minimal separator: forbidden variables are eliminated."""
    if past is not None:
        edges = with_joined_past(edges, past)
    links = _moral_graph(_back_door_graph(edges, cause, effect), np.zeros(0, np.int64), cause, effect)
    forbidden = forbidden_nodes(edges, cause, effect)
    if past is not None:
        forbidden[-1] = True  # what joins the past is no column
    for node in np.flatnonzero(forbidden & (np.arange(len(edges)) != cause) & (np.arange(len(edges)) != effect)):
        for i, j in combinations(np.flatnonzero(links[node]), 2):
            links[i, j] = links[j, i] = True
        links[node] = links[:, node] = False
    return links


def _component(links: BoolArray, start: int, removed: BoolArray) -> BoolArray:
    """Variables that can be reached from one without passing through the removed ones."""
    return downstream(links, only(start, len(links)), removed)


def _boundary(links: BoolArray, members: BoolArray) -> BoolArray:
    """Neighbors of a set outside of it."""
    boundary: BoolArray = links[members].any(axis=0) & ~members
    return boundary
