"""Are pairs with a hidden common cause told from the others, and are the probabilities right?

Run: python benchmarks/hidden_causes.py [--data-sets 60] [--calibrate]. Prints a Markdown table
(docs/results/answers/hidden_causes.md); --calibrate prints the constants of precede.hidden_causes.suspicion instead,
fitted on other seeds than the table's.
"""

from __future__ import annotations

import argparse
from itertools import pairwise

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

import precede as pc
from precede.graph import CausalGraph
from precede.hidden_causes.residual_dependence import dependence, residuals
from precede.hidden_causes.suspicion import evidence_from, hidden_causes

SEMS = ("linear-gaussian", "lingam", "gp-additive", "mlp")


def with_hidden(seed: int, sem: str, rows: int) -> tuple[CausalGraph, np.ndarray, np.ndarray]:
    """Sixteen variables of which up to three roots with two or more children are taken away: graph, pairs, values."""
    for attempt in range(100):
        made = pc.simulate(
            n_variables=16, degree=1, sem=sem, n_samples=rows, random_state=1000 * seed + attempt, standardize=True
        )
        edges = made.graph.edges
        hubs = np.flatnonzero(~edges.any(axis=0) & (edges.sum(axis=1) >= 2))[:3]
        if len(hubs):
            break
    seen = np.setdiff1d(np.arange(16), hubs)
    shared = np.zeros((16, 16), dtype=bool)
    for hub in hubs:
        shared |= np.outer(edges[hub], edges[hub])
    np.fill_diagonal(shared, False)
    graph = CausalGraph.from_matrix(edges[np.ix_(seen, seen)])
    return graph, shared[np.ix_(seen, seen)], made.data.to_numpy()[:, seen]


def pairs(seeds: range, sem: str, rows: int, learned: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Log evidence, probability, label and whether an edge joins, over all pairs of all data sets."""
    parts = []
    for seed in seeds:
        graph, shared, values = with_hidden(seed, sem, rows)
        if learned:
            method = pc.baselines.DirectLiNGAM if sem in ("linear-gaussian", "lingam") else pc.baselines.CAM
            graph = method(verbose=False).fit(values).graph_
        upper = np.triu_indices(graph.n_variables, 1)
        p_values = dependence(residuals(values, graph.edges), graph.edges)
        found = hidden_causes(graph, values).probability.to_numpy()
        joined = graph.edges | graph.edges.T
        parts.append((evidence_from(p_values)[upper], found[upper], shared[upper], joined[upper]))
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))  # type: ignore[return-value]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-sets", type=int, default=60)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--calibrate", action="store_true")
    given = parser.parse_args()
    if given.calibrate:
        columns = [
            pairs(range(500, 500 + given.data_sets), sem, rows, False) for sem in SEMS for rows in (300, given.rows)
        ]
        strength, _, label, joined = (np.concatenate(column) for column in zip(*columns, strict=True))
        for name, chosen in (("apart", ~joined), ("joined", joined)):
            fit = LogisticRegression(C=1e6).fit(strength[chosen, None], label[chosen])
            print(
                name,
                round(float(fit.intercept_[0]), 3),
                round(float(fit.coef_[0, 0]), 3),
                f"{label[chosen].mean():.3f}",
            )
        return
    print("| data: 13-15 of 16 variables, ER1 | pairs | hidden | AUROC | without an edge | mean probability |")
    print("|---|---|---|---|---|---|")
    pooled: list[tuple[np.ndarray, np.ndarray]] = []
    for learned in (False, True):
        for sem in SEMS:
            _, found, label, joined = pairs(range(given.data_sets), sem, given.rows, learned)
            if not learned:
                pooled.append((found, label))
            apart = roc_auc_score(label[~joined], found[~joined])
            which = "learned graph" if learned else "true graph"
            print(
                f"| {sem}, {which} | {len(label)} | {label.mean():.2f} | {roc_auc_score(label, found):.3f} | "
                f"{apart:.3f} | {found[label].mean():.2f} / {found[~label].mean():.2f} |",
                flush=True,
            )
    reliability(*(np.concatenate(column) for column in zip(*pooled, strict=True)))


def reliability(found: np.ndarray, label: np.ndarray) -> None:
    """Of the pairs given a probability in each range, the share that do share a hidden cause; the true graphs."""
    print("\n| probability, true graphs | pairs | mean probability | share with a hidden cause |")
    print("|---|---|---|---|")
    for low, high in pairwise((0.0, 0.02, 0.1, 0.3, 0.7, 0.95, 1.0)):
        inside = (found >= low) & ((found < high) | (high == 1.0))
        if inside.any():
            print(f"| {low:g} to {high:g} | {inside.sum()} | {found[inside].mean():.2f} | {label[inside].mean():.2f} |")


if __name__ == "__main__":
    main()
