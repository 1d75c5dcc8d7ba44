"""The wide prior: what real tables look like, put together from independently drawn parts."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from precede.simulation.distortions import DISTORTIONS, distort
from precede.simulation.draws import Draws, select, unit_rows
from precede.simulation.functions import RandomFunctions
from precede.simulation.noise import ROOTS, shaped_noise
from precede.simulation.observation import discrete_variables, some_levels

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
