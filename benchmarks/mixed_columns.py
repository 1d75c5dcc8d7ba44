"""Half of the columns categorical: CPDAG SHD and order TPR of the mixed scores beside those of Tetrad's BOSS.

    python benchmarks/mixed_columns.py [--tetrad-python PATH] [--sizes 20 50] [--seeds 3] [--samples 2000]

ER graphs of degree 1.5, ``pc.simulate(sem="mixed")``. BOSS returns a CPDAG and no order, so it has no order TPR.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from discrete_networks import distance
from tetrad import boss_in

import precede as pc
from precede.graph.equivalence import cpdag

SCORES = ("degenerate-gaussian", "conditional-gaussian")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tetrad-python")
    parser.add_argument("--sizes", type=int, nargs="*", default=[20, 50])
    parser.add_argument("--degree", type=float, default=1.5)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    print(f"{'size':>4} {'score':22} {'ours':>6} {'order TPR':>10} {'s':>6} {'BOSS':>6} {'s':>6}   (CPDAG SHD, means)")
    for size in options.sizes:
        for score in SCORES:
            rows = [one(size, score, seed, options) for seed in range(options.seeds)]
            text = "{:6.1f} {:10.2f} {:6.1f}".format(*np.mean(rows, axis=0)[:3])
            if options.tetrad_python:
                text += " {:6.1f} {:6.1f}".format(*np.mean(rows, axis=0)[3:])
            print(f"{size:4} {score:22} {text}", flush=True)


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
            seconds = boss_in(options.tetrad_python, data, found, score)
            row += [distance(np.loadtxt(found, delimiter=","), cpdag(dataset.graph.edges)), seconds]
    return row


if __name__ == "__main__":
    main()
