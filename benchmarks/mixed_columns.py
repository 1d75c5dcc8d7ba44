"""Half of the columns categorical: CPDAG SHD and order TPR of the mixed scores beside those of Tetrad's BOSS.

    python benchmarks/mixed_columns.py [--tetrad-python PATH] [--sizes 20 50] [--scores ...] [--seeds 3] [--first 0]

ER graphs of degree 1.5, ``pc.simulate(sem="mixed")``. BOSS returns a CPDAG and no order, so it has no order TPR.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from discrete_networks import distance
from tetrad import search_in

import precede as pc
from precede.graph.dags import cpdag

SCORES = ("degenerate-gaussian", "conditional-gaussian")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tetrad-python")
    parser.add_argument("--sizes", type=int, nargs="*", default=[20, 50])
    parser.add_argument("--degree", type=float, default=1.5)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--scores", nargs="*", choices=SCORES, default=SCORES)
    options = parser.parse_args()
    print(
        f"{'size':>4} {'score':22} {'seed':>5} {'ours':>6} {'order TPR':>10} {'s':>6} {'BOSS':>6} {'s':>6}  (CPDAG SHD)"
    )
    for size in options.sizes:
        for score in options.scores:
            rows = []
            for seed in range(options.first, options.first + options.seeds):
                rows.append(one(size, score, seed, options))
                print(f"{size:4} {score:22} {seed:5} {describe(rows[-1])}", flush=True)
            print(f"{size:4} {score:22} {'mean':>5} {describe(np.mean(rows, axis=0).tolist())}", flush=True)


def describe(row: list[float]) -> str:
    text = "{:6.1f} {:10.2f} {:6.1f}".format(*row[:3])
    return text + (" {:6.1f} {:6.1f}".format(*row[3:]) if len(row) > 3 else "")


def one(size: int, score: str, seed: int, options: argparse.Namespace) -> list[float]:
    dataset = pc.simulate("er", size, options.degree, "mixed", options.samples, random_state=seed)
    start = time.perf_counter()
    settings = {"n_restarts": 100, "n_iterations": 0, "random_state": 0, "verbose": False, "diagnose": False}
    model = pc.CORL(score=score, **settings).fit(dataset.data)
    seconds = time.perf_counter() - start
    metrics = pc.evaluate(model.graph_, dataset.graph)
    row = [float(metrics.cpdag_shd), metrics.order_tpr, seconds]
    if options.tetrad_python:
        with tempfile.TemporaryDirectory() as folder:
            data, found = Path(folder, "data.csv"), Path(folder, "found.csv")
            dataset.data.to_csv(data, index=False)
            seconds = search_in(options.tetrad_python, data, found, score)
            row += [distance(np.loadtxt(found, delimiter=","), cpdag(dataset.graph.edges)), seconds]
    return row


if __name__ == "__main__":
    main()
