"""Methods that find a causal order first and prune its graph afterwards: EqVar, sort-and-regress, a random order."""

import math
from abc import abstractmethod
from typing import Literal

import numpy as np
from sklearn.linear_model import lars_path_gram

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.baselines.iterative import IterativeMethod
from precede.data.load import Table
from precede.estimator import FitResult
from precede.graph.dags import full_dag
from precede.knowledge import Constraints, Knowledge, constraints_over
from precede.options import NotNegative
from precede.pruning.weights import prune_by_bic, prune_by_weight, regression_weights
from precede.runtime import Deadline, ProgressBar, RandomState, numpy_rng
from precede.scores.assumptions import Assumptions
from precede.scores.covariance import covariance, regularized
from precede.scores.linear import smallest_variance_order
from precede.strict_json import JsonObject

OrderPruning = Literal["threshold", "bic", "lasso", "none"]


def adaptive_lasso(moments: FloatArray, parents: IntArray, target: int, n_samples: int) -> FloatArray:
    r"""Adaptive lasso of one variable on its possible parents, its penalty chosen by BIC.

    .. math:: \min_w \tfrac12 w^T G w - c^T w + \lambda \sum_i |w_i| / |\hat w_i|,

    :math:`\hat w` the least-squares weights (Zou 2006), solved as a plain lasso path in :math:`w_i / |\hat w_i|`. Along
    the path, :math:`\mathrm{RSS} / \hat\sigma^2 + \log(m) |\{w \ne 0\}|` is smallest. This is the pruning of the
    ``lingam`` package and of sort-and-regress (Reisach et al. 2021).

    Parameters
    ----------
    moments : (n_variables, n_variables) float array
        Covariance.
    parents : (n_parents,) int array
    target : int
    n_samples : int

    Returns
    -------
    weights : (n_parents,) float array

    Examples
    --------
    >>> moments = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 0.001], [2.0, 0.001, 5.0]])
    >>> adaptive_lasso(moments, np.array([0, 1]), 2, 1000) != 0
    array([ True, False])
    """
    p = len(parents)
    if p == 0:
        return np.zeros(0)
    scale = np.sqrt(np.diag(moments))  # the solver has floors of its own, so it is given correlations
    moments = moments / np.outer(scale, scale)
    gram, cross, power = moments[np.ix_(parents, parents)], moments[parents, target], float(moments[target, target])
    ordinary = np.linalg.solve(gram, cross)
    size = np.abs(ordinary)
    _, _, path = lars_path_gram(
        size * cross, size[:, None] * gram * size, n_samples=n_samples, method="lasso", copy_X=False, copy_Gram=False
    )
    weights = path * size[:, None]  # shape: (n_parents, n_knots)
    residual = power - 2 * cross @ weights + (weights * (gram @ weights)).sum(axis=0)
    noise = (power - cross @ ordinary) * n_samples / max(n_samples - p - 1, 1)
    criterion = n_samples * residual / noise + math.log(n_samples) * (weights != 0).sum(axis=0)
    return np.asarray(weights[:, int(criterion.argmin())] * scale[target] / scale[parents])


class OrderMethod(IterativeMethod):
    r"""Find an order, regress each variable on those before it, prune; a method implements ``_find_order``.

    Parameters
    ----------
    max_time : float, optional
        Seconds; what the adaptive lasso has no time for is left to the BIC.
    verbose : bool
    pruning : {"threshold", "bic", "lasso", "none"}
        Regress on all predecessors and drop :math:`|w| <` ``threshold`` (Section 5.1 of the CORL paper); drop what the
        extended BIC drops; adaptive lasso by BIC (:func:`adaptive_lasso`); or keep every predecessor.
    threshold : float
        For ``pruning="threshold"``, in the units of the data; the others do not depend on them.
    knowledge : Knowledge, optional
        Forbidden predecessors are left out, required edges kept.
    """

    pruning: OrderPruning = "bic"
    threshold: NotNegative = 0.3
    knowledge: Knowledge | None = None

    @abstractmethod
    def _find_order(self, table: Table, constraints: Constraints, deadline: Deadline) -> tuple[IntArray, JsonObject]:
        """An order that obeys the constraints, and diagnostics."""

    def _learn(self, table: Table) -> FitResult:
        deadline = Deadline(self.max_time)
        constraints = constraints_over(self.knowledge, table.names)
        order, diagnostics = self._find_order(table, constraints, deadline)
        moments = regularized(covariance(table.values))
        edges = self._prune(moments, order, table.n_samples, constraints, deadline)
        return FitResult(edges, order, regression_weights(moments, order, edges), diagnostics=diagnostics)

    def _prune(
        self, moments: FloatArray, order: IntArray, n_samples: int, constraints: Constraints, deadline: Deadline
    ) -> BoolArray:
        """Prune the full DAG of an order."""
        if self.pruning == "threshold":
            return prune_by_weight(moments, order, self.threshold, constraints)
        if self.pruning == "none":
            return constraints.apply(full_dag(order))
        edges = prune_by_bic(moments, order, n_samples, constraints)
        if self.pruning == "bic":
            return edges
        candidates = full_dag(order) & constraints.allowed
        with ProgressBar("Lasso", len(order), self.verbose) as bar:
            for done, j in enumerate(order):
                if deadline.passed():
                    break
                parents = order[candidates[order, j]]
                edges[:, j] = False
                edges[parents[adaptive_lasso(moments, parents, int(j), n_samples) != 0], j] = True
                bar.update(done + 1)
        return constraints.apply(edges)


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
        See ``OrderMethod``.
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

    assumes = Assumptions("linear", equal_variances=True, form="a weighted sum of its causes")

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


class SortRegress(OrderMethod):
    r"""Order by increasing marginal variance (Reisach, Seiler, Weichwald 2021, their sortnregress).

    In additive noise models with weights of any size variances grow along causal paths; a method that does not beat
    this one may have used nothing but the scale. Deterministic.

    Parameters
    ----------
    pruning : {"threshold", "bic", "lasso", "none"}
        See ``OrderMethod``; the authors' is the adaptive lasso with BIC.
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
        return np.asarray(1 - 1 / (np.diag(moments) * np.diag(np.linalg.inv(moments))))


class RandomOrder(OrderMethod):
    """Draw an order, regress each variable on those before it, prune (RANDOM in Table 1 of the CORL paper).

    Parameters
    ----------
    pruning : {"threshold", "bic", "lasso", "none"}
        See ``OrderMethod``.
    threshold : float
        Smallest weight that stays, for ``pruning="threshold"``, which is the paper's.
    knowledge : Knowledge, optional
        The drawn order is mended to keep the precedences, edges are dropped or added.
    random_state : int, Generator or None
    max_time : float, optional
        Seconds after which the lasso leaves the remaining variables to the BIC.
    verbose : bool
        Show progress.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> RandomOrder(random_state=1, verbose=False).fit(X).graph_
    CausalGraph(3 variables, 0 edges)
    """

    assumes = Assumptions(
        "linear", tells_directions=False,
        words="Nothing: the order is drawn at random, as a control. No direction in this graph means anything.",
    )  # fmt: skip

    random_state: RandomState = None

    def _find_order(self, table: Table, constraints: Constraints, deadline: Deadline) -> tuple[IntArray, JsonObject]:
        return constraints.nearest_order(numpy_rng(self.random_state).permutation(table.n_variables)), {}
