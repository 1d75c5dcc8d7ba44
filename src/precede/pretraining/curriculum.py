"""Simulated tasks with known graphs, drawn on the device in batches: what the policy is pretrained on."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten, tree_unflatten

from precede.policy.inputs import Told, numeric_reading
from precede.pretraining.world import draw_knowledge, imposed_values, shared_over_class, told_directions, world_data
from precede.simulation import graphs, observation
from precede.simulation.draws import Draws
from precede.simulation.mechanisms import MECHANISMS, structural_data
from precede.simulation.noise import UNEQUAL_RANGE, shaped_noise

SHARES = {"linear-gaussian": 0.3, "lingam": 0.2, "gp": 0.2, "gp-additive": 0.15, "mlp": 0.1, "quadratic": 0.05}
"""Share of each mechanism in a batch."""

NON_GAUSSIAN = {"power": 4.0, "laplace": 1.0, "uniform": 1.0, "exponential": 1.0, "gumbel": 1.0}
"""Shapes of noise of "lingam", and how often each is drawn."""


def family_data(adjacency: Tensor, n_samples: int, draws: Draws, imposed: Tensor | None = None) -> Tensor:
    """Values (batch, n_variables, n_samples) in causal order, consecutive tasks sharing a mechanism.

    ``imposed`` is what interventions set (:func:`precede.pretraining.world.imposed_values`).
    """
    batch, d, _ = adjacency.shape
    weights = adjacency * random_weights(batch, d, draws)
    unequal = draws.chance((batch, 1, 1), 1 / 3)
    scales = torch.where(unequal, draws.uniform((batch, d, 1), *UNEQUAL_RANGE), 1.0)
    # every mechanism has its share in every batch, up to a rounded task
    ends = [0, *(round(share * batch) for share in accumulate(SHARES.values()))]
    parts = []
    for name, (start, stop) in zip(SHARES, pairwise(ends), strict=True):
        shapes = NON_GAUSSIAN if name == "lingam" else {"gaussian": 1.0}
        kinds = draws.choice((stop - start, 1), shapes).expand(-1, d)
        noise = shaped_noise(kinds, list(shapes), n_samples, draws) * scales[start:stop]
        was_set = None if imposed is None else imposed[start:stop]
        parts.append(structural_data(noise, weights[start:stop], range(d), MECHANISMS[name], draws, imposed=was_set))
    return torch.cat(parts)


def random_weights(batch: int, d: int, draws: Draws) -> Tensor:
    """Either sign, size in [0.5, 2] as in Appendix B.2 for most tasks, in a narrower or weaker range for others."""
    shape = (batch, 1, 1)
    usual = draws.chance(shape, 0.7)
    low = torch.where(usual, 0.5, draws.uniform(shape, 0.2, 0.7))
    high = torch.where(usual, 2.0, draws.uniform(shape, 0.8, 2.0))
    return draws.either_sign((batch, d, d), low, high)


RESCALED_SHARE = 0.1
"""Share of the families' tasks whose columns have arbitrary units, so that the policy does not trust every scale."""

WORLD_RESCALED_SHARE = 0.3
"""The same for the wide prior, where all other columns are standardized: scales carry nothing there."""

RESCALED_SPREAD = 2.0
"""Standard deviation of the log of those units."""

WORLD_HIDDEN_SHARE, MOST_HIDDEN = 0.5, 0.4
"""Share of the wide prior's tasks with hidden variables, and how many they are at most beside those that are shown."""

SMALL_TABLE = 5
SMALL_HIDDEN = 1, 2, 4, 8
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
        Share of tasks from the wide prior (:mod:`precede.pretraining.world`); the rest are of the six families.
    hidden : float
        Share of the families' tasks with hidden variables.
    told : bool
        Whether some tasks come with interventions, and some with knowledge.
    tables : str or None
        Folder of labeled tables (:mod:`precede.pretraining.own_tables`), in place of all simulated tasks.
    """

    n_variables: tuple[int, ...] = (2, 2, 2, 2, 2, 2, 3, 3, 5, 8, 10, 12, 15, 20, 25, 30, 40, 50)
    n_samples: tuple[int, ...] = (100, 200, 300, 500, 800, 1200)
    degrees: tuple[float, float] = (1.0, 5.0)
    world_degrees: tuple[float, float] = (0.5, 4.0)
    standardized: float = 0.55
    rows: int | None = None
    world: float = 0.75
    hidden: float = 0.25
    told: bool = True
    tables: str | None = None


PAPER_CURRICULUM = CurriculumSettings(
    (30,), (500,), (2.0, 2.0), standardized=0.45, rows=256, world=0.0, hidden=0.0, told=False
)
"""Section 5.1, "Pretraining": 30-node ER2 and SF2 with different causal relationships; rows as CORL.paper sees."""


class Tasks(NamedTuple):
    """A batch of data sets with their graphs.

    Parameters
    ----------
    inputs : (batch, n_variables, rows + 1) tensor
        As :class:`precede.policy.inputs.FixedInputs`: standardized rows, NaN where a cell is missing, then the
        centered log scale.
    told : Told
    adjacency : (batch, n_variables, n_variables) bool tensor
    edges, common : (batch, n_variables, n_variables) float tensors
        What there is to say of each pair (:func:`precede.policy.moments.edge_loss`).
    orders : (batch, n_variables) int64 tensor
        From :func:`training_orders`.
    """

    inputs: Tensor
    told: Told
    adjacency: Tensor
    edges: Tensor
    common: Tensor
    orders: Tensor

    def split(self, parts: int) -> list[Tasks]:
        """Cut into batches of the same size."""
        leaves, tree = tree_flatten(self)
        return [tree_unflatten(cut, tree) for cut in zip(*(leaf.chunk(parts) for leaf in leaves), strict=True)]


class Made(NamedTuple):
    """Tasks with columns in causal order: inputs, edges, and what else says which answers there are.

    Parameters
    ----------
    inputs, adjacency
        As of :class:`Tasks`.
    common : (batch, n_variables, n_variables) bool tensor
        Pairs with a hidden cause.
    was_set : (batch, n_variables, n_samples) bool tensor
    unordered : (batch, n_variables) bool tensor
    gaussian : (batch,) bool tensor
        Whether the data are linear, Gaussian, and on no scale that means something.
    """

    inputs: Tensor
    adjacency: Tensor
    common: Tensor
    was_set: Tensor
    unordered: Tensor
    gaussian: Tensor

    @classmethod
    def plain(cls, inputs: Tensor, adjacency: Tensor) -> Made:
        """Of which nothing else is to be said."""
        nothing = Told.nothing(inputs)
        no_task = torch.zeros(len(inputs), dtype=torch.bool, device=inputs.device)
        return cls(inputs, adjacency, torch.zeros_like(adjacency), nothing.was_set, nothing.unordered, no_task)


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
        """Draw ``batch`` tasks of one size: graphs, data, units, what is told, column order."""
        made = self._tasks(batch, n_variables, n_samples)
        shuffled = self.draws.uniform((batch,)).argsort()
        made = Made(*(part[shuffled] for part in made))
        adjacency, n_seen = made.adjacency, min(self.settings.rows or n_samples, n_samples)
        rows, scale = made.inputs.split([n_samples, 1], dim=2)
        # which end is called large tells nothing
        seen = rows[:, :, :n_seen] * self.draws.sign((batch, n_variables, 1))
        inputs = torch.cat([seen, scale], dim=2)
        told = Told.nothing(inputs)._replace(was_set=made.was_set[:, :, :n_seen], unordered=made.unordered)
        if self.settings.told:
            required, forbidden = draw_knowledge(adjacency, self.draws)
            told = told._replace(required=required, forbidden=forbidden)
        directions, some = adjacency.clone(), made.gaussian.nonzero()[:, 0]
        directions[some] = told_directions(adjacency[some], told.of(some))
        edges = shared_over_class(adjacency, directions)
        common = (made.common & ~(adjacency | adjacency.mT)).float()
        orders = training_orders(adjacency, self.draws)
        columns = self.draws.permutations(batch, n_variables)  # column k shows variable columns[k]
        task = torch.arange(batch, device=columns.device)[:, None]
        pairs = task[:, :, None], columns[:, :, None], columns[:, None, :]
        graphs = adjacency[pairs], edges[pairs], common[pairs]
        return Tasks(inputs[task, columns], told.with_columns(columns), *graphs, columns.argsort(1).gather(1, orders))

    def _tasks(self, batch: int, n_variables: int, n_samples: int) -> Made:
        """Tasks with columns in causal order."""
        n_world = round(self.settings.world * batch)
        n_selected = round(SELECTED_SHARE * n_world)
        size = n_variables, n_samples
        parts = [self._family_tasks(batch - n_world, *size)] if batch > n_world else []
        parts += [self._world_tasks(n_world - n_selected, *size, selected=False)] if n_world > n_selected else []
        parts += [self._world_tasks(n_selected, *size, selected=True)] if n_selected else []
        return Made(*(torch.cat(column) for column in zip(*parts, strict=True)))

    def _family_tasks(self, batch: int, n_variables: int, n_samples: int) -> Made:
        low, high = self.settings.degrees
        whole, shown = self._partly_shown(self.draws.uniform((batch,), low, high), n_variables, self.settings.hidden)
        # shuffled, so that no mechanism always meets the same kind of graph
        shuffled = self.draws.uniform((batch,)).argsort()
        whole, shown = whole[shuffled], shown[shuffled]
        imposed = self._imposed(batch, n_variables, n_samples)
        x = family_data(whole, n_samples, self.draws, among_all(imposed, shown, whole.shape[1]))
        inputs, own_units = self._in_units(of_shown(x, shown))
        # linear Gaussian is the first of the families
        gaussian = torch.arange(batch, device=inputs.device) < round(SHARES["linear-gaussian"] * batch)
        gaussian &= ~own_units & (shown == torch.arange(n_variables, device=inputs.device)).all(1)
        edges, common = observation.marginal_graph(whole, shown)
        return Made.plain(inputs, edges)._replace(common=common, was_set=~imposed.isnan(), gaussian=gaussian)

    def _imposed(self, batch: int, n_variables: int, n_samples: int) -> Tensor:
        """What interventions set; NaN everywhere where tasks tell nothing."""
        if self.settings.told:
            return imposed_values(batch, n_variables, n_samples, self.draws)
        return torch.full((batch, n_variables, n_samples), torch.nan, device=self.draws.device)

    def _in_units(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Inputs of which some are standardized and some in arbitrary units; which are in their own (batch,)."""
        kind = self.draws.uniform((len(x), 1, 1))
        plain, rescaled = kind < self.settings.standardized, kind > 1 - RESCALED_SHARE
        return standardized_inputs(x, plain, rescaled, self.draws), ~(plain | rescaled)[:, 0, 0]

    def _world_tasks(self, batch: int, n_variables: int, n_samples: int, *, selected: bool) -> Made:
        draws = self.draws
        degrees = draws.log_uniform((batch,), *self.settings.world_degrees)
        whole, shown = self._partly_shown(degrees, n_variables, WORLD_HIDDEN_SHARE)
        thinned = draws.uniform((batch, 1, 1), 0.2, 0.9) * draws.chance((batch, 1, 1), THINNED_SHARE)
        whole = whole & ~draws.chance(tuple(whole.shape), thinned)  # up to nearly all edges of a task
        imposed = self._imposed(batch, n_variables, n_samples)
        if selected:  # of twice as many rows, which nobody touched
            imposed = torch.full_like(imposed, torch.nan).repeat(1, 1, 2)
        data = world_data(whole, imposed.shape[2], draws, among_all(imposed, shown, whole.shape[1]))
        unordered = data.unordered.gather(1, shown)
        x = numeric_reading(of_shown(data.x, shown), unordered)
        x = observation.selected_rows(x, n_samples, draws) if selected else x
        x = torch.where(unordered[:, :, None], x, observation.with_few_digits(observation.measured(x, draws), draws))
        x = x.masked_fill(observation.missing_cells(x, draws), torch.nan)
        rescaled = draws.uniform((batch, 1, 1)) < WORLD_RESCALED_SHARE
        inputs = standardized_inputs(x, ~rescaled, rescaled, draws)
        whole = torch.nn.functional.pad(whole, (0, 1, 0, 1))
        whole[:, -1, :-1] = data.shifted  # batches are one more hidden cause
        edges, common = observation.marginal_graph(whole, shown)
        made = Made.plain(inputs, edges)
        return made._replace(common=common, was_set=~imposed.isnan()[:, :, :n_samples], unordered=unordered)

    def _partly_shown(self, degrees: Tensor, n_variables: int, share: float) -> tuple[Tensor, Tensor]:
        """Graphs of which a share of the tasks hides some variables, and which are shown, (batch, n_variables)."""
        batch, d = len(degrees), n_variables
        n_hidden = self._n_hidden(d) if share else 0
        with_hidden = self.draws.chance((batch,), share)
        whole, plain = (self._graphs(degrees, count) for count in (d + n_hidden, d))
        # where nothing is hidden, the further variables are alone and left out
        padded = torch.nn.functional.pad(plain, (0, n_hidden, 0, n_hidden))
        some = observation.choose_shown(batch, d + n_hidden, d, self.draws)
        shown = torch.where(with_hidden[:, None], some, torch.arange(d, device=self.draws.device))
        return torch.where(with_hidden[:, None, None], whole, padded), shown

    def _n_hidden(self, n_variables: int) -> int:
        """How many variables are hidden in the tasks of a batch that hide any."""
        if n_variables > SMALL_TABLE:
            return max(1, round(MOST_HIDDEN * n_variables * self.draws.uniform((1,)).item()))
        return SMALL_HIDDEN[int(self.draws.uniform((1,)).item() * len(SMALL_HIDDEN))]

    def _graphs(self, degrees: Tensor, n_variables: int) -> Tensor:
        """Half Erdős–Rényi, half scale-free, one after the other; of the latter a quarter with hubs as causes."""
        batch = len(degrees)
        n_random = (batch + 1) // 2
        random = graphs.erdos_renyi(degrees[:n_random], n_variables, self.draws)
        hubs_last = self.draws.chance((batch - n_random,), 0.75)
        links = degrees[n_random:].round().clamp_min(1)
        free = graphs.scale_free(links, n_variables, self.draws, hubs_last=hubs_last)
        # interleaved, so that any part of a batch has both
        mixed = torch.empty((batch, n_variables, n_variables), dtype=torch.bool, device=random.device)
        mixed[::2], mixed[1::2] = random, free
        return mixed


def of_shown(x: Tensor, shown: Tensor) -> Tensor:
    """Rows of the variables (batch, n_shown) that are shown, of all (batch, n_variables, n_samples)."""
    return x.gather(1, shown[:, :, None].expand(-1, -1, x.shape[2]))


def among_all(imposed: Tensor, shown: Tensor, n_variables: int) -> Tensor:
    """What interventions set (batch, n_shown, n_samples), among all variables; NaN of those that are not shown."""
    batch, _, n = imposed.shape
    cells = shown[:, :, None].expand_as(imposed)
    return imposed.new_full((batch, n_variables, n), torch.nan).scatter(1, cells, imposed)


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
