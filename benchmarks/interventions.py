"""Interventions: SHD with half of the variables set once, beside observational data and the package gies.

    python benchmarks/interventions.py [--gies-python PATH] [--size 20] [--seeds 5]

Standardized ER2 linear Gaussian data; 2,000 observational rows, and 200 rows for each of half of the variables, set to
noise of variance one. ``--gies-python`` is the interpreter of an environment with gies.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import precede as pc
from precede.arrays import BoolArray, FloatArray
from precede.simulation import simulate

SACHS_ROWS = (853, 902, 911, 723, 810, 799, 848, 913, 707)
"""Cells of each condition, in the sequence of the file."""

GIES = """
import sys, numpy, gies
parts = numpy.load(sys.argv[1], allow_pickle=False)
names = [k for k in parts.files if k.startswith("rows")]
data = [parts[k] for k in names]
targets = [parts["set" + k[4:]].tolist() for k in names]
found, score = gies.fit_bic(data, targets)
numpy.save(sys.argv[2], found)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gies-python")
    parser.add_argument("--size", type=int, default=20)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--rows-each", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--sachs", action="store_true", help="the protein data instead: all conditions, and one")
    options = parser.parse_args()
    if options.sachs:
        sachs()
        return
    print(f"{'seed':>4} {'observational':>14} {'interventions':>14} {'gies':>6}   (SHD of the DAG or class)")
    rows = []
    for seed in range(options.seeds):
        rows.append(one(seed, options))
        print(f"{seed:4} {rows[-1][0]:14.1f} {rows[-1][1]:14.1f} {rows[-1][2]:6.1f}", flush=True)
    print("mean {:14.1f} {:14.1f} {:6.1f}".format(*np.mean(rows, axis=0)))


def sachs() -> None:
    """Sparse linear score on logarithms: observational rows, and all rows in four ways."""
    settings = {"score": "sparse-linear", "n_restarts": 50, "n_iterations": 0, "random_state": 0, "verbose": False}
    everything, truth = pc.load_sachs("all").data, pc.load_sachs().graph
    logs = np.log(everything.drop(columns="set"))
    # rows of a condition stand together, and the two stimuli and the two reagents on Akt are conditions of their own
    condition = pd.Series(np.repeat(np.arange(len(SACHS_ROWS)), SACHS_ROWS))
    switches = pd.get_dummies(condition, prefix="condition", drop_first=True, dtype=float)
    ways = {
        "observational rows": (logs.iloc[: SACHS_ROWS[0]], None, None),
        "all rows, targets ignored": (logs, None, None),
        "all rows, targets were set": (logs, everything["set"].tolist(), None),
        "all rows, conditions are roots": (pd.concat([logs, switches], axis=1), None, list(switches)),
        "all rows, conditions centered": (logs - logs.groupby(condition).transform("mean"), None, None),
    }
    for name, (rows, targets, roots) in ways.items():
        knowledge = None if roots is None else pc.Knowledge(roots=roots)
        model = pc.CORL(diagnose=False, knowledge=knowledge, **settings).fit(rows, interventions=targets)
        graph = model.graph_
        proteins = [graph.names.index(protein) for protein in truth.names]
        edges = graph.edges[np.ix_(proteins, proteins)]
        order = np.argsort(np.argsort(graph.positions)[proteins])  # of the proteins among themselves
        found = pc.evaluate(pc.CausalGraph.from_matrix(edges, order=order, names=truth.names), truth)
        print(f"{name:32} SHD {found.shd:3} order TPR {found.order_tpr:.2f} edges {found.n_edges}", flush=True)


def one(seed: int, options: argparse.Namespace) -> list[float]:
    rng = np.random.default_rng(seed)
    truth = simulate("er", options.size, 2, n_samples=10, random_state=seed).graph
    edges, weights = truth.edges, truth.weights.to_numpy()
    order = truth.positions
    chosen = rng.choice(options.size, size=options.size // 2, replace=False)
    scale = rows_of(weights, order, None, 20_000, np.random.default_rng(0), np.ones(options.size)).std(axis=0)
    parts = [rows_of(weights, order, None, options.rows, rng, scale)]
    parts += [rows_of(weights, order, int(k), options.rows_each, rng, scale) for k in chosen]
    frame = pd.DataFrame(np.concatenate(parts), columns=list(truth.names))
    what = [""] * options.rows + [truth.names[k] for k in chosen for _ in range(options.rows_each)]
    settings = {"n_restarts": 50, "n_iterations": 0, "random_state": 0, "verbose": False, "diagnose": False}
    plain = pc.CORL(score="sparse-linear", **settings).fit(frame.iloc[: options.rows])
    both = pc.CORL(score="sparse-linear", **settings).fit(frame, interventions=what)
    result = [shd(plain.cpdag_.to_numpy() != 0, edges), shd(both.cpdag_.to_numpy() != 0, edges)]
    return [*result, shd(gies_on(parts, chosen, options), edges) if options.gies_python else float("nan")]


def rows_of(
    weights: FloatArray, order: np.ndarray, target: int | None, n: int, rng: np.random.Generator, scale: FloatArray
) -> FloatArray:
    """Rows in units of the observational standard deviations."""
    noise = rng.normal(size=(n, len(weights)))
    data = np.zeros_like(noise)
    for j in order:
        data[:, j] = noise[:, j] * scale[j] if j == target else data @ weights[:, j] + noise[:, j]
    return data / scale


def gies_on(parts: list[FloatArray], chosen: np.ndarray, options: argparse.Namespace) -> BoolArray:
    with tempfile.TemporaryDirectory() as folder:
        data, found = Path(folder, "data.npz"), Path(folder, "found.npy")
        arrays = {f"rows{k}": part for k, part in enumerate(parts)}
        arrays |= {f"set{k}": np.array([] if k == 0 else [chosen[k - 1]], dtype=int) for k in range(len(parts))}
        np.savez(data, **arrays)
        subprocess.run([options.gies_python, "-c", GIES, data, found], check=True, capture_output=True)
        return np.load(found) != 0


def shd(pattern: BoolArray, edges: BoolArray) -> float:
    """Pairs on which a class and the true DAG differ; an edge that the class leaves open counts as different."""
    differ = pattern != edges
    return float(np.triu(differ | differ.T, 1).sum())  # transposed: a pair counts once


if __name__ == "__main__":
    main()
