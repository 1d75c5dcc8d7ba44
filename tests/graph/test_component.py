"""The graph component: what it is given, what comes along, and how it behaves in a browser."""

import html
import json
import re
import tomllib
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from chromium import CHROMIUM, Chromium

from precede import CORL, CausalGraph, MixedGraph, load_results, load_table, simulate
from precede.graph.component import FILES, component_file, inline_module, payload, policy_hash
from precede.graph.dags import ancestors
from precede.report.folder import write_results

ROOT = Path(__file__).parents[2]
VENDOR = ROOT / "src/precede/graph/component/vendor"


@pytest.fixture
def chain() -> CausalGraph:
    return CausalGraph.from_matrix([[0, 2.0, 0], [0, 0, -1.0], [0, 0, 0]], names=["rain", "wet", "<b>slip</b>"])


def test_payload_holds_the_graph(chain: CausalGraph) -> None:
    probability = np.array([[0, 0.9, 0], [0, 0, 0.3], [0, 0, 0]])
    shown = payload(chain, probability, cpdag=np.array([[0, 1, 0], [1, 0, 1], [0, 0, 0]]))
    assert json.loads(json.dumps(shown)) == shown
    first, second = shown["edges"]
    assert (first["cause"], first["effect"], first["strength"], first["sign"]) == (0, 1, 2.0, "positive")
    assert (first["mark"], first["doubtful"], first["probability"]) == ("line", False, 0.9)
    assert (second["sign"], second["mark"], second["doubtful"]) == ("negative", "arrow", True)
    assert shown["order"] == [0, 1, 2]
    assert [node["name"] for node in shown["nodes"]] == ["rain", "wet", "<b>slip</b>"]


def test_payload_of_shared_causes_and_places(chain: CausalGraph) -> None:
    shown = payload(chain, shared_causes=[(0, 2)], placed=True)
    assert shown["edges"][-1]["mark"] == "shared"
    x = [node["x"] for node in shown["nodes"]]
    assert x == sorted(x)
    assert shown["edges"][0]["bends"] == []


def test_a_weight_that_is_no_number_has_no_strength() -> None:
    graph = CausalGraph.from_matrix([[0, 1], [0, 0]], weights=[[0, np.nan], [0, 0]])
    assert payload(graph)["edges"][0]["strength"] is None


@pytest.mark.parametrize("name", FILES)
def test_files_come_along(name: str) -> None:
    assert component_file(name)
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]["precede"]
    assert any(Path(f"graph/component/{name}").match(pattern) for pattern in patterns)


def test_no_other_file_is_handed_out() -> None:
    with pytest.raises(KeyError):
        component_file("../causal_graph.py")


def test_licenses_and_versions_are_named() -> None:
    notice = (VENDOR / "NOTICE").read_text()
    for library, license in (("cytoscape", "MIT"), ("elkjs", "Eclipse Public License")):
        assert f"LICENSE-{library}" in notice
        assert license in notice
        assert (VENDOR / f"LICENSE-{library}").stat().st_size > 1000
    version = re.search(r"Cytoscape.js ([\d.]+)", notice)
    assert version is not None
    assert version[1] in (VENDOR / "cytoscape.min.js").read_text()


def test_own_files_set_text_as_text() -> None:
    for name in FILES:
        if not name.startswith("vendor/"):
            text = component_file(name).decode()
            assert not re.search(
                r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|https?://(?!www\.w3)", text
            )


def page_of(shown: dict, folder: Path) -> str:
    """A page with everything in it, as a report has it."""
    start = """
      const view = new GraphView(document.getElementById("place"), { onSelect: (item) => { window.chosen = item; } });
      window.view = view;
      await view.show(JSON.parse(document.getElementById("graph").textContent));
      window.done = true;"""
    data = json.dumps(shown).replace("<", "\\u003c")
    path = folder / "graph.html"
    path.write_text(
        "<!doctype html><meta charset=utf-8><link rel=icon href=data:,>"
        f"<style>{component_file('graph-view.css').decode()}</style>"
        f"<div id=place style='height:600px'></div><script type=application/json id=graph>{data}</script>"
        f"<script>{component_file('vendor/cytoscape.min.js').decode()}</script>"
        f"<script type=module>{inline_module()}{start}</script>"
    )
    return path.as_uri()


def test_a_widget_is_one_frame_with_everything_in_it(chain: CausalGraph) -> None:
    shown = chain.view(title="A & B", height=321)._repr_html_()
    assert shown.startswith('<iframe srcdoc="')
    assert "height:321px" in shown
    assert "<b>slip" not in shown
    page = html.unescape(shown.split('srcdoc="')[1].split('" style=')[0])
    assert "<b>slip" not in page
    assert "<title>A &amp; B</title>" in page
    assert not re.search(r"<link|<img|@import|<script[^>]* src", page)
    policy = re.search(r"script-src ([^;]*);", page)
    assert policy is not None
    scripts = re.findall(r"<script(?: type=\"module\")?>(.*?)</script>", page, re.DOTALL)
    assert policy[1].split() == [policy_hash(code) for code in scripts]


def test_a_widget_takes_probabilities_by_name(chain: CausalGraph, tmp_path: Path) -> None:
    names = list(chain.names)
    probability = pd.DataFrame([[0, 0.9, 0], [0, 0, 0.3], [0, 0, 0]], index=names, columns=names)
    path = tmp_path / "graph.html"
    marks = [("rain", "wet", "-->"), ("wet", "<b>slip</b>", "-->"), ("rain", "<b>slip</b>", "<->")]
    shared = replace(chain, pag=MixedGraph.from_edges(marks, names))
    shared.view(probability.iloc[::-1, ::-1]).save(path)
    found = re.search(r'id="data">(.*?)</script>', path.read_text(), re.DOTALL)
    assert found is not None
    edges = json.loads(found[1])["edges"]
    assert [edge["probability"] for edge in edges] == [0.9, 0.3, None]
    assert [edge["mark"] for edge in edges] == ["arrow", "arrow", "shared"]


def hiding(chain: CausalGraph) -> CausalGraph:
    marks = [("rain", "wet", "o->"), ("wet", "<b>slip</b>", "-->")]
    return replace(chain, pag=MixedGraph.from_edges(marks, chain.names))


def test_a_page_says_what_its_marks_mean(chain: CausalGraph) -> None:
    assert "<li><b>A o-&gt; B</b>: either A causes B, or they share" in hiding(chain).view().page
    assert '<ul id="legend"></ul>' in chain.view().page


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the PATH")
class TestInABrowser:
    def test_the_page_of_a_widget(self, chain: CausalGraph, tmp_path: Path) -> None:
        path = tmp_path / "graph.html"
        chain.view().save(path)
        with Chromium() as browser:
            browser.open(path.as_uri())
            browser.wait("'ready' in document.documentElement.dataset")
            assert browser.value("document.querySelectorAll('.gv-canvas canvas').length") > 0
            assert browser.words == []
            assert all(address.startswith(("file:", "data:", "about:")) for address in browser.requests)

    def test_the_legend_of_a_widget_stays_in_place_and_covers_nothing(self, chain: CausalGraph, tmp_path: Path) -> None:
        hiding(chain).view().save(path := tmp_path / "graph.html")
        with Chromium(900, 420) as browser:
            browser.open(path.as_uri())
            browser.wait("'ready' in document.documentElement.dataset")
            place = "['.gv-canvas', '#legend'].map((k) => document.querySelector(k).getBoundingClientRect())"
            for wheel in (0, 3000):
                browser.value(f"window.scrollBy(0, {wheel})")
                canvas, legend = browser.value(f"{place}.map((at) => [at.top, at.bottom])")
                assert 0 < canvas[0] < canvas[1] <= legend[0] < legend[1] <= 420

    def test_a_narrow_screen_shows_fewer(self, tmp_path: Path) -> None:
        graph = simulate(n_variables=30, degree=2, n_samples=10, random_state=0).graph
        address = page_of(payload(graph, placed=True), tmp_path)
        for width, fewest, most in ((390, 5, 10), (1280, 30, 30)):
            with Chromium(width, 700) as browser:
                browser.open(address)
                browser.wait("window.done")
                assert fewest <= browser.value("view.cy.nodes().length") <= most
                assert browser.value("view.cy.zoom() * 13") > 8  # height of the letters in pixels

    def test_shared_causes_lead_nowhere(self, tmp_path: Path) -> None:
        graph = CausalGraph.from_matrix([[0, 1, 0], [0, 0, 0], [0, 0, 0]], names=["rain", "wet", "wind"])
        shown = payload(graph, shared_causes=[(1, 2)], placed=True)
        with Chromium() as browser:
            browser.open(page_of(shown, tmp_path))
            browser.wait("window.done")
            browser.value("view.focus(0)")
            assert browser.value("view.cy.nodes('.lit').map((node) => node.data('index'))") == [0, 1]

    def test_keys_find_and_pictures(self, chain: CausalGraph, tmp_path: Path) -> None:
        with Chromium() as browser:
            browser.open(page_of(payload(chain, placed=True), tmp_path))
            browser.wait("window.done")
            browser.press("Tab")
            for _ in range(6):
                browser.press("Tab")  # find, zoom, pictures, then the graph
            assert browser.value("document.activeElement === view.canvas")
            browser.press("ArrowRight")
            assert browser.value("chosen") == {"kind": "node", "index": 0}
            browser.press("ArrowRight")
            assert browser.value("chosen") == {"kind": "edge", "index": 0}
            assert browser.value("view.speech.textContent") == "rain causes wet"
            browser.press("Escape")
            assert browser.value("chosen") is None
            assert browser.value("view.find('slip').then(() => view.cy.nodes('.lit').length)") == 3
            root = ElementTree.fromstring(browser.value("view.picture()"))
            words = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
            assert words == {"rain", "wet", "<b>slip</b>"}
            assert browser.words == []
            assert all(address.startswith(("file:", "data:", "blob:")) for address in browser.requests)

    def test_many_variables_are_shown_by_neighborhood(self, tmp_path: Path) -> None:
        graph = simulate(n_variables=80, degree=2, n_samples=10, random_state=0).graph
        with Chromium() as browser:
            browser.open(page_of(payload(graph, placed=True), tmp_path))
            browser.wait("window.done")
            assert 18 <= browser.value("view.cy.nodes().length") <= 30
            spots = dict(browser.value("view.cy.nodes().map((node) => [node.data('index'), node.position('x')])"))
            inside = [(i, j) for i, j in np.argwhere(graph.edges) if i in spots and j in spots]
            assert inside
            assert all(spots[i] < spots[j] for i, j in inside)
            center = browser.value("view.center")
            near = {center, *np.flatnonzero(graph.edges[center]), *np.flatnonzero(graph.edges[:, center])}
            assert near <= set(spots)
            assert browser.value("view.whole(true).then(() => view.cy.nodes().length)") == 80
            node = int(graph.positions[40])
            browser.value(f"view.focus({node})")
            family = ancestors(graph.edges)[:, node] | ancestors(graph.edges)[node]
            assert browser.value("view.cy.nodes('.lit').length") == int(family.sum()) + 1
            assert browser.words == []


def test_every_picture_shows_standardized_strengths(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    cause = rng.uniform(-1, 1, 400)
    data = pd.DataFrame({"cause": cause, "effect": -100 * cause + 20 * rng.uniform(-1, 1, 400)})
    model = CORL("nongaussian", random_state=0, verbose=False).fit(data)
    edge = model.diagnostics_.edges[0]
    assert abs(model.graph_.strengths).max() > 50  # in the units of the columns
    assert (edge.strength < 1.01, edge.trend) == (True, "falling")
    shown = payload(model.graph_)["edges"][0]
    assert (shown["strength"], shown["sign"]) == (pytest.approx(edge.strength), "negative")
    assert f"strength -{edge.strength:.3g}" in model.graph_._repr_html_()
    write_results(tmp_path, model, load_table(data))
    assert payload(load_results(tmp_path).graph)["edges"][0]["strength"] == pytest.approx(edge.strength)
    unchecked = CORL("nongaussian", random_state=0, verbose=False, diagnose=False).fit(data)
    assert payload(unchecked.graph_)["edges"][0]["strength"] is None  # not known: all lines are alike
