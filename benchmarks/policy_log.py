"""Figure of the shipped policy's training: held-out order TPR and loss of the edge head against seconds on the GPU.

    python benchmarks/policy_log.py [OUT.png]

Reads the log beside the weights. Runs begin where they say their settings; a dotted line parts them. The first two runs
were logged in another form and are not drawn.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl

from precede.policy.prediction import DEFAULT_WEIGHTS

LINES = {"mean": "families of training", "held-out": "families held out", "pairs": "pairs", "told": "told more"}


def runs(log: Path) -> list[list[dict[str, Any]]]:
    """The validated records of each run."""
    found: list[list[dict[str, Any]]] = []
    for line in log.read_text().splitlines():
        record = json.loads(line)
        if "settings" in record:
            found.append([])
        elif "overall" in record.get("validation", {}):
            found[-1].append(record)
    return [run for run in found if run]


def main() -> None:
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    out = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs/results/weights/default.png"
    figure, (above, below) = plt.subplots(2, 1, figsize=(7, 5), sharex=True, height_ratios=(2, 1))
    points: dict[str, list[tuple[float, float]]] = {name: [] for name in [*LINES, "edges"]}
    began = 0.0
    for run in runs(DEFAULT_WEIGHTS.with_suffix(".jsonl")):
        for record in run:
            at = began + (record.get("seconds") or 0.0)
            for name, value in record["validation"].items():
                if name in points:
                    points[name].append((at, value))
        began = at
        for axis in (above, below):
            axis.axvline(began, color="0.6", linestyle=":", linewidth=1)
    for name, label in LINES.items():
        above.plot(*zip(*points[name], strict=True), marker=".", label=label)
    above.set_ylabel("order TPR")
    above.legend(loc="lower right", fontsize=8)
    below.plot(*zip(*points["edges"], strict=True), marker=".", color="0.2")
    below.set_ylabel("loss of edges, held out")
    below.set_xlabel("seconds on an H200, from the third run on")
    figure.tight_layout()
    figure.savefig(out, dpi=100)
    print(out)


if __name__ == "__main__":
    main()
