"""Possible effects hold the true one, and are those of the members of the class."""

import numpy as np
import pytest

from precede import CausalGraph
from precede.effects import path_effects
from precede.effects.linear import path_sums
from precede.effects.possible import possible_parents
from precede.errors import OptionError
from precede.graph.dags import is_acyclic
from precede.graph.equivalence import cpdag
from precede.graph.sample import Sample


def members(edges: np.ndarray) -> list[np.ndarray]:
    """Every DAG of the class, by trying all directions."""
    pattern = cpdag(edges)
    loose = np.argwhere(np.triu(pattern & pattern.T))
    found = []
    for turn in range(2 ** len(loose)):
        trial = pattern.astype(bool) & ~pattern.T.astype(bool)
        for k, (i, j) in enumerate(loose):
            trial[(i, j) if turn >> k & 1 else (j, i)] = True
        if is_acyclic(trial) and np.array_equal(cpdag(trial), pattern):
            found.append(trial)
    return found


@pytest.mark.parametrize("seed", range(10))
def test_possible_parents_are_those_of_the_members(seed: int) -> None:
    rng = np.random.default_rng(seed)
    edges = np.triu(rng.random((6, 6)) < 0.35, 1)
    truth = [{frozenset(np.flatnonzero(member[:, v]).tolist()) for member in members(edges)} for v in range(6)]
    for v in range(6):
        found = [frozenset(one.tolist()) for one in possible_parents(cpdag(edges), v)]
        assert len(found) == len(set(found))
        assert set(found) == truth[v]


@pytest.mark.parametrize("seed", range(10))
def test_the_true_effect_is_among_the_possible_ones(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    d = 8
    weights = np.triu(rng.uniform(0.5, 2, (d, d)) * rng.choice([-1, 1], (d, d)) * (rng.random((d, d)) < 0.3), 1)
    reach = np.eye(d) + path_sums(weights)
    sample = Sample(1000, np.zeros(d), reach.T @ np.diag(rng.uniform(0.5, 2, d)) @ reach)
    graph = CausalGraph.from_matrix(weights)
    other = CausalGraph.from_matrix(members(graph.edges)[0])  # any member asks about the same class
    truth = path_effects(graph).to_numpy()
    for i in range(d):
        for j in range(d):
            if i != j:
                found = other.possible_effects(i, j, sample)
                assert min(abs(value - truth[i, j]) for value in found.values) < 1e-8
                assert list(found.values) == sorted(found.values)


def test_words_say_what_the_class_leaves_open() -> None:
    rain = np.random.default_rng(0).normal(size=200)
    rows = np.column_stack([rain, 2 * rain + np.random.default_rng(1).normal(size=200)])
    open_pair = CausalGraph.from_matrix([[0, 1], [0, 0]], names=["rain", "wet"]).possible_effects("rain", "wet", rows)
    assert open_pair.range[0] == 0.0
    assert "No effect at all is among the possibilities" in open_pair.sentence
    assert open_pair.to_dict()["range"][0] == 0.0
    rows = np.random.default_rng(2).normal(size=(300, 3))
    rows[:, 1] += rows[:, 0] + rows[:, 2]
    collider = CausalGraph.from_matrix([[0, 1, 0], [0, 0, 0], [0, 1, 0]], names=["rain", "wet", "hose"])
    assert "All equivalent graphs agree" in collider.possible_effects("rain", "wet", rows).sentence


def test_a_class_that_says_nothing_is_refused() -> None:
    clique = np.ones((14, 14)) - np.eye(14)
    with pytest.raises(OptionError, match="background knowledge"):
        list(possible_parents(clique.astype(int), 0))
