"""More columns than rows: the default beside flopsearch, on standardized linear Gaussian data.

    python benchmarks/wide.py --flop-python PATH [--columns 500 2000] [--rows 200] [--graphs er sf] [--jobs 1]

``--flop-python`` is the interpreter of an environment that has flopsearch and numpy; without it only ours is run.
flopsearch itself refuses such data (the Cholesky factor of all columns fails), so it is given rows that add a ridge of
.001 to the correlations, with a price of a parent that makes up for their number. It runs with its own price (2 in
units of log(m)/2) and with ours, which is that of extended BIC.
Each search has a process of its own and one thread. Printed are means over the data sets: F1 of the adjacencies, F1 of
the arrows and lines of the CPDAG (a pair counts when it is the same in both), edges, CPU seconds (ours with imports,
score and search, without checks), and the largest peak of memory.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from cpdag_flop import FLOP, printed_by

from precede.arrays import FloatArray, IntArray
from precede.graph.dags import cpdag
from precede.simulation import simulate

RIDGE = 1e-3
"""Added to the correlations that flopsearch sees."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flop-python")
    parser.add_argument("--columns", type=int, nargs="*", default=[500, 2000])
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--graphs", nargs="*", default=["er", "sf"])
    parser.add_argument("--degree", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--flop-restarts", type=int, default=20)
    parser.add_argument("--flop-limit", type=float, default=1200, help="seconds after which flopsearch is given up")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--search", type=Path, help=argparse.SUPPRESS)  # folder of one search in a process of its own
    options = parser.parse_args()
    if options.search:
        search_in(options.search)
        return
    cells = [(graph, columns, seed) for graph in options.graphs for columns in options.columns
             for seed in range(options.seeds)]  # fmt: skip
    found = joblib.Parallel(options.jobs)(joblib.delayed(compared)(*cell, options) for cell in cells)
    print(
        "| graphs | rows x columns | method | data sets | F1, adjacency | F1, CPDAG | edges | true | CPU s | peak GiB |"
    )
    print("|---|---|---|---:|---:|---:|---:|---:|---:|---:|")
    for graph in options.graphs:
        for columns in options.columns:
            here = [rows for cell, rows in zip(cells, found, strict=True) if cell[:2] == (graph, columns)]
            for line in table_lines(f"{graph.upper()}{options.degree} | {options.rows} x {columns}", here):
                print(line, flush=True)


def compared(graph: Any, columns: int, seed: int, options: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Figures of each method on one data set."""
    data = simulate(graph, columns, options.degree, n_samples=options.rows, standardize=True, random_state=seed)
    truth = cpdag(data.graph.edges)
    own = 1 + 2 * math.log(columns) / math.log(options.rows)  # extended BIC's price, in units of log(m)/2
    figures = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "data.npy", data.data.to_numpy())
        ours = json.loads(printed_by([sys.executable, __file__, "--search", folder]))
        figures["the default"] = ours | agreement(cpdag(np.load(folder / "edges.npy")), truth)
        for label, units in (("flopsearch", 2.0), (f"flopsearch, our price ({own:.1f})", own)):
            if not options.flop_python:
                break
            price = with_ridge(data.data.to_numpy(), units, folder / "ridge.npy")
            arguments = [folder / "ridge.npy", folder / "found.npy", str(price), str(options.flop_restarts)]
            command = ["timeout", str(options.flop_limit), options.flop_python, "-c", FLOP, *arguments]
            try:
                seconds, memory = map(float, printed_by(command).split())
            except subprocess.CalledProcessError:
                print(f"{label} did not end, or failed: {graph} {columns} {seed}", file=sys.stderr, flush=True)
                continue
            pattern = (np.load(folder / "found.npy") > 0).astype(np.int64)
            figures[label] = {"seconds": seconds, "gib": memory} | agreement(pattern, truth)
    for label, row in figures.items():
        print(graph, columns, seed, label, json.dumps(row), file=sys.stderr, flush=True)
    return figures


def with_ridge(values: FloatArray, price: float, path: Path) -> float:
    """Save the rows with two more for each column, and give the price of a parent that is worth the same with these."""
    m, d = values.shape
    height = math.sqrt(RIDGE * m / 2) * np.eye(d)
    np.save(path, np.vstack([values, height, -height]))
    return price * (m + 2 * d) / m * math.log(m) / math.log(m + 2 * d)


def search_in(folder: Path) -> None:
    """The default without checks on the data of a folder: figures are printed, edges saved."""
    from precede import CORL

    values = np.load(folder / "data.npy")
    model = CORL(diagnose=False, verbose=False, random_state=0).fit(values)
    np.save(folder / "edges.npy", model.graph_.edges)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps({"seconds": time.process_time(), "gib": memory}))


def agreement(found: IntArray, truth: IntArray) -> dict[str, float]:
    """F1 of adjacencies and of pairs that are marked the same in two CPDAGs."""
    either, true = (np.triu((one + one.T) > 0, 1) for one in (found, truth))  # transposed: either direction
    same = either & true & (found == truth) & (found.T == truth.T)  # transposed: both marks
    n_found, n_true = int(either.sum()), int(true.sum())
    both = max(n_found + n_true, 1)
    return {
        "adjacency": 2 * float((either & true).sum()) / both,
        "cpdag": 2 * float(same.sum()) / both,
        "edges": n_found,
        "true": n_true,
    }


def table_lines(start: str, found: list[dict[str, dict[str, float]]]) -> Iterator[str]:
    """Means of each method, as lines of a Markdown table."""
    for label in {label: None for one in found for label in one}:
        rows = [one[label] for one in found if label in one]
        mean = {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
        yield (
            f"| {start} | {label} | {len(rows)} | {mean['adjacency']:.3f} | {mean['cpdag']:.3f} | {mean['edges']:.0f} "
            f"| {mean['true']:.0f} | {mean['seconds']:.1f} | {max(row['gib'] for row in rows):.2f} |"
        )


if __name__ == "__main__":
    main()
