"""Sets per second of the GP score and of its parts on one device, as it is and by other ways to the same numbers. Run:

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
from precede.scores.gp import GPScore, regress

AGREES = 1e-10


def inverse_factor(block: Tensor, smallest: int) -> Tensor:
    """Inverses of the lower Cholesky factors, by halves down to ``smallest`` rows."""
    w = block.shape[-1]
    if w <= smallest:
        eye = torch.eye(w, dtype=block.dtype, device=block.device).expand(len(block), -1, -1)
        return torch.linalg.solve_triangular(torch.linalg.cholesky_ex(block)[0], eye, upper=False)
    h = w // 2
    inverse = torch.zeros_like(block)
    first = inverse_factor(block[:, :h, :h], smallest)
    below = block[:, h:, :h] @ first.mT
    second = inverse_factor(torch.baddbmm(block[:, h:, h:], below, below.mT, alpha=-1), smallest)
    inverse[:, :h, :h], inverse[:, h:, h:] = first, second
    inverse[:, h:, :h] = -(second @ (below @ first))
    return inverse


def blocked_solve(matrices: Tensor, targets: Tensor, width: int, smallest: int | None) -> Tensor:
    """Solve by a left-looking factorization in columns of blocks; it overwrites the lower triangles.

    All but the diagonal blocks is batched products of matrices, which tensor cores do in float64. The factors of
    diagonal blocks are inverted by halves down to ``smallest`` rows, or solved by where that is None.
    """
    m, inverses = matrices.shape[1], smallest is not None
    solution, diagonal = targets.clone(), []
    for a in range(0, m, width):
        b = min(a + width, m)
        column = matrices[:, a:, a:b]
        if a:
            earlier = matrices[:, a:b, :a]
            column.baddbmm_(matrices[:, a:, :a], earlier.mT, alpha=-1)
            solution[:, a:b].baddbmm_(earlier, solution[:, :a], alpha=-1)
        panel, own = column[:, b - a :], solution[:, a:b]
        if smallest is not None:
            factor = inverse_factor(column[:, : b - a], smallest)
            own.copy_(factor @ own)
            panel.copy_(panel @ factor.mT)
        else:
            factor = torch.linalg.cholesky_ex(column[:, : b - a])[0]
            own.copy_(torch.linalg.solve_triangular(factor, own, upper=False))
            panel.copy_(torch.linalg.solve_triangular(factor.mT, panel, upper=True, left=False))
        diagonal.append(factor)
    for a in reversed(range(0, m, width)):
        b, factor = min(a + width, m), diagonal.pop()
        own = solution[:, a:b]
        if b < m:
            own.baddbmm_(matrices[:, b:, a:b].mT, solution[:, b:], alpha=-1)
        own.copy_(factor.mT @ own if inverses else torch.linalg.solve_triangular(factor.mT, own, upper=True))
    return solution


def narrow_median(rows: Tensor, narrow: torch.dtype) -> Tensor:
    """Lower median of each row: that of shorter numbers, in fewer passes, then the right one of those tied there."""
    low = rows.to(narrow)
    near = low.median(dim=1).values[:, None]
    place = (rows.shape[1] - 1) // 2 - (low < near).sum(1)
    row, column = (low == near).nonzero(as_tuple=True)
    tied = rows[row, column]
    order = tied.argsort()
    order = order[row[order].argsort(stable=True)]
    first = torch.searchsorted(row, torch.arange(len(rows), device=rows.device))
    return tied[order][first + place]


def written(score: GPScore, sets: Tensor) -> Tensor:
    score.write_kernels(sets, score.room[: len(sets)])
    return score.room


def parts(score: GPScore, sets: Tensor) -> dict[str, Callable[[], Tensor]]:
    """Every step of the score's own way, then the other ways to do it; what a step overwrites is copied inside."""
    distances = sets @ score._distances
    scale = distances.median(dim=1).values[:, None]
    m = score.n_samples
    kernels = torch.zeros(len(sets), m * m, dtype=score.dtype, device=score.device)
    score.write_kernels(sets, kernels)
    kernels = kernels.view(-1, m, m)
    targets = score.targets.expand(len(sets), -1, -1)
    factor = torch.linalg.cholesky_ex(kernels)[0]
    square = torch.empty_like(kernels).flatten(1)
    room = torch.empty_like(kernels)
    found: dict[str, Callable[[], Tensor]] = {
        "score: all": lambda: regress([(score, sets)], score.room),
        "score: kernels": lambda: written(score, sets),
        "part: distances": lambda: sets @ score._distances,
        "part: median": lambda: distances.median(dim=1).values,
        "part: exp": lambda: torch.mul(distances, -0.5 / scale).exp_(),
        "part: into squares": lambda: square.index_copy_(1, score._below, distances)[:, -1],
        "part: copy of squares": lambda: room.copy_(kernels)[:, -1],
        "part: factor": lambda: torch.linalg.cholesky_ex(kernels)[0],
        "part: solve": lambda: torch.linalg.solve_triangular(factor, targets, upper=False),
        "part: solve back": lambda: torch.linalg.solve_triangular(factor.mT, targets, upper=True),
    }
    for width in (32, 64, 128):
        block, own = kernels[:, :width, :width], factor[:, :width, :width]
        eye = torch.eye(width, dtype=kernels.dtype, device=kernels.device).expand(len(sets), -1, -1)
        found[f"part: factor of {width}"] = lambda block=block: torch.linalg.cholesky_ex(block)[0]
        found[f"part: inverse of {width}"] = lambda own=own, eye=eye: torch.linalg.solve_triangular(
            own, eye, upper=False
        )
    for width in (64, 128, 256):
        for smallest in (None, width, 64, 32, 16):
            name = f"solve: {width}, " + ("solved by" if smallest is None else f"inverted from {smallest}")
            found[name] = lambda width=width, smallest=smallest: blocked_solve(
                room.copy_(kernels), targets, width, smallest
            )
    found["median: by float32"] = lambda: narrow_median(distances, torch.float32)
    found["median: by bfloat16"] = lambda: narrow_median(distances, torch.bfloat16)
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
        expected = {"solve": ways["score: all"](), "median": ways["part: median"]()}
        for name, way in ways.items():
            try:
                took, result = seconds(way, device, asked.repeats)
            except (RuntimeError, NotImplementedError) as error:
                print(f"m {m:5}  {name:32} cannot be: {str(error).splitlines()[0]}", flush=True)
                continue
            print(f"m {m:5}  {name:32} {len(n_own) / took:12.0f} sets a second", flush=True)
            kind = name.split(":")[0]
            if kind == "solve":
                check(name, (result.double() ** 2).mean(dim=1), expected[kind])
            elif kind == "median":
                check(name, result, expected[kind])


def check(name: str, found: Tensor, expected: Tensor) -> None:
    difference = float(((found - expected) / expected).abs().max())
    if not difference < AGREES:
        raise SystemExit(f"{name} differs by {difference:.1e}")


if __name__ == "__main__":
    main()
