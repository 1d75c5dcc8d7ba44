"""A GPU beside one CPU core: seconds and scores of the default search by number of variables and by score.

    python benchmarks/devices.py --devices cuda cpu --sizes 30 100 200 500 1000 [--scores linear sparse-linear]

ER2 data of 3,000 rows, seed 0: raw for the linear score, standardized for the others (LiNGAM for "nongaussian", 1,000
rows of GP data for "sparse-gp"). Each fit, ``CORL(score=..., device=...)`` without checks, is a process of its own on
one CPU thread, after a fit of four variables that starts the device and reads compiled code ("ready"). The BIC of
sparse-linear less that of the true graph can be read beside flopsearch's in ``benchmarks/cpdag_flop.py``: the same
data sets and the same figure.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys

FIT = """
import json, resource, sys, time
start = time.perf_counter()
import torch
import precede as pc
from cpdag_flop import bic
from precede.scores.sparse_linear import SparseLinearScore
name, device, d, options = json.loads(sys.argv[1])
sem = {"nongaussian": "lingam", "sparse-gp": "gp"}.get(name, "linear-gaussian")
made = {"degree": 2, "sem": sem, "standardize": name != "linear", "random_state": 0}
options = {"score": name, "device": device, "diagnose": False, "random_state": 0, "verbose": False} | options
pc.CORL(**options).fit(pc.simulate(n_variables=4, n_samples=100, **{**made, "degree": 1}).data)
data = pc.simulate(n_variables=d, n_samples=1000 if sem == "gp" else 3000, **made)
ready, cpu, start = time.perf_counter() - start, time.process_time(), time.perf_counter()
model = pc.CORL(**options).fit(data.data)
seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
found, search = pc.evaluate(model.graph_, data.graph), model.diagnostics_["search"]
said = {"seconds": round(seconds, 2), "cpu_s": round(cpu, 2), "best": search["best_score"], "shd": found.shd,
        "cpdag_shd": found.cpdag_shd, "iterations": search["iterations"], "ready_s": round(ready, 1),
        "gib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2)}
if name == "sparse-linear":
    score = SparseLinearScore(data.data.to_numpy())
    said["above_truth"] = round(bic(score, model.graph_.edges) - bic(score, data.graph.edges), 1)
if device == "cuda":
    said["gpu_gib"] = round(torch.cuda.max_memory_allocated() / 2**30, 2)
print(json.dumps(said))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--devices", nargs="+", default=["cuda", "cpu"])
    parser.add_argument("--scores", nargs="+", default=["linear", "sparse-linear"])
    parser.add_argument("--sizes", type=int, nargs="+", default=[30, 100, 200, 500, 1000])
    parser.add_argument("--set", default="{}", help="options of CORL, as JSON")
    arguments = parser.parse_args()
    homes = [os.path.dirname(os.path.abspath(__file__)), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(homes)}
    for size in arguments.sizes:
        for score in arguments.scores:
            for device in arguments.devices:
                asked = json.dumps([score, device, size, json.loads(arguments.set)])
                command = [sys.executable, "-c", FIT, asked]
                done = subprocess.run(command, capture_output=True, text=True, env=environment)
                said = done.stdout.strip() or (done.stderr.strip() or str(done.returncode)).splitlines()[-1]
                print(f"{score:14} {size:5} {device:4}  {said}", flush=True)


if __name__ == "__main__":
    main()
