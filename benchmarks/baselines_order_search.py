"""L1OBS by evaluation budget and A* lasso by queue size, on linear-Gaussian ER2 data beside the CORL paper's figures.

python benchmarks/baselines_order_search.py --variables 30 --seeds 3 --queues 10 500 1000 --budgets 2500 10000
"""

import argparse
import time
from collections.abc import Callable

import numpy as np

from precede.baselines.astar_lasso import AStarLasso
from precede.baselines.l1obs import L1OBS
from precede.estimator import CausalEstimator
from precede.metrics import evaluate
from precede.simulation import simulate

PUBLISHED = {  # Table 1 of the CORL paper, ER2: TPR and SHD as mean (standard deviation)
    ("L1OBS", 30): "TPR .78 (.06)  SHD  85.2 (23.8)",
    ("L1OBS", 100): "TPR .54 (.02)  SHD 481.2 (49.9)",
    ("A* lasso", 30): "TPR .88 (.04)  SHD  35.3 (14.3)",
    ("A* lasso", 100): "TPR .86 (.04)  SHD 128.5 (38.4)",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variables", type=int, default=30)
    parser.add_argument("--samples", type=int, default=3000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--queues", type=int, nargs="*", default=[10], help="queue sizes of A* lasso")
    parser.add_argument("--budgets", type=int, nargs="*", default=[10_000], help="evaluations of L1OBS")
    options = parser.parse_args()
    for size in options.queues:
        # bound as a default, so that each row has its own size
        run(f"A* lasso, queue {size}", lambda seed, size=size: AStarLasso(queue_size=size, verbose=False), options)
    for budget in options.budgets:
        run(f"L1OBS, {budget} paths", lambda seed, n=budget: L1OBS(n, random_state=seed, verbose=False), options)


def run(label: str, make: Callable[[int], CausalEstimator], options: argparse.Namespace) -> None:
    rows = []
    for seed in range(options.seeds):
        truth = simulate("er", options.variables, 2, n_samples=options.samples, random_state=seed)
        start, cpu = time.perf_counter(), time.process_time()
        model = make(seed).fit(truth.data)
        seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu
        found = evaluate(model.graph_, truth.graph)
        rows.append([found.tpr, found.shd, found.order_tpr, model.score_, seconds, cpu_seconds])
    tpr, shd, order_tpr, score, seconds, cpu_seconds = np.mean(rows, axis=0)
    published = PUBLISHED.get((label.split(",")[0], options.variables), "")
    print(
        f"{label:<22} TPR {tpr:.3f}  SHD {shd:6.1f} ({np.std([row[1] for row in rows]):.1f})  order TPR {order_tpr:.3f}"
        f"  score {score:.6g}  {seconds:6.1f} s ({cpu_seconds:.1f} s CPU)   paper: {published}",
        flush=True,
    )


if __name__ == "__main__":
    main()
