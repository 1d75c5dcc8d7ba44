"""CausalGraph: conventions, checks, order."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from precede.errors import GraphError
from precede.graph import CausalGraph
from precede.graph.dags import ancestors, find_cycle, full_dag, is_acyclic, topological_order

quick = settings(deadline=None, max_examples=40)


def random_edges(d, seed, density=0.4):
    rng = np.random.default_rng(seed)
    return full_dag(rng.permutation(d)) & (rng.random((d, d)) < density)


@quick
@given(st.permutations(range(6)))
def test_full_dag_and_order_are_inverse(order):
    assert topological_order(full_dag(np.array(order))).tolist() == list(order)


@quick
@given(st.integers(1, 10), st.integers(0, 999))
def test_topological_order_agrees_with_the_edges(d, seed):
    edges = random_edges(d, seed)
    order = topological_order(edges)
    assert sorted(order) == list(range(d))
    assert not (edges & ~full_dag(order)).any()


@quick
@given(st.integers(2, 8), st.integers(0, 999))
def test_find_cycle_finds_a_cycle_or_there_is_none(d, seed):
    rng = np.random.default_rng(seed)
    edges = (rng.random((d, d)) < 0.25) & ~np.eye(d, dtype=bool)
    cycle = find_cycle(edges)
    reach = np.linalg.matrix_power(np.eye(d) + edges, d) > 0
    cyclic = bool((reach & reach.T & ~np.eye(d, dtype=bool)).any())
    assert bool(cycle) == cyclic == (not is_acyclic(edges))
    assert all(edges[a, b] for a, b in zip(cycle, cycle[1:] + cycle[:1], strict=True))


@quick
@given(st.integers(1, 8), st.integers(0, 999))
def test_ancestors_are_the_reachable_pairs(d, seed):
    edges = random_edges(d, seed)
    reach = np.linalg.matrix_power(np.eye(d) + edges, d) > 0
    assert np.array_equal(ancestors(edges), reach & ~np.eye(d, dtype=bool))


def test_labels_and_orientation():
    graph = CausalGraph.from_matrix([[0, 0, 0], [0.5, 0, -2], [0, 0, 0]], names=["a", "b", "c"])
    assert graph.adjacency.loc["b", "a"] == 1
    assert graph.adjacency.loc["a", "b"] == 0
    assert graph.weights.loc["b", "c"] == -2
    assert graph.order[0] == "b"
    assert graph.edge_list() == [("b", "a", 0.5), ("b", "c", -2.0)]
    assert (graph.n_variables, graph.n_edges) == (3, 2)
    assert repr(graph) == "CausalGraph(3 variables, 2 edges: b -> a, b -> c)"


def test_edges_are_listed_by_column_whatever_the_order() -> None:
    edges = [[0, 0, 0], [1, 0, 0], [1, 1, 0]]
    for order in (None, [2, 1, 0]):
        graph = CausalGraph.from_matrix(edges, order=order, names=["a", "b", "c"])
        assert repr(graph) == "CausalGraph(3 variables, 3 edges: b -> a, c -> a, c -> b)"


def test_names_come_from_a_frame_and_weights_from_their_own_matrix():
    frame = pd.DataFrame([[0, 1], [0, 0]], index=["u", "v"], columns=["u", "v"])
    before = frame.copy()
    graph = CausalGraph.from_matrix(frame, weights=[[9, 0.3], [9, 9]])
    assert graph.names == ("u", "v")
    assert graph.weights.to_numpy().tolist() == [[0, 0.3], [0, 0]]
    assert frame.equals(before)


def test_order_by_name_by_position_and_with_integer_names():
    edges = [[0, 0], [0, 0]]
    assert CausalGraph.from_matrix(edges, order=["v", "u"], names=["u", "v"]).positions.tolist() == [1, 0]
    assert CausalGraph.from_matrix(edges, order=[1, 0], names=["u", "v"]).order == ("v", "u")
    by_position = CausalGraph.from_matrix(np.zeros((3, 3)), order=np.array([0, 1, 2]), names=[2, 0, 1])
    assert by_position.order == (2, 0, 1)
    by_name = CausalGraph.from_matrix(np.zeros((3, 3)), order=[0, 1, 2], names=[2, 0, 1])
    assert by_name.positions.tolist() == [1, 2, 0]


def test_equality_ignores_the_order():
    left = CausalGraph.from_matrix(np.zeros((2, 2)), order=[0, 1])
    right = CausalGraph.from_matrix(np.zeros((2, 2)), order=[1, 0])
    assert left == right
    assert hash(left) == hash(right)
    assert left != CausalGraph.from_matrix([[0, 1], [0, 0]])
    assert left != "graph"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"adjacency": [[0, 1], [1, 0]]}, "cycle"),
        ({"adjacency": [[0, 1, 0], [0, 0, 1]]}, "square"),
        ({"adjacency": [[0, 1], [0, 0]], "names": ["a"]}, "distinct names"),
        ({"adjacency": [[0, 1], [0, 0]], "names": ["a", "a"]}, "distinct names"),
        ({"adjacency": [[0, np.nan], [0, 0]]}, "missing or infinite"),
        ({"adjacency": [[0, 1], [0, 0]], "weights": [1, 2]}, "do not fit"),
        ({"adjacency": [[0, 1], [0, 0]], "order": [0, 0]}, "each of the 2 variables once"),
        ({"adjacency": [[0, 1], [0, 0]], "order": [1, 0]}, "puts 1 before its cause 0"),
    ],
)
def test_refusals(arguments, words):
    with pytest.raises(GraphError, match=words):
        CausalGraph.from_matrix(**arguments)
