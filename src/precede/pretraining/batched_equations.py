"""Batched structural equations: what :mod:`precede.data.equations` does for one data set, for many on the device.

All tensors are (batch, n_variables, n_samples), variables in causal order. Linear equations are one triangular solve;
the others loop over positions, each step for the whole batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from precede.data.equations import HIDDEN_UNITS

BatchedMechanism = Callable[[Tensor, Tensor, Tensor, torch.Generator], Tensor]

RANDOM_FEATURES = 128
"""Cosines in a draw of a Gaussian process: the kernel is right to about 1 / sqrt of this many."""


def linear(noise: Tensor, weights: Tensor) -> Tensor:
    r"""Solve :math:`x = W^\top x + e` for every task at once.

    Parameters
    ----------
    noise : (batch, n_variables, n_samples) tensor
    weights : (batch, n_variables, n_variables) tensor
        Strictly upper triangular, ``weights[:, i, j]`` the effect of i on j.
    """
    system = torch.eye(weights.shape[-1], device=weights.device) - weights.transpose(1, 2)
    solution: Tensor = torch.linalg.solve_triangular(system, noise, upper=False, unitriangular=True)
    return solution


def gp_joint(noise: Tensor, adjacency: Tensor, weights: Tensor, generator: torch.Generator) -> Tensor:
    r"""Gaussian process over the parents jointly, bandwidth one, by random Fourier features.

    :math:`f(x) = \sqrt{2/F} \sum_k a_k \cos(w_k^\top x + b_k)` with Gaussian a and w and uniform b has the kernel
    :math:`\exp(-\tfrac12 \lVert x - y \rVert^2)` (Rahimi & Recht 2007).

    Parameters
    ----------
    noise : (batch, n_variables, n_samples) tensor
    adjacency : (batch, n_variables, n_variables) float tensor
        Strictly upper triangular.
    weights : tensor of the same shape
        Random weights of the edges; Gaussian processes have none and do not look at it.
    """
    batch, d, _ = noise.shape
    x = noise.clone()
    phases = 2 * math.pi * _uniform((batch, d, RANDOM_FEATURES, 1), noise, generator)
    amplitudes = math.sqrt(2 / RANDOM_FEATURES) * _normal((batch, d, 1, RANDOM_FEATURES), noise, generator)
    amplitudes *= (adjacency.sum(1) > 0)[:, :, None, None]  # no parents: noise alone
    for t in range(1, d):
        frequencies = _normal((batch, RANDOM_FEATURES, t), noise, generator) * adjacency[:, None, :t, t]
        features = torch.baddbmm(phases[:, t], frequencies, x[:, :t]).cos_()
        x[:, t] += (amplitudes[:, t] @ features)[:, 0]
    return x


def gp_additive(noise: Tensor, adjacency: Tensor, weights: Tensor, generator: torch.Generator) -> Tensor:
    """Sum of independent Gaussian processes, one for each parent, kernel as in :func:`gp_joint`.

    The cosines of a parent are shared by its children; their amplitudes are not, so given the frequencies the
    functions are independent.
    """
    batch, d, n = noise.shape
    x = noise.clone()
    frequencies = _normal((batch, d, RANDOM_FEATURES, 1), noise, generator)
    phases = 2 * math.pi * _uniform((batch, d, RANDOM_FEATURES, 1), noise, generator)
    features = noise.new_empty((batch, d, RANDOM_FEATURES, n))
    for t in range(d):
        if t:
            amplitudes = math.sqrt(2 / RANDOM_FEATURES) * _normal((batch, t, RANDOM_FEATURES), noise, generator)
            amplitudes *= adjacency[:, :t, t, None]
            x[:, t] += (amplitudes.view(batch, 1, -1) @ features[:, :t].reshape(batch, -1, n))[:, 0]
        torch.addcmul(phases[:, t], frequencies[:, t], x[:, t, None], out=features[:, t])
        features[:, t].cos_()
    return x


def mlp(noise: Tensor, adjacency: Tensor, weights: Tensor, generator: torch.Generator) -> Tensor:
    r"""Random network :math:`f(x) = v^\top \sigma(U x)` with one hidden layer, weights in ±[0.5, 2]."""
    batch, d, _ = noise.shape
    x = noise.clone()
    out = _either_sign(0.5, 2.0, (batch, d, 1, HIDDEN_UNITS), noise, generator)
    out *= (adjacency.sum(1) > 0)[:, :, None, None]
    for t in range(1, d):
        into = _either_sign(0.5, 2.0, (batch, HIDDEN_UNITS, t), noise, generator) * adjacency[:, None, :t, t]
        x[:, t] += (out[:, t] @ (into @ x[:, :t]).sigmoid_())[:, 0]
    return x


def quadratic(noise: Tensor, adjacency: Tensor, weights: Tensor, generator: torch.Generator) -> Tensor:
    """Random quadratic form of the standardized parents; each term kept with probability one half.

    As :func:`precede.data.equations.quadratic`, with ``weights`` for the linear terms.
    """
    batch, d, _ = noise.shape
    x, z = noise.clone(), torch.empty_like(noise)
    for t in range(d):
        if t:
            parents = adjacency[:, :t, t]
            linear_kept = parents * (_uniform((batch, t), noise, generator) < 0.5)
            pairs = parents[:, :, None] * parents[:, None, :]
            square_kept = torch.triu(pairs * (_uniform((batch, t, t), noise, generator) < 0.5))
            lonely = parents * ((linear_kept + square_kept.sum(1) + square_kept.sum(2)) == 0)
            square_kept = square_kept + torch.diag_embed(lonely)
            form = square_kept * _either_sign(0.5, 2.0, (batch, t, t), noise, generator)
            before = z[:, :t]
            x[:, t] += ((linear_kept * weights[:, :t, t])[:, None] @ before)[:, 0] + (before * (form @ before)).sum(1)
        z[:, t] = (x[:, t] - x[:, t].mean(1, keepdim=True)) / x[:, t].std(1, keepdim=True)
    return x


def _normal(shape: tuple[int, ...], like: Tensor, generator: torch.Generator) -> Tensor:
    return torch.randn(shape, generator=generator, device=like.device)


def _uniform(shape: tuple[int, ...], like: Tensor, generator: torch.Generator) -> Tensor:
    return torch.rand(shape, generator=generator, device=like.device)


def _either_sign(low: float, high: float, shape: tuple[int, ...], like: Tensor, generator: torch.Generator) -> Tensor:
    """Uniform in ±[low, high]: one draw gives the size and the sign."""
    signed = 2 * _uniform(shape, like, generator) - 1
    return signed.sign() * (low + (high - low) * signed.abs())
