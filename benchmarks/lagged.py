"""Time series: F1 of the window graph beside VARLiNGAM and PCMCI+.

    python benchmarks/lagged.py [--peers-python PATH] [--size 10] [--lags 2] [--samples 1000] [--seeds 5]

Stable vector autoregressions with uniform noise: as many edges within a step as there are variables, and as many at
each lag. ``--peers-python`` is the interpreter of an environment with lingam and tigramite. An edge counts as found
where cause, lag, effect and direction are right.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import precede as pc
from precede.arrays import BoolArray, FloatArray

PEERS = """
import sys, time, numpy
data, lags = numpy.load(sys.argv[1]), int(sys.argv[3])
d = data.shape[1]
start = time.perf_counter()
import lingam
model = lingam.VARLiNGAM(lags=lags, criterion=None, prune=True)
model.fit(data)
first = numpy.concatenate([numpy.abs(part).T > 0.05 for part in model.adjacency_matrices_[: lags + 1]])
middle = time.perf_counter()
from tigramite import data_processing
from tigramite.pcmci import PCMCI
from tigramite.independence_tests.parcorr import ParCorr
found = PCMCI(dataframe=data_processing.DataFrame(data), cond_ind_test=ParCorr(), verbosity=0)
graph = found.run_pcmciplus(tau_max=lags, pc_alpha=0.01)["graph"]
second = numpy.concatenate([graph[:, :, lag] == "-->" for lag in range(lags + 1)])
numpy.savez(sys.argv[2], varlingam=first, pcmci=second)
print(middle - start, time.perf_counter() - middle)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers-python")
    parser.add_argument("--size", type=int, default=10)
    parser.add_argument("--lags", type=int, default=2)
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    columns = ("nongaussian", "sparse-linear", "VARLiNGAM", "PCMCI+")
    print(f"{'seed':>4} " + " ".join(f"{name + ' F1, s':>22}" for name in columns))
    rows = []
    for seed in range(options.seeds):
        rows.append(one(seed, options))
        print(f"{seed:4} " + describe(rows[-1]), flush=True)
    print("mean " + describe(np.mean(rows, axis=0).tolist()))


def one(seed: int, options: argparse.Namespace) -> list[float]:
    data, truth = series(seed, options)
    row = []
    for score in ("nongaussian", "sparse-linear"):
        start = time.perf_counter()
        settings = {"n_iterations": 0, "random_state": 0, "verbose": False, "diagnose": False}
        model = pc.CORL(score=score, **settings).fit(pd.DataFrame(data).add_prefix("x"), lags=options.lags)
        names = [
            f"x{k}" if lag == 0 else f"x{k}[t-{lag}]" for lag in range(options.lags + 1) for k in range(options.size)
        ]
        found = model.adjacency_matrix_.loc[names, names[: options.size]].to_numpy() != 0
        row += [f1(found, truth), time.perf_counter() - start]
    return [*row, *(peers(data, truth, options) if options.peers_python else [float("nan")] * 4)]


def series(seed: int, options: argparse.Namespace) -> tuple[FloatArray, BoolArray]:
    """Data, and the window graph: row ``lag * size + i``, column j for the edge from i this many steps ago to j."""
    rng = np.random.default_rng(seed)
    d = options.size
    while True:
        order = rng.permutation(d)
        weights = np.zeros((options.lags + 1, d, d))
        for lag in range(options.lags + 1):
            pairs = [(i, j) for i in range(d) for j in range(d) if lag or np.argmax(order == i) < np.argmax(order == j)]
            for k in rng.choice(len(pairs), size=d, replace=False):
                weights[lag][pairs[k]] = rng.uniform(0.3, 0.7) * rng.choice([-1, 1])
        now = np.linalg.inv(np.eye(d) - weights[0])
        steps = [weights[lag] @ now for lag in range(1, options.lags + 1)]
        companion = np.eye(d * options.lags, k=d)
        companion[:, :d] = np.concatenate(steps)
        if np.abs(np.linalg.eigvals(companion)).max() < 0.95:
            break
    values = np.zeros((options.samples + 200, d))
    noise = rng.uniform(-1, 1, size=values.shape) * rng.uniform(0.5, 2, size=d)
    for t in range(options.lags, len(values)):
        values[t] = noise[t] @ now + sum(values[t - lag] @ step for lag, step in enumerate(steps, 1))
    return values[200:], weights.reshape(-1, d) != 0


def peers(data: FloatArray, truth: BoolArray, options: argparse.Namespace) -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        source, found = Path(folder, "data.npy"), Path(folder, "found.npz")
        np.save(source, data)
        command = [options.peers_python, "-W", "ignore", "-c", PEERS, source, found, str(options.lags)]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        first, second = map(float, printed.split()[-2:])
        graphs = np.load(found)
        return [f1(graphs["varlingam"], truth), first, f1(graphs["pcmci"], truth), second]


def f1(found: BoolArray, truth: BoolArray) -> float:
    return float(2 * (found & truth).sum() / max(1, found.sum() + truth.sum()))


def describe(row: list[float]) -> str:
    return " ".join(f"{row[k]:14.2f} {row[k + 1]:7.1f}" for k in range(0, len(row), 2))


if __name__ == "__main__":
    main()
