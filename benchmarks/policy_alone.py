"""RL alone (no polish): seconds until the policy's best order is within 1e-3 of the score's optimum, and its SHD.

    python benchmarks/policy_alone.py --nodes 30 --seeds 5 --max-time 60
    python benchmarks/policy_alone.py --nodes 100 --seeds 3 --max-time 300

The optimum is the best that polish with restarts finds from the policy's, the greedy and a random order.
"""

from __future__ import annotations

import argparse

import numpy as np

from precede import CORL, evaluate, simulate
from precede.scores.linear import LinearScore
from precede.search.local import greedy_order
from precede.search.polish import polish


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=30)
    parser.add_argument("--degree", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--max-time", type=float, default=60.0)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--iterations", type=int, default=2000)
    parser.add_argument("--device", default="auto")
    options = parser.parse_args()
    print("seed  optimum     policy      gap       s to 1e-3  iterations  s/iteration  SHD  order TPR")
    for seed in range(options.seeds):
        made = simulate(n_variables=options.nodes, degree=options.degree, random_state=seed)
        values = made.data.to_numpy()
        score = LinearScore(values)
        rng = np.random.default_rng(seed)
        model = CORL(
            score="linear", polish=False, pretrained=None, n_iterations=options.iterations, patience=None,
            max_time=options.max_time, batch_size=options.batch_size, device=options.device, random_state=seed,
            verbose=False,
        ).fit(made.data)  # fmt: skip
        policy_order = np.array(model.diagnostics_["search"]["policy_order"])
        starts = [policy_order, greedy_order(score), rng.permutation(options.nodes)]
        optimum = max(polish(score, start, n_restarts=3, rng=rng).score for start in starts)
        history = model.history_
        there = history.best_score >= optimum - 1e-3 * abs(optimum)
        reached = f"{history.seconds[there].iloc[0]:.1f}" if there.any() else "-"
        metrics = evaluate(model.graph_, made.graph)
        print(
            f"{seed:4d}  {optimum:.2f}  {model.score_:.2f}  {optimum - model.score_:8.3f}  {reached:>9s}  "
            f"{len(history):10d}  {history.seconds.iloc[-1] / len(history):11.3f}  {metrics.shd:3d}  "
            f"{metrics.order_tpr:.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
