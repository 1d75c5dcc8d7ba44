"""Does the graph predict rows it has not seen? Its likelihood there, beside the empty and the full graph's."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.errors import DataError, OptionError
from precede.evidence.falsification.curves import DEGREE, hermite_columns
from precede.evidence.sample import sample_for
from precede.graph import CausalGraph
from precede.lazy import linalg
from precede.runtime.randomness import RandomState, numpy_rng

SHRINKAGE = 1.0
"""Ridge penalty, in rows: a variable with no effect on few rows is not given one."""

SMALLEST_VARIANCE = 1e-6
"""Of a residual, as a share of the column's variance."""


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
        facts = f"On rows not used to fit it, the graph predicts {gain:+.3g} nats a row compared with no edges at all"
        if gain <= 0:
            return f"{facts}: its edges do not help to predict."
        if rest > 0.02 * gain:
            return f"{facts}, and {rest:.3g} less than with every possible edge of its order: it may lack some."
        return f"{facts}, and no less than with every possible edge of its order."


def held_out_likelihood(
    graph: CausalGraph, data: Any = None, n_folds: int = 5, random_state: RandomState = 0
) -> HeldOut:
    """Predict each variable from its parents on rows that the fit has not seen.

    Each variable's normal score is regressed on the Hermite polynomials of its parents' by ridge regression, and the
    Gaussian log-density of the rows left out is averaged over folds. Only differences mean anything. Columns of the
    past (lags) predict and are not predicted: what caused them is not learned.

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
    now = np.ones(graph.n_variables, dtype=bool) if graph.past is None else ~graph.past
    fold = numpy_rng(random_state).permutation(len(rows)) % n_folds
    whole, likelihoods = columns.T @ columns, np.zeros(3)
    for k in range(n_folds):
        part = columns[fold == k]
        left = part.T @ part
        split = Fold(whole - left, left, len(rows) - len(part), len(part))
        nothing = np.zeros_like(graph.edges)
        likelihoods += (
            split.of_graph(graph.edges, now),
            split.of_graph(nothing, now),
            split.of_order(graph.positions, now),
        )
    own, empty, full = (float(total) / len(rows) for total in likelihoods)
    return HeldOut(own, empty, full, len(rows))


@dataclass(frozen=True, eq=False)
class Fold:
    """Log-likelihood of the rows of a fold under fits to all others: two matrices of moments are all it takes.

    Parameters
    ----------
    fit, left : (3 n_variables, 3 n_variables) float arrays
        Sums of products of the polynomials over the rows that are fitted, and over those left out.
    n_fit, n_left : int
        Rows.
    """

    fit: FloatArray
    left: FloatArray
    n_fit: int
    n_left: int

    def of_graph(self, edges: BoolArray, now: BoolArray) -> float:
        """Every variable of now given its parents."""
        total = 0.0
        for j in np.flatnonzero(now):
            used = _columns_of(np.flatnonzero(edges[:, j]))
            block = self.fit[np.ix_(used, used)]
            weights = np.linalg.solve(block + SHRINKAGE * np.eye(len(used)), self.fit[used, DEGREE * j])
            fitted, missed = (
                own[DEGREE * j, DEGREE * j] + weights @ (own[np.ix_(used, used)] @ weights - 2 * own[used, DEGREE * j])
                for own in (self.fit, self.left)
            )
            total += self._of_squares(np.array([fitted]), np.array([missed]), np.array([len(used)]))
        return total

    def of_order(self, order: IntArray, now: BoolArray) -> float:
        """Every variable of now given all before it: the rows of one Cholesky factor are half-way to all these fits."""
        columns = _columns_of(order)
        targets = np.arange(0, len(columns), DEGREE)[now[order]]
        before = np.arange(len(columns))[:, None] < targets
        fit = self.fit[np.ix_(columns, columns)]
        factor = np.linalg.cholesky(fit + SHRINKAGE * np.eye(len(fit)))
        halves = np.where(before, factor[targets].T, 0.0)  # transposed: a target's row of the factor as a column
        weights = linalg.solve_triangular(factor, halves, trans="T", lower=True, check_finite=False)
        fitted, missed = (
            own[targets, targets] + (weights * (own @ weights - 2 * own[:, targets])).sum(axis=0)
            for own in (fit, self.left[np.ix_(columns, columns)])
        )
        return self._of_squares(fitted, missed, targets)

    def _of_squares(self, fitted: FloatArray, missed: FloatArray, n_used: IntArray) -> float:
        """Log-density of the rows left out, from sums of squared residuals and the numbers of columns used."""
        variance = np.maximum(fitted / np.maximum(self.n_fit - n_used, 1), SMALLEST_VARIANCE)
        terms = np.maximum(missed, 0.0) / variance + self.n_left * np.log(2 * math.pi * variance)
        return float(-0.5 * terms.sum())


def _columns_of(variables: IntArray) -> IntArray:
    """Where the polynomials of some variables are."""
    return (DEGREE * variables[:, None] + np.arange(DEGREE)).ravel()
