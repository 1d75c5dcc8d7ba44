"""Time series: F1 beside VARLiNGAM and PCMCI+.

    python benchmarks/lagged.py [window | brain | monitoring] [--peers-python PATH] [--seeds 10]

``window`` is a stable vector autoregression with uniform noise, as many edges within a step as there are variables and
as many at each of two lags; an edge counts as found where cause, lag, effect and direction are right. The other two
are measured more slowly than they act, and what counts is the summary graph, without the lag: ``brain`` has bursts of
activity that spread, seen through a slow response of its own in each region; ``monitoring`` has metrics that call each
other within a step, averages of a slow load with sudden rises. A direction that is left open counts half.
``--peers-python`` is the interpreter of an environment with lingam and tigramite.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import precede as pc
from precede.arrays import BoolArray, FloatArray

PEERS = """
import sys, numpy
data, lags = numpy.load(sys.argv[1]), int(sys.argv[3])
import lingam
model = lingam.VARLiNGAM(lags=lags, criterion=None, prune=True)
model.fit(data)
first = [numpy.abs(part).T > 0.05 for part in model.adjacency_matrices_[: lags + 1]]
from tigramite import data_processing
from tigramite.pcmci import PCMCI
from tigramite.independence_tests.parcorr import ParCorr
found = PCMCI(dataframe=data_processing.DataFrame(data), cond_ind_test=ParCorr(), verbosity=0)
graph = found.run_pcmciplus(tau_max=lags, pc_alpha=0.01)["graph"]
worth = numpy.vectorize({"-->": 1.0, "o-o": 0.5, "x-x": 0.5}.get)
second = [worth(graph[:, :, lag], 0.0) for lag in range(lags + 1)]
numpy.savez(sys.argv[2], varlingam=numpy.array(first, dtype=float), pcmci=numpy.array(second))
"""

LAGS = {"window": 2, "brain": 1, "monitoring": 1}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", nargs="?", default="window", choices=LAGS)
    parser.add_argument("--peers-python")
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    rows = []
    for seed in range(options.seeds):
        rows.append(one(options.kind, seed, options.peers_python))
        if not seed:
            print(f"{'seed':>4} " + " ".join(f"{name:>14}" for name in rows[0]))
        print(f"{seed:4} " + " ".join(f"{figure:14.2f}" for figure in rows[-1].values()), flush=True)
    means = np.mean([list(row.values()) for row in rows], axis=0)
    print("mean " + " ".join(f"{figure:14.2f}" for figure in means))


def one(kind: str, seed: int, peers_python: str | None) -> dict[str, float]:
    """F1 of each method on one series, and the seconds of ours."""
    lags = LAGS[kind]
    data, truth = {"window": window, "brain": brain, "monitoring": monitoring}[kind](np.random.default_rng(seed))
    d = data.shape[1]
    row = {}
    for score in ("auto", "sparse-linear"):
        start = time.perf_counter()
        model = pc.CORL(score=score, random_state=0, verbose=False, diagnose=False)
        model.fit(pd.DataFrame(data).add_prefix("x"), lags=lags)
        names = [f"x{k}" if lag == 0 else f"x{k}[t-{lag}]" for lag in range(lags + 1) for k in range(d)]
        marked = model.cpdag_.loc[names, names[:d]].to_numpy()
        other = model.cpdag_.loc[names[:d], names].to_numpy().T  # transposed: the other way round
        row[score] = f1(np.where(marked & other, 0.5, marked).reshape(lags + 1, d, d), truth)
        row[f"{score}, s"] = time.perf_counter() - start
    if len(truth) == 1:
        plain = pc.CORL(random_state=0, verbose=False, diagnose=False).fit(pd.DataFrame(data).add_prefix("x"))
        row["without lags"] = f1(plain.graph_.edges[None].astype(float), truth)
    if peers_python is not None:
        with tempfile.TemporaryDirectory() as folder:
            source, found = Path(folder, "data.npy"), Path(folder, "found.npz")
            np.save(source, data)
            command = [peers_python, "-W", "ignore", "-c", PEERS, source, found, str(lags)]
            subprocess.run(command, check=True, capture_output=True)
            row |= {name: f1(graph, truth) for name, graph in np.load(found).items()}
    return row


def window(rng: np.random.Generator, d: int = 10, lags: int = 2, rows: int = 1000) -> tuple[FloatArray, BoolArray]:
    """Data, and the window graph, ``[lag, i, j]`` for the edge from i this many steps ago to j."""
    while True:
        order = rng.permutation(d)
        weights = np.zeros((lags + 1, d, d))
        for lag in range(lags + 1):
            pairs = [(i, j) for i in range(d) for j in range(d) if lag or np.argmax(order == i) < np.argmax(order == j)]
            for k in rng.choice(len(pairs), size=d, replace=False):
                weights[lag][pairs[k]] = rng.uniform(0.3, 0.7) * rng.choice([-1, 1])
        now = np.linalg.inv(np.eye(d) - weights[0])
        steps = [weights[lag] @ now for lag in range(1, lags + 1)]
        companion = np.eye(d * lags, k=d)
        companion[:, :d] = np.concatenate(steps)
        if np.abs(np.linalg.eigvals(companion)).max() < 0.95:
            break
    values = np.zeros((rows + 200, d))
    noise = rng.uniform(-1, 1, size=values.shape) * rng.uniform(0.5, 2, size=d)
    for t in range(lags, len(values)):
        values[t] = noise[t] @ now + sum(values[t - lag] @ step for lag, step in enumerate(steps, 1))
    return values[200:], weights != 0


def sparse_dag(rng: np.random.Generator, d: int) -> BoolArray:
    """As many edges as 1.2 times the variables."""
    made = pc.simulate("er", d, 1.2, n_samples=2, random_state=int(rng.integers(2**31)))
    return made.graph.edges


def brain(rng: np.random.Generator, d: int = 8, rows: int = 300) -> tuple[FloatArray, BoolArray]:
    """Bursts that spread along the graph, each region convolved with a response of its own, one scan in two seconds."""
    step, scan = 0.05, 2.0
    edges, n_steps = sparse_dag(rng, d), int((rows + 20) * scan / step)
    weights = edges * rng.normal(0.4, 0.1, (d, d)).clip(0.2, 0.6)
    active, activity, states = rng.random(d) < 0.1, np.zeros(d), np.zeros((n_steps, d))
    for t in range(n_steps):
        drawn = rng.random(d)
        active = np.where(active, drawn > step / 2.5, drawn < step / 10)
        activity = (
            activity + step * (activity @ weights - activity + active) + np.sqrt(step) * 0.05 * rng.normal(size=d)
        )
        states[t] = activity
    times = np.arange(0, 30, step)
    seen = np.empty((rows, d))
    for j in range(d):
        peak = 6 + rng.normal(0, 0.5)
        response = times ** (peak - 1) * np.exp(-times) / math.gamma(peak)
        response -= times**15 * np.exp(-times) / math.gamma(16) / 6
        whole = np.convolve(states[:, j], response)[:n_steps]
        seen[:, j] = whole[int(20 * scan / step) :: int(scan / step)][:rows]
    seen = (seen - seen.mean(axis=0)) / seen.std(axis=0)
    return seen + 0.1 * rng.normal(size=seen.shape), edges[None]


def monitoring(rng: np.random.Generator, d: int = 8, rows: int = 600) -> tuple[FloatArray, BoolArray]:
    """Averages over five moments of metrics that pass their load on from one moment to the next."""
    moments, start = 5, 50
    edges, n_steps = sparse_dag(rng, d), (rows + start) * moments
    weights, memory = edges * rng.uniform(0.5, 1.2, (d, d)), rng.uniform(0.8, 0.98, d)
    load, values = np.zeros((n_steps, d)), np.zeros((n_steps, d))
    for t in range(1, n_steps):
        load[t] = memory * load[t - 1] + rng.exponential(1, d) - 1
        values[t] = load[t] + values[t - 1] @ weights
    seen = values[start * moments :].reshape(rows, moments, d).mean(axis=1)
    return seen + 0.05 * seen.std(axis=0) * rng.normal(size=seen.shape), edges[None]


def f1(found: FloatArray, truth: BoolArray) -> float:
    """F1 of edges; where the truth has no lags, an edge is what is found at any of them, and none leads to itself."""
    if len(truth) == 1:
        found = found.max(axis=0, keepdims=True) * ~np.eye(truth.shape[1], dtype=bool)
    return float(2 * found[truth].sum() / max(1.0, found.sum() + truth.sum()))


if __name__ == "__main__":
    main()
