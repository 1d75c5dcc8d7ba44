"""Does the permutation test reject random graphs, and leave true ones alone?

Run: python benchmarks/falsification.py [--graphs 100] [--rows 500]. Prints a Markdown table
(docs/results/answers/falsification.md).
"""

from __future__ import annotations

import argparse

import numpy as np

import precede as pc
from precede.evidence.falsification import permutation_test
from precede.graph import CausalGraph

SEMS = ("linear-gaussian", "lingam", "gp-additive", "gp", "mlp")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=100, help="data sets for each kind of data")
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--variables", type=int, default=10)
    given = parser.parse_args()
    print(
        f"| data: {given.variables} variables, ER2, {given.rows} rows | true graph rejected | random graph rejected |"
    )
    print("|---|---|---|")
    for sem in SEMS:
        true, random = [], []
        for seed in range(given.graphs):
            made = pc.simulate(n_variables=given.variables, degree=2, sem=sem, n_samples=given.rows, random_state=seed)
            other = pc.simulate(n_variables=given.variables, degree=2, n_samples=20, random_state=10_000 + seed).graph
            guess = CausalGraph.from_matrix(other.edges, names=made.graph.names)
            true.append(permutation_test(made.graph, made.data, random_state=seed).falsified)
            random.append(permutation_test(guess, made.data, random_state=seed).falsified)
        print(f"| {sem}, {given.graphs} data sets | {np.mean(true):.2f} | {np.mean(random):.2f} |", flush=True)


if __name__ == "__main__":
    main()
