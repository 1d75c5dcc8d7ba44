"""Encoder by attention that alternates over samples and variables: any number of either, in any sequence."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

BLOCKS = 4  # METHODS 5
HEADS = 8
FEED_FORWARD = 4
"""Hidden units of the feed-forward layers, as a multiple of the width."""

LARGEST_GRID = 65_535
"""Sequences times heads in one attention call: CUDA kernels put them on a grid axis of at most this length."""

BACKENDS = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
"""All but cuDNN's, whose backward pass fails on this many short sequences (torch 2.11)."""


def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Scaled dot-product attention of (batch, heads, length, width) tensors, for any number of sequences."""
    most = max(1, LARGEST_GRID // query.shape[1])
    parts = zip(*(torch.split(part, most) for part in (query, key, value)), strict=True)
    with sdpa_kernel(BACKENDS):
        return torch.cat([F.scaled_dot_product_attention(*part) for part in parts])


class AxisAttention(nn.Module):
    """Self-attention along the second axis of (batch, length, width), then two feed-forward layers; normed first."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm_attention = nn.LayerNorm(width)
        self.project = nn.Linear(width, 3 * width)
        self.merge = nn.Linear(width, width)
        self.norm_forward = nn.LayerNorm(width)
        self.forward_layers = nn.Sequential(
            nn.Linear(width, FEED_FORWARD * width), nn.GELU(), nn.Linear(FEED_FORWARD * width, width)
        )

    def forward(self, tokens: Tensor) -> Tensor:
        batch, length, width = tokens.shape
        split = self.project(self.norm_attention(tokens)).view(batch, length, 3, HEADS, width // HEADS)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        attended = attend(query, key, value).transpose(1, 2).reshape(batch, length, width)
        tokens = tokens + self.merge(attended)
        result: Tensor = tokens + self.forward_layers(self.norm_forward(tokens))
        return result


class AlternatingEncoder(nn.Module):
    """Every value is a token; attention over the samples of a variable, then over the variables of a sample.

    A token starts from the standardised value and the variable's log scale. The states are the tokens' mean and
    maximum over samples, so they do not depend on the sequence of samples and move with the columns.
    """

    width = 128  # METHODS 5

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Linear(2, self.width)
        self.over_samples = nn.ModuleList(AxisAttention(self.width) for _ in range(BLOCKS))
        self.over_variables = nn.ModuleList(AxisAttention(self.width) for _ in range(BLOCKS))
        self.pool = nn.Sequential(nn.LayerNorm(2 * self.width), nn.Linear(2 * self.width, self.width))

    def forward(self, inputs: Tensor) -> Tensor:
        """States (batch, n_variables, width) of inputs (batch, n_variables, n_samples + 1), the log scale last."""
        batch, d, columns = inputs.shape
        n = columns - 1
        values, log_scale = inputs[:, :, :n], inputs[:, :, n:].expand(-1, -1, n)
        tokens = self.embed(torch.stack([values, log_scale], dim=3))  # (batch, d, n, width)
        for over_samples, over_variables in zip(self.over_samples, self.over_variables, strict=True):
            tokens = over_samples(tokens.reshape(batch * d, n, self.width)).view(batch, d, n, self.width)
            by_sample = tokens.transpose(1, 2).reshape(batch * n, d, self.width)
            tokens = over_variables(by_sample).view(batch, n, d, self.width).transpose(1, 2)
        states: Tensor = self.pool(torch.cat([tokens.mean(2), tokens.amax(2)], dim=2))
        return states
