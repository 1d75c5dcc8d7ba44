"""CPDAG against brute force over all DAGs of a few variables."""

from collections import defaultdict
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from precede.errors import GraphError
from precede.graph.dags import cpdag, full_dag, is_acyclic


def all_dags(d):
    pairs = list(combinations(range(d), 2))
    for choice in product(range(3), repeat=len(pairs)):
        adjacency = np.zeros((d, d), dtype=bool)
        for (i, j), way in zip(pairs, choice, strict=True):
            if way:
                adjacency[(i, j) if way == 1 else (j, i)] = True
        if is_acyclic(adjacency):
            yield adjacency


def skeleton_and_colliders(adjacency):
    """Verma and Pearl: equivalent means the same skeleton and the same v-structures."""
    adjacent = adjacency | adjacency.T
    colliders = frozenset(
        (a, c, b)
        for c in range(len(adjacency))
        for a, b in combinations(np.flatnonzero(adjacency[:, c]).tolist(), 2)
        if not adjacent[a, b]
    )
    return adjacent.tobytes(), colliders


@pytest.mark.parametrize("d", [2, 3, 4])
def test_cpdag_is_the_union_of_the_equivalent_dags(d):
    classes = defaultdict(list)
    for adjacency in all_dags(d):
        classes[skeleton_and_colliders(adjacency)].append(adjacency)
    assert len(classes) == {2: 2, 3: 11, 4: 185}[d]  # known numbers of Markov equivalence classes
    for members in classes.values():
        union = np.any(members, axis=0).astype(int)
        for adjacency in members:
            assert np.array_equal(cpdag(adjacency), union)


@settings(deadline=None, max_examples=30)
@given(st.integers(2, 9), st.integers(0, 999))
def test_cpdag_follows_a_relabeling(d, seed):
    rng = np.random.default_rng(seed)
    adjacency = full_dag(rng.permutation(d)) & (rng.random((d, d)) < 0.4)
    before = adjacency.copy()
    new = rng.permutation(d)
    assert np.array_equal(cpdag(adjacency[np.ix_(new, new)]), cpdag(adjacency)[np.ix_(new, new)])
    assert np.array_equal(adjacency, before)


def test_a_cycle_is_refused():
    with pytest.raises(GraphError, match="cycle"):
        cpdag([[0, 1], [1, 0]])
