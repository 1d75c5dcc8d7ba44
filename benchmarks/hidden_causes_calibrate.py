"""Fit the constants of precede.hidden_causes.calibration to simulations.

Run: python benchmarks/hidden_causes_calibrate.py [--jobs 2] (some forty minutes on one core). Data sets of 300 and
1,000 rows, half of them without hidden causes: seeds 1500 to 1599 with the true graphs and those of other methods,
seeds 1600 to 1629 with those of the default; both kinds of learned graphs count alike. The highest probability that is
stated is the highest level that pairs keep which the log odds put there or above, in five-fold cross-validation.
"""

from __future__ import annotations

import argparse

import numpy as np
from hidden_causes import SEMS, Pairs, pairs
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from precede.hidden_causes.calibration import terms

SEEDS = {"true": range(1500, 1600), "method": range(1500, 1600), "default": range(1600, 1630)}
ROWS = (300, 1000)
FOLDS, FEWEST = 5, 50
"""Parts of the cross-validation, and pairs that a highest probability must rest on."""


def simulated(graphs: str, jobs: int) -> Pairs:
    """All pairs of the simulations with one kind of graph."""
    cases = [(sem, rows, hidden) for sem in SEMS for rows in ROWS for hidden in (True, False)]
    return Pairs.of([pairs(SEEDS[graphs], sem, rows, graphs, hidden, jobs) for sem, rows, hidden in cases])


def fitted(design: np.ndarray, label: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Intercept and weights of a logistic regression; the first column is one."""
    scaler = StandardScaler().fit(design[:, 1:])
    fit = LogisticRegression(C=1.0, max_iter=5000).fit(scaler.transform(design[:, 1:]), label, sample_weight=weight)
    slopes = fit.coef_[0] / scaler.scale_
    return np.array([fit.intercept_[0] - slopes @ scaler.mean_, *slopes])


def highest(chance: np.ndarray, label: np.ndarray, weight: np.ndarray) -> float:
    """The highest level that the pairs at it or above keep."""
    kept = 0.0
    for level in np.arange(0.05, 1.0, 0.01):
        above = chance >= level
        if above.sum() >= FEWEST and np.average(label[above], weights=weight[above]) >= level:
            kept = float(level)
    return kept


def calibrate(graph: str, known: list[Pairs]) -> None:
    """Print the constants for a kind of graph, from sets of pairs that count alike."""
    weight = np.concatenate([np.full(len(part.label), 1 / len(part.label)) for part in known])
    weight /= weight.mean()
    seen = Pairs.of(known)
    for pair, chosen in (("apart", ~seen.joined), ("joined", seen.joined)):
        design, label, counts = terms(seen.signs[chosen].T).T, seen.label[chosen], weight[chosen]
        fold, chance = seen.seed[chosen] % FOLDS, np.zeros(len(label))
        for k in range(FOLDS):
            rest = fold != k
            slopes = fitted(design[rest], label[rest], counts[rest])
            chance[~rest] = 1 / (1 + np.exp(-(design[~rest] @ slopes)))
        numbers = ", ".join(f"{value:.3f}" for value in fitted(design, label, counts))
        print(f'    ("{graph}", "{pair}"): ({numbers}),', flush=True)
        print(f'    ("{graph}", "{pair}"): {highest(chance, label, counts):.2f},  # {len(label)} pairs', flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1)
    jobs = parser.parse_args().jobs
    calibrate("known", [simulated("true", jobs)])
    calibrate("learned", [simulated("method", jobs), simulated("default", jobs)])


if __name__ == "__main__":
    main()
