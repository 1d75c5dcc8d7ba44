"""How quick the studio is, in headless Chromium: a veto at 30 variables, and 300 columns.

    OMP_NUM_THREADS=1 python benchmarks/studio.py [--vetoes 5] [--columns 300]

Starts ``precede studio`` as a user does. At 30 variables an edge is vetoed again and again: the seconds are from the
click to the end of the frame that shows the new graph, with the server, the process that fits and the browser on the
same cores. With many columns: the first paint of the page, the graph's first drawing, and frames a second while a mouse
drags and zooms the neighborhood and the whole graph. Needs a Chromium on the PATH.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from precede import baselines, simulate
from precede.data.load import load_table
from precede.report import write_report, write_results

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from chromium import Chromium

FRAME = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))"
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
WATCH = """(() => {
  window.frames_seen = []; window.watching = true;
  const see = (now) => { frames_seen.push(now); if (watching) requestAnimationFrame(see); };
  requestAnimationFrame(see);
})()"""


@contextmanager
def studio(source: Path, folder: Path) -> Iterator[str]:
    """The address of a server that is started for this."""
    command = [sys.executable, "-m", "precede", "studio", str(source), "--no-browser", "--folder", str(folder)]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "COLUMNS": "200"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        try:
            yield next(found[0] for line in process.stdout if (found := re.search(r"http://\S+", line)))
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)


def vetoes(folder: Path, n_variables: int, count: int) -> None:
    """Seconds from the click on Veto to the new graph."""
    path = folder / "table.csv"
    simulate(n_variables=n_variables, degree=2, n_samples=1000, random_state=0).data.to_csv(path, index=False)
    with studio(path, folder / "studio") as address, Chromium() as browser:
        browser.open(address)
        browser.wait("document.documentElement.dataset.ready")
        browser.click("#run")
        browser.wait("document.documentElement.dataset.complete === '001'", 300)
        seconds = []
        for number in range(2, count + 2):
            browser.value("document.querySelector('.gv-canvas').focus()")
            browser.press("Home")
            while not browser.value(
                "document.querySelector('#card [data-rule=forbidden][aria-pressed=false]') !== null"
            ):
                browser.press("ArrowRight")
            start = time.perf_counter()
            browser.click("[data-rule=forbidden]")
            browser.wait(f"document.documentElement.dataset.drawn === '{number:03d}'")
            browser.value(FRAME)
            seconds.append(time.perf_counter() - start)
            browser.wait(f"document.documentElement.dataset.complete === '{number:03d}'", 120)
        print(f"{n_variables} variables, from the click on Veto to the new graph: "
              f"median {np.median(seconds):.2f} s, slowest {max(seconds):.2f} s of {count}")  # fmt: skip
        assert browser.words == []


def many_columns(folder: Path, n_columns: int) -> None:
    """First paint, and frames a second while the mouse drags and the wheel turns."""
    results = folder / "results"
    data = simulate(n_variables=n_columns, degree=2, n_samples=600, random_state=0).data
    model = baselines.EqVar().fit(data)
    table = load_table(data)
    write_results(results, model, table)
    write_report(results, model, table)
    path = folder / "table.csv"
    data.to_csv(path, index=False)
    with studio(path, folder / "wide") as address, Chromium() as browser:
        browser.open(address)
        browser.wait("document.documentElement.dataset.ready", 120)
        print(f"{n_columns} columns: first paint {browser.value(PAINT):.0f} ms, table of columns after "
              f"{browser.value('performance.now()'):.0f} ms")  # fmt: skip
    with studio(results, folder / "adopted") as address, Chromium() as browser:
        browser.open(address)
        browser.wait("document.querySelector('.gv-canvas canvas') && document.documentElement.dataset.ready", 120)
        browser.value(FRAME)
        print(f"{n_columns} variables: first paint {browser.value(PAINT):.0f} ms, graph after "
              f"{browser.value('performance.now()'):.0f} ms")  # fmt: skip
        print(f"  neighborhood: {frames(browser):.0f} frames a second")
        browser.value(
            "[...document.querySelectorAll('.gv-bar button')].find((b) => b.textContent === 'Whole graph').click()"
        )
        start = time.perf_counter()
        browser.wait("document.querySelector('.gv-canvas')._cyreg.cy.nodes().length > 100", 60)
        browser.value(FRAME)
        print(f"  whole graph drawn after {time.perf_counter() - start:.1f} s; {frames(browser):.0f} frames a second")
        assert browser.words == []


def frames(browser: Chromium, moves: int = 60) -> float:
    """Frames a second while the graph is dragged about, then zoomed."""
    box = browser.value("document.querySelector('.gv-canvas').getBoundingClientRect().toJSON()")
    x, y = box["x"] + 30, box["y"] + 30  # a corner, where no box is
    mouse = {"button": "left", "buttons": 1, "clickCount": 1}
    browser.call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, **mouse)
    browser.value(WATCH)
    for k in range(moves):
        place = {"x": x + 3 * k, "y": y + 2 * k}
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", **place, **mouse)
    browser.call("Input.dispatchMouseEvent", type="mouseReleased", x=x, y=y, **mouse)
    for k in range(moves):
        turn = {"deltaX": 0, "deltaY": 20 if k % 20 < 10 else -20}
        middle = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        browser.call("Input.dispatchMouseEvent", type="mouseWheel", **middle, **turn)
    seen = browser.value("(() => { window.watching = false; return frames_seen; })()")
    return (len(seen) - 1) / (seen[-1] - seen[0]) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variables", type=int, default=30)
    parser.add_argument("--vetoes", type=int, default=5)
    parser.add_argument("--columns", type=int, default=300)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        vetoes(Path(folder), asked.variables, asked.vetoes)
        many_columns(Path(folder), asked.columns)


if __name__ == "__main__":
    main()
