"""What the methods share that find a causal order first and prune its graph afterwards."""

from __future__ import annotations

from abc import abstractmethod

from precede.arrays import IntArray
from precede.baselines.order_pruning import OrderPruning, findings_from_order
from precede.data.load import Table
from precede.estimator import CausalEstimator, Findings
from precede.knowledge import Constraints, Knowledge, constraints_over
from precede.options import NotNegative, Positive
from precede.runtime.deadline import Deadline
from precede.strict_json import JsonObject


class OrderMethod(CausalEstimator):
    """Find an order, regress each variable on those before it, prune; a method implements ``_find_order``.

    Parameters
    ----------
    pruning : {"threshold", "bic", "lasso", "none"}
        See :func:`precede.baselines.order_pruning.findings_from_order`.
    threshold : float
    knowledge : Knowledge, optional
    max_time : float, optional
    verbose : bool
    """

    pruning: OrderPruning = "bic"
    threshold: NotNegative = 0.3
    knowledge: Knowledge | None = None
    max_time: Positive | None = None
    verbose: bool = True

    @abstractmethod
    def _find_order(self, table: Table, constraints: Constraints, deadline: Deadline) -> tuple[IntArray, JsonObject]:
        """An order that obeys the constraints, and diagnostics."""

    def _learn(self, table: Table) -> Findings:
        deadline = Deadline(self.max_time)
        constraints = constraints_over(self.knowledge, table.names)
        order, diagnostics = self._find_order(table, constraints, deadline)
        return findings_from_order(
            table, order, self.pruning, self.threshold, constraints, deadline,
            verbose=self.verbose, diagnostics=diagnostics,
        )  # fmt: skip
