"""Do the intervals of effects cover the truth, and do possible effects hold it?

Run: python benchmarks/effects.py [--data-sets 50] [--level-sets 200] [--classes 100] [--resamples 40].
Prints a Markdown table (docs/results/answers/effects.md); about three minutes on one core.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

import precede as pc
from precede.effects import path_effects
from precede.effects.linear import path_sums
from precede.graph import CausalGraph
from precede.graph.parts import Sample


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


def of_levels(n_sets: int) -> list[tuple[str, int, float, float]]:
    """The same for categories, 0/1 outcomes, several causes at once and curves, on the true graph of 300 rows."""
    names = ["site", "age", "drug", "dose", "score", "bad", "ward"]
    edges = np.zeros((7, 7))
    edges[[0, 1, 1, 0, 1, 2, 3, 0, 1, 2, 1, 2], [2, 2, 3, 4, 4, 4, 4, 5, 5, 5, 6, 6]] = 1
    graph = CausalGraph.from_matrix(edges, names=names)
    hits: dict[str, list[bool]] = {}
    widths: dict[str, list[float]] = {}

    def note(label: str, interval: tuple[float, float], truth: float) -> None:
        hits.setdefault(label, []).append(interval[0] <= truth <= interval[1])
        widths.setdefault(label, []).append(interval[1] - interval[0])

    for seed in range(n_sets):
        rng = np.random.default_rng(seed)
        site, age = rng.integers(0, 3, 300), rng.uniform(0, 1, 300)
        drug = (rng.random(300)[:, None] > np.cumsum([0.5 - 0.3 * age, 0.3 + 0 * age], axis=0).T).sum(axis=1)
        dose = age + rng.normal(size=300)
        score = 2 * age + 1.0 * (drug == 1) - 0.5 * (drug == 2) + 0.7 * (site == 2) + np.sin(dose)
        score += (0.5 + age) * rng.normal(size=300)
        risk = 0.15 + 0.2 * age + 0.3 * (drug == 1) + 0.1 * (site == 1)
        bad = (rng.random(300) < risk).astype(int)
        home, icu = 0.5 - 0.2 * age - 0.1 * (drug == 1), 0.1 + 0.1 * age + 0.25 * (drug == 1)
        ward = (rng.random(300)[:, None] > np.cumsum([home, icu], axis=0).T).sum(axis=1)
        words = {"site": np.array(["n", "s", "w"])[site], "drug": np.array(["A", "B", "C"])[drug]}
        words["ward"] = np.array(["home", "icu", "other"])[ward]
        frame = pd.DataFrame({**words, "age": age, "dose": dose, "score": score, "bad": bad})
        note("levels, uneven noise", graph.effect("drug", "score", frame, compared=("A", "B")).interval, 1.0)
        found = graph.effect("drug", "bad", frame, compared=("A", "B"))
        base = 0.15 + 0.1 + 0.1 / 3
        note("difference of risks", found.interval, 0.3)
        if found.ratio_interval is not None:
            note("ratio of risks", found.ratio_interval, (base + 0.3) / base)
        for level, truth in (("home", -0.1), ("icu", 0.25), ("other", -0.15)):
            found = graph.effect("drug", "ward", frame, compared=("A", "B"), outcome_level=level)
            note("risk of a level of three", found.interval, truth)
        aging = graph.effect("age", "ward", frame, outcome_level="icu", together=["drug"])
        note("risk of a level of three, of a number", aging.interval, 0.1)
        joint = graph.effect("age", "bad", frame, together=["drug"])
        note("one of two causes set at once", joint.interval, 0.2)
        curve = graph.effect_curve("dose", "score", frame)
        mean = np.sin(dose).mean()
        for at in (4, 12, 20, 28, 36):
            note("band of a curve, five points", (curve.low[at], curve.high[at]), np.sin(curve.points[at]) - mean)
    return [(label, len(own), float(np.mean(own)), float(np.median(widths[label]))) for label, own in hits.items()]


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
    parser.add_argument("--level-sets", type=int, default=200)
    parser.add_argument("--classes", type=int, default=100)
    parser.add_argument("--resamples", type=int, default=40)
    given = parser.parse_args()
    print("| 95 % intervals of total effects, 10 variables, ER2, 300 rows | effects | covered | median width |")
    print("|---|---|---|---|")
    for label, count, share, width in coverage(given.data_sets, given.resamples):
        print(f"| {label} | {count} | {share:.3f} | {width:.3f} |")
    print(
        "\n| levels, risks, curves: 95 % intervals on the true graph, 300 rows | intervals | covered | median width |"
    )
    print("|---|---|---|---|")
    for label, count, share, width in of_levels(given.level_sets):
        print(f"| {label} | {count} | {share:.3f} | {width:.3f} |")
    held, classes, pairs, size = possible(given.classes)
    print(f"\nPossible effects hold every true effect in {held} of {classes} classes")
    print(f"({pairs} pairs, {size:.2f} sets of causes each).")


if __name__ == "__main__":
    main()
