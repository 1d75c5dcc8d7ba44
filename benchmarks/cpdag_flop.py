"""Standardised linear Gaussian data: CPDAG SHD of the sparse linear score beside that of flopsearch.

    python benchmarks/cpdag_flop.py [--flop-python PATH] [--sizes 30 100] [--seeds 5]

``--flop-python`` is the interpreter of an environment that has flopsearch and numpy. Printed beside the distances:
CPU seconds, and BIC less that of the true order, the same BIC for both: below zero it is the search that failed.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.data.simulate import simulate
from precede.graph.equivalence import cpdag
from precede.scores.sparse_linear import SparseLinearScore
from precede.search.polish import polish

FLOP = """
import sys, time, numpy, flopsearch
data = numpy.load(sys.argv[1])
start = time.process_time()
found = flopsearch.flop(data, float(sys.argv[3]), restarts=int(sys.argv[4]))
print(time.process_time() - start)
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
    parser.add_argument("--restarts", type=int, default=20)
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
            score = SparseLinearScore(values, penalty=options.penalty)
            reached = bic(score, score.graph(data.graph.positions))
            ours, our_time = ours_on(values, options)
            row = [pattern_distance(cpdag(ours), truth), bic(score, ours) - reached, our_time]
            if options.flop_python:
                theirs, their_time = flop_on(values, options)
                row += [pattern_distance(theirs, truth), bic(score, member(theirs)) - reached, their_time]
            rows.append(row)
            print(f"{size:4} seed {seed}  " + describe(row), flush=True)
        print(f"{size:4} mean    " + describe(np.mean(rows, axis=0).tolist()), flush=True)


def ours_on(values: FloatArray, options: argparse.Namespace) -> tuple[BoolArray, float]:
    start = time.process_time()
    score = SparseLinearScore(values, penalty=options.penalty, device=options.device)
    rng = np.random.default_rng(0)
    best = polish(score, np.arange(score.n_variables), n_restarts=options.restarts, rng=rng)
    return score.graph(best.order), time.process_time() - start


def flop_on(values: FloatArray, options: argparse.Namespace) -> tuple[IntArray, float]:
    with tempfile.TemporaryDirectory() as folder:
        data, found = Path(folder, "data.npy"), Path(folder, "found.npy")
        np.save(data, values)
        command = [options.flop_python, "-c", FLOP, data, found, str(options.penalty), str(options.flop_restarts)]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return (np.load(found) > 0).astype(np.int64), float(printed)


def bic(score: SparseLinearScore, edges: BoolArray) -> float:
    """The score's BIC of one graph."""
    correlation = score.correlation.cpu().numpy()
    log_variances = 0.0
    for v in range(score.n_variables):
        parents = np.flatnonzero(edges[:, v])
        cross = correlation[parents, v]
        log_variances += np.log(1 - cross @ np.linalg.solve(correlation[np.ix_(parents, parents)], cross))
    return float(-score.n_samples / 2 * log_variances - score.price * edges.sum())


def member(pattern: IntArray) -> BoolArray:
    """A DAG of the class of a CPDAG: again and again, a variable that may be a sink of the rest (Dor, Tarsi 1992)."""
    adjacent = (pattern + pattern.T) > 0  # transposed: either direction
    undirected = (pattern * pattern.T) > 0
    edges: BoolArray = (pattern > 0) & ~undirected
    left = np.ones(len(pattern), dtype=bool)
    while left.any():
        for v in np.flatnonzero(left):
            around = adjacent[v] & left
            joined = adjacent | np.eye(len(pattern), dtype=bool)
            if not (edges[v] & left).any() and joined[np.ix_(undirected[v] & left, around)].all():
                edges[undirected[v] & left, v] = True
                undirected[v], undirected[:, v], left[v] = False, False, False
                break
        else:
            raise ValueError("the pattern is the CPDAG of no DAG")
    return edges


def pattern_distance(left: IntArray, right: IntArray) -> int:
    """Pairs of variables on which two CPDAGs differ."""
    differ = left != right
    return int(np.triu(differ | differ.T, 1).sum())  # transposed: a pair counts once


def describe(row: list[float]) -> str:
    text = "sparse-linear CPDAG SHD {:5.1f}, BIC {:+6.1f}, CPU {:6.1f} s".format(*row[:3])
    return text + ("   flopsearch {:5.1f}, BIC {:+6.1f}, CPU {:6.1f} s".format(*row[3:]) if len(row) > 3 else "")


if __name__ == "__main__":
    main()
