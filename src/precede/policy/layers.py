"""What the networks are made of: feed-forward layers, an LSTM, normalizations."""

import math
from typing import Literal

import torch
from torch import Tensor, nn

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
