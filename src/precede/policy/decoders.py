"""Decoders: from the state of the last placed variable to the logits of the next (Appendix A, Figure 6)."""

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from precede.errors import OptionError
from precede.policy.layers import LSTM, perceptron

DecoderName = Literal["mlp", "lstm"]
PointerName = Literal["dot", "additive"]

LOGIT_CLIP = 10.0
"""Logits are kept within +-10 by a tanh, so that no choice becomes certain early (Bello et al. 2016)."""

FUSED = True
"""Whether the additive pointer has kernels of its own on a GPU; ``benchmarks/training_step.py`` compares."""


class DotPointer(nn.Module):
    """Pointer by scaled dot product of a query and each variable's key, both through a feed-forward layer."""

    def __init__(self, width: int, units: int) -> None:
        super().__init__()
        self.key = nn.Linear(width, units)
        self.query = nn.Linear(units, units)

    def keys(self, states: Tensor) -> Tensor:
        """What the states (1 or batch, n_variables, width) answer with: (1 or batch, units, n_variables)."""
        keys: Tensor = self.key(states)
        return keys.mT

    def forward(self, outputs: Tensor, keys: Tensor) -> Tensor:
        """Logits (batch, steps, n_variables) of outputs (batch, steps, units)."""
        query = self.query(outputs)
        return LOGIT_CLIP * torch.tanh(query @ keys / math.sqrt(query.shape[2]))


class AdditivePointer(DotPointer):
    r"""Pointer of Vinyals et al. (2015): :math:`u_{tj} = v^T \tanh(W_1 s_j + W_2 h_t)`; memory batch * d² * 256."""

    def __init__(self, width: int, units: int) -> None:
        super().__init__(width, units)
        self.vector = nn.Linear(units, 1, bias=False)

    def keys(self, states: Tensor) -> Tensor:
        return super().keys(states).contiguous()

    def forward(self, outputs: Tensor, keys: Tensor) -> Tensor:
        query = self.query(outputs)
        if FUSED and query.is_cuda:
            from precede.policy.kernels import fused_logits

            return fused_logits(query, keys.expand(len(query), -1, -1), self.vector.weight)
        mixed = torch.tanh(query[..., None] + keys[:, None])
        return (self.vector.weight @ mixed)[:, :, 0]


POINTERS: dict[PointerName, type[DotPointer]] = {"dot": DotPointer, "additive": AdditivePointer}


class Glimpse(nn.Module):
    """One look at the states that are left before the pointer decides (Bello et al. 2016): their mean, as they weigh.

    Weights are those of an additive pointer of its own; the mean is added to what the decoder gives.
    """

    def __init__(self, width: int, units: int) -> None:
        super().__init__()
        if width != units:
            raise OptionError("glimpse=True adds states to what the decoder gives: encoder='null' has none as wide.")
        self.pointer = AdditivePointer(width, units)

    def forward(self, outputs: Tensor, keys: Tensor, states: Tensor, barred: Tensor) -> Tensor:
        """After one step of a batch, (batch, units); the keys are those of its pointer."""
        weights = self.pointer(outputs[:, None], keys).masked_fill(barred[:, None], -torch.inf).softmax(-1)
        result: Tensor = outputs + (weights @ states)[:, 0]
        return result


@dataclass
class DecoderMemory:
    """What a decoder keeps from step to step: keys and inputs of all variables, hidden state and cell of the last."""

    keys: Tensor  # (1 or batch, units, n_variables)
    inputs: Tensor  # (1 or batch, n_variables + 1, ...): row j for state j, the last row for the initial state
    hidden: Tensor
    cell: Tensor


class LSTMDecoder(nn.Module):
    """LSTM over the states of the placed variables; its initial hidden state comes from the encoder."""

    def __init__(self, width: int, pointer: PointerName, units: int) -> None:
        super().__init__()
        self.lstm = LSTM(width, units)
        self.initial = nn.Linear(width, 2 * units)
        self.pointer = POINTERS[pointer](width, units)

    def begin(self, states: Tensor, batch: int) -> DecoderMemory:
        """Before the first step of a batch of orders, from states (1 or batch, n_variables, width)."""
        hidden, cell = torch.tanh(self.initial(states.mean(1))).expand(batch, -1).chunk(2, dim=-1)
        inputs = with_initial_state(states)
        if len(states) == 1:  # every input that a step can have is one of the d + 1: what they send to the gates, once
            inputs = self.lstm.gates(inputs)
        return DecoderMemory(self.pointer.keys(states), inputs, hidden, cell)

    def step(self, memory: DecoderMemory, last: Tensor) -> Tensor:
        """What the pointer is asked (batch, units) after ``last`` (batch,); n_variables means the initial state."""
        entering = pick(memory.inputs, last)
        gates = entering if len(memory.inputs) == 1 else self.lstm.gates(entering)
        memory.hidden, memory.cell = self.lstm.step(gates, memory.hidden, memory.cell)
        return memory.hidden


class MLPDecoder(nn.Module):
    """The LSTM replaced by 256, 512 and 256 units: the choice depends on the last variable alone."""

    def __init__(self, width: int, pointer: PointerName, units: int) -> None:
        super().__init__()
        self.layers = perceptron(width, (units, 2 * units, units))
        self.pointer = POINTERS[pointer](width, units)

    def begin(self, states: Tensor, batch: int) -> DecoderMemory:
        nothing = states.new_zeros(0)
        return DecoderMemory(self.pointer.keys(states), self.layers(with_initial_state(states)), nothing, nothing)

    def step(self, memory: DecoderMemory, last: Tensor) -> Tensor:
        return pick(memory.inputs, last)


Decoder = LSTMDecoder | MLPDecoder


DECODERS: dict[DecoderName, type[Decoder]] = {"mlp": MLPDecoder, "lstm": LSTMDecoder}


def with_initial_state(states: Tensor) -> Tensor:
    """Append the initial state, the mean of all states (Section 4.2), as the last row."""
    return torch.cat([states, states.mean(-2, keepdim=True)], dim=-2)


def pick(rows: Tensor, last: Tensor) -> Tensor:
    """Row ``last[k]`` of the k-th of rows (1 or batch, n_rows, width), as (batch, width)."""
    if len(rows) == 1:
        return nn.functional.embedding(last, rows[0])
    return rows.gather(1, last[:, None, None].expand(-1, 1, rows.shape[2]))[:, 0]
