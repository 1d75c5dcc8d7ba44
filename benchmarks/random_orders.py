"""Which graphs are the paper's: random orders on each reading of its text, beside the published RANDOM.

    OMP_NUM_THREADS=1 python benchmarks/random_orders.py sf --seeds 20
    OMP_NUM_THREADS=1 python benchmarks/random_orders.py er --seeds 10

A random order with small weights pruned depends on the data alone, not on any search, so it tells how the paper's
graphs were drawn. For ER2 the readings also differ in the number of edges, in the threshold and in how a reversed edge
is counted.
"""

from __future__ import annotations

import argparse

import numpy as np

from precede import simulate
from precede.baselines import RandomOrder
from precede.experiments.verdicts import PUBLISHED

TABLES = {30: "table1-30", 50: "linear-50", 100: "table1-100"}
PER_VARIABLE = {"sf": (2, 5), "er": (2,)}
READINGS: dict[str, dict[str, dict[str, object]]] = {
    "sf": {
        "in-degree + 1 (igraph)": {"graph": "sf"},
        "total degree": {"graph": "sf-degree"},
        "with replacement": {"graph": "sf-repeat"},
        "networkx, turned at random": {"graph": "ba"},
    },
    "er": {
        "G(n, m), 2 edges each": {},
        "G(n, p)": {"binomial": True},
        "3 edges each": {"degree": 3},
        "4 edges each": {"degree": 4},
        "threshold .1": {"threshold": 0.1},
        "weights .5 to 1": {"weight_range": (0.5, 1.0)},
        "unequal variances": {"noise": "unequal"},
        "lingam noise": {"sem": "lingam"},
        "a reversed edge counts two": {"reversed": 2},
    },
}


def trial(kind: str, size: int, degree: int, seed: int, reading: dict[str, object]) -> tuple[float, float, float]:
    """Edges, SHD and TPR of a random order on one data set."""
    options = dict(reading)
    threshold, turned = options.pop("threshold", 0.3), options.pop("reversed", 1)
    graph, degree = options.pop("graph", "er"), options.pop("degree", degree)
    if options.pop("binomial", False):
        pairs = size * (size - 1) // 2
        degree = np.random.default_rng(20_000 + seed).binomial(pairs, degree * size / pairs) / size
    made = simulate(graph, size, degree, random_state=seed, **options)
    order = RandomOrder(pruning="threshold", threshold=threshold, random_state=10_000 + seed, verbose=False)
    order.diagnose = False
    found, true = order.fit(made.data).graph_.edges, made.graph.edges
    either = found | found.T, true | true.T
    shd = (either[0] ^ either[1]).sum() / 2 + turned * (found & true.T).sum()
    return float(true.sum()), float(shd), float((found & true).sum() / true.sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kind", choices=READINGS)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--sizes", nargs="+", type=int, default=[30, 50, 100])
    options = parser.parse_args()
    print("graph nodes  reading                       edges   SHD (paper)      TPR (paper)")
    for degree in PER_VARIABLE[options.kind]:
        for size in options.sizes:
            paper = PUBLISHED[TABLES[size]]
            name = f"{options.kind}{degree}"
            printed = [paper[name, "random", metric].mean for metric in ("shd", "tpr")]
            for words, reading in READINGS[options.kind].items():
                rows = [trial(options.kind, size, degree, seed, reading) for seed in range(options.seeds)]
                edges, shd, tpr = np.mean(rows, axis=0)
                print(
                    f"{name:5s} {size:5d}  {words:28s} {edges:6.1f} {shd:6.1f} ({printed[0]:5.1f})   "
                    f"{tpr:5.2f} ({printed[1]:.2f})",
                    flush=True,
                )


if __name__ == "__main__":
    main()
