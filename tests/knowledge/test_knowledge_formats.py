"""Knowledge of other packages: which way it points, what is carried over, what is refused."""

import re
from typing import Any

import numpy as np
import pytest

from precede.errors import KnowledgeError, OptionError
from precede.knowledge import Knowledge

NAMES = ["a", "b", "c"]


class Node:
    """As much of causal-learn's GraphNode as a converter sees."""

    def __init__(self, name: str) -> None:
        self.name = name

    def get_name(self) -> str:
        return self.name


class FakeBackground:
    """As much of causal-learn's BackgroundKnowledge as a converter sees."""

    def __init__(self, **content: Any) -> None:
        self.required_rules_specs: set[Any] = set()
        self.forbidden_rules_specs: set[Any] = set()
        self.required_pattern_rules_specs: set[Any] = set()
        self.forbidden_pattern_rules_specs: set[Any] = set()
        self.tier_value_map: dict[Any, int] = {}
        self.forbidden_within_tiers: set[int] = set()
        self.__dict__.update(content)


def test_causallearn_edges_keep_their_direction() -> None:
    a, b, c = map(Node, NAMES)
    found = Knowledge.from_causallearn(FakeBackground(required_rules_specs={(a, b)}, forbidden_rules_specs={(c, a)}))
    constraints = found.over(NAMES)
    assert np.argwhere(constraints.required).tolist() == [[0, 1]]
    assert not constraints.allowed[2, 0]
    assert constraints.allowed[0, 2]


def test_causallearn_tiers() -> None:
    a, b, c = map(Node, NAMES)
    source = FakeBackground(tier_value_map={a: 3, b: 1, c: 3})
    assert Knowledge.from_causallearn(source).tiers == (("b",), ("a", "c"))
    allowed = Knowledge.from_causallearn(source).over(NAMES).allowed
    assert allowed.astype(int).tolist() == [[0, 0, 1], [1, 0, 1], [1, 0, 0]]
    source.forbidden_within_tiers = {3}
    assert Knowledge.from_causallearn(source).over(NAMES).allowed.astype(int).tolist() == [[0] * 3, [1, 0, 1], [0] * 3]


def test_causallearn_patterns_are_regular_expressions() -> None:
    source = FakeBackground(forbidden_pattern_rules_specs={("gene", "age|sex$")})
    names = ["gene1", "gene2", "age2", "sex", "sexton", "a gene"]
    found = Knowledge.from_causallearn(source, names)
    assert found.forbidden == tuple((g, x) for g in ("gene1", "gene2") for x in ("age2", "sex"))
    with pytest.raises(KnowledgeError, match="give the names of the columns"):
        Knowledge.from_causallearn(source)
    with pytest.raises(KnowledgeError, match="not valid"):
        Knowledge.from_causallearn(FakeBackground(required_pattern_rules_specs={("(", "a")}), names)


def test_causallearn_names_may_be_numbers() -> None:
    source = FakeBackground(required_rules_specs={(Node("0"), Node("2"))})
    assert Knowledge.from_causallearn(source, [0, 1, 2]).required == ((0, 2),)


def test_something_else_is_refused() -> None:
    with pytest.raises(KnowledgeError, match="a dict is not causal-learn's"):
        Knowledge.from_causallearn({})


def lingam_matrix(n: int, paths: Any = (), no_paths: Any = (), exogenous: Any = (), sinks: Any = ()) -> np.ndarray:
    """As ``lingam.utils.make_prior_knowledge`` fills it: (from, to) is at [to, from]."""
    matrix = np.full((n, n), -1)
    for start, end in no_paths:
        matrix[end, start] = 0
    for start, end in paths:
        matrix[end, start] = 1
    matrix[:, list(sinks)] = 0
    matrix[list(exogenous), :] = 0
    np.fill_diagonal(matrix, -1)
    return matrix


def test_lingam_exogenous_and_sinks_are_exact() -> None:
    found = Knowledge.from_lingam(lingam_matrix(3, exogenous=[0], sinks=[2]), NAMES).over(NAMES)
    expected = Knowledge(roots=["a"], sinks=["c"]).over(NAMES)
    np.testing.assert_array_equal(found.allowed, expected.allowed)


def test_lingam_complete_tiers_are_exact() -> None:
    matrix = lingam_matrix(3, no_paths=[(1, 0), (2, 0)])  # nothing leads to a
    assert Knowledge.from_lingam(matrix, NAMES).forbidden == (("b", "a"), ("c", "a"))
    matrix = lingam_matrix(4, no_paths=[(i, j) for i in (2, 3) for j in (0, 1)])
    found = Knowledge.from_lingam(matrix).over(range(4))
    np.testing.assert_array_equal(found.allowed, Knowledge(tiers=[[0, 1], [2, 3]]).over(range(4)).allowed)


def test_lingam_paths_that_edges_cannot_say_are_refused() -> None:
    with pytest.raises(KnowledgeError, match=r"no path leads from 'b' to 'a'.*reading='edges'"):
        Knowledge.from_lingam(lingam_matrix(3, no_paths=[(1, 0)]), NAMES)
    with pytest.raises(KnowledgeError, match="a path leads from 'a' to 'b', through whichever"):
        Knowledge.from_lingam(lingam_matrix(3, paths=[(0, 1)]), NAMES)
    read = Knowledge.from_lingam(lingam_matrix(3, paths=[(0, 1)], no_paths=[(1, 0)]), NAMES, reading="edges")
    assert (read.required, read.forbidden) == ((("a", "b"),), (("b", "a"),))


def test_a_path_without_a_detour_is_its_edge() -> None:
    matrix = lingam_matrix(3, paths=[(0, 1)], sinks=[2])  # c leads nowhere, so a reaches b by its edge only
    assert Knowledge.from_lingam(matrix, NAMES).required == (("a", "b"),)


@pytest.mark.parametrize(
    ("matrix", "names", "message"),
    [
        (np.zeros((2, 3)), None, "square matrix; this has shape (2, 3)"),
        ([["x", "y"], ["z", "w"]], None, "numbers only"),
        (np.full((2, 2), 2), None, "holds 2"),
        (np.full((2, 2), -1), ["a"], "over 2 variables; 1 names"),
    ],
)
def test_misshapen_matrices_get_a_sentence(matrix: Any, names: Any, message: str) -> None:
    with pytest.raises(KnowledgeError, match=re.escape(message)):
        Knowledge.from_lingam(matrix, names)


def test_unknown_reading() -> None:
    with pytest.raises(OptionError, match="did you mean 'edges'"):
        Knowledge.from_lingam(np.full((2, 2), -1), reading="edge")  # type: ignore[arg-type]


@pytest.mark.peers
def test_causallearns_own_object() -> None:
    pytest.importorskip("causallearn")
    from causallearn.graph.GraphNode import GraphNode
    from causallearn.utils.PCUtils.BackgroundKnowledge import BackgroundKnowledge

    nodes = [GraphNode(f"x{k}") for k in range(5)]
    theirs = BackgroundKnowledge().add_required_by_node(nodes[0], nodes[1]).add_forbidden_by_node(nodes[2], nodes[1])
    theirs.add_forbidden_by_pattern("x[34]", "x0").add_required_by_pattern("x0", "x3$")
    theirs.add_node_to_tier(nodes[0], 0).add_node_to_tier(nodes[2], 1).add_node_to_tier(nodes[4], 1)
    theirs.forbid_within_tier(1)
    names = [node.get_name() for node in nodes]
    ours = Knowledge.from_causallearn(theirs, names).over(names)
    for i, one in enumerate(nodes):
        for j, other in enumerate(nodes):
            if i != j:
                assert ours.allowed[i, j] != theirs.is_forbidden(one, other)
                assert ours.required[i, j] == theirs.is_required(one, other)


@pytest.mark.peers
def test_lingams_own_matrix_points_the_same_way() -> None:
    """What lingam returns under its own prior knowledge obeys ours, on data that say the opposite."""
    lingam = pytest.importorskip("lingam")
    from lingam.utils import make_prior_knowledge

    rng = np.random.default_rng(0)
    cause = rng.uniform(-1, 1, 500)
    data = np.column_stack([cause, 2 * cause + rng.uniform(-1, 1, 500), rng.uniform(-1, 1, 500)])
    prior = make_prior_knowledge(3, exogenous_variables=[1], no_paths=[(2, 0), (0, 2)])
    weights = lingam.DirectLiNGAM(prior_knowledge=prior).fit(data).adjacency_matrix_.T  # transposed: effects in rows
    constraints = Knowledge.from_lingam(prior, reading="edges").over(range(3))
    assert weights[1, 0] != 0  # against the data, as the knowledge wants it
    assert not constraints.violated_by(weights != 0)
    sinks = make_prior_knowledge(3, sink_variables=[0])
    np.testing.assert_array_equal(sinks, lingam_matrix(3, sinks=[0]))
    np.testing.assert_array_equal(Knowledge.from_lingam(sinks).over(range(3)).allowed[0], [False] * 3)
