"""Linear Gaussian score with equal noise variances, by one batched Cholesky per batch of orders."""

from collections.abc import Sequence
from typing import Self

import numpy as np
import torch
from torch import Tensor

from precede.arrays import FloatArray, IntArray
from precede.errors import OptionError
from precede.knowledge import Constraints
from precede.scores.assumptions import Assumptions
from precede.scores.covariance import Moments, covariance, ordered_cholesky, regularized
from precede.scores.predecessors import Noise, NoiseModel
from precede.scores.protocol import BatchedScore, OrderScore, VarianceMoves
from precede.ties import first_best

CHUNK_ELEMENTS = 2**24
"""Orders are factorized in pieces of about this many matrix entries, which bounds the memory."""


class LinearScore(OrderScore):
    r"""BIC of a linear Gaussian model with equal noise variances, on all predecessors.

    With :math:`L` the Cholesky factor of the sample covariance in the order's sequence, :math:`L_{tt}^2` is the
    residual variance of the t-th variable, and

    .. math:: S = -\frac{md}{2} \log\Big(\frac1d \sum_t L_{tt}^2\Big) - \frac{d(d-1)/2 + 1}{2} \log m .

    The terms are the log-likelihoods at a fixed noise variance :math:`\sigma_0^2` (the smallest column variance, which
    the model says is a source's noise), :math:`-\frac{m}{2\sigma_0^2} L_{tt}^2`: additive, and increasing with
    :math:`S`, which ``total`` computes from their sum. The parameter count is the same for every order and is left to
    ``total``.

    Parameters
    ----------
    values : (n_samples, n_variables) array
    noise : {"equal"}
        "unequal" is refused: on all predecessors it gives every order the same score.
    moments : Moments, optional
        In place of those of the values, where cells were missing.
    device : str or torch.device

    Notes
    -----
    Exactly collinear columns, or fewer rows than columns, make the covariance singular: then a ridge of 1e-10 times
    each variance is added (see :mod:`precede.scores.covariance`).

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=1000)
    >>> score = LinearScore(np.column_stack([x, 2 * x + np.random.default_rng(1).normal(size=1000)]))
    >>> forward, backward = score.total(score.terms(torch.tensor([[0, 1], [1, 0]])).sum(1))
    >>> bool(forward > backward)
    True
    """

    name = "linear"
    assumes = Assumptions("linear", equal_variances=True, form="a weighted sum of its causes")

    def __init__(
        self,
        values: FloatArray,
        *,
        noise: Noise = "equal",
        moments: Moments | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        if noise == "unequal":
            raise OptionError(
                "noise='unequal' with a linear Gaussian score on all predecessors tells nothing: the score is "
                "-m/2 log det S for every order. Use noise='equal', score='nongaussian', or score='sparse-linear'."
            )
        self.n_samples, self.n_variables = values.shape
        self.device = torch.device(device)
        matrix = covariance(values) if moments is None else moments.covariance
        self.covariance = torch.from_numpy(regularized(matrix)).to(self.device)
        variances = self.covariance.diagonal().cpu().numpy()
        self.likelihood = NoiseModel(noise, self.n_samples, variances, self.n_variables * (self.n_variables - 1) // 2)

    @property
    def residual_units(self) -> tuple[float, float]:
        return self.likelihood.residual_units

    def residual_variances(self, orders: Tensor) -> Tensor:
        """Variance of each variable given its predecessors, (n_orders, n_variables), in sequence."""
        return residual_variances(self.covariance, orders)

    def terms(self, orders: Tensor) -> Tensor:
        return self.likelihood.terms(self.residual_variances(orders))

    def total(self, sums: Tensor) -> Tensor:
        return self.likelihood.total(sums)

    def bounds(self) -> Tensor:
        r"""Terms given all the others: the residual variance is :math:`1 / (S^{-1})_{jj}`."""
        variances: Tensor = 1 / torch.linalg.inv(self.covariance).diagonal()
        return self.likelihood.terms(variances)

    def quick_order(self, constraints: Constraints) -> IntArray:
        """The variable of smallest conditional variance comes next (Chen, Drton, Wang 2019)."""
        return smallest_variance_order(self.covariance.cpu().numpy(), constraints)

    def moves(self) -> VarianceMoves | None:
        """Variances; None for a score made from this one that works out terms or moves in its own way."""
        own = type(self)
        if own.terms is not LinearScore.terms or own.insertion_sums is not OrderScore.insertion_sums:
            return None
        return VarianceMoves(self.covariance.cpu().numpy(), self.n_samples / (2 * self.likelihood.noise_variance))

    @classmethod
    def together(cls, scores: Sequence[Self]) -> BatchedScore:
        """One batch of factors for all; each by itself where rows differ in number, or a score was made from this."""
        as_here = cls.terms is LinearScore.terms and cls.total is LinearScore.total
        if not as_here or len({score.n_samples for score in scores}) > 1:
            return BatchedScore(scores)
        return LinearScores(scores)


class LinearScores(BatchedScore):
    """Linear scores of data sets of one size: all orders are factorized in one batch."""

    def __init__(self, scores: Sequence[LinearScore]) -> None:
        super().__init__(scores)
        self._likelihood = scores[0].likelihood
        unit = [score.likelihood.noise_variance / self._likelihood.noise_variance for score in scores]
        self.covariances = torch.stack([score.covariance / own for score, own in zip(scores, unit, strict=True)])

    def terms(self, orders: Tensor) -> Tensor:
        which = torch.arange(len(orders), device=orders.device).repeat_interleave(orders.shape[1])
        variances = residual_variances(self.covariances, orders.flatten(0, 1), which).view(orders.shape)
        return self._likelihood.terms(variances)


def residual_variances(covariance: Tensor, orders: Tensor, which: Tensor | None = None) -> Tensor:
    """Squared pivots of :func:`precede.scores.covariance.ordered_cholesky`, (n_orders, n_variables), in sequence."""
    size = max(1, CHUNK_ELEMENTS // orders.shape[1] ** 2)
    pieces = []
    for start in range(0, len(orders), size):
        part = slice(start, start + size)
        factors = ordered_cholesky(covariance, orders[part], None if which is None else which[part])
        pieces.append(factors.diagonal(dim1=1, dim2=2) ** 2)
    return torch.cat(pieces)


def smallest_variance_order(covariance: FloatArray, constraints: Constraints | None = None) -> IntArray:
    """Place, again and again, the variable whose variance given those already placed is smallest.

    Examples
    --------
    >>> smallest_variance_order(np.array([[5.0, 2.0], [2.0, 1.0]]))
    array([1, 0])
    """
    d = len(covariance)
    before = (constraints or Constraints.none(d)).before
    variance = np.diag(covariance).copy()  # given the placed variables
    factor = np.zeros((d, d))  # [:, t]: covariances with the t-th placed, given those before it, over its deviation
    waiting = np.ones(d, dtype=bool)
    order = np.empty(d, dtype=np.int64)
    for t in range(d):
        open_to = waiting & ~before[waiting].any(axis=0)
        j = first_best(np.where(open_to, -variance, -np.inf))
        order[t], waiting[j] = j, False
        given = covariance[:, j] - factor[:, :t] @ factor[j, :t]
        factor[:, t] = given / np.sqrt(max(variance[j], np.finfo(float).tiny))
        variance -= factor[:, t] ** 2
    return order
