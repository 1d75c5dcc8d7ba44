"""Training steps of many runs at once: milliseconds, and how many runs' steps that makes in a second. Run:

PYTHONPATH=src python benchmarks/stacked.py --cases 100x1x64 100x25x64 100x25x256
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch

import precede as pc
from precede.corl.settings import training_of
from precede.knowledge import Constraints
from precede.runtime.device import training_on
from precede.scores.linear import LinearScore
from precede.search.learner import Learner
from precede.search.train import Trainer


def learners(d: int, n_runs: int, batch: int, device: str, name: str) -> list[Learner]:
    made = []
    for seed in range(n_runs):
        data = pc.simulate(n_variables=d, degree=2, n_samples=3000, random_state=seed).data
        model = pc.CORL.paper(name).set_params(batch_size=batch)  # type: ignore[arg-type]
        score = LinearScore(data.to_numpy(), device=device)
        rng = np.random.default_rng(seed)
        made.append(Learner(score, data.to_numpy(), training_of(model, None), Constraints.none(d), rng))
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="+", default=["30x25x64"], help="variables x runs x orders in a batch")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--alone", action="store_true", help="each case as single runs too")
    parser.add_argument("--method", default="corl-2")
    arguments = parser.parse_args()
    for case in arguments.cases:
        d, n_runs, batch = map(int, case.split("x"))
        made = learners(d, n_runs, batch, arguments.device, arguments.method)
        for name, run in (("together", Trainer(made)), ("alone", Trainer(made[:1]))):
            if name == "alone" and not arguments.alone:
                continue
            with training_on(run.device):
                for _ in range(6):
                    float(run.step().sum())
                start = time.perf_counter()
                for _ in range(arguments.steps):
                    last = run.step()
                float(last.sum())
            step = (time.perf_counter() - start) / arguments.steps
            together = n_runs if name == "together" else 1
            memory = torch.cuda.max_memory_allocated() / 2**30 if arguments.device == "cuda" else 0.0
            print(f"{case:12} {name:9} {1000 * step:8.2f} ms, {together / step:8.1f} runs' steps a second, "
                  f"{memory:.1f} GiB", flush=True)  # fmt: skip
        del made, run
        if arguments.device == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()


if __name__ == "__main__":
    main()
