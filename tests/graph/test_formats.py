"""Every conversion comes back as it went, and is what the other package means by it."""

import os

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from precede import discover
from precede.errors import GraphError, OptionError
from precede.graph import CausalGraph
from precede.graph.dags import full_dag
from precede.simulation import simulate

names_with_anything = st.text(max_size=8)
plain_names = st.from_regex(r"[a-z][a-z0-9_]{0,5}", fullmatch=True)


@st.composite
def graphs(draw, names=names_with_anything):
    d = draw(st.integers(1, 6))
    labels = draw(st.one_of(st.just(list(range(d))), st.lists(names, min_size=d, max_size=d, unique=True)))
    order = np.array(draw(st.permutations(range(d))))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    edges = full_dag(order) & (rng.random((d, d)) < 0.5)
    weights = np.where(rng.random((d, d)) < 0.1, 1e-9, 1.0) * (rng.normal(size=(d, d)) + 0.001)
    return CausalGraph.from_matrix(edges, weights, order, labels)


def with_integers_for_numbered_names(graph):
    """CSV and GML hold names as text, so "0", "1", ... come back as 0, 1, ... like those of a bare array."""
    numbered = [str(name) for name in graph.names] == [str(k) for k in range(graph.n_variables)]
    names = range(graph.n_variables) if numbered else graph.names
    return CausalGraph.from_matrix(graph.edges, graph.strengths, names=names)


exact = settings(deadline=None, max_examples=60)


@exact
@given(graphs())
def test_json_keeps_everything(graph):
    back = CausalGraph.from_json(graph.to_json())
    assert back == graph
    assert back.order == graph.order
    assert np.array_equal(back.strengths, graph.strengths)


@exact
@given(graphs())
def test_csv_round_trip(graph):
    back = CausalGraph.from_csv(graph.to_csv())
    assert back == with_integers_for_numbered_names(graph)
    assert np.array_equal(back.strengths, graph.strengths)


@exact
@given(graphs())
def test_gml_round_trip(graph):
    back = CausalGraph.from_gml(graph.to_gml())
    assert back == with_integers_for_numbered_names(graph)
    assert np.array_equal(back.strengths, graph.strengths)


@exact
@given(graphs())
def test_dot_round_trip(graph):
    back = CausalGraph.from_dot(graph.to_dot())
    assert back == graph
    assert np.array_equal(back.strengths, graph.strengths)


@exact
@given(graphs())
def test_networkx_lingam_gcastle_dowhy_round_trip(graph):
    assert CausalGraph.from_networkx(graph.to_networkx()) == graph
    assert CausalGraph.from_lingam(graph.to_lingam(), names=graph.names) == graph
    unweighted = CausalGraph.from_matrix(graph.edges, names=graph.names)
    assert CausalGraph.from_gcastle(graph.to_gcastle(), names=graph.names) == unweighted
    as_text = CausalGraph.from_matrix(graph.edges, graph.strengths, names=[str(name) for name in graph.names])
    assert CausalGraph.from_dowhy(graph.to_dowhy()) == as_text


@pytest.fixture
def graph():
    return CausalGraph.from_matrix([[0, 0, 0], [0.5, 0, -2], [0, 0, 0]], names=["a", "b", "c d"])


@pytest.mark.parametrize("kind", ["json", "csv", "gml", "dot"])
def test_files_are_written_whole(graph, tmp_path, kind):
    path = tmp_path / f"graph.{kind}"
    text = getattr(graph, f"to_{kind}")(path)
    assert path.read_text() == text == getattr(graph, f"to_{kind}")()
    assert os.listdir(tmp_path) == [path.name]
    read = getattr(CausalGraph, f"from_{kind}")
    assert read(path) == read(str(path)) == read(text) == graph
    with pytest.raises(GraphError, match="cannot be read"):
        read(tmp_path / "nothing")
    (tmp_path / "bad").write_bytes(b"\xff\xfe")
    with pytest.raises(GraphError, match="not UTF-8"):
        read(tmp_path / "bad")


def test_a_failed_write_leaves_the_old_file(graph, tmp_path, monkeypatch):
    path = tmp_path / "graph.json"
    path.write_text("old")

    def broken(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(OSError, match="disk full"):
        graph.to_json(path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["graph.json"]


def test_orientation_of_each_matrix(graph):
    assert graph.to_lingam()[0, 1] == 0.5  # lingam: [effect, cause]
    assert graph.to_gcastle()[1, 0] == 1
    assert graph.to_gcastle().dtype == np.int64
    assert graph.to_networkx()["b"]["a"]["weight"] == 0.5
    assert graph.to_csv().splitlines() == [",a,b,c d", "a,0,0,0", "b,0.5,0,-2.0", "c d,0,0,0"]


def test_matrices_handed_out_are_copies(graph):
    graph.to_lingam()[0, 1] = 7
    graph.to_gcastle()[1, 0] = 7
    assert graph.strengths[1, 0] == 0.5
    assert graph.edges[1, 0]


def test_csv_without_margins():
    assert CausalGraph.from_csv("0,1\n0,0\n").edge_list() == [(0, 1, 1.0)]
    assert CausalGraph.from_csv("a,b\n0,1\n0,0\n").edge_list() == [("a", "b", 1.0)]
    frame = pd.DataFrame([[0, 1], [0, 0]], index=["u", "v"], columns=["u", "v"])
    assert CausalGraph.from_csv(frame.to_csv()) == CausalGraph.from_matrix(frame)


def test_dot_of_others():
    text = """
    // made by hand
    strict digraph "my graph" {
        rankdir=LR; node [shape=box]
        edge [color="red"];
        a -> b -> "c d" [weight=3];  /* a chain */
        a -> "c d" [label="0.25" color=blue]
        lonely
    }
    """
    graph = CausalGraph.from_dot(text)
    assert graph.names == ("a", "b", "c d", "lonely")
    assert graph.edge_list() == [("a", "b", 3.0), ("a", "c d", 0.25), ("b", "c d", 3.0)]
    assert CausalGraph.from_dot("digraph { 3 -> 1; }").names == (3, 1)


@pytest.mark.parametrize(
    ("read", "text", "words"),
    [
        ("json", "{", "not valid JSON"),
        ("json", "{}", "not a graph of this package"),
        ("json", '{"format": "precede-graph", "version": 99}', "version 99; this release reads 1"),
        ("json", '{"format": "precede-graph", "version": 1}', "incomplete or misshapen"),
        ("json", '{"format": "precede-graph", "version": 1, "names": [[1]], "edges": [], "order": null}', "misshapen"),
        (
            "json",
            '{"format": "precede-graph", "version": 1, "names": ["a"], "order": null, '
            '"edges": [{"cause": "a", "effect": "z", "weight": 1}]}',
            "'a' -> 'z' names a variable",
        ),
        ("csv", "\n", "empty"),
        ("csv", "a,b\n1\n", "different numbers of fields"),
        ("csv", "a,b,c\n0,0,0\n", "square"),
        ("csv", ",a,b\nb,0,1\na,0,0\n", "same names in the same order"),
        ("csv", ",a,b\na,0,x\nb,0,0\n", "'x' where a number"),
        ("csv", ",a,b\na,0,1\nb,1,0\n", "cycle"),
        ("gml", "graph [", "not valid GML"),
        ("gml", 'graph [ node [ id 0 label "a" ] ]', "undirected"),
        ("dot", "graph { a -- b }", "not a digraph"),
        ("dot", "digraph { a -- b }", "undirected"),
        ("dot", "digraph { a -> {b c} }", "subgraphs"),
        ("dot", "digraph { a -> b [weight=1 }", "not closed"),
        ("dot", "digraph { a -> b", "in braces"),
        ("dot", "digraph { a @ b }", "not understood"),
        ("dot", "digraph { a -> b -> a }", "cycle"),
    ],
)
def test_bad_text_gets_a_sentence(read, text, words):
    with pytest.raises(GraphError, match=words):
        getattr(CausalGraph, f"from_{read}")(text)


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(["json", "csv", "gml", "dot"]),
    st.text(alphabet='{}[]"\\,;=->ab01 \n', max_size=40),
    st.integers(0, 60),
)
def test_damaged_text_never_gives_another_error(kind, noise, where):
    text = getattr(CausalGraph.from_matrix([[0, 1], [0, 0]], names=["a", "b"]), f"to_{kind}")()
    damaged = text[:where] + noise + "{[\n" + text[where + 3 :]
    try:
        getattr(CausalGraph, f"from_{kind}")(damaged)
    except GraphError as error:
        sentence = str(error)
    else:
        sentence = "fine"
    assert sentence


def test_names_that_clash_as_text_are_refused():
    graph = CausalGraph.from_matrix(np.zeros((2, 2)), names=[1, "1"])
    for write in (graph.to_csv, graph.to_gml, graph.to_dot, graph.to_dowhy):
        with pytest.raises(GraphError, match="two of the names"):
            write()
    with pytest.raises(GraphError, match="JSON cannot hold"):
        CausalGraph.from_matrix(np.zeros((2, 2)), names=[("a", 1), ("a", 2)]).to_json()


def test_a_zero_weight_needs_json():
    graph = CausalGraph.from_matrix([[0, 1], [0, 0]], weights=np.zeros((2, 2)))
    assert CausalGraph.from_json(graph.to_json()) == graph
    with pytest.raises(GraphError, match="weight 0"):
        graph.to_csv()


def test_undirected_networkx_is_refused():
    with pytest.raises(GraphError, match="DiGraph"):
        CausalGraph.from_networkx(nx.Graph([("a", "b")]))
    with pytest.raises(GraphError, match="not a DoWhy"):
        CausalGraph.from_dowhy(3)


def test_lingam_hidden_causes_are_refused():
    with pytest.raises(GraphError, match="hidden common cause"):
        CausalGraph.from_lingam([[0, np.nan], [np.nan, 0]])


def test_causallearn_missing_is_said(graph, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "causallearn.graph.Dag", None)
    monkeypatch.setitem(__import__("sys").modules, "causallearn", None)
    with pytest.raises(OptionError, match="needs the package causal-learn"):
        graph.to_causallearn()


@pytest.mark.filterwarnings("ignore")
def test_pydot_reads_our_dot(graph):
    pydot = pytest.importorskip("pydot")
    (parsed,) = pydot.graph_from_dot_data(graph.to_dot())
    assert {(e.get_source(), e.get_destination()) for e in parsed.get_edges()} == {('"b"', '"a"'), ('"b"', '"c d"')}


@pytest.mark.peers
@pytest.mark.filterwarnings("ignore")
def test_causallearn_means_the_same():
    dag_module = pytest.importorskip("causallearn.graph.Dag")
    dataset = simulate("er", 8, 2, n_samples=5, random_state=0)
    dag = dataset.graph.to_causallearn()
    assert isinstance(dag, dag_module.Dag)
    nodes = {node.get_name(): node for node in dag.get_nodes()}
    for cause in dataset.graph.names:
        for effect in dataset.graph.names:
            expected = bool(dataset.graph.adjacency.loc[cause, effect])
            assert dag.is_parent_of(nodes[cause], nodes[effect]) == expected
    back = CausalGraph.from_causallearn(dag)
    assert np.array_equal(back.edges, dataset.graph.edges)
    assert back.names == dataset.graph.names


@pytest.mark.peers
@pytest.mark.filterwarnings("ignore")
def test_causallearn_results_with_undirected_edges_are_refused():
    search = pytest.importorskip("causallearn.search.ConstraintBased.PC")
    data = np.random.default_rng(0).normal(size=(500, 1))
    data = np.hstack([data, data + np.random.default_rng(1).normal(size=(500, 1))])
    with pytest.raises(GraphError, match="not directed"):
        CausalGraph.from_causallearn(search.pc(data, show_progress=False))


@pytest.mark.peers
@pytest.mark.filterwarnings("ignore")
def test_lingam_means_the_same():
    lingam = pytest.importorskip("lingam")
    dataset = simulate("er", 4, 1, "lingam", 3000, random_state=1)
    model = lingam.DirectLiNGAM()
    model.fit(dataset.data)
    learned = CausalGraph.from_lingam(model, names=list(dataset.data.columns))
    true = dataset.graph.edges
    assert np.allclose(learned.strengths[true], dataset.graph.strengths[true], atol=0.2)
    assert np.allclose(model.adjacency_matrix_, learned.to_lingam())


@pytest.mark.peers
@pytest.mark.filterwarnings("ignore")
def test_gcastle_means_the_same():
    metrics = pytest.importorskip("castle.metrics")
    datasets = pytest.importorskip("castle.datasets")
    dataset = simulate("er", 6, 1, n_samples=2000, random_state=1)
    matrix = dataset.graph.to_gcastle()
    assert metrics.MetricsDAG(matrix, matrix).metrics["shd"] == 0
    made = datasets.IIDSimulation(W=dataset.graph.strengths, n=2000, method="linear", sem_type="gauss")
    assert np.array_equal(CausalGraph.from_gcastle(made.B).edges, dataset.graph.edges)
    for i, j in np.argwhere(matrix):  # gcastle simulates from our weights what we would
        parents = np.flatnonzero(matrix[:, j])
        fit = np.linalg.lstsq(made.X[:, parents], made.X[:, j], rcond=None)[0]
        assert fit[list(parents).index(i)] == pytest.approx(dataset.graph.strengths[i, j], abs=0.15)


@pytest.mark.peers
@pytest.mark.filterwarnings("ignore")
def test_dowhy_estimates_an_effect_from_a_learned_graph():
    dowhy = pytest.importorskip("dowhy")
    dataset = simulate("er", 5, 1.5, n_samples=3000, random_state=3)
    learned = discover(dataset.data, score="linear", n_iterations=20, random_state=0, verbose=False)
    total = np.linalg.inv(np.eye(5) - dataset.graph.strengths)  # sums over directed paths
    assert learned.n_edges >= 5
    for cause, effect, _ in learned.edge_list():
        i, j = (dataset.graph.names.index(name) for name in (cause, effect))
        for form in (learned.to_dowhy(), learned.to_gml()):
            model = dowhy.CausalModel(dataset.data, treatment=cause, outcome=effect, graph=form)
            estimand = model.identify_effect(proceed_when_unidentifiable=True)
            estimate = model.estimate_effect(estimand, method_name="backdoor.linear_regression")
            assert estimate.value == pytest.approx(total[i, j], abs=0.15)
            back = CausalGraph.from_dowhy(model)
            assert {(a, b) for a, b, _ in back.edge_list()} == {(a, b) for a, b, _ in learned.edge_list()}


def test_json_keeps_lags_and_fixed_directions() -> None:
    old = '{"format": "precede-graph", "version": 1, "names": ["a", "b"], "order": ["a", "b"], "lags": [1, 0],'
    edges = '"fixed_directions": [["a", "b"]], "edges": [{"cause": "a", "effect": "b", "weight": 1}]}'
    graph = CausalGraph.from_json(old + edges)
    assert (graph.lags, graph.fixed_directions.tolist()) == ((1, 0), [[False, True], [False, False]])
    assert CausalGraph.from_json(graph.to_json()).lags == (1, 0)
    with pytest.raises(GraphError, match="whole number"):
        CausalGraph.from_json((old + edges).replace("[1, 0]", "[1]"))
