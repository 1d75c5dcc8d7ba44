"""Does a stated 80 % come true 80 % of the time, and do 95 % intervals of effects cover? The default, after it chose.

    OMP_NUM_THREADS=1 python benchmarks/calibration.py [--seeds 24] [--resamples 20] [--jobs 1] [--kinds linear gp ...]

Twelve kinds of simulated data that no option was chosen on: 8 variables, 12 edges (8 if scale-free), 300 rows. Prints
Markdown tables: of the statements "i causes j" (or "i and j are joined", where the direction is left open) that were
given a confidence, the share that is true, by kind and bin; and the share of total effects, of every pair with a
directed path in the true graph and as many without, that lies in the default's 95 % interval or range, with and without
the bootstrap, and in that of the true graph. Where mechanisms are not linear, the effect is the coefficient on the true
graph's adjustment set over 50,000 rows (3,000 for Gaussian processes). ``--kinds other`` draws tables of other sizes,
densities and mechanisms, for whoever chooses something by these figures. ``--raw FILE`` keeps every statement.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

import precede as pc
from precede.data.datasets import Dataset
from precede.errors import PrecedeError

VARIABLES, ROWS, MANY, FEWER = 8, 300, 50_000, 3_000
KINDS: dict[str, dict[str, object]] = {
    "linear": {"sem": "linear-gaussian", "noise": "unequal"},
    "linear, weak": {"sem": "linear-gaussian", "noise": "unequal", "weight_range": (0.1, 0.6)},
    "laplace": {"sem": "lingam", "noise": "laplace"},
    "exponential": {"sem": "lingam", "noise": "exponential"},
    "scale-free, uniform": {"sem": "lingam", "noise": "uniform", "graph": "sf", "degree": 1},
    "curves": {"sem": "gp-additive"},
    "networks": {"sem": "mlp"},
    "quadratic": {"sem": "quadratic"},
    "uneven noise": {"sem": "heteroscedastic"},
    "five levels": {"sem": "lingam", "noise": "laplace", "discretize": 5},
    "mixed columns": {"sem": "mixed"},
    "10 % missing": {"sem": "linear-gaussian", "noise": "unequal"},
}
BINS = np.array([0.0, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0 + 1e-9])
SOURCES = ("quick", "edges by the policy", "bootstrap", "policy")
Statement = dict[str, object]
"""Who says it, the confidence (``stated``), whether it is ``true``, and what else is known."""


def draw(kind: str, seed: int) -> tuple[Dataset, Dataset | None]:
    """A table, and many more rows of the same structure."""
    if kind == "other":
        return other(seed), None
    settings = {"graph": "er", "degree": 1.5} | KINDS[kind]
    many = FEWER if str(settings["sem"]).startswith("gp") else MANY
    whole = pc.simulate(
        n_variables=VARIABLES, n_samples=ROWS + many, standardize=True, random_state=10_000 + seed,
        **settings,
    )  # fmt: skip
    few = whole.data.iloc[:ROWS].reset_index(drop=True)
    if kind == "10 % missing":
        few = few.mask(np.random.default_rng(seed).random(few.shape) < 0.1)
    return Dataset(few, whole.graph), Dataset(whole.data.iloc[ROWS:], whole.graph)


def other(seed: int) -> Dataset:
    """A table that is not of the twelve kinds: sizes, densities, weights and mechanisms at random."""
    rng = np.random.default_rng([seed, 7])
    sem = str(rng.choice(["linear-gaussian", "lingam", "lingam", "gp", "post-nonlinear", "steps", "multiplicative"]))
    linear = sem in ("linear-gaussian", "lingam")
    shape = str(rng.choice(["student", "gumbel", "bimodal"])) if sem == "lingam" else "unequal"
    d = int(rng.integers(4, 16))
    low = float(rng.choice([0.1, 0.3, 0.5]))
    weights = {"weight_range": (low, float(rng.choice([0.8, 2.0])))} if linear else {}
    return pc.simulate(
        graph=str(rng.choice(["er", "ba"])), n_variables=d, degree=int(rng.integers(1, 3)), sem=sem, noise=shape,
        n_samples=int(rng.choice([100, 200, 500, 1000])), standardize=True, random_state=20_000 + seed,
        discretize=int(rng.integers(4, 9)) if linear and rng.random() < 0.2 else None, **weights,
    )  # fmt: skip


def one(kind: str, seed: int, resamples: int) -> tuple[str, str, list[Statement], list[tuple[str, bool, float]]]:
    """Statements and intervals of one data set."""
    made, many = draw(kind, seed)
    model = pc.CORL(random_state=seed, verbose=False).fit(made.data)
    graph, truth, known = model.graph_, made.graph.edges, model.diagnostics_
    names, score = list(graph.names), str(known["score"])
    by_policy = {(names.index(one["cause"]), names.index(one["effect"])): one["probability"]
                 for one in known.get("policy", ())}  # fmt: skip
    said: list[Statement] = [
        {"who": "policy", "stated": probability, "true": bool(truth[edge])} for edge, probability in by_policy.items()
    ]
    for edge in known.edges:
        i, j = edge.cause, edge.effect
        true = bool(truth[i, j] or (truth[j, i] and not edge.directed))
        who = "quick" if edge.confidence is not None else "edges by the policy"
        stated = edge.confidence if edge.confidence is not None else edge.policy_probability
        said.append({"who": who, "stated": stated, "true": true, "directed": edge.directed,
                     "connected": edge.connected, "source": edge.source})  # fmt: skip
    confidence = None
    if resamples:
        confidence = model.bootstrap(made.data, resamples, random_state=seed, verbose=False)
        shares = confidence.edge_probability.to_numpy()
        said += [
            {"who": "bootstrap", "stated": float(shares[i, j]), "true": bool(truth[i, j]), "kept": bool(
                graph.edges[i, j]), "joined": float(shares[i, j] + shares[j, i])}
            for i, j in np.argwhere(shares > 0)
        ]  # fmt: skip
    shape = {"kind": kind, "seed": seed, "score": score, "variables": len(names), "rows": len(made.data)}
    said = [statement | shape for statement in said]
    return kind, score, said, [] if many is None else intervals(graph, made, many, confidence, seed)


def intervals(
    graph: pc.CausalGraph, made: Dataset, many: Dataset, confidence: object, seed: int
) -> list[tuple[str, bool, float]]:
    """(who, covered, width) for pairs of numbers with an effect, and as many without."""
    names = [name for name in graph.names if pd.api.types.is_numeric_dtype(many.data[name])]
    pairs = [(a, b) for a in names for b in names if a != b]
    real = [(a, b) for a, b in pairs if b in made.graph.descendants(a)]
    rest = [pair for pair in pairs if pair not in real]
    chosen = np.random.default_rng(seed).permutation(len(rest))[: len(real)]
    found = []
    for label, asked in (("effect", real), ("none", [rest[k] for k in chosen])):
        for a, b in asked:
            true = made.graph.effect(a, b, many.data).value if label == "effect" else 0.0
            for who, of, data, extra in (
                ("true graph", made.graph, made.data, None),
                ("default", graph, None, None),
                ("bootstrap", graph, None, confidence),
            ):
                if who == "bootstrap" and extra is None:
                    continue
                try:
                    low, high = of.effect(a, b, data, confidence=extra).interval  # type: ignore[arg-type]
                except PrecedeError:
                    low, high = -np.inf, np.inf  # refused
                found.append((f"{who}, {label}", bool(low - 1e-12 <= true <= high + 1e-12), float(high - low)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=24)
    parser.add_argument("--first", type=int, default=0, help="seed of the first table: others to choose by")
    parser.add_argument("--resamples", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=[*KINDS, "other"])
    parser.add_argument("--raw", type=Path, help="file for every statement, a line of JSON each")
    given = parser.parse_args()
    start = time.perf_counter()
    seeds = range(given.first, given.first + given.seeds)
    tasks = [delayed(one)(kind, seed, given.resamples) for kind in given.kinds for seed in seeds]
    said: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    spans: dict[str, dict[str, list[tuple[bool, float]]]] = defaultdict(lambda: defaultdict(list))
    scores: dict[str, list[str]] = defaultdict(list)
    for kind, score, statements, found in Parallel(given.jobs, return_as="generator")(tasks):
        scores[kind].append(score)
        for statement in statements:
            for group in (kind, "all"):
                said[str(statement["who"]), group].append((statement["stated"], statement["true"]))
        if given.raw is not None:
            with given.raw.open("a") as file:
                file.writelines(json.dumps(statement) + "\n" for statement in statements)
        for who, covered, width in found:
            spans[kind][who].append((covered, width))
    heads = [f"{low:g}–{min(high, 1):g}" for low, high in pairwise(BINS)]
    for who in SOURCES:
        print(f"\n| {who}: stated / true (count) | {' | '.join(heads)} |\n|{'---|' * (len(heads) + 1)}")
        for kind in ("all", *given.kinds):
            if (who, kind) in said:
                print(f"| {kind} | {' | '.join(reliability(np.array(said[who, kind])))} |")
    columns = [f"{who}, {label}" for who in ("true graph", "default", "bootstrap") for label in ("effect", "none")]
    print(f"\n| covered (median width) | {' | '.join(columns)} | score |\n|{'---|' * (len(columns) + 2)}")
    for kind in given.kinds:
        cells = []
        for column in columns:
            values = spans[kind].get(column)
            cells.append("" if not values else f"{np.mean([v for v, _ in values]):.3f} "
                         f"({np.median([w for _, w in values]):.2f})")  # fmt: skip
        counted = ", ".join(f"{scores[kind].count(name)} {name}" for name in sorted(set(scores[kind])))
        print(f"| {kind} | {' | '.join(cells)} | {counted} |")
    print(f"\n{given.seeds} data sets of each kind, {(time.perf_counter() - start) / 60:.1f} min, {given.jobs} jobs")


def reliability(pairs: np.ndarray) -> list[str]:
    """Mean confidence and share of true statements in each bin."""
    stated, true = pairs.T
    cells = []
    for low, high in pairwise(BINS):
        inside = (stated >= low) & (stated < high)
        text = f"{stated[inside].mean():.2f} / {true[inside].mean():.2f} ({inside.sum()})" if inside.any() else ""
        cells.append(text)
    return cells


if __name__ == "__main__":
    main()
