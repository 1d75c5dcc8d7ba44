"""EqVar: the greedy order under equal noise variances."""

from __future__ import annotations

from typing import Literal

import numpy as np

from precede.arrays import FloatArray, IntArray
from precede.baselines.order_method import OrderMethod
from precede.baselines.order_pruning import OrderPruning
from precede.data.load import Table
from precede.knowledge import Constraints
from precede.runtime.deadline import Deadline
from precede.scores.assumptions import Assumptions
from precede.scores.covariance import covariance, regularized
from precede.scores.linear import smallest_variance_order
from precede.strict_json import JsonObject

Direction = Literal["top-down", "bottom-up"]


class EqVar(OrderMethod):
    r"""Greedy order of a linear model with equal noise variances (Chen, Drton, Wang 2019).

    Top-down: the next variable is
    :math:`\arg\min_j \operatorname{Var}(X_j \mid X_{\text{placed}})`, a source of what is left, because any other has
    the variance of its unplaced causes on top. Bottom-up (Ghoshal and Honorio 2018): the last of what is left is
    :math:`\arg\min_j [\Sigma^{-1}]_{jj}`, a sink. Deterministic.

    Parameters
    ----------
    direction : {"top-down", "bottom-up"}
    pruning : {"threshold", "bic", "lasso", "none"}
        See :func:`precede.baselines.order_pruning.findings_from_order`.
    threshold : float
        Smallest weight that stays.
    knowledge : Knowledge, optional
        Only permitted variables are considered at each step; edges are dropped or added.
    max_time : float, optional
        Seconds after which the lasso leaves the remaining variables to the BIC.
    verbose : bool
        Show progress.

    Notes
    -----
    Deviations from the authors' code: the graph comes from a threshold on the weights instead of a cross-validated
    lasso, so that all orders are pruned alike; ``pruning="lasso"`` is close to theirs. The order means nothing
    on standardized data.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.normal(size=500)
    >>> EqVar(verbose=False).fit(np.column_stack([cause + rng.normal(size=500), cause])).causal_order_
    [1, 0]
    """

    assumes = Assumptions(
        "linear", equal_variances=True,
        words="Every variable is a weighted sum of its causes plus noise, and the noise has the same variance "
        "everywhere.",
    )  # fmt: skip

    direction: Direction = "top-down"
    pruning: OrderPruning = "threshold"

    def _find_order(self, table: Table, constraints: Constraints, deadline: Deadline) -> tuple[IntArray, JsonObject]:
        moments = regularized(covariance(table.values))
        find = smallest_variance_order if self.direction == "top-down" else smallest_precision_order
        return find(moments, constraints), {}


def smallest_precision_order(covariance: FloatArray, constraints: Constraints | None = None) -> IntArray:
    """Take away, again and again, the variable whose entry of the precision matrix is smallest: the last of the rest.

    Examples
    --------
    >>> smallest_precision_order(np.array([[5.0, 2.0], [2.0, 1.0]]))
    array([1, 0])
    """
    d = len(covariance)
    before = (constraints or Constraints.none(d)).before
    precision = np.linalg.inv(covariance)
    left = np.ones(d, dtype=bool)
    order = np.empty(d, dtype=np.int64)
    for t in reversed(range(d)):
        open_to = left & ~before[:, left].any(axis=1)  # nothing left has to come after it
        j = int(np.where(open_to, np.diag(precision), np.inf).argmin())
        order[t], left[j] = j, False
        # marginalizing j out of the precision matrix is a Schur complement
        precision = precision - np.outer(precision[:, j], precision[j]) / precision[j, j]
    return order
