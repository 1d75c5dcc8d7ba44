"""The default beside every fixed linear score, where none to all of ten noises are not Gaussian.

    python benchmarks/any_noise.py --seeds 12 --edges 12 22

Ten variables, 500 rows, standardized; ER graphs, weights of size .5 to 2, noise of standard deviation .5 to 2, of which
this many are Laplace.  Mean SHD.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from precede import CORL
from precede.metrics import shd
from precede.simulation.graphs import random_dag

SCORES = ("auto", "linear-any", "sparse-linear", "nongaussian")
N_VARIABLES, N_SAMPLES = 10, 500


def draw(n_edges: int, n_laplace: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Standardized columns and the graph they were drawn from."""
    rng = np.random.default_rng([seed, n_edges, n_laplace])
    edges, _ = random_dag("er", N_VARIABLES, n_edges / N_VARIABLES, rng)
    weights = edges * rng.uniform(0.5, 2, edges.shape) * rng.choice([-1, 1], edges.shape)
    noise = rng.normal(size=(N_SAMPLES, N_VARIABLES))
    chosen = rng.choice(N_VARIABLES, n_laplace, replace=False)
    noise[:, chosen] = rng.laplace(scale=np.sqrt(0.5), size=(N_SAMPLES, n_laplace))
    values = noise * rng.uniform(0.5, 2, N_VARIABLES) @ np.linalg.inv(np.eye(N_VARIABLES) - weights)
    return (values - values.mean(axis=0)) / values.std(axis=0), edges


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--edges", type=int, nargs="+", default=[12, 22])
    parser.add_argument("--laplace", type=int, nargs="+", default=[0, 1, 2, 3, 4, 5, 6, 10])
    parser.add_argument("--scores", nargs="+", default=SCORES)
    options = parser.parse_args()
    print(f"{'edges':>5} {'Laplace':>7} " + " ".join(f"{score:>13}" for score in options.scores) + "  behind the best")
    for n_edges in options.edges:
        for n_laplace in options.laplace:
            rows: dict[str, list[int]] = {score: [] for score in options.scores}
            taken: list[str] = []
            for seed in range(options.seeds):
                values, truth = draw(n_edges, n_laplace, seed)
                for score in options.scores:
                    model = CORL(score, diagnose=False, random_state=0, verbose=False).fit(values)
                    rows[score].append(shd(model.graph_, truth))
                    if score == "auto":
                        taken.append(str(model.diagnostics_["score"]))
            means = {score: float(np.mean(found)) for score, found in rows.items()}
            others = [mean for score, mean in means.items() if score != "auto"] or [np.nan]
            behind = means.get("auto", np.nan) - min(others)
            chosen = ", ".join(f"{taken.count(name)} {name}" for name in sorted(set(taken)))
            figures = " ".join(f"{mean:>13.2f}" for mean in means.values())
            print(f"{n_edges:>5} {n_laplace:>7} {figures}  {behind:+.2f} ({chosen})", flush=True)


if __name__ == "__main__":
    start = time.perf_counter()
    main()
    print(f"{time.perf_counter() - start:.0f} s")
