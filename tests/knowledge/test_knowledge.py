"""Knowledge: compiled as it says, contradictions named, and never too strict."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from precede.errors import KnowledgeError
from precede.graph.dags import ancestors, full_dag, is_acyclic
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
        (
            Knowledge(tiers=[["a"], ["b"]], required=[("b", "c"), ("c", "a")]),
            "required edges 'b' -> 'c' -> 'a' lead from a later tier back to an earlier one",
        ),
    ],
)
def test_contradictions_are_named(knowledge: Knowledge, message: str) -> None:
    with pytest.raises(KnowledgeError, match=message):
        knowledge.over("abc")


def test_iterators_hold_for_every_table() -> None:
    names = ["x1", "x2", "x3"]
    once = Knowledge(
        required=zip(["x1"], ["x3"], strict=True),
        forbidden=zip(["x1"], ["x2"], strict=True),
        tiers=(iter(tier) for tier in (["x1"], ["x2", "x3"])),
        roots=iter(["x1"]),
        sinks=(name for name in ["x3"]),
    )
    kept = Knowledge([("x1", "x3")], [("x1", "x2")], [["x1"], ["x2", "x3"]], ["x1"], ["x3"])
    assert once == kept
    for _ in range(2):
        np.testing.assert_array_equal(once.over(names).allowed, kept.over(names).allowed)
        np.testing.assert_array_equal(once.over(names).required, kept.over(names).required)
        np.testing.assert_array_equal(once.over(names).before, kept.over(names).before)


def test_a_text_is_one_name() -> None:
    assert Knowledge(tiers=["age", "income"], roots="age") == Knowledge(tiers=[["age"], ["income"]], roots=["age"])
    for edges in (("age", "income"), ["ab"], [("a", "b", "c")]):
        with pytest.raises(KnowledgeError, match=r"each entry of 'required' must be a pair \(cause, effect\)"):
            Knowledge(required=edges)


def test_no_knowledge() -> None:
    constraints = constraints_over(None, "abc")
    assert constraints.permits(np.array([2, 0, 1]))
    assert not constraints.violated_by(full_dag(np.array([2, 0, 1])))


def test_a_variable_in_no_tier_may_stand_anywhere() -> None:
    constraints = Knowledge(tiers=[["a"], ["b"]]).over("abu")
    assert constraints.allowed.astype(int).tolist() == [[0, 1, 1], [0, 0, 1], [1, 1, 0]]
    permitted = {
        order for order in permutations("abu") if constraints.permits(np.array(["abu".index(v) for v in order]))
    }
    assert permitted == {tuple("uab"), tuple("aub"), tuple("abu")}


def test_no_path_leads_back_through_a_variable_in_no_tier() -> None:
    constraints = Knowledge(tiers=[["a"], ["b"]]).over("abu")
    back = np.zeros((3, 3), dtype=bool)
    back[1, 2] = back[2, 0] = True  # b -> u -> a: each edge is allowed, the path is not
    assert constraints.violated_by(back)
    back[1, 2] = False
    assert not constraints.violated_by(back)


def test_a_root_of_a_later_tier_waits_for_it_where_some_variable_is_in_none() -> None:
    known = Knowledge(tiers=[["a"], ["r"]], roots=["r"])
    assert known.over("ar").permits(np.array([1, 0]))  # no edge between them: either order will do
    assert not known.over("aru").permits(np.array([1, 2, 0]))  # r -> u -> a would lead back
    assert known.over("aru").permits(np.array([2, 0, 1]))
    late_sink = Knowledge(tiers=[["s"], ["b"]], sinks=["s"]).over("sbu")
    assert not late_sink.permits(np.array([1, 2, 0]))
    assert late_sink.permits(np.array([0, 1, 2]))


@st.composite
def random_knowledge(draw) -> Knowledge:
    """Knowledge that some DAG over four variables obeys."""
    order = draw(st.permutations(range(4)))
    pairs = [(order[a], order[b]) for a in range(4) for b in range(a + 1, 4)]
    required = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=3))
    others = [(i, j) for i in range(4) for j in range(4) if i != j and (i, j) not in required]
    forbidden = draw(st.lists(st.sampled_from(others), unique=True, max_size=4))
    tiers = []
    if draw(st.booleans()):
        tier = sorted(draw(st.lists(st.integers(0, 2), min_size=4, max_size=4)))
        tiered = [draw(st.booleans()) or draw(st.booleans()) for _ in order]  # one in four is in no tier
        tiers = [[v for v, t, yes in zip(order, tier, tiered, strict=True) if yes and t == k] for k in range(3)]
    roots = [v for v in range(4) if draw(st.booleans()) and not any(j == v for _, j in required)][:2]
    sinks = [v for v in range(4) if draw(st.booleans()) and not any(i == v for i, _ in required)][:2]
    return Knowledge(required, forbidden, tiers, roots, sinks)


def obeys(edges: np.ndarray, knowledge: Knowledge) -> bool:
    """What the words say, looked up one by one."""
    reach = ancestors(edges)
    back = [
        (i, j) for k, late in enumerate(knowledge.tiers) for soon in knowledge.tiers[:k] for i in late for j in soon
    ]
    return (
        all(edges[pair] for pair in knowledge.required)
        and not any(edges[pair] for pair in knowledge.forbidden)
        and not any(reach[pair] for pair in back)
        and not edges[:, list(knowledge.roots)].any()
        and not edges[list(knowledge.sinks)].any()
    )


ALL_DAGS = [
    edges
    for bits in product([False, True], repeat=12)
    if is_acyclic(edges := np.insert(np.array(bits), [0, 4, 8, 12], False).reshape(4, 4))
]
ALL_ORDERS = [np.array(order) for order in permutations(range(4))]


@given(random_knowledge())
@settings(max_examples=30, deadline=None)
def test_orders_permit_exactly_the_dags_that_obey(knowledge: Knowledge) -> None:
    """Over all DAGs: each that obeys has a permitted order, and no other is ever called obedient."""
    constraints = knowledge.over(range(4))
    permitted = np.array([full_dag(order) for order in ALL_ORDERS if constraints.permits(order)])
    assert len(permitted)
    assert len(ALL_DAGS) == 543
    for edges in ALL_DAGS:
        fits = bool((edges <= permitted).all(axis=(1, 2)).any())
        by_edges = not (edges & ~constraints.allowed).any() and not (constraints.required & ~edges).any()
        assert obeys(edges, knowledge) == (not constraints.violated_by(edges)) == (fits and by_edges)


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


@pytest.mark.parametrize(("edge", "required"), [(("x*", "x1"), [[0, 0], [1, 0]]), (("x1", "x*"), [[0, 1], [0, 0]])])
def test_a_pattern_on_one_side_asks_for_no_self_loop(edge, required):
    assert Knowledge(required=[edge]).over(["x1", "x2"]).required.astype(int).tolist() == required


def test_a_root_of_a_later_tier_comes_first_where_every_variable_has_a_tier():
    before = Knowledge(tiers=[["a"], ["b", "c"]], roots=["b"]).over(["a", "b", "c"]).before
    assert before.astype(int).tolist() == [[0, 0, 1], [1, 0, 1], [0, 0, 0]]


def test_beside_a_variable_in_no_tier_roots_and_sinks_keep_to_their_own_tier():
    """They take its first and last places: a path through the loose variable may lead back to an earlier tier."""
    root = Knowledge(tiers=[["a"], ["r", "c"]], roots=["r"]).over(["a", "r", "c", "loose"]).before
    assert root.astype(int).tolist() == [[0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    sink = Knowledge(tiers=[["a", "s"], ["c"]], sinks=["s"]).over(["a", "s", "c", "loose"]).before
    assert sink.astype(int).tolist() == [[0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
