"""Joint GP data as in the paper: sparse GP score beside the paper's CAM and CORL-2, by sample size.

    python benchmarks/gp_joint.py [--device cuda] [--seeds 5] [--samples 200 400 500 1000] [--settings 20-4]
        [--noise equal] [--penalties 0 0.5 1]

The paper's numbers are of its Appendix F (20 nodes); those at 10 and 30 nodes are only in a figure.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch

from precede.metrics import share_in_order, shd
from precede.scores.evidence import GaussianProcessEvidence
from precede.scores.parent_tables import screened_score
from precede.search.polish import polish
from precede.simulation import simulate

SETTINGS = {"10-1": (10, 1), "30-1": (30, 1), "20-4": (20, 4)}

PAPER = {  # (setting, samples): CAM's order TPR and SHD, CORL-2's; Appendix F
    ("20-4", 1000): ("0.91", "30.0", "0.87", "36.5"),
    ("20-4", 500): ("0.86", "45.0", "0.85", "46.3"),
    ("20-4", 400): ("0.83", "51.0", "0.84", "50.5"),
    ("20-4", 200): ("0.60", "66.3", "0.75", "63.1"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--settings", nargs="*", default=list(SETTINGS), choices=list(SETTINGS))
    parser.add_argument("--samples", type=int, nargs="*", default=[200, 400, 500, 1000])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--restarts", type=int, default=3)
    parser.add_argument("--penalties", type=float, nargs="*", default=[0.0, 1.0])
    parser.add_argument("--noise", default="unequal", choices=("unequal", "equal"))
    parser.add_argument("--max-candidates", type=int, default=16)
    parser.add_argument("--table-size", type=int)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    where = torch.cuda.get_device_name() if options.device == "cuda" else f"{torch.get_num_threads()} CPU threads"
    print(f"joint GP, {options.noise} noise assumed, {options.seeds} seeds, {where}")
    print("nodes-degree    m penalty   sets | sparse-gp order TPR   SHD  seconds | CAM TPR   SHD | CORL-2 TPR   SHD")
    for setting in options.settings:
        for samples in options.samples:
            cam_tpr, cam_shd, corl_tpr, corl_shd = PAPER.get((setting, samples), ("-",) * 4)
            for penalty in options.penalties:
                rows = [run(setting, samples, seed, penalty, options) for seed in range(options.seeds)]
                order_share, distance, n_sets, seconds = np.mean(rows, axis=0)
                spread = np.std(rows, axis=0)[1]
                print(
                    f"{setting:>12} {samples:4} {penalty:7g} {n_sets:6.0f} | {order_share:15.2f} {distance:7.1f} "
                    f"({spread:.1f}) {seconds:6.1f} | {cam_tpr:>7} {cam_shd:>5} | {corl_tpr:>10} {corl_shd:>5}",
                    flush=True,
                )


def run(
    setting: str, samples: int, seed: int, penalty: float, options: argparse.Namespace
) -> tuple[float, float, float, float]:
    size, degree = SETTINGS[setting]
    data = simulate("er", size, degree, sem="gp", n_samples=samples, random_state=seed)
    start = time.perf_counter()
    local = GaussianProcessEvidence(data.data.to_numpy(), noise=options.noise, n_inducing="auto", device=options.device)
    local.most_candidates = options.max_candidates
    score = screened_score(local, table_size=options.table_size, penalty=penalty, device=options.device)
    best = polish(score, np.arange(size), n_restarts=options.restarts, rng=np.random.default_rng(seed))
    edges = score.graph(best.order)
    seconds = time.perf_counter() - start
    return share_in_order(best.order, data.graph.edges), shd(edges, data.graph.edges), len(score.cache), seconds


if __name__ == "__main__":
    main()
