"""Linear Gaussian data of the paper's Appendix B.2: what RL, polish, greedy and chance reach.

    python benchmarks/linear.py [--device cuda] [--cells er-30-2 ...] [--seeds 5] [--out linear.csv]

Prints mean SHD per cell. "policy" is RL alone, "default" is RL and polish, "climb" is polish from a random order.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
import pandas as pd

from precede import CORL, evaluate, simulate
from precede.graph import CausalGraph
from precede.pruning.weights import prune_by_bic
from precede.scores.covariance import covariance
from precede.scores.linear import LinearScore, smallest_variance_order
from precede.search.polish import polish

CELLS = ["er-30-2", "er-30-5", "sf-30-2", "sf-30-5", "er-50-5", "er-100-2", "er-100-5", "sf-100-5", "er-150-2"]
PAPER = {  # SHD of CORL-2: Table 1, Appendix D, Section 5.1
    "er-30-2": 4.4, "er-30-5": 37.6, "sf-30-2": 0.0, "sf-30-5": 0.0, "er-50-2": 17.9, "er-50-5": 64.8, "sf-50-2": 0.0,
    "sf-50-5": 20.8, "er-100-2": 18.6, "er-100-5": 164.8, "sf-100-2": 0.0, "sf-100-5": 10.8, "er-150-2": 38.3,
}  # fmt: skip


def run_cell(cell: str, seed: int, device: str, max_time: float | None) -> dict[str, float | str]:
    kind, nodes, degree = cell.split("-")
    made = simulate(graph=kind, n_variables=int(nodes), degree=int(degree), n_samples=3000, random_state=seed)
    values = made.data.to_numpy()
    matrix = covariance(values)
    score = LinearScore(values)
    rng = np.random.default_rng(seed)

    def shd(order: np.ndarray) -> int:
        edges = prune_by_bic(matrix, order, len(values))
        return evaluate(CausalGraph.from_matrix(edges, names=made.data.columns), made.graph).shd

    start = time.perf_counter()
    model = CORL(score="linear", device=device, random_state=seed, verbose=False, max_time=max_time).fit(made.data)
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    search = model.diagnostics_["search"]
    return {
        "cell": cell,
        "seed": seed,
        "policy": shd(np.array(search["policy_order"])),
        "default": evaluate(model.graph_, made.graph).shd,
        "greedy": shd(smallest_variance_order(matrix)),
        "climb": shd(polish(score, rng.permutation(len(matrix))).order),
        "by variance": shd(np.argsort(np.diag(matrix))),
        "random": shd(rng.permutation(len(matrix))),
        "policy - best": search["policy_score"] - search["best_score"],
        "iterations": search["iterations"],
        "seconds": seconds,
        "peak GiB": memory,
        "paper CORL-2": PAPER.get(cell, float("nan")),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", nargs="+", default=CELLS)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--max-time", type=float)
    parser.add_argument("--out")
    options = parser.parse_args()
    rows = []
    for cell in options.cells:
        for seed in range(options.seeds):
            rows.append(run_cell(cell, seed, options.device, options.max_time))
        table = pd.DataFrame(rows)
        print(table[table.cell == cell].drop(columns="seed").groupby("cell").mean().round(2).to_string(), flush=True)
        if options.out:
            table.to_csv(options.out, index=False)
    print(pd.DataFrame(rows).drop(columns="seed").groupby("cell", sort=False).mean().round(2).to_string())


if __name__ == "__main__":
    main()
