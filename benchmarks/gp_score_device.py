"""Sets per second of the GP score on one device, of its parts, and of other ways to the same numbers. Run:

PYTHONPATH=src python benchmarks/gp_score_device.py

A way that differs from the score by more than 1e-10, relative, ends the run with an error.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import torch
from torch import Tensor

import precede as pc
from precede.scores.gp import GPScore
from precede.scores.predecessors import solve_by_blocks

AGREES = 1e-10


def kernels_of(score: GPScore, sets: Tensor) -> Tensor:
    room = score.room[: len(sets)]
    score.write_kernels(sets @ score.distances, sets @ score.mean_distances, 0.0, room)
    return room.view(-1, score.n_samples, score.n_samples)


def parts(score: GPScore, sets: Tensor) -> dict[str, Callable[[], Tensor]]:
    """Every step of the score's own way, then the other ways to do it; what a step overwrites is copied inside."""
    distances = sets @ score.distances
    scale = distances.median(dim=1).values[:, None]
    kernels = kernels_of(score, sets).clone()
    targets = score.targets.expand(len(sets), -1, -1)
    factor = torch.linalg.cholesky_ex(kernels)[0]
    square = torch.empty_like(kernels).flatten(1)
    room = torch.empty_like(kernels)
    found: dict[str, Callable[[], Tensor]] = {
        "score: all": lambda: score.variances_given(sets),
        "score: kernels": lambda: kernels_of(score, sets),
        "part: distances": lambda: sets @ score.distances,
        "part: median": lambda: distances.median(dim=1).values,
        "part: exp": lambda: torch.mul(distances, -0.5 / scale).exp_(),
        "part: into squares": lambda: square.index_copy_(1, score._below, distances)[:, -1],
        "part: copy of squares": lambda: room.copy_(kernels)[:, -1],
        "part: factor": lambda: torch.linalg.cholesky_ex(kernels)[0],
        "part: solve": lambda: torch.linalg.solve_triangular(factor, targets, upper=False),
        "part: solve back": lambda: torch.linalg.solve_triangular(factor.mT, targets, upper=True),
    }
    for width in (32, 64, 96, 128):
        found[f"solve: blocks of {width}"] = lambda width=width: solve_by_blocks(room.copy_(kernels), targets, width)
    found["solve: library"] = lambda: torch.cholesky_solve(targets, torch.linalg.cholesky_ex(kernels)[0])
    return found


def seconds(way: Callable[[], Tensor], device: torch.device, repeats: int) -> tuple[float, Tensor]:
    result = way()
    if device.type == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(repeats):
        result = way()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return (time.perf_counter() - start) / repeats, result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, nargs="+", default=[200, 400, 500, 1000])
    parser.add_argument("--sets", type=int, help="at once; 512 on a GPU, 4 on a CPU")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--repeats", type=int, default=1)
    asked = parser.parse_args()
    device = torch.device(asked.device)
    n_sets = asked.sets or (512 if device.type == "cuda" else 4)
    for m in asked.samples:
        values = pc.simulate("er", 20, 4, "gp-scaled", m, random_state=100).data.to_numpy()
        score = GPScore(values, noise="equal", device=device)
        generator = torch.Generator().manual_seed(0)
        sets = torch.rand(n_sets, 20, generator=generator) < 0.1 + 0.8 * torch.rand(n_sets, 1, generator=generator)
        sets[:, 0] = True
        n_own = sets.to(device, score.dtype)[: score.sets_at_once]
        ways = parts(score, n_own)
        expected = ways["score: all"]()
        for name, way in ways.items():
            try:
                took, result = seconds(way, device, asked.repeats)
            except (RuntimeError, NotImplementedError) as error:
                print(f"m {m:5}  {name:32} cannot be: {str(error).splitlines()[0]}", flush=True)
                continue
            print(f"m {m:5}  {name:32} {len(n_own) / took:12.0f} sets a second", flush=True)
            if name.startswith("solve"):
                check(name, (result.double() ** 2).mean(dim=1), expected)


def check(name: str, found: Tensor, expected: Tensor) -> None:
    difference = float(((found - expected) / expected).abs().max())
    if not difference < AGREES:
        raise SystemExit(f"{name} differs by {difference:.1e}")


if __name__ == "__main__":
    main()
