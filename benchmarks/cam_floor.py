"""CAM and the floor on a table's data: CAM's pruning of the true order, beside CAM's printed row.

    python benchmarks/cam_floor.py gp-20 gp-20-joint gp --jobs 5
    python benchmarks/cam_floor.py gp-20 --sem gp-quiet
    python benchmarks/cam_floor.py others-linear --data 50-er5 50-sf5

No search that prunes as CAM does can be expected to do better than the floor. CAM is the same program for everybody, so
its printed row also tells how the data was drawn.
"""

import argparse
from dataclasses import replace

import numpy as np
from joblib import Parallel, delayed

from precede import evaluate
from precede.baselines import CAM
from precede.experiments.cells import Data
from precede.experiments.designs import EXPERIMENTS
from precede.experiments.verdicts import PUBLISHED
from precede.graph import CausalGraph
from precede.graph.dags import full_dag
from precede.pruning.gam import prune_by_gam
from precede.runtime.device import one_thread


def fitted(name: str, data: Data, seed: int) -> tuple[tuple[str, str], list[float]]:
    """SHD, TPR and order TPR of CAM, then SHD and TPR of the true order after pruning."""
    with one_thread():
        made = data.draw(seed)
        found = evaluate(CAM(verbose=False).fit(made.data).graph_, made.graph)
        names = list(made.data.columns)
        true_order = np.array([names.index(name) for name in made.graph.order])
        pruned = prune_by_gam(made.data.to_numpy(), full_dag(true_order), cutoff=0.001)
        floor = evaluate(CausalGraph.from_matrix(pruned.edges, None, true_order, names), made.graph)
    return (name, data.name), [found.shd, found.tpr, found.order_tpr, floor.shd, floor.tpr]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tables", nargs="+", help="as `precede reproduce --list` names them")
    parser.add_argument("--data", nargs="+", help="only these data settings")
    parser.add_argument("--sem", help="another generator than the table's")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    tasks = [
        (name, replace(data, sem=options.sem or data.sem), seed)
        for name in options.tables
        for data in EXPERIMENTS[name].data
        for seed in range(options.seeds)
        if not options.data or data.name in options.data
    ]
    found: dict[tuple[str, str], list[list[float]]] = {}
    for key, row in Parallel(options.jobs, return_as="generator", batch_size=1)(delayed(fitted)(*t) for t in tasks):
        found.setdefault(key, []).append(row)
        print(*key, *(f"{value:.2f}" for value in row), flush=True)
    print("| table | data | sets | CAM SHD | printed | TPR | printed | order TPR | floor SHD | floor TPR |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for (name, data_name), rows in found.items():
        shd, tpr, order_tpr, floor, floor_tpr = np.mean(rows, axis=0)
        printed = [PUBLISHED.get(name, {}).get((data_name, "cam", metric)) for metric in ("shd", "tpr")]
        paper_shd, paper_tpr = ("–" if one is None else one.mean for one in printed)
        print(
            f"| {name} | {data_name} | {len(rows)} | {shd:.1f} | {paper_shd} | {tpr:.2f} | {paper_tpr} "
            f"| {order_tpr:.2f} | {floor:.1f} | {floor_tpr:.2f} |"
        )


if __name__ == "__main__":
    main()
