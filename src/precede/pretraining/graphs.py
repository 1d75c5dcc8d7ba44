"""Random DAGs and valid orders, a whole batch at once on the device.

Variables are numbered in causal order here (edges lead from lower to higher numbers), so an adjacency is strictly
upper triangular. :mod:`precede.pretraining.curriculum` shuffles the columns.
"""

from __future__ import annotations

import torch
from torch import Tensor

CORRUPTED_SPREAD = 0.15
"""Corrupted orders: noise on the rank, as a share of the number of variables."""


def erdos_renyi(degrees: Tensor, n_variables: int, generator: torch.Generator) -> Tensor:
    """G(n, m) with ``degree * n_variables`` edges each, as :func:`precede.data.dags.erdos_renyi`.

    Parameters
    ----------
    degrees : (batch,) tensor
        Edges per variable; more than there are pairs gives the full DAG.

    Returns
    -------
    adjacency : (batch, n_variables, n_variables) bool tensor

    Examples
    --------
    >>> generator = torch.Generator().manual_seed(0)
    >>> erdos_renyi(torch.tensor([1.0, 2.0]), 10, generator).sum((1, 2)).tolist()
    [10, 20]
    """
    batch, device = len(degrees), degrees.device
    rows, columns = torch.triu_indices(n_variables, n_variables, 1, device=device)
    ranks = torch.rand((batch, len(rows)), generator=generator, device=device).argsort(1)
    adjacency = torch.zeros((batch, n_variables, n_variables), dtype=torch.bool, device=device)
    adjacency[:, rows, columns] = ranks < (degrees * n_variables).round()[:, None]
    return adjacency


def scale_free(degrees: Tensor, n_variables: int, hubs_last: Tensor, generator: torch.Generator) -> Tensor:
    """Barabási–Albert: the k-th node attaches to min(k, degree) older ones, by their in-degree + 1.

    As ``graph="sf"`` of :func:`precede.data.dags.scale_free`.

    Parameters
    ----------
    degrees : (batch,) tensor of whole numbers
    n_variables : int
    hubs_last : (batch,) bool tensor
        True: edges from the newer node to the older, as :func:`precede.data.dags.scale_free` (hubs are common effects);
        False: the other way (hubs are common causes).

    Returns
    -------
    adjacency : (batch, n_variables, n_variables) bool tensor
    """
    batch, device = len(degrees), degrees.device
    older = torch.zeros((batch, n_variables, n_variables), dtype=torch.bool, device=device)  # [older, newer]
    weights = torch.ones((batch, n_variables), device=device)
    exponential = torch.empty((batch, n_variables, n_variables), device=device).exponential_(generator=generator)
    for node in range(1, n_variables):
        # exponential race: the k smallest of E / w are k draws without replacement, proportional to w
        race = exponential[:, node, :node] / weights[:, :node]
        chosen = race.argsort(1).argsort(1) < degrees[:, None]
        older[:, :node, node] = chosen
        weights[:, :node] += chosen
    # age reversed: the newest node becomes the first in causal order
    reversed_age = older.flip(1, 2).transpose(1, 2)
    return torch.where(hubs_last[:, None, None], reversed_age, older)


def ancestors(adjacency: Tensor) -> Tensor:
    """Transitive closure, (batch, n_variables, n_variables) bool: ``[i, j]`` when a path leads from i to j."""
    d = adjacency.shape[-1]
    closure = adjacency.float()
    length = 1
    while length < d:  # paths of twice the length at every squaring
        closure = ((closure + closure @ closure) > 0).float()
        length *= 2
    return closure.bool()


def training_orders(adjacency: Tensor, generator: torch.Generator) -> Tensor:
    """Orders whose prefixes the policy is trained on, one for each graph, without a loop over variables.

    A third are random (each variable as late as the latest of its ancestors' random times), a third go by the number
    of ancestors as a good policy tends to, and a third are those corrupted by noise, so that the policy learns to go
    on after its own mistakes. The set of variables whose parents are placed is defined for these, too.

    Parameters
    ----------
    adjacency : (batch, n_variables, n_variables) bool tensor
        Strictly upper triangular.

    Returns
    -------
    orders : (batch, n_variables) int64 tensor
        Every third one is corrupted, the others are valid causal orders.
    """
    batch, d, _ = adjacency.shape
    device = adjacency.device
    above = ancestors(adjacency)
    times = torch.rand((batch, d), generator=generator, device=device)
    latest = torch.maximum(times, (above * times[:, :, None]).amax(1))
    by_ancestors = above.sum(1) + times
    spread = torch.randn((batch, d), generator=generator, device=device) * (CORRUPTED_SPREAD * d)
    kind = torch.arange(batch, device=device)[:, None] % 3
    keys = torch.where(kind == 0, latest, torch.where(kind == 1, by_ancestors, by_ancestors + spread))
    # stable: a variable tied with its ancestor keeps the causal sequence
    return keys.argsort(dim=1, stable=True)
