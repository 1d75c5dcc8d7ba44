"""RANDOM: a random order, pruned like any other. The control that every table needs."""

from __future__ import annotations

from precede.arrays import IntArray
from precede.baselines.order_method import OrderMethod
from precede.baselines.order_pruning import OrderPruning
from precede.data.load import Table
from precede.knowledge import Constraints, Knowledge
from precede.options import NotNegative, Positive
from precede.runtime.deadline import Deadline
from precede.runtime.randomness import RandomState, numpy_rng
from precede.strict_json import JsonObject


class RandomOrder(OrderMethod):
    """Draw an order, regress each variable on those before it, prune (RANDOM in Table 1 of the CORL paper).

    Parameters
    ----------
    pruning : {"threshold", "bic", "lasso", "none"}
        See :func:`precede.baselines.order_pruning.findings_from_order`.
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

    def __init__(
        self,
        pruning: OrderPruning = "bic",
        threshold: NotNegative = 0.3,
        knowledge: Knowledge | None = None,
        random_state: RandomState = None,
        max_time: Positive | None = None,
        verbose: bool = True,
    ) -> None:
        super().__init__(pruning, threshold, knowledge, max_time, verbose)
        self.random_state = random_state

    def _find_order(self, table: Table, constraints: Constraints, deadline: Deadline) -> tuple[IntArray, JsonObject]:
        return constraints.nearest_order(numpy_rng(self.random_state).permutation(table.n_variables)), {}
