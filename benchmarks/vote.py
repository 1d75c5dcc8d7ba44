"""Classes that vote where none holds, beside each member and the former default: F1, an open direction counts half.

    OMP_NUM_THREADS=1 python benchmarks/vote.py --seeds 6

Data sets of ten variables and 500 rows that break every class with additive noise, seeds from 300 up, which nothing was
chosen on; and the bundled Sachs data.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import pandas as pd

import precede as pc
from precede.arrays import BoolArray

KINDS = {
    "heteroscedastic": {},
    "multiplicative": {},
    "post-nonlinear": {},
    "lingam": {"measurement_error": 0.3},
}
METHODS: dict[str, dict[str, object]] = {
    "vote": {"score": "vote"},
    "former default": {"score": "location-scale", "policy_weight": 40},
    **{name: {"score": name} for name in ("policy", "sparse-linear", "sparse-gp-additive", "location-scale")},
}


def f1(model: pc.CORL, truth: BoolArray) -> float:
    found = model.cpdag_ if model.diagnostics_["identifies"] == "cpdag" else model.adjacency_matrix_
    marks = found.to_numpy() != 0
    worth = np.where(marks & marks.T, 0.5, marks)  # transposed: left open
    return float(2 * worth[truth].sum() / (worth.sum() + truth.sum()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=6)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    tables: dict[str, list[tuple[pd.DataFrame, BoolArray]]] = {}
    for sem, more in KINDS.items():
        drawn = [
            pc.simulate("er", 10, 1.5, sem=sem, n_samples=500, standardize=True, random_state=300 + seed, **more)
            for seed in range(options.seeds)
        ]
        tables[" ".join([sem, *(f"{name} {value}" for name, value in more.items())])] = [
            (made.data, made.graph.edges) for made in drawn
        ]
    tables["sachs"] = [(pc.load_sachs().data, pc.load_sachs().graph.edges)]
    print(" | ".join(["data", *METHODS]))
    for name, data in tables.items():
        means = []
        for method in METHODS.values():
            fits = [pc.CORL(random_state=0, diagnose=False, verbose=False, **method).fit(table) for table, _ in data]
            means.append(np.mean([f1(model, truth) for model, (_, truth) in zip(fits, data, strict=True)]))
        print(" | ".join([name, *(f"{mean:.2f}" for mean in means)]), flush=True)


if __name__ == "__main__":
    main()
