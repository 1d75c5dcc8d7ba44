"""Possible effects hold the true one, and are those of the members of the class."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from precede import CORL, CausalGraph, Knowledge
from precede.effects import path_effects
from precede.effects.linear import path_sums
from precede.effects.possible import possible_parents
from precede.errors import OptionError
from precede.graph.dags import cpdag, is_acyclic
from precede.graph.parts import Sample


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


@pytest.mark.parametrize("seed", range(12))
def test_what_time_knowledge_or_interventions_tell_cuts_the_class_down(seed: int) -> None:
    """The effects of all members that have the directions told, by trying them all."""
    rng = np.random.default_rng(200 + seed)
    d = 6
    weights = np.triu(rng.uniform(0.5, 2, (d, d)) * (rng.random((d, d)) < 0.6), 1)
    reach = np.eye(d) + path_sums(weights)
    sample = Sample(1000, np.zeros(d), reach.T @ np.diag(rng.uniform(0.5, 2, d)) @ reach)
    edges = weights != 0
    told = edges & (rng.random((d, d)) < 0.25)
    graph = replace(CausalGraph.from_matrix(weights), fixed_directions=told)
    permitted = [member for member in members(edges) if member[told].all()]
    np.testing.assert_array_equal(graph.pattern, np.any(permitted, axis=0))
    for i in range(d):
        for j in range(d):
            if i != j:
                truth = [CausalGraph.from_matrix(one).effect(i, j, sample).value for one in permitted]
                found = graph.possible_effects(i, j, sample).values
                apart = np.abs(np.subtract.outer(found, truth))
                assert max(apart.min(axis=0).max(), apart.min(axis=1).max()) < 1e-8  # each is one of the others
    again = CausalGraph.from_json(graph.to_json())
    np.testing.assert_array_equal(again.pattern, graph.pattern)


def test_a_fit_with_knowledge_has_the_class_that_knowledge_leaves() -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=500)
    b = a + rng.normal(size=500)
    frame = pd.DataFrame({"a": a, "b": b, "c": b + rng.normal(size=500)})
    options = {"n_iterations": 0, "random_state": 0, "verbose": False, "diagnose": "quick"}
    model = CORL("sparse-linear", knowledge=Knowledge(forbidden=[("b", "a")]), **options).fit(frame)
    assert model.cpdag_.to_numpy().tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]  # a -> b, so b -> c
    possible = model.graph_.possible_effects("a", "c")
    assert possible.values == pytest.approx([model.graph_.effect("a", "c").value])
    check = next(check for check in model.diagnostics_["checks"] if check["name"] == "identifiability")
    assert check["details"]["undirected"] == []


def fitted_class(**options: object) -> CORL:
    rng = np.random.default_rng(0)
    a = rng.normal(size=500)
    b = a + rng.normal(size=500)
    frame = pd.DataFrame({"a": a, "b": b, "c": b + rng.normal(size=500)})
    return CORL(random_state=0, verbose=False, diagnose="quick", search="local", **options).fit(frame)


def test_an_effect_in_a_learned_class_is_a_range() -> None:
    graph = fitted_class(score="sparse-linear").graph_
    found, possible = graph.effect("a", "c"), graph.possible_effects("a", "c")
    assert found.range == pytest.approx(possible.range, abs=0.02)
    assert found.range[0] < 0.1 < 0.8 < found.range[1]  # c <- b -> a, and a -> b -> c
    assert found.interval[0] <= possible.interval[0]
    assert found.interval[1] >= possible.interval[1]
    assert "The data leave directions open, so that this is a range." in found.sentence
    assert found.robustness is None
    drawn = replace(graph, open_directions=None).effect("a", "c")  # the same graph, its directions as they are
    assert (drawn.value, drawn.range) == (found.value, None)
    assert drawn.interval[1] - drawn.interval[0] < found.interval[1] - found.interval[0]
    again = CausalGraph.from_json(graph.to_json())
    assert again.effect("a", "c", graph.sample).range == found.range


def test_a_direct_effect_in_a_learned_class_is_a_range() -> None:
    graph = fitted_class(score="sparse-linear").graph_
    direct = graph.effect("a", "b", kind="direct")
    drawn = [CausalGraph.from_matrix(one, names=graph.names) for one in members(graph.edges)]
    each = {round(one.effect("a", "b", graph.sample, kind="direct").value, 6) for one in drawn}
    assert len(each) > 1
    assert direct.range == pytest.approx((min(each), max(each)), abs=1e-6)


def test_what_shape_tells_is_not_open() -> None:
    rng = np.random.default_rng(0)
    a = rng.laplace(size=800)
    graph = CORL("linear-any", random_state=0, verbose=False, search="local").fit(
        pd.DataFrame({"a": a, "b": a + rng.laplace(size=800)})
    ).graph_  # fmt: skip
    assert graph.pattern.tolist() == [[0, 1], [0, 0]]
    assert graph.effect("a", "b").range is None


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
