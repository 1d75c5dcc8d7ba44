"""Are pairs with a hidden common cause told from the others, and are the probabilities right?

Run: python benchmarks/hidden_causes.py [--data-sets 25] [--first-seed 25] [--rows 1000]. Prints a Markdown table
(docs/results/answers/hidden_causes.md); --calibrate --data-sets 40 prints the constants of
precede.hidden_causes.suspicion instead, fitted on other seeds than the table's; --information prints how much the rows
say about the hidden causes at all. The signs were chosen with a look at seeds 0 to 24.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, fields
from itertools import combinations, pairwise

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

import precede as pc
from precede.graph import CausalGraph
from precede.hidden_causes.residual_dependence import dependence, residuals
from precede.hidden_causes.suspicion import SUSPECT, hidden_causes, signs
from precede.pruning.splines import spline_basis

CURVE_BASIS, RIDGE = 10, 3.0
"""Of the regressions that see the hidden cause: basis functions of a curve, and penalty."""

SEMS = ("linear-gaussian", "lingam", "gp-additive", "mlp")


def whole(seed: int, sem: str, rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Edges and values of sixteen variables, and up to three roots with two or more children among them."""
    for attempt in range(100):
        made = pc.simulate(
            n_variables=16, degree=1, sem=sem, n_samples=rows, random_state=1000 * seed + attempt, standardize=True
        )
        edges = made.graph.edges
        hubs = np.flatnonzero(~edges.any(axis=0) & (edges.sum(axis=1) >= 2))[:3]
        if len(hubs):
            break
    return edges, made.data.to_numpy(), hubs


def with_hidden(seed: int, sem: str, rows: int) -> tuple[CausalGraph, np.ndarray, np.ndarray]:
    """Sixteen variables of which such roots are taken away: graph, pairs that share one, values."""
    edges, values, hubs = whole(seed, sem, rows)
    seen = np.setdiff1d(np.arange(16), hubs)
    shared = np.zeros((16, 16), dtype=bool)
    for hub in hubs:
        shared |= np.outer(edges[hub], edges[hub])
    np.fill_diagonal(shared, False)
    graph = CausalGraph.from_matrix(edges[np.ix_(seen, seen)])
    return graph, shared[np.ix_(seen, seen)], values[:, seen]


def without_hidden(seed: int, sem: str, rows: int) -> tuple[CausalGraph, np.ndarray, np.ndarray]:
    """Fourteen variables, and nothing taken away."""
    made = pc.simulate(n_variables=14, degree=1, sem=sem, n_samples=rows, random_state=1000 * seed, standardize=True)
    return made.graph, np.zeros((14, 14), dtype=bool), made.data.to_numpy()


def learned_from(values: np.ndarray, sem: str) -> CausalGraph:
    """By a method that is made for such data."""
    model = (pc.baselines.DirectLiNGAM if sem in ("linear-gaussian", "lingam") else pc.baselines.CAM)(verbose=False)
    model.diagnose = False
    return model.fit(values).graph_


@dataclass(frozen=True)
class Pairs:
    """All pairs of some data sets: signs [n, 6], probability, whether they share a hidden cause, and an edge."""

    signs: np.ndarray
    found: np.ndarray
    label: np.ndarray
    joined: np.ndarray

    @classmethod
    def of(cls, parts: list[Pairs]) -> Pairs:
        return cls(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)))


def pairs(seeds: range, sem: str, rows: int, learned: bool, hidden: bool = True) -> Pairs:
    """Of data sets with hidden causes, or without; given the true graphs or learned ones."""
    parts = []
    for seed in seeds:
        graph, shared, values = (with_hidden if hidden else without_hidden)(seed, sem, rows)
        graph = learned_from(values, sem) if learned else graph
        upper = np.triu_indices(graph.n_variables, 1)
        p_values = dependence(residuals(values, graph.edges), graph.edges)
        told = signs(values, graph.edges, p_values)[:, *upper].T
        found = hidden_causes(graph, values).probability.to_numpy()
        joined = graph.edges | graph.edges.T
        parts.append(Pairs(told, found[upper], shared[upper], joined[upper]))
    return Pairs.of(parts)


def calibrate(data_sets: int) -> None:
    """Print the constants, fitted to learned graphs; a third of the data sets have no hidden causes."""
    half = data_sets // 2
    clean = {300: range(600, 600 + half), 1000: range(620, 620 + half)}
    parts = [pairs(range(500, 500 + data_sets), sem, rows, learned=True) for sem in SEMS for rows in clean]
    parts += [pairs(clean[rows], sem, rows, learned=True, hidden=False) for sem in SEMS for rows in clean]
    known = Pairs.of(parts)
    for name, chosen in (("apart", ~known.joined), ("joined", known.joined)):
        fit = LogisticRegression(C=10.0, max_iter=5000).fit(known.signs[chosen], known.label[chosen])
        numbers = ", ".join(f"{value:.3f}" for value in (*fit.intercept_, *fit.coef_[0]))
        print(f'    "{name}": ({numbers}),  # {known.label[chosen].mean():.3f} of {chosen.sum()} pairs', flush=True)


def information(seeds: range, sem: str, rows: int) -> np.ndarray:
    """Nats by which all rows speak for each hidden cause, to one who knows the graph, the curves and the noise.

    The rest of a child given its other parents is a curve of the hidden cause and noise. The expected log likelihood
    ratio of two such rests being dependent is taken with the curves from a regression that sees the hidden cause.
    """
    found = []
    for seed in seeds:
        edges, values, hubs = whole(seed, sem, rows)
        for hub in hubs:
            densities = []
            for child in np.flatnonzero(edges[hub]):
                parents = np.flatnonzero(edges[:, child])
                blocks = [spline_basis(values[:, i], CURVE_BASIS).columns for i in parents]
                design, y = np.hstack(blocks), values[:, child] - values[:, child].mean()
                weights = np.linalg.solve(design.T @ design + RIDGE * np.eye(design.shape[1]), design.T @ y)
                parts = np.split(design * weights, np.cumsum([block.shape[1] for block in blocks])[:-1], axis=1)
                curve = parts[int(np.flatnonzero(parents == hub)[0])].sum(axis=1)
                noise = y - design @ weights
                density = np.exp(-0.5 * ((curve + noise)[:, None] / noise.std() - curve / noise.std()) ** 2)
                np.fill_diagonal(density, 0.0)  # a row does not know itself
                densities.append(density)
            for a, b in combinations(densities, 2):
                joint, apart = (a * b).mean(axis=1), a.mean(axis=1) * b.mean(axis=1)
                found.append(np.log(np.maximum(joint, 1e-300) / np.maximum(apart, 1e-300)).sum())
    return np.array(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-sets", type=int, default=25)
    parser.add_argument("--first-seed", type=int, default=25)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--calibrate", action="store_true")
    parser.add_argument("--information", action="store_true")
    given = parser.parse_args()
    if given.calibrate:
        calibrate(given.data_sets)
        return
    seeds = range(given.first_seed, given.first_seed + given.data_sets)
    if given.information:
        print(f"| data, {given.rows} rows | hidden pairs | median nats | below 2 nats | below 4 | below 8 |")
        print("|---|---|---|---|---|---|")
        for sem in SEMS:
            nats = information(seeds, sem, given.rows)
            shares = " | ".join(f"{np.mean(nats < least):.2f}" for least in (2, 4, 8))
            print(f"| {sem} | {len(nats)} | {np.median(nats):.1f} | {shares} |", flush=True)
        return
    print("| data: 13-15 of 16 variables, ER1 | pairs | hidden | AUROC | without an edge | mean probability | named |")
    print("|---|---|---|---|---|---|---|")
    pooled: list[Pairs] = []
    for learned in (False, True):
        for sem in SEMS:
            seen = pairs(seeds, sem, given.rows, learned)
            pooled += [seen] if learned else []
            label, found, apart = seen.label, seen.found, ~seen.joined
            which, named = "learned graph" if learned else "true graph", found >= SUSPECT
            areas = f"{roc_auc_score(label, found):.3f} | {roc_auc_score(label[apart], found[apart]):.3f}"
            means = f"{found[label].mean():.2f} / {found[~label].mean():.2f}"
            share = f"{named[label].mean():.2f} / {named[~label].mean():.3f}"
            print(f"| {sem}, {which} | {len(label)} | {label.mean():.2f} | {areas} | {means} | {share} |", flush=True)
    clean = [pairs(seeds, sem, given.rows, True, hidden=False) for sem in SEMS]
    named = Pairs.of(clean).found >= SUSPECT
    print(f"\nOf {len(named)} pairs of data without hidden causes, given learned graphs, {named.mean():.2%} are named.")
    reliability(Pairs.of([*pooled, *clean]))


def reliability(seen: Pairs) -> None:
    """Of the pairs given a probability in each range, the share that do share a hidden cause."""
    print("\nLearned graphs, half of the data without hidden causes:\n")
    print("| probability | pairs | mean | share with a hidden cause |")
    print("|---|---|---|---|")
    for low, high in pairwise((0.0, 0.02, 0.1, 0.2, 1 / 3, 0.5, 1.0)):
        inside = (seen.found >= low) & ((seen.found < high) | (high == 1.0))
        if inside.any():
            shares = f"{seen.found[inside].mean():.2f} | {seen.label[inside].mean():.2f}"
            print(f"| {low:.2g} to {high:.2g} | {inside.sum()} | {shares} |")


if __name__ == "__main__":
    main()
