"""Beside gcastle's CORL, in one run on the same 30-node data: time per iteration, memory, score and SHD.

    python -m venv .venv-gcastle && .venv-gcastle/bin/pip install torch==2.13.0 gcastle==1.0.4 psutil
    python benchmarks/gcastle_corl.py --peer-python .venv-gcastle/bin/python --iterations 20

gcastle runs for the given iterations at batch size 64; then we run until our score passes the one it reached, and for
as long as it took. Times are wall clock in one run on one machine, so read them as a ratio.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch

from precede import evaluate, simulate
from precede.graph import CausalGraph
from precede.scores.linear import LinearScore

PEER = """
import json, resource, sys, time
import numpy as np
from castle.algorithms import CORL
values = np.load(sys.argv[1])
model = CORL(batch_size=64, iteration=int(sys.argv[2]), reward_mode=sys.argv[3], device_type="cpu")
start = time.perf_counter()
model.learn(values)
seconds = time.perf_counter() - start
matrix = np.asarray(model.causal_matrix)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print("RESULT" + json.dumps({"seconds": seconds, "matrix": matrix.tolist(), "gigabytes": peak}))
"""

OURS = """
import json, resource, sys, time
import pandas as pd, numpy as np
from precede import CORL
values = np.load(sys.argv[1])
model = CORL(score="linear", polish=False, pretrained=None, n_iterations=int(sys.argv[2]),
             patience=None, random_state=0, verbose=False,
             max_time=float(sys.argv[3]), pruning="threshold", device="cpu")
start = time.perf_counter()
model.fit(values)
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print("RESULT" + json.dumps({"seconds": seconds, "matrix": model.graph_.edges.astype(int).tolist(), "gigabytes": peak,
      "history": model.history_[["seconds", "best_score"]].to_numpy().tolist()}))
"""


def run(python: str, program: str, *arguments: str) -> dict:
    done = subprocess.run([python, "-c", program, *arguments], capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if "RESULT" in line]
    if not lines:
        raise SystemExit(f"the run failed:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return json.loads(lines[0].partition("RESULT")[2])


def best_total(score: LinearScore, edges: np.ndarray) -> float:
    """Score of a graph's order; the peer does not tell its own order, so take a topological one."""
    order = CausalGraph.from_matrix(edges).positions
    return float(score.total(score.terms(torch.from_numpy(order.copy())[None]).sum(1)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer-python", required=True)
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--nodes", type=int, default=30)
    parser.add_argument("--reward", default="dense")
    parser.add_argument("--most-seconds", type=float, default=60.0)
    options = parser.parse_args()
    made = simulate(n_variables=options.nodes, degree=2, random_state=0)
    score = LinearScore(made.data.to_numpy())
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "values.npy")
        np.save(path, made.data.to_numpy())
        theirs = run(options.peer_python, PEER, path, str(options.iterations), options.reward)
        ours = run(sys.executable, OURS, path, "100000", str(min(theirs["seconds"], options.most_seconds)))
    target = best_total(score, np.array(theirs["matrix"]))
    history = np.array(ours["history"])
    passed = history[history[:, 1] >= target]
    ours_each = history[-1, 0] / len(history)
    theirs_each = theirs["seconds"] / options.iterations
    for name, result, each in (("gcastle", theirs, theirs_each), ("precede", ours, ours_each)):
        metrics = evaluate(np.array(result["matrix"]), made.graph.edges.astype(int))
        total = target if name == "gcastle" else history[-1, 1]
        print(
            f"{name:8s} {result['seconds']:8.1f} s  {each:7.3f} s/iteration  {result['gigabytes']:5.2f} GB peak  "
            f"score {total:12.2f}  SHD {metrics.shd}"
        )
    print(
        f"time per iteration: {theirs_each / ours_each:.0f} x; memory: {theirs['gigabytes'] / ours['gigabytes']:.1f} x"
    )
    if len(passed):
        print(f"gcastle's score passed after {passed[0, 0]:.2f} s: {theirs['seconds'] / passed[0, 0]:.0f} x less time")
    else:
        print("gcastle's score was not passed")


if __name__ == "__main__":
    main()
