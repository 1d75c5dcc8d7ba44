"""The pictures of the studio in docs/screenshots, taken by headless Chromium along the tour of docs/tutorial/studio.md.

    OMP_NUM_THREADS=1 python benchmarks/studio_tour.py [--out docs/screenshots]

Every picture is what a user sees who opens the Sachs data, names an outcome, says that two columns have no causes,
runs, vetoes an edge, asks for an effect and compares the runs. Needs a Chromium on the PATH.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from studio import studio

from precede import load_sachs

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from chromium import Chromium

PICTURES = Path(__file__).parents[1] / "docs" / "screenshots"
EDGE, OUTCOME = ("PKC", "Jnk"), "Akt"


def choose_edge(browser: Chromium) -> None:
    """Go along the graph by the keyboard until the edge is chosen, or else to the first edge."""
    browser.value("document.querySelector('.gv-canvas').focus()")
    browser.press("Home")
    title = "document.querySelector('#card h2')?.textContent"
    for _ in range(60):
        browser.press("ArrowRight")
        if browser.value(title) == " → ".join(EDGE):
            return
    while browser.value("document.querySelector('[data-rule=forbidden]') === null"):
        browser.press("ArrowLeft")


def tour(folder: Path, out: Path) -> None:
    """Look, know, run, veto, ask, compare."""

    def picture(name: str) -> None:
        browser.value("document.activeElement.blur()")
        time.sleep(0.8)  # boxes come to rest
        browser.picture(out / f"studio-{name}.png")

    path = folder / "sachs.csv"
    load_sachs().data.to_csv(path, index=False)
    with studio(path, folder / "studio") as address, Chromium(1280, 800) as browser:
        browser.open(address)
        browser.wait("document.documentElement.dataset.ready")
        for name in ("PKC", "Plcg"):
            browser.click(f"[aria-label='{name} has no causes']")
        chosen = "document.getElementById('outcome')"
        browser.value(f"{chosen}.value = {OUTCOME!r}, {chosen}.dispatchEvent(new Event('change'))")
        picture("columns")
        browser.click("#run")
        browser.wait("document.documentElement.dataset.complete === '001'", 300)
        browser.wait("document.querySelector('#card h2').textContent.startsWith('What causes')")
        picture("outcome")
        browser.value(
            "[...document.querySelectorAll('.gv-bar button')].find((b) => b.textContent === 'Whole graph').click()"
        )
        choose_edge(browser)
        picture("graph")
        browser.click("[data-rule=forbidden]")
        browser.wait("document.documentElement.dataset.complete === '002'", 300)
        picture("veto")
        browser.click("#tab-effects")
        browser.value("document.querySelector('#effect-cause').value = 'Raf'")
        browser.value("document.querySelector('#effect-effect').value = 'Mek'")
        browser.value("document.querySelector('#effect-cause').closest('form').requestSubmit()")
        browser.wait("document.querySelector('.answer .said')")
        browser.value("document.querySelector('#set-variable').value = 'Raf'")
        browser.value("document.querySelector('#set-value').value = 100")
        browser.value("document.querySelector('#set-value').closest('form').requestSubmit()")
        browser.wait("[...document.querySelectorAll('.answer table')].length > 1")
        picture("effects")
        browser.click("#theme")
        browser.click("#tab-compare")
        browser.wait("document.querySelectorAll('.mini canvas').length >= 6")
        picture("compare")
        assert browser.words == []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=PICTURES)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        tour(Path(folder), asked.out)


if __name__ == "__main__":
    main()
