"""What each ingredient of the default buys: policy alone, score alone, both, with and without the check of the class.

    OMP_NUM_THREADS=1 python benchmarks/ingredients.py [--variables 10] [--rows 500] [--seeds 2] [--jobs 1]

On the families that the policy was never trained on (:mod:`precede.pretraining.validation`) and on mechanisms of
``precede.simulate``, columns standardized. ``class`` is the score that ``choose_score`` names without a policy to check
it by. No training: what is compared is the objective. SHD, F1 and order TPR; a line for each data set as it is done,
then a table of means over those that are.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np
from joblib import Parallel, delayed

import precede as pc
from precede.arrays import BoolArray, FloatArray
from precede.data.load import load_table
from precede.pretraining.validation import HELD_OUT, held_out_data
from precede.scores.choose import choose_score

SIMULATED = ("lingam", "linear-gaussian", "gp-additive", "gp", "heteroscedastic", "post-nonlinear", "multiplicative")
BOTH = {f"both, {weight}": {"score": "location-scale", "policy_weight": weight} for weight in (10, 40, 100)}
METHODS: dict[str, dict[str, Any]] = {
    "policy": {"score": "policy"},
    "location-scale": {"score": "location-scale"},
    **BOTH,
    "class": {},
    "default": {},
}


def data_sets(options: argparse.Namespace) -> Iterator[tuple[str, FloatArray, BoolArray]]:
    for seed in range(100, 100 + options.seeds):
        for family in HELD_OUT:
            values, edges = held_out_data(family, seed, n_variables=options.variables, n_samples=options.rows)
            yield family, values, edges
        for sem in SIMULATED:
            made = pc.simulate(
                n_variables=options.variables, degree=1.5, n_samples=options.rows, sem=sem, random_state=seed
            )
            yield sem, made.data.to_numpy(), made.graph.edges


Figures = dict[str, tuple[float, float, float]]


def fitted(family: str, values: FloatArray, edges: BoolArray) -> tuple[str, Figures]:
    """SHD, F1 and order TPR of every method on a data set."""
    values = (values - values.mean(axis=0)) / values.std(axis=0)
    truth = pc.CausalGraph.from_matrix(edges)
    figures: Figures = {}
    for method, asked in METHODS.items():
        chosen = {"score": choose_score(load_table(values)).name} if method == "class" else asked
        model = pc.CORL(**chosen, n_iterations=0, diagnose=False, random_state=0, verbose=False)
        with np.errstate(all="ignore"):
            measured = pc.evaluate(model.fit(values).graph_, truth)
        figures[method] = (measured.shd, measured.f1, measured.order_tpr or 0.0)
    return family, figures


def show(name: str, cells: list[Any]) -> None:
    print(f"| {name} | " + " | ".join("{:.1f} / {:.2f} / {:.2f}".format(*cell) for cell in cells) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variables", type=int, default=10)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    found: dict[str, list[Figures]] = {}
    print("| data | " + " | ".join(METHODS) + " |\n" + "|---" * (len(METHODS) + 1) + "|", flush=True)
    run = Parallel(n_jobs=options.jobs, return_as="generator_unordered", pre_dispatch="all")
    for family, figures in run(delayed(fitted)(*made) for made in data_sets(options)):
        found.setdefault(family, []).append(figures)
        show(family, [figures[method] for method in METHODS])
    print("\nmeans", flush=True)
    groups = [
        *((name, [name]) for name in (*HELD_OUT, *SIMULATED)),
        ("*held out*", [*HELD_OUT]),
        ("*simulated*", [*SIMULATED]),
    ]
    for name, members in groups:
        rows = [figures for family in members for figures in found[family]]
        show(name, [np.mean([figures[method] for figures in rows], axis=0) for method in METHODS])


if __name__ == "__main__":
    main()
