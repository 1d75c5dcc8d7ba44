"""Votes and the consensus: acyclic whatever is voted, and as good as enumeration on small graphs."""

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from precede import CausalGraph, Knowledge
from precede.comparison import Comparison, agreement_weights, consensus
from precede.corl.vote import best_linear_order
from precede.graph.dags import full_dag, is_acyclic


@pytest.mark.parametrize("seed", range(10))
def test_the_order_is_within_a_little_of_the_best_of_all(seed: int) -> None:
    preference = np.random.default_rng(seed).random((6, 6))
    worth = {order: (preference * full_dag(np.array(order))).sum() for order in permutations(range(6))}
    found = worth[tuple(best_linear_order(preference).tolist())]
    assert found >= 0.97 * max(worth.values())


@pytest.mark.parametrize("seed", range(10))
def test_no_cycle_whatever_is_voted(seed: int) -> None:
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(7) for _ in range(3)]
    graphs = [full_dag(order) & (rng.random((7, 7)) < 0.6) for order in orders]
    edges, order, votes = consensus(graphs, orders, np.full(3, 1 / 3))
    assert is_acyclic(edges)
    assert not (edges & ~full_dag(order)).any()
    joined = sum((g | g.T).astype(int) for g in graphs)
    assert np.array_equal(edges | edges.T, joined >= 2)
    assert votes.max() <= 1 + 1e-12


def test_three_edges_that_make_a_circle_lose_the_weakest() -> None:
    def edge(i: int, j: int) -> np.ndarray:
        graph = np.zeros((3, 3), dtype=bool)
        graph[i, j] = True
        return graph

    graphs = [edge(0, 1) | edge(1, 2), edge(1, 2) | edge(2, 0), edge(2, 0) | edge(0, 1), edge(0, 1) | edge(1, 2)]
    orders = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 1, 2]]
    edges, _, _ = consensus(graphs, orders, np.full(4, 0.25))
    assert edges[0, 1]
    assert edges[1, 2]
    assert not edges[2, 0]


def test_one_that_stands_alone_counts_little() -> None:
    chain = np.eye(5, k=1, dtype=bool)
    strange = np.zeros((5, 5), dtype=bool)
    strange[[0, 0, 0], [2, 3, 4]] = True
    order = np.arange(5)
    weights = agreement_weights([chain, chain, chain, strange], [order] * 4)
    assert weights.sum() == pytest.approx(1)
    assert weights[3] < 0.05


def test_two_count_alike() -> None:
    chain = np.eye(3, k=1, dtype=bool)
    assert agreement_weights([chain, ~chain & False], [np.arange(3)] * 2).tolist() == [0.5, 0.5]


def test_a_tie_is_no_arrow() -> None:
    one, other = np.array([[0, 1], [0, 0]], bool), np.array([[0, 0], [1, 0]], bool)
    found = Comparison.of({"a": one, "b": other})
    assert found.consensus.n_edges == 0
    assert list(found.table["consensus"]) == ["--"]
    assert "1 more are tied, direction open" in found.sentence


def test_the_consensus_obeys_the_knowledge_of_its_members() -> None:
    forward, backward = CausalGraph.from_matrix([[0, 1], [0, 0]]), CausalGraph.from_matrix([[0, 0], [1, 0]])
    known = replace(forward, fixed_directions=forward.edges)
    assert Comparison.of({"a": backward, "b": backward, "c": forward}).consensus.edges[1, 0]
    assert Comparison.of({"a": backward, "b": backward, "c": known}).consensus.edges[0, 1]


RULES = [
    (Knowledge(required=[("a", "b")]), lambda edges: edges[0, 1]),
    (Knowledge(forbidden=[("c", "b")]), lambda edges: not edges[2, 1]),
    (Knowledge(tiers=[["a", "b"], ["c"]]), lambda edges: not edges[2].any()),
    (Knowledge(sinks=["c"]), lambda edges: not edges[2].any()),
]


@pytest.mark.parametrize(("rule", "holds"), RULES)
def test_no_majority_breaks_what_a_member_was_told(rule: Knowledge, holds: Callable[[np.ndarray], bool]) -> None:
    against = CausalGraph.from_matrix([[0, 0, 0], [0, 0, 0], [1, 1, 0]], names=list("abc"))
    alone = CausalGraph.from_matrix(np.zeros((3, 3)), names=list("abc"))
    graphs = {"one": against, "two": against, "obeys": alone}
    assert not holds(Comparison.of(graphs).consensus.edges)
    assert holds(Comparison.of(graphs, knowledge=[None, None, rule]).consensus.edges)


def test_rules_that_contradict_each_other_leave_it_to_the_votes() -> None:
    graph = CausalGraph.from_matrix([[0, 1], [0, 0]], names=["a", "b"])
    one, other = Knowledge(required=[("a", "b")]), Knowledge(forbidden=[("a", "b")])
    found = Comparison.of({"x": graph, "y": graph}, knowledge=[one, other])
    assert found.remarks == ("The rules that the members were given contradict each other: votes decide.",)
    assert found.consensus.edges[0, 1]
