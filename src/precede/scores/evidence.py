"""Gaussian-process log evidence of a variable given a set of parents, for all variables outside the set at once."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal, TypeVar

import numpy as np
import torch
from torch import Tensor

from precede.arrays import FloatArray
from precede.device import one_thread
from precede.errors import DataError, check_choice, check_positive
from precede.scores.linear import Noise
from precede.scores.memory import memory_budget, size_in_words
from precede.scores.moves import ParentSet

Kernel = Literal["joint", "additive"]
Item = TypeVar("Item")
Result = TypeVar("Result")

LENGTHSCALES = (0.5, 1.0, 2.0, 4.0)
"""Grid of lengthscales in standard deviations (METHODS 1.5); the joint kernel multiplies them by the root of |S|."""

NOISE_SHARES = (0.05, 0.12, 0.3, 0.6, 0.9)
"""Grid of the noise's share of the variance (METHODS 1.5)."""

MATRICES_AT_ONCE = 4
"""Matrices of one kernel's size that are alive together: squared distances, kernel, noisy kernel, factor."""

KEPT_BYTES = 2**29
"""One-dimensional kernels of an additive kernel are kept up to this size, else computed for each set."""

CUDA_CHUNK_BYTES = 2 * 2**30
"""Kernels are factorised on a GPU in batches of about this size."""


class GaussianProcessEvidence:
    r"""Log evidence of Gaussian-process regressions, one factorisation for all targets (METHODS 1.5).

    With :math:`y` a standardised column, :math:`K` the kernel of the columns in S and
    :math:`A = (1 - s) K + s I`, the scale :math:`c` of :math:`y \sim N(0, c A)` is profiled out,
    :math:`\hat c = y^T A^{-1} y / m`, and

    .. math:: \mathrm{local}(y, S) = \max_{\ell, s} \;
              -\frac m2 (\log 2 \pi \hat c + 1) - \frac12 \log\det A .

    The joint kernel is :math:`\exp(-\lVert x_S - x'_S \rVert^2 / (2 \ell^2 |S|))`; the additive kernel is
    the mean over S of :math:`\exp(-(x_i - x'_i)^2 / (2 \ell^2))`.

    With ``noise="equal"`` the noise :math:`c s` is one variance :math:`\sigma^2` for all variables, in the unit of the
    data; it is taken as the smallest variance of a column, which the model says is that of a source. Then
    :math:`c = \sigma^2 / s` is not free, and with :math:`y` the centred column in its own unit,

    .. math:: \mathrm{local}(y, S) = \max_{\ell, s} \; -\frac m2 \log \frac{2 \pi \sigma^2}{s}
              - \frac{s}{2 \sigma^2} y^T A^{-1} y - \frac12 \log\det A .

    Variance above :math:`\sigma^2` must be a function of parents. This tells causes from effects even where a function
    of many parents looks like noise, and misleads where the columns' units differ or the data were standardised.

    Parameters
    ----------
    values : (n_samples, n_variables) array
        Parents are standardised inside.
    kernel : {"joint", "additive"}
    noise : {"unequal", "equal"}
        Whether the noise variances of the variables differ.
    max_samples : int or None
        Rows used at most, evenly spaced: the cost grows with their cube. None takes all.
    memory_limit : float or None
        Bytes; half of what is free when left out.
    device : str or torch.device

    Attributes
    ----------
    n_samples : int
        Rows used.
    notes : list of str
        What a reader of the result must know.

    Notes
    -----
    There is a Cholesky factor per grid point: at m = 500, the five noise shares of one lengthscale take less time than
    one symmetric eigendecomposition does on a CPU, and a GPU factorises in batches (``benchmarks/gp_files.py``).
    On a CPU, sets are spread over threads, each with one thread of linear algebra: the result does not depend
    on their number.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=100)
    >>> y = np.sin(2 * x) + 0.1 * np.random.default_rng(1).normal(size=100)
    >>> evidence = GaussianProcessEvidence(np.column_stack([x, y]))
    >>> empty, given_x = evidence.of_sets([(), (0,)])
    >>> bool(given_x[1] > empty[1] + 50)
    True
    """

    def __init__(
        self,
        values: FloatArray,
        *,
        kernel: Kernel = "joint",
        noise: Noise = "unequal",
        max_samples: int | None = 1000,
        memory_limit: float | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        check_choice("kernel", kernel, ("joint", "additive"))
        check_choice("noise", noise, ("unequal", "equal"))
        if max_samples is not None:
            check_positive("max_samples", max_samples, integer=True)
        self.kernel = kernel
        self.device = torch.device(device)
        self.notes: list[str] = []
        rows = len(values)
        if max_samples is not None and rows > max_samples:
            values = values[np.linspace(0, rows - 1, int(max_samples)).round().astype(int)]
            self.notes.append(
                f"The GP evidence uses {max_samples} of the {rows} rows, evenly spaced: its cost grows with their cube."
            )
        self.n_samples: int = values.shape[0]
        self.n_variables: int = values.shape[1]
        self._check_memory(memory_limit)
        variances = values.var(axis=0)
        if not variances.all():  # of the rows that are left
            raise DataError(
                f"column {int(variances.argmin())} (counted from 0) is constant in the {self.n_samples} rows that the "
                "GP evidence uses: leave it out, or take another score."
            )
        standardised = (values - values.mean(axis=0)) / np.sqrt(variances)
        size = 8 * len(LENGTHSCALES) * self.n_variables * self.n_samples**2
        self._kept: dict[float, Tensor] | None = {} if size <= KEPT_BYTES else None
        self.columns = torch.from_numpy(np.ascontiguousarray(standardised)).to(self.device)
        self.noise = noise
        self.noise_variance = float(variances.min())
        self._variances = torch.from_numpy(variances).to(self.device)
        if noise == "equal":
            self.notes.append(
                f"All variables are taken to have the same noise variance, {self.noise_variance:.3g}, the smallest "
                "variance of a column: this hangs on the columns' units."
            )

    def _check_memory(self, memory_limit: float | None) -> None:
        needed = 8 * MATRICES_AT_ONCE * self.n_samples**2
        free = memory_budget(memory_limit, self.device)
        if needed > free:
            rows = int(math.sqrt(free / (8 * MATRICES_AT_ONCE)))
            raise DataError(
                f"the GP evidence of {self.n_samples} rows needs {size_in_words(needed)} for its kernels and "
                f"{size_in_words(free)} may be used: give at most {rows} rows, "
                "or take score='sparse-linear'."
            )

    def of_sets(self, sets: Sequence[ParentSet]) -> FloatArray:
        """Log evidence of every column given each set, (n_sets, n_variables); NaN for the members of the set."""
        result = np.full((len(sets), self.n_variables), np.nan)
        by_size: dict[int, list[int]] = defaultdict(list)
        for row, members in enumerate(sets):
            by_size[len(members)].append(row)
        pieces = [
            rows[start : start + self._sets_at_once]
            for rows in by_size.values()
            for start in range(0, len(rows), self._sets_at_once)
        ]
        if self.device.type == "cpu":
            evaluated = map_in_threads(lambda rows: self._evaluate([sets[row] for row in rows]), pieces)
        else:
            evaluated = [self._evaluate([sets[row] for row in rows]) for rows in pieces]
        for rows, values in zip(pieces, evaluated, strict=True):
            result[rows] = values.cpu().numpy()
        for row, members in enumerate(sets):
            result[row, list(members)] = np.nan
        return result

    @property
    def sets_at_once(self) -> int:
        """Sets that :meth:`of_sets` should be given at least, to keep all threads or the GPU busy."""
        return 8 * torch.get_num_threads() if self.device.type == "cpu" else self._sets_at_once

    @property
    def _sets_at_once(self) -> int:
        if self.device.type == "cpu":
            return 1  # a kernel that stays in the processor's cache is factorised soonest
        return max(1, CUDA_CHUNK_BYTES // (8 * MATRICES_AT_ONCE * int(self.n_samples) ** 2))

    def _evaluate(self, sets: list[ParentSet]) -> Tensor:
        """Log evidence given sets of one size, (n_sets, n_variables)."""
        if not sets[0]:
            squares = self.columns.square().sum(dim=0, keepdim=True)
            return self._likelihood(squares, 1.0, torch.zeros_like(squares[:, 0])).expand(len(sets), -1)
        members = torch.tensor(sets, device=self.device)
        parents = self.columns[:, members].transpose(0, 1)  # (n_sets, m, |S|)
        best = torch.full((len(sets), self.n_variables), -torch.inf, dtype=torch.float64, device=self.device)
        distances = squared_distances(parents) if self.kernel == "joint" else None
        for lengthscale in LENGTHSCALES:
            if distances is None:
                kernel = self._one_column(members[:, 0], lengthscale) / members.shape[1]
                for column in members.T[1:]:
                    kernel.add_(self._one_column(column, lengthscale), alpha=1 / members.shape[1])
            else:
                kernel = torch.exp(distances * (-0.5 / (lengthscale**2 * parents.shape[2])))
            for share in NOISE_SHARES:
                noisy = kernel * (1 - share)
                noisy.diagonal(dim1=1, dim2=2).add_(share)
                factor = torch.linalg.cholesky_ex(noisy)[0]
                whitened = torch.linalg.solve_triangular(factor, self.columns, upper=False)
                half_log_det = factor.diagonal(dim1=1, dim2=2).log().sum(dim=1)
                best = torch.maximum(best, self._likelihood(whitened.square().sum(dim=1), share, half_log_det))
        return best

    def _likelihood(self, squares: Tensor, share: float, half_log_det: Tensor) -> Tensor:
        """Evidence at one grid point from :math:`z^T A^{-1} z` of the standardised columns, (n_sets, n_variables)."""
        m = self.n_samples
        evidence: Tensor
        if self.noise == "unequal":
            evidence = -m / 2 * (torch.log(2 * math.pi * squares / m) + 1)
        else:
            scale = self.noise_variance / share
            evidence = -m / 2 * math.log(2 * math.pi * scale) - squares * self._variances / (2 * scale)
        return evidence - half_log_det[:, None]

    def _one_column(self, columns: Tensor, lengthscale: float) -> Tensor:
        """One-dimensional kernels of a column per set, (n_sets, m, m); kept where the memory allows."""
        if self._kept is None:
            points = self.columns[:, columns].T
            return torch.exp((points[:, :, None] - points[:, None, :]).square_().mul_(-0.5 / lengthscale**2))
        if lengthscale not in self._kept:
            points = self.columns.T
            self._kept[lengthscale] = torch.exp(
                (points[:, :, None] - points[:, None, :]).square_().mul_(-0.5 / lengthscale**2)
            )
        if len(columns) == 1:
            return self._kept[lengthscale][int(columns) :][:1]  # a view: nothing is copied
        return self._kept[lengthscale][columns]


def squared_distances(points: Tensor) -> Tensor:
    """Squared Euclidean distances between rows, (n_sets, m, m) from (n_sets, m, n_columns)."""
    lengths = points.square().sum(dim=2)
    distances = lengths[:, :, None] + lengths[:, None, :] - 2 * points @ points.transpose(1, 2)
    return distances.clamp_(min=0)


def map_in_threads(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Apply a function to items in as many threads as torch has, each with one thread of linear algebra."""
    n_threads = torch.get_num_threads()
    with one_thread(), ThreadPoolExecutor(n_threads, initializer=lambda: torch.set_num_threads(1)) as pool:
        return list(pool.map(function, items))
