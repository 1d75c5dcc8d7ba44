"""PAGs: which columns cause which, where any two may share a cause that is not in the data.

A DAG that a search over orders found is a sparse start (Ogarrio, Spirtes, Ramsey 2016: GFCI). Of its edges those fall
that a test of independence finds superfluous, given neighbors or possible d-separators (Spirtes, Glymour, Scheines
2000); colliders and the rules of :mod:`precede.graph.ancestral` give the marks. Knowledge holds in every step: required
edges are not tested, nobody is conditioned on what comes later than both, and no mark contradicts it. Of all
sets the one that separates best counts (Ramsey 2016), and edges fall together (Colombo, Maathuis 2014), so the
sequence of the columns changes nothing.

The search has found each edge worth its price, and a set that makes two joined columns look independent may be chance:
paths cancel, the more often the more edges there are to test. So the evidence is that of extended BIC, which outweighs
the number of sets (Chen, Chen 2008), each independence has a price besides, and what is left must outweigh the number
of edges. Edges fall together: i - j and l - j, say, both without k between, are one claim, that k does not cause j.
One independence is at most half the logarithm of the rows: enough among a few columns, too little among many.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, combinations, islice
from typing import Protocol

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.data.table import Table
from precede.graph.ancestral import ARROW, Triple, orient, unshielded
from precede.graph.dags import topological_order
from precede.kinds import indicator_places
from precede.knowledge import Constraints
from precede.runtime.deadline import Deadline
from precede.scores.covariance import covariance, moments_of, standardized

SURE = 1.5
"""Nats that an independence costs before it counts (``benchmarks/hidden.py sure``)."""

MOST_GIVEN = 4
"""Variables that are conditioned on at most."""

MOST_SETS = 2000
"""Sets of a size that are tried for a pair; the rest is left out, which keeps the edge."""

Pair = tuple[int, int]


class IndependenceTest(Protocol):
    """Answers how well the data agree with the independence of two columns given others."""

    def evidence(self, first: int, second: int, given: IntArray) -> FloatArray:
        """Of each row of ``given``, (n_sets, size) columns: nats by which independence is ahead; below 0, behind."""

    def most(self, first: int, second: int) -> float:
        """The largest evidence that there could be for a pair."""


class CovarianceTest:
    r"""Independence in a Gaussian model, where a column may be a block of several, judged by BIC.

    .. math:: \tfrac12 b_i b_j \log m - \tfrac12 \lambda, \quad
              \lambda = -(m - |S| - \tfrac{b_i + b_j + 3}{2}) \log \frac{|R_{ijS}|\,|R_S|}{|R_{iS}|\,|R_{jS}|}

    with b the widths of the blocks (Wilks' lambda with Bartlett's factor, a chi-square of :math:`b_i b_j` degrees). For
    single columns it is the test of a partial correlation; categories are blocks of indicators (Andrews, Ramsey, Cooper
    2019), curves blocks of powers.

    Parameters
    ----------
    matrix : (n_columns, n_columns) float array
        Covariance.
    blocks : sequence of slice
        Columns of each variable.
    n_samples : int
    """

    def __init__(self, matrix: FloatArray, blocks: Sequence[slice], n_samples: int) -> None:
        scale = np.sqrt(np.diag(matrix))
        scale[scale == 0] = 1.0
        self._correlation = matrix / np.outer(scale, scale)
        np.fill_diagonal(self._correlation, 1.0 + 1e-9)  # a ridge: collinear columns are no contradiction
        self._columns = [np.arange(block.start, block.stop) for block in blocks]
        self._n_samples = n_samples
        self._single = all(len(columns) == 1 for columns in self._columns)

    def evidence(self, first: int, second: int, given: IntArray) -> FloatArray:
        """As of :class:`IndependenceTest`."""
        if self._single:
            return self._judged(np.array([first]), np.array([second]), given)
        columns, found = self._columns, np.zeros(len(given))
        wide = [np.concatenate([np.zeros(0, int), *(columns[k] for k in row)]) for row in given]
        widths = np.array([len(row) for row in wide])
        for width in np.unique(widths):  # as one stack
            chosen = np.flatnonzero(widths == width)
            found[chosen] = self._judged(columns[first], columns[second], np.stack([wide[k] for k in chosen]))
        return found

    def most(self, first: int, second: int) -> float:
        """As of :class:`IndependenceTest`."""
        return float(len(self._columns[first]) * len(self._columns[second]) * np.log(self._n_samples)) / 2

    def _judged(self, first: IntArray, second: IntArray, given: IntArray) -> FloatArray:
        a, b, pair, matrix = len(first), len(second), np.concatenate([first, second]), self._correlation
        rest = given.astype(np.int64)[:, :, None]
        across = matrix[rest, pair]
        within = matrix[rest, np.swapaxes(rest, 1, 2)]
        left = matrix[np.ix_(pair, pair)] - np.swapaxes(across, 1, 2) @ np.linalg.solve(within, across)
        logs, one, other = (np.linalg.slogdet(block)[1] for block in (left, left[:, :a, :a], left[:, a:, a:]))
        logs = logs - one - other
        rows = max(self._n_samples - given.shape[1] - (a + b + 3) / 2, 1.0)
        return np.asarray((a * b * np.log(self._n_samples) + rows * np.minimum(logs, 0.0)) / 2)


def independence_test(table: Table, curves: bool = False) -> CovarianceTest:
    """The test for a table: columns as they are, categories as indicators, and where causes act in curves, powers."""
    if not curves:
        matrix, n_samples = moments_of(table)
        return CovarianceTest(matrix, indicator_places(table.kinds), n_samples)
    values = standardized(table.values)
    powers = np.stack([values, values**2, values**3], axis=2).reshape(len(values), -1)
    blocks = [slice(3 * k, 3 * k + 3) for k in range(table.n_variables)]
    return CovarianceTest(covariance(powers), blocks, table.n_samples)


def start_constraints(constraints: Constraints) -> Constraints:
    """The knowledge for the search that starts: two columns that cannot cause each other may share a hidden cause."""
    neither = ~constraints.allowed & ~constraints.allowed.T & ~np.eye(len(constraints.allowed), dtype=bool)
    return replace(constraints, allowed=constraints.allowed | (neither & ~constraints.before.T))  # not against time


def learn_pag(
    edges: BoolArray,
    test: IndependenceTest,
    constraints: Constraints | None = None,
    *,
    sure: float = SURE,
    most_given: int | None = MOST_GIVEN,
    deadline: Deadline | None = None,
) -> IntArray:
    """Marks of the PAG, as :mod:`precede.graph.ancestral` writes them.

    Parameters
    ----------
    edges : (n_variables, n_variables) bool array
        A DAG that implies no independence that does not hold: two columns without an edge are independent given the
        parents of the later one. The full DAG makes it FCI.
    test : IndependenceTest
    constraints : Constraints, optional
    sure : float
        Nats that an independence costs: edges fall where what is left outweighs the number of edges that may.
    most_given : int, optional
        Variables that are conditioned on at most; None for no limit.
    deadline : Deadline, optional
        When no more edges are tested.
    """
    search = _PagSearch(edges, test, constraints or Constraints.none(len(edges)), sure, deadline)
    most = len(edges) if most_given is None else most_given
    search.thin_out(most, [set(np.flatnonzero(row).tolist()) for row in search.adjacent])
    search.thin_out(most, search.possible_separators())
    return orient(search.adjacent, search.colliders(), search.judge, search.known)


class _PagSearch:
    """The skeleton so far, and what separates the pairs that are not joined."""

    def __init__(
        self, edges: BoolArray, test: IndependenceTest, known: Constraints, sure: float, deadline: Deadline | None
    ) -> None:
        self.edges, self.test, self.known, self.sure = edges, test, known, sure
        self.deadline = deadline or Deadline(None)
        self.adjacent = np.asarray(edges | edges.T)  # transposed: a pair, whichever way
        self.place = np.argsort(topological_order(edges))
        self.removed: dict[Pair, tuple[set[int], float]] = {}

    def separator(self, i: int, j: int) -> set[int]:
        """What makes two columns without an edge independent."""
        if (min(i, j), max(i, j)) in self.removed:
            return self.removed[min(i, j), max(i, j)][0]
        later = i if self.place[i] > self.place[j] else j
        return set(np.flatnonzero(self.edges[:, later]).tolist())

    def judge(self, first: int, before: int, middle: int, last: int) -> bool:
        """Whether the middle of a discriminating path is a collider."""
        return middle not in self.separator(first, last)

    def colliders(self) -> list[Triple]:
        """Unshielded triples whose middle separates nothing; those of the start first, then the surest."""
        found = [(a, b, c) for a, b, c in unshielded(self.adjacent) if b not in self.separator(a, c)]
        return sorted(found, key=lambda t: (-self.removed.get((t[0], t[2]), ((), np.inf))[1], t))

    def thin_out(self, most: int, around: list[set[int]]) -> None:
        """Remove the edges that sets of these variables make superfluous, where the evidence together is sure."""
        found: dict[Pair, tuple[set[int], float]] = {}
        tested = self.adjacent & ~self.known.required & ~self.known.required.T
        start = self.edges | self.edges.T  # transposed: a pair, whichever way
        # of a superfluous edge the start leaves a way round, so that it is a side of a triangle
        pairs = [(int(i), int(j)) for i, j in np.argwhere(np.triu(tested)) if (start[i] & start[j]).any()]
        for i, j in pairs:
            if self.deadline.passed():
                return
            if (best := self._best(i, j, most, around)) is not None and best[1] > self.sure:
                found[i, j] = best
        joined = self.adjacent.copy()
        support: dict[Pair, float] = defaultdict(float)
        for (i, j), (given, ahead) in found.items():
            for claim in self._claims(joined, i, j, given):
                support[claim] += ahead - self.sure
        for (i, j), (given, ahead) in found.items():
            together = [support[claim] for claim in self._claims(joined, i, j, given)]
            if max([ahead - self.sure, *together]) > np.log(len(pairs)):
                self.adjacent[i, j] = self.adjacent[j, i] = False
                self.removed[i, j] = given, ahead

    def _claims(self, joined: BoolArray, i: int, j: int, given: set[int]) -> list[Pair]:
        """``(end, k)``: that k does not cause an end of a pair which is independent without k."""
        between = [int(k) for k in np.flatnonzero(joined[i] & joined[j]) if k not in given]
        return [(end, k) for k in between for end in (i, j)]

    def _best(self, i: int, j: int, most: int, around: list[set[int]]) -> tuple[set[int], float] | None:
        """The set that separates best, and the evidence less the price of the choice; None where none does."""
        best: tuple[set[int], float] | None = None
        tried = 0
        for size in range(min(most, max(len(around[i]), len(around[j]))) + 1):
            sets = self._sets(i, j, size, around)
            tried += len(sets)
            if not len(sets) or np.log(tried) >= self.test.most(i, j):  # so many sets outweigh any evidence
                break
            evidence = self.test.evidence(i, j, sets)
            place = int(evidence.argmax())
            ahead = float(evidence[place] - np.log(tried))
            if ahead > (0.0 if best is None else best[1]):
                best = set(sets[place].tolist()), ahead
        return best

    def _sets(self, i: int, j: int, size: int, around: list[set[int]]) -> IntArray:
        later = self.known.before[i] & self.known.before[j]
        sides = [sorted(k for k in around[end] - {i, j} if not later[k]) for end in (i, j)]
        sets = chain.from_iterable(combinations(side, size) for side in sides)
        once = dict.fromkeys(islice(sets, 2 * MOST_SETS))  # either side has a set once at most
        return np.array(list(once)[:MOST_SETS], dtype=np.int64)

    def possible_separators(self) -> list[set[int]]:
        """Of each column all that paths lead to whose inner variables are colliders or corners of a triangle."""
        ends = orient(self.adjacent, self.colliders(), None, self.known)
        arrow = ends == ARROW
        found = []
        for start in range(len(ends)):
            first = [(start, int(k)) for k in np.flatnonzero(self.adjacent[start])]
            seen, front = set(first), first
            while front:
                last, node = front.pop()
                passes = self.adjacent[node] & (self.adjacent[last] | (arrow[last, node] & arrow[:, node]))
                passes[[start, last]] = False
                new = [(node, int(k)) for k in np.flatnonzero(passes) if (node, int(k)) not in seen]
                seen.update(new)
                front += new
            found.append({node for _, node in seen})
        return found
