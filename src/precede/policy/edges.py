"""Edge head: from the state of a pair of variables to the probabilities of the four answers."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from precede.policy.layers import perceptron
from precede.policy.told import Told

SELDOM = -3.0
"""Logit of a common cause before the head has learned any."""

NEVER = -30.0
"""Logit of an answer that is known to be wrong, and of one that a policy was never taught."""


class EdgeHead(nn.Module):
    r"""Answers about each pair: i -> j, j -> i, a hidden common cause and no edge (i <-> j), or none of these.

    With e the output of two layers for an ordered pair, and c the sum over both ways of another output,
    :math:`P(i \to j) = \exp(e_{ij}) / (1 + \exp(e_{ij}) + \exp(e_{ji}) + \exp(c_{ij}))`. A direction that the data
    cannot tell has as much either way.

    Parameters
    ----------
    width : int
        Of a pair's state.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.layers = perceptron(2 * width, (2 * width, 1), nn.GELU)
        self.common = nn.Linear(2 * width, 1)
        nn.init.zeros_(self.common.weight)
        nn.init.constant_(self.common.bias, SELDOM / 2)

    def forward(self, pairs: Tensor) -> Tensor:
        """Logits e and c, (batch, n_variables, n_variables, 2), of pairs (batch, n_variables, n_variables, width)."""
        normed = self.norm(pairs)
        inner = self.layers[:-1](torch.cat([normed, normed.transpose(1, 2)], dim=3))
        edges, common = self.layers[-1](inner).float(), self.common(inner).float()
        return torch.cat([edges, common + common.transpose(1, 2)], dim=3)


def ruled(logits: Tensor, told: Told) -> Tensor:
    """Logits under which a forbidden edge has probability zero, and a required one probability one."""
    edges, common = logits.unbind(3)
    out = told.forbidden | told.required.transpose(1, 2)
    some = told.required | told.required.transpose(1, 2)
    edges = edges.masked_fill(out, NEVER).masked_fill(told.required & ~told.forbidden, -NEVER)
    return torch.stack([edges, common.masked_fill(some, NEVER)], dim=3)


class PairAnswers(NamedTuple):
    """Of each ordered pair (batch, n_variables, n_variables): i -> j, a common cause, and none; as logs or not."""

    edge: Tensor
    common: Tensor
    none: Tensor


def answer_log_probabilities(logits: Tensor) -> PairAnswers:
    """Log-probabilities of the answers, from logits (batch, n_variables, n_variables, 2).

    Examples
    --------
    >>> answers = answer_log_probabilities(torch.zeros(1, 2, 2, 2))
    >>> [round(part.exp()[0, 0, 1].item(), 3) for part in answers]
    [0.25, 0.25, 0.25]
    """
    edges, common = logits.unbind(3)
    everything = torch.stack([torch.zeros_like(edges), edges, edges.transpose(1, 2), common]).logsumexp(0)
    return PairAnswers(edges - everything, common - everything, -everything)


def edge_loss(logits: Tensor, edges: Tensor, common: Tensor) -> Tensor:
    """Mean over unordered pairs of the cross-entropy between what is there and the answers.

    Parameters
    ----------
    logits : (batch, n_variables, n_variables, 2) tensor
    edges, common : (batch, n_variables, n_variables) float tensors
        Share of i -> j, which is a half either way where data cannot tell, and of a common cause.
    """
    said = answer_log_probabilities(logits)
    backwards = edges.transpose(1, 2)  # the edge that points the other way
    # each unordered pair is met twice, with the same terms
    chosen = edges * said.edge + backwards * said.edge.transpose(1, 2) + common * said.common
    chosen = chosen + (1 - edges - backwards - common) * said.none
    apart = ~torch.eye(logits.shape[1], dtype=torch.bool, device=logits.device)
    return -chosen[:, apart].mean()
