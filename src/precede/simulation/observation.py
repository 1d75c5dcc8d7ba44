"""What a table shows of the variables behind it: levels, few digits, errors; some rows, some cells, some columns."""

import torch
from torch import Tensor

from precede.simulation.draws import Draws, select, unit_rows

MOST_LEVELS = 16
MEASUREMENT_SHARE = 0.15
DIGITS_SHARE = 0.4
MISSING_SHARE = 0.12
"""Shares of the tables with errors of measurement, with few digits, with missing cells."""


def levels_at(x: Tensor, shares: Tensor) -> Tensor:
    """Levels 0, 1, ... of values (..., n_samples), cut at the quantiles (..., n_cuts), which ascend.

    Examples
    --------
    >>> levels_at(torch.arange(10.0), torch.tensor([0.3, 1.0]))
    tensor([0, 0, 0, 1, 1, 1, 1, 1, 1, 1])
    """
    place = shares.clamp_max(1.0) * (x.shape[-1] - 1)
    low = place.floor()
    ascending = x.sort(-1).values
    below, above = ascending.gather(-1, low.long()), ascending.gather(-1, place.ceil().long())
    cuts = torch.where(shares > 1 - 1e-6, torch.inf, below + (above - below) * (place - low))
    return torch.searchsorted(cuts, x.contiguous())


def discretized(x: Tensor, n_levels: int | Tensor, draws: Draws, sizes: tuple[float, float] = (0.5, 1.5)) -> Tensor:
    """Rows (batch, n_samples) as levels 0, 1, ... of unequal shares, cut at random quantiles.

    Parameters
    ----------
    x : (batch, n_samples) tensor
    n_levels : int or (batch,) tensor
        At least 2; of a tensor, at most :data:`MOST_LEVELS`.
    sizes : (float, float)
        Between which the shares are drawn before they are made to sum to one.

    Examples
    --------
    >>> discretized(torch.arange(100.0)[None], 3, Draws(torch.Generator().manual_seed(0))).unique()
    tensor([0., 1., 2.])
    """
    shares = draws.uniform((len(x), n_levels if isinstance(n_levels, int) else MOST_LEVELS), *sizes)
    if isinstance(n_levels, Tensor):
        shares = shares * (torch.arange(MOST_LEVELS, device=x.device) < n_levels[:, None])
    return levels_at(x, (shares / shares.sum(1, keepdim=True)).cumsum(1)).to(x)


def with_error(x: Tensor, size: float | Tensor, draws: Draws) -> Tensor:
    """Gaussian error on every cell (batch, n_variables, n_samples), its deviation a share of the column's."""
    batch, d, n = x.shape
    return x + size * x.std(2, correction=0, keepdim=True) * draws.normal((batch, n, d)).mT


def by_width(x: Tensor, n_levels: Tensor, draws: Draws) -> Tensor:
    """Levels of equal width between the 1st and the 99th percentile; what lies beyond joins the end levels."""
    low, high = (torch.quantile(x, q, dim=1, keepdim=True) for q in (0.01, 0.99))
    place = (x - low) / (high - low).clamp_min(1e-6) * n_levels[:, None]
    return torch.minimum(place.floor().clamp_min(0.0), n_levels[:, None] - 1)


def some_levels(x: Tensor, draws: Draws) -> Tensor:
    """Each row of x (batch, n_samples) to levels, two of them in a third of the rows, either way of cutting."""
    batch = len(x)
    n_levels = draws.log_uniform((batch,), 2.0, MOST_LEVELS + 0.99).floor()
    n_levels = torch.where(draws.chance((batch,), 0.33), 2.0, n_levels)
    return torch.where(
        draws.chance((batch, 1), 0.5), discretized(x, n_levels, draws, (0.2, 1.0)), by_width(x, n_levels, draws)
    )


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


def measured(x: Tensor, draws: Draws) -> Tensor:
    """Add error to values (batch, n_variables, n_samples) in some tasks, a share of its scale to each."""
    batch, d, _ = x.shape
    size = draws.log_uniform((batch, d, 1), 0.05, 0.6) * draws.chance((batch, d, 1), 0.8)
    return with_error(x, size * draws.chance((batch, 1, 1), MEASUREMENT_SHARE), draws)


def with_few_digits(x: Tensor, draws: Draws) -> Tensor:
    """Round standardized values in some tasks to the nearest multiple of a step, each variable its own: ties."""
    batch, d, _ = x.shape
    step = draws.log_uniform((batch, d, 1), 0.005, 0.4)
    some = draws.chance((batch, 1, 1), DIGITS_SHARE) & draws.chance((batch, d, 1), 0.7)
    return torch.where(some, (x / step).round() * step, x)


def selected_rows(x: Tensor, n_rows: int, draws: Draws) -> Tensor:
    """Keep the rows with the largest noisy value of a random variable, either end, (batch, n_variables, n_rows)."""
    batch, d, n = x.shape
    variable = (draws.uniform((batch, 1, 1)) * d).long().expand(-1, 1, n)
    wish = unit_rows(x.gather(1, variable)[:, 0]) * draws.either_sign((batch, 1), 0.3, 2.0)
    kept = (wish + draws.normal((batch, n))).topk(n_rows, dim=1).indices
    return x.gather(2, kept[:, None, :].expand(-1, d, -1))


def missing_cells(x: Tensor, draws: Draws) -> Tensor:
    """Which cells are not seen, (batch, n_variables, n_samples) bool.

    In some tasks up to a third of the cells of a column; half of those at random, half more often where another
    column is large.
    """
    batch, d, n = x.shape
    rate = draws.uniform((batch, d, 1), 0.0, 0.33) * draws.chance((batch, 1, 1), MISSING_SHARE)
    rate = rate * draws.chance((batch, d, 1), 0.7)
    other = x.roll(1, dims=1)  # columns come in a random sequence
    rank = (other.argsort(-1).argsort(-1) + 0.5) / n
    rate = torch.where(draws.chance((batch, 1, 1), 0.5), 2 * rate * rank, rate)
    return draws.chance(tuple(x.shape), rate)


DISTORTIONS = {"power": 1.5, "exp": 1.5, "sigmoid": 1.0, "bounds": 1.0, "softplus": 1.0, "floor": 1.0, "log": 1.0}
"""Distortions and how often each is drawn; all are monotone, "bounds" and "floor" tie the values beyond them."""


def distort(kinds: Tensor, x: Tensor, draws: Draws) -> Tensor:
    """Pass standardized values (batch, n_samples) through a distortion of the kind of each row.

    Half of the rows are turned over first, so that a floor may be a ceiling.
    """
    shape = (len(x), 1)
    x = x * draws.sign(shape)
    strength = draws.uniform(shape)
    exponent = torch.where(draws.chance(shape, 0.5), 0.4 + 0.4 * strength, 1.3 + 1.2 * strength)
    bound = 0.5 + 1.2 * strength
    made = [
        x.sign() * x.abs() ** exponent,
        ((0.3 + 0.9 * strength) * x.clamp(-5, 5)).exp(),
        torch.sigmoid((1 + 2 * strength) * x),
        x.clamp(-bound, bound),
        torch.nn.functional.softplus((1 + 2 * strength) * x),
        torch.maximum(x, -bound + 0.7),
        x.sign() * torch.log1p((1 + 5 * strength) * x.abs()),
    ]
    return select(kinds[:, None], made) * draws.sign(shape)


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
