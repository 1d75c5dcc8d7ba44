"""Sparse linear scores: parents grown and shrunk from the covariance matrix, and the shape of what they leave."""

import math
from typing import ClassVar, Literal

import numpy as np
import torch

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.errors import OptionError
from precede.knowledge import Constraints
from precede.scores.assumptions import Assumptions
from precede.scores.covariance import Moments, covariance, regularized
from precede.scores.grow_shrink import GrowShrinkScore
from precede.scores.protocol import CPDAG_NOTE, CovarianceMoves, Identifies
from precede.scores.shape import ResidualShapes, columns_for_shape, told_by_shape


class LinearAnyScore(GrowShrinkScore):
    r"""Linear regressions on the best parents among the predecessors, with noise of any shape.

    .. math:: \mathrm{term}_t = -\frac m2 (\log 2 \pi \hat\sigma^2_{t \mid S} + 1)
              + \max(0, m J(r_{t \mid S}) - \log m) - |S| \, (\mathrm{penalty} \cdot \tfrac12 \log m + \gamma \log d),

    where S is grown one parent at a time while the Gaussian part rises, shrunk likewise, and grown again while that
    pays: a function of the *set* of predecessors. J is the residual's negentropy
    (``precede.scores.shape.negentropy``). Noise variances are free, so the score does not depend on the columns'
    scales. Where noise is Gaussian J is priced out, and Markov-equivalent graphs have the same score: then **only the
    CPDAG is identified**. Where some is not, its shape tells more (:meth:`told`).

    :class:`SparseLinearScore` takes all noise as Gaussian, and its sets are the graph; :class:`NonGaussianScore` takes
    no noise as Gaussian: its J has no price.

    Parameters
    ----------
    values : (n_samples, n_variables) array
    penalty : float or None
        Price of a parent in units of log(m)/2; None takes ``usual_penalty``. BIC's own 1 keeps a null edge with
        probability .005 at 3,000 rows, about 20 of them at 100 variables; BOSS and FLOP use 2.
    gamma : float
        Extended BIC: log(d) times this is added to the price of a parent.
    max_parents : int or None
        Largest parent set; no limit when None.
    constraints : Constraints, optional
        Forbidden parents never enter a set; required ones always are in it.
    moments : Moments, optional
        In place of those of the values, where cells were missing.
    device : str or torch.device

    References
    ----------
    Andrews, Ramsey, Sanchez-Romero, Camchong, Kummerfeld (2023), BOSS, NeurIPS.
    Wienöbst, Henckel, Weichwald (2025), FLOP.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cause, other = rng.normal(size=(2, 500))
    >>> effect = cause + other + rng.normal(size=500)
    >>> score = LinearAnyScore(np.column_stack([effect, cause, other]))
    >>> score.parent_sets(np.array([1, 2, 0])).astype(int)
    array([[0, 0, 0],
           [1, 0, 0],
           [1, 0, 0]])
    """

    name = "linear-any"
    identifies: Identifies = "cpdag"
    assumes = Assumptions("linear", words="Every variable is a weighted sum of few causes plus noise of any kind.")
    shape: ClassVar[Literal["priced", "free", "none"]] = "priced"
    """What the shape of noise counts for: more than its price, all of it, or nothing."""

    usual_penalty: ClassVar[float] = 1.0
    """BIC's own: sets hold all that may matter, and the best order is pruned by extended BIC."""

    def __init__(
        self,
        values: FloatArray,
        *,
        penalty: float | None = None,
        gamma: float = 0.0,
        max_parents: int | None = None,
        constraints: Constraints | None = None,
        moments: Moments | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        penalty = self.usual_penalty if penalty is None else penalty
        if penalty < 0 or gamma < 0 or penalty + gamma == 0:
            raise OptionError(
                f"penalty={penalty!r} and gamma={gamma!r} cannot be used: they must not be negative, nor both zero "
                "(every graph that is full would score the same)."
            )
        if max_parents is not None and max_parents < 1:
            raise OptionError(
                f"max_parents={max_parents!r} cannot be used: it must be a positive whole number or None."
            )
        moments = moments or Moments(covariance(values), len(values))
        self.n_samples, self.n_variables = m, d = moments.n_samples, values.shape[1]
        self.device = torch.device(device)
        scatter = regularized(moments.covariance)
        self._log_scale = np.log(np.diag(scatter))
        spread = np.sqrt(np.diag(scatter))
        self.correlation = scatter / np.outer(spread, spread)
        self.price = penalty * math.log(m) / 2 + gamma * math.log(d)
        # a regression on m - 2 columns leaves nothing to estimate a variance from
        self.max_parents = min(max_parents or d - 1, d - 1, max(1, m - 2))
        constraints = constraints or Constraints.none(d)
        self._allowed, self._required = constraints.allowed.T.copy(), constraints.required.T.copy()  # [child, parent]
        none: FloatArray = np.zeros((d, 0))
        self._columns = none if self.shape == "none" else columns_for_shape(values, spread)
        self.shape_price = math.log(self._columns.shape[1]) if self.shape == "priced" else 0.0
        self.worth_of_shape = ResidualShapes(self._columns, self.correlation, self.shape_price)
        self.notes = [CPDAG_NOTE] if self.shape == "none" else []

    def moves(self) -> CovarianceMoves:
        offset = -self.n_samples / 2 * (self._log_scale + math.log(2 * math.pi) + 1)
        return CovarianceMoves(
            self.correlation, offset, self.n_samples, self.price, self.max_parents,
            self._allowed, self._required, self._columns, self.shape_price,
        )  # fmt: skip

    def told(self, edges: BoolArray) -> BoolArray:
        """Edges of a best graph that shapes direct: without J, they could be turned."""
        return told_by_shape(edges, self.worth_of_shape) if self.shape == "priced" else np.zeros_like(edges)


class SparseLinearScore(LinearAnyScore):
    """The same with Gaussian noise only: :math:`J = 0`, and nothing but the CPDAG is identified."""

    name = "sparse-linear"
    assumes = Assumptions("linear", gaussian="assumed", form="a weighted sum of few causes")
    shape = "none"
    usual_penalty = 2.0

    def graph(self, order: IntArray) -> BoolArray:
        """The graph of an order: the parent sets."""
        return self.parent_sets(order)


class NonGaussianScore(LinearAnyScore):
    """The same with the shape at any price (LiNGAM): parents cost little, and BIC prunes the order that is best.

    A set of all that may matter leaves residuals their shape also where growth one by one would miss some parents.
    """

    name = "nongaussian"
    identifies = "dag"
    assumes = Assumptions("linear", gaussian="excluded", form="a weighted sum of its causes")
    shape = "free"
    usual_penalty = 0.5
