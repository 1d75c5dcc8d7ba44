"""One perceptron per variable, all run at once: the conditionals of GraN-DAG."""

from __future__ import annotations

import math
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class ConditionalNetworks(nn.Module):
    r"""Gaussian conditionals :math:`p_j(x_j \mid x) = N(\mu_j(x), \sigma_j^2)`, one perceptron per variable.

    All perceptrons run at once: the first layer is one matrix product, each further layer one batched product. A mask
    takes away inputs; a variable never sees itself.
    """

    mask: Tensor

    def __init__(self, n_variables: int, n_layers: int, hidden_size: int, mask: Tensor) -> None:
        super().__init__()
        sizes = [n_variables, *[hidden_size] * n_layers, 1]
        shapes = [(n_variables, out, into) for into, out in pairwise(sizes)]
        self.weights = nn.ParameterList(torch.empty(shape) for shape in shapes)  # [variable, to, from]
        self.biases = nn.ParameterList(torch.zeros(n_variables, 1, out) for _, out, _ in shapes)
        self.log_scale = nn.Parameter(torch.zeros(n_variables))
        self.register_buffer("mask", mask)  # [i, j]: i may cause j
        self.n_paths = hidden_size**n_layers
        for weight in self.weights:
            for part in weight:  # Glorot's scale is that of one perceptron, not of the stack
                nn.init.xavier_uniform_(part, gain=nn.init.calculate_gain("leaky_relu"))

    def first_layer(self) -> Tensor:
        """Weights that the mask leaves, (d, hidden, d)."""
        masked: Tensor = self.weights[0] * self.mask.T[:, None, :]  # transposed: the networks are stacked by effect
        return masked

    def means(self, values: Tensor) -> Tensor:
        """Conditional means of every variable, (n, d) from (n, d)."""
        d = len(self.log_scale)
        first = self.first_layer()
        hidden: Tensor = (values @ first.reshape(-1, d).T).view(len(values), d, -1).transpose(0, 1) + self.biases[0]
        for weight, bias in zip(self.weights[1:], self.biases[1:], strict=True):
            hidden = torch.baddbmm(bias, F.leaky_relu(hidden), weight.mT)
        return hidden[..., 0].T

    def log_likelihood(self, values: Tensor, targets: Tensor) -> Tensor:
        """Log density of each target given the values, (n, d)."""
        standardized = (targets - self.means(values)) * torch.exp(-self.log_scale)
        return -0.5 * standardized.square() - self.log_scale - 0.5 * math.log(2 * math.pi)

    def connectivity(self) -> Tensor:
        r"""Weighted adjacency :math:`A_\phi`, mean over paths of the product of absolute weights.

        Zero at ``[i, j]`` if and only if no path leads from input i to the mean of j.
        """
        product: Tensor = self.weights[-1].abs()
        for weight in reversed(self.weights[1:-1]):
            product = product @ weight.abs()
        product = product @ self.first_layer().abs()
        connectivity: Tensor = product[:, 0].T / self.n_paths  # transposed: rows are causes from here on
        return connectivity

    def sensitivity(self, values: Tensor) -> Tensor:
        r"""Mean absolute Jacobian :math:`\mathbb{E} |\partial \log p_j / \partial x_i|`, (d, d)."""
        inputs = values.clone().requires_grad_()
        terms = self.log_likelihood(inputs, values).sum(dim=0)
        rows = [torch.autograd.grad(term, inputs, retain_graph=True)[0].abs().mean(dim=0) for term in terms]
        return torch.stack(rows, dim=1)
