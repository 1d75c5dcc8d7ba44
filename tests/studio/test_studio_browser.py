"""The studio in headless Chromium: few clicks, a veto, the keyboard alone, no stranger, no lost run."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from chromium import CHROMIUM, Chromium

from precede import simulate
from precede.report import load_results

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the PATH"),
]


class Server:
    """``precede studio`` as a user starts it."""

    def __init__(self, folder: Path, source: Path | None) -> None:
        self.folder, self.complete = folder, ""
        command = [sys.executable, "-m", "precede", "studio", "--no-browser", "--folder", str(folder)]
        command += [] if source is None else [str(source)]
        environment = {**os.environ, "PYTHONUNBUFFERED": "1", "COLUMNS": "200"}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        assert self.process.stdout is not None
        for line in self.process.stdout:
            found = re.search(r"http://\S+", line)
            if found:
                self.address = found[0]
                return
        raise AssertionError("the server did not start")

    def end(self, number: int) -> None:
        """Send a signal and wait for the end."""
        with suppress(ProcessLookupError):
            self.process.send_signal(number)
        self.process.wait(60)
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture(scope="module")
def server(table: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One for the tests that leave it as it was, but for runs."""
    with studio(tmp_path_factory.mktemp("studio"), table) as started:
        yield started


@contextmanager
def studio(folder: Path, source: Path | None = None) -> Iterator[Server]:
    server = Server(folder, source)
    try:
        yield server
    finally:
        server.end(signal.SIGTERM)


def opened(browser: Chromium, server: Server) -> None:
    browser.open(server.address)
    browser.wait("document.documentElement.dataset.ready")


def complete(browser: Chromium, server: Server) -> Path:
    """Wait until the newest run is drawn with all that is known of it; its folder."""
    newest = browser.wait("document.querySelector('.entry')?.dataset.run")
    before = server.complete
    found = browser.wait(
        f"(document.documentElement.dataset.complete ?? '') > '{before}' && document.documentElement.dataset.complete",
        120,
    )
    server.complete = found
    assert found >= newest
    return server.folder / "runs" / found


def quiet(browser: Chromium, server: Server) -> None:
    """No error, no warning, and nothing asked of anybody else."""
    assert browser.words == []
    own = server.address.partition("?")[0]
    assert {address for address in browser.requests if not address.startswith((own, "data:", "blob:"))} == set()
    assert len(browser.requests) > 10


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = simulate(n_variables=6, degree=1, n_samples=300, sem="lingam", random_state=2).data
    data.columns = ["dose", "<b>age</b>", "pain", "sleep", "stress", "weight"]
    path = tmp_path_factory.mktemp("data") / "table.csv"
    data.to_csv(path, index=False)
    return path


EDGE = """(() => {
  const place = document.querySelector(".gv-canvas"), cy = place._cyreg.cy, box = place.getBoundingClientRect();
  const edge = cy.edges(".arrow").filter((e) => !e.hasClass("off"))[0], at = edge.renderedMidpoint();
  return { x: box.x + at.x, y: box.y + at.y, cause: edge.source().data("name"), effect: edge.target().data("name") };
})()"""


def drawn_edge(browser: Chromium) -> Any:
    """Where an arrow is, once there is one."""
    browser.wait("document.querySelector('.gv-canvas')?._cyreg?.cy.edges('.arrow').length")
    return browser.value(EDGE)


def test_from_a_table_to_a_constrained_second_run_in_three_clicks(server: Server) -> None:
    with Chromium() as browser:
        opened(browser, server)
        assert browser.value("document.querySelectorAll('.columns-table tbody tr').length") == 6
        browser.click("#run")  # 1
        first = complete(browser, server)
        edge = drawn_edge(browser)
        browser.click_at(edge["x"], edge["y"])  # 2
        assert browser.value("document.querySelector('#card h2').textContent") == f"{edge['cause']} → {edge['effect']}"
        assert browser.wait("document.querySelectorAll('#card .cells rect').length") > 10  # how it works
        browser.click("[data-rule=forbidden]")  # 3
        second = complete(browser, server)
        assert browser.value("document.querySelector('#changes').textContent").startswith("Since run 1:")
        result = load_results(second)
        assert (edge["cause"], edge["effect"]) not in [found[:2] for found in result.graph.edge_list()]
        assert result.description["settings"]["initial_order"] == list(load_results(first).graph.order)
        for tab, heading in (
            ("checks", "Can this graph"),
            ("effects", "Ask the graph"),
            ("export", "Take it with you"),
        ):
            browser.click(f"#tab-{tab}")
            assert browser.value(f"document.querySelector('#panel-{tab} h1').textContent").startswith(heading)
        browser.click("#tab-compare")
        browser.wait("document.querySelectorAll('.mini canvas').length")
        assert browser.value("document.querySelectorAll('.mini').length") == 2
        assert browser.value("document.querySelectorAll('b').length") == 0  # names are text
        assert browser.value("document.documentElement.scrollWidth <= innerWidth")
        quiet(browser, server)


def test_the_keyboard_alone_suffices(server: Server) -> None:
    """From the columns to a veto and an answer without a mouse."""

    def to(browser: Chromium, condition: str, key: str = "Tab", most: int = 120) -> None:
        for _ in range(most):
            if browser.value(condition):
                return
            browser.press(key)
        raise AssertionError(
            f"{condition} is out of reach; at {browser.value('document.activeElement.outerHTML')[:200]}"
        )

    with Chromium() as browser:
        opened(browser, server)
        to(browser, "document.activeElement.getAttribute('aria-label') === '<b>age</b> has no causes'")
        browser.press(" ")
        rules = "[...document.querySelectorAll('#rules li span')].map((item) => item.textContent)"
        assert "<b>age</b> has no causes" in browser.value(rules)
        to(browser, "document.activeElement.id === 'run'")
        browser.press("Enter")
        first = complete(browser, server)
        assert load_results(first).graph.parents("<b>age</b>") == ()
        to(browser, "document.activeElement.classList.contains('gv-canvas')")
        to(browser, "document.querySelector('[data-rule=forbidden]') !== null", "ArrowRight")
        assert " causes " in browser.value("document.querySelector('.graph-view [aria-live]').textContent")
        to(browser, "document.activeElement.dataset.rule === 'forbidden'", most=5)
        browser.press("Enter")
        complete(browser, server)
        to(browser, "document.activeElement.id === 'tab-graph'")
        to(browser, "document.activeElement.id === 'tab-effects'", "ArrowRight", 4)
        to(browser, "document.activeElement.textContent === 'Ask'", most=6)
        browser.press("Enter")
        browser.wait("document.querySelector('.answer .said')")
        unnamed = """[...document.querySelectorAll("button, select, input, a[href], [tabindex='0']")].filter((e) =>
            !(e.getAttribute("aria-label") || e.textContent.trim() || e.labels?.length)).map((e) => e.outerHTML)"""
        assert browser.value(unnamed) == []
        quiet(browser, server)


def test_a_table_is_opened_on_the_page_and_a_run_is_stopped(table: Path, tmp_path: Path) -> None:
    with studio(tmp_path) as server, Chromium(1024, 720, dark=True) as browser:
        opened(browser, server)
        assert browser.value("document.documentElement.dataset.theme") == "dark"
        root = browser.call("DOM.getDocument")["root"]["nodeId"]
        field = browser.call("DOM.querySelector", nodeId=root, selector="#file")["nodeId"]
        wide = tmp_path / "wide.csv"
        simulate(n_variables=25, degree=3, n_samples=300, random_state=0).data.to_csv(wide, index=False)
        browser.call("DOM.setFileInputFiles", nodeId=field, files=[str(wide)])
        browser.wait("document.querySelectorAll('.columns-table tbody tr').length === 25")
        assert (tmp_path / "data" / "wide.csv").read_bytes() == wide.read_bytes()
        browser.value("document.querySelector('.settings').open = true")
        browser.value("document.getElementById('resamples').value = 1000")
        browser.click("#run")
        browser.wait("document.documentElement.dataset.drawn === '001'", 120)
        browser.click("#stop")
        complete(browser, server)
        assert json.loads((tmp_path / "runs" / "001" / "run.json").read_text())["state"] == "stopped"
        assert (tmp_path / "runs" / "001" / "report.html").is_file()
        assert browser.value("document.documentElement.scrollWidth <= innerWidth")
        quiet(browser, server)


def test_a_page_without_the_key_sees_nothing(server: Server, tmp_path: Path) -> None:
    before = len(list((server.folder / "runs").iterdir()))
    with Chromium() as browser:
        browser.open(server.address.partition("?")[0])
        assert browser.wait("document.body.innerText").startswith("Refused")
        opened(browser, server)
        assert browser.value("location.search") == ""  # the key has left the address
        assert browser.value("document.cookie") == ""  # no script can read it
        strange = tmp_path / "stranger.html"
        strange.write_text("<!doctype html><title>stranger</title>")
        browser.open(strange.as_uri())
        browser.wait("document.title === 'stranger'")
        own = server.address.partition("?")[0]
        for method, path in (("GET", "api/state"), ("POST", "api/runs")):
            body = "null" if method == "GET" else "'{}'"
            how = f"{{method: '{method}', mode: 'no-cors', credentials: 'include', body: {body}}}"
            browser.value(f"fetch('{own}{path}', {how}).catch(() => null)")
        answers = [address for address in browser.requests if address.startswith(own + "api/")]
        assert len(answers) >= 2
    assert len(list((server.folder / "runs").iterdir())) == before


def test_a_killed_server_loses_no_run(table: Path, tmp_path: Path) -> None:
    server = Server(tmp_path, table)
    try:
        with Chromium() as browser:
            opened(browser, server)
            browser.click("#run")
            complete(browser, server)
            browser.click("#again")
            browser.wait("document.querySelector('[data-run=\"002\"]')")
    finally:
        server.end(signal.SIGKILL)
    file = tmp_path / "runs" / "002" / "run.json"
    for _ in range(1500):  # the process that fits goes on, writes, and ends
        if json.loads(file.read_text())["state"] == "done":
            break
        time.sleep(0.04)
    with studio(tmp_path) as again, Chromium() as browser:
        opened(browser, again)
        entries = browser.value("[...document.querySelectorAll('.entry')].map((e) => e.dataset.run)")
        assert entries == ["002", "001"]
        browser.click("[data-run='002']")
        browser.wait("document.querySelector('.gv-canvas canvas')")
        assert load_results(tmp_path / "runs" / "002").graph.n_variables == 6
        quiet(browser, again)


def test_words_are_put_in_order_with_the_keyboard(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = tmp_path / "pain.csv"
    grade = rng.integers(0, 3, 90)
    words = np.array(["faint", "awful", "mid"])[grade]
    pd.DataFrame({"pain": words, "dose": grade + rng.normal(size=90)}).to_csv(table, index=False)
    with studio(tmp_path / "studio", table) as server, Chromium() as browser:
        opened(browser, server)
        kind = "document.querySelector('[aria-label=\"Kind of pain\"]')"
        levels = "[...document.querySelectorAll('.levels li')].map((item) => item.lastChild.textContent.trim())"
        asked = "[...document.querySelectorAll('#outcome option')].map((option) => option.value)"
        assert browser.value(asked) == ["", "pain", "dose"]  # words can be asked about as well
        assert browser.value("document.querySelector('.sorter').hidden")
        browser.value(f"{kind}.value = 'ordinal', {kind}.dispatchEvent(new Event('change'))")
        assert browser.value(levels) == ["awful", "faint", "mid"]
        browser.value("document.querySelector('[aria-label=\"Move awful up the scale\"]').focus()")
        browser.press("Enter")
        browser.press("Enter")
        assert browser.value(levels) == ["faint", "mid", "awful"]
        browser.value("document.querySelector('[aria-label=\"Use this order of pain\"]').focus()")
        browser.press("Enter")
        browser.wait(f"{kind}.value === 'ordinal' && document.querySelector('.sorter').hidden === false")
        assert browser.value(levels) == ["faint", "mid", "awful"]
        quiet(browser, server)
    assert json.loads((tmp_path / "studio" / "studio.json").read_text())["types"] == {"pain": ["faint", "mid", "awful"]}


def test_a_damaged_run_is_listed_and_deleted(server: Server) -> None:
    for name in ("900", "901"):
        folder = server.folder / "runs" / name
        folder.mkdir()
        (folder / "run.json").write_text("[" * 100_000)
    with Chromium() as browser:
        opened(browser, server)
        browser.value("window.confirm = (words) => { window.said = words; return words.includes('900'); }, 0")
        for name in ("900", "901"):  # to the second, the user says no
            browser.click(f"[data-delete='{name}']")
            assert browser.wait("window.said") == f"Delete run {name} and its files?"
            browser.value("window.said = '', 0")
        browser.wait("document.querySelector(\"[data-run='900']\") === null")
        assert browser.value("document.querySelector(\"[data-run='901'] .detail\").textContent").endswith("no graph")
        quiet(browser, server)
    assert [(server.folder / "runs" / name).exists() for name in ("900", "901")] == [False, True]


def tabbed(browser: Chromium, condition: str, key: str = "Tab", most: int = 150) -> None:
    """Press a key until something is true."""
    for _ in range(most):
        if browser.value(condition):
            return
        browser.press(key)
    raise AssertionError(f"{condition} is out of reach; at {browser.value('document.activeElement.outerHTML')[:200]}")


INSIDE = """(() => {
  const cy = document.querySelector(".gv-canvas")._cyreg.cy, box = cy.elements().renderedBoundingBox();
  return box.x1 >= 0 && box.y1 >= 0 && box.x2 <= cy.width() && box.y2 <= cy.height();
})()"""


@pytest.mark.parametrize("width", [1440, 390])
def test_an_outcome_is_named_explained_and_vetoed_with_the_keyboard(server: Server, width: int) -> None:
    fits = "document.documentElement.scrollWidth <= innerWidth"
    with Chromium(width, 844) as browser:
        opened(browser, server)
        browser.wait("document.getElementById('outcome')")
        tabbed(browser, "document.activeElement.id === 'outcome'")
        tabbed(browser, "document.activeElement.value === 'weight'", "ArrowDown", 8)
        tabbed(browser, "document.activeElement.textContent.startsWith('How it is read')", most=3)
        browser.press("Enter")
        tabbed(browser, "document.activeElement.getAttribute('aria-label')?.startsWith('Texts that stand')", most=3)
        browser.write("-77")
        browser.press("Enter")
        browser.wait("document.querySelector('.reading summary').textContent.includes('missing: -77')")
        assert browser.value(fits)
        tabbed(browser, "document.activeElement.id === 'run'", most=200)
        browser.press("Enter")
        run = complete(browser, server)
        graph = load_results(run).graph
        assert json.loads((run / "run.json").read_text())["request"]["outcome"] == "weight"
        browser.wait("document.querySelector('#card h2').textContent === 'What causes weight'")
        names = "document.querySelector('.gv-canvas')._cyreg.cy.nodes().map((node) => node.data('name'))"
        assert set(browser.value(names)) == {"weight", *graph.ancestors("weight")}
        tabbed(browser, "document.activeElement.textContent === 'Whole graph'", most=200)
        browser.press("Enter")
        browser.wait(f"{names}.length === 6")
        tabbed(browser, "document.activeElement.classList.contains('gv-canvas')")
        tabbed(browser, "document.querySelector('[data-rule=forbidden]') !== null", "ArrowRight")
        browser.press("Tab")  # as the tutorial says: the next one
        assert browser.value("document.activeElement.dataset.rule") == "forbidden"
        assert browser.value(fits)
        browser.press("Enter")
        complete(browser, server)
        browser.wait(INSIDE, 5)  # what is drawn after a veto fits its frame
        tabbed(browser, "document.activeElement.id === 'tab-graph'", most=200)
        tabbed(browser, "document.activeElement.id === 'tab-effects'", "ArrowRight", 4)
        tabbed(browser, "document.activeElement.id === 'explain-row'", most=8)
        browser.press("ArrowUp")
        browser.press("Enter")
        browser.wait("document.querySelector('.reasons li')")
        assert browser.value("document.querySelector('#panel-effects .said').textContent").startswith(
            "Row 1: weight is"
        )
        for tab in ("data", "checks", "compare", "export"):
            browser.click(f"#tab-{tab}")
            assert browser.value(fits), tab
        browser.click("#tab-data")
        browser.value("document.querySelector('[aria-label^=\"Texts that stand\"]').value = ''")
        browser.value("document.querySelector('[aria-label^=\"Texts that stand\"]').dispatchEvent(new Event('change'))")
        browser.wait("!document.querySelector('.reading summary').textContent.includes('missing: -77')")
        browser.value("document.querySelectorAll('#rules .drop').forEach((button) => button.click())")
        quiet(browser, server)


def test_the_theme_button_says_what_it_brings(server: Server) -> None:
    with Chromium(dark=True) as browser:
        opened(browser, server)
        for dark in (True, False, True):
            assert browser.value("document.getElementById('theme').textContent") == ("Light" if dark else "Dark")
            assert browser.value("document.documentElement.dataset.theme") == ("dark" if dark else "light")
            browser.value("document.getElementById('theme').focus()")
            browser.press("Enter")
