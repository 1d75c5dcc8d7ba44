"""A million rows of 50 columns through the linear score: peak memory as a multiple of the data, and time.

    python benchmarks/million_rows.py [--rows 1000000] [--columns 50] [--source array|frame] [--default]

With ``--default`` it is ``CORL()`` with its checks.

The fit runs in a process of its own; its peak resident memory is read before the data are made and after the fit.
Exit code 1 when the peak is above three times the data.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import subprocess
import sys
import time

LARGEST_MULTIPLE = 3.0
BLOCK_ROWS = 50_000


def peak_bytes() -> int:
    """Peak resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def fit_once(rows: int, columns: int, source: str, is_default: bool) -> dict[str, float]:
    """Make data block by block, fit, and say what it took."""
    import numpy as np
    import pandas as pd

    from precede import CORL
    from precede.simulation.graphs import random_dag

    rng = np.random.default_rng(0)
    edges, _ = random_dag("er", columns, 2, rng)
    weights = np.where(edges, rng.uniform(0.5, 2, edges.shape) * rng.choice([-1, 1], edges.shape), 0.0)
    mixing = np.linalg.inv(np.eye(columns) - weights)
    asked = {} if is_default else {"score": "linear", "n_iterations": 5}
    model = CORL(random_state=0, verbose=False, **asked)
    model.fit(rng.normal(size=(1000, columns)) @ mixing)  # libraries loaded, threads started
    before = peak_bytes()
    values = np.empty((rows, columns))
    for start in range(0, rows, BLOCK_ROWS):
        values[start : start + BLOCK_ROWS] = rng.normal(size=(min(BLOCK_ROWS, rows - start), columns)) @ mixing
    data: object = values
    if source == "frame":
        data = pd.DataFrame(values, columns=[f"x{k}" for k in range(columns)], copy=False)
    made = peak_bytes()
    start_time, before_fit = time.perf_counter(), time.process_time()
    model.fit(data)
    seconds, processor = time.perf_counter() - start_time, time.process_time() - before_fit
    wrong = int((model.graph_.edges != edges).sum())
    return {
        "data": values.nbytes,
        "before": before,
        "made": made,
        "peak": peak_bytes(),
        "seconds": seconds,
        "processor": processor,
        "resamples": model.diagnostics_.resamples,
        "wrong_edges": wrong,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--source", choices=("array", "frame"), default="array")
    parser.add_argument("--default", action="store_true", help="the default instead, with its checks")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        print(json.dumps(fit_once(given.rows, given.columns, given.source, given.default)))
        return 0
    command = [sys.executable, __file__, "--child"]
    command += [f"--rows={given.rows}", f"--columns={given.columns}", f"--source={given.source}"]
    command += ["--default"] * given.default
    figures = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    data = figures["data"]
    multiple = figures["peak"] / data
    print(f"{platform.machine()}, {given.rows} rows x {given.columns} columns ({given.source}): {data / 2**20:.0f} MiB")
    print(f"libraries alone {figures['before'] / 2**20:.0f} MiB, with the data {figures['made'] / 2**20:.0f} MiB")
    print(f"peak of the whole process {figures['peak'] / 2**20:.0f} MiB = {multiple:.2f} x the data")
    print(f"fit {figures['seconds']:.1f} s, {figures['processor']:.1f} CPU s, {figures['resamples']} resamples")
    print(f"{figures['wrong_edges']} wrong entries in the adjacency")
    return 0 if multiple < LARGEST_MULTIPLE else 1


if __name__ == "__main__":
    sys.exit(main())
