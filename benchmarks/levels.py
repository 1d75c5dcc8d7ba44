"""Tables of levels: CPDAG SHD of ``score="auto"`` beside every score that it chooses among.

    python benchmarks/levels.py [--kinds main tables] [--sizes 10] [--rows 500 2000] [--seeds 12] [--first 0]

``main``: the effects of a column's parents on the log-odds of its levels add up. ``tables``: every combination of
parents' levels has probabilities of its own, drawn from a Dirichlet distribution. ER graphs, two edges a column, two to
four levels.
"""

from __future__ import annotations

import argparse
import itertools

import numpy as np
import pandas as pd
from scipy.special import softmax

import precede as pc

SCORES = ("discrete-bic", "bdeu", "degenerate-gaussian", "auto")
EFFECT, CONCENTRATION = 1.0, 0.5
"""Deviation of the effects on log-odds; and of the Dirichlet distribution for one level."""


def draw(kind: str, size: int, n_rows: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    graph = pc.simulate("er", size, 2, "linear-gaussian", 10, random_state=seed).graph
    truth = graph.adjacency.to_numpy().astype(bool)
    widths, codes = rng.integers(2, 5, size), np.zeros((n_rows, size), dtype=int)
    for column in (list(graph.names).index(name) for name in graph.order):
        parents, width = np.flatnonzero(truth[:, column]), widths[column]
        if kind == "main":
            odds = [rng.normal(scale=EFFECT, size=(widths[parent], width)) for parent in parents]
            logits = rng.normal(scale=0.5, size=width) + sum(
                effect[codes[:, parent]] for effect, parent in zip(odds, parents, strict=True)
            )
            chances = softmax(np.broadcast_to(logits, (n_rows, width)), axis=1)
        else:
            table = rng.dirichlet(np.full(width, CONCENTRATION), size=tuple(widths[parents]))
            chances = np.broadcast_to(table[tuple(codes[:, parents].T)], (n_rows, width))
        codes[:, column] = (rng.random((n_rows, 1)) > np.cumsum(chances, axis=1)[:, :-1]).sum(axis=1)
    columns = {f"v{k}": [f"level {code}" for code in codes[:, k]] for k in range(size)}
    return pd.DataFrame(columns), truth


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="*", default=["main", "tables"])
    parser.add_argument("--sizes", type=int, nargs="*", default=[10])
    parser.add_argument("--rows", type=int, nargs="*", default=[500, 2000])
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    print("CPDAG SHD, mean of", options.seeds, "tables\nkind    columns  rows ", *(f"{name:>20}" for name in SCORES))
    for kind, size, n_rows in itertools.product(options.kinds, options.sizes, options.rows):
        distances = []
        for seed in range(options.first, options.first + options.seeds):
            data, truth = draw(kind, size, n_rows, seed)
            data = data.loc[:, data.nunique() > 1]
            kept = [int(name[1:]) for name in data]
            fits = [pc.CORL(score=name, random_state=0, verbose=False, diagnose=False).fit(data) for name in SCORES]
            graph = pd.DataFrame(truth[np.ix_(kept, kept)].astype(int), list(data), list(data))
            distances.append([pc.evaluate(fit.graph_, graph).cpdag_shd for fit in fits])
        print(f"{kind:7} {size:7} {n_rows:5} ", *(f"{mean:20.2f}" for mean in np.mean(distances, axis=0)), flush=True)


if __name__ == "__main__":
    main()
