"""Experiments needed until every direction is settled: ours, and variables set at random.

    python benchmarks/next_experiment.py --graphs 50

Each experiment sets one variable of a known graph, whose edges are then told. "Any" draws from all variables that were
not set yet, "open" from those that still have an open edge.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np

import precede as pc
from precede.effects import next_steps


def experiments_needed(graph: pc.CausalGraph, choice: str, rng: np.random.Generator) -> int:
    """How many variables are set before nothing is open."""
    told = np.zeros_like(graph.edges)
    unset = list(range(graph.n_variables))
    for count in range(graph.n_variables):
        now = replace(graph, fixed_directions=told)
        loose = (now.pattern != 0) & (now.pattern.T != 0)  # transposed: open both ways
        if not loose.any():
            return count
        if choice == "ours":
            at = graph.position(next_steps(now).experiments[0].variable)
        else:
            at = int(rng.choice(unset if choice == "any" else np.flatnonzero(loose.any(axis=0))))
        unset.remove(at)
        told = told | _edges_at(graph.edges, at)
    return graph.n_variables


def _edges_at(edges: np.ndarray, k: int) -> np.ndarray:
    own = np.zeros_like(edges)
    own[k], own[:, k] = edges[k], edges[:, k]
    return own


def main() -> None:
    """Print the mean number of experiments by kind of graph."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=50)
    graphs = parser.parse_args().graphs
    print(f"{'graphs':24}{'ours':>8}{'open':>8}{'any':>8}")
    for kind, degree, d in (("er", 1, 20), ("er", 2, 20), ("sf", 1, 20), ("er", 1, 50)):
        needed = {choice: [] for choice in ("ours", "open", "any")}
        for seed in range(graphs):
            graph = pc.simulate(graph=kind, n_variables=d, degree=degree, n_samples=2, random_state=seed).graph
            for choice, counts in needed.items():
                counts.append(experiments_needed(graph, choice, np.random.default_rng(seed)))
        means = "".join(f"{np.mean(counts):8.2f}" for counts in needed.values())
        print(f"{f'{kind.upper()}{degree}, {d} variables':24}{means}", flush=True)


if __name__ == "__main__":
    main()
