"""RANDOM: a random order, pruned like any other. The control that every table needs."""

from __future__ import annotations

from precede.arrays import IntArray
from precede.baselines.order_method import OrderMethod
from precede.data.load import Table
from precede.knowledge import Constraints
from precede.runtime.deadline import Deadline
from precede.runtime.randomness import RandomState, numpy_rng
from precede.scores.assumptions import Assumptions
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

    assumes = Assumptions(
        "linear", tells_directions=False,
        words="Nothing: the order is drawn at random, as a control. No direction in this graph means anything.",
    )  # fmt: skip

    random_state: RandomState = None

    def _find_order(self, table: Table, constraints: Constraints, deadline: Deadline) -> tuple[IntArray, JsonObject]:
        return constraints.nearest_order(numpy_rng(self.random_state).permutation(table.n_variables)), {}
