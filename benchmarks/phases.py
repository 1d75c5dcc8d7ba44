"""Where the time of the default goes: processor and wall-clock seconds by phase, the checks one by one.

    taskset -c 0,1 python benchmarks/phases.py linear-gaussian 1000 [--rows 3000] [--seed 0]

Standardized ER2 data. Printed are the whole fit with its peak of memory, the seconds that each phase took by itself,
what was found, and a digest of the graph's edges, to compare two commits by.
"""

from __future__ import annotations

import argparse
import hashlib
import resource
import time
from collections import defaultdict
from collections.abc import Callable
from functools import wraps
from typing import Any

import precede as pc
from precede.corl import fit as stages
from precede.evidence.checks import all_checks, edge_readings
from precede.search.run import OrderSearch

STAGES = ("judge_table", "choose_score", "build_score", "order_to_graph", "weigh", "graph_of_class", "load_pretrained")
READINGS = ("read_edges", "check_influence", "draw_edges")
SMALLEST = 0.05
"""Processor seconds under which a phase is not shown."""

spent: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
"""Processor and wall-clock seconds of each phase, without the phases within it."""
inner: list[list[float]] = []
"""What phases within the open ones have taken."""


def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, whose seconds are counted."""

    @wraps(function)
    def run(*arguments: Any, **options: Any) -> Any:
        start = time.process_time(), time.perf_counter()
        inner.append([0.0, 0.0])
        try:
            return function(*arguments, **options)
        finally:
            taken = time.process_time() - start[0], time.perf_counter() - start[1]
            within = inner.pop()
            for k in range(2):
                spent[name][k] += taken[k] - within[k]
                if inner:
                    inner[-1][k] += taken[k]

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sem", help="linear-gaussian, lingam, ...")
    parser.add_argument("columns", type=int)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    options = {"n_variables": asked.columns, "n_samples": asked.rows, "sem": asked.sem, "random_state": asked.seed}
    data = pc.simulate("er", degree=2, standardize=True, **options)
    for home, names in ((stages, STAGES), (edge_readings, READINGS), (all_checks, ("resample",))):
        for name in names:
            setattr(home, name, timed(name, getattr(home, name)))
    for name in ("_quick_starts", "_look", "_polish"):
        setattr(OrderSearch, name, timed(f"search: {name[1:]}", getattr(OrderSearch, name)))
    for name, check in all_checks.CHECKS.items():
        all_checks.CHECKS[name] = timed(f"check: {name}", check)
    model, start = pc.CORL(random_state=0, verbose=False), (time.process_time(), time.perf_counter())
    timed("the rest", model.fit)(data.data)
    seconds, wall = time.process_time() - start[0], time.perf_counter() - start[1]
    gib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{asked.sem} {asked.columns} x {asked.rows}: {seconds:.1f} CPU s, {wall:.1f} s, peak {gib:.2f} GiB")
    for name, (own, own_wall) in sorted(spent.items(), key=lambda phase: -phase[1][0]):
        if own > SMALLEST:
            print(f"  {name:42} {own:7.2f} CPU s {own_wall:7.2f} s")
    found, said = pc.evaluate(model.graph_, data.graph), model.diagnostics_
    print(
        f"  {said['score']} {said['search']['best_score']:.4f}, SHD {found.shd}, CPDAG SHD {found.cpdag_shd}, ", end=""
    )
    print(f"{said.resamples} resamples, edges {hashlib.sha256(model.graph_.edges.tobytes()).hexdigest()[:12]}")


if __name__ == "__main__":
    main()
