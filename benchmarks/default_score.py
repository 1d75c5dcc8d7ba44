"""The default beside the score that fits the data: standardized linear Gaussian, LiNGAM and Gaussian-process data.

    OMP_NUM_THREADS=1 python benchmarks/default_score.py [--only linear-gaussian gp] [--seeds 5] [--jobs 1]

``CORL()`` beside ``CORL(score=...)`` with the score that the simulation calls for; ER2, 30 variables (GP: 10 and 20).
Printed as they come: score that the default took, SHD, CPDAG SHD, edges and CPU seconds of both, then means.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed

import precede as pc

FIRST_SEED = 50


@dataclass(frozen=True)
class Kind:
    """Data, and the score that they call for."""

    sem: str
    score: str
    n_variables: int
    n_samples: int
    degree: float = 2


KINDS = {
    "linear-gaussian": Kind("linear-gaussian", "sparse-linear", 30, 3000),
    "lingam": Kind("lingam", "nongaussian", 30, 3000),
    "gp-additive": Kind("gp-additive", "sparse-gp-additive", 20, 500),
    "gp": Kind("gp", "sparse-gp", 10, 500, 4),
    "gp-20": Kind("gp", "sparse-gp", 20, 500),
}


def fitted(name: str, seed: int) -> tuple[str, int, str, list[float]]:
    """Of the default and of the right score: SHD, CPDAG SHD, edges, CPU seconds."""
    kind = KINDS[name]
    made = pc.simulate(
        "er", kind.n_variables, kind.degree, kind.sem, kind.n_samples, standardize=True, random_state=seed
    )
    row: list[float] = []
    chosen = ""
    for options in ({}, {"score": kind.score}):
        start = time.process_time()
        model = pc.CORL(random_state=0, verbose=False, diagnose=False, **options).fit(made.data)
        found = pc.evaluate(model.graph_, made.graph)
        row += [found.shd, float(found.cpdag_shd), model.graph_.n_edges, time.process_time() - start]
        chosen = chosen or str(model.diagnostics_["score"])
    return name, seed, chosen, row


def show(name: str, seed: object, chosen: str, row: list[float]) -> None:
    cells = "{:.1f} | {:.1f} | {:.0f} | {:.0f} | {:.1f} | {:.1f} | {:.0f} | {:.0f}".format(*row)
    print(f"| {name} | {seed} | {chosen} | {cells} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=FIRST_SEED)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    heading = "SHD | CPDAG SHD | edges | CPU s"
    print(f"| data | seed | default takes | {heading} | right score: {heading} |\n" + "|---" * 11 + "|", flush=True)
    tasks = [(name, seed) for seed in range(options.first, options.first + options.seeds) for name in options.only]
    run = Parallel(n_jobs=options.jobs, return_as="generator_unordered", pre_dispatch="all")
    rows: dict[str, list[list[float]]] = {}
    for name, seed, chosen, row in run(delayed(fitted)(*task) for task in tasks):
        rows.setdefault(name, []).append(row)
        show(name, seed, chosen, row)
    for name in options.only:
        show(f"**{name}**", "mean", KINDS[name].score, np.mean(rows[name], axis=0).tolist())


if __name__ == "__main__":
    main()
