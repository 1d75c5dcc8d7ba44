"""Standardized linear Gaussian data: the sparse linear score and its compiled search beside flopsearch.

    python benchmarks/cpdag_flop.py --flop-python PATH [--sizes 50 100 200 500] [--degree 2] [--out TABLE.md]

``--flop-python`` is the interpreter of an environment that has flopsearch and numpy; without it only ours is run. Each
search has a process of its own, one thread, and the same number of restarts from the columns as they come. Printed are
CPU seconds of the search alone (score included; compilation, or reading it from disk, apart), the BIC above that of the
true graph, the same BIC for both (below zero it is the search that failed), CPDAG SHD, and peak memory.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from precede.arrays import BoolArray, IntArray
from precede.graph.dags import cpdag
from precede.scores.sparse_linear import SparseLinearScore
from precede.simulation import simulate

FLOP = """
import resource, sys, time, numpy, flopsearch
data = numpy.load(sys.argv[1])
start = time.process_time()
found = flopsearch.flop(data, float(sys.argv[3]), restarts=int(sys.argv[4]))
print(time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
numpy.save(sys.argv[2], found)
"""

ONE_THREAD = os.environ | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"), "1")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flop-python")
    parser.add_argument("--sizes", type=int, nargs="*", default=[50, 100])
    parser.add_argument("--degree", type=float, default=2)
    parser.add_argument("--samples", type=int, default=3000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--penalty", type=float, default=2.0)
    parser.add_argument("--restarts", type=int, default=20)
    parser.add_argument("--flop-restarts", type=int, default=20)
    parser.add_argument("--out", type=Path, help="table to add to")
    parser.add_argument("--search", type=Path, help=argparse.SUPPRESS)  # folder of one search in a process of its own
    options = parser.parse_args()
    if options.search:
        search_in(options.search, options)
        return
    for size in options.sizes:
        rows = []
        for seed in range(options.first_seed, options.first_seed + options.seeds):
            rows.append(compared(size, seed, options))
            print(json.dumps({"variables": size, "seed": seed} | rows[-1]), flush=True)
        line = table_line(size, options, rows)
        print(line, flush=True)
        if options.out:
            with options.out.open("a") as table:
                table.write(line + "\n")


def compared(size: int, seed: int, options: argparse.Namespace) -> dict[str, float]:
    """Both searches on one data set."""
    data = simulate("er", size, options.degree, n_samples=options.samples, standardize=True, random_state=seed)
    score = SparseLinearScore(data.data.to_numpy(), penalty=options.penalty)
    true_bic, truth = bic(score, data.graph.edges), cpdag(data.graph.edges)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "data.npy", data.data.to_numpy())
        command = [sys.executable, __file__, "--search", folder, "--restarts", str(options.restarts)]
        command += ["--penalty", str(options.penalty)]
        figures: dict[str, float] = json.loads(printed_by(command))
        edges = np.load(folder / "edges.npy")
        figures |= {"bic": bic(score, edges) - true_bic, "shd": pattern_distance(cpdag(edges), truth)}
        figures["size_of_bic"] = abs(true_bic - score.n_samples / 2 * size)  # with the constant of the likelihood
        if options.flop_python:
            arguments = [folder / "data.npy", folder / "found.npy", str(options.penalty), str(options.flop_restarts)]
            seconds, memory = map(float, printed_by([options.flop_python, "-c", FLOP, *arguments]).split())
            pattern = (np.load(folder / "found.npy") > 0).astype(np.int64)
            figures |= {"flop_seconds": seconds, "flop_gib": memory, "flop_shd": pattern_distance(pattern, truth)}
            figures["flop_bic"] = bic(score, member(pattern)) - true_bic
    return figures


def search_in(folder: Path, options: argparse.Namespace) -> None:
    """Our search on the data of a folder: figures are printed, edges saved."""
    from precede.search.polish import polish

    values = np.load(folder / "data.npy")
    start = time.process_time()
    polish(SparseLinearScore(values[:50, :3]), np.arange(3))
    compiled = time.process_time()
    score = SparseLinearScore(values, penalty=options.penalty)
    rng = np.random.default_rng(0)
    best = polish(score, np.arange(score.n_variables), n_restarts=options.restarts, rng=rng)
    edges = score.graph(best.order)
    done = time.process_time()
    np.save(folder / "edges.npy", edges)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps({"seconds": done - compiled, "ready_seconds": compiled - start, "gib": memory}))


def printed_by(command: list[Any]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, env=ONE_THREAD).stdout


def bic(score: SparseLinearScore, edges: BoolArray) -> float:
    """The score's BIC of one graph."""
    correlation = score.correlation
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


def table_line(size: int, options: argparse.Namespace, rows: list[dict[str, float]]) -> str:
    """Means over the seeds, as a line of a Markdown table."""
    mean = {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
    cells = [f"ER{options.degree:g}", f"{size}", f"{len(rows)}", f"{options.restarts} / {options.flop_restarts}"]
    if "flop_seconds" in mean:
        apart = (mean["bic"] - mean["flop_bic"]) / mean["size_of_bic"]
        cells += [
            f"{mean['seconds']:.2f} / {mean['flop_seconds']:.2f}", f"{mean['seconds'] / mean['flop_seconds']:.2f}",
            f"{mean['bic']:+.1f} / {mean['flop_bic']:+.1f}", f"{apart:+.0e}",
            f"{mean['shd']:.1f} / {mean['flop_shd']:.1f}",
        ]  # fmt: skip
    else:
        cells += [f"{mean['seconds']:.2f}", "", f"{mean['bic']:+.1f}", "", f"{mean['shd']:.1f}"]
    cells += [f"{max(row['gib'] for row in rows):.2f}", f"{mean['ready_seconds']:.1f}"]
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
