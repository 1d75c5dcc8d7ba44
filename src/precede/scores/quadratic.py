"""Quadratic regression on all predecessors: their values, squares and pairwise products."""

import math
from collections.abc import Iterator

import numpy as np
import torch

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.errors import DataError
from precede.runtime import memory_budget, size_in_words
from precede.scores.assumptions import Assumptions
from precede.scores.covariance import covariance
from precede.scores.predecessors import Noise, PredecessorScore, jittered_cholesky

RIDGE = 1e-12
"""Added to the Gram matrix of unit-variance features: a two-valued column's square is collinear with the column."""

CONSTANT = 1e-7
"""A product of standardized columns that varies less than this is constant (the square of a ±1 column)."""

ENTRIES_AT_ONCE = {"cpu": 2**21, "cuda": 2**28}
"""Gram entries that are factorized together."""


class QuadraticScore(PredecessorScore):
    r"""BIC with quadratic regression on all predecessors.

    With :math:`\phi_U` the predecessors :math:`x_i`, their squares and products :math:`x_i x_k`, centered, and
    :math:`A = \mathrm{cov}(\phi_U)`, :math:`b_j = \mathrm{cov}(\phi_U, x_j)`,

    .. math:: v_j = \mathrm{var}(x_j) - b_j^T A^{-1} b_j,

    and the term of j is :math:`-\frac m2 \log v_j` (``noise="unequal"``), or :math:`-\frac{m}{2\sigma_0^2} v_j` with
    ``total`` the profile likelihood (``noise="equal"``). Every A and b is cut from one matrix, the covariance of all
    variables and all their products, so a regression does not touch the samples; one factor of A serves all variables
    outside the set; a set is factorized once (:class:`~precede.scores.predecessors.PredecessorCache`).

    Parameters
    ----------
    values : (n_samples, n_variables) array
    noise : {"unequal", "equal"}
        Whether the noise variances of the variables differ.
    device : str or torch.device
    memory_limit : float, optional
        Bytes; half of the free memory when left out.
    max_sets : int
        Predecessor sets kept in the cache.

    Notes
    -----
    Columns are standardized first, which changes no fit (constant, linear and quadratic features together span the
    same space) but keeps A well conditioned. A ridge of 1e-12 lets collinear features pass; where the features are
    nearly so, as with very heavy tails, residual variances are exact to about six digits.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=500)
    >>> score = QuadraticScore(np.column_stack([x, x**2 + rng.normal(size=500)]))
    >>> forward, backward = score.total(score.terms(torch.tensor([[0, 1], [1, 0]])).sum(1))
    >>> bool(forward > backward)
    True
    """

    name = "quadratic"
    assumes = Assumptions("additive", False, "assumed", True, form="a quadratic function of its causes")

    def __init__(
        self,
        values: FloatArray,
        *,
        noise: Noise = "unequal",
        device: torch.device | str = "cpu",
        memory_limit: float | None = None,
        max_sets: int = 1_000_000,
    ) -> None:
        d = values.shape[1]
        super().__init__(values, noise, sum(map(n_features, range(d))), device, max_sets)
        self._budget = memory_budget(memory_limit, self.device)
        self._check_size()
        left, right = np.triu_indices(d)
        standardized = (values - values.mean(axis=0)) / values.std(axis=0)
        gram = covariance(standardized, lambda rows: np.hstack([rows, rows[:, left] * rows[:, right]]))
        scale = np.sqrt(np.diag(gram))
        scale[scale < CONSTANT] = np.inf
        self._gram = torch.from_numpy(gram / np.outer(scale, scale)).to(self.device)
        self._gram.diagonal().add_(RIDGE)
        self._product = torch.zeros(d, d, dtype=torch.int64, device=self.device)  # where x_i x_k lies, i <= k
        self._product[left, right] = torch.arange(d, d + len(left), device=self.device)

    def pieces(self, members: BoolArray) -> Iterator[IntArray]:
        """Sets of one size have Gram matrices of one shape."""
        sizes = members.sum(axis=1)
        for size in np.unique(sizes).tolist():
            which, at_once = np.flatnonzero(sizes == size), self._sets_at_once(size)
            yield from np.split(which, range(at_once, len(which), at_once))

    def regress(self, members: BoolArray) -> FloatArray:
        variables = torch.from_numpy(np.nonzero(members)[1].reshape(len(members), -1)).to(self.device)
        left, right = torch.triu_indices(variables.shape[1], variables.shape[1], device=self.device)
        features = torch.cat([variables, self._product[variables[:, left], variables[:, right]]], dim=1)
        factor = jittered_cholesky(self._gram[features[:, :, None], features[:, None, :]])
        targets = self._gram[:, : self.n_variables][features]
        explained = torch.linalg.solve_triangular(factor, targets, upper=False)
        shares = (1 - (explained**2).sum(dim=1)).clamp_min(0)
        return np.asarray(shares.cpu().numpy() * self.likelihood.variances)

    def _sets_at_once(self, size: int) -> int:
        entries = max(1, n_features(size) ** 2)
        fitting = (self._budget - 8 * self._n_columns**2) // (24 * entries)
        return max(1, min(fitting, ENTRIES_AT_ONCE[self.device.type] // entries))

    @property
    def _n_columns(self) -> int:
        return n_features(self.n_variables)

    def _check_size(self) -> None:
        m, d = self.n_samples, self.n_variables
        needed = n_features(d - 1) + 1
        if needed >= m:
            raise DataError(
                f"score='quadratic' fits {needed} coefficients to a variable with {d - 1} predecessors, but there are "
                f"only {m} samples: use more than {needed} rows, at most {_most_variables(m)} variables, or "
                "score='gp' or 'sparse-gp'."
            )
        memory = 8 * 4 * self._n_columns**2
        if memory > self._budget:
            raise DataError(
                f"score='quadratic' needs {size_in_words(memory)} for the {self._n_columns} features of {d} variables "
                f"and may use {size_in_words(self._budget)}: use fewer variables, raise memory_limit, or use "
                "score='gp' or 'sparse-gp'."
            )


def n_features(n_predecessors: int) -> int:
    """Values, squares and products: s(s + 3)/2.

    Examples
    --------
    >>> n_features(2)  # x, y, x², y², xy
    5
    """
    return n_predecessors * (n_predecessors + 3) // 2


def _most_variables(n_samples: int) -> int:
    """Largest number of variables whose last regression leaves a degree of freedom."""
    # (d - 1)(d + 2)/2 + 1 < m, that is d(d + 1)/2 <= m - 1
    return (math.isqrt(8 * (n_samples - 1) + 1) - 1) // 2
