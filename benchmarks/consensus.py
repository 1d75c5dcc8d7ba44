"""Is the consensus of five methods as good as its middle member, and when better than the best?

Run: python benchmarks/consensus.py [--data-sets 10] [--first-seed 0]. Prints a Markdown table
(docs/results/answers/consensus.md). The setting was chosen on seeds 0 to 9; others are a fresh test of it.
"""

from __future__ import annotations

import argparse

import numpy as np

import precede as pc

MEMBERS = {
    "direct-lingam": {"pruning": "bic"},
    "ica-lingam": {"pruning": "bic"},
    "notears": {},
    "sort-regress": {"pruning": "bic"},
    "l1obs": {},
}
"""Five that each err in their own way on few rows; none is built for exactly these data."""

ROWS, VARIABLES = 100, 15


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-sets", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    given = parser.parse_args()
    print(f"| LiNGAM, {VARIABLES} variables, ER2, {ROWS} rows | {' | '.join(MEMBERS)} | median | best | consensus |")
    print("|---" * (len(MEMBERS) + 4) + "|")
    at_least, better = 0, 0
    for seed in range(given.first_seed, given.first_seed + given.data_sets):
        data = pc.simulate(n_variables=VARIABLES, degree=2, sem="lingam", n_samples=ROWS, random_state=seed)
        found = pc.compare(data.data, MEMBERS, random_state=seed, verbose=False)
        members = [pc.evaluate(graph, data.graph).f1 for graph in found.graphs.values()]
        ours = pc.evaluate(found.consensus, data.graph).f1
        middle, best = float(np.median(members)), max(members)
        at_least += ours >= middle
        better += ours > best
        figures = " | ".join(f"{value:.2f}" for value in (*members, middle, best, ours))
        print(f"| seed {seed} | {figures} |", flush=True)
    print(f"\nF1 of the consensus: at least the median member's on {at_least} of {given.data_sets} data sets,")
    print(f"better than the best member's on {better}.")


if __name__ == "__main__":
    main()
