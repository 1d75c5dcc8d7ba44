"""The report: its dictionary, its page, its files; pictures of graphs."""

import html.parser
import json
import re
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from precede.baselines import EqVar
from precede.corl import CORL
from precede.data.load import load_table
from precede.effects import Question
from precede.errors import OptionError
from precede.evidence.checks import EdgeDiagnostics
from precede.evidence.confidence import Confidence
from precede.graph import CausalGraph, MixedGraph
from precede.graph.component import component_file
from precede.graph.drawing import draw, layered_layout
from precede.knowledge import Knowledge
from precede.report import Heading, Provenance, rebuild_report, render_report, summarize, write_report, write_results
from precede.report.folder import load_results
from precede.report.render import graph_of, picture
from precede.report.words import belief_words
from precede.simulation import simulate

mpl.use("Agg")

WHEN = Provenance("2026-01-01 00:00 UTC", "six.csv", "precede discover six.csv")


@pytest.fixture(scope="module")
def fitted():
    data = simulate(n_variables=6, degree=1, n_samples=300, random_state=0)
    table = load_table(data.data)
    model = CORL(score="linear", n_iterations=5, patience=5, batch_size=8, random_state=0, verbose=False).fit(table)
    return model, table, data.graph


@pytest.fixture(scope="module")
def summary(fitted):
    model, table, truth = fitted
    confidence = np.where(model.graph_.edges, 0.75, 0.0)
    return summarize(model, table, truth, confidence, Heading("six variables", rows=True), WHEN)


def test_summary_is_plain_json(summary):
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary


def test_summary_holds_the_graph(fitted, summary):
    graph = fitted[0].graph_
    pairs = {(edge["cause"], edge["effect"]) for edge in summary["edges"]}
    assert pairs == {(int(i), int(j)) for i, j in np.argwhere(graph.edges)}
    assert [summary["nodes"][k]["name"] for k in summary["order"]] == list(graph.order)
    assert all(edge["confidence"] == 0.75 for edge in summary["edges"])
    assert all(len(edge["points"]) == len(summary["nodes"][0]["values"]) for edge in summary["edges"])


def test_strength_and_slope_are_those_of_the_linear_fit(fitted, summary):
    table = fitted[1]
    spread = table.values.std(axis=0)
    for edge in summary["edges"]:
        i, j = edge["cause"], edge["effect"]
        assert edge["slope"] == pytest.approx(edge["weight"], rel=1e-3)
        assert edge["strength"] == pytest.approx(abs(edge["weight"]) * spread[i] / spread[j], rel=1e-3)


def test_truth_brings_metrics_and_controls(fitted, summary):
    model, table, truth = fitted
    assert summary["evaluation"]["chance"]["empty"] == truth.n_edges
    assert summarize(model, table)["evaluation"] is None
    shuffled = truth.adjacency.sample(frac=1, random_state=0)
    again = CausalGraph.from_matrix(shuffled[shuffled.index])
    assert summarize(model, table, again)["evaluation"] == summary["evaluation"]


def test_confidence_is_matched_by_name(fitted, summary):
    model, table, _ = fitted
    names = list(table.names)
    frame = pd.DataFrame(np.arange(36).reshape(6, 6) / 36, index=names, columns=names)
    plain = [edge["confidence"] for edge in summarize(model, table, confidence=frame.to_numpy())["edges"]]
    turned = frame.iloc[::-1, ::-1]
    assert [edge["confidence"] for edge in summarize(model, table, confidence=turned)["edges"]] == plain
    found = Confidence.of(table.names, [model.graph_.edges] * 40, [model.graph_.positions] * 40, ["A remark."])
    whole = replace(found, edge_probability=turned)
    result = summarize(model, table, confidence=whole)
    assert [edge["confidence"] for edge in result["edges"]] == plain
    first = result["edges"][0]
    pair = frame.to_numpy()[[first["cause"], first["effect"]], [first["effect"], first["cause"]]]
    assert first["connected"] == pytest.approx(min(pair.sum(), 1), abs=1e-3)
    said = " ".join(result["sure"])
    assert "of the 40 resamples" in said
    assert "same order with probability 1.00; the graph found most often came from 40" in said
    assert ("A remark.", "warning") in {(item["sentence"], item["level"]) for item in result["remarks"]}
    with pytest.raises(OptionError, match="shape"):
        summarize(model, table, confidence=np.zeros((2, 2)))


def test_why_a_score_was_chosen_is_said(fitted):
    _, table, _ = fitted
    model = CORL(n_iterations=2, batch_size=4, random_state=0, verbose=False).fit(table)
    reason = model.diagnostics_["score_choice"]["reason"]
    assert any(reason in sentence for sentence in summarize(model, table)["assumed"])


def test_nonlinear_scores_get_curves_without_lines(fitted):
    _, table, _ = fitted
    model = CORL(score="quadratic", n_iterations=2, batch_size=4, random_state=0, verbose=False).fit(table)
    result = summarize(model, table)
    assert all(edge["slope"] is None for edge in result["edges"])
    assert "curve" in render_report(result)


def test_a_baseline_without_a_score(fitted):
    _, table, _ = fitted
    model = EqVar().fit(table)
    result = summarize(model, table)
    assert result["learning"] is None
    assert "How the order was learned" not in render_report(result)


def test_the_outcome_begins_the_report():
    rng = np.random.default_rng(0)
    dose = rng.normal(size=400)
    pain = dose + rng.normal(size=400)
    frame = pd.DataFrame({"dose": dose, "pain": pain, "well": np.where(pain + rng.normal(size=400) > 0, "no", "yes")})
    table = load_table(frame)
    model = CORL(
        "degenerate-gaussian", knowledge=Knowledge(tiers=[["dose"], ["pain"], ["well"]]), random_state=0, verbose=False
    ).fit(table)
    result = summarize(model, table, heading=Heading(outcome="well"))
    told = result["outcome"]
    assert told is not None
    assert [cause["variable"] for cause in told["causes"]] == [
        str(one.variable) for one in model.causes_of("well").causes
    ]
    assert "points" in told["causes"][0]["words"]["size"]
    assert told["causes"][0]["weakest"] is not None
    page = render_report(result)
    assert page.index("What causes well") < page.index("The graph</h2>")
    assert result["nodes"][2]["levels"]["labels"] == ["no", "yes"]
    assert sum(result["nodes"][2]["levels"]["counts"]) == 400
    assert result["nodes"][0]["levels"] is None
    result["outcome"]["place"] = 7
    with pytest.raises(OptionError, match="'outcome' is a variable that is not there"):
        render_report(result)


def test_equivalent_edges_claim_no_direction():
    table = load_table(np.random.default_rng(0).normal(size=(300, 3)).cumsum(axis=1))
    model = CORL(score="sparse-linear", n_iterations=2, batch_size=4, random_state=0, verbose=False).fit(table)
    result = summarize(model, table)
    assert any(edge["source"] == "open" for edge in result["edges"])
    page = render_report(result)
    drawn = picture(result, graph_of(result))["edges"]
    assert {"line"} <= {edge["mark"] for edge in drawn}
    assert [edge["mark"] == "line" for edge in drawn] == [edge["source"] == "open" for edge in result["edges"]]
    assert "<td>open</td>" in page


def test_total_effects_are_those_of_the_graph(fitted, summary):
    model, _, _ = fitted
    names = model.graph_.names
    for edge in summary["edges"]:
        known = Question(model.graph_, names[edge["cause"]], names[edge["effect"]]).answer()
        assert edge["total"]["value"] == pytest.approx(known.value, rel=1e-3)
        assert edge["total"]["low"] == pytest.approx(known.interval[0], rel=1e-3)
        assert edge["total"]["low"] < edge["total"]["value"] < edge["total"]["high"]


def test_an_open_direction_gives_a_range_of_effects():
    table = load_table(np.random.default_rng(0).normal(size=(300, 3)).cumsum(axis=1))
    model = CORL(score="sparse-linear", n_iterations=2, batch_size=4, random_state=0, verbose=False).fit(table)
    loose = [edge for edge in summarize(model, table)["edges"] if edge["source"] == "open"]
    assert loose
    for edge in loose:
        assert edge["total"]["value"] is None
        assert edge["total"]["low"] <= 0.0 <= edge["total"]["high"]


def test_shared_causes_are_drawn_and_never_edges():
    data = simulate(n_variables=4, degree=1, n_samples=300, random_state=0)
    table = load_table(data.data)
    model = EqVar(verbose=False).fit(table)
    names = model.graph_.names
    first, second = next((i, j) for i in range(4) for j in range(i) if not model.graph_.edges[[i, j], [j, i]].any())
    pag = MixedGraph.from_edges([(names[first], names[second], "<->")], names)
    model.graph_ = replace(model.graph_, pag=pag)
    result = summarize(model, table)
    assert [{pair["first"], pair["second"]} for pair in result["shared_causes"]] == [{first, second}]
    assert (first, second) not in {(edge["cause"], edge["effect"]) for edge in result["edges"]}
    shown = picture(result, graph_of(result))["edges"]
    assert [edge["mark"] for edge in shown[len(result["edges"]) :]] == ["shared"]
    page = render_report(result)
    assert 'id="sharedCauses"' in page
    assert "the two share an unmeasured cause" in page
    damaged = {**result, "shared_causes": [{"first": 0, "second": 9}]}
    with pytest.raises(OptionError, match="not there"):
        render_report(damaged)


def test_a_graph_without_edges():
    table = load_table(np.random.default_rng(0).normal(size=(200, 3)))
    model = EqVar().fit(table)
    assert model.graph_.n_edges == 0
    assert "The graph has no edges." in render_report(summarize(model, table))


class Outline(html.parser.HTMLParser):
    """Ids, headings, and everything that a browser might fetch."""

    def __init__(self):
        super().__init__()
        self.ids, self.headings, self.fetched, self.labeled = [], [], [], set()

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if "id" in values:
            self.ids.append(values["id"])
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag in ("link", "img", "iframe", "object", "embed", "video", "audio") or "src" in values:
            self.fetched.append(tag)
        if tag == "a" and not values["href"].startswith(("#", "data:")):
            self.fetched.append(values["href"])
        if tag == "label":
            self.labeled.add(values["for"])


def test_page_is_self_contained_and_well_formed(summary):
    page = render_report(summary)
    outline = Outline()
    outline.feed(page)
    assert outline.fetched == []
    assert "url(http" not in page
    assert "@import" not in page
    assert len(set(outline.ids)) == len(outline.ids)
    assert outline.headings[0] == 1
    assert all(b - a <= 1 for a, b in zip(outline.headings, outline.headings[1:], strict=False))
    assert {"strength-slider", "confidence-slider", "visible-edges"} <= set(outline.ids)
    assert {"strength-slider", "confidence-slider"} <= outline.labeled
    assert render_report(summary) == page


def test_no_confidence_no_slider(fitted):
    _, table, _ = fitted
    model = EqVar()
    model.diagnose = "quick"
    model.fit(table)
    page = render_report(summarize(model, table))
    assert 'id="confidence-slider"' not in page
    assert 'id="strength-slider"' in page


def test_hostile_names_are_escaped():
    evil = ["<script>alert(1)</script>", '"><img src=x>', "</script>", "a & b", "x" * 80]
    rng = np.random.default_rng(0)
    table = load_table(pd.DataFrame(rng.normal(size=(200, 5)).cumsum(axis=1), columns=evil))
    model = EqVar().fit(table)
    page = render_report(summarize(model, table, heading=Heading("<b>data</b>")))
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "<b>data" not in page
    assert page.count("</script>") == 3  # its data, Cytoscape.js, its own


def test_size_at_a_hundred_variables():
    data = simulate(n_variables=100, degree=2, n_samples=1500, random_state=0)
    model = EqVar().fit(data.data)
    page = render_report(summarize(model, load_table(data.data)))
    assert model.graph_.n_edges >= 200
    assert len(page.encode()) - len(component_file("vendor/cytoscape.min.js")) < 500_000


def test_files_and_rebuilding(fitted, tmp_path):
    model, table, truth = fitted
    write_results(tmp_path, model, table)
    files = write_report(tmp_path, model, table, truth, heading=Heading("six"))
    assert [path.name for path in files] == ["summary.json", "report.html"]
    page = files[1].read_bytes()
    files[1].unlink()
    assert rebuild_report(tmp_path) == files[1]
    assert files[1].read_bytes() == page
    rebuild_report(tmp_path, title="half a dozen", note="Read with care.")
    for _ in range(2):  # the second time from what was kept
        again = files[1].read_text()
        assert "<h1>Causal graph of half a dozen</h1>" in again
        assert "Read with care." in again
        rebuild_report(tmp_path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "has no summary.json"),
        ("{", "not valid JSON"),
        ("[]", "is not what .precede discover --out. writes"),
        ("{}", "is not what .precede discover --out. writes"),
        ('{"format": "precede-summary", "version": 2}', "version 2, and this release"),
        ('{"format": "precede-summary", "version": 5}', "'title' is missing"),
    ],
)
def test_a_broken_summary_is_refused_in_a_sentence(tmp_path, content, said):
    if content is not None:
        (tmp_path / "summary.json").write_text(content)
    with pytest.raises(OptionError, match=said):
        rebuild_report(tmp_path)
    assert not (tmp_path / "report.html").exists()


@st.composite
def dags(draw_):
    d = draw_(st.integers(1, 12))
    seed, density = draw_(st.integers(0, 10_000)), draw_(st.floats(0, 1))
    rng = np.random.default_rng(seed)
    order = rng.permutation(d)
    edges = np.zeros((d, d), dtype=bool)
    edges[np.ix_(order, order)] = np.triu(rng.uniform(size=(d, d)) < density, 1)
    return edges, order


@given(dags())
@settings(deadline=None, max_examples=60)
def test_layout_keeps_causes_left_and_variables_apart(dag):
    edges, order = dag
    layout = layered_layout(edges, order)
    for i, j in np.argwhere(edges):
        assert layout.layer[i] < layout.layer[j]
        assert [k for k, _ in layout.routes[i, j]] == list(range(layout.layer[i] + 1, layout.layer[j]))
    assert ((layout.layer < 0) == ~(edges.any(axis=0) | edges.any(axis=1))).all()
    for k in range(layout.n_layers):
        rows = np.sort(layout.row[layout.layer == k])
        assert (np.diff(rows) > 1 - 1e-6).all()
    graph = CausalGraph.from_matrix(edges, order=order)
    picture = draw(graph)
    assert all(box.x - box.width / 2 >= 0 and box.x + box.width / 2 <= picture.width for box in picture.boxes)
    assert all(0 <= box.y <= picture.height for box in picture.boxes)


def test_notebook_picture():
    graph = CausalGraph.from_matrix([[0, -0.5], [0, 0]], names=["<rain>", "wet"])
    picture = graph._repr_html_()
    assert "&lt;rain&gt;" in picture
    assert "<rain>" not in picture
    assert "#b3562a" in picture  # a negative effect
    assert "stroke-dasharray" not in picture  # which means a doubtful edge, wherever it is drawn


def test_static_figures(fitted):
    from matplotlib import pyplot as plt

    model = fitted[0]
    _, ax = plt.subplots()
    assert model.graph_.plot(ax) is ax
    assert len(ax.texts) == model.graph_.n_variables
    assert len(ax.patches) >= model.graph_.n_edges
    assert model.graph_.plot().figure is not ax.figure
    plt.close("all")


@pytest.mark.parametrize(
    ("confidence", "connected", "more", "words"),
    [
        (0.95, 1.0, {}, "well supported"),
        (0.8, 0.85, {}, "fairly well supported"),
        (0.8, 1.0, {}, "connected, direction uncertain"),
        (0.95, 1.0, {"source": "open"}, "connected, direction unknown"),
        (0.6, 0.7, {}, "weak: often absent in resamples"),
        (0.3, 0.4, {}, "do not rely on it"),
        (None, None, {}, "not resampled"),
        (None, None, {"policy_probability": 0.8}, "not resampled, likely for the policy"),
    ],
)
def test_every_edge_says_whether_to_believe_it(confidence, connected, more, words):
    options = {"source": "structure", "confidence": confidence, "connected": connected, **more}
    edge = EdgeDiagnostics(0, 1, 1.0, 0.4, "rising", 0.2, **options)
    assert belief_words(edge, 1.0) == words
    assert belief_words(edge, -1.0) == f"{words}; other paths outweigh it: the total effect falls"


def test_a_direction_that_a_curve_may_have_turned_is_not_well_supported():
    edge = EdgeDiagnostics(0, 1, 1.0, 0.4, "rising", 0.2, source="structure", confidence=0.97, connected=1.0)
    assert belief_words(edge, bent=True).startswith("connected, direction uncertain: the model's straight lines")
    assert belief_words(replace(edge, source="knowledge"), bent=True) == "well supported"
    rng = np.random.default_rng(0)
    orders, staff = rng.normal(200, 30, 800), rng.integers(6, 25, 800).astype(float)
    frame = pd.DataFrame({"orders": orders, "staff": staff, "load": orders / staff + rng.normal(0, 1, 800)})
    frame["site"] = np.where(rng.random(800) < 1 / (1 + np.exp((200 - orders) / 20)), "big", "small")
    frame.loc[rng.random(800) < 0.1, "site"] = "other"
    model = CORL(random_state=0, verbose=False).fit(frame)
    told = {edge["belief"] for edge in summarize(model, load_table(frame))["edges"] if edge["source"] != "open"}
    assert not any("well supported" in words for words in told)  # load -> staff has a confidence of 1, and is wrong


def test_checks_that_were_not_run_share_a_line(summary):
    why = "Not run: columns with levels have no size."
    skipped = [{"name": name, "value": None, "sentence": why, "level": "not run", "remedy": ""} for name in ("a", "b")]
    page = render_report({**summary, "checks": skipped})
    assert page.count(why) == 1
    assert "A, b" in page


def test_marks_of_hidden_causes_and_the_summary_graph_lie_beside_the_graph(tmp_path):
    rng = np.random.default_rng(0)
    hidden, a, d = rng.normal(size=(3, 2000))
    frame = pd.DataFrame({"a": a, "b c": a + hidden + 0.5 * rng.normal(size=2000), "d": d + hidden})
    table = load_table(frame)
    model = CORL("linear", hidden="allowed", random_state=0, verbose=False).fit(table)
    folder = tmp_path / "out"
    write_results(folder, model, table)
    found = load_results(folder)
    assert found.graph.pag == model.pag_
    assert (found.graph.resampled == model.graph_.resampled).all()
    shown = summarize(model, table)
    assert {edge["mark"] for edge in shown["edges"]} <= {"arrow", "half", "open", "line"}
    assert any(sentence.endswith("B does not cause A.") or "cannot tell" in sentence for sentence in shown["found"])
    (folder / "pag.json").write_text('{"edges": [["a", "z", "o->"]]}')
    with pytest.raises(OptionError, match="other columns"):
        load_results(folder)
    series = load_table(pd.DataFrame({"x": a[:300], "y": np.r_[0, a[:299]] + 0.1 * d[:300]}), lags=1)
    window = CORL("linear", random_state=0, verbose=False).fit(series)
    write_results(folder, window, series)
    assert not (folder / "pag.json").exists()  # of the result that was here before
    assert pd.read_csv(folder / "summary_graph.csv", index_col=0).loc["x", "y"] == 1


def test_a_folder_answers_about_effects_as_the_fit_does(tmp_path):
    made = simulate(n_variables=5, degree=1.5, n_samples=200, weight_range=(0.1, 0.5), random_state=1)
    table = load_table(made.data)
    model = CORL(random_state=0, verbose=False).fit(table)
    write_results(tmp_path, model, table)
    found = load_results(tmp_path)
    assert (found.graph.resampled == model.graph_.resampled).all()
    for cause in made.graph.names:
        for effect in made.graph.descendants(cause):
            here, there = model.graph_.effect(cause, effect), found.effects(cause, effect)["total"]
            assert there.probability == here.probability is not None
            # rows give errors for noise of uneven size, moments cannot
            np.testing.assert_allclose(there.interval, here.interval, atol=0.1)
    (tmp_path / "resampled.json").write_text('{"graphs": [[[0, 5]]]}')
    with pytest.raises(OptionError, match="other columns"):
        load_results(tmp_path)
    (tmp_path / "resampled.json").write_text('{"graphs": [[0]]}')
    with pytest.raises(OptionError, match="damaged"):
        load_results(tmp_path)
