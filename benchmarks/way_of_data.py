"""The way of the data through the files, traced: ``precede discover`` on a small table, with a report.

    PYTHONPATH=<a checkout>/src python benchmarks/way_of_data.py --json way.json
    python benchmarks/way_of_data.py --draw before.json after.json --svg docs/decisions/way-of-the-data.svg

The trace (``sys.setprofile``) has every call from one file of the package to another. It works in every edition of the
package. The *way* is what the files that conduct (command, estimator, pipeline) call of each stage, in time. A *hop*
goes from one stage to another; a *step back* is a hop to an earlier one. Beside it: where the report has a check or a
regression done again. Files that only hold values are no stop.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from html import escape
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd

STAGES = ("data", "policy", "scores", "search", "pruning", "confidence", "diagnostics", "evidence", "report")
"""What the data passes in sequence, under all names it has had; what lies below (graph, knowledge, options) is none."""

CONDUCT = ("cli/discover.py", "cli/flags.py", "cli/terminal.py", "estimator.py", "discovery", "corl")
"""Files that call one stage after another."""

VALUES = (
    "evidence/checks/record.py", "evidence/checks/check.py", "evidence/checks/learned.py",
    "evidence/checks/diagnostic.py",
    "evidence/checks/assumptions.py", "scores/assumptions.py", "scores/protocol.py", "search/record.py",
)  # fmt: skip
"""Files that hold values and do no work."""

FITTING = ("scores", "search", "pruning", "diagnostics", "evidence")
"""What a report should find done."""


def trace() -> dict[str, Any]:
    """Run the command and collect what calls what."""
    import precede
    from precede.cli import app

    source = Path(precede.__file__).parent
    rng = np.random.default_rng(0)
    values = rng.laplace(size=(400, 6)) @ np.triu(rng.uniform(0.5, 1.5, size=(6, 6)))
    hops: set[tuple[str, str]] = set()
    way: list[tuple[str, list[str]]] = []
    calls: dict[str, int] = {}
    files: list[str] = []

    def name(frame: FrameType | None) -> str | None:
        while frame is not None:
            path = frame.f_code.co_filename
            if path.startswith(str(source)):
                return str(Path(path).relative_to(source))
            frame = frame.f_back
        return None

    def see(frame: FrameType, event: str, _: object) -> None:
        if (
            event != "call"
            or not frame.f_code.co_filename.startswith(str(source))
            or frame.f_code.co_name == "<module>"
        ):
            return
        here, caller = name(frame), name(frame.f_back)
        assert here is not None
        calls[f"{here}:{frame.f_code.co_name}"] = calls.get(f"{here}:{frame.f_code.co_name}", 0) + 1
        if here not in files:
            files.append(here)
        if caller is not None and caller != here:
            hops.add((caller, here))
            stage = stage_of(here)
            passes_data = frame.f_code.co_argcount > 0  # a thread that loads numba is started without any
            if stage is not None and caller.startswith(CONDUCT) and passes_data:
                if not way or way[-1][0] != stage:
                    way.append((stage, []))
                if here not in way[-1][1]:
                    way[-1][1].append(here)

    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table.csv"
        pd.DataFrame(values, columns=list("abcdef")).to_csv(table, index=False)
        words = ["discover", str(table), "--out", f"{folder}/r", "--seed", "0", "--set", "n_iterations=10", "--quiet"]
        sys.argv = ["precede", *words]
        app(words, standalone_mode=False)  # imports everything
        shutil.rmtree(f"{folder}/r")
        sys.setprofile(see)
        try:
            app(words, standalone_mode=False)
        finally:
            sys.setprofile(None)
    again = sorted({(here, to) for here, to in hops if stage_of(here) == "report" and stage_of(to) in FITTING})
    return {"files": files, "n_hops": len(hops), "way": way, "again": again, "calls": calls}


def stage_of(file: str) -> str | None:
    top = file.split("/")[0].removesuffix(".py")
    return top if top in STAGES and file not in VALUES else None


def steps_back(traced: dict[str, Any]) -> list[int]:
    """Places of the way at which it returns to an earlier stage."""
    order = [STAGES.index(stage) for stage, _ in traced["way"]]
    return [k for k in range(1, len(order)) if order[k] < order[k - 1]]


def summary(traced: dict[str, Any]) -> str:
    hops, back, again = len(traced["way"]) - 1, len(steps_back(traced)), len(traced["again"])
    return f"{hops} hops, {back} of them back; {again} calls of the report into what was done"


def draw(before: dict[str, Any], after: dict[str, Any]) -> str:
    """Stages in time with the files that are called; red where the way steps back, and what the report does again."""
    parts: list[str] = []
    height = 0.0
    for column, (title, traced) in enumerate((("before", before), ("after", after))):
        left, y = 20 + column * 470, 56.0
        back = steps_back(traced)
        parts += [_text(left, 24, title, "bold 15px"), _text(left, 42, summary(traced), "12px")]
        boxes = [(stage, files, k in back) for k, (stage, files) in enumerate(traced["way"])]
        if traced["again"]:
            boxes.append(("report does again", [f"{here} → {to}" for here, to in traced["again"]], True))
        for k, (stage, files, red) in enumerate(boxes):
            tall = 24 + 15 * len(files)
            color = "#b3402a" if red else "#8a8171"
            if k:
                line = f'x1="{left + 215}" y1="{y - 14:.0f}" x2="{left + 215}" y2="{y:.0f}"'
                parts.append(f'<line {line} stroke="{color}" stroke-width="2.5"/>')
            box = f'x="{left}" y="{y:.0f}" width="430" height="{tall}" rx="6"'
            parts.append(f'<rect {box} fill="{"#fbeae6" if red else "#f4f1ea"}" stroke="{color}"/>')
            parts.append(_text(left + 10, y + 16, stage, "bold 13px"))
            parts += [_text(left + 22, y + 31 + 15 * j, file, "12px") for j, file in enumerate(files)]
            y += tall + 14
        height = max(height, y)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 940 {height:.0f}" width="940" height="{height:.0f}"'
    head += ' role="img"><title>The way of the data, before and after</title>'
    return f'{head}<rect width="100%" height="100%" fill="#fffdf8"/>{"".join(parts)}</svg>\n'


def _text(x: float, y: float, words: str, font: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" fill="#2b2722" style="font: {font} sans-serif">{escape(words)}</text>'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--draw", nargs=2, type=Path)
    parser.add_argument("--svg", type=Path)
    options = parser.parse_args()
    if options.json is not None:
        options.json.write_text(json.dumps(trace()))
    if options.draw is not None:
        before, after = (json.loads(path.read_text()) for path in options.draw)
        print(f"before: {summary(before)}\nafter:  {summary(after)}")
        options.svg.write_text(draw(before, after))


if __name__ == "__main__":
    main()
