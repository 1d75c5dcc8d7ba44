"""What the paper's mode learns from resampled rows, by their scale and number and the encoder's normalisation.

    python benchmarks/resampled_rows.py [--graph sf] [--degree 5] [--nodes 30] [--iterations 1500] [--device cuda]

First the control, a "policy" that only sorts by the variance of the rows it is given: mean and best score of 512 orders
below the score of the greedy order. Then each line is CORL-2 as in ``CORL.paper`` but for the three things named: mean
score of the last batch and best score so far, below that of the greedy order, and the entropy of a choice.
``--iterations 0`` prints the control alone.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
import torch

from precede import CORL, simulate
from precede.arrays import FloatArray
from precede.knowledge import Constraints
from precede.scores.linear import LinearScore
from precede.search.greedy import greedy_order
from precede.search.train import Trainer

VARIANTS = [
    ("overall", "layer", 64),
    ("overall", "batch", 64),
    ("smallest", "layer", 64),
    ("smallest", "batch", 64),
    ("smallest", "batch", 256),
    ("smallest", "batch", 32),
    ("smallest", "batch", 16),
]


def scaled(values: FloatArray, unit: str) -> FloatArray:
    """Centred values in a common unit: the overall scale, or the smallest column's with large values squashed."""
    centred = values - values.mean(axis=0)
    if unit == "overall":
        return centred / np.sqrt(np.mean(centred**2))
    return np.arcsinh(centred / centred.std(axis=0).min())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", default="sf")
    parser.add_argument("--degree", type=int, default=5)
    parser.add_argument("--nodes", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--iterations", type=int, default=1500)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    values = simulate(options.graph, options.nodes, options.degree, random_state=options.seed).data.to_numpy()
    score = LinearScore(values, device=options.device)
    free = Constraints.none(options.nodes)
    greedy = torch.tensor(greedy_order(score, free), device=score.device)
    optimum = float(score.total(score.terms(greedy[None]).sum(1))[0])
    print(f"{options.nodes}-node {options.graph.upper()}{options.degree}, seed {options.seed}")
    rng = np.random.default_rng(options.seed)
    for n in (16, 32, 64, 256, len(values)):
        drawn = [rng.choice(len(values), n, replace=False) for _ in range(512)]
        orders = torch.tensor(np.array([np.argsort(values[rows].var(axis=0)) for rows in drawn]), device=score.device)
        below = score.total(score.terms(orders).sum(1)) - optimum
        print(f"sorted by the variance of {n:4d} rows {float(below.mean()):11,.0f} {float(below.max()):11,.0f}")
    print("unit      normalisation   rows  iteration        mean        best  entropy")
    for unit, normalization, n in VARIANTS if options.iterations else []:
        settings = replace(CORL.paper("corl-2")._settings(), normalization=normalization, n_samples=n)
        trainer = Trainer(score, values, settings, free, np.random.default_rng(options.seed))
        trainer.inputs._values = torch.tensor(scaled(values, unit), dtype=torch.float32, device=score.device)
        for iteration in range(1, options.iterations + 1):
            numbers = trainer.step()
            if iteration in (90, 270, 600, options.iterations):
                mean, _, best, entropy = numbers.tolist()
                below = f"{mean - optimum:11,.0f} {best - optimum:11,.0f} {entropy:8.2f}"
                print(f"{unit:9s} {normalization:13s} {n:6d} {iteration:10d} {below}", flush=True)


if __name__ == "__main__":
    main()
