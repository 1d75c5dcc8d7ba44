"""The recurrence of LSTMs: whole, or its gradient alone where the steps are known.

Tensors have an axis of runs, whose LSTMs have weights of their own (:mod:`precede.search.stacked`); one policy is one
run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

Gradients = tuple[Tensor, Tensor, Tensor, Tensor]


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
    def backward(ctx: Any, upstream: Tensor) -> Gradients:
        weight, hiddens, cells, opened = ctx.saved_tensors
        return recurrence_gradients(weight, hiddens, cells, opened, upstream)


@dataclass(frozen=True)
class Trace:
    """What an LSTM went through, step by step.

    Parameters
    ----------
    hiddens, cells : (steps, batch, 256) tensors
        After each step.
    opened : (steps, batch, 1024) tensor
        The gates as they were open in it.
    """

    hiddens: Tensor
    cells: Tensor
    opened: Tensor


class KnownRecurrence(Function):
    """Hidden states that a trace has, with the gradient that they would have if the LSTM had run again.

    Inputs (n_inputs, 1024) are what each of them sends to the gates, ``visited`` (steps, batch) which of them comes at
    each step; weights (1024, 256), and hidden state and cell (batch, 256) before the first step. There is one run.
    """

    @staticmethod
    def forward(
        ctx: Any, inputs: Tensor, weight: Tensor, hidden: Tensor, cell: Tensor, visited: Tensor, trace: Trace
    ) -> Tensor:
        ctx.save_for_backward(weight, hidden, cell, visited, trace.hiddens, trace.cells, trace.opened)
        ctx.n_inputs = len(inputs)
        return trace.hiddens.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        weight, hidden, cell, visited, hiddens, cells, opened = ctx.saved_tensors
        hiddens, cells = torch.cat([hidden[None], hiddens]), torch.cat([cell[None], cells])
        steps = (tensor[:, None] for tensor in (hiddens, cells, opened, upstream))
        of_gates, of_weight, of_hidden, of_cell = recurrence_gradients(weight[None], *steps)
        of_inputs = weight.new_zeros((ctx.n_inputs, len(weight)))
        of_inputs.index_put_((visited,), of_gates[:, 0], accumulate=True)
        return of_inputs, of_weight[0], of_hidden[0], of_cell[0], None, None


def recurrence_gradients(weight: Tensor, hiddens: Tensor, cells: Tensor, opened: Tensor, upstream: Tensor) -> Gradients:
    """Gradients of gates, weights, first hidden state and first cell.

    Parameters
    ----------
    weight : (runs, 1024, 256) tensor
    hiddens, cells : (steps + 1, runs, batch, 256) tensors
        Before the first step and after each.
    opened : (steps, runs, batch, 1024) tensor
        The gates as they are open.
    upstream : (steps, runs, batch, 256) tensor
        Gradient of the hidden states.
    """
    upstream = upstream.clone(memory_format=torch.contiguous_format)  # grows by what comes back from later steps
    of_gates = torch.empty_like(opened)
    of_cell = torch.zeros_like(cells[0])
    for t in reversed(range(len(opened))):
        of_cell = lstm_cell_gradient(opened[t], cells[t], cells[t + 1], upstream[t], of_cell, of_gates[t])
        if t:
            upstream[t - 1].baddbmm_(of_gates[t], weight)
    # every step's part of the weights in one product
    n_runs = len(weight)
    by_run = of_gates.transpose(0, 1).reshape(n_runs, -1, of_gates.shape[-1])
    earlier = hiddens[:-1].transpose(0, 1).reshape(n_runs, -1, hiddens.shape[-1])
    return of_gates, torch.bmm(by_run.transpose(1, 2), earlier), torch.bmm(of_gates[0], weight), of_cell


def lstm_cell(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Hidden state and cell after a step, and the four gates as they are open."""
    if gates.is_cuda:
        from precede.policy.kernels import cell_step

        return cell_step(gates, cell)
    return plain_lstm_cell(gates, cell)


def plain_lstm_cell(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The same without a kernel of its own on any device."""
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
        from precede.policy.kernels import cell_gradient

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
