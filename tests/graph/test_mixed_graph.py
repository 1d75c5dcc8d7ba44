"""MixedGraph: marks, words, and other packages' forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from precede import CausalGraph, MixedGraph
from precede.errors import GraphError
from precede.graph.dags import is_acyclic

EDGES = [("a", "b", "o->"), ("b", "c", "-->"), ("c", "d", "<->"), ("a", "e", "o-o")]
GRAPH = MixedGraph.from_edges(EDGES, list("abcde"))


@st.composite
def graphs(draw: st.DrawFn) -> MixedGraph:
    names = draw(
        st.lists(
            st.text('ab"\\ é', min_size=1, max_size=3).map(str.strip).filter(bool), min_size=2, max_size=5, unique=True
        )
    )
    ends = np.zeros((len(names), len(names)), dtype=np.int64)
    for i in range(len(names)):
        for j in range(i):
            if draw(st.booleans()):
                ends[i, j], ends[j, i] = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    return MixedGraph(ends, tuple(names))


@given(graphs())
def test_marks_come_back_from_every_form(graph):
    assert MixedGraph.from_networkx(graph.to_networkx()) == graph
    assert MixedGraph.from_dot(graph.to_dot()) == graph
    assert MixedGraph.from_causallearn(graph.to_causallearn(), graph.names) == graph
    assert MixedGraph.from_edges(graph.edge_list(), graph.names) == graph


def test_tetrad_text_comes_back_and_its_remarks_are_left_out(tmp_path):
    GRAPH.to_tetrad(tmp_path / "graph.txt")
    assert MixedGraph.from_tetrad(tmp_path / "graph.txt") == GRAPH
    text = "Graph Nodes:\na;b\n\nGraph Edges:\n1. a --> b dd nl\n"
    assert MixedGraph.from_tetrad(text).edge_list() == [("a", "b", "-->")]


def test_causal_learn_objects_are_asked_for_nodes_and_marks():
    class Node:
        def __init__(self, name):
            self.name = name

        def get_name(self):
            return self.name

    class Graph:
        graph = GRAPH.to_causallearn()

        def get_nodes(self):
            return [Node(name) for name in GRAPH.names]

    assert MixedGraph.from_causallearn({"G": Graph()}) == GRAPH
    assert GRAPH.to_causallearn()[0, 1] == 2
    assert GRAPH.to_causallearn()[1, 0] == 1


def test_pgmpy_takes_cpdags_alone():
    class PDAG:
        directed_edges, undirected_edges = {("b", "c")}, {("a", "b")}

        def nodes(self):
            return ["a", "b", "c"]

        def edges(self):
            return [("b", "c"), ("a", "b"), ("b", "a")]

    graph = MixedGraph.from_pgmpy(PDAG())
    assert graph.edge_list() == [("a", "b", "---"), ("b", "c", "-->")]
    assert graph.to_pgmpy() == {"directed_ebunch": [("b", "c")], "undirected_ebunch": [("a", "b")]}
    with pytest.raises(GraphError, match="no edge such as a o-> b"):
        GRAPH.to_pgmpy()


def test_words_and_legend():
    assert GRAPH.sentences()[2] == "b causes c."
    assert GRAPH.to_frame()["mark"].tolist() == ["o->", "o-o", "-->", "<->"]
    assert ("<->", "A and B share an unmeasured cause; neither causes the other", 1) in GRAPH.legend()


def test_a_member_has_the_marks_and_an_order_wins_where_none_has():
    edges, whole = GRAPH.member(np.arange(5))
    assert whole
    assert edges[0, 1]
    assert edges[1, 2]
    assert not edges[2, 3]
    assert not edges[3, 2]
    cyclic = MixedGraph.from_edges([("a", "b", "-->"), ("b", "c", "-->"), ("c", "a", "-->")])
    edges, whole = cyclic.member(np.array([2, 1, 0]))
    assert not whole
    assert is_acyclic(edges)
    assert edges[2, 1]
    assert edges[1, 0]


def test_a_dag_with_hidden_variables():
    dag = CausalGraph.from_matrix([[0, 1, 1], [0, 0, 0], [0, 0, 0]], names=["gene", "smoking", "cancer"])
    truth = MixedGraph.from_dag(dag, hidden=["gene"])
    assert truth.mark("smoking", "cancer") == "<->"
    assert truth.pag().mark("smoking", "cancer") == "o-o"
    with pytest.raises(GraphError, match="PAG already"):
        truth.pag().pag()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: MixedGraph(np.ones((2, 2), int), ("a", "b")), "0 on the diagonal"),
        (lambda: MixedGraph(np.array([[0, 1], [0, 0]]), ("a", "b")), "both 0 or neither"),
        (lambda: MixedGraph(np.zeros((2, 2), int), ("a",)), "distinct names"),
        (lambda: MixedGraph.from_edges([("a", "b", "->")]), "is no edge"),
        (lambda: MixedGraph.from_tetrad("Graph"), "no line 'Graph Edges:'"),
        (lambda: MixedGraph.from_dot('digraph {\n"a";\n"b";\n"a" -> "b";\n}'), "CausalGraph.from_dot"),
        (lambda: GRAPH.mark("a", "z"), "no variable 'z'"),
    ],
)
def test_what_is_no_mixed_graph_is_refused(call, words):
    with pytest.raises(GraphError, match=words):
        call()
