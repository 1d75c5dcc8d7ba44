"""Reports of real fits and their pictures in docs/screenshots: Sachs, and 100 variables.

    OMP_NUM_THREADS=1 python benchmarks/screenshots.py [--out results/screenshots] [--only sachs hundred] [--again]

Each data set is fitted and reported by the same functions as ``precede discover``; headless Chromium then takes the
pictures, with one edge chosen where its partial plot is to be seen. ``--again`` takes the
pictures of reports that are there. Without a Chromium on the PATH the reports are all that is made.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from precede import CORL, load_sachs, simulate
from precede.data.load import load_table
from precede.report import Heading, write_report, write_results

PICTURES = Path(__file__).parents[1] / "docs" / "screenshots"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)


@dataclass(frozen=True)
class Picture:
    """One picture of a report.

    Parameters
    ----------
    name : str
        Of the file, without its ending.
    width, height : int
        Of the window, in pixels.
    script : str
        Run in the page before the picture is taken.
    """

    name: str
    width: int
    height: int
    script: str = ""


CHOOSE = "document.querySelectorAll('#edges .show')[{index}].click(); window.scrollTo(0, 0);"
DARK = "document.getElementById('theme').click();"

PICTURES_OF = {
    "sachs": [
        Picture("report-sachs", 1360, 1500, CHOOSE.format(index=0)),
        Picture("report-sachs-dark", 1360, 1500, DARK + CHOOSE.format(index=0)),
    ],
    "hundred": [
        Picture("report-100-variables", 1500, 1500),
        Picture("report-100-variables-edge", 1500, 1500, CHOOSE.format(index=40)),
    ],
}


def fit(name: str, folder: Path, score: str, seed: int) -> None:
    """Fit, and write the folder of results; ``score`` is for Sachs."""
    if name == "sachs":
        made, title = load_sachs(), "the Sachs protein data"
        model = CORL(score=score, random_state=seed)
    else:
        made = simulate(n_variables=100, degree=2, n_samples=3000, random_state=seed)
        title = "100 simulated variables"
        model = CORL(score="linear", random_state=seed)
    table = load_table(made.data)
    start = time.perf_counter()
    model.fit(table)
    print(f"{name}: {model.graph_.n_edges} edges, fit {time.perf_counter() - start:.0f} s", flush=True)
    write_results(folder, model, table)
    write_report(folder, model, table, made.graph, heading=Heading(title, rows=True))
    print(f"{name}: page {(folder / 'report.html').stat().st_size / 1000:.0f} KB", flush=True)


def photograph(page: Path, picture: Picture, target: Path) -> None:
    """Take a picture of a page in headless Chromium."""
    with tempfile.TemporaryDirectory() as top:
        copy = Path(top) / "page.html"
        code = f"addEventListener('load', () => {{ {picture.script} }});"
        digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
        text = page.read_text(encoding="utf-8").replace("script-src ", f"script-src 'sha256-{digest}' ", 1)
        copy.write_text(text.replace("</body>", f"<script>{code}</script></body>"), encoding="utf-8")
        subprocess.run(
            [
                str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
                f"--user-data-dir={top}/profile", f"--window-size={picture.width},{picture.height}",
                "--virtual-time-budget=3000", f"--screenshot={target}", copy.as_uri(),
            ],
            check=True, capture_output=True,
        )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("results/screenshots"))
    parser.add_argument("--pictures", type=Path, default=PICTURES)
    parser.add_argument("--only", nargs="+", choices=list(PICTURES_OF), default=list(PICTURES_OF))
    parser.add_argument("--score", default="sparse-linear", help="of Sachs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--again", action="store_true", help="only the pictures")
    given = parser.parse_args()
    for name in given.only:
        folder = given.out / name
        if not given.again:
            fit(name, folder, given.score, given.seed)
        for picture in PICTURES_OF[name] if CHROMIUM else []:
            target = (given.pictures / f"{picture.name}.png").resolve()
            photograph(folder / "report.html", picture, target)
            print(f"  {target.name}")


if __name__ == "__main__":
    main()
