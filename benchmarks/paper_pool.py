"""The linear cells of the paper's tables for CORL-1 and CORL-2, all data sets of one size in one stack on a GPU.

``precede reproduce NAME --stack N`` trains the cells of one table together. Tables of one size (Gaussian noise, LiNGAM)
share a stack here, which uses the GPU better. The results are taken over by ``precede reproduce NAME --merge FOLDER``.
Run:

    PYTHONPATH=src python benchmarks/paper_pool.py --variables 100 --max-time 220 --out FOLDER
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from precede.experiments.cells import Experiment, Selection
from precede.experiments.designs import EXPERIMENTS
from precede.experiments.ledger import Ledger
from precede.experiments.runner import run_cells

TABLES = ("table1-30", "linear-50", "table1-100", "linear-150", "lingam")


def pool(variables: int, methods: list[str], options: dict[str, Any]) -> Experiment:
    """All data of one size, under names that tell them apart."""
    data = tuple(
        replace(one, name=f"{table}-{one.name}")
        for table in TABLES
        for one in EXPERIMENTS[table].data
        if one.n_variables == variables
    )
    rows = [row for row in EXPERIMENTS["table1-30"].methods if row.name in methods]
    rows = [replace(row, options={**row.options, **options}) for row in rows]
    title = "Linear data of one size"
    return Experiment(f"pool-{variables}", title, "several tables", data, tuple(rows), keep_curves=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--variables", type=int, required=True)
    parser.add_argument("--methods", nargs="+", default=["corl-1", "corl-2"])
    parser.add_argument("--data", nargs="+", help="only data whose name ends so, such as sf5")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--stack", type=int, default=25)
    parser.add_argument("--max-time", type=float, help="seconds for a stack")
    parser.add_argument("--set", type=json.loads, default={}, help="options that differ from the tables', as JSON")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--out", type=Path, default=Path("results"))
    asked = parser.parse_args()
    experiment = pool(asked.variables, asked.methods, asked.set)
    chosen = [one.name for one in experiment.data if not asked.data or one.name.endswith(tuple(asked.data))]
    cells = experiment.cells(Selection(asked.seeds, data=chosen, max_time=asked.max_time))
    with Ledger(asked.out / experiment.name) as ledger:
        words = ["python", *sys.argv]
        command = shlex.join(
            words[: words.index("--out")] if "--out" in words else words
        )  # where it lay does not matter
        run = ledger.start(command, 1, asked.device)
        run_cells(cells, ledger, run, device=asked.device, chosen=Selection(stack=asked.stack))
        for record in ledger.cells.values():
            numbers = record["metrics"]
            shown = ("shd", "tpr", "score", "greedy_score", "iterations", "converged_at")
            print(record["key"], record["error"] or {name: numbers[name] for name in shown}, flush=True)


if __name__ == "__main__":
    main()
