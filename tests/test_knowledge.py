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
        required=np.array([[0, 1], [0, 0]], bool),
        allowed=np.array([[0, 1], [0, 0]], bool),
        before=np.zeros((2, 2), bool),
    )
    assert constraints.apply(np.array([[0, 0], [1, 0]], bool)).astype(int).tolist() == [[0, 1], [0, 0]]


def test_patterns_stand_for_columns() -> None:
    names = ["gene1", "gene2", "age"]
    constraints = Knowledge(forbidden=[("gene*", "age"), ("gene?", "gene?")]).over(names)
    assert constraints.allowed.astype(int).tolist() == [[0, 0, 0], [0, 0, 0], [1, 1, 0]]
    assert Knowledge(required=[("age", "gene*")]).over(names).required.sum() == 2
    assert Knowledge(tiers=[["age"], ["gene*"]]).over(names).allowed.astype(int).tolist() == [
        [0, 1, 0],
        [1, 0, 0],
        [1, 1, 0],
    ]
    assert Knowledge(roots=["a*"]).over(["a*", "ab"]).allowed[:, 1].any()  # a column's own name is no pattern
    with pytest.raises(KnowledgeError, match=r"pattern 'x\*' matches no column"):
        Knowledge(roots=["x*"]).over(names)


def test_files_in_both_formats(tmp_path) -> None:
    toml, json = tmp_path / "k.toml", tmp_path / "k.json"
    toml.write_text('required = [["a", "b"]]\ntiers = [["a"], ["b", "c"]]\nroots = ["a"]\n')
    json.write_text('{"required": [["a", "b"]], "tiers": [["a"], ["b", "c"]], "roots": ["a"]}')
    one, two = Knowledge.from_file(toml), Knowledge.from_file(json)
    assert one == two
    assert one.over("abc").required[0, 1]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("k.json", "{", "is not valid JSON"),
        ("k.toml", "a = = 1", "is not valid TOML"),
        ("k.json", "[1, 2]", "this is a list"),
        ("k.json", '{"requird": []}', "no field 'requird'.*'required'"),
        ("k.json", '{"required": [["a"]]}', "pair"),
        ("k.json", '{"required": "ab"}', "list of lists"),
        ("k.json", '{"roots": [["a"]]}', "list of names"),
        ("k.json", '{"tiers": [1]}', "list of lists"),
        ("k.json", '{"tiers": [[null]]}', "list of lists"),
    ],
)
def test_bad_files_get_a_sentence(tmp_path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(KnowledgeError, match=message):
        Knowledge.from_file(tmp_path / name)


def test_missing_file() -> None:
    with pytest.raises(KnowledgeError, match="cannot be read"):
        Knowledge.from_file("nowhere.toml")
