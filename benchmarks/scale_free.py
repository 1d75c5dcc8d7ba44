"""Which scale-free graphs are the paper's: random orders on each variant, beside the published RANDOM.

    OMP_NUM_THREADS=1 python benchmarks/scale_free.py --seeds 20

A random order with weights below 0.3 pruned depends on the data alone, not on any search, so it tells how the paper's
graphs were drawn.
"""

from __future__ import annotations

import argparse

import numpy as np

from precede import evaluate, simulate
from precede.baselines import RandomOrder
from precede.experiments.verdicts import PUBLISHED

TABLES = {30: "table1-30", 50: "linear-50", 100: "table1-100"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--kinds", nargs="+", default=["sf", "sf-degree", "sf-repeat"])
    parser.add_argument("--sizes", nargs="+", type=int, default=[30, 50, 100])
    options = parser.parse_args()
    print("kind       degree nodes  edges   SHD (paper)      TPR (paper)")
    for degree in (2, 5):
        for size in options.sizes:
            paper = PUBLISHED[TABLES[size]]
            for kind in options.kinds:
                rows = []
                for seed in range(options.seeds):
                    made = simulate(kind, size, degree, random_state=seed)
                    found = RandomOrder(random_state=10_000 + seed, verbose=False).fit(made.data)
                    metrics = evaluate(found.graph_, made.graph)
                    rows.append((made.graph.n_edges, metrics.shd, metrics.tpr))
                edges, shd, tpr = np.mean(rows, axis=0)
                printed = [paper[f"sf{degree}", "random", metric].mean for metric in ("shd", "tpr")]
                print(
                    f"{kind:10s} {degree:6d} {size:5d} {edges:6.1f} {shd:6.1f} ({printed[0]:5.1f})   "
                    f"{tpr:5.2f} ({printed[1]:.2f})",
                    flush=True,
                )


if __name__ == "__main__":
    main()
