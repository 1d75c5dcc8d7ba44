"""Pictures of a graph: layers by causal order, the geometry that every picture shares, and matplotlib.

Causes are to the left, and few edges cross, in the way of Sugiyama, Tagawa and Toda (1981): a layer for each variable,
bends where an edge passes through layers, sweeps that sort each layer by its neighbors, and rows that keep edges
straight.
"""

from __future__ import annotations

import io
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from precede.graph.causal_graph import CausalGraph

SWEEPS = 12
BEND_ROOM, CROWDED_BEND_ROOM = 0.45, 0.2
"""Room that a passing edge takes in a layer, relative to a variable's; less where they outnumber the variables."""

PULL = 0.1
"""How strongly rows are pulled to the middle, which keeps the picture from drifting into a slant."""

MOST_BENDS = 4000
"""Graphs denser than this are drawn with edges straight through the layers."""


Neighbors = defaultdict[int, list[int]]


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
    before, after = Neighbors(list), Neighbors(list)
    for left, right in links:
        before[right].append(left)
        after[left].append(right)
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


def _uncross(
    columns: list[list[int]], before: Neighbors, after: Neighbors, links: list[tuple[int, int]]
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


def _rows(columns: list[list[int]], before: Neighbors, after: Neighbors, n_variables: int, n: int) -> FloatArray:
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
            near = [[*before[p], *after[p]] if last else (before if forward else after)[p] for p in column]
            wish = np.array([row[own].mean() if own else row[p] for p, own in zip(column, near, strict=True)])
            row[column] = _monotone((1 - PULL) * wish - offsets[k]) + offsets[k]
    return row - row[[p for column in columns for p in column]].min() if columns else row


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


LETTER = 7.6
"""Width of a letter of the labels, in pixels."""

LONGEST_LABEL = 18
BOX_HEIGHT, PADDING = 28.0, 22.0
MANY_VARIABLES = 40
"""From here on rows are closer and the picture is less wide, so that the labels stay readable on a screen."""

ROW_HEIGHT, CLOSE_ROW_HEIGHT = 42.0, 34.0
PROPORTION, NARROW_PROPORTION = 1.6, 1.3
"""Width over height that the layers are spread to, as far as the gaps between them allow."""

GAPS = (56.0, 210.0)


@dataclass(frozen=True)
class Box:
    """Where a variable is drawn: the middle of its box, and its width."""

    x: float
    y: float
    width: float
    label: str


@dataclass(frozen=True)
class Drawing:
    """Boxes and curves in pixels.

    Parameters
    ----------
    boxes : list of Box
        In column order.
    curves : dict
        ``curves[i, j]``: points of the curve from i to j as (x, y, slope), from box to box.
    width, height : float
    """

    boxes: list[Box]
    curves: dict[tuple[int, int], list[tuple[float, float, float]]]
    width: float
    height: float

    def path(self, edge: tuple[int, int]) -> list[tuple[float, float]]:
        """Start of an edge, then two controls and the end of each cubic piece; the curve runs level at both ends."""
        points = self.curves[edge]
        path = [points[0][:2]]
        for (x0, y0, s0), (x1, y1, s1) in pairwise(points):
            third = (x1 - x0) / (2 if len(points) == 2 else 2.6)
            path += [(x0 + third, y0 + s0 * third), (x1 - third, y1 - s1 * third), (x1, y1)]
        return path


def draw(graph: CausalGraph) -> Drawing:
    """Place boxes and curves of a graph; variables without edges go in lines below it."""
    layout = layered_layout(graph.edges, graph.positions)
    many = graph.n_variables > MANY_VARIABLES
    row_height, proportion = (CLOSE_ROW_HEIGHT, NARROW_PROPORTION) if many else (ROW_HEIGHT, PROPORTION)
    labels = [_shortened(str(name)) for name in graph.names]
    widths = np.array([max(34.0, len(label) * LETTER + 18.0) for label in labels])
    layers = layout.n_layers
    widest = [float(widths[layout.layer == k].max(initial=0.0)) for k in range(layers)]
    bends = [row for route in layout.routes.values() for _, row in route]
    lowest = max([*layout.row[layout.layer >= 0], *bends], default=-1.0)
    gap = float(np.clip((proportion * lowest * row_height - sum(widest)) / max(layers - 1, 1), *GAPS))
    middles = np.cumsum([PADDING, *(w + gap for w in widest)])[:layers] + np.array(widest) / 2
    joined = layout.layer >= 0
    x, y = np.zeros(len(labels)), PADDING + BOX_HEIGHT / 2 + layout.row * row_height
    x[joined] = middles[layout.layer[joined]]
    width = float(middles[-1] + widest[-1] / 2 + PADDING) if layers else 600.0
    height = PADDING * 2 + BOX_HEIGHT + lowest * row_height
    across, down = PADDING, height + BOX_HEIGHT / 2
    for node in (int(k) for k in graph.positions if not joined[k]):
        if across + widths[node] + PADDING > max(width, 600.0):
            across, down = PADDING, down + row_height
        x[node], y[node] = across + widths[node] / 2, down
        across += widths[node] + 14.0
        width, height = max(width, across + PADDING), down + BOX_HEIGHT / 2 + PADDING
    boxes = [Box(float(x[k]), float(y[k]), float(widths[k]), label) for k, label in enumerate(labels)]
    top = PADDING + BOX_HEIGHT / 2
    curves = {
        (i, j): _curve(boxes[i], boxes[j], [(float(middles[k]), top + row * row_height) for k, row in route])
        for (i, j), route in layout.routes.items()
    }
    return Drawing(boxes, curves, width, height)


def _curve(cause: Box, effect: Box, bends: list[tuple[float, float]]) -> list[tuple[float, float, float]]:
    start, stop = (cause.x + cause.width / 2, cause.y), (effect.x - effect.width / 2 - 2.0, effect.y)
    points = [start, *bends, stop]
    slopes = [
        (after[1] - before[1]) / (after[0] - before[0]) for before, after in zip(points[:-2], points[2:], strict=True)
    ]
    return [(x, y, slope) for (x, y), slope in zip(points, [0.0, *slopes, 0.0], strict=True)]


def _shortened(label: str) -> str:
    return label if len(label) <= LONGEST_LABEL else label[: LONGEST_LABEL - 1] + "…"


PLAIN, NEGATIVE = "#6b7683", "#b3562a"
"""Colors of lines: dashes mean a doubtful edge on every page, so a negative effect has a color."""


def strokes(graph: CausalGraph, least: float, most: float) -> Iterator[tuple[int, int, float, str]]:
    """Cause, effect, line width and color of each edge."""
    strengths = graph.shown_strengths
    sizes = np.abs(np.nan_to_num(strengths))
    largest = float(sizes[graph.edges].max(initial=0.0)) or 1.0
    for i, j in np.argwhere(graph.edges):
        color = NEGATIVE if strengths[i, j] < 0 else PLAIN
        yield int(i), int(j), least + (most - least) * float(sizes[i, j]) / largest, color


def to_axes(graph: CausalGraph, ax: Axes | None = None) -> Axes:
    """Draw with matplotlib, on a figure of the picture's size where no axes are given."""
    from matplotlib import pyplot as plt
    from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
    from matplotlib.path import Path

    drawing = draw(graph)
    font = 8 if ax is not None else 10
    if ax is None:
        ax = plt.figure(figsize=(min(drawing.width / 72, 16), min(drawing.height / 72, 12))).add_axes((0, 0, 1, 1))
    for i, j, width, color in strokes(graph, 0.7, 2.8):
        points = drawing.path((i, j))
        path = Path(points, [Path.MOVETO] + [Path.CURVE4] * (len(points) - 1))
        style: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 9, "shrinkA": 0, "shrinkB": 0}
        words = f"{graph.names[i]} → {graph.names[j]}: strength {graph.shown_strengths[i, j]:.3g}"
        ax.add_patch(FancyArrowPatch(path=path, linewidth=width, color=color, gid=words, **style))
    for box in drawing.boxes:
        corner = (box.x - box.width / 2, box.y - BOX_HEIGHT / 2)
        round_ = "round,pad=0,rounding_size=8"
        ax.add_patch(FancyBboxPatch(corner, box.width, BOX_HEIGHT, round_, facecolor="white", edgecolor="#1f5f8b"))
        ax.text(box.x, box.y, box.label, ha="center", va="center", fontsize=font, parse_math=False)
    ax.set_xlim(0, drawing.width)
    ax.set_ylim(drawing.height, 0)  # rows count from the top
    ax.set_axis_off()
    return ax


def to_svg(graph: CausalGraph) -> str:
    """The same picture as inline SVG, for a notebook; always the same text for the same graph."""
    from matplotlib import pyplot as plt

    text, title = io.StringIO(), f"Causal graph of {graph.n_variables} variables and {graph.n_edges} edges"
    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": "precede"}):
        plt.sca(to_axes(graph))
        plt.savefig(text, format="svg", metadata={"Title": title, "Date": None})
        plt.close()
    svg = '<svg style="max-width:100%;height:auto"' + text.getvalue().partition("<svg")[2]
    return re.sub('<g id="([^"]* → [^"]*)">', r"<g><title>\1</title>", svg)  # words to be seen over each edge
