"""Methods that learn nothing: what any result on nonlinear or real data has to beat."""

from __future__ import annotations

import numpy as np

from precede.data.load import Table
from precede.estimator import CausalEstimator, Findings
from precede.graph.dags import full_dag
from precede.pruning.cam import prune_by_gam
from precede.runtime.randomness import RandomState, numpy_rng


class EmptyGraph(CausalEstimator):
    """The graph without edges."""

    def _learn(self, table: Table) -> Findings:
        return Findings(np.zeros((table.n_variables, table.n_variables), dtype=bool))


class RandomOrderCAM(CausalEstimator):
    """A random order with the pruning that the paper gives its own orders on nonlinear data (Section 4.3).

    Parameters
    ----------
    cutoff : float
        Largest p-value of an edge that stays.
    random_state : int, Generator or None
    """

    cutoff: float = 0.001
    random_state: RandomState = None

    def _learn(self, table: Table) -> Findings:
        order = numpy_rng(self.random_state).permutation(table.n_variables)
        pruned = prune_by_gam(table.values, full_dag(order), cutoff=self.cutoff)
        return Findings(pruned.edges, order, pruned.strengths)


NULL_METHODS: dict[str, type[CausalEstimator]] = {"empty": EmptyGraph, "random-cam": RandomOrderCAM}
"""Name to estimator, beside those of :func:`precede.methods`."""
