"""Hidden variables: some columns are never shown, and edges that lead through them count as direct."""

from __future__ import annotations

import torch
from torch import Tensor

from precede.pretraining.drawing import Draws
from precede.pretraining.graphs import ancestors


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
    seen = torch.zeros((batch, d), dtype=torch.bool, device=adjacency.device).scatter_(1, shown, True)
    into_hidden = adjacency & ~seen[:, None, :]
    # a path: any edge into a hidden variable, hidden to hidden as often as need be, then out
    inner = ancestors(into_hidden & ~seen[:, :, None]).float()
    inner = inner + torch.eye(d, device=adjacency.device)
    through = into_hidden.float() @ inner @ (adjacency & ~seen[:, :, None]).float() > 0
    whole = adjacency | through
    rows = whole.gather(1, shown[:, :, None].expand(-1, -1, d))
    return rows.gather(2, shown[:, None, :].expand(-1, shown.shape[1], -1))


def choose_shown(n_variables: int, n_shown: int, with_hidden: Tensor, draws: Draws) -> Tensor:
    """Numbers of the variables that are shown, in causal order, (batch, n_shown).

    The first ``n_shown`` where nothing is hidden, any of them where something is.
    """
    batch = len(with_hidden)
    some = draws.uniform((batch, n_variables)).argsort(1)[:, :n_shown].sort(1).values
    first = torch.arange(n_shown, device=with_hidden.device).expand(batch, -1)
    return torch.where(with_hidden[:, None], some, first)
