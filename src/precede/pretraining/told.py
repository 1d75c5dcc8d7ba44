"""What simulated tasks tell a policy beside their cells, and what it can answer then: drawn in batches."""

import torch
from torch import Tensor

from precede.policy.inputs import Told
from precede.simulation.draws import Draws

SET_SHARE = 0.25
"""Share of the tasks with interventions."""

KNOWN_SHARES = {"nothing": 0.5, "edges": 0.2, "tiers": 0.2, "both": 0.1}
"""What is known of the edges, and how often."""

FULL_SIZE = 10
"""Tables with fewer variables are told less often, in proportion: what is told of a pair is the answer."""

ENOUGH_ROWS = 5
"""Rows in which one of two variables was set and the other was not, from which on their direction is told."""


def imposed_values(batch: int, d: int, n_samples: int, draws: Draws) -> Tensor:
    """What interventions set, in a variable's own deviations, NaN elsewhere: (batch, n_variables, n_samples).

    In tasks that have any, up to 60 % of the rows set one variable of those that are ever set, or two. Values are
    drawn about a place or are the place itself, as where a gene is knocked out.
    """
    some = draws.chance((batch, 1), SET_SHARE * min(1.0, d / FULL_SIZE))
    ever = draws.chance((batch, d), draws.uniform((batch, 1), 0.1, 1.0)) & some
    rows = draws.chance((batch, n_samples), draws.uniform((batch, 1), 0.03, 0.6))
    wish = draws.unit((batch, d, n_samples)) * ever[:, :, None]
    n_targets = 1 + draws.chance((batch,), 0.15).long()
    last = wish.topk(min(2, d), dim=1).values.gather(
        1, (n_targets.clamp_max(d) - 1)[:, None, None].expand(-1, 1, n_samples)
    )
    was_set = (wish > 0) & (wish >= last) & rows[:, None]
    place = draws.either_sign((batch, d, 1), 0.0, 3.0) * draws.chance((batch, 1, 1), 0.6)
    spread = draws.uniform((batch, d, 1), 0.2, 1.5) * draws.chance((batch, 1, 1), 0.7)
    values = place + spread * draws.normal((batch, d, n_samples))
    return values.masked_fill(~was_set, torch.nan)


def draw_knowledge(adjacency: Tensor, draws: Draws) -> tuple[Tensor, Tensor]:
    """Some required and some forbidden edges, all of them right, (batch, n_variables, n_variables) bool each.

    Up to half of the edges and up to six tenths of what is no edge, or tiers, or both.

    Parameters
    ----------
    adjacency : (batch, n_variables, n_variables) bool tensor
        Strictly upper triangular.
    """
    batch, d, _ = adjacency.shape
    kind = draws.choice((batch, 1, 1), KNOWN_SHARES) * draws.chance((batch, 1, 1), min(1.0, d / FULL_SIZE))
    edges, tiers = (kind == 1) | (kind == 3), kind >= 2
    required = adjacency & edges & draws.chance((batch, d, d), draws.uniform((batch, 1, 1), 0.0, 0.5))
    forbidden = ~adjacency & edges & draws.chance((batch, d, d), draws.uniform((batch, 1, 1), 0.0, 0.6))
    tier = draws.chance((batch, d), draws.log_uniform((batch, 1), 0.5 / d, 0.6)).cumsum(1)
    forbidden = forbidden | (tiers & (tier[:, :, None] > tier[:, None, :]))
    return required, forbidden & ~torch.eye(d, dtype=torch.bool, device=adjacency.device)


def told_directions(adjacency: Tensor, told: Told) -> Tensor:
    """Edges whose direction linear Gaussian data tell: by colliders, interventions, knowledge, and what follows.

    Meek's first three rules, applied until nothing changes; with knowledge a fourth may tell a few more.

    Parameters
    ----------
    adjacency : (batch, n_variables, n_variables) bool tensor
    told : Told

    Examples
    --------
    >>> chain = torch.diag(torch.ones(2), 1)[None].bool()
    >>> told = Told.nothing(torch.zeros(1, 3, 10))
    >>> told_directions(chain, told).any()
    tensor(False)
    >>> told.was_set[0, 0] = True
    >>> told_directions(chain, told)[0].int().tolist()
    [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    """
    edges = adjacency.float()
    beside = edges + edges.mT
    apart = 1 - beside - torch.eye(edges.shape[1], device=edges.device)
    cells = told.was_set.float()
    alone = cells @ (1 - cells).mT  # rows in which i was set and j was not
    known = told.required | told.forbidden.mT | (alone + alone.mT >= ENOUGH_ROWS)
    collider = apart @ edges > 0  # i -> j <- k, i and k apart
    directed = ((known | collider) & adjacency).float()
    for _ in range(edges.shape[1]):
        first = directed.mT @ apart  # k -> i, k and j apart: else i <- j would make a collider
        second = directed @ directed  # i -> k -> j: else a cycle
        # i beside k and l, either way round, which are apart and both cause j
        loose = (beside - directed - directed.mT)[:, None]
        through = (directed.mT[:, :, :, None] * directed.mT[:, :, None, :]) * apart[:, None]  # [j, k, l]
        third = (loose @ through * loose).sum(3).mT  # [i, j]
        more = ((first + second + third > 0) & adjacency).float()
        grown = torch.maximum(directed, more)
        if torch.equal(grown, directed):
            break
        directed = grown
    return directed.bool()


def shared_over_class(adjacency: Tensor, directed: Tensor) -> Tensor:
    """Share of each direction, (batch, n_variables, n_variables): a half either way where an edge is not directed."""
    half = 0.5 * (adjacency & ~directed)
    return adjacency.float() - half + half.mT
