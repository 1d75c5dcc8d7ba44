"""Simulated tasks with known graphs, drawn on the device in batches: what the policy is pretrained on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate, pairwise

import torch
from torch import Tensor

from precede.simulation import graphs
from precede.simulation.draws import Draws, select, unit_rows
from precede.simulation.hidden import choose_shown, marginal_graph
from precede.simulation.mechanisms import MECHANISMS, RandomFunctions, linear_data, structural_data
from precede.simulation.noise import ROOTS, UNEQUAL_RANGE, shaped_noise
from precede.simulation.observation import (
    DISTORTIONS,
    discrete_variables,
    distort,
    measured,
    missing_cells,
    selected_rows,
    some_levels,
    with_few_digits,
)

SHARES = {"linear-gaussian": 0.2, "lingam": 0.25, "gp": 0.2, "gp-additive": 0.2, "mlp": 0.1, "quadratic": 0.05}
"""Share of each mechanism in a batch."""

NON_GAUSSIAN = {"power": 4.0, "laplace": 1.0, "uniform": 1.0, "exponential": 1.0, "gumbel": 1.0}
"""Shapes of noise of "lingam", and how often each is drawn."""


def family_data(adjacency: Tensor, n_samples: int, draws: Draws) -> Tensor:
    """Values (batch, n_variables, n_samples) in causal order, consecutive tasks sharing a mechanism."""
    batch, d, _ = adjacency.shape
    weights = adjacency * random_weights(batch, d, draws)
    scales = noise_scales(batch, d, draws)
    # every mechanism has its share in every batch, up to a rounded task
    ends = [0, *(round(share * batch) for share in accumulate(SHARES.values()))]
    parts = []
    for name, (start, stop) in zip(SHARES, pairwise(ends), strict=True):
        shapes = NON_GAUSSIAN if name == "lingam" else {"gaussian": 1.0}
        kinds = draws.choice((stop - start, 1), shapes).expand(-1, d)
        noise = shaped_noise(kinds, list(shapes), n_samples, draws) * scales[start:stop]
        if name in ("linear-gaussian", "lingam"):
            parts.append(linear_data(noise, weights[start:stop], range(d)))
        else:
            parts.append(structural_data(noise, weights[start:stop], range(d), MECHANISMS[name], draws))
    return torch.cat(parts)


def random_weights(batch: int, d: int, draws: Draws) -> Tensor:
    """Either sign, size in [0.5, 2] as in Appendix B.2 for most tasks, in a narrower or weaker range for others."""
    shape = (batch, 1, 1)
    usual = draws.chance(shape, 0.7)
    low = torch.where(usual, 0.5, draws.uniform(shape, 0.2, 0.7))
    high = torch.where(usual, 2.0, draws.uniform(shape, 0.8, 2.0))
    return draws.either_sign((batch, d, d), low, high)


def noise_scales(batch: int, d: int, draws: Draws) -> Tensor:
    """One for two tasks of three, uniform in the range of ``noise="unequal"`` for the third."""
    unequal = draws.chance((batch, 1, 1), 1 / 3)
    return torch.where(unequal, draws.uniform((batch, d, 1), *UNEQUAL_RANGE), 1.0)


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
INSIDE_SHARE = 0.25
"""Share of the tasks in which noise is one more argument of the mechanism, and not only added to it."""

DISTORTED_SHARE = 0.35
SCALE_TERMS = 8
"""Terms of the function behind a noise scale."""

SEEN_SHARE = 0.7
"""Share of the tasks in which the children of a discretized variable see its levels, and not what is behind them."""


def world_data(adjacency: Tensor, n_samples: int, draws: Draws) -> Tensor:
    r"""Values in causal order, (batch, n_variables, n_samples), each variable standardized.

    .. math:: x_j = l_j\bigl(h_j\bigl(f_j(x_{pa}) + r_j\, s_j(x_{pa})\, e_j\bigr)\bigr):

    a signal f of variance one, noise e of some shape, its size r relative to the signal and its scale s, constant or a
    function of the parents, a distortion h and levels l, where there are any. In some tasks the noise is an argument of
    f as well. Roots have the noise alone. Every part is standardized as it is made, so that depth does not show in the
    scales.

    Parameters
    ----------
    adjacency : (batch, n_variables, n_variables) bool tensor
        Strictly upper triangular.
    """
    batch, d, _ = adjacency.shape
    noise = _noise(adjacency, n_samples, draws)
    size = _noise_sizes(batch, d, draws)
    signals, scales = RandomFunctions(batch, d, draws), RandomFunctions(batch, d, draws, SCALE_TERMS)
    depth = draws.uniform((batch, d), 0.2, 1.0) * draws.chance((batch, 1), HETEROSCEDASTIC_SHARE)
    depth = depth * draws.chance((batch, d), 0.8)
    with_the_signal = draws.chance((batch, d), 0.4)
    inside = draws.chance((batch, 1), INSIDE_SHARE) & draws.chance((batch, d), 0.8)
    size = size * torch.where(inside, draws.uniform((batch, d)), 1.0)
    distorted = draws.chance((batch, 1), DISTORTED_SHARE) & draws.chance(
        (batch, d), draws.uniform((batch, 1), 0.2, 1.0)
    )
    bent = draws.kinds(batch, d, DISTORTIONS)
    discrete = discrete_variables(adjacency, draws)
    levels_seen = draws.chance((batch, 1), SEEN_SHARE)
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
        x = unit_rows(x)
        x = torch.where(distorted[:, t, None], unit_rows(distort(bent[:, t], x, draws)), x)
        levels = torch.where(discrete[:, t, None], unit_rows(some_levels(x, draws)), x)
        outer[:, t] = levels
        inner[:, t] = torch.where(levels_seen, levels, x)
    return outer


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


RESCALED_SHARE = 0.1
"""Share of the families' tasks whose columns have arbitrary units, so that the policy does not trust every scale."""

WORLD_RESCALED_SHARE = 0.3
"""The same for the wide prior, where all other columns are standardized: scales carry nothing there."""

RESCALED_SPREAD = 2.0
"""Standard deviation of the log of those units."""

HIDDEN_SHARE = 0.25
"""Share of the wide prior's tasks with hidden variables, one for seven that are shown."""

SMALL_TABLE = 5
SMALL_HIDDEN_SHARE, SMALL_HIDDEN = 0.5, (1, 2, 4, 8)
"""Tables with few columns are a glimpse of a larger system: more is hidden, between cause and effect and beside them,
so that noise enters mechanisms in any way. Each number of hidden variables is as likely as the others."""

SELECTED_SHARE = 0.1
"""Share of the wide prior's tasks in which rows were selected."""

CORRUPTED_SPREAD = 0.15
"""Corrupted orders: noise on the rank, as a share of the number of variables."""

THINNED_SHARE = 0.3
"""Share of the wide prior's graphs that lose edges at random: forests, and variables that are alone."""


@dataclass(frozen=True)
class CurriculumSettings:
    """What the tasks are drawn from.

    Parameters
    ----------
    n_variables, n_samples : tuple of int
        The sizes; a batch has one of each, so that its tensors have no padding.
    degrees, world_degrees : (float, float)
        Edges per variable: uniform between these for the six families, log-uniform for the wide prior.
    standardized : float
        Share of the families' tasks whose columns are standardized, so that scales tell nothing.
    rows : int or None
        How many of the samples the policy sees, None for all; scales are always those of all samples.
    world : float
        Share of tasks from the wide prior (:mod:`precede.pretraining.curriculum`); the rest are of the six families.
    tables : str or None
        Folder of labeled tables (:mod:`precede.pretraining.own_tables`), in place of all simulated tasks.
    """

    n_variables: tuple[int, ...] = (2, 2, 2, 2, 3, 3, 5, 8, 10, 12, 15, 20, 25, 30, 40, 50)
    n_samples: tuple[int, ...] = (100, 200, 300, 500, 800, 1200)
    degrees: tuple[float, float] = (1.0, 5.0)
    world_degrees: tuple[float, float] = (0.5, 4.0)
    standardized: float = 0.55
    rows: int | None = None
    world: float = 0.75
    tables: str | None = None


PAPER_CURRICULUM = CurriculumSettings((30,), (500,), (2.0, 2.0), standardized=0.45, rows=256, world=0.0)
"""Section 5.1, "Pretraining": 30-node ER2 and SF2 with different causal relationships; rows as CORL.paper sees."""


@dataclass(frozen=True)
class Tasks:
    """A batch of data sets with their graphs.

    Parameters
    ----------
    inputs : (batch, n_variables, rows + 1) tensor
        As :class:`precede.policy.inputs.FixedInputs`: standardized rows, NaN where a cell is missing, then the
        centered log scale.
    adjacency : (batch, n_variables, n_variables) bool tensor
    orders : (batch, n_variables) int64 tensor
        From :func:`training_orders`.
    """

    inputs: Tensor
    adjacency: Tensor
    orders: Tensor

    def split(self, parts: int) -> list[Tasks]:
        """Cut into batches of the same size."""
        cut = (tensor.chunk(parts) for tensor in (self.inputs, self.adjacency, self.orders))
        return [Tasks(*part) for part in zip(*cut, strict=True)]


class Curriculum:
    """Source of training tasks.

    Parameters
    ----------
    settings : CurriculumSettings
    generator : torch Generator
        Its device is where the tasks are made.

    Examples
    --------
    >>> curriculum = Curriculum(CurriculumSettings(), torch.Generator().manual_seed(0))
    >>> tasks = curriculum.draw(12, n_variables=10, n_samples=50)
    >>> tasks.inputs.shape, tasks.adjacency.shape
    (torch.Size([12, 10, 51]), torch.Size([12, 10, 10]))
    """

    def __init__(self, settings: CurriculumSettings, generator: torch.Generator) -> None:
        self.settings, self.draws = settings, Draws(generator)

    def draw(self, batch: int, n_variables: int, n_samples: int) -> Tasks:
        """Draw ``batch`` tasks of one size: graphs, data, units, column order."""
        inputs, adjacency = self._tasks(batch, n_variables, n_samples)
        inputs[:, :, :-1] *= self.draws.sign((batch, n_variables, 1))  # which end is called large tells nothing
        shuffled = self.draws.uniform((batch,)).argsort()
        inputs, adjacency = inputs[shuffled][:, :, self._seen_rows(n_samples)], adjacency[shuffled]
        orders = training_orders(adjacency, self.draws)
        columns = self.draws.uniform((batch, n_variables)).argsort(1)  # column k shows variable columns[k]
        inputs = inputs.gather(1, columns[:, :, None].expand_as(inputs))
        by_row = adjacency.gather(1, columns[:, :, None].expand_as(adjacency))
        adjacency = by_row.gather(2, columns[:, None, :].expand_as(adjacency))
        return Tasks(inputs, adjacency, columns.argsort(1).gather(1, orders))

    def _tasks(self, batch: int, n_variables: int, n_samples: int) -> tuple[Tensor, Tensor]:
        """Inputs and graphs with columns in causal order."""
        n_world = round(self.settings.world * batch)
        n_selected = round(SELECTED_SHARE * n_world)
        parts = [
            self._family_tasks(batch - n_world, n_variables, n_samples),
            self._world_tasks(n_world - n_selected, n_variables, n_samples, selected=False),
            self._world_tasks(n_selected, n_variables, n_samples, selected=True),
        ]
        inputs, adjacency = (torch.cat(column) for column in zip(*parts, strict=True))
        return inputs, adjacency

    def _seen_rows(self, n_samples: int) -> Tensor:
        """Positions of the rows that the policy sees, and of the scale."""
        seen = range(min(self.settings.rows or n_samples, n_samples))
        return torch.tensor([*seen, n_samples], device=self.draws.device)

    def _family_tasks(self, batch: int, n_variables: int, n_samples: int) -> tuple[Tensor, Tensor]:
        low, high = self.settings.degrees
        adjacency = self._graphs(self.draws.uniform((batch,), low, high), n_variables)
        # shuffled, so that no mechanism always meets the same kind of graph
        adjacency = adjacency[self.draws.uniform((batch,)).argsort()]
        if batch == 0:
            return torch.empty((0, n_variables, n_samples + 1), device=self.draws.device), adjacency
        return self._in_units(family_data(adjacency, n_samples, self.draws)), adjacency

    def _in_units(self, x: Tensor) -> Tensor:
        """Inputs of which some are standardized and some in arbitrary units."""
        kind = self.draws.uniform((len(x), 1, 1))
        shares = self.settings.standardized, RESCALED_SHARE
        return standardized_inputs(x, kind < shares[0], kind > 1 - shares[1], self.draws)

    def _world_tasks(self, batch: int, n_variables: int, n_samples: int, *, selected: bool) -> tuple[Tensor, Tensor]:
        d = n_variables
        n_hidden = self._n_hidden(d)
        with_hidden = self.draws.chance((batch,), SMALL_HIDDEN_SHARE if d <= SMALL_TABLE else HIDDEN_SHARE)
        degrees = self.draws.log_uniform((batch,), *self.settings.world_degrees)
        whole, plain = (self._graphs(degrees, count) for count in (d + n_hidden, d))
        # where nothing is hidden, the further variables are alone and left out
        padded = torch.nn.functional.pad(plain, (0, n_hidden, 0, n_hidden))
        whole = torch.where(with_hidden[:, None, None], whole, padded)
        whole = whole & ~self._thinned(batch, d + n_hidden)
        some = choose_shown(batch, d + n_hidden, d, self.draws)
        shown = torch.where(with_hidden[:, None], some, torch.arange(d, device=self.draws.device))
        if batch == 0:
            return torch.empty((0, d, n_samples + 1), device=self.draws.device), plain
        x = world_data(whole, n_samples * (2 if selected else 1), self.draws)
        x = x.gather(1, shown[:, :, None].expand(-1, -1, x.shape[2]))
        if selected:
            x = selected_rows(x, n_samples, self.draws)
        x = with_few_digits(measured(x, self.draws), self.draws)
        x = x.masked_fill(missing_cells(x, self.draws), torch.nan)
        kind = self.draws.uniform((batch, 1, 1))
        rescaled = kind < WORLD_RESCALED_SHARE
        return standardized_inputs(x, ~rescaled, rescaled, self.draws), marginal_graph(whole, shown)

    def _n_hidden(self, n_variables: int) -> int:
        """How many variables are hidden in the tasks of a batch that hide any."""
        if n_variables > SMALL_TABLE:
            return max(1, round(n_variables / 7))
        return SMALL_HIDDEN[int(self.draws.uniform((1,)).item() * len(SMALL_HIDDEN))]

    def _thinned(self, batch: int, n_variables: int) -> Tensor:
        """Edges that are taken away, up to nearly all of a task's."""
        rate = self.draws.uniform((batch, 1, 1), 0.2, 0.9) * self.draws.chance((batch, 1, 1), THINNED_SHARE)
        return self.draws.chance((batch, n_variables, n_variables), rate)

    def _graphs(self, degrees: Tensor, n_variables: int) -> Tensor:
        """Half Erdős–Rényi, half scale-free, one after the other; of the latter a quarter with hubs as causes."""
        batch = len(degrees)
        n_random = (batch + 1) // 2
        random = graphs.erdos_renyi(degrees[:n_random], n_variables, self.draws)
        hubs_last = self.draws.chance((batch - n_random,), 0.75)
        links = degrees[n_random:].round().clamp_min(1)
        free = graphs.scale_free(links, n_variables, self.draws, hubs_last=hubs_last)
        # interleaved, so that any part of a batch has both
        return torch.cat([random, free])[_interleaved(batch, random.device)]


def standardized_inputs(x: Tensor, plain: Tensor, rescaled: Tensor, draws: Draws) -> Tensor:
    """Standardized rows and the centered log scale; cells that are missing stay so.

    Parameters
    ----------
    x : (batch, n_variables, n_samples) tensor
    plain, rescaled : (batch, 1, 1) bool tensors
        Tasks whose scale is shown as zero, and tasks in arbitrary units.
    """
    batch, d, _ = x.shape
    centered = x - x.nanmean(2, keepdim=True)
    scale = centered.square().nanmean(2, keepdim=True).sqrt().clamp_min(1e-20)
    log_scale = scale.log()
    log_scale = torch.where(rescaled, RESCALED_SPREAD * draws.normal((batch, d, 1)), log_scale)
    log_scale = log_scale - log_scale.mean(1, keepdim=True)
    log_scale = torch.where(plain, 0.0, log_scale)
    return torch.cat([centered / scale, log_scale], dim=2)


def ancestors(adjacency: Tensor) -> Tensor:
    """Transitive closure, (batch, n_variables, n_variables) bool: ``[i, j]`` when a path leads from i to j."""
    d = adjacency.shape[-1]
    closure = adjacency.float()
    length = 1
    while length < d:  # paths of twice the length at every squaring
        closure = ((closure + closure @ closure) > 0).float()
        length *= 2
    return closure.bool()


def training_orders(adjacency: Tensor, draws: Draws) -> Tensor:
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
    times = draws.uniform((batch, d))
    latest = torch.maximum(times, (above * times[:, :, None]).amax(1))
    by_ancestors = above.sum(1) + times
    spread = draws.normal((batch, d)) * (CORRUPTED_SPREAD * d)
    kind = torch.arange(batch, device=device)[:, None] % 3
    keys = torch.where(kind == 0, latest, torch.where(kind == 1, by_ancestors, by_ancestors + spread))
    # stable: a variable tied with its ancestor keeps the causal sequence
    return keys.argsort(dim=1, stable=True)


def through_asinh(inputs: Tensor) -> Tensor:
    """Show rows as :class:`precede.policy.inputs.ResampledInputs` does: in one unit for all columns, through asinh.

    Examples
    --------
    >>> task = torch.tensor([[[1.0, -1.0, 0.0], [1.0, -1.0, 1.0]]])
    >>> through_asinh(task)[0, :, 0].sinh()
    tensor([1.0000, 2.7183])
    """
    rows, scale = inputs[:, :, :-1], inputs[:, :, -1:].exp()
    return (rows * (scale / scale.amin(1, keepdim=True))).asinh()


def _interleaved(batch: int, device: torch.device) -> Tensor:
    """Positions that alternate between the first and the second half of a batch."""
    half = (batch + 1) // 2
    return torch.arange(2 * half, device=device).view(2, half).T.reshape(-1)[:batch]
