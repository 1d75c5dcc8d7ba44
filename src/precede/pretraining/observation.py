"""From the variables to the table: measurement error, digits, selection of rows, missing cells."""

from __future__ import annotations

import torch
from torch import Tensor

from precede.pretraining.drawing import Draws, unit_rows
from precede.pretraining.levels import ranks, rounded

MEASUREMENT_SHARE = 0.15
DIGITS_SHARE = 0.4
MISSING_SHARE = 0.12


def measured(x: Tensor, draws: Draws) -> Tensor:
    """Add error to standardized values (batch, n_variables, n_samples) in some tasks, a share of its scale to each."""
    batch, d, _ = x.shape
    size = draws.log_uniform((batch, d, 1), 0.05, 0.6) * draws.chance((batch, d, 1), 0.8)
    size = size * draws.chance((batch, 1, 1), MEASUREMENT_SHARE)
    return x + size * draws.normal(tuple(x.shape))


def with_few_digits(x: Tensor, draws: Draws) -> Tensor:
    """Round standardized values in some tasks, each variable to steps of its own: ties."""
    batch, d, _ = x.shape
    step = draws.log_uniform((batch, d, 1), 0.005, 0.4)
    some = draws.chance((batch, 1, 1), DIGITS_SHARE) & draws.chance((batch, d, 1), 0.7)
    return torch.where(some, rounded(x, step), x)


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
    batch, d, _ = x.shape
    rate = draws.uniform((batch, d, 1), 0.0, 0.33) * draws.chance((batch, 1, 1), MISSING_SHARE)
    rate = rate * draws.chance((batch, d, 1), 0.7)
    other = x.roll(1, dims=1)  # columns come in a random sequence
    rate = torch.where(draws.chance((batch, 1, 1), 0.5), 2 * rate * ranks(other), rate)
    return draws.chance(tuple(x.shape), rate)
