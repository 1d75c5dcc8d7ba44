"""The shape of noise: how far residuals are from Gaussian, and which directions of a class that tells."""

import math
from collections.abc import Callable

import numpy as np

from precede.arrays import BoolArray, FloatArray
from precede.data.table import evenly_spaced
from precede.graph.ancestral import reachable
from precede.graph.dags import consistent_extension, cpdag, meek_closure, topological_order
from precede.ties import first_best

ODD_WEIGHT = 36 / (8 * math.sqrt(3) - 9)
EVEN_WEIGHT = 24 / (16 * math.sqrt(3) - 27)
GAUSSIAN_MEAN = math.sqrt(0.5)
"""Of :math:`e^{-z^2/2}`, where z is a standard Gaussian."""

SMALLEST_SPREAD = 1e-9
"""A residual of less than this share of its column's standard deviation is rounding, and has no shape."""

SMALLEST_EVIDENCE = 5.0
"""Nats that a turned edge must gain or lose: in Gaussian data the gains of chance are about one."""

MOST_ROWS = 20_000
"""Rows that shapes are judged by, evenly spaced: enough to tell what can be told."""

Worth = Callable[[int, BoolArray], float]
"""Nats that the shape of a variable's residual given a set of parents is worth."""


def negentropy(sample: FloatArray) -> float:
    r"""Distance from a Gaussian in nats a row, free of scale; 0 where there is hardly any spread.

    .. math:: k_1 \, E[z e^{-z^2/2}]^2 + k_2 \, (E[e^{-z^2/2}] - \sqrt{1/2})^2

    with z the sample at mean 0 and variance 1 (Hyvärinen 1998). For n Gaussian values, n times this is about 1.

    Parameters
    ----------
    sample : (n_samples,) array
        Of a column whose standard deviation is about one.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> negentropy(rng.normal(size=2000)) < 0.002 < 0.02 < negentropy(rng.laplace(size=2000))
    True
    """
    centered = sample - sample.mean()
    spread = math.sqrt(np.square(centered).mean())
    if spread <= SMALLEST_SPREAD:
        return 0.0
    z = centered / spread
    bell = np.exp(-0.5 * z * z)
    odd, even = (z * bell).mean(), bell.mean() - GAUSSIAN_MEAN
    return float(ODD_WEIGHT * odd * odd + EVEN_WEIGHT * even * even)


class ResidualShapes:
    """What the shapes of linear residuals are worth, each worked out once.

    Parameters
    ----------
    columns : (n_variables, n_rows) array
        Standardized.
    correlation : (n_variables, n_variables) array
        What weights are taken from.
    price : float
        Nats that are taken off, to zero at least.
    """

    def __init__(self, columns: FloatArray, correlation: FloatArray, price: float = 0.0) -> None:
        self._columns, self._correlation, self._price = columns, correlation, price
        self._known: dict[tuple[int, bytes], float] = {}

    def __call__(self, variable: int, parents: BoolArray) -> float:
        key = variable, parents.tobytes()
        if key not in self._known:
            members = np.flatnonzero(parents)
            residual = self._columns[variable]
            if len(members):
                block, cross = self._correlation[np.ix_(members, members)], self._correlation[members, variable]
                residual = residual - np.linalg.solve(block, cross) @ self._columns[members]
            self._known[key] = max(0.0, len(residual) * negentropy(residual) - self._price)
        return self._known[key]


def columns_for_shape(values: FloatArray, scale: FloatArray) -> FloatArray:
    """Centered columns over their scales, (n_variables, n_rows), of at most :data:`MOST_ROWS` rows."""
    rows = values[evenly_spaced(len(values), MOST_ROWS)]
    return np.ascontiguousarray(((rows - rows.mean(axis=0)) / scale).T)


def follow_shapes(
    edges: BoolArray, worth: Worth, may_turn: BoolArray, permits: Callable[[BoolArray], bool] = lambda _: True
) -> tuple[BoolArray, dict[tuple[int, int], float]]:
    """Turn covered edges of a DAG while that makes the residuals clearly less Gaussian.

    Turning an edge i -> j leads to another member of the class exactly when j has the parents of i, and i (Chickering
    1995).

    Parameters
    ----------
    edges : (n_variables, n_variables) bool array
    worth : callable
    may_turn : (n_variables, n_variables) bool array
        ``[i, j]``: whether i -> j may become j -> i.
    permits : callable
        Whether a graph may be: the first that may not ends the climb.

    Returns
    -------
    edges : (n_variables, n_variables) bool array
    gains : dict
        What turning each covered edge of the result would gain.
    """
    edges = edges.copy()
    for _ in range(int(edges.sum()) ** 2 + 1):  # every turn gains, so this ends; the limit is for rounding
        pairs = [(int(i), int(j)) for i, j in np.argwhere(edges & may_turn) if _is_covered(edges, i, j)]
        gains = np.array([_gain_of_turning(edges, worth, i, j) for i, j in pairs])
        best = first_best(gains) if len(gains) else -1
        if best < 0 or gains[best] <= SMALLEST_EVIDENCE:
            return edges, dict(zip(pairs, gains.tolist(), strict=True))
        i, j = pairs[best]
        edges[i, j], edges[j, i] = False, True
        if not permits(edges):
            edges[i, j], edges[j, i] = True, False
            break
    return edges, {}


def _is_covered(edges: BoolArray, i: int, j: int) -> bool:
    parents = edges[:, j].copy()
    parents[i] = False
    return bool((parents == edges[:, i]).all())


def _gain_of_turning(edges: BoolArray, worth: Worth, i: int, j: int) -> float:
    """Of i -> j, a covered edge."""
    above = edges[:, i]
    with_i, with_j = above.copy(), above.copy()
    with_i[i], with_j[j] = True, True
    return worth(j, above) + worth(i, with_j) - worth(i, above) - worth(j, with_i)


def told_by_shape(edges: BoolArray, worth: Worth) -> BoolArray:
    """Edges whose direction shapes tell and the class leaves open: turned, every member is worth clearly less.

    The variables that open edges connect have the same parents among the others, and can be turned by themselves.

    Parameters
    ----------
    edges : (n_variables, n_variables) bool array
        A DAG that is best among its class, as far as is known.
    worth : callable
    """
    told = np.zeros_like(edges)
    pattern = cpdag(edges) != 0
    connected = reachable(pattern & pattern.T)  # transposed: an open edge has both directions
    for nodes in {tuple(np.flatnonzero(row).tolist()) for row in connected if row.sum() > 1}:
        inside = np.ix_(nodes, nodes)
        parents = edges[:, nodes[0]].copy()
        parents[list(nodes)] = False  # from outside

        def worth_inside(
            v: int, above: BoolArray, nodes: tuple[int, ...] = nodes, parents: BoolArray = parents
        ) -> float:
            whole = parents.copy()
            whole[[nodes[k] for k in np.flatnonzero(above)]] = True
            return worth(nodes[v], whole)

        told[inside] = _told_inside(edges[inside], worth_inside)
    return told


def _told_inside(edges: BoolArray, worth: Worth) -> BoolArray:
    """The same where the class leaves every edge open."""
    told = np.zeros_like(edges)
    adjacent = edges | edges.T  # transposed: an undirected graph has both directions
    here = sum(worth(v, edges[:, v]) for v in range(len(edges)))
    if here <= SMALLEST_EVIDENCE:
        return told
    wish = topological_order(edges)
    for i, j in np.argwhere(edges):
        known = meek_closure(adjacent, told).copy()
        if known[i, j]:
            continue
        known[j, i] = True
        known = meek_closure(adjacent, known)
        member = consistent_extension(known | (adjacent & ~known.T), wish)  # transposed: the other direction
        if member is not None:
            member, _ = follow_shapes(member, worth, member & ~known)
            there = sum(worth(v, member[:, v]) for v in range(len(member)))
        told[i, j] = member is None or here - there > SMALLEST_EVIDENCE
    return meek_closure(adjacent, told)
