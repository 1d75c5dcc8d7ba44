"""A fifth of the cells missing: SHD by EM beside complete data, dropped rows and means.

    python benchmarks/missing_cells.py [--data lingam] [--size 20] [--seeds 5] [--first-seed 0] [--samples 3000]
        [--ways complete em]

Standardized ER2 data, unequal noise. Cells are missing completely at random, or more often (up to 40 %) where the first
column, which is always there, is high. Linear Gaussian data by the sparse linear score (CPDAG SHD), LiNGAM data by the
non-Gaussian one (SHD).
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

import precede as pc

WAYS = ("complete", "em", "pairwise", "drop", "impute")
GAPS = ("random", "dependent")
SCORES = {"linear-gaussian": "sparse-linear", "lingam": "nongaussian"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=20)
    parser.add_argument("--samples", type=int, default=3000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--ways", nargs="*", choices=WAYS, default=WAYS)
    parser.add_argument("--data", nargs="*", choices=list(SCORES), default=list(SCORES))
    parser.add_argument("--gaps", nargs="*", choices=GAPS, default=GAPS)
    options = parser.parse_args()
    print(f"{'data':18} {'gaps':12} {'seed':>5} " + " ".join(f"{way:>9}" for way in options.ways))
    for sem in options.data:
        for gaps in options.gaps:
            rows = []
            for seed in range(options.first_seed, options.first_seed + options.seeds):
                rows.append(one(sem, SCORES[sem], gaps, seed, options))
                print(f"{sem:18} {gaps:12} {seed:5} {describe(rows[-1])}", flush=True)
            print(f"{sem:18} {gaps:12} {'mean':>5} {describe(np.mean(rows, axis=0).tolist())}", flush=True)


def describe(row: list[float]) -> str:
    return " ".join(f"{value:9.2f}" for value in row)


def one(sem: str, score: str, gaps: str, seed: int, options: argparse.Namespace) -> list[float]:
    dataset = pc.simulate(
        "er", options.size, 2, sem, options.samples, noise="unequal", standardize=True, random_state=seed
    )
    frame = dataset.data
    holed = with_gaps(frame, gaps, np.random.default_rng(seed))
    return [distance(frame, holed, way, score, dataset.graph) for way in options.ways]


def with_gaps(frame: pd.DataFrame, gaps: str, rng: np.random.Generator) -> pd.DataFrame:
    share = np.full(len(frame), 0.2)
    if gaps == "dependent":
        share = 0.4 * frame.iloc[:, 0].rank(pct=True).to_numpy()
    mask = rng.random(frame.shape) < share[:, None]
    mask[:, 0] &= gaps == "random"
    return frame.mask(mask)


def distance(frame: pd.DataFrame, holed: pd.DataFrame, way: str, score: str, truth: pc.CausalGraph) -> float:
    """SHD, or CPDAG SHD where only the class can be told; the empty graph where nothing is left to learn from."""
    try:
        table = pc.load_table(frame) if way == "complete" else pc.load_table(holed, missing=way)
        settings = {"n_iterations": 0, "random_state": 0, "verbose": False, "diagnose": False}
        graph = pc.CORL(score=score, **settings).fit(table).graph_
    except pc.PrecedeError:
        return float(truth.n_edges)
    metrics = pc.evaluate(graph, truth)
    return float(metrics.cpdag_shd if score == "sparse-linear" else metrics.shd)


if __name__ == "__main__":
    main()
