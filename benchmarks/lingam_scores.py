"""LiNGAM data: insertion search on the non-Gaussian score from a random order, raw and standardized.

    python benchmarks/lingam_scores.py --sizes 30 50 100 --seeds 5

The paper's CORL-2 has SHD 3.9 / 20.2 / 13.8 at 30 / 50 / 100 variables, ICA-LiNGAM 0 / 0 / 1 (its Appendix E).
Pruning is the extended BIC, which does not depend on the scale.
"""

import argparse
import time

import numpy as np

from precede.metrics import share_in_order, shd
from precede.pruning.weights import prune_by_bic
from precede.scores.covariance import covariance
from precede.scores.sparse_linear import NonGaussianScore
from precede.search.polish import polish
from precede.simulation import simulate


def search(values: np.ndarray, n_restarts: int, seed: int, device: str) -> np.ndarray:
    """Order found by polish from a random start."""
    rng = np.random.default_rng(seed)
    score = NonGaussianScore(values, device=device)
    return polish(score, rng.permutation(values.shape[1]), n_restarts=n_restarts, rng=rng).order


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[30, 50, 100])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--degree", type=float, default=2)
    parser.add_argument("--samples", type=int, default=3000)
    parser.add_argument("--restarts", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    print(f"ER{options.degree:g}, {options.samples} samples, {options.seeds} seeds, {options.restarts} restarts")
    print(f"{'variables':>9} {'data':>12} {'SHD':>6} {'SHD true order':>14} {'order TPR':>9} {'seconds':>8}")
    for n_variables in options.sizes:
        for standardize in (False, True):
            rows = []
            for seed in range(options.seeds):
                dataset = simulate(
                    n_variables=n_variables,
                    degree=options.degree,
                    sem="lingam",
                    n_samples=options.samples,
                    standardize=standardize,
                    random_state=seed,
                )
                values, truth = dataset.data.to_numpy(), dataset.graph
                start = time.perf_counter()
                order = search(values, options.restarts, seed, options.device)
                seconds = time.perf_counter() - start
                found, of_truth = (
                    shd(prune_by_bic(covariance(values), each, len(values)), truth) for each in (order, truth.positions)
                )
                rows.append((found, of_truth, share_in_order(order, truth.edges), seconds))
            mean = np.mean(rows, axis=0)
            label = "standardized" if standardize else "raw"
            print(f"{n_variables:>9} {label:>12} {mean[0]:>6.2f} {mean[1]:>14.2f} {mean[2]:>9.4f} {mean[3]:>8.1f}")


if __name__ == "__main__":
    main()
