"""Odd cells: SHD of the default with a few, beside the clean table, and how many clean tables are marked.

    OMP_NUM_THREADS=1 python benchmarks/outliers.py [--seeds 12] [--tables 100] [--score auto] [--odd missing keep]

Linear data of 10 variables, 500 rows, 12 or 22 edges, noise of different variances: as they are, with one cell at +8
standard deviations, and with 1 % of the cells times eight. CPDAG SHD where noise is Gaussian, SHD where it is Laplace.
Then the share of clean tables (10 columns, independent or with 12 edges) in which some cell is marked. ``--tails`` only
counts, in tables of 10 variables and 500 rows of every mechanism, the cells that are marked where none is wrong, and
those that are marked of 1 % times eight, as far as these are more than 5 standard deviations out.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import numpy as np

from precede import CORL, evaluate, simulate
from precede.data.odd import odd_cells
from precede.kinds import NUMBER
from precede.simulation.mechanisms import MECHANISMS

Draw = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]
NOISES: dict[str, Draw] = {
    "gaussian": lambda rng, shape: rng.normal(size=shape),
    "laplace": lambda rng, shape: rng.laplace(size=shape),
    "exponential": lambda rng, shape: rng.exponential(size=shape),
    "t5": lambda rng, shape: rng.standard_t(5, size=shape),
    "lognormal": lambda rng, shape: np.exp(rng.normal(size=shape)),
    "uneven": lambda rng, shape: rng.normal(size=shape) * np.exp(rng.normal(size=shape) / 2),
    "poisson": lambda rng, shape: rng.poisson(3, size=shape).astype(float),
    "geometric": lambda rng, shape: rng.geometric(0.3, size=shape).astype(float),
}
KINDS = ("clean", "one odd cell", "1 % odd cells")


def drawn(noise: str, n_edges: int, n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Standardized rows and the true edges."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(10)
    pairs = np.argwhere(np.triu(np.ones((10, 10)), 1))
    weights = np.zeros((10, 10))
    for a, b in pairs[rng.choice(len(pairs), n_edges, replace=False)]:
        weights[order[a], order[b]] = rng.uniform(0.5, 1.5) * rng.choice([-1, 1])
    sources = NOISES[noise](rng, (n_rows, 10)) * rng.uniform(0.7, 1.5, size=10)
    values = sources @ np.linalg.inv(np.eye(10) - weights)
    return (values - values.mean(axis=0)) / values.std(axis=0), weights != 0


def spoiled(values: np.ndarray, kind: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng(1000 + seed)
    values = values.copy()
    if kind == "one odd cell":
        values[rng.integers(len(values)), rng.integers(10)] = 8.0
    elif kind == "1 % odd cells":
        values[rng.random(values.shape) < 0.01] *= 8
    return values


def tails(seeds: int) -> None:
    """Print the marked cells of clean tables, and of wrong cells, by mechanism."""
    print("| mechanism | marked where none is wrong | wrong | marked |\n|---|---:|---:|---:|")
    for sem in MECHANISMS:
        counts = np.zeros(3, dtype=int)
        for seed in range(seeds):
            made = simulate(n_variables=10, degree=2, sem=sem, n_samples=500, standardize=True, random_state=seed)
            values = made.data.to_numpy(copy=True)
            clean = odd_cells(values, [NUMBER] * 10)
            wrong = np.random.default_rng(seed).random(values.shape) < 0.01
            values[wrong] *= 8
            wrong &= np.abs(values) > 5
            counts += clean.sum(), wrong.sum(), (odd_cells(values, [NUMBER] * 10) & wrong).sum()
        print(f"| {sem} | {' | '.join(map(str, counts))} |", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--score", default="auto")
    parser.add_argument("--odd", nargs="*", choices=("missing", "keep"), default=("missing", "keep"))
    parser.add_argument("--tails", action="store_true")
    given = parser.parse_args()
    if given.tails:
        tails(given.seeds)
        return 0
    print("| noise | edges | odd= | " + " | ".join(KINDS) + " |\n|---|---:|---|" + "---:|" * len(KINDS))
    for noise in ("gaussian", "laplace") if given.seeds else ():
        for n_edges in (12, 22):
            for odd in given.odd:
                means = []
                for kind in KINDS:
                    found = []
                    for seed in range(given.seeds):
                        values, truth = drawn(noise, n_edges, 500, seed)
                        model = CORL(given.score, odd=odd, random_state=0, verbose=False, diagnose=False)
                        scores = evaluate(truth, model.fit(spoiled(values, kind, seed)).graph_.edges)
                        found.append(scores.cpdag_shd if noise == "gaussian" else scores.shd)
                    means.append(f"{np.mean(found):.2f}")
                print(f"| {noise} | {n_edges} | {odd} | " + " | ".join(means) + " |", flush=True)
    sizes = (60, 200, 500, 1000, 5000)
    print("\n| share of clean tables marked | " + " | ".join(f"{n:,} rows" for n in sizes) + " |")
    print("|---|" + "---:|" * len(sizes))
    for noise in NOISES:
        shares = []
        for n_rows in sizes:
            tables = [drawn(noise, (0, 12)[k % 2], n_rows, k)[0] for k in range(given.tables)]
            shares.append(np.mean([odd_cells(table, [NUMBER] * 10).any() for table in tables]))
        print(f"| {noise} | " + " | ".join(f"{share:.2f}" for share in shares) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
