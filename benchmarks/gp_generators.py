"""Which Gaussian process data is the paper's: CAM and the true order on each generator, beside CAM's printed row.

    PYTHONPATH=src python3 benchmarks/gp_generators.py --jobs 5 --seeds 5

CAM is the same program for everybody, so its printed SHD and order TPR (Appendix F, 20-node ER4) tell how the data was
drawn. The floor is CAM's pruning of the true order: no search can be expected to do better.
"""

from __future__ import annotations

import argparse

import numpy as np
from joblib import Parallel, delayed

from precede import evaluate, simulate
from precede.baselines import CAM
from precede.experiments.verdicts import PUBLISHED
from precede.graph import CausalGraph
from precede.graph.dags import full_dag
from precede.pruning.gam import prune_by_gam
from precede.runtime.device import one_thread


def fitted(sem: str, n_samples: int, seed: int) -> tuple[tuple[str, int, int], tuple[float, float, float]]:
    """SHD and order TPR of CAM, and SHD of the true order after pruning."""
    with one_thread():
        made = simulate("er", 20, 4, sem, n_samples, random_state=seed)
        found = evaluate(CAM(verbose=False).fit(made.data).graph_, made.graph)
        names = list(made.data.columns)
        true_order = np.array([names.index(name) for name in made.graph.order])
        pruned = prune_by_gam(made.data.to_numpy(), full_dag(true_order), cutoff=0.001)
        floor = evaluate(CausalGraph.from_matrix(pruned.edges, None, true_order, names), made.graph)
    return (sem, n_samples, seed), (float(found.shd), float(found.order_tpr), float(floor.shd))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sems", nargs="+", default=["gp", "gp-quiet", "gp-scaled"])
    parser.add_argument("--samples", nargs="+", type=int, default=[1000, 500, 400, 200])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    tasks = [(sem, m, seed) for seed in seeds for m in options.samples for sem in options.sems]
    found: dict[tuple[str, int], list[tuple[float, float, float]]] = {}
    pool = Parallel(options.jobs, return_as="generator_unordered", batch_size=1)
    for (sem, m, seed), row in pool(delayed(fitted)(*task) for task in tasks):
        found.setdefault((sem, m), []).append(row)
        print(sem, m, seed, *row, flush=True)
    print("| data | samples | seeds | CAM SHD | printed | CAM order TPR | printed | true order, pruned: SHD |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    paper = PUBLISHED["gp-20"]
    for (sem, m), rows in sorted(found.items()):
        shd, tpr, floor = np.mean(rows, axis=0)
        printed = paper[str(m), "cam", "shd"].mean, paper[str(m), "cam", "order_tpr"].mean
        print(f"| {sem} | {m} | {len(rows)} | {shd:.1f} | {printed[0]} | {tpr:.2f} | {printed[1]} | {floor:.1f} |")


if __name__ == "__main__":
    main()
