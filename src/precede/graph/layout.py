"""Where to draw the variables: in layers by causal order, causes to the left, with few crossings.

The way of Sugiyama, Tagawa and Toda (1981): a layer for each variable, bends where an edge passes through layers,
sweeps that sort each layer by its neighbors, and rows that keep edges straight.
"""

from dataclasses import dataclass

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray

SWEEPS = 12
BEND_ROOM, CROWDED_BEND_ROOM = 0.45, 0.2
"""Room that a passing edge takes in a layer, relative to a variable's; less where they outnumber the variables."""

PULL = 0.1
"""How strongly rows are pulled to the middle, which keeps the picture from drifting into a slant."""

MOST_BENDS = 4000
"""Graphs denser than this are drawn with edges straight through the layers."""


@dataclass(frozen=True)
class Layout:
    """Places of the variables and ways of the edges, in units of layers and rows.

    Parameters
    ----------
    layer : (n_variables,) int array
        0 is the leftmost; every edge leads to a higher layer. -1 for a variable without edges.
    row : (n_variables,) float array
        From the top, at least one apart within a layer.
    routes : dict
        ``routes[i, j]``: (layer, row) of each bend between i and j, often none.
    """

    layer: IntArray
    row: FloatArray
    routes: dict[tuple[int, int], list[tuple[int, float]]]

    @property
    def n_layers(self) -> int:
        return int(self.layer.max(initial=-1)) + 1


def layered_layout(edges: BoolArray, order: IntArray) -> Layout:
    """Lay out a DAG in layers.

    Parameters
    ----------
    edges : (n_variables, n_variables) bool array
        ``edges[i, j]`` means i -> j.
    order : (n_variables,) int array
        A causal order of the graph.

    Examples
    --------
    >>> chain = np.eye(3, k=1, dtype=bool)
    >>> layered_layout(chain, np.arange(3)).layer
    array([0, 1, 2])
    """
    d = len(edges)
    layer = _layers(edges, order)
    pairs = [(int(i), int(j)) for i in order for j in np.flatnonzero(edges[i])]
    spans = sum(int(layer[j] - layer[i]) - 1 for i, j in pairs)
    points = list(layer)  # layer of each point; variables first, then bends
    chains: dict[tuple[int, int], list[int]] = {}
    for i, j in pairs:
        between = range(layer[i] + 1, layer[j]) if spans <= MOST_BENDS else range(0)
        chains[i, j] = list(range(len(points), len(points) + len(between)))
        points.extend(between)
    links = [link for (i, j), bends in chains.items() for link in zip([i, *bends], [*bends, j], strict=True)]
    columns = [[int(p) for p in order if layer[p] == k] for k in range(int(layer.max(initial=-1)) + 1)]
    for point in range(d, len(points)):
        columns[points[point]].append(point)
    before, after = _neighbors(links, len(points))
    columns = _uncross(columns, before, after, links)
    row = _rows(columns, before, after, d, len(points))
    routes = {pair: [(int(points[p]), float(row[p])) for p in bends] for pair, bends in chains.items()}
    return Layout(layer, row[:d], routes)


def _layers(edges: BoolArray, order: IntArray) -> IntArray:
    """Longest path from a source; then variables with more effects than causes move right, towards their effects."""
    layer = np.zeros(len(edges), dtype=np.int64)
    for j in order:
        parents = np.flatnonzero(edges[:, j])
        layer[j] = layer[parents].max() + 1 if len(parents) else 0
    for i in order[::-1]:
        children = np.flatnonzero(edges[i])
        if len(children) > edges[:, i].sum():
            layer[i] = layer[children].min() - 1
    alone = ~(edges.any(axis=0) | edges.any(axis=1))
    layer[alone] = -1
    return layer


def _neighbors(links: list[tuple[int, int]], n: int) -> tuple[list[list[int]], list[list[int]]]:
    before: list[list[int]] = [[] for _ in range(n)]
    after: list[list[int]] = [[] for _ in range(n)]
    for left, right in links:
        before[right].append(left)
        after[left].append(right)
    return before, after


def _uncross(
    columns: list[list[int]], before: list[list[int]], after: list[list[int]], links: list[tuple[int, int]]
) -> list[list[int]]:
    """Sort each layer by the mean place of its neighbors, to and fro; keep the sorting with the fewest crossings."""
    place: dict[int, float] = {}

    def note(column: list[int]) -> None:
        place.update({point: k - (len(column) - 1) / 2 for k, point in enumerate(column)})

    for column in columns:
        note(column)
    best, fewest = [list(column) for column in columns], _crossings(columns, links)
    for sweep in range(SWEEPS):
        forward = sweep % 2 == 0
        neighbors = before if forward else after
        for column in columns if forward else columns[::-1]:
            wish = {p: np.mean([place[q] for q in neighbors[p]]) if neighbors[p] else place[p] for p in column}
            column.sort(key=wish.__getitem__)
            note(column)
        crossings = _crossings(columns, links)
        if crossings < fewest:
            best, fewest = [list(column) for column in columns], crossings
    return best


def _crossings(columns: list[list[int]], links: list[tuple[int, int]]) -> int:
    """Number of pairs of links that cross."""
    where = {point: (k, place) for k, column in enumerate(columns) for place, point in enumerate(column)}
    by_layer: dict[int, list[tuple[int, int]]] = {}
    for left, right in links:
        by_layer.setdefault(where[left][0], []).append((where[left][1], where[right][1]))
    total = 0
    for pairs in by_layer.values():
        a, b = np.array(pairs).T
        total += int((np.sign(a[:, None] - a) * np.sign(b[:, None] - b) < 0).sum()) // 2
    return total


def _rows(
    columns: list[list[int]], before: list[list[int]], after: list[list[int]], n_variables: int, n: int
) -> FloatArray:
    """Rows near the mean of the neighbors' rows, in the given sequence and far enough apart."""
    row = np.zeros(n)
    offsets = []
    bend_room = BEND_ROOM if n < 2 * n_variables else CROWDED_BEND_ROOM
    for column in columns:
        room = np.array([1.0 if p < n_variables else bend_room for p in column])
        offsets.append(np.concatenate([[0.0], np.cumsum((room[1:] + room[:-1]) / 2)]))
        row[column] = offsets[-1] - offsets[-1].mean()
    for sweep in range(SWEEPS):
        forward = sweep % 2 == 0
        for k in range(len(columns)) if forward else range(len(columns) - 1, -1, -1):
            column = columns[k]
            last = sweep >= SWEEPS - 2  # at the end, straighten towards both sides
            wish = np.array([_mean_row(row, p, before, after, forward, last) for p in column])
            row[column] = _monotone((1 - PULL) * wish - offsets[k]) + offsets[k]
    return row - row[[p for column in columns for p in column]].min() if columns else row


def _mean_row(
    row: FloatArray, point: int, before: list[list[int]], after: list[list[int]], forward: bool, both: bool
) -> float:
    near = [*before[point], *after[point]] if both else before[point] if forward else after[point]
    return float(row[near].mean()) if near else float(row[point])


def _monotone(wish: FloatArray) -> FloatArray:
    """Nearest non-decreasing sequence in the sense of least squares (pool adjacent violators).

    Ours: importing scikit-learn's takes a second, and graphs are drawn without it.

    Examples
    --------
    >>> _monotone(np.array([0.0, 2.0, 1.0]))
    array([0. , 1.5, 1.5])
    """
    pools: list[tuple[float, int]] = []
    for value in wish:
        mean, count = float(value), 1
        while pools and pools[-1][0] > mean:
            other, size = pools.pop()
            mean, count = (mean * count + other * size) / (count + size), count + size
        pools.append((mean, count))
    return np.concatenate([np.full(count, mean) for mean, count in pools]) if pools else wish
