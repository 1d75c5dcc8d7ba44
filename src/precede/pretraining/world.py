"""The wide prior: tables whose parts are drawn independently, variable by variable in causal order.

Beside their cells tasks tell a policy what was set and what is known, and hold what it can answer then.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from precede.policy.inputs import Told
from precede.simulation.draws import Draws, select, unit_rows
from precede.simulation.mechanisms import RandomFunctions, set_by_intervention
from precede.simulation.noise import ROOTS, shaped_noise
from precede.simulation.observation import DISTORTIONS, MOST_LEVELS, discrete_variables, distort, some_levels

SHAPES = {
    "gaussian": 3.0,
    "power": 2.0,
    "laplace": 1.0,
    "uniform": 1.5,
    "exponential": 1.0,
    "gumbel": 1.0,
    "bimodal": 1.0,
    "heavy": 1.0,
}
"""Shapes of noise and how often each is drawn."""

ROOT_SHAPES = {"mixture": 4.0, "uniform": 2.0, "design": 1.0, "noise": 3.0}
"""Shapes of variables without causes; "noise" is as of the others."""

GAUSSIAN_SHARE = 0.25
"""Share of the tasks whose noise is all Gaussian."""

HETEROSCEDASTIC_SHARE = 0.35
INSIDE_SHARE = 0.35
"""Share of the tasks in which noise is one more argument of the mechanism, and not only added to it."""

DISTORTED_SHARE = 0.35
SCALE_TERMS = 8
"""Terms of the function behind a noise scale."""

SEEN_SHARE = 0.7
"""Share of the tasks in which the children of a discretized variable see its levels, and not what is behind them."""

UNORDERED_SHARE = 0.3
"""Share of the tasks in which the levels of discretized variables have no order."""

DERIVED_SHARE, DERIVED = 0.1, {"sum": 2.0, "share": 1.0, "largest": 1.0}
"""Share of the tasks with columns computed from others, and how: totals, percentages, the longest of several."""

EXACT_SHARE, DERIVED_ERROR = 0.5, 0.02
"""Half of those columns are exact, to the others an error is added."""

PERSISTENT_SHARE = 0.1
"""Share of the tasks whose rows follow each other in time: noise that remembers itself, up to drift."""

BATCHES_SHARE, MOST_BATCHES = 0.08, 6
"""Share of the tasks whose rows come from several batches or populations, which shift many variables at once."""


class World(NamedTuple):
    """Data of the wide prior in causal order.

    Parameters
    ----------
    x : (batch, n_variables, n_samples) tensor
        Each variable standardized; the places of the levels where they have no order.
    unordered : (batch, n_variables) bool tensor
    shifted : (batch, n_variables) bool tensor
        What a hidden cause of many variables shifts.
    """

    x: Tensor
    unordered: Tensor
    shifted: Tensor


def world_data(adjacency: Tensor, n_samples: int, draws: Draws, imposed: Tensor | None = None) -> World:
    r"""Variable by variable in causal order.

    .. math:: x_j = l_j\bigl(h_j\bigl(f_j(x_{pa}) + r_j\, s_j(x_{pa})\, e_j\bigr)\bigr):

    a signal f of variance one, noise e of some shape, its size r relative to the signal and its scale s, constant or a
    function of the parents, a distortion h and levels l, where there are any. In some tasks the noise is an argument of
    f as well, in some it persists from row to row or is shifted in batches, in some variables are computed from their
    parents. Roots have the noise alone. Every part is standardized as it is made, so that depth does not show in the
    scales.

    Parameters
    ----------
    adjacency : (batch, n_variables, n_variables) bool tensor
        Strictly upper triangular.
    imposed : (batch, n_variables, n_samples) tensor, optional
        What interventions set (:func:`precede.pretraining.world.imposed_values`).
    """
    batch, d, _ = adjacency.shape
    noise, shifted = _in_batches(_persistent(_noise(adjacency, n_samples, draws), draws), draws)
    size = _noise_sizes(batch, d, draws)
    signals, scales = RandomFunctions(batch, d, draws), RandomFunctions(batch, d, draws, SCALE_TERMS)
    depth = draws.uniform((batch, d), 0.2, 1.0) * draws.chance((batch, 1), HETEROSCEDASTIC_SHARE)
    depth = depth * draws.chance((batch, d), 0.8)
    with_the_signal = draws.chance((batch, d), 0.4)
    inside = draws.chance((batch, 1), INSIDE_SHARE) & draws.chance((batch, d), 0.8)
    size = size * torch.where(inside, draws.uniform((batch, d)), 1.0)
    derived = draws.chance((batch, 1), DERIVED_SHARE) & draws.chance((batch, d), draws.uniform((batch, 1), 0.1, 0.6))
    derived &= adjacency.any(1)
    distorted = draws.chance((batch, 1), DISTORTED_SHARE) & draws.chance(
        (batch, d), draws.uniform((batch, 1), 0.2, 1.0)
    )
    distorted &= ~derived
    bent = draws.kinds(batch, d, DISTORTIONS)
    discrete = discrete_variables(adjacency, draws) & ~derived
    levels_seen = draws.chance((batch, 1), SEEN_SHARE)
    unordered = discrete & draws.chance((batch, 1), UNORDERED_SHARE) & draws.chance((batch, d), 0.8)
    inner = torch.empty((batch, d, n_samples), device=adjacency.device)  # what the children see
    outer = torch.empty_like(inner)  # what is shown
    for t in range(d):
        x = noise[:, t]
        if t:
            parents, before = adjacency[:, :t, t], inner[:, :t]
            arguments = torch.cat([parents, inside[:, t, None]], dim=1)
            signal = signals.at(t, torch.cat([before, x[:, None]], dim=1), arguments)
            log_scale = torch.where(with_the_signal[:, t, None], signal, scales.at(t, before, parents))
            x = x * (depth[:, t, None] * log_scale.clamp(-3, 3)).exp()
            alone = ~parents.any(1)[:, None]
            x = torch.where(alone, x, signal + size[:, t, None] * x)
            x = torch.where(derived[:, t, None], _computed(before, parents, noise[:, t], draws), x)
        x = unit_rows(x)
        x = x if imposed is None else set_by_intervention(x, imposed[:, t])
        x = torch.where(distorted[:, t, None], unit_rows(distort(bent[:, t], x, draws)), x)
        codes = some_levels(x, draws)
        effects = draws.normal((batch, MOST_LEVELS + 1)).gather(1, codes.long())  # of levels that have no order
        levels = unit_rows(torch.where(unordered[:, t, None], effects, codes))
        levels = torch.where(discrete[:, t, None], levels, x)
        outer[:, t] = torch.where(unordered[:, t, None], codes, levels)
        inner[:, t] = torch.where(levels_seen, levels, x)
    return World(outer, unordered, shifted)


def _computed(before: Tensor, parents: Tensor, noise: Tensor, draws: Draws) -> Tensor:
    """A column that is computed from its parents: their sum, the first one's share of their total, or the largest."""
    kind = draws.choice((len(before), 1), DERIVED)
    present = parents[:, :, None].to(before.dtype)
    amounts = (0.5 * before).clamp(-4, 4).exp() * present
    first = (parents.cumsum(1) == 1)[:, :, None] & parents[:, :, None]
    share = (amounts * first).sum(1) / (amounts.sum(1) + (parents.sum(1) == 1)[:, None])
    largest = before.masked_fill(present == 0, -torch.inf).amax(1).nan_to_num(0.0, 0.0, 0.0)
    made = unit_rows(select(kind, [(before * present).sum(1), share, largest]))
    return made + noise * (DERIVED_ERROR * draws.chance((len(before), 1), 1 - EXACT_SHARE))


def _persistent(noise: Tensor, draws: Draws) -> Tensor:
    r"""In the first tasks, noise that remembers itself: :math:`e_s = \phi e_{s-1} + u_s`; drift near one."""
    some, n = round(PERSISTENT_SHARE * len(noise)), noise.shape[2]
    if some == 0:
        return noise
    memory = 1 - draws.log_uniform((some, noise.shape[1], 1), 0.005, 0.7)
    kernel = memory ** torch.arange(n, device=noise.device)
    spectrum = torch.fft.rfft(noise[:some], 2 * n) * torch.fft.rfft(kernel, 2 * n)
    return torch.cat([unit_rows(torch.fft.irfft(spectrum, 2 * n)[..., :n]), noise[some:]])


def _in_batches(noise: Tensor, draws: Draws) -> tuple[Tensor, Tensor]:
    """In the last tasks, noise shifted by the batch of a row; which variables are, (batch, n_variables) bool."""
    batch, d, n = noise.shape
    some = torch.arange(batch, device=noise.device)[:, None] >= batch - round(BATCHES_SHARE * batch)
    shifted = some & draws.chance((batch, d), draws.uniform((batch, 1), 0.3, 1.0))
    n_batches = 2 + draws.integers((batch, 1), MOST_BATCHES - 1)
    member = (draws.unit((batch, n)) * n_batches).long()[:, None].expand(-1, d, -1)
    shift = draws.normal((batch, d, MOST_BATCHES)) * draws.log_uniform((batch, 1, 1), 0.3, 2.0)
    return torch.where(shifted[:, :, None], unit_rows(noise + shift.gather(2, member)), noise), shifted


def _noise(adjacency: Tensor, n_samples: int, draws: Draws) -> Tensor:
    """Noise of variance one; roots have shapes of their own."""
    batch, d, _ = adjacency.shape
    kinds = draws.kinds(batch, d, SHAPES)
    kinds = torch.where(draws.chance((batch, 1), GAUSSIAN_SHARE), 0, kinds)
    noise = shaped_noise(kinds, list(SHAPES), n_samples, draws)
    root_kinds = draws.kinds(batch, d, ROOT_SHAPES, alike=0.3)
    roots = select(root_kinds[:, :, None], [*(root(tuple(noise.shape), draws) for root in ROOTS.values()), noise])
    return torch.where(adjacency.any(1)[:, :, None], noise, roots)


def _noise_sizes(batch: int, d: int, draws: Draws) -> Tensor:
    """Noise beside a signal of one: .08 to 2.5 in most tasks, nearly none in some, other for every variable."""
    usual = draws.log_uniform((batch, 1), 0.08, 2.5)
    faint = draws.log_uniform((batch, 1), 0.005, 0.08)
    common = torch.where(draws.chance((batch, 1), 0.08), faint, usual)
    return common * (0.4 * draws.normal((batch, d))).exp().clamp(1 / math.e, math.e)


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
