"""The report in a real browser: quiet console, no network, sliders and keyboard that work (make test-browser)."""

import base64
import gzip
import hashlib
import json
import re
import shutil
import subprocess
from xml.etree import ElementTree

import numpy as np
import pytest

from precede.baselines import EqVar
from precede.data.datasets import load_sachs
from precede.data.load import load_table
from precede.data.simulate import simulate
from precede.graph import CausalGraph
from precede.graph.dags import ancestors
from precede.report import Heading, render_report, summarize
from precede.report.render import graph_of

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the PATH"),
]

LISTEN = """<script>
window.heard = {errors: [], blocked: [], fetched: []};
window.addEventListener("error", (event) => heard.errors.push(String(event.message)));
window.addEventListener("unhandledrejection", (event) => heard.errors.push(String(event.reason)));
document.addEventListener("securitypolicyviolation", (event) => heard.blocked.push(event.blockedURI));
new PerformanceObserver((list) => list.getEntries().forEach((entry) => heard.fetched.push(entry.name)))
  .observe({type: "resource", buffered: true});
for (const level of ["error", "warn"]) console[level] = (...words) => heard.errors.push(words.join(" "));
</script>"""

DRIVE = """<script>
window.addEventListener("load", () => setTimeout(() => {
  const byId = (id) => document.getElementById(id), result = {};
  const shown = (g) => getComputedStyle(g).display !== "none";
  const drawn = () => [...document.querySelectorAll(".edge")].filter(shown).length;
  const listed = () => [...document.querySelectorAll("#edges tbody tr")].filter((row) => !row.hidden).length;
  const slide = (id, value) => { byId(id).value = value; byId(id).dispatchEvent(new Event("input", {bubbles: true})); };
  const counts = () => ({said: Number(byId("visible-edges").textContent), drawn: drawn(), listed: listed()});
  const press = (key) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
  result.all = counts();
  slide("strength-slider", 50); result.strong = counts();
  slide("strength-slider", 100); result.strongest = counts();
  slide("strength-slider", 0);
  if (byId("confidence-slider")) {
    slide("confidence-slider", 0.7); result.certain = counts();
    slide("confidence-slider", 0);
  }
  result.back = counts();

  const stops = [...document.querySelectorAll("a[href], button, input, [tabindex]")].filter((e) => e.tabIndex >= 0);
  result.reached = stops.map((element) => { element.focus(); return document.activeElement === element; });
  result.stops = stops.map((element) => element.id || element.getAttribute("class") || element.tagName);
  result.inGraph = stops.filter((element) => element.closest("#graph")).length;
  const label = (e) => e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || e.textContent;
  result.named = stops.every((e) => label(e) || (e.labels && e.labels.length));

  document.querySelector('.node[tabindex="0"]').focus();
  result.nodeCard = byId("card").textContent;
  let steps = 0;
  while (!document.activeElement.classList.contains("edge") && steps++ < 300) press("ArrowRight");
  result.edgeCard = byId("card").textContent;
  result.partialPlot = byId("card").querySelectorAll("circle").length;
  result.edgeLabel = document.activeElement.getAttribute("aria-label");
  press("Escape");
  result.cleared = byId("card").querySelector("h3") === null;

  const box = () => byId("graph").getAttribute("viewBox").split(" ").map(Number);
  const before = box(); byId("zoom-in").click(); result.zoomed = box()[2] / before[2];
  byId("zoom-fit").click(); result.fitted = Math.abs(box()[2] - before[2]) < 1;

  const search = (words) => { byId("find").value = words; byId("find").dispatchEvent(new Event("input")); };
  const names = (kind) => [...document.querySelectorAll(`.node.${kind}`)].map((g) => Number(g.dataset.node)).sort();
  const last = [...document.querySelectorAll(".node")].at(-1);
  const whole = last.getAttribute("aria-label").split(", place")[0];
  search(whole); result.lineage = {of: Number(last.dataset.node), lit: names("lit"), view: box()[2]};
  search(whole.slice(0, 1)); result.several = {chosen: names("chosen").length, card: byId("card").textContent};
  search("no such name"); result.nowhere = byId("card").textContent;
  search("");
  const saved = [], address = URL.createObjectURL;
  HTMLAnchorElement.prototype.click = () => {};
  URL.createObjectURL = (blob) => { saved.push(blob); return address.call(URL, blob); };
  byId("save-svg").click(); byId("save-png").click();
  result.pictures = saved.map((blob) => blob.type);
  saved[0].text().then((words) => { result.svg = words; });

  const rows = () => [...document.querySelectorAll("#edges tbody tr")];
  const column = (k) => rows().map((row) => Number(row.cells[k].textContent));
  const head = document.querySelectorAll("#edges thead th")[3];
  head.firstElementChild.click(); result.descending = column(3); result.sortSaid = head.getAttribute("aria-sort");
  head.firstElementChild.click(); result.ascending = column(3);
  const theme = document.documentElement.dataset.theme; byId("theme").click();
  result.themes = [theme, document.documentElement.dataset.theme];

  const downloads = [...document.querySelectorAll(".download[data-gzip]")];
  result.files = Object.fromEntries(downloads.map((button) => [button.textContent, button.dataset.gzip]));
  downloads.forEach((button) => button.click());  // the streams end in real time, for which this browser does not wait
  result.overflow = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  setTimeout(() => {
    const out = document.createElement("script");
    out.type = "application/json"; out.id = "test-result";
    out.textContent = JSON.stringify({...result, ...heard}).replaceAll("<", "\\\\u003c");
    document.body.append(out);
  }, 100);
}, 100));
</script>"""


def allowed(script):
    """What the page's policy must say to let a script of this test run."""
    code = script.removeprefix("<script>").removesuffix("</script>")
    return f"'sha256-{base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()}'"


def browse(page, folder, width=1360, scripts=()):
    """Open a page, drive it, and return what the script inside it saw."""
    path = folder / "report.html"
    hashes = " ".join(map(allowed, (LISTEN, DRIVE, *scripts)))
    page = page.replace("script-src ", f"script-src {hashes} ", 1)
    # the listener comes after the policy, which must be able to refuse what a test adds
    page = page.replace('<meta name="generator"', LISTEN + '<meta name="generator"', 1)
    path.write_text(page.replace("</body>", DRIVE + "</body>"))
    command = [
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        f"--user-data-dir={folder / 'profile'}", f"--window-size={width},1000", "--virtual-time-budget=5000",
        "--dump-dom", path.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    found = re.search(r'<script type="application/json" id="test-result">(.*?)</script>', done.stdout, re.DOTALL)
    assert found, done.stderr[-2000:]
    return json.loads(found[1])


@pytest.fixture(scope="module", params=["sachs", "hundred"])
def seen(request, tmp_path_factory):
    """The report of 11 variables with confidences, and of 100 without."""
    if request.param == "sachs":
        data = load_sachs()
        model = EqVar().fit(data.data)
        shares = np.random.default_rng(0).uniform(0.4, 1.0, size=(11, 11))
        summary = summarize(model, load_table(data.data), data.graph, shares, Heading("Sachs", rows=True))
    else:
        data = simulate(n_variables=100, degree=2, n_samples=400, random_state=0)
        model = EqVar().fit(data.data)
        summary = summarize(model, load_table(data.data), heading=Heading("100 variables", rows=True))
    result = browse(render_report(summary), tmp_path_factory.mktemp(request.param))
    return summary, result


def test_console_is_quiet_and_nothing_is_fetched(seen):
    _, result = seen
    assert result["errors"] == []
    assert result["blocked"] == []
    assert result["fetched"] == []


def test_the_listener_hears(tmp_path):
    """What the test above looks for would be noticed: an error, and a request that the page's policy blocks."""
    rng = np.random.default_rng(0)
    table = load_table(rng.normal(size=(100, 3)).cumsum(axis=1))
    page = render_report(summarize(EqVar().fit(table), table))
    noise = '<script>console.error("oh"); undefinedName();</script>'
    stranger = '<img src="http://127.0.0.1:9/x.png"><script>console.error("a script from elsewhere");</script>'
    result = browse(page.replace("<main>", "<main>" + noise + stranger), tmp_path, scripts=[noise])
    assert len(result["errors"]) == 2  # the stranger's script did not run
    assert "inline" in result["blocked"]
    assert len(result["blocked"]) == 2


def test_sliders_change_what_is_shown(seen):
    summary, result = seen
    total = len(summary["edges"])
    assert result["all"] == {"said": total, "drawn": total, "listed": total} == result["back"]
    half = max(edge["strength"] for edge in summary["edges"]) / 2
    strong = sum(edge["strength"] >= half for edge in summary["edges"])
    assert 0 < strong < total
    assert result["strong"] == {"said": strong, "drawn": strong, "listed": strong}
    assert result["strongest"]["said"] == 1
    assert ("certain" in result) == summary["has_confidence"]
    if summary["has_confidence"]:
        certain = sum(edge["confidence"] >= 0.7 for edge in summary["edges"])
        assert 0 < certain < total
        assert result["certain"] == {"said": certain, "drawn": certain, "listed": certain}


def test_keyboard_reaches_everything(seen):
    _, result = seen
    assert all(result["reached"])
    assert {"strength-slider", "find", "zoom-in", "theme"} <= set(result["stops"])
    assert result["inGraph"] == 1  # one stop, then arrow keys
    assert result["named"]
    assert "Place in the order" in result["nodeCard"]
    assert "Weight" in result["edgeCard"]
    assert " causes " in result["edgeLabel"]
    assert result["partialPlot"] >= 40
    assert result["cleared"]


def test_zoom_sort_and_theme(seen):
    _, result = seen
    assert result["zoomed"] == pytest.approx(0.8, abs=0.01)
    assert result["fitted"]
    assert result["sortSaid"] == "descending"
    assert result["descending"] == sorted(result["descending"], reverse=True)
    assert result["ascending"] == sorted(result["ascending"])
    assert set(result["themes"]) == {"light", "dark"}
    assert result["overflow"] <= 0


def test_downloads_hold_the_graph(seen):
    summary, result = seen
    graph = graph_of(summary)
    assert sorted(result["files"]) == ["adjacency.csv", "graph.dot", "graph.gml", "graph.json"]
    texts = {name: gzip.decompress(base64.b64decode(packed)).decode() for name, packed in result["files"].items()}
    assert texts["graph.json"] == graph.to_json()
    for name, read in (("adjacency.csv", CausalGraph.from_csv), ("graph.gml", CausalGraph.from_gml)):
        assert np.array_equal(read(texts[name]).edges, graph.edges)


def test_part_of_a_name_finds_and_a_name_shows_its_ancestors_and_descendants(seen):
    summary, result = seen
    graph = graph_of(summary)
    node = result["lineage"]["of"]
    related = set(np.flatnonzero(ancestors(graph.edges)[:, node] | ancestors(graph.edges)[node])) | {node}
    assert set(result["lineage"]["lit"]) == related
    assert result["several"]["chosen"] > 1
    assert "variables" in result["several"]["card"]
    assert "No variable" in result["nowhere"]


def test_the_picture_can_be_taken_away(seen):
    summary, result = seen
    assert result["pictures"][0] == "image/svg+xml"
    root = ElementTree.fromstring(result["svg"])
    words = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {node["name"] for node in summary["nodes"]} <= words
    assert len([e for e in root.iter("{http://www.w3.org/2000/svg}path") if e.get("fill") == "none"]) >= len(
        summary["edges"]
    )
