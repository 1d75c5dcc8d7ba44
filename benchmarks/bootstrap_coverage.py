"""Coverage of the bootstrap: of the edges whose probability is at least .9, how many are in the true graph?

    OMP_NUM_THREADS=1 python benchmarks/bootstrap_coverage.py [--datasets 20] [--resamples 50] [--jobs 1]

Half of the data sets are linear Gaussian with equal variances (score "linear"), half LiNGAM (score "nongaussian"),
ER graphs of 8 variables and degree 2. Every resample is searched exactly: what varies is the data and not the search.
Exit code 1 when fewer than 85 % of the sure edges are true.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from itertools import pairwise

import numpy as np

from precede import CORL, simulate

SURE, SHARE_WANTED = 0.9, 0.85
BINS = np.array([0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0 + 1e-9])
SCORES = {"linear-gaussian": "linear", "lingam": "nongaussian"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", type=int, default=20)
    parser.add_argument("--resamples", type=int, default=50)
    parser.add_argument("--variables", type=int, default=8)
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    start = time.perf_counter()
    pooled: dict[str, list[np.ndarray]] = {sem: [] for sem in SCORES}
    off_diagonal = ~np.eye(given.variables, dtype=bool)
    for seed in range(given.datasets):
        sem = list(SCORES)[seed % 2]
        made = simulate(
            n_variables=given.variables, degree=2, sem=sem, n_samples=given.rows, standardize=sem == "lingam",
            random_state=seed,
        )  # fmt: skip
        model = CORL(score=SCORES[sem], search="exact", verbose=False)
        found = model.bootstrap(made.data, n_resamples=given.resamples, n_jobs=given.jobs, random_state=seed)
        pairs = np.column_stack([found.edge_probability.to_numpy()[off_diagonal], made.graph.edges[off_diagonal]])
        pooled[sem].append(pairs)
    minutes = (time.perf_counter() - start) / 60
    print(
        f"{platform.machine()}: {given.datasets} data sets, {given.variables} variables, {given.rows} rows, "
        f"{given.resamples} resamples, {minutes:.1f} min"
    )
    worst = 1.0
    for sem, parts in pooled.items():
        if parts:
            worst = min(worst, describe(sem, np.vstack(parts)))
    return 0 if worst >= SHARE_WANTED else 1


def describe(sem: str, pairs: np.ndarray) -> float:
    """Print the share of true edges by probability; return it for the sure ones."""
    probability, true = pairs.T
    sure = probability >= SURE
    share = float(true[sure].mean())
    print(f"{sem}: {int(sure.sum())} edges with probability >= {SURE}: {100 * share:.1f} % true; ", end="")
    print(f"they are {100 * true[sure].sum() / true.sum():.0f} % of the {int(true.sum())} true edges")
    for low, high in pairwise(BINS):
        inside = (probability >= low) & (probability < high)
        if inside.any():
            print(
                f"  [{low:.1f}, {min(high, 1):.1f}): {inside.sum():5d} pairs, {100 * true[inside].mean():5.1f} % true"
            )
    return share


if __name__ == "__main__":
    sys.exit(main())
