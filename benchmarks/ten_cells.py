"""Ten cells of the results, run again: does a change of the code change a figure?

    PYTHONPATH=<another checkout>/src python benchmarks/ten_cells.py --out before.jsonl
    PYTHONPATH=src python benchmarks/ten_cells.py --out after.jsonl
    python benchmarks/ten_cells.py --compare before.jsonl after.jsonl

The first two write one line a cell, the third a Markdown table. It keeps to what every edition of the experiments has:
``experiment_named``, ``Experiment.cells`` and ``run_cell``.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

CELLS = (
    ("table1-30", "er2", "notears"),
    ("table1-30", "er5", "eqvar"),
    ("linear-50", "er5", "corl"),
    ("table1-30", "er5", "a-star-lasso"),
    ("lingam", "50", "corl"),
    ("lingam", "50", "direct-lingam"),
    ("lingam", "30", "cam"),
    ("gp", "10-er1", "cam"),
    ("gp", "10-er4", "corl"),
    ("sachs", "sachs", "ica-lingam"),
)
FIGURES = ("shd", "tpr", "fdr", "order_tpr", "cpdag_shd", "n_edges", "score")


def run(out: Path) -> None:
    from precede.experiments.cells import Selection
    from precede.experiments.designs import experiment_named

    try:
        from precede.experiments.runner import run_cell
    except ModuleNotFoundError:  # earlier editions
        from precede.experiments.runner import run_cell

    with out.open("w") as lines:
        for experiment, data, method in CELLS:
            (cell,) = experiment_named(experiment).cells(Selection([0], [method], [data]))
            start = time.process_time()
            found = run_cell(cell, "cpu").record
            line = {"cell": f"{experiment}/{cell.key}", "error": found["error"], **found["metrics"]}
            print(json.dumps({**line, "cpu_seconds": round(time.process_time() - start, 1)}), file=lines, flush=True)


def compare(before: Path, after: Path) -> None:
    was, now = ([json.loads(line) for line in path.read_text().splitlines()] for path in (before, after))
    print("| cell | SHD | TPR | order TPR | score | CPU seconds | |\n|---|---|---|---|---|---|---|")
    for old, new in zip(was, now, strict=True):
        assert old["cell"] == new["cell"]
        same = all(_close(old[name], new[name]) for name in FIGURES)
        shown = [_beside(old[name], new[name]) for name in ("shd", "tpr", "order_tpr", "score")]
        times = f"{old['cpu_seconds']} → {new['cpu_seconds']}"
        print(f"| `{new['cell']}` | {' | '.join(shown)} | {times} | {'same' if same else 'differs'} |")


def _close(old: float | None, new: float | None) -> bool:
    if old is None or new is None or old != old or new != new:
        return (old is None or old != old) and (new is None or new != new)
    return abs(old - new) <= 1e-9 * max(1.0, abs(old))


def _beside(old: float | None, new: float | None) -> str:
    def text(number: float | None) -> str:
        return "–" if number is None or number != number else f"{number:.7g}"

    return text(new) if _close(old, new) else f"{text(old)} → {text(new)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--compare", nargs=2, type=Path)
    options = parser.parse_args()
    if options.out is not None:
        run(options.out)
    if options.compare is not None:
        compare(*options.compare)


if __name__ == "__main__":
    main()
