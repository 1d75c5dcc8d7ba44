"""Seconds of the default, ``CORL()``, from the start of Python to the graph with its checks: import included.

Each fit is a process of its own on this many cores. Run:

    python benchmarks/default_times.py --cores 2 --seeds 1
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time

CASES = {
    "linear 20": (20, "linear-gaussian", 3000), "linear 30": (30, "linear-gaussian", 3000),
    "lingam 20": (20, "lingam", 3000), "lingam 30": (30, "lingam", 3000), "gp 20": (20, "gp", 1000),
    "linear 100": (100, "linear-gaussian", 3000), "lingam 100": (100, "lingam", 3000),
    "linear 300": (300, "linear-gaussian", 3000), "gp 30": (30, "gp", 1000), "gp 50": (50, "gp", 1000),
}  # fmt: skip
"""Variables, equations, rows; ER2, standardized."""

FIT = """
import json, resource, sys, time
start = time.perf_counter()
import precede as pc
d, sem, rows, seed, options = json.loads(sys.argv[1])
data = pc.simulate(graph="er", n_variables=d, degree=2, sem=sem, n_samples=rows, standardize=True, random_state=seed)
made = time.perf_counter() - start
model = pc.CORL(random_state=seed, verbose=False, **options).fit(data.data)
found = pc.evaluate(model.graph_, data.graph)
search = {k: v for k, v in model.diagnostics_["search"].items() if k != "policy_order"}
print(json.dumps({"best": search["best_score"], "score": model.diagnostics_["score"], "shd": found.shd,
                  "cpdag_shd": found.cpdag_shd, "search_s": round(search["seconds"], 1),
                  "iterations": search["iterations"], "agree": search.get("climbs_agree"),
                  "rl_gain": search.get("rl_gain"), "cpu_s": round(time.process_time(), 1),
                  "gib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2)}))
"""


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
    threads = {"OMP_NUM_THREADS": str(len(cores))}
    began = time.perf_counter()
    for case in arguments.cases:
        for seed in range(arguments.seeds):
            if time.perf_counter() - began > arguments.stop_after:
                return
            asked = json.dumps([*CASES[case], seed, json.loads(arguments.set)])
            start = time.perf_counter()
            done = subprocess.run(
                [sys.executable, "-c", FIT, asked], capture_output=True, text=True, env={**os.environ, **threads}
            )
            seconds = time.perf_counter() - start
            said = done.stdout.strip() or done.stderr.strip().splitlines()[-1]
            print(f"{case:12} seed {seed} {seconds:7.1f} s  {said}", flush=True)


if __name__ == "__main__":
    main()
