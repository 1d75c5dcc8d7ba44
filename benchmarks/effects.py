"""Do the intervals of effects cover the truth, and do possible effects hold it?

Run: python benchmarks/effects.py [--data-sets 50] [--classes 100] [--resamples 40]. Prints a Markdown table
(docs/results/answers/effects.md); about three minutes on one core.
"""

from __future__ import annotations

import argparse

import numpy as np

import precede as pc
from precede.effects import path_effects
from precede.effects.linear import path_sums
from precede.graph import CausalGraph
from precede.graph.sample import Sample


def coverage(n_sets: int, resamples: int) -> list[tuple[str, int, float, float]]:
    """Share of true effects inside 95 % intervals, and the median width: true graph, learned graph, bootstrap."""
    inside: dict[str, list[bool]] = {}
    width: dict[str, list[float]] = {}

    def note(label: str, interval: tuple[float, float], truth: float) -> None:
        inside.setdefault(label, []).append(interval[0] <= truth <= interval[1])
        width.setdefault(label, []).append(interval[1] - interval[0])

    for seed in range(n_sets):
        for sem in ("linear-gaussian", "lingam"):
            data = pc.simulate(n_variables=10, degree=2, sem=sem, n_samples=300, random_state=seed)
            method = pc.baselines.EqVar if sem == "linear-gaussian" else pc.baselines.DirectLiNGAM
            model = method(pruning="bic", verbose=False).fit(data.data)
            confidence = model.bootstrap(data.data, n_resamples=resamples, random_state=seed, verbose=False)
            truth = path_effects(data.graph)
            for cause in data.graph.names:
                for effect in data.graph.descendants(cause):
                    true = float(truth.loc[cause, effect])
                    note(f"{sem}, true graph", data.graph.effect(cause, effect, data.data).interval, true)
                    note(f"{sem}, learned graph alone", model.graph_.effect(cause, effect).interval, true)
                    averaged = model.graph_.effect(cause, effect, confidence=confidence)
                    note(f"{sem}, learned, over bootstrap graphs", averaged.interval, true)
    return [(label, len(hits), float(np.mean(hits)), float(np.median(width[label]))) for label, hits in inside.items()]


def possible(n_classes: int) -> tuple[int, int, int, float]:
    """Classes whose possible effects hold every true effect, on exact moments; pairs, and sets of values per pair."""
    held, pairs, sizes = 0, 0, []
    for seed in range(n_classes):
        rng = np.random.default_rng(seed)
        d = 12
        weights = np.triu(rng.uniform(0.5, 2, (d, d)) * rng.choice([-1, 1], (d, d)) * (rng.random((d, d)) < 0.25), 1)
        reach = np.eye(d) + path_sums(weights)
        sample = Sample(1000, np.zeros(d), reach.T @ np.diag(rng.uniform(0.5, 2, d)) @ reach)
        graph = CausalGraph.from_matrix(weights)
        truth = path_sums(weights)
        found = {(i, j): graph.possible_effects(i, j, sample).values for i in range(d) for j in range(d) if i != j}
        held += all(min(abs(v - truth[pair]) for v in values) < 1e-6 for pair, values in found.items())
        pairs += len(found)
        sizes += [len(values) for values in found.values()]
    return held, n_classes, pairs, float(np.mean(sizes))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-sets", type=int, default=50)
    parser.add_argument("--classes", type=int, default=100)
    parser.add_argument("--resamples", type=int, default=40)
    given = parser.parse_args()
    print("| 95 % intervals of total effects, 10 variables, ER2, 300 rows | effects | covered | median width |")
    print("|---|---|---|---|")
    for label, count, share, width in coverage(given.data_sets, given.resamples):
        print(f"| {label} | {count} | {share:.3f} | {width:.3f} |")
    held, classes, pairs, size = possible(given.classes)
    print(f"\nPossible effects hold every true effect in {held} of {classes} classes")
    print(f"({pairs} pairs, {size:.2f} sets of causes each).")


if __name__ == "__main__":
    main()
