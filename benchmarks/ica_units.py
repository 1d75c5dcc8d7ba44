"""In which units does ICA-LiNGAM find the order: the data's, standardized ones, or those of its own errors?

Run: python benchmarks/ica_units.py [--data-sets 12] [--first-seed 300]. Prints a Markdown table of mean order TPR
(docs/results/answers/consensus.md). The simulated data have noise of one size, so that their own units do mean
something; most data have not.
"""

from __future__ import annotations

import argparse

import numpy as np

import precede as pc
from precede.baselines import ICALiNGAM
from precede.metrics import order_tpr

SETTINGS = ((100, 15, 2), (300, 15, 2), (1000, 10, 4), (1000, 30, 2), (2000, 30, 4))
"""Rows, variables, edges a variable."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-sets", type=int, default=12)
    parser.add_argument("--first-seed", type=int, default=300)
    given = parser.parse_args()
    print("| rows | variables | graph | the data's units | standardized units | units of errors (default) |")
    print("|---|---|---|---|---|---|")
    for rows, variables, degree in SETTINGS:
        found = []
        for seed in range(given.first_seed, given.first_seed + given.data_sets):
            made = pc.simulate("er", variables, degree, "lingam", rows, random_state=seed)
            scaled = (made.data - made.data.mean()) / made.data.std(ddof=0)
            found.append([])
            for data, standardize in ((made.data, False), (scaled, False), (made.data, True)):
                model = ICALiNGAM(standardize=standardize, random_state=0, verbose=False)
                model.diagnose = False
                found[-1].append(order_tpr(model.fit(data).graph_.positions, made.graph.edges))
        means = " | ".join(f"{value:.2f}" for value in np.mean(found, axis=0))
        print(f"| {rows} | {variables} | ER{degree} | {means} |", flush=True)


if __name__ == "__main__":
    main()
