"""Is the report of many columns quick to open, to move and to zoom? In headless Chromium.

    python benchmarks/responsive.py [--variables 300] [--report results/report.html]

A simulated graph with two edges per variable gets a report, or the report that is named is taken. First paint and the
time until the graph can be used are the browser's own; frames are counted while the graph is dragged and zoomed with
the mouse for some seconds each, the best of three times. Prints Markdown (docs/results/answers/responsive.md).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from chromium import CHROMIUM, Chromium  # the driver that the browser tests use

from precede import simulate
from precede.baselines import EqVar
from precede.data.load import load_table
from precede.report import Heading, render_report, summarize

READY = "'ready' in document.documentElement.dataset"
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
USABLE = "performance.now()"
SECONDS = 3.0
REPEATS = 3
"""The best is taken."""

COUNT = """(() => {
  window.beats = [];
  const beat = (now) => { window.beats.push(now); window.handle = requestAnimationFrame(beat); };
  window.handle = requestAnimationFrame(beat);
})()"""
GAPS = """(() => {
  cancelAnimationFrame(window.handle);
  return window.beats.slice(1).map((now, k) => now - window.beats[k]);
})()"""
WHOLE = """(() => {
  [...document.querySelectorAll(".gv-bar button")].find((button) => button.textContent === "Whole graph").click();
  return new Promise((done) => setTimeout(done, 500));
})()"""


def make_report(variables: int, path: Path) -> None:
    """The report of a quick method on simulated data."""
    made = simulate(n_variables=variables, degree=2, n_samples=1500, random_state=0)
    model = EqVar()
    model.diagnose = "quick"
    model.fit(made.data)
    summary = summarize(model, load_table(made.data), heading=Heading(f"{variables} variables"))
    path.write_text(render_report(summary), encoding="utf-8")
    print(f"{variables} variables, {model.graph_.n_edges} edges, page of {path.stat().st_size / 1000:.0f} KB.\n")


def frames(browser: Chromium, work: str) -> tuple[float, float]:
    """Frames a second and the longest gap in milliseconds, while the mouse drags or the wheel turns with Ctrl."""
    box = browser.value("document.querySelector('.gv-canvas').getBoundingClientRect().toJSON()")
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    mouse = {"button": "left", "buttons": 1, "clickCount": 1}
    if work == "drag":
        browser.call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, **mouse)
    browser.value(COUNT)
    for step in range(round(SECONDS * 60)):  # as many events as a screen has frames; the browser merges what is late
        swing = step % 60 if step % 120 < 60 else 60 - step % 60
        if work == "drag":
            browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + 3 * swing, y=y + swing, **mouse)
        else:
            turn = -12 if step % 60 < 30 else 12
            browser.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=turn, modifiers=2)
    gaps = browser.value(GAPS)
    if work == "drag":
        browser.call("Input.dispatchMouseEvent", type="mouseReleased", x=x, y=y, **mouse)
    return 1000 * len(gaps) / sum(gaps), max(gaps)


def measure(path: Path) -> None:
    """Open the page, and print what was seen."""
    with Chromium(1360, 900) as browser:
        browser.open(path.as_uri())
        browser.wait(READY)
        usable = browser.value(USABLE)
        print(
            f"First paint after {browser.value(PAINT):.0f} ms; the graph can be used after at most {usable:.0f} ms.\n"
        )
        print("| shown | moved by | frames a second | longest frame, ms |\n|---|---|---:|---:|")
        for whole in (False, True):
            if whole:
                browser.value(WHOLE)
            for work in ("drag", "wheel"):
                rate, longest = max(frames(browser, work) for _ in range(REPEATS))  # others may share the cores
                shown = "the whole graph" if whole else "a neighborhood"
                print(f"| {shown} | {work} | {rate:.0f} | {longest:.0f} |", flush=True)
        if browser.words:
            print(f"\nThe console said: {browser.words}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variables", type=int, default=300)
    parser.add_argument("--report", type=Path, help="a report that is there")
    given = parser.parse_args()
    if CHROMIUM is None:
        sys.exit("there is no Chromium on the PATH")
    with tempfile.TemporaryDirectory() as folder:
        path = given.report or Path(folder) / "report.html"
        if given.report is None:
            make_report(given.variables, path)
        measure(path.resolve())


if __name__ == "__main__":
    main()
