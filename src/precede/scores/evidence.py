"""Gaussian-process log evidence of a variable given a set of parents, for all variables outside the set at once."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from precede.arrays import FloatArray, IntArray
from precede.errors import DataError
from precede.options import Count, check_options
from precede.runtime import memory_budget, one_thread, pool_of_threads, size_in_words
from precede.scores.assumptions import Assumptions
from precede.scores.parent_tables import MOST_CANDIDATES
from precede.scores.predecessors import Noise
from precede.scores.protocol import ParentSet

Kernel = Literal["joint", "additive"]

LENGTHSCALES = (0.5, 1.0, 2.0, 4.0)
"""Grid of lengthscales in standard deviations; the joint kernel multiplies them by the root of the number of causes."""

NOISE_SHARES = (0.05, 0.12, 0.3, 0.6, 0.9)
"""Grid of the noise's share of the variance."""

JITTER = 1e-6
"""Added to the diagonal of the inducing rows' kernel: noise that its own functions may have."""

MATRICES_AT_ONCE = 4
"""Matrices of one kernel's size that are alive together: squared distances, kernel, noisy kernel, factor."""

KEPT_BYTES = 2**29
"""One-dimensional kernels of an additive kernel are kept up to this size: those that were used last."""

SETS_AT_ONCE = 32
"""On a CPU, however many threads share them: where a limit on the sets ends growth, it ends at the same one."""

N_INDUCING = 100
"""Inducing rows on a CPU, where the data have more than twice as many: a set then costs 10 ms at 1,000 rows."""

MOST_SETS = {"cpu": 60, "cuda": 2000}
"""Sets that a table scores at most for each variable, half of them at the start: 12 s of one core at 20 variables and
1,000 rows; on a GPU the evidence is exact."""

CUDA_CHUNK_BYTES = 2 * 2**30
"""Kernels are factorized on a GPU in batches of about this size."""


ASSUMED = {
    kernel: Assumptions("additive", False, "assumed", True, form=f"a {function} of few causes")
    for kernel, function in (("joint", "smooth, curved function"), ("additive", "sum of smooth curves"))
}


class GaussianProcessEvidence:
    r"""Log evidence of Gaussian-process regressions, one factorization for all targets.

    With :math:`y` a standardized column, :math:`K` the kernel of the columns in S and
    :math:`A = (1 - s) K + s I`, the scale :math:`c` of :math:`y \sim N(0, c A)` is profiled out,
    :math:`\hat c = y^T A^{-1} y / m`, and

    .. math:: \mathrm{local}(y, S) = \max_{\ell, s} \;
              -\frac m2 (\log 2 \pi \hat c + 1) - \frac12 \log\det A .

    The joint kernel is :math:`\exp(-\lVert x_S - x'_S \rVert^2 / (2 \ell^2 |S|))`; the additive kernel is
    the mean over S of :math:`\exp(-(x_i - x'_i)^2 / (2 \ell^2))`.

    With ``noise="equal"`` the noise :math:`c s` is one variance :math:`\sigma^2` for all variables, in the unit of the
    data; it is taken as the smallest variance of a column, which the model says is that of a source. Then
    :math:`c = \sigma^2 / s` is not free, and with :math:`y` the centered column in its own unit,

    .. math:: \mathrm{local}(y, S) = \max_{\ell, s} \; -\frac m2 \log \frac{2 \pi \sigma^2}{s}
              - \frac{s}{2 \sigma^2} y^T A^{-1} y - \frac12 \log\det A .

    Variance above :math:`\sigma^2` must be a function of parents. This tells causes from effects even where a function
    of many parents looks like noise, and misleads where the columns' units differ or the data were standardized.

    Parameters
    ----------
    values : (n_samples, n_variables) array
        Parents are standardized inside.
    kernel : {"joint", "additive"}
    noise : {"unequal", "equal"}
        Whether the noise variances of the variables differ.
    max_samples : int or None
        Rows used at most, spread over the data: the cost grows with their cube, linearly with inducing rows. None
        takes all.
    n_inducing : int, "auto" or None
        Rows that stand for all of them, spread over the data: the kernel is then the one that is exact at these rows
        (the subset of regressors of Quiñonero-Candela and Rasmussen, 2005), at a small part of the cost. None is exact;
        "auto" takes 100 on a CPU where the data have more than twice as many, and is exact otherwise.
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
    one symmetric eigendecomposition does on a CPU, and a GPU factorizes in batches (``benchmarks/gp_files.py``).
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
        max_samples: Count | None = 1000,
        n_inducing: Count | Literal["auto"] | None = None,
        memory_limit: float | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        given = {"kernel": kernel, "noise": noise, "max_samples": max_samples, "n_inducing": n_inducing}
        check_options(GaussianProcessEvidence.__init__, given)
        self.kernel = kernel
        self.name = "sparse-gp" if kernel == "joint" else "sparse-gp-additive"
        self.assumes = ASSUMED[kernel].with_equal_variances() if noise == "equal" else ASSUMED[kernel]
        self.device = torch.device(device)
        self.notes: list[str] = []
        rows = len(values)
        if max_samples is not None and rows > max_samples:
            values = values[spread_rows(values, int(max_samples))]
            self.notes.append(
                f"The GP evidence uses {max_samples} of the {rows} rows, from the center of the data outwards: its "
                "cost grows with them."
            )
        self.n_samples: int = values.shape[0]
        self.n_variables: int = values.shape[1]
        self.most_candidates, self.most_sets = MOST_CANDIDATES, MOST_SETS[self.device.type] * self.n_variables
        self._inducing: Tensor | None = None
        if n_inducing == "auto":
            n_inducing = N_INDUCING if self.device.type == "cpu" and self.n_samples > 2 * N_INDUCING else None
        if n_inducing is not None and n_inducing < self.n_samples:
            self._inducing = torch.from_numpy(spread_rows(values, int(n_inducing))).to(self.device)
            self.notes.append(
                f"The GP evidence rests on {n_inducing} inducing rows that stand for all {self.n_samples}: close to "
                "the exact evidence in a small part of the time."
            )
        per_row = self.n_samples if self._inducing is None else len(self._inducing)
        kernel_bytes = 8 * self.n_samples * per_row
        self._check_memory(MATRICES_AT_ONCE * kernel_bytes, memory_limit)
        on_cpu = self.device.type == "cpu"
        # on a CPU a kernel that stays in the processor's cache is factorized soonest
        self._in_a_piece = 1 if on_cpu else max(1, CUDA_CHUNK_BYTES // (MATRICES_AT_ONCE * kernel_bytes))
        self.sets_at_once = SETS_AT_ONCE if on_cpu else self._in_a_piece
        self._column_kernel = lru_cache(KEPT_BYTES // kernel_bytes)(self._kernel_of_column)
        variances = values.var(axis=0)
        if not variances.all():  # of the rows that are left
            raise DataError(
                f"column {int(variances.argmin())} (counted from 0) is constant in the {self.n_samples} rows that the "
                "GP evidence uses: leave it out, or take another score."
            )
        standardized = (values - values.mean(axis=0)) / np.sqrt(variances)
        self.columns = torch.from_numpy(np.ascontiguousarray(standardized)).to(self.device)
        self.noise = noise
        self.noise_variance = float(variances.min())
        self._variances = torch.from_numpy(variances).to(self.device)
        if noise == "equal":
            self.notes.append(
                f"All variables are taken to have the same noise variance, {self.noise_variance:.3g}, the smallest "
                "variance of a column: this depends on the columns' units."
            )

    def _check_memory(self, needed: int, memory_limit: float | None) -> None:
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
            rows[start : start + self._in_a_piece]
            for rows in by_size.values()
            for start in range(0, len(rows), self._in_a_piece)
        ]
        asked = [[sets[row] for row in rows] for rows in pieces]
        if self.device.type == "cpu":
            with one_thread(), pool_of_threads(len(asked)) as pool:
                evaluated = list(pool.map(self._evaluate, asked))
        else:
            evaluated = list(map(self._evaluate, asked))
        for rows, values in zip(pieces, evaluated, strict=True):
            result[rows] = values.cpu().numpy()
        for row, members in enumerate(sets):
            result[row, list(members)] = np.nan
        return result

    def _evaluate(self, sets: list[ParentSet]) -> Tensor:
        """Log evidence given sets of one size, (n_sets, n_variables)."""
        if not sets[0]:
            squares = self.columns.square().sum(dim=0, keepdim=True)
            return self._likelihood(squares, 1.0, torch.zeros_like(squares[:, 0])).expand(len(sets), -1)
        members = torch.tensor(sets, device=self.device)
        best = torch.full((len(sets), self.n_variables), -torch.inf, dtype=torch.float64, device=self.device)
        distances = None
        if self.kernel == "joint":
            parents = self.columns[:, members].transpose(0, 1)  # (n_sets, m, |S|)
            distances = squared_distances(parents, parents if self._inducing is None else parents[:, self._inducing])
        for lengthscale in LENGTHSCALES:
            kernel = self._kernel_of(members, distances, lengthscale)
            grid = self._exact_grid(kernel) if self._inducing is None else self._inducing_grid(kernel, self._inducing)
            for share, squares, half_log_det in grid:
                best = torch.maximum(best, self._likelihood(squares, share, half_log_det))
        return best

    def _kernel_of(self, members: Tensor, distances: Tensor | None, lengthscale: float) -> Tensor:
        """Kernels between all rows and all, or the inducing, rows, (n_sets, m, n_columns)."""
        if distances is not None:
            return torch.exp(distances * (-0.5 / (lengthscale**2 * members.shape[1])))
        columns = [[self._column_kernel(column, lengthscale) for column in own] for own in members.tolist()]
        return torch.stack([torch.stack(own).mean(dim=0) for own in columns])

    def _exact_grid(self, kernel: Tensor) -> Iterator[tuple[float, Tensor, Tensor]]:
        """Noise share, squares :math:`z^T A^{-1} z` and half the log determinant of A, for each noise share."""
        for share in NOISE_SHARES:
            noisy = kernel * (1 - share)
            noisy.diagonal(dim1=1, dim2=2).add_(share)
            factor = torch.linalg.cholesky_ex(noisy)[0]
            whitened = torch.linalg.solve_triangular(factor, self.columns, upper=False)
            yield share, whitened.square().sum(dim=1), factor.diagonal(dim1=1, dim2=2).log().sum(dim=1)

    def _inducing_grid(self, kernel: Tensor, inducing: Tensor) -> Iterator[tuple[float, Tensor, Tensor]]:
        r"""The same with :math:`A = (1 - s) K_{mr} K_{rr}^{-1} K_{rm} + s I`, by Woodbury's identity.

        With :math:`M = K_{rr} + \frac{1-s}{s} K_{rm} K_{mr}`: :math:`\log\det A = m \log s + \log\det M -
        \log\det K_{rr}` and :math:`s \, z^T A^{-1} z = z^T z - \frac{1-s}{s} \lVert L^{-1} K_{rm} z \rVert^2` with
        :math:`M = L L^T`.
        """
        small = kernel[:, inducing]
        small = (small + small.transpose(1, 2)) / 2
        small.diagonal(dim1=1, dim2=2).add_(JITTER)
        known = torch.linalg.cholesky_ex(small)[0].diagonal(dim1=1, dim2=2).log().sum(dim=1)
        gram, cross = kernel.transpose(1, 2) @ kernel, kernel.transpose(1, 2) @ self.columns
        squares = self.columns.square().sum(dim=0)
        for share in NOISE_SHARES:
            odds = (1 - share) / share
            factor = torch.linalg.cholesky_ex(small + odds * gram)[0]
            explained = torch.linalg.solve_triangular(factor, cross, upper=False).square().sum(dim=1)
            half_log_det = factor.diagonal(dim1=1, dim2=2).log().sum(dim=1) - known
            yield share, (squares - odds * explained) / share, half_log_det + self.n_samples / 2 * math.log(share)

    def _likelihood(self, squares: Tensor, share: float, half_log_det: Tensor) -> Tensor:
        """Evidence at one grid point from :math:`z^T A^{-1} z` of the standardized columns, (n_sets, n_variables)."""
        m = self.n_samples
        evidence: Tensor
        if self.noise == "unequal":
            evidence = -m / 2 * (torch.log(2 * math.pi * squares / m) + 1)
        else:
            scale = self.noise_variance / share
            evidence = -m / 2 * math.log(2 * math.pi * scale) - squares * self._variances / (2 * scale)
        return evidence - half_log_det[:, None]

    def _kernel_of_column(self, column: int, lengthscale: float) -> Tensor:
        points = self.columns[:, column]
        others = points if self._inducing is None else points[self._inducing]
        return torch.exp((points[:, None] - others).square_().mul_(-0.5 / lengthscale**2))


def spread_rows(values: FloatArray, n_rows: int) -> IntArray:
    """Some rows, spread evenly from the center of the standardized data outwards: the same in any sequence of rows."""
    spread = values.std(axis=0)
    distance = ((values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)) ** 2
    outwards = np.argsort(distance.sum(axis=1).round(9), kind="stable")
    rows: IntArray = np.sort(outwards[np.linspace(0, len(values) - 1, n_rows).round().astype(np.int64)])
    return rows


def squared_distances(points: Tensor, others: Tensor) -> Tensor:
    """Squared Euclidean distances between rows, (n_sets, m, r) from (n_sets, m, n_columns) and (n_sets, r, ...)."""
    lengths, other_lengths = points.square().sum(dim=2), others.square().sum(dim=2)
    distances = lengths[:, :, None] + other_lengths[:, None, :] - 2 * points @ others.transpose(1, 2)
    return distances.clamp_(min=0)
