"""What a policy looks at: rows of the data in some form, and what is known beside them."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import torch
from scipy.linalg import hadamard
from torch import Tensor

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.data.checks import row_blocks
from precede.knowledge import Constraints

InputsName = Literal["fixed", "resample"]
RowScale = Literal["asinh", "common", "none"]


class FixedInputs:
    """The same rows throughout, standardized, with each column's log scale beside them.

    Deviations from the paper: it draws n rows anew for every episode, so that a variable looks different each time and
    the policy learns far more slowly. The states are then one set, shared by all orders of a batch.
    """

    def __init__(self, values: FloatArray, n_samples: int, rng: np.random.Generator, device: torch.device) -> None:
        rows = rng.choice(len(values), size=n_samples, replace=len(values) < n_samples)
        mean, scale = column_moments(values)
        columns = np.vstack([(values[rows] - mean) / scale, np.log(scale) - np.log(scale).mean()])
        self.n_inputs = len(columns)
        self._inputs = torch.tensor(columns.T[None], dtype=torch.float32, device=device)

    def draw(self, batch: int, generator: torch.Generator | None = None) -> Tensor:
        """(1, n_variables, n_samples + 1) tensor, whatever the batch and the generator."""
        return self._inputs


class ResampledInputs:
    r"""Rows drawn anew for each order of a batch (Section 4.2).

    Parameters
    ----------
    values : (n_rows, n_variables) array
    n_samples : int
        Rows in a draw.
    generator : torch Generator
    device : torch device
    scale : {"asinh", "common", "none"}
        :math:`\operatorname{asinh}((x - \bar x) / s)` with s the smallest standard deviation of a column; or
        :math:`(x - \bar x) / s` with s the root mean square of all columns; or x as it is.

    Notes
    -----
    The paper does not say how its rows are scaled. Variances of one data set differ by four orders of magnitude and
    more; in a common unit the small columns all look like nothing beside the large ones, and the policy settles before
    it can tell them apart. The inverse hyperbolic sine keeps small values as they are and takes the logarithm of large
    ones (``benchmarks/paper_details.py``).
    """

    def __init__(
        self,
        values: FloatArray,
        n_samples: int,
        generator: torch.Generator,
        device: torch.device,
        scale: RowScale = "asinh",
    ) -> None:
        mean, deviations = column_moments(values)
        unit = deviations.min() if scale == "asinh" else np.sqrt(np.mean(deviations**2))
        if scale == "none":
            mean, unit = np.zeros_like(mean), np.ones(())
        self.n_inputs = n_samples
        self._values = torch.empty(values.shape, dtype=torch.float32, device=device)
        start = 0
        for block in row_blocks(values):
            scaled = (block - mean) / unit
            scaled = np.arcsinh(scaled) if scale == "asinh" else scaled
            self._values[start : start + len(block)] = torch.from_numpy(scaled)
            start += len(block)
        self.generator = generator

    def draw(self, batch: int, generator: torch.Generator | None = None) -> Tensor:
        """(batch, n_variables, n_samples) tensor, by a generator that is given or by its own."""
        generator = generator or self.generator
        shape = (batch, self.n_inputs)
        rows = torch.randint(len(self._values), shape, generator=generator, device=generator.device)
        return self._values[rows.to(self._values.device)].transpose(1, 2)


def column_moments(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of each column, by blocks of rows: ``std`` alone would copy the data."""
    mean: FloatArray = values.mean(axis=0)
    squares = sum(np.square(block - mean).sum(axis=0) for block in row_blocks(values))
    return mean, np.sqrt(squares / len(values))


MOST_VIEWS = 8
FEWEST_VIEWS = 2
WORK = 120_000
"""Cells and pairs (a pair counts as nine cells) of all views together; small tables are looked at more often."""


class Views:
    """Standardized rows, other ones in each view where there are more than the policy reads, columns turned over.

    Which end of a column is called large tells nothing about causes, so views differ in that as well: in the k-th
    view the signs are a Walsh function of the columns' ranks by skewness. The first view has the columns as they are.
    Nothing here depends on the sequence of the columns.

    Parameters
    ----------
    values : (n_rows, n_variables) array
        A missing cell is NaN.
    n_rows : int
        Most rows in a view.
    rng : numpy Generator
        Chooses the rows.
    device : torch.device
    scales : bool
        Whether the columns' scales are shown; they mean something under equal noise variances alone.
    told : Told, optional
        What is told of the one table.
    """

    def __init__(
        self,
        values: FloatArray,
        n_rows: int,
        rng: np.random.Generator,
        device: torch.device,
        *,
        scales: bool = False,
        told: Told | None = None,
    ) -> None:
        mean = np.nanmean(values, axis=0)
        scale = np.sqrt(np.nanmean(np.square(values - mean), axis=0))
        log_scale = np.log(scale) - np.log(scale).mean() if scales else np.zeros(len(scale))
        m, d = values.shape
        n_rows = min(n_rows, m)
        n_views = int(np.clip(WORK // (d * (n_rows + 9 * d)), FEWEST_VIEWS, MOST_VIEWS))
        skewness = np.nanmean(((values - mean) / scale) ** 3, axis=0)
        signs = walsh_signs(n_views, np.argsort(np.argsort(skewness)))
        chosen = _rows(m, n_rows, n_views, rng)
        views = [
            np.vstack([(values[rows] - mean) / scale * sign, log_scale]).T
            for rows, sign in zip(chosen, signs, strict=True)
        ]
        self.n_inputs = n_rows + 1
        self._views = torch.tensor(np.stack(views), dtype=torch.float32, device=device)
        told = told or Told.about(values)
        was_set = torch.stack([told.was_set[0][:, torch.from_numpy(rows)] for rows in chosen]).to(device)
        self.told = Told(was_set, *(part.expand(n_views, *part.shape[1:]).to(device) for part in told[1:]))

    def draw(self, batch: int, generator: torch.Generator | None = None) -> Tensor:
        """(n_views, n_variables, n_rows + 1) tensor, whatever the batch and the generator."""
        return self._views


READING_ROUNDS = 3
READING_STEPS = 8
"""Rounds of scoring levels, and steps of the power iteration in each."""


def numeric_reading(values: Tensor, unordered: Tensor) -> Tensor:
    """Numbers for the levels of categories, so that their columns can be read beside others.

    Levels are scored by the mean of the other columns' first principal component where they are found, again and again
    (as in nonlinear principal components), beginning with how often each is found; the long tail is made the upper one.

    Parameters
    ----------
    values : (batch, n_variables, n_samples) tensor
        Of unordered columns the places of the levels, from 0; a missing cell is NaN.
    unordered : (batch, n_variables) bool tensor

    Examples
    --------
    >>> size = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    >>> color = torch.tensor([2.0, 2.0, 0.0, 0.0, 1.0, 1.0])
    >>> read = numeric_reading(torch.stack([size, color])[None], torch.tensor([[False, True]]))[0, 1]
    >>> bool(read[0] < read[2] < read[4] or read[0] > read[2] > read[4])
    True
    """
    seen = ~values.isnan()
    codes = torch.where(unordered[:, :, None] & seen, values, 0.0).long()
    weight = seen.to(values.dtype)
    empty = values.new_zeros((*codes.shape[:2], int(codes.max()) + 1))
    counts = empty.scatter_add(2, codes, weight).clamp_min(1.0)

    def standard(x: Tensor) -> Tensor:
        n = weight.sum(2, keepdim=True).clamp_min(1.0)
        x = torch.where(seen, x, 0.0)
        x = (x - x.sum(2, keepdim=True) / n) * weight
        return x * torch.rsqrt((x.square().sum(2, keepdim=True) / n).clamp_min(1e-12))

    often = standard(counts.log().gather(2, codes))
    x = standard(torch.where(unordered[:, :, None], often, values))
    for _ in range(READING_ROUNDS):
        product = x @ x.mT / x.shape[2]
        strongest = product.abs().sum(2).argmax(1)[:, None, None].expand(-1, len(x[0]), 1)
        vector = product.gather(2, strongest)
        for _ in range(READING_STEPS):
            vector = torch.nn.functional.normalize(product @ vector, dim=1)
        of_others = (vector * x).sum(1, keepdim=True) - vector * x
        means = empty.scatter_add(2, codes, of_others * weight) / counts
        read = means.gather(2, codes) + 1e-3 * often  # where levels do not differ, how often they are found remains
        x = standard(torch.where(unordered[:, :, None], read, values))
    tail = torch.where(x.pow(3).sum(2, keepdim=True) < 0, -1.0, 1.0)
    return torch.where(unordered[:, :, None] & seen, x * tail, values)


def walsh_signs(n_views: int, ranks: IntArray) -> FloatArray:
    """Signs (n_views, n_variables): the k-th row is minus one where k and the rank share an odd number of bits.

    Examples
    --------
    >>> walsh_signs(3, np.arange(4)).astype(int)
    array([[ 1,  1,  1,  1],
           [ 1, -1,  1, -1],
           [ 1,  1, -1, -1]])
    """
    return np.asarray(hadamard(MOST_VIEWS, dtype=float)[:n_views, ranks % MOST_VIEWS])


def _rows(m: int, n_rows: int, n_views: int, rng: np.random.Generator) -> list[IntArray]:
    """Rows of each view: all of them, or other ones every time until none is left."""
    if m == n_rows:
        return [np.arange(m)] * n_views
    passes = -(-n_views * n_rows // m)
    drawn = np.concatenate([rng.permutation(m) for _ in range(passes)])
    return [drawn[k * n_rows : (k + 1) * n_rows] for k in range(n_views)]


class Told(NamedTuple):
    """Of some tables; nothing is said where all is False.

    Parameters
    ----------
    was_set : (batch, n_variables, n_samples) bool tensor
        Cells that an intervention set, whatever the variable's causes.
    required, forbidden : (batch, n_variables, n_variables) bool tensors
        ``[i, j]`` of i -> j. Tiers and lags forbid every edge against them.
    unordered : (batch, n_variables) bool tensor
        Columns of categories, whose numbers are a reading (:func:`precede.policy.inputs.numeric_reading`).
    """

    was_set: Tensor
    required: Tensor
    forbidden: Tensor
    unordered: Tensor

    @classmethod
    def nothing(cls, inputs: Tensor) -> Told:
        """What is told of inputs (batch, n_variables, n_samples + 1) about which nothing is."""
        batch, d, width = inputs.shape
        shapes = (batch, d, width - 1), (batch, d, d), (batch, d, d), (batch, d)
        return cls(*(torch.zeros(shape, dtype=torch.bool, device=inputs.device) for shape in shapes))

    @classmethod
    def about(
        cls,
        values: FloatArray,
        *,
        was_set: BoolArray | None = None,
        unordered: BoolArray | None = None,
        constraints: Constraints | None = None,
    ) -> Told:
        """Of one table (n_samples, n_variables), whose cells ``was_set`` speaks of in the same shape.

        A precedence forbids every edge against it.
        """
        n, d = values.shape
        known = constraints or Constraints.none(d)
        forbidden = (~known.allowed | known.before.T) & ~np.eye(d, dtype=bool)  # transposed: the other way round
        cells = np.zeros((n, d), dtype=bool) if was_set is None else was_set
        columns = np.zeros(d, dtype=bool) if unordered is None else unordered
        return cls(*(torch.tensor(part)[None] for part in (cells.T, known.required, forbidden, columns)))

    def of(self, tables: slice | Tensor) -> Told:
        """Of some of the tables."""
        return Told(*(part[tables] for part in self))

    def with_columns(self, columns: Tensor) -> Told:
        """The same for tables whose k-th column shows variable ``columns[:, k]``."""
        task = torch.arange(len(columns), device=columns.device)[:, None]
        pairs = task[:, :, None], columns[:, :, None], columns[:, None, :]
        cells, unordered = self.was_set[task, columns], self.unordered[task, columns]
        return Told(cells, self.required[pairs], self.forbidden[pairs], unordered)
