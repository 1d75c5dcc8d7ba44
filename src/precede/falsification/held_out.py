"""Does the graph predict rows it has not seen? Its likelihood there, beside the empty and the full graph's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from precede.arrays import BoolArray, FloatArray
from precede.effects.sample import sample_for
from precede.errors import DataError, OptionError
from precede.falsification.curves import hermite_columns
from precede.graph import CausalGraph
from precede.graph.dags import full_dag
from precede.runtime.randomness import RandomState, numpy_rng

SHRINKAGE = 1.0
"""Ridge penalty, in rows: a variable with no effect on few rows is not given one."""


@dataclass(frozen=True)
class HeldOut:
    """Mean log-likelihood of a row that was not used, in nats.

    Parameters
    ----------
    graph, empty, full : float
        Of this graph, of the one without edges, and of the one in which every variable depends on all before it.
    n_rows : int
    """

    graph: float
    empty: float
    full: float
    n_rows: int

    @property
    def sentence(self) -> str:
        """The comparison in plain words."""
        gain, rest = self.graph - self.empty, self.full - self.graph
        facts = f"On rows not used to fit it, the graph predicts {gain:+.3g} nats a row beside no edges at all"
        if gain <= 0:
            return f"{facts}: its edges do not help to predict."
        if rest > 0.02 * gain:
            return f"{facts}, and {rest:.3g} less than with every possible edge of its order: it may lack some."
        return f"{facts}, and no less than with every possible edge of its order: it lacks none that would help."


def held_out_likelihood(
    graph: CausalGraph, data: Any = None, n_folds: int = 5, random_state: RandomState = 0
) -> HeldOut:
    """Predict each variable from its parents on rows that the fit has not seen.

    Each variable's normal score is regressed on the Hermite polynomials of its parents' by ridge regression, and the
    Gaussian log-density of the rows left out is averaged over folds. Only differences mean anything.

    Parameters
    ----------
    graph : CausalGraph
    data : as for ``fit``, optional
    n_folds : int
    random_state : int, Generator or None
        Of the folds.

    Examples
    --------
    >>> from precede import simulate
    >>> made = simulate(n_variables=5, degree=1, n_samples=300, random_state=0)
    >>> found = held_out_likelihood(made.graph, made.data)
    >>> found.graph > found.empty
    True
    """
    if not isinstance(n_folds, int) or n_folds < 2:
        raise OptionError(f"n_folds={n_folds!r} cannot be used: give a whole number of at least 2.")
    rows = sample_for(graph, data).rows
    if rows is None:
        raise DataError("the test needs rows, and this graph has only moments: give the table as data=...")
    columns = hermite_columns(rows)
    fold = numpy_rng(random_state).permutation(len(rows)) % n_folds
    rivals = (graph.edges, np.zeros_like(graph.edges), full_dag(graph.positions))
    own, empty, full = (_likelihood(columns, edges, fold, n_folds) for edges in rivals)
    return HeldOut(own, empty, full, len(rows))


def _likelihood(columns: FloatArray, edges: BoolArray, fold: np.ndarray[Any, Any], n_folds: int) -> float:
    """Mean over the rows of the log-density of all variables, each row left out once."""
    total = 0.0
    degree = columns.shape[1] // len(edges)
    for k in range(n_folds):
        fit, left = columns[fold != k], columns[fold == k]
        gram = fit.T @ fit
        for j in range(len(edges)):
            parents = np.flatnonzero(edges[:, j])
            used = (degree * parents[:, None] + np.arange(degree)).ravel()
            block = gram[np.ix_(used, used)] + SHRINKAGE * np.eye(len(used))
            weights = np.linalg.solve(block, gram[used, degree * j])
            variance = float(((fit[:, degree * j] - fit[:, used] @ weights) ** 2).mean())
            variance = max(variance * len(fit) / max(len(fit) - len(used), 1), 1e-6)
            error = left[:, degree * j] - left[:, used] @ weights
            total -= 0.5 * float((error**2).sum() / variance + len(left) * np.log(2 * np.pi * variance))
    return total / len(columns)
