"""Scores that regress each variable on all its predecessors, and the cache of Algorithm 1: each set once."""

import math
from abc import abstractmethod
from collections.abc import Iterator
from typing import Literal, TypeVar

import numpy as np
import torch
from torch import Tensor

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.errors import check_choice, check_positive
from precede.scores.protocol import OrderScore

Noise = Literal["equal", "unequal"]
Variances = TypeVar("Variances", FloatArray, Tensor)

SMALLEST_SHARE = 1e-12
"""A residual variance is taken as at least this share of the column's variance, so that its logarithm is finite."""


class NoiseModel:
    r"""Gaussian BIC of residual variances :math:`v_j`, with p coefficients in all (constants left out).

    Unequal: the terms are :math:`-\frac m2 \log v_j`, and ``total`` adds
    :math:`-\frac{p + d}{2} \log m` for the coefficients and d noise variances.

    Equal: the terms are :math:`-\frac{m}{2 \sigma_0^2} v_j` at a fixed :math:`\sigma_0^2`, the smallest column variance
    (the model says that it is a source's noise), and ``total`` is the BIC with the common variance profiled out,
    :math:`-\frac{md}{2} \log(\frac1d \sum_j v_j) - \frac{p + 1}{2} \log m`. It grows with the sum of the terms, so
    whatever maximizes the sum maximizes the BIC.

    Parameters
    ----------
    noise : {"equal", "unequal"}
    n_samples : int
    variances : (n_variables,) array
        Of the columns.
    n_coefficients : int

    Examples
    --------
    >>> model = NoiseModel("unequal", 100, np.array([1.0, 4.0]), 1)
    >>> model.terms(np.array([1.0, 1.0]))
    array([-0., -0.])
    >>> equal = NoiseModel("equal", 100, np.array([0.5, 4.0]), 1)
    >>> bool(torch.isclose(equal.total(equal.terms(torch.ones(1, 2)).sum(1)), torch.tensor([-math.log(100)])))
    True
    """

    def __init__(self, noise: Noise, n_samples: int, variances: FloatArray, n_coefficients: int) -> None:
        check_choice("noise", noise, ("equal", "unequal"))
        self.noise, self.n_samples, self.variances = noise, n_samples, variances
        self.noise_variance = float(variances.min())
        d, n_variances = len(variances), 1 if noise == "equal" else len(variances)
        self._all_rows = n_samples * d
        self._price = (n_coefficients + n_variances) / 2 * math.log(n_samples)

    @property
    def residual_units(self) -> tuple[float, float]:
        """See ``residual_units``."""
        if self.noise == "equal":
            return self.n_samples / (2 * self.noise_variance), self._all_rows / 2
        return self.n_samples / 2, self.n_samples / 2

    def terms(self, variances: Variances) -> Variances:
        """Terms of residual variances whose last axis is the variables."""
        if self.noise == "equal":
            return variances * (-self.n_samples / (2 * self.noise_variance))
        logs = np.log(np.maximum(variances, SMALLEST_SHARE * self.variances))  # of arrays: tensors have equal noise
        return logs * (-self.n_samples / 2)  # type: ignore[return-value]

    def total(self, sums: Tensor) -> Tensor:
        """BIC of orders with these sums of terms."""
        if self.noise == "equal":
            sums = -self._all_rows / 2 * torch.log(sums * (-2 * self.noise_variance / self._all_rows))
        return sums - self._price


class PredecessorCache:
    """Terms of any variable given any set of predecessors.

    One factorization of a set serves every variable outside it, so a row of terms is kept for each set, one for each
    variable. Keys are Python ints whose bit j says that variable j is in the set: exact for any number of variables.

    Parameters
    ----------
    max_sets : int
        The cache starts afresh when it would hold more sets than this.

    Attributes
    ----------
    n_evaluations : int
        Rows kept so far.

    Examples
    --------
    >>> cache = PredecessorCache()
    >>> cache.missing([0, 4, 0])
    [0, 4]
    >>> cache.keep([0, 4], np.arange(6.0).reshape(2, 3))
    >>> cache.look_up([4, 0, 4], np.array([0, 1, 1]))
    array([3., 1., 4.])
    """

    def __init__(self, max_sets: int = 1_000_000) -> None:
        check_positive("max_sets", max_sets, integer=True)
        self.max_sets = max_sets
        self.n_evaluations = 0
        self._rows: dict[int, FloatArray] = {}

    def __len__(self) -> int:
        """Number of sets held."""
        return len(self._rows)

    def missing(self, keys: list[int]) -> list[int]:
        """Sets that have to be kept before these can be looked up."""
        asked = list(dict.fromkeys(keys))
        missing = [key for key in asked if key not in self._rows]
        if len(self._rows) + len(missing) > self.max_sets:
            self._rows.clear()
            return asked
        return missing

    def keep(self, keys: list[int], rows: FloatArray) -> None:
        """Remember the rows of sets that were missing, (n_keys, n_variables)."""
        self._rows.update(zip(keys, rows, strict=True))
        self.n_evaluations += len(keys)

    def look_up(self, keys: list[int], variables: IntArray) -> FloatArray:
        """Term of each variable given the set beside it, (n_keys,)."""
        asked = zip(map(self._rows.__getitem__, keys), variables.tolist(), strict=True)
        return np.array([row[variable] for row, variable in asked])


def predecessor_masks(orders: IntArray) -> list[int]:
    """Bit mask of the variables before each position, row after row.

    Examples
    --------
    >>> predecessor_masks(np.array([[2, 0, 1]]))
    [0, 4, 5]
    """
    fits_a_word = orders.shape[1] < 63
    powers = np.array([1 << j for j in range(orders.shape[1])], dtype=np.int64 if fits_a_word else object)
    bits = powers[orders]
    masks: list[int] = (bits.cumsum(axis=1) - bits).ravel().tolist()
    return masks


def members_of(masks: list[int], n_variables: int) -> BoolArray:
    """Sets as a bool array, (n_sets, n_variables).

    Examples
    --------
    >>> members_of([5], 3)
    array([[ True, False,  True]])
    """
    n_bytes = (n_variables + 7) // 8
    packed = b"".join(mask.to_bytes(n_bytes, "little") for mask in masks)
    words = np.frombuffer(packed, dtype=np.uint8).reshape(len(masks), n_bytes)
    return np.unpackbits(words, axis=1, count=n_variables, bitorder="little").astype(bool)


class PredecessorScore(OrderScore):
    """Terms looked up in a cache of predecessor sets; between the pieces that it lacks, it looks at the clock.

    A subclass says by ``pieces`` which sets it regresses on together, and does so by ``regress``.

    Parameters
    ----------
    values : (n_samples, n_variables) array
    noise : {"unequal", "equal"}
    n_coefficients : int
        Of the regressions on all predecessors, together.
    device : str or torch.device
    max_sets : int
        Predecessor sets kept in the cache.
    """

    def __init__(
        self, values: FloatArray, noise: Noise, n_coefficients: int, device: torch.device | str, max_sets: int
    ) -> None:
        self.n_samples, self.n_variables = values.shape
        self.device = torch.device(device)
        self.likelihood = NoiseModel(noise, self.n_samples, values.var(axis=0), n_coefficients)
        if noise == "equal":
            self.assumes = self.assumes.with_equal_variances()
        self.cache = PredecessorCache(max_sets)

    @property
    def residual_units(self) -> tuple[float, float]:
        return self.likelihood.residual_units

    def terms(self, orders: Tensor) -> Tensor:
        host = orders.cpu().numpy()
        found = self._given(predecessor_masks(host), host.ravel())
        return torch.from_numpy(found.reshape(host.shape)).to(orders.device)

    def total(self, sums: Tensor) -> Tensor:
        return self.likelihood.total(sums)

    def bounds(self) -> Tensor:
        variables = np.arange(self.n_variables)
        others = [(1 << self.n_variables) - 1 ^ 1 << j for j in range(self.n_variables)]
        return torch.from_numpy(self._given(others, variables)).to(self.device)

    @abstractmethod
    def pieces(self, members: BoolArray) -> Iterator[IntArray]:
        """Which of the sets, (n_sets, n_variables), are regressed on together."""

    @abstractmethod
    def regress(self, members: BoolArray) -> FloatArray:
        """Residual variance of every variable given each set of a piece, (n_sets, n_variables)."""

    def residual_variances(self, members: BoolArray) -> FloatArray:
        """Residual variance of every variable given each set, (n_sets, n_variables).

        Parameters
        ----------
        members : (n_sets, n_variables) bool array
        """
        variances = np.empty(members.shape)
        for which in self.pieces(members):
            variances[which] = self.regress(members[which])
        return variances

    def _given(self, keys: list[int], variables: IntArray) -> FloatArray:
        """Term of each variable given the set beside it, (n_keys,).

        Raises
        ------
        OutOfTime
            The deadline passed while sets were missing; those evaluated until then are kept.
        """
        missing = self.cache.missing(keys)
        members = members_of(missing, self.n_variables)
        for which in self.pieces(members):
            if self.deadline is not None:
                self.deadline.check()
            variances = self.regress(members[which])
            self.cache.keep([missing[s] for s in which], self.likelihood.terms(variances))
        return self.cache.look_up(keys, variables)


JITTERS = (1e-12, 1e-10, 1e-8, 1e-6, 1e-4)
"""Added to the diagonal, one after the other, of a matrix that does not factorize; its diagonal is about 1."""


def jittered_cholesky(matrices: Tensor) -> Tensor:
    """Lower factors, (n, k, k); a matrix that is not positive definite gets the smallest jitter that makes it so.

    Only the lower triangles are read.

    Examples
    --------
    >>> jittered_cholesky(torch.ones(1, 2, 2, dtype=torch.float64)).round(decimals=4)
    tensor([[[1., 0.],
             [1., 0.]]], dtype=torch.float64)
    """
    factors: Tensor
    factors, failed = torch.linalg.cholesky_ex(matrices)
    eye = torch.eye(matrices.shape[-1], dtype=matrices.dtype, device=matrices.device)
    for jitter in JITTERS:
        again = failed.nonzero()[:, 0]
        if len(again) == 0:
            break
        factors[again], failed[again] = torch.linalg.cholesky_ex(matrices[again] + jitter * eye)
    return factors


WIDTH = 64
"""Columns that are factorized together on a GPU (``benchmarks/gp_score_device.py``)."""


def solve_positive(matrices: Tensor, targets: Tensor) -> Tensor:
    """Solutions X of A X = targets, (n, m, k); NaN where a matrix is not positive definite.

    Parameters
    ----------
    matrices : (n, m, m) tensor
        Only the lower triangles are read. A GPU overwrites them.
    targets : (n, m, k) tensor

    Examples
    --------
    >>> solve_positive(torch.tensor([[[4.0, 9.0], [2.0, 3.0]]]), torch.tensor([[[8.0], [8.0]]]))
    tensor([[[1.],
             [2.]]])
    """
    if matrices.device.type == "cuda":
        return solve_by_blocks(matrices, targets, WIDTH)
    factor, failed = torch.linalg.cholesky_ex(matrices)
    # two triangular solves: cholesky_solve does the same in twice the time on a CPU
    half = torch.linalg.solve_triangular(factor, targets, upper=False)
    solution: Tensor = torch.linalg.solve_triangular(factor.mT, half, upper=True)
    return solution.masked_fill_(failed[:, None, None] > 0, torch.nan)


def solve_by_blocks(matrices: Tensor, targets: Tensor, width: int) -> Tensor:
    """The same by a factorization in blocks of ``width`` columns, which takes the place of the lower triangles.

    All but the diagonal blocks is products of matrices, which a GPU's tensor cores do in float64; the factors of
    diagonal blocks are inverted, so that solving by them is a product too. The library's factors of many matrices of a
    thousand rows take three times as long.
    """
    m = matrices.shape[1]
    solution, inverses = targets.clone(), []
    starts = range(0, m, width)
    for a in starts:
        b = min(a + width, m)
        column, own = matrices[:, a:, a:b], solution[:, a:b]
        if a:  # what the columns before it leave of this one
            row = matrices[:, a:b, :a]
            column.baddbmm_(matrices[:, a:, :a], row.mT, alpha=-1)
            own.baddbmm_(row, solution[:, :a], alpha=-1)
        inverse = _inverse_factor(column[:, : b - a])
        own.copy_(inverse @ own)
        if b < m:
            panel = column[:, b - a :]
            panel.copy_(panel @ inverse.mT)
        inverses.append(inverse)
    for a, inverse in zip(reversed(starts), reversed(inverses), strict=True):
        b = min(a + width, m)
        own = solution[:, a:b]
        if b < m:
            own.baddbmm_(matrices[:, b:, a:b].mT, solution[:, b:], alpha=-1)
        own.copy_(inverse.mT @ own)
    return solution


def _inverse_factor(matrices: Tensor) -> Tensor:
    """Inverses of the lower Cholesky factors; NaN where there is no factor."""
    factor, failed = torch.linalg.cholesky_ex(matrices)
    factor.masked_fill_(failed[:, None, None] > 0, torch.nan)
    eye = torch.eye(matrices.shape[1], dtype=factor.dtype, device=factor.device)
    inverse: Tensor = torch.linalg.solve_triangular(factor, eye.expand_as(factor), upper=False)
    return inverse
