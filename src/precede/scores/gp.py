"""Gaussian process regression on all predecessors: the paper's nonlinear score."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Self

import numpy as np
import torch
from torch import Tensor

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.errors import DataError, check_choice
from precede.options import Count, Positive, check_options
from precede.runtime import memory_budget, size_in_words
from precede.scores.assumptions import Assumptions
from precede.scores.predecessors import JITTERS, Noise, PredecessorScore, solve_positive
from precede.scores.protocol import BatchedScore

Precision = Literal["float64", "float32"]
KernelName = Literal["median", "fixed"]

SETS_AT_ONCE = {"cpu": 8, "cuda": 1024}
"""Larger pieces bring no speed: a CPU only leaves its cache, a GPU is busy already."""

KERNELS_PER_SET = 5
"""Square matrices in flight for each set: distances and their copy for the median, kernel, factor, solution."""


@dataclass(frozen=True)
class MedianKernel:
    r"""The squared-exponential kernel and its ridge.

    Parameters
    ----------
    kernel_noise : float
        :math:`\alpha`, relative to the kernel's variance of 1. It acts as a ridge and does not depend on a scale.
    bandwidth : float
        :math:`b`, a factor on the median heuristic, or where there is none the bandwidth itself.
    median : bool
        Whether :math:`h` is the median of the distances; else it is 1.
    standardize : bool
        Whether distances are taken on standardized columns. The regressed variable keeps its unit in any case.
    median_samples : int
        The median is over the pairs of this many samples at most, evenly spaced over the rows.
    """

    kernel_noise: Positive = 1.0
    bandwidth: Positive = 1.0
    median: bool = True
    standardize: bool = True
    median_samples: Count = 1000

    def __post_init__(self) -> None:
        check_options(MedianKernel, vars(self))


KERNEL = MedianKernel()
KERNELS: dict[KernelName, MedianKernel] = {"median": KERNEL, "fixed": MedianKernel(median=False, standardize=False)}
"""By name: ours, and that of the authors' program (``rewards/Reward_BIC.py`` there)."""


class GPScore(PredecessorScore):
    r"""BIC with Gaussian process regression on all predecessors (Section 5.2 of the paper).

    With :math:`y_j` the centered variable, :math:`D_U` the squared distances between samples over the standardized
    predecessors :math:`U`, and :math:`h` the median of :math:`D_U` over all pairs of samples,

    .. math::
        K = \exp(-D_U / (2 b^2 h)), \qquad
        r_j = y_j - K (K + \alpha I)^{-1} y_j = \alpha (K + \alpha I)^{-1} y_j, \qquad
        v_j = \lVert r_j \rVert^2 / m,

    and the term of j is :math:`-\frac m2 \log v_j` (``noise="unequal"``), or :math:`-\frac{m}{2\sigma_0^2} v_j` with
    ``total`` the profile likelihood (``noise="equal"``). Without predecessors :math:`v_j` is the variance. As
    :math:`D_U` is the sum of the members' distances, the kernels of many sets are one matrix product; one factor
    of a kernel serves all variables outside the set; a set is factorized once
    (:class:`~precede.scores.predecessors.PredecessorCache`).

    Parameters
    ----------
    values : (n_samples, n_variables) array
    noise : {"unequal", "equal"}
        Whether the noise variances of the variables differ.
    device : str or torch.device
    kernel : MedianKernel
    precision : {"float64", "float32"}
        Of kernels and factors; terms are always float64.
    memory_limit : float, optional
        Bytes; half of the free memory when left out.
    max_sets : int
        Predecessor sets kept in the cache.

    Notes
    -----
    In-sample residuals and :math:`\alpha = 1` are those of the program of CORL's authors, by default without a median
    (``KERNELS["fixed"]``); RL-BIC2's has the median and scikit-learn's :math:`\alpha = 10^{-10}`.

    Deviations from the paper: columns are standardized before distances are taken and :math:`y_j` is centered, so
    the score does not depend on units; the median of an even number of pairs is the lower of the middle two; where it
    is 0 (more than half of the pairs tie, as in binary columns) the mean takes its place.

    More predecessors need not fit better, since they widen the kernel: ``bounds`` is each variable's term given all
    the others, a point of reference rather than a bound.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=200)
    >>> score = GPScore(np.column_stack([x, np.sin(2 * x) + 0.3 * rng.normal(size=200)]))
    >>> forward, backward = score.total(score.terms(torch.tensor([[0, 1], [1, 0]])).sum(1))
    >>> bool(forward > backward)
    True
    """

    name = "gp"
    assumes = Assumptions("additive", False, "assumed", True, form="a smooth, curved function of its causes")

    def __init__(
        self,
        values: FloatArray,
        *,
        noise: Noise = "unequal",
        device: torch.device | str = "cpu",
        kernel: MedianKernel = KERNEL,
        precision: Precision = "float64",
        memory_limit: float | None = None,
        max_sets: int = 1_000_000,
    ) -> None:
        check_choice("precision", precision, ("float64", "float32"))
        d = values.shape[1]
        super().__init__(values, noise, d * (d - 1) // 2, device, max_sets)
        self.kernel = kernel
        self.dtype = torch.float64 if precision == "float64" else torch.float32
        self.sets_at_once = self._sets_that_fit(memory_budget(memory_limit, self.device))
        centered = values - values.mean(axis=0)
        self.targets = self._on_device(centered)
        inputs = self._on_device(centered / centered.std(axis=0)) if kernel.standardize else self.targets
        rows, columns = torch.tril_indices(self.n_samples, self.n_samples, -1, device=self.device)
        self._below = rows * self.n_samples + columns  # the strict lower triangle, in the flattened square
        self.distances = torch.empty(self.n_variables, len(rows), dtype=self.dtype, device=self.device)
        for j, x in enumerate(inputs.T):
            self.distances[j] = (x[rows] - x[columns]) ** 2
        self.mean_distances = self.distances.mean(dim=1)
        step = math.ceil(self.n_samples / kernel.median_samples)
        self._median_pairs = None if step == 1 else ((rows % step == 0) & (columns % step == 0)).nonzero()[:, 0]

    @classmethod
    def together(cls, scores: Sequence[Self]) -> BatchedScore:
        """Each by itself, since its own sets fill a GPU; those of one size share the space for their kernels."""
        first = scores[0]
        for score in scores[1:]:
            if (score.n_samples, score.dtype) == (first.n_samples, first.dtype):
                score.room, score.sets_at_once = first.room, first.sets_at_once
        return BatchedScore(scores)

    def pieces(self, members: BoolArray) -> Iterator[IntArray]:
        """The empty set, whose regressions are the columns themselves, then as many as there is space for."""
        empty, filled = (np.flatnonzero(members.any(axis=1) == some) for some in (False, True))
        if len(empty):
            yield empty
        yield from (filled[start : start + self.sets_at_once] for start in range(0, len(filled), self.sets_at_once))

    def regress(self, members: BoolArray) -> FloatArray:
        if not members.any():
            return np.tile(self.likelihood.variances, (len(members), 1))
        return np.asarray(self.variances_given(torch.from_numpy(members).to(self.device, self.dtype)).cpu().numpy())

    def variances_given(self, sets: Tensor) -> Tensor:
        """Residual variance of every variable given sets that are not empty, (n_sets, n_variables): ones and zeros."""
        variances = self._with_jitter(sets, 0.0)
        for jitter in JITTERS:
            failed = variances.isnan().any(1)
            if not failed.any():
                break
            variances[failed] = self._with_jitter(sets[failed], jitter)
        return variances

    def _with_jitter(self, sets: Tensor, jitter: float) -> Tensor:
        """The same; NaN where a kernel with this jitter is not positive definite."""
        kernels = self.room[: len(sets)]
        self.write_kernels(sets @ self.distances, sets @ self.mean_distances, jitter, kernels)
        targets = self.targets.expand(len(sets), -1, -1)
        solution = solve_positive(kernels.view(-1, self.n_samples, self.n_samples), targets)
        variances: Tensor = (solution.double() * self.kernel.kernel_noise).square_().mean(dim=1)
        return variances

    def write_kernels(self, distances: Tensor, means: Tensor, jitter: float, kernels: Tensor) -> None:
        r"""Make the lower triangles of :math:`K + \alpha I` of squared distances, which are overwritten.

        Parameters
        ----------
        distances : (n_sets, n_pairs) tensor
            Of the pairs of samples, row after row below the diagonal.
        means : (n_sets,) tensor
            Of the distances of each set.
        jitter : float
            Added to the diagonals.
        kernels : (n_sets, n_samples²) tensor
            Where they are written; what lies above the diagonals is left as it is.
        """
        scale = torch.ones_like(means)
        if self.kernel.median:
            sample = distances if self._median_pairs is None else distances[:, self._median_pairs]
            median = _lower_median(sample)
            scale = torch.where(median > 0, median, means)
        kernels.index_copy_(1, self._below, distances.mul_(-0.5 / (self.kernel.bandwidth**2 * scale[:, None])).exp_())
        kernels[:, :: self.n_samples + 1] = 1 + self.kernel.kernel_noise + jitter

    @cached_property
    def room(self) -> Tensor:
        """Space for kernels, filled again and again: fresh memory for every piece is slow on a CPU."""
        return torch.zeros(self.sets_at_once, self.n_samples**2, dtype=self.dtype, device=self.device)

    def _sets_that_fit(self, budget: int) -> int:
        m, d = self.n_samples, self.n_variables
        size = 8 if self.dtype == torch.float64 else 4
        table = m * (m - 1) // 2 * (d * size + 8 * 3)  # distances of each variable, and where each pair lies
        per_set = size * m * (KERNELS_PER_SET * m + 2 * d)
        if table + per_set > budget:
            most = math.isqrt(int(budget / (d * size / 2 + 12 + KERNELS_PER_SET * size)))
            raise DataError(
                f"score='gp' needs {size_in_words(table + per_set)} for {m} samples of {d} variables and may use "
                f"{size_in_words(budget)}: take at most about {most} rows (data.sample({most})), raise memory_limit, "
                "or use score='quadratic', whose memory does not grow with the samples."
            )
        return int(min((budget - table) // per_set, SETS_AT_ONCE[self.device.type]))

    def _on_device(self, values: FloatArray) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(values)).to(self.device, self.dtype)


def _lower_median(rows: Tensor) -> Tensor:
    """Median of each row, the lower of the middle two; NumPy's partial sort is several times faster on a CPU."""
    if rows.device.type == "cuda":
        return rows.median(dim=1).values
    middle = (rows.shape[1] - 1) // 2
    return torch.from_numpy(np.partition(rows.numpy(), middle, axis=1)[:, middle].copy())
