"""Hard searches at equal CPU time: does reinforcement learning find better orders than restarts of polish?

    python benchmarks/hard_searches.py --cases er5 lingam gp --seeds 3 --seconds 20

Each contender has a score of its own, whose making counts, and the same CPU seconds on one thread:

- "restarts": polish from the greedy order, shaken and polished again to the end;
- "scratch": a policy trained from random weights, its proposals polished;
- "trained": the default with training in any case (``patience=None``);
- "default": ``CORL()``, which may end earlier.

Printed are the scores less the best of the four, the CPU seconds spent and the iterations of training.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np
import torch

from precede import CORL, simulate
from precede.corl.settings import training_of
from precede.data.load import Table, load_table
from precede.knowledge import Constraints
from precede.policy.prediction import load_pretrained
from precede.runtime.deadline import Deadline
from precede.scores.build import build_score
from precede.scores.protocol import OrderScore
from precede.search.local import greedy_order
from precede.search.polish import polish
from precede.search.run import OrderSearch
from precede.search.settings import SearchSettings

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "er5": ("sparse-linear", {"n_variables": 50, "degree": 5, "n_samples": 500, "standardize": True}),
    "gp": ("sparse-gp", {"n_variables": 30, "degree": 2, "n_samples": 1000, "sem": "gp"}),
    "lingam": (
        "nongaussian",
        {"n_variables": 100, "degree": 2, "n_samples": 3000, "sem": "lingam", "noise": "unequal"},
    ),
}
ROUND = 20
"""Restarts between two looks at the clock."""


def made(name: Any, table: Table, deadline: Deadline | None = None) -> OrderScore:
    """The score of a name over a table, on one thread of a CPU."""
    return build_score(name, table, Constraints.none(table.n_variables), device=torch.device("cpu"), deadline=deadline)


def by_restarts(name: str, table: Table, deadline: Deadline) -> dict[str, Any]:
    """Polish, shake, polish, until the time is over."""
    score = made(name, table, deadline)
    rng, n_restarts = np.random.default_rng(0), 0
    best = polish(score, greedy_order(score), deadline=deadline)
    while not deadline.passed():
        found = polish(score, best.order, n_restarts=ROUND, rng=rng, deadline=deadline)
        best = found if found.score > best.score else best
        n_restarts += ROUND
    return {"score": best.score, "restarts": n_restarts}


def by_policy(name: str, table: Table, deadline: Deadline, **options: Any) -> dict[str, Any]:
    """The search of ``CORL`` with these options."""
    start = options.get("pretrained", "default")
    score = made(name, table, deadline)
    model = CORL(name, n_iterations=100_000, **{"patience": 10, **options})
    settings = SearchSettings("policy" if "patience" in options else "auto", training=training_of(model, start))
    pretrained = None if start is None else load_pretrained(start)
    constraints = Constraints.none(table.n_variables)
    part = deadline if start is not None else deadline.part(share=0.7)  # leaves time for the polish at the end
    search = OrderSearch(score, table.values, constraints, settings, np.random.default_rng(0), part, pretrained)
    found = search.run()
    if start is None:
        again = polish(score, found.order, deadline=deadline)
        return {"score": max(again.score, found.record.best_score), "iterations": found.record.iterations}
    return {"score": found.record.best_score, "iterations": found.record.iterations, "rl": found.record.rl_gain}


CONTENDERS: dict[str, Any] = {
    "restarts": by_restarts,
    "scratch": lambda *task: by_policy(*task, pretrained=None, patience=None),
    "trained": lambda *task: by_policy(*task, patience=None),
    "default": by_policy,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--contenders", nargs="+", default=list(CONTENDERS), choices=list(CONTENDERS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    for case in options.cases:
        name, simulated = CASES[case]
        for seed in options.seeds:
            table = load_table(simulate(graph="er", **simulated, random_state=seed).data)
            warm = load_table(simulate(n_variables=4, degree=1, n_samples=60, random_state=0).data)
            polish(made(name, warm), np.arange(4))  # compiled code is ready
            found = {}
            for contender in options.contenders:
                start = time.process_time()
                deadline = Deadline(options.seconds, clock=time.process_time)
                found[contender] = CONTENDERS[contender](name, table, deadline)
                found[contender]["cpu_s"] = round(time.process_time() - start, 1)
            best = max(record["score"] for record in found.values())
            for record in found.values():
                record["score"] = round(record["score"] - best, 2)
            print(json.dumps({"case": case, "seed": seed, "best": best, **found}), flush=True)


if __name__ == "__main__":
    main()
