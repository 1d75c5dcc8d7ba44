"""What the stacked networks are made of; the first axis of every parameter is the run."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

EPSILON = 1e-3
"""Added to a variance before its root, as in :class:`precede.policy.encoders.BatchNorm`."""


def linear(inputs: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Each run through its own layer: inputs (runs, ..., n) to (runs, ..., width)."""
    rows = inputs.flatten(1, -2)
    return torch.baddbmm(bias[:, None], rows, weight.transpose(1, 2)).view(*inputs.shape[:-1], -1)


class NormalizedBatch(Function):
    """Normalize each feature of a run over its batch and its variables; only the result is kept for the gradient."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        rows = inputs.flatten(1, -2)
        variance, mean = torch.var_mean(rows, 1, correction=0, keepdim=True)
        scale = torch.rsqrt(variance + EPSILON)
        normal = rows.sub(mean).mul_(scale)
        ctx.save_for_backward(normal, scale, weight)
        return torch.addcmul(bias[:, None], normal, weight[:, None]).view_as(inputs)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        normal, scale, weight = ctx.saved_tensors
        rows = upstream.flatten(1, -2)
        of_bias, of_weight = rows.sum(1), (rows * normal).sum(1)
        n = rows.shape[1]
        centered = rows - (of_bias / n)[:, None] - normal * (of_weight / n)[:, None]
        return centered.mul_(scale * weight[:, None]).view_as(upstream), of_weight, of_bias


class PointerLogits(Function):
    r""":math:`v^T \tanh(k_j + q_t)`: query (n, 256, steps), key (n, 256, variables), vector (runs, 256)."""

    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, vector: Tensor) -> Tensor:
        ctx.save_for_backward(query, key, vector)
        if query.is_cuda:
            from precede.search.stacked.kernels import pointer_logits

            return pointer_logits(query, key, vector)
        return (_of_orders(vector, query)[:, :, None, None] * _pairs(query, key)).sum(1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        query, key, vector = ctx.saved_tensors
        if query.is_cuda:
            from precede.search.stacked.kernels import pointer_gradients

            return pointer_gradients(query, key, vector, upstream.contiguous())
        pairs = _pairs(query, key)
        levels = (upstream[:, None] * pairs).sum((2, 3))
        slopes = upstream[:, None] * (1 - pairs**2) * _of_orders(vector, query)[:, :, None, None]
        return slopes.sum(3), slopes.sum(2), levels.view(len(vector), -1, vector.shape[1]).sum(1)


def _pairs(query: Tensor, key: Tensor) -> Tensor:
    return torch.tanh(query[:, :, :, None] + key[:, :, None, :])


def _of_orders(vector: Tensor, query: Tensor) -> Tensor:
    """The vector of each order's run."""
    return vector.repeat_interleave(len(query) // len(vector), 0)
