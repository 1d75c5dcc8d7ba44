"""Decoders: from the state of the last placed variable to the logits of the next (Appendix A, Figure 6).

A decoder is used in two ways. ``begin`` and ``step`` sample, one variable after another
(:mod:`precede.policy.sampling`); ``logits`` scores whole orders at once, teacher-forced, for the gradient. Both see the
same numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from precede.errors import check_choice
from precede.policy.encoders import WIDTH, perceptron
from precede.policy.recurrence import KnownRecurrence, Trace, plain_lstm_cell

DecoderName = Literal["mlp", "lstm"]
PointerName = Literal["dot", "additive"]

LOGIT_CLIP = 10.0
"""Logits are kept within +-10 by a tanh, so that no choice becomes certain early (Bello et al. 2016)."""


class DotPointer(nn.Module):
    """Pointer by scaled dot product of a query and each variable's key, both through a feed-forward layer."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.key = nn.Linear(width, WIDTH)
        self.query = nn.Linear(WIDTH, WIDTH)

    def forward(self, outputs: Tensor, keys: Tensor) -> Tensor:
        """Logits (batch, steps, n_variables) of outputs (batch, steps, 256), keys (1 or batch, n_variables, 256)."""
        products = self.query(outputs) @ keys.transpose(-1, -2)
        return LOGIT_CLIP * torch.tanh(products / math.sqrt(WIDTH))


class AdditivePointer(nn.Module):
    r"""Pointer of Vinyals et al. (2015): :math:`u_{tj} = v^T \tanh(W_1 s_j + W_2 h_t)`; memory batch * d² * 256."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.key = nn.Linear(width, WIDTH)
        self.query = nn.Linear(WIDTH, WIDTH)
        self.vector = nn.Linear(WIDTH, 1, bias=False)

    def forward(self, outputs: Tensor, keys: Tensor) -> Tensor:
        mixed = torch.tanh(self.query(outputs)[:, :, None, :] + keys[:, None, :, :])
        result: Tensor = self.vector(mixed).squeeze(-1)
        return result


@dataclass
class DecoderMemory:
    """What sampling keeps from step to step: keys and projected inputs once, hidden state at every step."""

    keys: Tensor  # (1 or batch, n_variables, 256)
    inputs: Tensor  # (1 or batch, n_variables + 1, ...): row j for state j, the last row for the initial state
    hidden: Tensor
    cell: Tensor


class LSTMDecoder(nn.Module):
    """LSTM of 256 units over the states of the placed variables; its initial hidden state comes from the encoder."""

    def __init__(self, width: int, pointer: PointerName) -> None:
        super().__init__()
        self.lstm = nn.LSTM(width, WIDTH, batch_first=True)
        self.initial = nn.Linear(width, 2 * WIDTH)
        self.pointer = _make_pointer(pointer, width)

    def start(self, states: Tensor, batch: int) -> tuple[Tensor, Tensor]:
        """Hidden state and cell before the first step, (batch, 256) each."""
        hidden, cell = torch.tanh(self.initial(states.mean(1))).chunk(2, dim=-1)
        return hidden.expand(batch, -1), cell.expand(batch, -1)

    @property
    def recurrent(self) -> Tensor:
        """Weights of the LSTM on its own hidden state."""
        return list(self.lstm.parameters())[1]

    def gates(self, inputs: Tensor) -> Tensor:
        """What inputs (..., width) send to the four gates, biases included: (..., 1024)."""
        into, _, *biases = self.lstm.parameters()
        return nn.functional.linear(inputs, into, biases[0] + biases[1])

    def begin(self, states: Tensor, batch: int) -> DecoderMemory:
        inputs = with_initial_state(states)
        if not inputs.is_cuda:
            # every input a step can have is one of the d states or their mean: project them all once
            inputs = self.gates(inputs)
        return DecoderMemory(self.pointer.key(states), inputs, *self.start(states, batch))

    def step(self, memory: DecoderMemory, last: Tensor) -> Tensor:
        """Logits (batch, n_variables) after the variables ``last`` (batch,); n_variables means the initial state."""
        chosen = select_states(memory.inputs, last[:, None])[:, 0]
        if chosen.is_cuda:  # few kernels: on a GPU their number is what a step costs
            memory.hidden, memory.cell = torch.lstm_cell(chosen, [memory.hidden, memory.cell], *self.lstm.parameters())
        else:
            gates = chosen + memory.hidden @ self.recurrent.T
            memory.hidden, memory.cell, _ = plain_lstm_cell(gates, memory.cell)
        # shared keys: one matrix product for the whole batch
        if len(memory.keys) == 1:
            shared: Tensor = self.pointer(memory.hidden[None], memory.keys)[0]
            return shared
        own: Tensor = self.pointer(memory.hidden[:, None], memory.keys)[:, 0]
        return own

    def logits(self, states: Tensor, orders: Tensor, trace: Trace | None = None) -> Tensor:
        """Logits (batch, n_variables, n_variables) at every step of given orders.

        A trace of these very orders, with these states and weights, spares the steps: the gradient alone is computed.
        """
        start = self.start(states, len(orders))
        if trace is None:
            visited = select_states(with_initial_state(states), visited_states(orders))
            outputs, _ = self.lstm(visited, tuple(part[None].contiguous() for part in start))
        else:
            outputs = self._retraced(states, orders, start, trace).transpose(0, 1)
        result: Tensor = self.pointer(outputs, self.pointer.key(states))
        return result

    def _retraced(self, states: Tensor, orders: Tensor, start: tuple[Tensor, Tensor], trace: Trace) -> Tensor:
        """Hidden states (n_variables, batch, 256) of shared states, as the trace has them, with their gradient."""
        inputs = self.gates(with_initial_state(states))[0]
        known = (inputs, self.recurrent, *start, visited_states(orders).T, trace)
        result: Tensor = KnownRecurrence.apply(*known)  # type: ignore[no-untyped-call]
        return result


class MLPDecoder(nn.Module):
    """The LSTM replaced by 256, 512 and 256 units: the choice depends on the last variable alone.

    So the logits form a table of d + 1 rows, one for each last variable and one for the start.
    """

    def __init__(self, width: int, pointer: PointerName) -> None:
        super().__init__()
        self.layers = perceptron(width)
        self.pointer = _make_pointer(pointer, width)

    def _table(self, states: Tensor) -> Tensor:
        result: Tensor = self.pointer(self.layers(with_initial_state(states)), self.pointer.key(states))
        return result

    def begin(self, states: Tensor, batch: int) -> DecoderMemory:
        nothing = states.new_zeros(0)
        return DecoderMemory(nothing, self._table(states), nothing, nothing)

    def step(self, memory: DecoderMemory, last: Tensor) -> Tensor:
        return select_states(memory.inputs, last[:, None])[:, 0]

    def logits(self, states: Tensor, orders: Tensor, trace: Trace | None = None) -> Tensor:
        return select_states(self._table(states), visited_states(orders))  # no steps that a trace could spare


Decoder = LSTMDecoder | MLPDecoder


def make_decoder(name: DecoderName, width: int, pointer: PointerName = "dot") -> Decoder:
    """Build a decoder over states of the given width."""
    check_choice("decoder", name, get_args(DecoderName))
    match name:
        case "mlp":
            return MLPDecoder(width, pointer)
        case "lstm":
            return LSTMDecoder(width, pointer)


def _make_pointer(name: PointerName, width: int) -> DotPointer | AdditivePointer:
    check_choice("pointer", name, get_args(PointerName))
    return DotPointer(width) if name == "dot" else AdditivePointer(width)


def with_initial_state(states: Tensor) -> Tensor:
    """Append the initial state, the mean of all states (Section 4.2), as the last row."""
    return torch.cat([states, states.mean(1, keepdim=True)], dim=1)


def visited_states(orders: Tensor) -> Tensor:
    """State at each step: the initial one (index n_variables), then that of every variable placed but the last."""
    start = torch.full_like(orders[:, :1], orders.shape[1])
    return torch.cat([start, orders[:, :-1]], dim=1)


def select_states(states: Tensor, indices: Tensor) -> Tensor:
    """Rows ``indices`` (batch, steps) of states (1 or batch, n_states, width), as (batch, steps, width)."""
    if len(states) == 1:
        return states[0][indices]
    return states.gather(1, indices[:, :, None].expand(-1, -1, states.shape[2]))
