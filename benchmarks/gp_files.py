"""GP data published with GraN-DAG: sparse GP score and polish on each set, SHD, order TPR and time.

    python benchmarks/gp_files.py DIRECTORY [--device cuda] [--samples 500] [--max-parents 8] [--penalty 1]

DIRECTORY holds p10_e10/*.npz and p10_e40/*.npz with the arrays ``data`` and ``adjacency``.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import torch

from precede.metrics import share_in_order, shd
from precede.scores.evidence import GaussianProcessEvidence
from precede.scores.parent_tables import screened_score
from precede.search.polish import polish

KERNEL_WARM_UP = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--families", nargs="*", default=["p10_e10", "p10_e40"])
    parser.add_argument("--sets", type=int, default=10)
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--max-parents", type=int, default=8)
    parser.add_argument("--table-size", type=int)
    parser.add_argument("--penalty", type=float, default=1.0)
    parser.add_argument("--restarts", type=int, default=5)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    where = torch.cuda.get_device_name() if options.device == "cuda" else f"{torch.get_num_threads()} CPU threads"
    print(f"m = {options.samples}, k = {options.max_parents}, penalty = {options.penalty}, {where}")
    if options.device == "cuda":  # the first call loads the linear algebra libraries
        warm_up = np.random.default_rng(0).normal(size=(KERNEL_WARM_UP, 3))
        screened_score(GaussianProcessEvidence(warm_up, device="cuda"), device="cuda")
    for family in options.families:
        files = sorted((options.directory / family).glob("*.npz"), key=lambda path: int(path.stem))[: options.sets]
        rows = []
        for path in files:
            rows.append(run(path, options))
            print(f"{family:8} {path.stem:>3}  " + describe(*rows[-1]), flush=True)
        print(f"{family:8} mean " + describe(*np.mean(rows, axis=0)), flush=True)


def run(path: Path, options: argparse.Namespace) -> tuple[float, float, float, float, float]:
    stored = np.load(path)
    values, truth = stored["data"][: options.samples].astype(float), stored["adjacency"] != 0
    start = time.perf_counter()
    score = screened_score(
        GaussianProcessEvidence(values, n_inducing="auto", device=options.device),
        max_parents=options.max_parents,
        table_size=options.table_size,
        penalty=options.penalty,
        device=options.device,
    )
    tabled = time.perf_counter()
    best = polish(score, np.arange(score.n_variables), n_restarts=options.restarts, rng=np.random.default_rng(0))
    edges = score.graph(best.order)
    end = time.perf_counter()
    return shd(edges, truth), share_in_order(best.order, truth), len(score.cache), tabled - start, end - tabled


def describe(distance: float, order_share: float, n_sets: float, table: float, search: float) -> str:
    return (
        f"SHD {distance:5.1f}  order TPR {order_share:.3f}  {n_sets:6.0f} sets  "
        f"table {table:6.1f} s  search {search:6.1f} s"
    )


if __name__ == "__main__":
    main()
