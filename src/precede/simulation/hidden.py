"""Hidden variables: some columns are never shown, and edges that lead through them count as direct."""

from __future__ import annotations

import torch
from torch import Tensor

from precede.simulation.draws import Draws


def marginal_graph(adjacency: Tensor, shown: Tensor) -> Tensor:
    """Edges among the variables that are shown: direct, or along a path all of whose inner variables are hidden.

    Parameters
    ----------
    adjacency : (batch, n_variables, n_variables) bool tensor
    shown : (batch, n_shown) int64 tensor
        Their numbers.

    Returns
    -------
    adjacency : (batch, n_shown, n_shown) bool tensor

    Examples
    --------
    >>> chain = torch.tensor([[[0, 1, 0], [0, 0, 1], [0, 0, 0]]]).bool()
    >>> marginal_graph(chain, torch.tensor([[0, 2]]))[0].int().tolist()
    [[0, 1], [0, 0]]
    """
    batch, d, _ = adjacency.shape
    hidden = torch.ones((batch, d), dtype=torch.bool, device=adjacency.device).scatter_(1, shown, False)
    edges = adjacency.clone()
    for node in range(d):  # take it out where it is hidden, and connect its parents with its children
        edges |= (edges[:, :, node] & hidden[:, node, None])[:, :, None] & edges[:, None, node]
    task = torch.arange(batch, device=adjacency.device)[:, None, None]
    return edges[task, shown[:, :, None], shown[:, None, :]]


def choose_shown(batch: int, n_variables: int, n_shown: int, draws: Draws) -> Tensor:
    """Numbers of the variables that are shown, in ascending order, (batch, n_shown)."""
    return draws.permutations(batch, n_variables)[:, :n_shown].sort(1).values
