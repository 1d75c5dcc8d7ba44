"""What a policy's order and its edge probabilities are worth without a score: families of training and others.

    OMP_NUM_THREADS=1 python benchmarks/policy_figures.py [WEIGHTS ...] [--sets 16] [--pairs 64] [--jobs 1]

Order TPR, AUROC of the edge probabilities, and their expected calibration error (ten bins of equal width, over all
ordered pairs of variables; "told" leaves out the pairs with a probability below .05, which are most of them and nearly
all rightly so). *In* are the six cells of :mod:`precede.pretraining.validation`, *out* the eight families of
:mod:`precede.pretraining.validation` and two kinds of rounded linear data; of the pairs of
:mod:`precede.pretraining.validation` the share whose cause comes first.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from joblib import Parallel, delayed

from precede.arrays import BoolArray, FloatArray
from precede.metrics import share_in_order
from precede.policy.prediction import judge, load_pretrained
from precede.pretraining.validation import FIRST_SEED, HELD_OUT, PAIR_FAMILIES, SUITE, held_out_data, held_out_pair
from precede.simulation import simulate

N_BINS = 10
TOLD = 0.05
Made = tuple[FloatArray, BoolArray, bool]


def simulated(name: str, seed: int) -> Made:
    options = SUITE[name]
    made = simulate(n_variables=30, n_samples=500, random_state=FIRST_SEED + seed, **options)
    return made.data.to_numpy(), made.graph.edges, not options.get("standardize", False)


def held_out(name: str, seed: int) -> Made:
    return *held_out_data(name, seed), False


def rounded(levels: int, seed: int) -> Made:
    made = simulate("er", 20, 1.5, "linear-gaussian", 500, standardize=True, random_state=FIRST_SEED + seed)
    values = made.data.to_numpy()
    cuts = np.quantile(values, np.arange(1, levels) / levels, axis=0)
    codes = (values[:, None, :] > cuts[None]).sum(axis=1).astype(float)
    return codes, made.graph.edges, False


GROUPS: dict[str, dict[str, Callable[[int], Made]]] = {
    "in": {name: partial(simulated, name) for name in SUITE},
    "out": {name: partial(held_out, name) for name in HELD_OUT},
    "rounded": {f"{levels} levels": partial(rounded, levels) for levels in (3, 8)},
}


@dataclass(frozen=True)
class Answer:
    """On one data set: order TPR, and the probability of every ordered pair with whether there is an edge."""

    order_tpr: float
    probabilities: FloatArray
    truth: BoolArray


def answer(weights: str, make: Callable[[int], Made], seed: int) -> Answer:
    values, edges, scales = make(seed)
    said = judge(values, load_pretrained(weights), scales=scales)
    apart = ~np.eye(len(edges), dtype=bool)
    return Answer(share_in_order(said.order, edges), said.edges[apart], edges[apart])


def auroc(probabilities: FloatArray, truth: BoolArray) -> float:
    ranks = np.argsort(np.argsort(probabilities)) + 1.0
    n_edges, n_none = truth.sum(), (~truth).sum()
    return float((ranks[truth].sum() - n_edges * (n_edges + 1) / 2) / (n_edges * n_none))


def calibration_error(probabilities: FloatArray, truth: BoolArray) -> float:
    """Mean over the pairs of the gap between probability and share of edges in its bin."""
    bins = np.minimum((probabilities * N_BINS).astype(int), N_BINS - 1)
    gaps = [abs((probabilities[bins == k] - truth[bins == k]).sum()) for k in range(N_BINS)]
    return float(sum(gaps) / len(truth))


def figures(answers: list[Answer]) -> list[float]:
    probabilities = np.concatenate([one.probabilities for one in answers])
    truth = np.concatenate([one.truth for one in answers])
    told = probabilities >= TOLD
    return [
        float(np.nanmean([one.order_tpr for one in answers])),
        float(np.mean([auroc(one.probabilities, one.truth) for one in answers])),
        calibration_error(probabilities, truth),
        calibration_error(probabilities[told], truth[told]),
    ]


def cause_first(weights: str, family: str, seed: int) -> bool:
    return bool(judge(held_out_pair(family, seed), load_pretrained(weights)).order[0] == 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", nargs="*", default=["default"])
    parser.add_argument("--sets", type=int, default=16)
    parser.add_argument("--pairs", type=int, default=64)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    run = Parallel(n_jobs=options.jobs)
    for weights in options.weights:
        print(f"\n{weights}\n\n| | order TPR | AUROC | ECE | ECE, told |\n|---|---|---|---|---|")
        for group, families in GROUPS.items():
            whole: list[list[float]] = []
            for name, make in families.items():
                found = run(delayed(answer)(weights, make, seed) for seed in range(options.sets))
                whole.append(figures(found))
                print(f"| {name} | " + " | ".join(f"{value:.3f}" for value in whole[-1]) + " |", flush=True)
            print(f"| *{group}* | " + " | ".join(f"{value:.3f}" for value in np.mean(whole, axis=0)) + " |", flush=True)
        shares = []
        for family in PAIR_FAMILIES:
            right = run(delayed(cause_first)(weights, family, seed) for seed in range(options.pairs))
            shares.append(float(np.mean(right)))
            print(f"| pairs, {family} | {shares[-1]:.2f} | | | |", flush=True)
        print(f"| *pairs* | {np.mean(shares):.3f} | | | |", flush=True)


if __name__ == "__main__":
    main()
