"""The same code on a GPU: agreement with the CPU, orders scored per second, time per iteration.

PYTHONPATH=src python benchmarks/cuda_speed.py
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import torch

from precede.corl import CORL
from precede.corl.settings import training_of
from precede.knowledge import Constraints
from precede.scores.gp import GPScore
from precede.scores.linear import LinearScore
from precede.scores.quadratic import QuadraticScore
from precede.scores.sparse_linear import NonGaussianScore
from precede.search.learner import Learner
from precede.search.train import Trainer
from precede.simulation import simulate


def agreement() -> None:
    print("largest relative difference of the terms, CPU and CUDA")
    rng = np.random.default_rng(0)
    for name, make, d, m in [
        ("linear", LinearScore, 100, 3000),
        ("nongaussian", NonGaussianScore, 30, 3000),
        ("quadratic", QuadraticScore, 10, 500),
        ("gp", GPScore, 10, 300),
    ]:
        values = simulate(n_variables=d, random_state=0, n_samples=m).data.to_numpy()
        orders = torch.from_numpy(np.array([rng.permutation(d) for _ in range(32)]))
        on_cpu = make(values, device="cpu").terms(orders)
        on_gpu = make(values, device="cuda").terms(orders.cuda()).cpu()
        print(f"  {name:12s} {float(((on_gpu - on_cpu).abs() / on_cpu.abs().clamp_min(1)).max()):.1e}")
    score = LinearScore(simulate(n_variables=100, random_state=0).data.to_numpy(), device="cuda")
    order = torch.arange(100, device="cuda")
    on_cpu = LinearScore(simulate(n_variables=100, random_state=0).data.to_numpy()).insertion_sums(order.cpu())
    print(f"  insertion    {float((score.insertion_sums(order).cpu() / on_cpu - 1).abs().max()):.1e}")


def throughput() -> None:
    print("orders scored per second, linear")
    for d, batch in [(30, 65536), (100, 8192), (500, 256)]:
        score = LinearScore(np.random.default_rng(0).normal(size=(2 * d, d)), device="cuda")
        orders = torch.rand(batch, d, device="cuda").argsort(1)
        score.terms(orders)
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(10):
            score.terms(orders)
        torch.cuda.synchronize()
        print(f"  d={d:4d} {10 * batch / (time.perf_counter() - start):14,.0f}")


def graphs_change_nothing() -> None:
    """Records of 40 iterations as two CUDA graphs and as they are: the largest relative difference."""
    print("recorded step against the step as it is")
    values = simulate(n_variables=12, random_state=0).data.to_numpy()
    for name, model in [
        ("default", CORL(score="linear")),
        ("corl-1", CORL.paper("corl-1")),
        ("corl-2", CORL.paper("corl-2")),
    ]:
        runs = []
        for graphed in (False, True):
            score = LinearScore(values, device="cuda")
            settings, rng = training_of(model, None), np.random.default_rng(0)
            trainer = Trainer([Learner(score, values, settings, Constraints.none(12), rng)])
            if not graphed:
                trainer.collect, trainer.update = trainer._collect, trainer._update
            runs.append(torch.stack([trainer.step() for _ in range(40)]))
        print(f"  {name:12s} {float(((runs[0] - runs[1]) / runs[0]).abs().max()):.1e}")


def iteration_time(device: str) -> None:
    print(f"milliseconds per iteration, {device}")
    for d, batch in [(30, 64), (30, 256), (100, 64), (100, 256)]:
        values = simulate(n_variables=d, random_state=0).data.to_numpy()
        settings = replace(training_of(CORL(score="linear"), None), batch_size=batch)
        score = LinearScore(values, device=device)
        trainer = Trainer([Learner(score, values, settings, Constraints.none(d), np.random.default_rng(0))])
        for _ in range(5):
            trainer.step()
        trainer.best.score()
        n = 50 if device == "cuda" else 5
        start = time.perf_counter()
        for _ in range(n):
            trainer.step()
        trainer.best.score()  # waits for the device
        print(f"  d={d:4d} batch={batch:4d} {1000 * (time.perf_counter() - start) / n:8.2f}")


if __name__ == "__main__":
    print(torch.cuda.get_device_name(), torch.__version__)
    agreement()
    graphs_change_nothing()
    throughput()
    iteration_time("cuda")
    iteration_time("cpu")
