"""Seconds of the default, ``CORL()``, from the start of Python to the graph with its checks: import included.

Each fit is a process of its own on this many cores. First come the seconds until the process has ended (Python looks
through all objects once more when it ends); ``graph_s`` are those until there was a graph. Run:

    python benchmarks/default_times.py --cores 2 --seeds 1
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from typing import Any

CASES: dict[str, dict[str, Any]] = {
    "linear 20": {"n_variables": 20},
    "linear 30": {"n_variables": 30},
    "lingam 20": {"n_variables": 20, "sem": "lingam"},
    "lingam 30": {"n_variables": 30, "sem": "lingam"},
    "gp 20": {"n_variables": 20, "sem": "gp", "n_samples": 1000},
    "linear 100": {"n_variables": 100},
    "lingam 100": {"n_variables": 100, "sem": "lingam"},
    "unequal 100": {"n_variables": 100, "sem": "lingam", "noise": "unequal", "standardize": False},
    "linear 300": {"n_variables": 300},
    "lingam 300": {"n_variables": 300, "sem": "lingam"},
    "linear 500": {"n_variables": 500},
    "lingam 500": {"n_variables": 500, "sem": "lingam"},
    "gp 30": {"n_variables": 30, "sem": "gp", "n_samples": 1000},
    "gp 50": {"n_variables": 50, "sem": "gp", "n_samples": 1000},
    "linear 1000": {"n_variables": 1000},
    "lingam 1000": {"n_variables": 1000, "sem": "lingam"},
}
"""Options of ``simulate``: ER2, standardized, 3,000 rows, linear Gaussian where nothing else is said. "unequal" is
LiNGAM with standard deviations of the noise uniform in [.5, 2]."""

SIMULATED = {"graph": "er", "degree": 2, "n_samples": 3000, "standardize": True}

FIT = """
import json, resource, sys, time
start = time.perf_counter()
import precede as pc
made, options, began = json.loads(sys.argv[1])
data = pc.simulate(**made)
model = pc.CORL(random_state=made["random_state"], verbose=False, **options)
ready, before = time.perf_counter() - start, time.process_time()
model.fit(data.data)
there = time.time() - began
found = pc.evaluate(model.graph_, data.graph)
search = model.diagnostics_["search"]
print(json.dumps({"best": search["best_score"], "score": model.diagnostics_["score"], "shd": found.shd,
                  "cpdag_shd": found.cpdag_shd, "graph_s": round(there, 1), "ready_s": round(ready, 1),
                  "search_s": round(search["seconds"], 1),
                  "iterations": search["iterations"], "agree": search.get("climbs_agree"),
                  "rl_gain": search.get("rl_gain"), "fit_cpu_s": round(time.process_time() - before, 1),
                  "cpu_s": round(time.process_time(), 1),
                  "gib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2)}))
"""


def fit_apart(simulated: dict[str, Any], options: dict[str, Any], n_threads: int) -> dict[str, Any]:
    """Simulate, fit the default with some options and judge it, in a process of its own; what it says of itself.

    Under ``wall_s`` are the seconds from its start to its end, under ``failed`` the last line of what went wrong.
    """
    environment = {**os.environ, "OMP_NUM_THREADS": str(n_threads)}
    start = time.perf_counter()
    asked = json.dumps([{**SIMULATED, **simulated}, options, time.time()])
    done = subprocess.run([sys.executable, "-c", FIT, asked], capture_output=True, text=True, env=environment)
    said: dict[str, Any] = {"wall_s": round(time.perf_counter() - start, 1)}
    if done.returncode:
        return said | {"failed": (done.stderr.strip() or str(done.returncode)).splitlines()[-1]}
    return said | json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--set", default="{}", help="options of CORL, as JSON")
    parser.add_argument("--stop-after", type=float, default=float("inf"), help="start no fit after this many seconds")
    arguments = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))[: arguments.cores]
    os.sched_setaffinity(0, cores)
    began = time.perf_counter()
    for case in arguments.cases:
        for seed in range(arguments.seeds):
            if time.perf_counter() - began > arguments.stop_after:
                return
            said = fit_apart({**CASES[case], "random_state": seed}, json.loads(arguments.set), len(cores))
            print(f"{case:12} seed {seed} {said.pop('wall_s'):7.1f} s  {json.dumps(said)}", flush=True)


if __name__ == "__main__":
    main()
