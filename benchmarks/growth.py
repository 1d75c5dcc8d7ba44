"""How time and memory of the default grow with columns and rows.

    python benchmarks/growth.py --cores 2 --rows-file rows.jsonl [--along columns] [--sems linear-gaussian lingam]
    python benchmarks/growth.py --draw rows.jsonl --out docs/results/times

The first makes one line a fit, each in a process of its own: ``CORL()`` on standardized ER2 data, from 30 to 1,000
columns of 3,000 rows, and from 100 to a million rows of 30 columns. The second draws them and prints a table with the
exponents: the slope of the logarithm, between neighbors and over the whole range. Processor seconds count, since other
programs may run beside it; with ``--cores 1`` they are what a quiet core takes.
"""

from __future__ import annotations

import argparse
import json
import os
from itertools import pairwise
from math import log
from pathlib import Path
from typing import Any

from default_times import fit_apart

SIZES = {
    "columns": [{"n_variables": d, "n_samples": 3000} for d in (30, 50, 100, 200, 300, 500, 1000)],
    "rows": [{"n_variables": 30, "n_samples": m} for m in (100, 1000, 10_000, 100_000, 1_000_000)],
}
NAMES = {"columns": "n_variables", "rows": "n_samples"}
MEASURED = {"cpu_s": "CPU seconds in all", "fit_cpu_s": "CPU seconds of the fit", "gib": "peak GiB"}


def measure(options: argparse.Namespace) -> None:
    """A line for each fit, written as it is done."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.cores])
    for sem in options.sems:
        for along in options.along:
            for size in SIZES[along]:
                said = fit_apart({**size, "sem": sem, "random_state": 0}, json.loads(options.set), options.cores)
                line = json.dumps({"along": along, "sem": sem, **size, "cores": options.cores, **said})
                print(line, flush=True)
                if options.rows_file is not None:
                    with options.rows_file.open("a") as lines:
                        lines.write(line + "\n")


def draw(options: argparse.Namespace) -> None:
    """A figure and a table of lines that were measured before."""
    from matplotlib.figure import Figure

    lines = [json.loads(line) for line in options.draw.read_text().splitlines()]
    figure = Figure(figsize=(9, 6), layout="constrained")
    axes = figure.subplots(2, 2)
    table = ["| data | along | " + " | ".join(MEASURED.values()) + " |", "|---|---|" + "---|" * len(MEASURED)]
    for column, along in enumerate(SIZES):
        upper, lower = axes[:, column]
        for sem in dict.fromkeys(line["sem"] for line in lines):
            points = [line for line in lines if line["along"] == along and line["sem"] == sem and "failed" not in line]
            if len(points) < 2:
                continue
            sizes = [point[NAMES[along]] for point in points]
            table.append(f"| {sem} | {along} | " + " | ".join(exponents(points, sizes, key) for key in MEASURED) + " |")
            for key in ("cpu_s", "fit_cpu_s"):
                upper.loglog(sizes, [point[key] for point in points], "o-", label=f"{sem}, {MEASURED[key]}")
            lower.semilogx(sizes, [point["gib"] for point in points], "o-", label=sem)
        for place, name in ((upper, "CPU seconds"), (lower, "peak GiB")):
            place.set(xlabel=along, ylabel=name)
            place.grid(alpha=0.3, which="both")
            place.yaxis.set_major_formatter("{x:g}")
            place.yaxis.set_minor_formatter(lambda size, _: f"{size:g}" if f"{size:e}"[0] in "235" else "")
            place.set_xticks(sizes, [f"{size:,}" for size in sizes], minor=False)
            place.xaxis.set_minor_formatter("")
        lower.set_ylim(bottom=0)
    axes[0, 0].legend(frameon=False, fontsize=8)
    figure.savefig(options.out / "growth.png", dpi=110)
    print("\n".join(table))


def exponents(points: list[dict[str, Any]], sizes: list[int], key: str) -> str:
    """Slopes of the logarithm between neighbors; in front, the values at both ends."""
    values = [point[key] for point in points]
    slopes = [
        log(after / before) / log(larger / smaller)
        for (before, after), (smaller, larger) in zip(pairwise(values), pairwise(sizes), strict=True)
    ]
    over_all = log(values[-1] / values[0]) / log(sizes[-1] / sizes[0])
    steps = ", ".join(f"{slope:.1f}" for slope in slopes)
    return f"{values[0]:g} to {values[-1]:g}: {over_all:.2f} ({steps})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--along", nargs="+", choices=list(SIZES), default=list(SIZES))
    parser.add_argument("--sems", nargs="+", default=["linear-gaussian"])
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--set", default="{}", help="options of CORL, as JSON")
    parser.add_argument("--rows-file", type=Path, help="file that the lines are added to")
    parser.add_argument("--draw", type=Path, help="lines to draw, instead of measuring")
    parser.add_argument("--out", type=Path, default=Path("docs/results/times"))
    options = parser.parse_args()
    draw(options) if options.draw is not None else measure(options)


if __name__ == "__main__":
    main()
