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


class Recurrence(Function):
    """An LSTM over given inputs: gates (steps, runs, batch, 1024), without the part of the hidden state.

    The weights are (runs, 1024, 256); hidden and cell (runs, batch, 256) come before the first step. Gives the hidden
    states, (steps, runs, batch, 256).
    """

    @staticmethod
    def forward(ctx: Any, gates: Tensor, weight: Tensor, hidden: Tensor, cell: Tensor) -> Tensor:
        transposed = weight.transpose(1, 2)
        hiddens, cells, opened = [hidden], [cell], []
        for step in gates:
            hidden, cell, parts = lstm_cell(torch.baddbmm(step, hidden, transposed), cell)
            hiddens.append(hidden)
            cells.append(cell)
            opened.append(parts)
        before = torch.stack(hiddens)
        ctx.save_for_backward(weight, before, torch.stack(cells), torch.stack(opened))
        return before[1:].clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        weight, hiddens, cells, opened = ctx.saved_tensors
        n_steps = len(opened)
        of_gates = torch.empty_like(opened)
        of_hidden, of_cell = torch.zeros_like(hiddens[0]), torch.zeros_like(cells[0])
        for t in reversed(range(n_steps)):
            of_cell = lstm_cell_gradient(
                opened[t], cells[t], cells[t + 1], of_hidden.add_(upstream[t]), of_cell, of_gates[t]
            )
            of_hidden = torch.bmm(of_gates[t], weight)
        # every step's part of the weights in one product
        n_runs = len(weight)
        by_run = of_gates.transpose(0, 1).reshape(n_runs, -1, of_gates.shape[-1])
        earlier = hiddens[:-1].transpose(0, 1).reshape(n_runs, -1, hiddens.shape[-1])
        return of_gates, torch.bmm(by_run.transpose(1, 2), earlier), of_hidden, of_cell


def lstm_cell(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Hidden state and cell after a step, and the four gates as they are open."""
    if gates.is_cuda:
        from precede.search.stacked.kernels import cell_step

        return cell_step(gates, cell)
    enter, forget, content, leave = gates.chunk(4, dim=-1)
    parts = torch.cat([torch.sigmoid(enter), torch.sigmoid(forget), torch.tanh(content), torch.sigmoid(leave)], dim=-1)
    enter, forget, content, leave = parts.chunk(4, dim=-1)
    cell = torch.addcmul(forget * cell, enter, content)
    return leave * torch.tanh(cell), cell, parts


def lstm_cell_gradient(
    opened: Tensor, cell_before: Tensor, cell: Tensor, of_hidden: Tensor, of_cell: Tensor, of_gates: Tensor
) -> Tensor:
    """Write the gradient of a step's gates into ``of_gates``; gives that of the cell before it."""
    if opened.is_cuda:
        from precede.search.stacked.kernels import cell_gradient

        return cell_gradient(opened, cell_before, cell, of_hidden, of_cell, of_gates)
    enter, forget, content, leave = opened.chunk(4, dim=-1)
    level = torch.tanh(cell)
    of_cell = of_cell + of_hidden * leave * (1 - level**2)
    torch.cat(
        [
            of_cell * content * enter * (1 - enter),
            of_cell * cell_before * forget * (1 - forget),
            of_cell * enter * (1 - content**2),
            of_hidden * level * leave * (1 - leave),
        ],
        dim=-1,
        out=of_gates,
    )
    return of_cell * forget
