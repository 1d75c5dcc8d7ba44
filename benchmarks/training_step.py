"""Milliseconds of a training step of the default on a device, whole and by its parts.

    PYTHONPATH=src python benchmarks/training_step.py [--sizes 30 100 200] [--batch 64] [--device cuda]
    PYTHONPATH=src python benchmarks/training_step.py --paper corl-2 [--plain-pointer]

``CORL(score="linear")`` as it trains from the shipped policy, or the paper's mode, on ER2 data of 1,000 rows; with
``--plain-pointer`` without the pointer's own kernels (``precede/policy/kernels.py``). Each part runs by itself, many
times over, and the device is waited for at the end; "launch" is how long the CPU takes for a step when it does not
wait.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from precede.corl import CORL
from precede.corl.settings import training_of
from precede.knowledge import Constraints
from precede.policy import networks
from precede.policy.prediction import load_pretrained
from precede.runtime.device import training_on
from precede.runtime.randomness import gumbel_noise
from precede.scores.linear import LinearScore
from precede.scores.protocol import column_sums
from precede.search.learner import Learner
from precede.search.train import Trainer
from precede.simulation import simulate

PARTS = ("draw", "collect", "terms", "update", "best")


def milliseconds(work: Callable[[], object], device: torch.device, repeats: int) -> tuple[float, float]:
    """Of one call: until it comes back, and until the device is done."""
    wait(device)
    start = time.perf_counter()
    for _ in range(repeats):
        work()
    launched = time.perf_counter() - start
    wait(device)
    return 1000 * launched / repeats, 1000 * (time.perf_counter() - start) / repeats


def wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def measure(trainer: Trainer, batch: int, repeats: int) -> dict[str, float]:
    device, learner = trainer.device, trainer.learners[0]
    d = learner.score.n_variables
    for _ in range(8):  # compiled and recorded
        trainer.step()
    found = {}
    found["launch"], found["step"] = milliseconds(trainer.step, device, repeats)

    def draw() -> tuple[Tensor, Tensor]:
        return learner.inputs.draw(batch)[None], gumbel_noise((1, batch, d, d), learner.generator)

    def terms() -> tuple[Tensor, Tensor]:
        own = trainer.score.terms(orders)
        return trainer.score.total(column_sums(orders[0], own[0])[None]), trainer.returns(orders, own)

    def best() -> None:
        trainer.best.offer(orders, totals)
        trainer.proposal.offer(orders, totals)

    inputs, noise = draw()
    _, orders = trainer.collect(inputs, noise)
    totals, returns = terms()
    parts = (
        draw,
        lambda: trainer.collect(inputs, noise),
        terms,
        lambda: trainer.update(*trainer.collect(inputs, noise), returns),
        best,
    )
    if device.type != "cuda":  # what is not recorded has a gradient that can be taken once
        parts = (*parts[:3], lambda: trainer._update(trainer._collect(inputs, noise)[0], orders, returns), best)
    for name, part in zip(PARTS, parts, strict=True):
        found[name] = milliseconds(part, device, repeats)[1]
    found["update"] -= found["collect"] if device.type == "cuda" else 0.0  # it can only follow a collection
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[30, 100, 200])
    parser.add_argument("--batch", type=int)
    parser.add_argument("--paper", choices=["corl-1", "corl-2"])
    parser.add_argument("--plain-pointer", action="store_true")
    parser.add_argument("--repeats", type=int, default=50)
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    device = torch.device(options.device)
    print(torch.cuda.get_device_name() if device.type == "cuda" else device.type, torch.__version__)
    columns = ("step", "launch", *PARTS)
    print(f"{'variables':>9}" + "".join(f"{name:>9}" for name in columns))
    networks.FUSED = not options.plain_pointer
    size = {} if options.batch is None else {"batch_size": options.batch}
    model = CORL.paper(options.paper, **size) if options.paper else CORL(score="linear", **size)
    settings = training_of(model, None)
    for d in options.sizes:
        values = simulate(n_variables=d, degree=2, n_samples=1000, random_state=0).data.to_numpy()
        start = (np.random.default_rng(0), None if options.paper else load_pretrained("default"))
        learner = Learner(LinearScore(values, device=device), values, settings, Constraints.none(d), *start)
        with training_on(device):
            found = measure(Trainer([learner]), settings.batch_size, options.repeats)
        print(f"{d:9d}" + "".join(f"{found[column]:9.2f}" for column in columns), flush=True)


if __name__ == "__main__":
    main()
