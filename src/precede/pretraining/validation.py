"""Families that the policy is never trained on: what validates it and calibrates its probabilities.

Tables: counts, coin tosses, regulation of genes, decision trees, outliers, reaction rates, angles, ratings, each a way
to make a variable from its parents that the prior does not have. Pairs of cause and effect in the manner of published
simulations: ``sim`` to ``sim-confounded`` follow Mooij et al. (2016, Appendix C): densities and mechanisms are Gaussian
processes, noise enters the mechanism, both columns are measured with error. ``an`` to ``mn`` follow Tagasovska et al.
(2020): additive, location-scale and multiplicative noise, with Gaussian-process or sigmoid mechanisms. ``polynomial``
and ``network`` follow Goudet et al. (2018).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from precede.arrays import BoolArray, FloatArray
from precede.graph.dags import ancestors
from precede.knowledge import Constraints
from precede.options import Options
from precede.policy.actor import Actor, Architecture
from precede.policy.inputs import Told, Views
from precede.policy.moments import edge_loss
from precede.pretraining.own_tables import LabeledTable
from precede.simulation import simulate
from precede.simulation.draws import NumpyDraws
from precede.simulation.graphs import random_dag
from precede.simulation.mechanisms import linear, structural_data

Mechanism = Callable[[FloatArray, np.random.Generator], FloatArray]
"""From standardized parents (n_samples, n_parents), maybe none, to the variable (n_samples,)."""

FIRST_FAMILY_SEED = 700_000
"""Seeds of these data sets; training, tests and benchmarks use others."""


def _blend(parents: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Random weighted sum of the parents, variance about one; Gaussian for a root."""
    n, p = parents.shape
    if p == 0:
        return np.asarray(rng.normal(size=n))
    weights = rng.choice([-1.0, 1.0], p) * rng.uniform(0.5, 1.5, p)
    return np.asarray(parents @ weights / np.linalg.norm(weights))


def counts(parents: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Poisson with a log-linear mean."""
    mean = np.exp(rng.uniform(0.5, 2.0) + rng.uniform(0.5, 1.0) * _blend(parents, rng).clip(-3, 3))
    return rng.poisson(mean).astype(np.float64)


def coins(parents: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Half of the variables are tosses of a coin whose log-odds the parents give, half are linear."""
    signal = rng.uniform(1.5, 3.0) * _blend(parents, rng)
    if rng.random() < 0.5:
        return (rng.random(len(signal)) < 1 / (1 + np.exp(-signal))).astype(np.float64)
    return np.asarray(signal + rng.uniform(0.5, 1.5) * rng.normal(size=len(signal)))


def genes(parents: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Product of Hill functions, each activating or repressing, with log-normal noise."""
    n, p = parents.shape
    level = np.exp(rng.normal(size=n) * 0.5) if p == 0 else np.ones(n)
    for column in np.exp(0.7 * parents.T):
        power, half = rng.uniform(1.5, 4.0), rng.uniform(0.6, 1.6)
        bound = column**power / (half**power + column**power)
        level = level * (0.1 + (bound if rng.random() < 0.6 else 1 - bound))
    return np.asarray(level * np.exp(rng.uniform(0.1, 0.4) * rng.normal(size=n)))


def trees(parents: FloatArray, rng: np.random.Generator) -> FloatArray:
    """A random decision tree of depth three, and Gaussian noise."""
    n, p = parents.shape
    if p == 0:
        return np.asarray(rng.uniform(-1, 1, n))
    leaf = np.zeros(n, dtype=int)
    for level in range(3):
        for node in range(2**level):
            inside = leaf == node + 2**level - 1 if level else np.ones(n, dtype=bool)
            side = parents[:, (node + 2**level - 1) % p] > rng.normal() * 0.5  # every parent in its turn
            leaf = np.where(inside, 2 * leaf + 1 + side, leaf)
    values = rng.normal(size=leaf.max() + 1)[leaf]
    return np.asarray(values + rng.uniform(0.1, 0.5) * rng.normal(size=n))


def outliers(parents: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Linear, with Student's t of three degrees of freedom and a few gross errors."""
    n = len(parents)
    gross = (rng.random(n) < 0.01) * rng.normal(size=n) * 8
    return np.asarray(_blend(parents, rng) + rng.uniform(0.3, 1.0) * rng.standard_t(3, size=n) + gross)


def rates(parents: FloatArray, rng: np.random.Generator) -> FloatArray:
    """A rate that saturates in one parent and grows with the others, gamma noise."""
    n, p = parents.shape
    amounts = np.exp(0.6 * parents)
    level = np.ones(n)
    for k in range(p):
        level = level * (amounts[:, k] / (rng.uniform(0.3, 2.0) + amounts[:, k]) if k == 0 else amounts[:, k] ** 0.6)
    shape = rng.uniform(5, 40)
    return np.asarray(level * rng.gamma(shape, 1 / shape, n))


def angles(parents: FloatArray, rng: np.random.Generator) -> FloatArray:
    """A sine of the parents' sum, in noise that is uniform."""
    n, p = parents.shape
    phase = rng.uniform(0.8, 1.6) * _blend(parents, rng) + rng.uniform(0, 1)
    return np.asarray((np.sin(phase) if p else phase) + rng.uniform(0.2, 0.6) * rng.uniform(-1, 1, n))


def ratings(parents: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Linear Gaussian, shown as one of five ratings."""
    hidden = _blend(parents, rng) + rng.uniform(0.3, 1.0) * rng.normal(size=len(parents))
    cuts = np.sort(rng.normal(size=4)) * hidden.std()
    return np.searchsorted(cuts, hidden).astype(np.float64)


HELD_OUT: dict[str, Mechanism] = {
    made.__name__: made for made in (counts, coins, genes, trees, outliers, rates, angles, ratings)
}


def held_out_data(
    family: str, seed: int, n_variables: int = 20, n_samples: int = 500, degree: float = 1.5
) -> tuple[FloatArray, BoolArray]:
    """A data set of a family and its adjacency, ``[i, j]`` meaning i -> j; constant columns are drawn again.

    Examples
    --------
    >>> values, adjacency = held_out_data("counts", 0, n_variables=5, n_samples=40)
    >>> values.shape, adjacency.shape
    ((40, 5), (5, 5))
    """
    rng = np.random.default_rng(FIRST_FAMILY_SEED + seed)
    kind = ("sf", max(1, round(degree))) if seed % 2 else ("er", degree)
    adjacency, order = random_dag(kind[0], n_variables, kind[1], rng)
    values, shown = np.zeros((2, n_samples, n_variables))
    for node in order:
        parents = np.flatnonzero(adjacency[:, node])
        while shown[:, node].std() == 0:
            shown[:, node] = HELD_OUT[family](values[:, parents], rng)
        values[:, node] = (shown[:, node] - shown[:, node].mean()) / shown[:, node].std()
    return shown, adjacency


Pair = tuple[FloatArray, FloatArray]
Maker = Callable[[int, np.random.Generator], Pair]

N_WAVES = 200
"""Random Fourier features of a Gaussian process."""

FIRST_PAIR_SEED = 600_000
"""Seeds of these pairs; training, tests and benchmarks use others."""


def _standard(x: FloatArray) -> FloatArray:
    return np.asarray((x - x.mean()) / x.std())


def _gp(inputs: FloatArray, lengths: FloatArray, rng: np.random.Generator) -> FloatArray:
    """A draw of a Gaussian process with a squared exponential kernel at inputs (n, p), a length for each of the p."""
    waves = rng.normal(size=(inputs.shape[1], N_WAVES)) / lengths[:, None]
    phases = rng.uniform(0, 2 * np.pi, N_WAVES)
    return np.asarray(np.cos(inputs @ waves + phases) @ rng.normal(size=N_WAVES) * np.sqrt(2 / N_WAVES))


def _random_density(n: int, length: float, rng: np.random.Generator) -> FloatArray:
    """Gaussian values through an increasing map: the integral of the exponential of a Gaussian process."""
    z = np.sort(rng.normal(size=n))
    slopes = np.exp(_gp(z[:, None], np.array([length]), rng))
    return rng.permutation(_standard(np.append(0.0, np.cumsum(slopes[1:] * np.diff(z)))))


def sim(
    n: int, rng: np.random.Generator, shape: float = 1.0, length: float = 1.0, noise: float = 0.05, hidden: bool = False
) -> Pair:
    """Mooij et al.: lengths and error from Gamma distributions with these means; a common cause may be hidden."""
    around = rng.gamma(5.0, 0.2, size=5)
    cause = _random_density(n, shape * around[0], rng)
    own = _random_density(n, shape * around[1], rng)
    inputs, lengths = [cause, own], [length * around[2], length * around[3]]
    if hidden:
        common = _random_density(n, shape * around[1], rng)
        cause = _standard(_gp(np.column_stack([cause, common]), np.array([length, length]) * 2, rng))
        inputs, lengths = [cause, own, common], [*lengths, 3.0 * length]
    effect = _standard(_gp(np.column_stack(inputs), np.array(lengths), rng))
    error = noise * around[4]
    return cause + error * rng.normal(size=n), effect + error * rng.normal(size=n)


def _mechanism(cause: FloatArray, rng: np.random.Generator, sigmoid: bool) -> FloatArray:
    if not sigmoid:
        return _standard(_gp(cause[:, None], np.array([rng.uniform(0.8, 2.0)]), rng))
    slope, place = rng.uniform(0.5, 2.0) * rng.choice([-1, 1]), rng.uniform(-1, 1)
    at = slope * (cause + place)
    return _standard(at / (1 + np.abs(at)))


def _noisy(n: int, rng: np.random.Generator, kind: str, *, sigmoid: bool = False) -> Pair:
    """Tagasovska et al.: a Gaussian cause; noise added, scaled by the cause, or multiplied."""
    cause, noise = rng.normal(size=(2, n))
    size = rng.uniform(0.2, np.sqrt(0.4))
    if kind == "additive":
        return cause, _mechanism(cause, rng, sigmoid) + size * noise
    if kind == "scaled":
        scale = np.exp(0.7 * _mechanism(cause, rng, sigmoid))
        return cause, _mechanism(cause, rng, sigmoid) + size * scale * noise
    return cause, (_mechanism(cause, rng, sigmoid) + rng.normal()) * rng.uniform(0.0, 1.0, n)


def polynomial(n: int, rng: np.random.Generator) -> Pair:
    """Goudet's Multi: a polynomial, noise added or multiplied, before or after it."""
    cause = _random_density(n, rng.uniform(0.5, 3.0), rng)
    noise = rng.normal(size=n) * rng.uniform(0.1, 0.8)
    powers = rng.normal(size=4) * np.array([1.5, 1.0, 0.6, 0.2])

    def bend(x: FloatArray) -> FloatArray:
        return _standard(sum((w * x.clip(-4, 4) ** (k + 1) for k, w in enumerate(powers)), np.zeros(n)))

    made = [bend(cause) + noise, bend(cause + noise), bend(cause) * (1 + noise), bend(cause * (1 + noise))]
    return cause, made[int(rng.integers(4))]


def network(n: int, rng: np.random.Generator) -> Pair:
    """Goudet's Net: a small random network of the cause and of noise."""
    cause = _random_density(n, rng.uniform(0.5, 3.0), rng)
    inputs = np.column_stack([cause, rng.normal(size=n) * rng.uniform(0.2, 1.0)])
    hidden = np.tanh(inputs @ rng.normal(size=(2, 20)) + rng.normal(size=20))
    return cause, hidden @ rng.normal(size=20)


PAIR_FAMILIES: dict[str, Maker] = {
    "sim": sim,
    "sim-confounded": partial(sim, hidden=True),
    "sim-low-noise": partial(sim, noise=0.01),
    "sim-gaussian": partial(sim, shape=3.0, length=2.5),  # near Gaussian, near linear
    "an": partial(_noisy, kind="additive"),
    "an-sigmoid": partial(_noisy, kind="additive", sigmoid=True),
    "ls": partial(_noisy, kind="scaled"),
    "ls-sigmoid": partial(_noisy, kind="scaled", sigmoid=True),
    "mn": lambda n, rng: _noisy(n, rng, "multiplied", sigmoid=bool(rng.random() < 0.5)),
    "polynomial": polynomial,
    "network": network,
}


def held_out_pair(family: str, seed: int, n_samples: int = 500) -> FloatArray:
    """A pair of a family, (n_samples, 2), the cause in the first column; each standardized.

    Every third pair shows few digits, as real tables do.

    Examples
    --------
    >>> held_out_pair("sim", 0, n_samples=40).shape
    (40, 2)
    """
    rng = np.random.default_rng([FIRST_PAIR_SEED + seed, list(PAIR_FAMILIES).index(family)])
    columns = [_standard(column) for column in PAIR_FAMILIES[family](n_samples, rng)]
    if seed % 3 == 2:
        steps = rng.uniform(0.05, 0.3, 2)
        columns = [_standard((column / step).round()) for column, step in zip(columns, steps, strict=True)]
    return np.column_stack(columns)


SUITE: dict[str, Options] = {
    "lg-er2": {"graph": "er", "degree": 2, "sem": "linear-gaussian"},
    "lg-sf2": {"graph": "sf", "degree": 2, "sem": "linear-gaussian"},
    "lg-er2-standardized": {"graph": "er", "degree": 2, "sem": "linear-gaussian", "standardize": True},
    "lingam-er2-standardized": {"graph": "er", "degree": 2, "sem": "lingam", "standardize": True},
    "gp-er2-standardized": {"graph": "er", "degree": 2, "sem": "gp", "standardize": True},
    "gp-additive-er2-standardized": {"graph": "er", "degree": 2, "sem": "gp-additive", "standardize": True},
}
CAUSE_FIRST = np.array([[False, True], [False, False]])
FIRST_SEED = 900_000
"""Seeds of the suite; tests and benchmarks use others."""


@dataclass(frozen=True)
class ValidationSettings:
    """Size of the suite; families held out have two thirds of the variables, and of pairs there are four times more."""

    n_variables: int = 30
    n_samples: int = 500
    n_sets: int = 16


class ValidationSuite:
    """Order TPR of greedy decoding on each kind of data.

    Parameters
    ----------
    settings : ValidationSettings
    architecture : Architecture
        Says how many rows the policy sees.
    device : torch.device
    own : sequence of LabeledTable
        Tables of one's own, where there are any: they decide which weights are kept.
    """

    def __init__(
        self,
        settings: ValidationSettings,
        architecture: Architecture,
        device: torch.device,
        own: Sequence[LabeledTable] = (),
    ) -> None:
        n, sets, smaller = settings.n_samples, range(settings.n_sets), max(4, settings.n_variables * 2 // 3)
        size = {"n_variables": settings.n_variables, "n_samples": n}
        held_out = {name: [LabeledTable(*held_out_data(name, k, smaller, n)) for k in sets] for name in HELD_OUT}
        groups = {
            "mean": {
                name: [simulated(FIRST_SEED + k, **size, **options) for k in sets] for name, options in SUITE.items()
            },
            "held-out": held_out,
            "pairs": {
                name: [LabeledTable(held_out_pair(name, k, n), CAUSE_FIRST) for k in range(4 * settings.n_sets)]
                for name in PAIR_FAMILIES
            },
            "told": {
                "set": [with_interventions(k, smaller, n) for k in sets],
                "known": [a_third_known(table, k) for tables in held_out.values() for k, table in enumerate(tables)],
            },
        }
        if own:
            groups["own"] = {table.name: [table] for table in own}
        self._groups = {
            group: {name: as_seen(tables, architecture, device) for name, tables in cells.items()}
            for group, cells in groups.items()
        }

    def evaluate(self, actor: Actor) -> dict[str, float]:
        """Mean order TPR of each cell and of the groups, and the mean of those that decide.

        The groups are ``mean`` (the families of training), ``held-out`` and ``pairs`` (families that training never
        draws from) and ``told`` (linear Gaussian data of which a fifth of the rows were set, and the edges of the
        families held out other than the third that is required); ``overall`` is their mean, or the figure of tables of
        one's own. ``edges`` is the edge head's loss on the families held out, with nothing told.
        """
        result: dict[str, float] = {}
        losses = []
        for group, cells in self._groups.items():
            found = {}
            for name, (inputs, told, adjacency) in cells.items():
                orders, logits = greedy_orders(actor, inputs, told)
                found[name] = float(order_shares(orders, adjacency & ~told.required).nanmean())
                if group == "held-out" and logits is not None:
                    losses.append(float(edge_loss(logits, adjacency.float(), 0.0 * adjacency)))
            result |= found | {group: float(np.mean(list(found.values())))}
        deciding = ["own"] if "own" in self._groups else ["mean", "held-out", "pairs", "told"]
        result |= {"edges": float(np.mean(losses))} if losses else {}
        return result | {"overall": float(np.mean([result[group] for group in deciding]))}


@torch.no_grad()
def greedy_orders(actor: Actor, inputs: Tensor, told: Told | None = None) -> tuple[Tensor, Tensor | None]:
    """The most likely variable at every step, (batch, n_variables), and the logits of the edge head where there is one.

    These are the zero-shot orders of data sets.
    """
    states, logits = actor.eval().look(inputs, told)
    batch, d, _ = states.shape
    return actor.sample(states, states.new_zeros((batch, d, d))), logits


def order_shares(orders: Tensor, adjacency: Tensor) -> Tensor:
    """Share of true edges that agree with each order, (batch,).

    Examples
    --------
    >>> chain = torch.tensor([[[0, 1, 0], [0, 0, 1], [0, 0, 0]]])
    >>> order_shares(torch.tensor([[0, 2, 1]]), chain)
    tensor([0.5000])
    """
    position = orders.argsort(1)
    agrees = position[:, :, None] < position[:, None, :]
    edges = adjacency.float()
    return (edges * agrees).sum((1, 2)) / edges.sum((1, 2))


Seen = tuple[Tensor, Told, Tensor]
"""Data sets of one size as a policy sees them: inputs, what it is told, and their graphs."""


def as_seen(tables: Sequence[LabeledTable], architecture: Architecture, device: torch.device) -> Seen:
    """One look of a policy at each of some tables of one size."""
    inputs, told = [], []
    for k, table in enumerate(tables):
        rng = np.random.default_rng(FIRST_SEED + k)
        seen = architecture.inputs(table.values, rng, device, scales=table.scales, told=table.told)
        inputs.append(seen.draw(1)[:1])
        told.append(seen.told.of(slice(1)) if isinstance(seen, Views) else Told.nothing(inputs[-1]))
    graphs = torch.stack([torch.tensor(table.edges, device=device) for table in tables])
    return torch.cat(inputs), Told(*map(torch.cat, zip(*told, strict=True))), graphs


def simulated(seed: int, **options: Any) -> LabeledTable:
    """A table of :func:`precede.simulate`, whose scales mean something unless it is standardized."""
    dataset = simulate(random_state=seed, **options)
    return LabeledTable(dataset.data.to_numpy(), dataset.graph.edges, scales=not options.get("standardize"))


SET_ROWS = 0.2
"""Share of the rows in which one variable was set."""


def with_interventions(seed: int, n_variables: int, n_samples: int) -> LabeledTable:
    """Standardized linear Gaussian data in which a fifth of the rows set a variable, each its own."""
    graph = simulate("er", n_variables, 1.5, n_samples=10, random_state=FIRST_SEED + seed).graph
    draws = NumpyDraws(np.random.default_rng(FIRST_SEED + seed))
    shape = (1, n_variables, n_samples)
    rows = draws.chance((1, 1, n_samples), SET_ROWS)
    target = draws.integers((1, 1, n_samples), n_variables)
    was_set = rows & (target == torch.arange(n_variables)[None, :, None])
    imposed = draws.normal(shape).masked_fill(~was_set, torch.nan)
    weights = torch.from_numpy(graph.weights.to_numpy().copy())[None]
    x = structural_data(draws.normal(shape), weights, graph.positions.tolist(), linear, draws, imposed=imposed)
    values = x[0].T.numpy()
    return LabeledTable(values, graph.edges, told=Told.about(values, was_set=was_set[0].T.numpy()))


def a_third_known(table: LabeledTable, seed: int) -> LabeledTable:
    """The same data, a third of the edges required."""
    kept = table.edges & (np.random.default_rng(FIRST_SEED + seed).random(table.edges.shape) < 1 / 3)
    known = replace(Constraints.none(len(kept)), required=kept, before=ancestors(kept))
    return replace(table, told=Told.about(table.values, constraints=known))
