"""Sort-and-regress: order by marginal variance or by R², the baselines that show how easy a benchmark is."""

from __future__ import annotations

import numpy as np

from precede.arrays import FloatArray, IntArray
from precede.baselines.order_method import OrderMethod
from precede.baselines.order_pruning import OrderPruning
from precede.data.load import Table
from precede.knowledge import Constraints
from precede.runtime.deadline import Deadline
from precede.scores.assumptions import Assumptions
from precede.scores.covariance import covariance, regularized
from precede.strict_json import JsonObject


class SortRegress(OrderMethod):
    r"""Order by increasing marginal variance (Reisach, Seiler, Weichwald 2021, their sortnregress).

    In additive noise models with weights of any size variances grow along causal paths; a method that does not beat
    this one may have used nothing but the scale. Deterministic.

    Parameters
    ----------
    pruning : {"threshold", "bic", "lasso", "none"}
        See :func:`precede.baselines.order_pruning.findings_from_order`; the authors' is the adaptive lasso with BIC.
    threshold : float
        Smallest weight that stays, for ``pruning="threshold"``.
    knowledge : Knowledge, optional
        The sorted order is mended to keep the precedences, edges are dropped or added.
    max_time : float, optional
        Seconds after which the lasso leaves the remaining variables to the BIC.
    verbose : bool
        Show progress.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.normal(size=500)
    >>> SortRegress(verbose=False).fit(np.column_stack([cause + rng.normal(size=500), cause])).causal_order_
    [1, 0]
    """

    assumes = Assumptions(
        "linear", equal_variances=True,
        words="Causes have smaller variances than their effects: the order is the columns sorted by variance.",
    )  # fmt: skip

    pruning: OrderPruning = "lasso"

    def _criterion(self, moments: FloatArray) -> FloatArray:
        """What the variables are sorted by, ascending; (n_variables,) from the covariance."""
        return np.diag(moments).copy()

    def _find_order(self, table: Table, constraints: Constraints, deadline: Deadline) -> tuple[IntArray, JsonObject]:
        criterion = self._criterion(regularized(covariance(table.values)))
        order = constraints.nearest_order(np.argsort(criterion, kind="stable"))
        return order, {"criterion": criterion.tolist()}


class R2SortRegress(SortRegress):
    r"""Order by increasing :math:`R^2_j = 1 - 1 / (\Sigma_{jj} [\Sigma^{-1}]_{jj})` (Reisach et al. 2023).

    :math:`R^2_j` is the share of a variable's variance that all the others explain; it tends to grow along causal paths
    and, unlike the variance, does not change when columns are rescaled. Deterministic.

    The options ``pruning``, ``threshold``, ``knowledge``, ``max_time`` and ``verbose`` are those of
    :class:`SortRegress`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=500)
    >>> y = x + rng.normal(size=500)
    >>> X = np.column_stack([y + 0.2 * rng.normal(size=500), y, x])
    >>> R2SortRegress(verbose=False).fit(X).causal_order_[0]
    2
    """

    assumes = Assumptions(
        "linear",
        words="Causes are predicted less well by the other columns than their effects are: the order is the columns "
        "sorted by R².",
    )  # fmt: skip

    def _criterion(self, moments: FloatArray) -> FloatArray:
        explained: FloatArray = 1 - 1 / (np.diag(moments) * np.diag(np.linalg.inv(moments)))
        return explained
