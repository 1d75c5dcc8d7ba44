"""Joint GP data with dense graphs: the pretrained policy's order, the graph by GP evidence given that order.

    python benchmarks/gp_zero_shot.py [--nodes 20] [--degree 4] [--samples 500] [--seeds 5] [--device cuda]

The data has equal noise variances and the pretrained policy sees the scale of the columns, which the scale-free
sparse GP score does not. Printed beside: the same graph step on the true order, which no search can beat.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch

from precede.metrics import share_in_order, shd
from precede.policy.prediction import load_pretrained
from precede.scores.evidence import GaussianProcessEvidence
from precede.scores.parent_tables import screened_score
from precede.simulation import simulate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=20)
    parser.add_argument("--degree", type=int, default=4)
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--penalty", type=float, default=0.0)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    policy = load_pretrained("default")
    policy.actor.eval()
    rows = []
    for seed in range(options.seeds):
        made = simulate(
            n_variables=options.nodes, degree=options.degree, sem="gp", n_samples=options.samples, random_state=seed
        )
        values, truth = made.data.to_numpy(), made.graph.edges
        start = time.perf_counter()
        rng = np.random.default_rng(seed)
        inputs = policy.architecture.inputs(values, rng, torch.device("cpu"), scales=True).draw(1)
        order = policy.actor.most_likely_order(inputs).numpy()
        local = GaussianProcessEvidence(values, n_inducing="auto", device=options.device)
        score = screened_score(local, penalty=options.penalty, device=options.device)
        found = shd(score.graph(order).astype(int), truth.astype(int))
        seconds = time.perf_counter() - start
        given_truth = shd(score.graph(made.graph.positions).astype(int), truth.astype(int))
        rows.append((share_in_order(order, truth), found, given_truth, seconds))
        print(
            "seed {}: order TPR {:.3f}  SHD {}  SHD on the true order {}  {:.0f} s".format(seed, *rows[-1]), flush=True
        )
    means = np.mean(rows, axis=0)
    print("mean:   order TPR {:.3f}  SHD {:.1f}  SHD on the true order {:.1f}  {:.0f} s".format(*means))


if __name__ == "__main__":
    main()
