"""Should far cells be pulled in before the score sees them? SHD with and without, where they are errors and where not.

    OMP_NUM_THREADS=1 python benchmarks/outliers.py [--seeds 5]

"Pulled in": every cell further than 8 robust standard deviations (1.4826 times the median absolute deviation) from its
column's median is put there. Data of 8 variables, 1,000 rows: linear with Laplace noise as it is; the same with three
gross errors (one cell each, 30 standard deviations away); linear with noise of heavy tails (Student, 2 degrees of
freedom), where far cells are what identifies the directions; and Sachs. Searched exactly, so only the score differs.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
import pandas as pd

from precede import CORL, evaluate, load_sachs, simulate

FAR = 8.0
SCORES = ("sparse-linear", "nongaussian")
KINDS = ("clean", "three errors", "heavy tails")


def pulled_in(data: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """The table with far cells at the limit, and how many they were."""
    center = data.median()
    spread = FAR * 1.4826 * (data - center).abs().median()
    limited = data.clip(center - spread, center + spread, axis=1)
    return limited, int((limited != data).to_numpy().sum())


def drawn(kind: str, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """A table and the true edges."""
    rng = np.random.default_rng(seed)
    graph = simulate(n_variables=8, degree=2, n_samples=10, random_state=seed).graph
    shape = (1000, 8)
    noise = rng.standard_t(2, size=shape) if kind == "heavy tails" else rng.laplace(size=shape)
    values = np.linalg.solve((np.eye(8) - graph.strengths).T, noise.T).T  # transposed: strengths[i, j] is i -> j
    if kind == "three errors":
        for _ in range(3):
            column = rng.integers(8)
            values[rng.integers(1000), column] += 30 * values[:, column].std() * rng.choice([-1, 1])
    return pd.DataFrame(values, columns=list(graph.names)), graph.edges


def shd(data: pd.DataFrame, truth: np.ndarray, score: str) -> tuple[float, float]:
    """SHD of the graph and of its equivalence class."""
    model = CORL(score, search="exact", random_state=0, verbose=False, diagnose=False).fit(data)
    found = evaluate(truth, model.graph_.edges)
    return float(found.shd), float(found.cpdag_shd)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    print("| data | score | far cells | SHD as it is | pulled in | CPDAG SHD as it is | pulled in |")
    print("|---|---|---:|---:|---:|---:|---:|")
    tables = {kind: [drawn(kind, seed) for seed in range(given.seeds)] for kind in KINDS}
    sachs = load_sachs()
    tables["Sachs"] = [(sachs.data, sachs.graph.edges)]
    for kind, sets in tables.items():
        for score in SCORES:
            rows = []
            for data, truth in sets:
                limited, far = pulled_in(data)
                rows.append([far, *shd(data, truth, score), *shd(limited, truth, score)])
            far, whole, whole_class, limited_shd, limited_class = np.mean(rows, axis=0)
            print(
                f"| {kind} | {score} | {far:.1f} | {whole:.1f} | {limited_shd:.1f} | {whole_class:.1f} | "
                f"{limited_class:.1f} |",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
