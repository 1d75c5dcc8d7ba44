"""Standardised linear Gaussian data: CPDAG SHD of the sparse linear score beside that of flopsearch.

    python benchmarks/cpdag_flop.py [--flop-python PATH] [--sizes 30 100] [--seeds 5]

``--flop-python`` is the interpreter of an environment that has flopsearch and numpy.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from precede.data.simulate import simulate
from precede.equivalence import cpdag
from precede.graph import BoolArray, FloatArray, IntArray
from precede.scores.parents import SparseLinearScore
from precede.search.polish import polish

FLOP = """
import sys, time, numpy, flopsearch
data = numpy.load(sys.argv[1])
start = time.perf_counter()
found = flopsearch.flop(data, float(sys.argv[3]), restarts=int(sys.argv[4]))
print(time.perf_counter() - start)
numpy.save(sys.argv[2], found)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flop-python")
    parser.add_argument("--sizes", type=int, nargs="*", default=[30, 100])
    parser.add_argument("--degree", type=float, default=2)
    parser.add_argument("--samples", type=int, default=3000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--penalty", type=float, default=2.0)
    parser.add_argument("--restarts", type=int, default=10)
    parser.add_argument("--flop-restarts", type=int, default=20)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    print(f"ER{options.degree:g}, m = {options.samples}, standardised, penalty = lambda_bic = {options.penalty}")
    for size in options.sizes:
        rows = []
        for seed in range(options.seeds):
            data = simulate("er", size, options.degree, n_samples=options.samples, standardize=True, random_state=seed)
            truth = cpdag(data.graph.edges)
            values = data.data.to_numpy()
            ours, our_time = ours_on(values, options)
            row = [pattern_distance(cpdag(ours), truth), our_time]
            if options.flop_python:
                theirs, their_time = flop_on(values, options)
                row += [pattern_distance(theirs, truth), their_time]
            rows.append(row)
            print(f"{size:4} seed {seed}  " + describe(row), flush=True)
        print(f"{size:4} mean    " + describe(np.mean(rows, axis=0).tolist()), flush=True)


def ours_on(values: FloatArray, options: argparse.Namespace) -> tuple[BoolArray, float]:
    start = time.perf_counter()
    score = SparseLinearScore(values, penalty=options.penalty, device=options.device)
    rng = np.random.default_rng(0)
    best = polish(score, np.arange(score.n_variables), n_restarts=options.restarts, rng=rng)
    return score.graph(best.order), time.perf_counter() - start


def flop_on(values: FloatArray, options: argparse.Namespace) -> tuple[IntArray, float]:
    with tempfile.TemporaryDirectory() as folder:
        data, found = Path(folder, "data.npy"), Path(folder, "found.npy")
        np.save(data, values)
        command = [options.flop_python, "-c", FLOP, data, found, str(options.penalty), str(options.flop_restarts)]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return (np.load(found) > 0).astype(np.int64), float(printed)


def pattern_distance(left: IntArray, right: IntArray) -> int:
    """Pairs of variables on which two CPDAGs differ."""
    differ = left != right
    return int(np.triu(differ | differ.T, 1).sum())  # transposed: a pair counts once


def describe(row: list[float]) -> str:
    text = f"sparse-linear CPDAG SHD {row[0]:5.1f} in {row[1]:6.1f} s"
    return text + (f"   flopsearch {row[2]:5.1f} in {row[3]:6.1f} s" if len(row) > 2 else "")


if __name__ == "__main__":
    main()
