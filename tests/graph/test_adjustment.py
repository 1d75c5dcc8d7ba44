"""Adjustment sets against brute force over all subsets."""

from itertools import chain, combinations

import networkx as nx
import numpy as np
import pytest

from precede import CausalGraph
from precede.errors import GraphError
from precede.graph.adjustment import (
    causal_nodes,
    d_separated,
    forbidden_nodes,
    is_adjustment_set,
    minimal_adjustments,
    optimal_adjustment,
    with_joined_past,
)

separated = getattr(nx, "is_d_separator", None) or nx.d_separated  # the name before networkx 3.3


def random_dag(d: int, share: float, rng: np.random.Generator) -> np.ndarray:
    upper = np.triu(rng.random((d, d)) < share, 1)
    mixed = rng.permutation(d)
    return upper[np.ix_(mixed, mixed)]


def subsets(items):
    return chain.from_iterable(combinations(items, size) for size in range(len(items) + 1))


@pytest.mark.parametrize("seed", range(12))
def test_separation_and_all_minimal_sets_agree_with_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    edges = random_dag(6, 0.45, rng)
    graph = nx.DiGraph(edges)
    for cause, effect in [(int(a), int(b)) for a, b in rng.permuted(np.argwhere(~np.eye(6, dtype=bool)))[:6] if a != b]:
        others = [k for k in range(6) if k not in (cause, effect)]
        for given in subsets(others):
            mask = np.isin(np.arange(6), given)
            assert d_separated(edges, cause, effect, mask) == separated(graph, {cause}, {effect}, set(given))
        if not causal_nodes(edges, cause, effect).any():
            assert list(minimal_adjustments(edges, cause, effect)) == []
            assert optimal_adjustment(edges, cause, effect) is None
            continue
        shut = graph.copy()
        shut.remove_edges_from([(cause, int(k)) for k in np.flatnonzero(causal_nodes(edges, cause, effect))])
        banned = set(np.flatnonzero(forbidden_nodes(edges, cause, effect)).tolist())
        valid = [
            set(given)
            for given in subsets(others)
            if not set(given) & banned and separated(shut, {cause}, {effect}, set(given))
        ]
        for given in subsets(others):
            assert is_adjustment_set(edges, cause, effect, given) == (set(given) in valid)
        smallest = {frozenset(one) for one in valid if not any(other < one for other in valid)}
        found = [frozenset(one.tolist()) for one in minimal_adjustments(edges, cause, effect)]
        assert len(found) == len(set(found))
        assert set(found) == smallest
        assert set(optimal_adjustment(edges, cause, effect).tolist()) in valid


def test_a_graph_names_relatives_and_sets() -> None:
    graph = CausalGraph.from_matrix(
        [[0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]], names=["age", "dose", "pain", "sleep"]
    )
    assert graph.parents("pain") == ("age", "dose")
    assert graph.children("age") == ("dose", "pain")
    assert graph.ancestors("sleep") == ("age", "dose", "pain")
    assert graph.descendants("dose") == ("pain", "sleep")
    assert graph.adjustment_sets("dose", "sleep") == [("age",)]
    assert graph.is_adjustment_set("dose", "sleep", ["age"])
    assert not graph.is_adjustment_set("dose", "sleep", ["age", "pain"])
    with pytest.raises(GraphError, match="no variable 'dosis'"):
        graph.parents("dosis")


def test_a_variable_named_by_a_number_is_found_by_its_text() -> None:
    graph = CausalGraph.from_matrix([[0, 1], [0, 0]])
    assert graph.children("0") == (1,)


@pytest.mark.parametrize("seed", range(8))
def test_columns_of_the_past_are_joined_with_each_other(seed: int) -> None:
    """A hidden cause of the whole past is what nobody can adjust for: the sets that hold with it, by brute force."""
    rng = np.random.default_rng(seed)
    past = np.arange(6) >= 3
    edges = random_dag(6, 0.5, rng) & ~past[None, :]
    with_hidden = with_joined_past(edges, past)
    checked = 0
    for cause, effect in [(int(a), int(b)) for a in range(6) for b in range(3) if a != b]:
        if not causal_nodes(edges, cause, effect).any():
            continue
        others = [k for k in range(6) if k not in (cause, effect)]
        valid = [set(given) for given in subsets(others) if is_adjustment_set(with_hidden, cause, effect, given)]
        smallest = {frozenset(one) for one in valid if not any(other < one for other in valid)}
        found = {frozenset(one.tolist()) for one in minimal_adjustments(edges, cause, effect, past)}
        assert found == smallest
        assert all(
            is_adjustment_set(edges, cause, effect, given, past) == (set(given) in valid) for given in subsets(others)
        )
        assert set(optimal_adjustment(edges, cause, effect).tolist()) in valid
        checked += 1
    assert checked > 0
