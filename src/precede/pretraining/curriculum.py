"""Simulated tasks with known graphs, drawn on the device in batches: what the policy is pretrained on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate, pairwise

import torch
from torch import Tensor

from precede.data.noise import EXPONENT_RANGES, UNEQUAL_RANGE
from precede.pretraining import graphs, mechanisms

NONLINEAR: dict[str, mechanisms.BatchedMechanism] = {
    "gp": mechanisms.gp_joint,
    "gp-additive": mechanisms.gp_additive,
    "mlp": mechanisms.mlp,
    "quadratic": mechanisms.quadratic,
}
SHARES = {"linear-gaussian": 0.2, "lingam": 0.25, "gp": 0.2, "gp-additive": 0.2, "mlp": 0.1, "quadratic": 0.05}
"""Share of each mechanism in a batch."""

RESCALED_SHARE = 0.1
"""Share of tasks whose columns have arbitrary units, so that the policy does not trust every scale."""

RESCALED_SPREAD = 2.0
"""Standard deviation of the log of those units."""


@dataclass(frozen=True)
class CurriculumSettings:
    """What the tasks are drawn from.

    Parameters
    ----------
    n_variables, n_samples : tuple of int
        The sizes; a batch has one of each, so that its tensors have no padding.
    degrees : (float, float)
        Edges per variable, uniform between these.
    standardized : float
        Share of tasks whose columns are standardised, so that scales tell nothing.
    rows : int or None
        How many of the samples the policy sees, None for all; scales are always those of all samples.
    """

    n_variables: tuple[int, ...] = (10, 15, 20, 30, 40, 50)
    n_samples: tuple[int, ...] = (100, 200, 300, 500, 800)
    degrees: tuple[float, float] = (1.0, 5.0)
    standardized: float = 0.45
    rows: int | None = None


PAPER_CURRICULUM = CurriculumSettings((30,), (500,), (2.0, 2.0), rows=64)
"""Section 5.1, "Pretraining": 30-node ER2 and SF2 with different causal relationships; 64 rows (Appendix A.2)."""


@dataclass(frozen=True)
class Tasks:
    """A batch of data sets with their graphs.

    Parameters
    ----------
    inputs : (batch, n_variables, rows + 1) tensor
        As :class:`precede.policy.inputs.FixedInputs`: standardised rows, then the centred log scale.
    adjacency : (batch, n_variables, n_variables) bool tensor
    orders : (batch, n_variables) int64 tensor
        From :func:`precede.pretraining.graphs.training_orders`.
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
        self.settings, self.generator = settings, generator

    def draw(self, batch: int, n_variables: int, n_samples: int) -> Tasks:
        """Draw ``batch`` tasks of one size: graphs, weights, noise, mechanisms, units, column order."""
        adjacency = self._graphs(batch, n_variables)
        orders = graphs.training_orders(adjacency, self.generator)
        shuffled = self._uniform(batch).argsort()  # so that no mechanism always meets the same kind of graph
        x = self._data(adjacency[shuffled].float(), n_samples)[shuffled.argsort()]
        inputs = self._inputs(x)
        columns = self._uniform(batch, n_variables).argsort(1)  # column k shows variable columns[k]
        inputs = inputs.gather(1, columns[:, :, None].expand_as(inputs))
        by_row = adjacency.gather(1, columns[:, :, None].expand_as(adjacency))
        adjacency = by_row.gather(2, columns[:, None, :].expand_as(adjacency))
        return Tasks(inputs, adjacency, columns.argsort(1).gather(1, orders))

    def _graphs(self, batch: int, n_variables: int) -> Tensor:
        """Half Erdős–Rényi, half scale-free, alternating; of these a quarter with hubs as common causes."""
        low, high = self.settings.degrees
        degrees = low + (high - low) * self._uniform(batch)
        n_random = (batch + 1) // 2
        random = graphs.erdos_renyi(degrees[:n_random], n_variables, self.generator)
        hubs_last = self._uniform(batch - n_random) < 0.75
        free = graphs.scale_free(degrees[n_random:].round(), n_variables, hubs_last, self.generator)
        # interleaved, so that any part of a batch has both
        return torch.cat([random, free])[_interleaved(batch, random.device)]

    def _data(self, adjacency: Tensor, n_samples: int) -> Tensor:
        """Values (batch, n_variables, n_samples) in causal order, consecutive tasks sharing a mechanism."""
        batch, d, _ = adjacency.shape
        weights = adjacency * self._weights(batch, d)
        noise = self._gaussian(batch, d, n_samples)
        scales = self._noise_scales(batch, d)
        # every mechanism has its share in every batch, up to a rounded task
        edges = [0, *(round(share * batch) for share in accumulate(SHARES.values()))]
        parts = []
        for name, (start, stop) in zip(SHARES, pairwise(edges), strict=True):
            if start == stop:
                continue
            part = slice(start, stop)
            if name == "lingam":
                parts.append(mechanisms.linear(self._non_gaussian(noise[part]) * scales[part], weights[part]))
            elif name == "linear-gaussian":
                parts.append(mechanisms.linear(noise[part] * scales[part], weights[part]))
            else:
                make = NONLINEAR[name]
                parts.append(make(noise[part] * scales[part], adjacency[part], weights[part], self.generator))
        return torch.cat(parts)

    def _weights(self, batch: int, d: int) -> Tensor:
        """Either sign, size in [0.5, 2] as in Appendix B.2 for most tasks, in a narrower or weaker range for others."""
        usual = self._uniform(batch, 1, 1) < 0.7
        low = torch.where(usual, 0.5, 0.2 + 0.5 * self._uniform(batch, 1, 1))
        high = torch.where(usual, 2.0, 0.8 + 1.2 * self._uniform(batch, 1, 1))
        signed = 2 * self._uniform(batch, d, d) - 1
        return signed.sign() * (low + (high - low) * signed.abs())

    def _noise_scales(self, batch: int, d: int) -> Tensor:
        """One for two tasks of three, uniform in the range of ``noise="unequal"`` for the third."""
        low, high = UNEQUAL_RANGE
        unequal = self._uniform(batch, 1, 1) < 1 / 3
        return torch.where(unequal, low + (high - low) * self._uniform(batch, d, 1), 1.0)

    def _non_gaussian(self, z: Tensor) -> Tensor:
        """Gaussian noise to non-Gaussian, variance one: half powers, the rest Laplace, uniform, exponential, Gumbel."""
        batch, d, _ = z.shape
        (low_a, high_a), (low_b, high_b) = EXPONENT_RANGES
        position = self._uniform(batch, d, 1)
        exponents = torch.where(
            self._uniform(batch, d, 1) < 0.5, low_a + (high_a - low_a) * position, low_b + (high_b - low_b) * position
        )
        variance = 2**exponents * torch.lgamma(exponents + 0.5).exp() / math.sqrt(math.pi)
        power = z.sign() * z.abs() ** exponents / variance.sqrt()
        # quantile, kept from the ends so that the logarithms are finite
        u = (0.5 * torch.erfc(-z / math.sqrt(2))).clamp(1e-6, 1 - 1e-6)
        laplace = -(u - 0.5).sign() * torch.log1p(-2 * (u - 0.5).abs()) / math.sqrt(2)
        uniform = (u - 0.5) * math.sqrt(12)
        exponential = -torch.log1p(-u) - 1
        gumbel = (-torch.log(-torch.log(u)) - 0.5772156649) * math.sqrt(6) / math.pi
        kind = (self._uniform(batch, 1, 1) * 8).long()
        noise = power
        for number, other in enumerate((laplace, uniform, exponential, gumbel)):
            noise = torch.where(kind == 4 + number, other, noise)
        return noise

    def _inputs(self, x: Tensor) -> Tensor:
        """Standardised rows and the centred log scale; the scale is zero for standardised tasks."""
        batch, d, _ = x.shape
        centred = x - x.mean(2, keepdim=True)
        scale = centred.square().mean(2, keepdim=True).sqrt().clamp_min(1e-20)
        log_scale = scale.log()
        kind = self._uniform(batch, 1, 1)
        rescaled = kind > 1 - RESCALED_SHARE
        log_scale = log_scale + torch.where(rescaled, RESCALED_SPREAD * self._gaussian(batch, d, 1), 0.0)
        log_scale = log_scale - log_scale.mean(1, keepdim=True)
        log_scale = torch.where(kind < self.settings.standardized, 0.0, log_scale)
        return torch.cat([(centred / scale)[:, :, : self.settings.rows], log_scale], dim=2)

    def _uniform(self, *shape: int) -> Tensor:
        return torch.rand(shape, generator=self.generator, device=self.generator.device)

    def _gaussian(self, *shape: int) -> Tensor:
        return torch.randn(shape, generator=self.generator, device=self.generator.device)


def _interleaved(batch: int, device: torch.device) -> Tensor:
    """Positions that alternate between the first and the second half of a batch."""
    half = (batch + 1) // 2
    return torch.arange(2 * half, device=device).view(2, half).T.reshape(-1)[:batch]
