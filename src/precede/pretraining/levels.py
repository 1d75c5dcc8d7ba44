"""Discretization: continuous values to a few levels, by rank or by width, and rounding."""

from __future__ import annotations

import torch
from torch import Tensor

from precede.pretraining.drawing import Draws

MOST_LEVELS = 16


def ranks(x: Tensor) -> Tensor:
    """Rank of each value along the last axis, divided by their number: uniform on (0, 1) without ties."""
    n = x.shape[-1]
    return (x.argsort(-1).argsort(-1).float() + 0.5) / n


def by_rank(x: Tensor, n_levels: Tensor, draws: Draws) -> Tensor:
    """Levels 0, 1, ... of unequal shares, cut at random quantiles.

    Parameters
    ----------
    x : (batch, n_samples) tensor
    n_levels : (batch,) tensor
        At least 2, at most :data:`MOST_LEVELS`.
    """
    batch = len(x)
    shares = draws.uniform((batch, MOST_LEVELS), 0.2, 1.0)
    shares = shares * (torch.arange(MOST_LEVELS, device=x.device) < n_levels[:, None])
    cuts = (shares / shares.sum(1, keepdim=True)).cumsum(1)
    cuts = torch.where(cuts > 1 - 1e-4, 2.0, cuts)  # the last cut is the end
    return torch.searchsorted(cuts, ranks(x)).float()


def by_width(x: Tensor, n_levels: Tensor, draws: Draws) -> Tensor:
    """Levels of equal width between the 1st and the 99th percentile; what lies beyond joins the end levels."""
    low, high = (torch.quantile(x, q, dim=1, keepdim=True) for q in (0.01, 0.99))
    place = (x - low) / (high - low).clamp_min(1e-6) * n_levels[:, None]
    return torch.minimum(place.floor().clamp_min(0.0), n_levels[:, None] - 1)


def discretized(x: Tensor, draws: Draws) -> Tensor:
    """Each row of x (batch, n_samples) to levels, two of them in a third of the rows, either way of cutting."""
    batch = len(x)
    n_levels = draws.log_uniform((batch,), 2.0, MOST_LEVELS + 0.99).floor()
    n_levels = torch.where(draws.chance((batch,), 0.33), 2.0, n_levels)
    return torch.where(draws.chance((batch, 1), 0.5), by_rank(x, n_levels, draws), by_width(x, n_levels, draws))


def rounded(x: Tensor, step: Tensor) -> Tensor:
    """To the nearest multiple of a step: what an instrument with few digits shows."""
    return (x / step).round() * step


def discrete_variables(adjacency: Tensor, draws: Draws) -> Tensor:
    """Which variables are discretized, (batch, n_variables) bool.

    In a third of the tasks. There it says nothing about the position in the graph: any variable may be, or the
    roots alone, or the sinks alone, the last two equally often. A label that causes its features is as likely as a
    label that they cause.
    """
    batch, d, _ = adjacency.shape
    some = draws.chance((batch, 1), 0.35)
    anywhere = draws.chance((batch, d), draws.uniform((batch, 1), 0.1, 1.0))
    roots, sinks = ~adjacency.any(1), ~adjacency.any(2)
    where = draws.choice((batch, 1), {"anywhere": 0.5, "roots": 0.25, "sinks": 0.25})
    ends = torch.where(where == 1, roots, sinks) & draws.chance((batch, d), draws.uniform((batch, 1), 0.3, 1.0))
    return some & torch.where(where == 0, anywhere, ends)
