"""Edge head: from the state of a pair of variables to the probability of an edge, either way."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class EdgeHead(nn.Module):
    r"""Probability of i -> j for each ordered pair; i -> j, j -> i and no edge exclude each other.

    With e the output of two layers for an ordered pair,
    :math:`P(i \to j) = \exp(e_{ij}) / (1 + \exp(e_{ij}) + \exp(e_{ji}))`.

    Parameters
    ----------
    width : int
        Of a pair's state.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.layers = nn.Sequential(nn.Linear(2 * width, 2 * width), nn.GELU(), nn.Linear(2 * width, 1))

    def forward(self, pairs: Tensor) -> Tensor:
        """Logits e (batch, n_variables, n_variables) of pairs (batch, n_variables, n_variables, width)."""
        normed = self.norm(pairs)
        logits: Tensor = self.layers(torch.cat([normed, normed.transpose(1, 2)], dim=3))[..., 0].float()
        return logits


def edge_log_probabilities(logits: Tensor) -> tuple[Tensor, Tensor]:
    """Log-probabilities of i -> j, and of no edge between i and j, each (batch, n_variables, n_variables).

    Examples
    --------
    >>> there, none = edge_log_probabilities(torch.zeros(1, 2, 2))
    >>> [round(part.exp()[0, 0, 1].item(), 3) for part in (there, none)]
    [0.333, 0.333]
    """
    nothing = torch.zeros_like(logits)
    everything = torch.stack([nothing, logits, logits.transpose(1, 2)]).logsumexp(0)
    return logits - everything, -everything


def edge_loss(logits: Tensor, adjacency: Tensor) -> Tensor:
    """Mean over unordered pairs of minus the log-probability of what is there: i -> j, j -> i, or nothing."""
    there, none = edge_log_probabilities(logits)
    edges = adjacency.to(logits.dtype)
    backwards = edges.transpose(1, 2)  # the edge that points the other way
    # each unordered pair is met twice, with the same terms
    chosen = edges * there + backwards * there.transpose(1, 2) + (1 - edges - backwards) * none
    apart = ~torch.eye(logits.shape[1], dtype=torch.bool, device=logits.device)
    return -chosen[:, apart].mean()
