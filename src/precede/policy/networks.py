"""The paper's networks (Section 4.2, Appendix A): layers, encoders, and decoders that point at the next variable."""

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from precede.errors import OptionError

NormalizationName = Literal["layer", "batch"]


def perceptron(width_in: int, widths: tuple[int, ...], activation: type[nn.Module] = nn.ReLU) -> nn.Sequential:
    """Feed-forward layers with an activation between them."""
    layers: list[nn.Module] = []
    for width in widths:
        layers += [nn.Linear(width_in, width), activation()]
        width_in = width
    return nn.Sequential(*layers[:-1])


class BatchNorm(nn.BatchNorm1d):
    """Normalize each feature over all variables and all members of a batch; the same in training and after."""

    def __init__(self, width: int) -> None:
        super().__init__(width, eps=1e-3, track_running_stats=False)

    def forward(self, states: Tensor) -> Tensor:
        return super().forward(states.flatten(0, 1)).view_as(states)


def make_norm(name: NormalizationName, width: int) -> nn.Module:
    """Build a normalization of (batch, n_variables, width) states."""
    return BatchNorm(width) if name == "batch" else nn.LayerNorm(width)


class LSTM(nn.Module):
    """An LSTM whose steps may depend on what was chosen after the one before.

    Names, shapes and first values of its parameters are those of ``torch.nn.LSTM``.
    """

    def __init__(self, width_in: int, width: int) -> None:
        super().__init__()
        self.weight_ih_l0 = nn.Parameter(torch.empty(4 * width, width_in))
        self.weight_hh_l0 = nn.Parameter(torch.empty(4 * width, width))
        self.bias_ih_l0 = nn.Parameter(torch.empty(4 * width))
        self.bias_hh_l0 = nn.Parameter(torch.empty(4 * width))
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -1 / math.sqrt(width), 1 / math.sqrt(width))

    def gates(self, inputs: Tensor) -> Tensor:
        """What inputs (..., width_in) send to the four gates, biases included: (..., 4 * width)."""
        return nn.functional.linear(inputs, self.weight_ih_l0, self.bias_ih_l0 + self.bias_hh_l0)

    def step(self, gates: Tensor, hidden: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        """Hidden state and cell (batch, width) after a step, from those before it."""
        gates = torch.addmm(gates, hidden, self.weight_hh_l0.T)
        enter, forget, content, leave = gates.chunk(4, dim=-1)
        cell = torch.sigmoid(forget) * cell + torch.sigmoid(enter) * torch.tanh(content)
        return torch.sigmoid(leave) * torch.tanh(cell), cell

    def forward(self, inputs: Tensor) -> Tensor:
        """Hidden states (batch, steps, width) over inputs (batch, steps, width_in), from zero."""
        gates = self.gates(inputs)
        hidden = cell = gates.new_zeros((len(inputs), self.weight_hh_l0.shape[1]))
        hiddens = []
        for step in gates.unbind(1):
            hidden, cell = self.step(step, hidden, cell)
            hiddens.append(hidden)
        return torch.stack(hiddens, 1)


PaperEncoderName = Literal["null", "mlp", "lstm", "transformer"]
"""Encoders of the paper, which ``CORL(encoder=...)`` takes."""
EncoderName = Literal[PaperEncoderName, "moments"]
"""Those and the encoder of the pretrained policy, which reads any number of rows and comes with its weights."""

WIDTH = 256  # Appendix A.2: the embedded state
HEADS = 8  # Appendix A.2
BLOCKS = 3  # Appendix A.2, Figure 5


class TransformerBlock(nn.Module):
    """Multi-head self-attention over variables, then two feed-forward layers, each part added and normalized.

    RL-BIC2's block has no layer that merges the heads. With batch normalization it is that of its authors' program:
    queries, keys and values are rectified, and weights drawn by Glorot's rule.
    """

    def __init__(self, normalization: NormalizationName, width: int, heads: int, of_rl_bic2: bool = False) -> None:
        super().__init__()
        self.heads = heads
        self.project = nn.Linear(width, 3 * width)
        self.merge = nn.Identity() if of_rl_bic2 else nn.Linear(width, width)
        self.forward_layers = perceptron(width, (4 * width, width))
        self.norm_attention = make_norm(normalization, width)
        self.norm_forward = make_norm(normalization, width)
        self.rectify = of_rl_bic2 and normalization == "batch"
        if self.rectify:
            first, _, second = self.forward_layers
            for weights in (*self.project.weight.split(width), first.weight, second.weight):
                nn.init.xavier_uniform_(weights)

    def forward(self, states: Tensor) -> Tensor:
        batch, d, width = states.shape
        projected = self.project(states)
        if self.rectify:
            projected = F.relu(projected)
        # shape: (3, batch, heads, d, width / heads)
        query, key, value = projected.view(batch, d, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(query, key, value)
        states = self.norm_attention(states + self.merge(attended.transpose(1, 2).reshape(batch, d, width)))
        result: Tensor = self.norm_forward(states + self.forward_layers(states))
        return result


class TransformerEncoder(nn.Module):
    """A feed-forward layer with 256 units and three self-attention blocks (Figure 5).

    Where the paper only says "a normalization layer" there are two readings. "batch" is that of RL-BIC2, on whose
    encoder the paper's is built, with one more after the first layer: a state keeps the scale of its variable, which
    resampled rows need to be told apart. "layer" normalizes each state by itself and is for inputs that carry the scale
    as a number of its own.
    """

    def __init__(
        self,
        n_inputs: int,
        normalization: NormalizationName,
        width: int,
        heads: int,
        n_blocks: int = BLOCKS,
        of_rl_bic2: bool = False,
    ) -> None:
        super().__init__()
        self.embed = nn.Linear(n_inputs, width)
        self.norm_embedding = make_norm(normalization, width) if normalization == "batch" else nn.Identity()
        blocks = [TransformerBlock(normalization, width, heads, of_rl_bic2) for _ in range(n_blocks)]
        self.blocks = nn.Sequential(*blocks)

    def forward(self, inputs: Tensor) -> Tensor:
        result: Tensor = self.blocks(self.norm_embedding(self.embed(inputs)))
        return result


class LearnedStates(nn.Module):
    """States that were computed once and are trained themselves, whatever the inputs."""

    def __init__(self, states: Tensor) -> None:
        super().__init__()
        self.states = nn.Parameter(states.clone())

    def forward(self, inputs: Tensor) -> Tensor:
        return self.states


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
