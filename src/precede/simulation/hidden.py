"""Hidden variables: some columns are never shown; edges through them count as direct, and they cause others at once."""

from __future__ import annotations

import torch
from torch import Tensor

from precede.simulation.draws import Draws


def marginal_graph(adjacency: Tensor, shown: Tensor) -> tuple[Tensor, Tensor]:
    """What is left of a graph among the variables that are shown.

    Parameters
    ----------
    adjacency : (batch, n_variables, n_variables) bool tensor
    shown : (batch, n_shown) int64 tensor
        Their numbers.

    Returns
    -------
    edges : (batch, n_shown, n_shown) bool tensor
        Direct ones, and along paths all of whose inner variables are hidden.
    common : (batch, n_shown, n_shown) bool tensor
        Pairs that a hidden variable causes, each along such a path; symmetric.

    Examples
    --------
    >>> chain = torch.tensor([[[0, 1, 0], [0, 0, 1], [0, 0, 0]]]).bool()
    >>> [part[0].int().tolist() for part in marginal_graph(chain, torch.tensor([[0, 2]]))]
    [[[0, 1], [0, 0]], [[0, 0], [0, 0]]]
    >>> fork = torch.tensor([[[0, 0, 0], [1, 0, 1], [0, 0, 0]]]).bool()
    >>> [part[0].int().tolist() for part in marginal_graph(fork, torch.tensor([[0, 2]]))]
    [[[0, 0], [0, 0]], [[0, 1], [1, 0]]]
    """
    batch, d, _ = adjacency.shape
    hidden = torch.ones((batch, d), dtype=torch.bool, device=adjacency.device).scatter_(1, shown, False)
    edges, common = adjacency.clone(), torch.zeros_like(adjacency)
    for node in range(d):  # take it out where it is hidden: its children share a cause, and its parents cause them
        children = edges[:, node] & hidden[:, node, None]
        beside = common[:, node] | children
        common = common | (beside[:, :, None] & children[:, None]) | (children[:, :, None] & beside[:, None])
        edges = edges | (edges[:, :, node, None] & children[:, None])
    common &= ~torch.eye(d, dtype=torch.bool, device=adjacency.device)
    task = torch.arange(batch, device=adjacency.device)[:, None, None]
    places = task, shown[:, :, None], shown[:, None, :]
    return edges[places], common[places]


def choose_shown(batch: int, n_variables: int, n_shown: int, draws: Draws) -> Tensor:
    """Numbers of the variables that are shown, in ascending order, (batch, n_shown)."""
    return draws.permutations(batch, n_variables)[:, :n_shown].sort(1).values
