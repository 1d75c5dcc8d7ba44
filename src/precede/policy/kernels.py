"""Additive pointer in one kernel each for values and gradients (Triton comes with torch for CUDA).

Written out as tensors, tanh of every pair of step and variable takes batch * d² * 256 numbers, and reading and writing
them takes longer than everything else in a training step (``benchmarks/training_step.py --plain-pointer``). These
kernels keep them in registers. Their tanh is the GPU's own, exact to three decimal places, as are the products of
matrices around it.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.autograd import Function

TILE = 32


@triton.jit
def _tanh(x):
    return tl.inline_asm_elementwise("tanh.approx.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1)


@triton.jit
def _logits(
    query, key, vector, out, n_steps, n_keys, per_run, WIDTH: tl.constexpr, STEPS: tl.constexpr, TILE: tl.constexpr
):
    """Tile of steps and variables of one order; query (n, WIDTH, steps), key (n, WIDTH, variables)."""
    n = tl.program_id(0).to(tl.int64)
    t = tl.program_id(1) * STEPS + tl.arange(0, STEPS)
    j = tl.program_id(2) * TILE + tl.arange(0, TILE)
    total = tl.zeros((STEPS, TILE), dtype=tl.float32)
    for w in range(WIDTH):
        q = tl.load(query + (n * WIDTH + w) * n_steps + t, mask=t < n_steps, other=0.0)
        k = tl.load(key + (n * WIDTH + w) * n_keys + j, mask=j < n_keys, other=0.0)
        v = tl.load(vector + (n // per_run) * WIDTH + w)
        total += v * _tanh(q[:, None] + k[None, :])
    inside = (t[:, None] < n_steps) & (j[None, :] < n_keys)
    tl.store(out + (n * n_steps + t[:, None]) * n_keys + j[None, :], total, mask=inside)


@triton.jit
def _gradient(
    own, other, vector, upstream, out, out_vector, n_own, n_other, per_run, stride_own, stride_other,
    WIDTH: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Tile of the gradient of one side, (n, WIDTH, own), and of the vector, (n, tiles of own, WIDTH)."""
    n = tl.program_id(0).to(tl.int64)
    i = tl.program_id(1) * TILE + tl.arange(0, TILE)
    w = tl.program_id(2) * TILE + tl.arange(0, TILE)
    inside = i < n_own
    x = tl.load(own + (n * WIDTH + w[:, None]) * n_own + i[None, :], mask=inside[None, :], other=0.0)
    slope = tl.zeros((TILE, TILE), dtype=tl.float32)
    level = tl.zeros((TILE, TILE), dtype=tl.float32)
    for j in range(n_other):
        y = tl.load(other + (n * WIDTH + w) * n_other + j)
        g = tl.load(upstream + n * n_own * n_other + i * stride_own + j * stride_other, mask=inside, other=0.0)
        h = _tanh(x + y[:, None])
        slope += g[None, :] * (1.0 - h * h)
        level += g[None, :] * h
    v = tl.load(vector + (n // per_run) * WIDTH + w)
    tl.store(out + (n * WIDTH + w[:, None]) * n_own + i[None, :], slope * v[:, None], mask=inside[None, :])
    tl.store(out_vector + (n * tl.num_programs(1) + tl.program_id(1)) * WIDTH + w, tl.sum(level, axis=1))


def pointer_logits(query: Tensor, key: Tensor, vector: Tensor) -> Tensor:
    """Logits (n, steps, variables) of queries (n, width, steps), keys (n, width, variables), vectors (runs, width)."""
    n, width, n_steps = query.shape
    n_keys = key.shape[2]
    out = query.new_empty((n, n_steps, n_keys))
    steps = min(TILE, triton.next_power_of_2(n_steps))
    grid = (n, triton.cdiv(n_steps, steps), triton.cdiv(n_keys, TILE))
    _logits[grid](
        query, key, vector, out, n_steps, n_keys, n // len(vector), WIDTH=width, STEPS=steps, TILE=TILE,
        num_warps=4 if steps > 1 else 1,
    )  # fmt: skip
    return out


def pointer_gradients(query: Tensor, key: Tensor, vector: Tensor, upstream: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of query, key and vector, given that of the logits."""
    n, width = query.shape[:2]
    n_keys, per_run = key.shape[2], n // len(vector)

    def side(own: Tensor, other: Tensor, strides: tuple[int, int]) -> tuple[Tensor, Tensor]:
        tiles = triton.cdiv(own.shape[2], TILE)
        out, levels = torch.empty_like(own), own.new_empty((n, tiles, width))
        grid = (n, tiles, width // TILE)
        sizes = (own.shape[2], other.shape[2], per_run)
        _gradient[grid](own, other, vector, upstream, out, levels, *sizes, *strides, WIDTH=width, TILE=TILE)
        return out, levels

    of_query, levels = side(query, key, (n_keys, 1))
    of_key, _ = side(key, query, (1, n_keys))
    return of_query, of_key, levels.view(len(vector), -1, width).sum(1)


class PointerLogits(Function):
    r""":math:`v^T \tanh(q_t + k_j)`: queries (n, steps, width), keys (n, width, variables), vectors (runs, width).

    Under ``vmap`` over runs, their orders lie one after another.
    """

    @staticmethod
    def forward(query: Tensor, key: Tensor, vector: Tensor) -> Tensor:
        return pointer_logits(query.mT.contiguous(), key.contiguous(), vector.contiguous())

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        query, key, vector = ctx.saved_tensors
        inputs = query.mT.contiguous(), key.contiguous(), vector.contiguous(), upstream.contiguous()
        of_query, of_key, of_vector = pointer_gradients(*inputs)
        return of_query.mT, of_key, of_vector

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *inputs: Tensor) -> tuple[Tensor, int]:
        runs = [
            part.expand(info.batch_size, *part.shape) if at is None else part.movedim(at, 0)
            for part, at in zip(inputs, in_dims, strict=True)
        ]
        logits = PointerLogits.apply(*(part.flatten(0, 1) for part in runs))
        return logits.unflatten(0, (info.batch_size, -1)), 0


def fused_logits(query: Tensor, key: Tensor, vector: Tensor) -> Tensor:
    """:class:`PointerLogits` of these."""
    logits: Tensor = PointerLogits.apply(query, key, vector)
    return logits
