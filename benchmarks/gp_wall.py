"""Gaussian process data of many rows: the sparse GP score, polished, beside CAM in the same run.

    python benchmarks/gp_wall.py [--sizes 20 50] [--samples 1000] [--degree 2] [--seeds 3] [--whole]

Printed are SHD, and CPU and wall-clock seconds. ``--whole`` adds a whole fit of ``CORL()``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

import precede as pc
from precede.arrays import BoolArray
from precede.data.datasets import Dataset
from precede.metrics import shd
from precede.scores.evidence import GaussianProcessEvidence
from precede.scores.parent_tables import screened_score
from precede.search.local import greedy_order
from precede.search.polish import polish


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=[20, 50])
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--degree", type=float, default=2)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--whole", action="store_true")
    options = parser.parse_args()
    methods: dict[str, Callable[[Dataset], BoolArray]] = {"sparse-gp, polished": polished, "cam": cam}
    if options.whole:
        methods["corl"] = corl
    print("| variables | seed | method | SHD | CPU s | wall s |\n|---:|---:|---|---:|---:|---:|")
    for size in options.sizes:
        for seed in range(options.seeds):
            data = pc.simulate("er", size, options.degree, sem="gp", n_samples=options.samples, random_state=seed)
            for name, method in methods.items():
                cpu, wall = time.process_time(), time.perf_counter()
                edges = method(data)
                seconds = f"{time.process_time() - cpu:.1f} | {time.perf_counter() - wall:.1f}"
                print(f"| {size} | {seed} | {name} | {shd(edges, data.graph.edges)} | {seconds} |", flush=True)


def polished(data: Dataset) -> BoolArray:
    score = screened_score(GaussianProcessEvidence(data.data.to_numpy(), n_inducing="auto"))
    found = polish(score, greedy_order(score), n_restarts=10, rng=np.random.default_rng(0))
    return score.graph(found.order)


def cam(data: Dataset) -> BoolArray:
    return pc.baselines.CAM().fit(data.data).graph_.edges


def corl(data: Dataset) -> BoolArray:
    return pc.CORL(random_state=0, verbose=False).fit(data.data).graph_.edges


if __name__ == "__main__":
    main()
