"""Sparse scores at the sizes that they are meant for: time, peak memory and distance from the truth.

    OMP_NUM_THREADS=1 python benchmarks/large_sparse.py [--cases gp linear] [--seeds 1] [--device cuda]

"gp": 50-node ER1, joint GP, m = 500, GP evidence; "linear": 200-node ER2, linear Gaussian, standardized, m = 3000,
linear BIC. The order is polished from the column order, which tells nothing. CPU seconds are printed beside those of
the clock, since other processes lengthen only the latter. Each case is a process of its own, for its peak memory.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

import numpy as np
import torch

from precede.data.datasets import Dataset
from precede.graph.dags import cpdag
from precede.metrics import share_in_order, shd
from precede.scores.evidence import GaussianProcessEvidence
from precede.scores.parent_tables import screened_score
from precede.scores.protocol import OrderScore
from precede.scores.sparse_linear import SparseLinearScore
from precede.search.polish import polish
from precede.simulation import simulate

Result = TypeVar("Result")

CASES: dict[str, dict[str, object]] = {
    "gp": {"n_variables": 50, "degree": 1, "sem": "gp", "n_samples": 500},
    "linear": {"n_variables": 200, "degree": 2, "sem": "linear-gaussian", "n_samples": 3000, "standardize": True},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="*", default=list(CASES), choices=list(CASES))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--restarts", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    print(f"{torch.get_num_threads()} CPU threads, device {options.device}, {options.restarts} restarts")
    for case in options.cases:
        for seed in range(options.seeds):
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                print(pool.submit(run, case, seed, options.restarts, options.device).result(), flush=True)


def run(case: str, seed: int, restarts: int, device: str) -> str:
    data = simulate("er", random_state=seed, **CASES[case])  # type: ignore[arg-type]
    values = data.data.to_numpy()
    score, building = timed(lambda: build(case, values, device))
    rng = np.random.default_rng(seed)
    best, searching = timed(lambda: polish(score, np.arange(score.n_variables), n_restarts=restarts, rng=rng))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # of kilobytes
    return (
        f"{case:>6} seed {seed}: score in {building}, search in {searching}, {best.n_moves} moves, {work(score)}; "
        f"peak memory {peak:.1f} GiB; {distances(score.graph(best.order), best.order, data)}"
    )


def build(case: str, values: np.ndarray, device: str) -> OrderScore:
    if case != "gp":
        return SparseLinearScore(values, device=device)
    return screened_score(GaussianProcessEvidence(values, n_inducing="auto", device=device), device=device)


def timed(function: Callable[[], Result]) -> tuple[Result, str]:
    wall, cpu = time.perf_counter(), time.process_time()
    result = function()
    return result, f"{time.perf_counter() - wall:.0f} s (CPU {time.process_time() - cpu:.0f} s)"


def work(score: OrderScore) -> str:
    if isinstance(score, SparseLinearScore):
        return f"{int(score.engine.states.used['n_states'][0])} parent sets worked out"
    return f"{len(score.cache)} parent sets evaluated"  # type: ignore[attr-defined]


def distances(edges: np.ndarray, order: np.ndarray, data: Dataset) -> str:
    truth = data.graph.edges
    differ = cpdag(edges) != cpdag(truth)
    pairs = int(np.triu(differ | differ.T, 1).sum())  # transposed: a pair counts once
    return f"SHD {shd(edges, truth)}, CPDAG SHD {pairs}, order TPR {share_in_order(order, truth):.3f}"


if __name__ == "__main__":
    main()
