"""Knowledge: compiled as it says, contradictions named, and never too strict."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from precede.errors import KnowledgeError
from precede.graph import full_dag, is_acyclic
from precede.knowledge import Constraints, Knowledge, constraints_over


def test_tiers_forbid_backward_edges_only() -> None:
    allowed = Knowledge(tiers=[["a"], ["b", "c"]]).over("abc").allowed
    assert allowed.astype(int).tolist() == [[0, 1, 1], [0, 0, 1], [0, 1, 0]]


def test_roots_and_sinks() -> None:
    constraints = Knowledge(roots=["a"], sinks=["c"]).over("abc")
    assert not constraints.allowed[:, 0].any()
    assert not constraints.allowed[2].any()
    assert constraints.permits(np.array([0, 1, 2]))
    assert not constraints.permits(np.array([1, 0, 2]))


@pytest.mark.parametrize(
    ("knowledge", "message"),
    [
        (Knowledge(required=[("a", "z")]), "names 'z'.*columns are 'a', 'b', 'c'"),
        (Knowledge(required=[("a", "b")], forbidden=[("a", "b")]), "'a' -> 'b' is both required and forbidden"),
        (Knowledge(required=[("b", "a")], tiers=[["a"], ["b"]]), "'b' -> 'a' is both required and forbidden"),
        (Knowledge(required=[("b", "a")], roots=["a"]), "both required and forbidden"),
        (Knowledge(required=[("a", "b"), ("b", "c"), ("c", "a")]), "cycle: '.' -> '.' -> '.' -> '.'"),
        (Knowledge(required=[("a", "a")]), "'a' is required to cause itself"),
        (Knowledge(tiers=[["a"], ["a"]]), "'a' is in tier 0 and in tier 1"),
        (Knowledge(tiers=[["a"], ["b"], ["c"]], required=[("c", "a")]), "both required and forbidden"),
    ],
)
def test_contradictions_are_named(knowledge: Knowledge, message: str) -> None:
    with pytest.raises(KnowledgeError, match=message):
        knowledge.over("abc")


def test_no_knowledge() -> None:
    constraints = constraints_over(None, "abc")
    assert constraints.permits(np.array([2, 0, 1]))
    assert not constraints.violated_by(full_dag(np.array([2, 0, 1])))


@st.composite
def random_knowledge(draw) -> Knowledge:
    """Knowledge that some DAG over four variables obeys."""
    order = draw(st.permutations(range(4)))
    pairs = [(order[a], order[b]) for a in range(4) for b in range(a + 1, 4)]
    required = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=3))
    others = [(i, j) for i in range(4) for j in range(4) if i != j and (i, j) not in required]
    forbidden = draw(st.lists(st.sampled_from(others), unique=True, max_size=4))
    cut = draw(st.integers(0, 4))
    tiers = [t for t in (order[:cut], order[cut:]) if t] if draw(st.booleans()) else []
    roots = [v for v in range(4) if draw(st.booleans()) and not any(j == v for _, j in required)][:2]
    sinks = [v for v in range(4) if draw(st.booleans()) and not any(i == v for i, _ in required)][:2]
    return Knowledge(required, forbidden, tiers, roots, sinks)


@given(random_knowledge())
@settings(max_examples=150, deadline=None)
def test_every_dag_that_obeys_has_a_permitted_order(knowledge: Knowledge) -> None:
    """The precedence is no stricter than the knowledge: whatever is allowed can be reached."""
    constraints = knowledge.over(range(4))
    orders = [np.array(o) for o in permutations(range(4))]
    permitted = [full_dag(o) for o in orders if constraints.permits(o)]
    assert permitted
    rng = np.random.default_rng(0)
    for _ in range(30):
        edges = constraints.required | (constraints.allowed & (rng.random((4, 4)) < 0.4))
        if is_acyclic(edges):
            assert any((edges <= dag).all() for dag in permitted)


@given(random_knowledge(), st.permutations(range(4)))
@settings(max_examples=100, deadline=None)
def test_nearest_order_is_permitted_and_keeps_permitted_ones(knowledge: Knowledge, wish: list[int]) -> None:
    constraints = knowledge.over(range(4))
    order = constraints.nearest_order(np.array(wish))
    assert sorted(order.tolist()) == [0, 1, 2, 3]
    assert constraints.permits(order)
    if constraints.permits(np.array(wish)):
        assert order.tolist() == wish
    assert not constraints.violated_by(constraints.apply(full_dag(order)))


def test_apply_adds_and_drops() -> None:
    constraints = Constraints(
        required=np.array([[0, 1], [0, 0]], bool), allowed=np.array([[0, 1], [0, 0]], bool), before=np.zeros((2, 2), bool)
    )
    assert constraints.apply(np.array([[0, 0], [1, 0]], bool)).astype(int).tolist() == [[0, 1], [0, 0]]
