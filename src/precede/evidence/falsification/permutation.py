"""Is the graph any better than a random one? A permutation test of its local independences.

References
----------
Eulig, Mastakouri, Blöbaum, Hardt, Janzing (2023), Toward falsifying causal graphs using a permutation-based test.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.errors import DataError, check_positive
from precede.evidence.falsification.curves import dependence_p_values, hermite_moments
from precede.evidence.sample import sample_for
from precede.graph import CausalGraph
from precede.graph.dags import ancestors
from precede.graph.equivalence import cpdag
from precede.runtime.randomness import RandomState, numpy_rng

SIGNIFICANT = 0.05
"""Level of each independence test, and of the test as a whole."""

MOST_TESTED = 20
"""Variables whose independences are looked at in each graph, evenly spread: more would cost minutes."""


@dataclass(frozen=True)
class PermutationTest:
    """How a graph's independences hold, beside those of graphs with its variables shuffled.

    Parameters
    ----------
    p_value : float
        Share of the shuffled graphs that are violated no more often. Above .05 the graph is no better than chance.
    violated : float
        Share of the graph's independences that the data contradict.
    by_chance : float
        The same for the shuffled graphs, on average.
    equivalent : float
        Share of the shuffled graphs that claim the same as the graph. Above .05 the test cannot judge it.
    n_tests, n_permutations : int
    """

    p_value: float
    violated: float
    by_chance: float
    equivalent: float
    n_tests: int
    n_permutations: int

    @property
    def informative(self) -> bool:
        """Whether there are shuffled copies enough that claim something else."""
        return self.equivalent <= SIGNIFICANT

    @property
    def falsified(self) -> bool:
        """Whether the data treat the graph no better than its shuffled copies, where these claim something else."""
        return self.informative and self.p_value > SIGNIFICANT

    @property
    def sentence(self) -> str:
        """The verdict in plain words."""
        if self.n_tests == 0:
            return "The graph claims no independence, so the data cannot contradict it (0 tests)."
        facts = (
            f"The data contradict {self.violated:.0%} of the {self.n_tests} independences that the graph claims, and "
            f"{self.by_chance:.0%} on average once its variables are shuffled (p = {self.p_value:.2g})"
        )
        if not self.informative:
            return (
                f"{facts}: {self.equivalent:.0%} of the shuffled graphs claim just the same, so this test cannot tell "
                "the graph from a random one."
            )
        if self.falsified:
            return f"{facts}: the graph is no better than a random one of the same shape."
        return f"{facts}: a random graph of the same shape is ruled out. This confirms no direction and no single edge."


def permutation_test(
    graph: CausalGraph, data: Any = None, n_permutations: int = 99, random_state: RandomState = 0
) -> PermutationTest:
    """Test whether a graph's independences hold better than those of the same graph with shuffled variables.

    A graph says that each variable is independent of everything that does not follow from it, given its parents. Each
    such statement is tested along curves, and the share that fails is compared with shuffled graphs.

    Parameters
    ----------
    graph : CausalGraph
    data : as for ``fit``, optional
        What the graph was learned from when left out; a graph is judged most fairly on rows it has not seen.
    n_permutations : int
    random_state : int, Generator or None

    Examples
    --------
    >>> from precede import simulate
    >>> made = simulate(n_variables=8, degree=1, n_samples=300, random_state=0)
    >>> permutation_test(made.graph, made.data).falsified
    False
    """
    check_positive("n_permutations", n_permutations, integer=True)
    rows = sample_for(graph, data).rows
    if rows is None:
        raise DataError("the test needs rows, and this graph has only moments: give the table as data=...")
    moments, m = hermite_moments(rows), len(rows)
    statements = independences(graph.edges, graph.past)
    n_tests = sum(len(others) for _, others, _ in statements)
    if n_tests == 0:
        return PermutationTest(1.0, 0.0, 0.0, 1.0, 0, 0)
    identity = np.arange(graph.n_variables)
    own = violations(moments, m, statements, identity)
    rng = numpy_rng(random_state)
    pattern = cpdag(graph.edges)
    others, same = np.zeros(n_permutations), 0
    for k in range(n_permutations):
        names = rng.permutation(graph.n_variables)
        others[k] = violations(moments, m, statements, names)
        same += bool((pattern[np.ix_(names, names)] == pattern).all())
    p_value = (1 + int((others <= own).sum())) / (1 + n_permutations)
    by_chance, equivalent = float(others.mean()) / n_tests, same / n_permutations
    return PermutationTest(p_value, own / n_tests, by_chance, equivalent, n_tests, n_permutations)


Statement = tuple[int, IntArray, IntArray]


def independences(edges: BoolArray, past: BoolArray | None = None) -> list[Statement]:
    """What a graph claims: ``(variable, those it is independent of, given its parents)``.

    About columns of the past, whose causes are not learned, it claims nothing.

    Examples
    --------
    >>> chain = np.eye(3, k=1, dtype=bool)
    >>> [(v, list(map(int, others)), list(map(int, given))) for v, others, given in independences(chain)]
    [(2, [0], [1])]
    """
    reach = ancestors(edges)
    d = len(edges)
    claims = []
    for v in range(d):
        free = ~reach[v] & ~edges[:, v]
        free[v] = False
        if free.any() and (past is None or not past[v]):
            claims.append((v, np.flatnonzero(free), np.flatnonzero(edges[:, v])))
    if len(claims) > MOST_TESTED:
        claims = [claims[k] for k in np.linspace(0, len(claims) - 1, MOST_TESTED).round().astype(int)]
    return claims


def violations(moments: FloatArray, n_samples: int, statements: list[Statement], names: IntArray) -> int:
    """How many of the statements the data contradict, when variable k is called ``names[k]``."""
    return sum(
        int((dependence_p_values(moments, n_samples, int(names[v]), names[others], names[given]) < SIGNIFICANT).sum())
        for v, others, given in statements
    )
