"""The policy of RL-BIC2: from samples of the variables to the logit of every edge (Zhu, Ng and Chen, ICLR 2020)."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from precede.policy.encoders import NormalizationName, make_norm


class AttentionBlock(nn.Module):
    """Self-attention over variables, then two feed-forward layers; each part is added and normalized.

    With batch normalization it is the authors' block: queries, keys and values are rectified, and the weights are drawn
    by Glorot's rule.
    """

    def __init__(self, width: int, n_heads: int, normalization: NormalizationName) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.project = nn.Linear(width, 3 * width)
        self.feed_forward = nn.Sequential(nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width))
        self.norm_attention, self.norm_forward = make_norm(normalization, width), make_norm(normalization, width)
        self.rectify = normalization == "batch"
        if self.rectify:
            for part in (*self.project.weight.split(width), self.feed_forward[0].weight, self.feed_forward[2].weight):
                nn.init.xavier_uniform_(part)

    def forward(self, states: Tensor) -> Tensor:
        batch, d, width = states.shape
        projected = self.project(states)
        if self.rectify:
            projected = F.relu(projected)
        # shape: (3, batch, heads, d, width / heads)
        query, key, value = projected.view(batch, d, 3, self.n_heads, -1).permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(query, key, value)
        states = self.norm_attention(states + attended.transpose(1, 2).reshape(batch, d, width))
        result: Tensor = self.norm_forward(states + self.feed_forward(states))
        return result


class GraphPolicy(nn.Module):
    r"""Encoder, single-layer decoder and critic of Zhu et al.

    The decoder's logit for an edge i -> j is :math:`u^T \tanh(W_1 e_i + W_2 e_j) + b`, e the encoded
    variables; edges are independent Bernoulli draws. The critic predicts the reward from the mean of e.
    """

    def __init__(
        self,
        n_inputs: int,
        width: int,
        n_heads: int,
        n_blocks: int,
        decoder_width: int,
        bias: float | None,
        normalization: NormalizationName,
    ) -> None:
        super().__init__()
        self.embed = nn.Linear(n_inputs, width)
        self.norm_embedding = make_norm("batch", width) if normalization == "batch" else nn.Identity()
        self.blocks = nn.Sequential(*(AttentionBlock(width, n_heads, normalization) for _ in range(n_blocks)))
        self.cause = nn.Linear(width, decoder_width, bias=False)
        self.effect = nn.Linear(width, decoder_width, bias=False)
        self.combine = nn.Linear(decoder_width, 1, bias=False)
        self.bias = None if bias is None else nn.Parameter(torch.tensor(float(bias)))
        self.critic = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))
        for layer in (self.cause, self.effect, self.combine):
            nn.init.xavier_uniform_(layer.weight)

    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Edge logits (batch, d, d) with ``[k, i, j]`` for i -> j, and predicted rewards (batch,)."""
        states = self.blocks(self.norm_embedding(self.embed(inputs)))
        logits = self.combine(torch.tanh(self.cause(states)[:, :, None] + self.effect(states)[:, None]))[..., 0]
        value = self.critic(states.mean(dim=1))[:, 0]
        return (logits if self.bias is None else logits + self.bias), value


def surprise_and_entropy(logits: Tensor, drawn: Tensor) -> tuple[Tensor, Tensor]:
    """Of each edge on its own, (batch, d, d): minus the log-probability of what was drawn, and the entropy."""
    surprise = F.binary_cross_entropy_with_logits(logits, drawn.float(), reduction="none")
    return surprise, F.softplus(logits) - torch.sigmoid(logits) * logits


def per_entry(values: Tensor) -> Tensor:
    """Mean over the batch and over the pairs of different variables."""
    d = values.shape[-1]
    off_diagonal = ~torch.eye(d, dtype=torch.bool, device=values.device)
    total: Tensor = (values * off_diagonal).sum(dim=(1, 2)).mean()
    return total / (d * max(d - 1, 1))
