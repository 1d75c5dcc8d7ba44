"""The report in a real browser: quiet console, no network, sliders and keyboard that work (make test-browser)."""

import base64
import gzip
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from chromium import CHROMIUM, Chromium

from precede.baselines import EqVar
from precede.corl import CORL
from precede.data.datasets import load_sachs
from precede.data.load import load_table
from precede.graph import CausalGraph
from precede.graph.component import policy_hash
from precede.graph.dags import ancestors
from precede.knowledge import Knowledge
from precede.report import Heading, render_report, summarize
from precede.report.render import graph_of
from precede.simulation import simulate

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the PATH"),
]

READY = "'ready' in document.documentElement.dataset"
PROBE = "\nwindow.probe = { view };\n"
"""Lets a test see what the page's own script keeps to itself."""

TOOLS = """
const byId = (id) => document.getElementById(id);
window.slide = (id, value) => { byId(id).value = value; byId(id).dispatchEvent(new Event("input", {bubbles: true})); };
window.counts = () => ({
  said: Number(byId("visible-edges").textContent),
  drawn: probe.view.cy.edges().filter((e) => e.style("display") === "element" && !e.hasClass("shared")).length,
  listed: [...document.querySelectorAll("#edges tbody tr")].filter((row) => !row.classList.contains("off")).length,
});
"""


def probed(page):
    """The page with one line more in its script, and the policy that lets it run."""
    start, end = page.rindex('<script type="module">') + len('<script type="module">'), page.rindex("</script>")
    script = page[start:end]
    longer = script.replace(
        "\nawait view.show(data.graph, data.outcome);", f"{PROBE}await view.show(data.graph, data.outcome);"
    )
    assert longer != script
    allowed, needed = (policy_hash(code).strip("'") for code in (script, longer))
    assert allowed in page
    return page.replace(allowed, needed).replace(script, longer)


@pytest.fixture(scope="module", params=["sachs", "hundred"])
def opened(request, tmp_path_factory):
    """The report of 11 variables with confidences and a shared cause, and of 100 without; open in a browser."""
    if request.param == "sachs":
        data = load_sachs()
        model = EqVar().fit(data.data)
        shares = np.random.default_rng(0).uniform(0.4, 1.0, size=(11, 11))
        summary = summarize(model, load_table(data.data), data.graph, shares, Heading("Sachs", rows=True))
        summary["shared_causes"] = [{"first": 0, "second": 4}]
    else:
        data = simulate(n_variables=100, degree=2, n_samples=400, random_state=0)
        model = EqVar()
        model.diagnose = "quick"
        summary = summarize(model.fit(data.data), load_table(data.data), heading=Heading("100 variables"))
        summary["shared_causes"] = []
    path = tmp_path_factory.mktemp(request.param) / "report.html"
    path.write_text(probed(render_report(summary)))
    with Chromium(1360, 900) as browser:
        browser.open(path.as_uri())
        browser.wait(READY)
        browser.value(TOOLS)
        yield summary, browser
        assert browser.words == []  # the console, and what the policy blocks
        assert all(address.startswith(("file:", "blob:")) for address in browser.requests)


def test_the_listener_hears(tmp_path):
    """What the fixture looks for would be noticed: an error, and a request that the page's policy blocks."""
    rng = np.random.default_rng(0)
    table = load_table(rng.normal(size=(100, 3)).cumsum(axis=1))
    page = render_report(summarize(EqVar().fit(table), table))
    stranger = '<img src="http://127.0.0.1:9/x.png"><script>console.error("a script from elsewhere");</script>'
    (tmp_path / "report.html").write_text(page.replace("<main>", "<main>" + stranger))
    with Chromium() as browser:
        browser.open((tmp_path / "report.html").as_uri())
        browser.wait(READY)
        assert len(browser.words) == 2  # the picture and the script were refused; the script did not run
        assert all("Content Security Policy" in words for words in browser.words)


def test_the_graph_is_above_the_fold(opened):
    _, browser = opened
    box = browser.value("document.querySelector('.gv-canvas').getBoundingClientRect().toJSON()")
    assert box["bottom"] <= 900
    assert box["height"] >= 300


def test_sliders_change_what_is_shown(opened):
    summary, browser = opened
    browser.value("probe.view.whole(true)")
    total = len(summary["edges"])
    everything = {"said": total, "drawn": total, "listed": total}
    assert browser.value("counts()") == everything
    half = max(edge["strength"] for edge in summary["edges"]) / 2
    strong = sum(edge["strength"] >= half for edge in summary["edges"])
    assert 0 < strong < total
    browser.value("slide('strength-slider', 50)")
    assert browser.value("counts()") == {"said": strong, "drawn": strong, "listed": strong}
    browser.value("slide('strength-slider', 0)")
    assert browser.value("document.getElementById('confidence-slider') !== null") == summary["has_confidence"]
    if summary["has_confidence"]:
        certain = sum(edge["confidence"] >= 0.7 for edge in summary["edges"])
        assert 0 < certain < total
        browser.value("slide('confidence-slider', 0.7)")
        assert browser.value("counts()") == {"said": certain, "drawn": certain, "listed": certain}
        browser.value("slide('confidence-slider', 0)")
    assert browser.value("counts()") == everything
    browser.value("probe.view.whole(false)")


def test_shared_causes_have_a_card_and_can_be_hidden(opened):
    summary, browser = opened
    if not summary["shared_causes"]:
        assert browser.value("document.getElementById('sharedCauses')") is None
        return
    drawn = "probe.view.cy.edges('.shared').filter((e) => e.style('display') === 'element').length"
    assert browser.value(drawn) == 1
    browser.value(f"probe.view.choose({{ kind: 'edge', index: {len(summary['edges'])} }})")
    card = browser.value("document.getElementById('card').textContent")
    assert "Raf ↔ PIP3" in card
    assert "share an unmeasured cause" in card
    browser.click("#sharedCauses")
    assert browser.value(drawn) == 0
    browser.click("#sharedCauses")
    browser.value("probe.view.select(null)")


def test_keyboard_reaches_everything(opened):
    _, browser = opened
    stops = browser.value("""[...document.querySelectorAll("a[href], button, input, [tabindex]")]
        .filter((e) => e.tabIndex >= 0 && e.getClientRects().length)
        .map((e) => { e.focus(); return [document.activeElement === e, Boolean(e.getAttribute("aria-label") ||
          e.getAttribute("aria-labelledby") || e.textContent || (e.labels && e.labels.length))]; })""")
    assert all(reached and named for reached, named in stops)
    browser.value("probe.view.canvas.focus()")
    browser.press("ArrowRight")
    assert "Place in the order" in browser.value("document.getElementById('card').textContent")
    for _ in range(100):
        if browser.value("probe.view.chosen.kind") == "edge":
            break
        browser.press("ArrowRight")
    card = browser.value("document.getElementById('card').textContent")
    assert all(words in card for words in ("Weight", "Total effect", "Partial R²", "Direction from"))
    assert " causes " in browser.value("probe.view.speech.textContent")
    assert browser.value("document.querySelectorAll('#card circle, #card .cells rect').length") >= 40
    assert browser.value("document.querySelectorAll('#card .axis-name').length") == 2
    browser.press("Escape")
    assert browser.value("document.querySelector('#card h3')") is None


def test_sort_theme_and_width(opened):
    _, browser = opened
    column = "[...document.querySelectorAll('#edges tbody tr')].map((row) => Number(row.cells[3].textContent))"
    for way in (True, False):
        browser.value("document.querySelectorAll('#edges thead th')[3].firstElementChild.click()")
        values = browser.value(column)
        assert values == sorted(values, reverse=way)
    paper = "probe.view.cy.nodes()[0].style('background-color')"
    before = browser.value(paper)
    browser.value("document.getElementById('theme').click()")
    assert browser.value(paper) != before
    browser.value("document.getElementById('theme').click()")
    page = "document.documentElement"
    assert browser.value(f"{page}.scrollWidth - {page}.clientWidth") <= 0


def test_a_row_of_the_table_shows_its_edge(opened):
    summary, browser = opened
    for index in (0, len(summary["edges"]) - 1):
        row = f"document.querySelector('#edges tr[data-edge=\"{index}\"] .show')"
        browser.value(f"{row}.click()")
        browser.wait(f"probe.view.chosen && probe.view.chosen.index === {index}")
        assert browser.value(f"probe.view.cy.getElementById('e{index}').visible()")
        box = browser.value(f"probe.view.cy.getElementById('e{index}').renderedBoundingBox()")
        assert box["x1"] >= 0
        assert box["x2"] <= browser.value("probe.view.canvas.clientWidth")
        drawn = ".dots circle" if summary["rows_shown"] else ".cells rect"  # rows, or how dense they lie
        assert browser.value(f"document.querySelectorAll('#card svg {drawn}').length") > 10
        assert browser.value("document.querySelectorAll('#card svg polyline').length") == 2  # a line and a curve
        if len(summary["nodes"]) > 60:  # a neighborhood was drawn around it, in the middle
            whole = browser.value("probe.view.cy.elements().renderedBoundingBox()")
            right = browser.value("probe.view.canvas.clientWidth") - whole["x2"]
            assert abs(whole["x1"] - right) < 40
    browser.value("probe.view.select(null)")


def test_downloads_hold_the_graph(opened):
    summary, browser = opened
    graph = graph_of(summary)
    buttons = "[...document.querySelectorAll('.download[data-gzip]')]"
    files = dict(browser.value(f"{buttons}.map((button) => [button.textContent, button.dataset.gzip])"))
    assert sorted(files) == ["adjacency.csv", "graph.dot", "graph.gml", "graph.json"]
    texts = {name: gzip.decompress(base64.b64decode(packed)).decode() for name, packed in files.items()}
    assert texts["graph.json"] == graph.to_json()
    for name, read in (("adjacency.csv", CausalGraph.from_csv), ("graph.gml", CausalGraph.from_gml)):
        assert np.array_equal(read(texts[name]).edges, graph.edges)


def test_part_of_a_name_finds_and_a_name_shows_its_ancestors_and_descendants(opened):
    summary, browser = opened
    graph = graph_of(summary)
    node = max(range(len(summary["nodes"])), key=lambda k: min(summary["nodes"][k]["causes"], 2))
    name = summary["nodes"][node]["name"]
    browser.value(f"probe.view.find({name!r})")
    family = set(np.flatnonzero(ancestors(graph.edges)[:, node] | ancestors(graph.edges)[node])) | {node}
    lit = set(browser.value("probe.view.cy.nodes('.lit').map((n) => n.data('index'))"))
    assert lit <= family
    assert len(lit) >= min(len(family), 25)
    assert browser.value("probe.view.cy.zoom() * 13") >= 7  # the labels' height in pixels
    assert len(browser.value(f"probe.view.find({name[0]!r})")) > 1
    assert browser.value("document.querySelectorAll('.gv-matches li').length") > 1
    browser.value("probe.view.find('no such name')")
    assert "No variable" in browser.value("document.querySelector('.gv-said').textContent")
    browser.value("probe.view.find('')")


def test_the_picture_can_be_taken_away_and_printed(opened):
    summary, browser = opened
    browser.value("probe.view.whole(true)")
    root = ElementTree.fromstring(browser.value("probe.view.picture()"))
    words = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {node["name"] for node in summary["nodes"]} <= words
    lines = [e for e in root.iter("{http://www.w3.org/2000/svg}path") if e.get("fill") == "none"]
    assert len(lines) >= len(summary["edges"])
    browser.value("window.dispatchEvent(new Event('beforeprint'))")
    assert browser.value("document.querySelectorAll('#on-paper svg text').length") == len(summary["nodes"])
    browser.value("probe.view.whole(false)")


def test_the_outcome_comes_first_and_the_graph_opens_with_its_ancestors(tmp_path):
    data = simulate(n_variables=8, degree=2, n_samples=400, random_state=3)
    model = EqVar(verbose=False).fit(load_table(data.data))
    graph = model.graph_
    outcome = next(name for name in graph.order if 2 <= len(graph.ancestors(name)) < 7)
    page = tmp_path / "page.html"
    page.write_text(probed(render_report(summarize(model, load_table(data.data), heading=Heading(outcome=outcome)))))
    with Chromium(390, 844) as browser:
        browser.open(page.as_uri())
        browser.wait("document.documentElement.dataset.ready !== undefined")
        assert browser.value("document.querySelector('main h2').textContent") == f"What causes {outcome}"
        told = browser.value(
            "[...document.querySelectorAll('.outcome tbody th')].map((cell) => cell.textContent.trim())"
        )
        drawn = browser.value("probe.view.cy.nodes().map((node) => node.data('name'))")
        assert sorted(told) == sorted(graph.ancestors(outcome))
        assert set(drawn) == {outcome, *graph.ancestors(outcome)}
        assert browser.value("document.documentElement.scrollWidth <= innerWidth")
        browser.value(
            "[...document.querySelectorAll('.gv-bar button')].find((b) => b.textContent === 'Whole graph').focus()"
        )
        browser.press("Enter")
        browser.wait("probe.view.cy.nodes().length === 8")
        labels = browser.value("[...document.querySelectorAll('#edges tr')[1].cells].map((cell) => cell.dataset.label)")
        assert labels[-2:] == ["Believe it?", None]  # the last column is seen without a scroll
        last = browser.value(
            "document.querySelector('#edges tbody td:nth-last-child(2)').getBoundingClientRect().right"
        )
        assert last <= 390
        browser.call("Page.printToPDF")
        assert browser.value("document.querySelectorAll('details:not([open])').length") == 0
        assert browser.words == []


def test_a_tangle_starts_with_its_strongest_edges(tmp_path):
    data = simulate(n_variables=20, degree=8, n_samples=600, random_state=0)
    model = EqVar(verbose=False).fit(load_table(data.data))
    n_edges = model.graph_.n_edges
    assert n_edges > 60
    page = tmp_path / "page.html"
    page.write_text(probed(render_report(summarize(model, load_table(data.data)))))
    with Chromium() as browser:
        browser.open(page.as_uri())
        browser.wait("document.documentElement.dataset.ready !== undefined")
        shown = browser.value("Number(document.getElementById('visible-edges').textContent)")
        assert 20 <= shown <= 40
        assert browser.value("document.querySelectorAll('#edges tbody tr').length") == n_edges
        browser.value("document.getElementById('strength-slider').focus()")
        browser.press("Home")
        assert browser.value("Number(document.getElementById('visible-edges').textContent)") == n_edges


def test_no_line_leads_over_the_levels_of_a_category(tmp_path):
    rng = np.random.default_rng(0)
    place = rng.choice(["an office", "a very long road"], 300)
    place[:90] = "outside"
    cause = 2.0 * (place == "outside") + rng.normal(size=300)
    frame = pd.DataFrame({"place": place, "cause": cause, "effect": cause + rng.normal(size=300)})
    model = CORL(knowledge=Knowledge(required=[("place", "cause"), ("cause", "effect")]), verbose=False).fit(frame)
    summary = summarize(model, load_table(frame))
    path = tmp_path / "report.html"
    path.write_text(probed(render_report(summary)))
    plots = {}
    with Chromium(1360, 900) as browser:
        browser.open(path.as_uri())
        browser.wait(READY)
        for k, edge in enumerate(summary["edges"]):
            browser.value(f"document.querySelectorAll('#edges .show')[{k}].click()")
            lines = browser.value("document.querySelectorAll('#card .plot polyline').length")
            words = browser.value("document.getElementById('card').innerText")
            plots[edge["cause"], edge["effect"]] = lines, "linear fit" in words
    assert plots[0, 1] == (0, False)
    assert plots[1, 2] == (2, True)
