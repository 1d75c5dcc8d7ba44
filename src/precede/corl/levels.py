"""Tables of levels: each score learns a graph from some rows, and the one that predicts the others best is chosen."""

from functools import cache

import numpy as np
import torch

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.corl.vote import learn_graph
from precede.data.table import Table
from precede.knowledge import Constraints
from precede.runtime import Deadline
from precede.scores.choose import Choice
from precede.scores.levels import KindScoreName

CANDIDATES: tuple[KindScoreName, ...] = ("degenerate-gaussian", "discrete-bic", "bdeu")
"""Effects of levels that add up; and tables of any kind, with a price of entries or with a prior."""

MOST_ROWS = 4000
"""Rows that are looked at, drawn at random: with more, the scores hardly differ."""

MOST_FOLDS, FOLD_COLUMNS = 5, 150
"""Parts that are left out in turn; fewer where the columns are many, since every graph is learned once for each."""

STEPS = 60
"""Of the climb to the weights; each raises the penalized likelihood."""

PENALTY = 1.0
"""Of squared weights, beside the log-likelihood of all rows: a level that was seen once predicts nothing surely."""

PRIOR_ROWS = 1.0
"""Rows of the column's own shares that are added to those of each combination of parents' levels."""


def choose_for_levels(table: Table, constraints: Constraints, deadline: Deadline) -> Choice:
    """The score whose graphs give rows left out the highest likelihood, summed over the parts left out in turn.

    Parameters
    ----------
    table : Table
        Every column has levels.
    constraints : Constraints
        What every graph obeys.
    deadline : Deadline
        Once it has passed, the parts that were seen decide.

    Returns
    -------
    Choice
    """
    rng = np.random.default_rng(0)  # the same table gives the same choice
    rows = np.sort(rng.permutation(table.n_samples)[:MOST_ROWS])
    table = table if len(rows) == table.n_samples else table.rearranged(rows, np.arange(table.n_variables))
    n_folds = max(2, min(MOST_FOLDS, FOLD_COLUMNS // table.n_variables))
    folds = rng.permutation(np.arange(table.n_samples) % n_folds)
    totals = np.zeros(len(CANDIDATES))
    for fold in range(n_folds):
        if deadline.passed():
            break
        totals += _of_fold(table, constraints, folds != fold, deadline)
    figures = {f"held_out_{name}": float(total) for name, total in zip(CANDIDATES, totals, strict=True)}
    name = CANDIDATES[int(np.argmax(totals))] if totals.any() else "discrete-bic"
    reason = (
        f"Every column has levels, and the graph of score={name!r} predicts rows that were left out best. "
        "Some directions cannot be determined."
    )
    return Choice(name, reason, figures)


def _of_fold(table: Table, constraints: Constraints, taught: np.ndarray, deadline: Deadline) -> np.ndarray:
    """Likelihood of the rows left out, for the graph that each score learns from the others."""

    @cache
    def likelihood(column: int, parents: tuple[int, ...]) -> float:
        return held_out_likelihood(table, column, np.array(parents, dtype=np.int64), taught)

    totals = []
    for name in CANDIDATES:
        rng = np.random.default_rng(0)
        _, _, edges = learn_graph(name, table.only(taught), constraints, torch.device("cpu"), rng, deadline)
        totals.append(sum(likelihood(k, tuple(np.flatnonzero(edges[:, k]))) for k in range(table.n_variables)))
    return np.array(totals)


def held_out_likelihood(table: Table, column: int, parents: IntArray, taught: BoolArray) -> float:
    r"""Log-likelihood of a column's levels in the rows left out, given its parents in a graph.

    The better of two predictions learned from the taught rows: the shares of levels within each combination of the
    parents' levels, drawn toward the column's own shares; and a multinomial logistic regression on the parents' levels,
    in which their effects add up. So neither interactions nor many parents with small effects count against a graph.

    Parameters
    ----------
    table : Table
        Every column has levels.
    column : int
    parents : (n_parents,) int array
    taught : (n_samples,) bool array
        The rows to learn from; the others are predicted.

    Examples
    --------
    >>> from precede.data.kinds import kind_of
    >>> coin, other = np.random.default_rng(0).integers(2, size=(2, 400)).astype(float)
    >>> values = np.column_stack([coin, other, coin != other])
    >>> table = Table(values, tuple("abc"), True, kinds=tuple(map(kind_of, values.T)))
    >>> half = np.arange(400) < 200
    >>> alone, told = (held_out_likelihood(table, 2, np.array(given), half) / 200 for given in ([0], [0, 1]))
    >>> alone < -0.6, told > -0.1
    (True, True)
    """
    codes = [table.kinds[k].codes(table.values[:, k]) for k in (column, *parents)]
    widths = [table.kinds[k].n_levels for k in (column, *parents)]
    shown = np.eye(widths[0])[codes[0]]
    counted = _shares(codes[1:], shown, taught)
    told = float(np.log(counted[shown[~taught] > 0]).sum())
    if len(parents) < 2:
        return told  # of one parent both say the same
    indicators = [np.eye(width)[code][:, 1:] for code, width in zip(codes[1:], widths[1:], strict=True)]
    log_added = _added_up(np.column_stack([np.ones(len(shown)), *indicators]), shown, taught)
    return max(told, float(log_added[shown[~taught] > 0].sum()))


def _shares(given: list[IntArray], shown: FloatArray, taught: BoolArray) -> FloatArray:
    """Predicted probabilities of the levels, by combinations of parents' levels; of the rows left out."""
    width = shown.shape[1]
    own = (shown[taught].sum(axis=0) + 1 / width) / (taught.sum() + 1)
    if not given:
        return np.tile(own, (int((~taught).sum()), 1))
    cells = np.unique(np.column_stack(given), axis=0, return_inverse=True)[1].reshape(-1)
    counts = np.zeros((cells.max() + 1, width))
    np.add.at(counts, cells[taught], shown[taught])
    shares = (counts + PRIOR_ROWS * own) / (counts.sum(axis=1, keepdims=True) + PRIOR_ROWS)
    return np.asarray(shares[cells[~taught]])


def _added_up(design: FloatArray, shown: FloatArray, taught: BoolArray) -> FloatArray:
    r"""Log-probabilities by multinomial logistic regression, of the rows left out.

    Each step maximizes a quadratic bound of the penalized likelihood (Böhning 1992): the curvature
    :math:`\frac12 (I - 11^\top / k) \otimes X^\top X` is never exceeded, so that one factor serves all steps.
    """
    rows, wanted = design[taught], shown[taught]
    ridge = PENALTY * np.eye(design.shape[1])
    inverse = np.linalg.inv(rows.T @ rows / 2 + ridge)
    weights = np.zeros((design.shape[1], shown.shape[1]))
    for _ in range(STEPS):
        logits = rows @ weights
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        gradient = rows.T @ (wanted - odds / odds.sum(axis=1, keepdims=True)) - PENALTY * weights
        weights += inverse @ gradient
    logits = design[~taught] @ weights
    logits -= logits.max(axis=1, keepdims=True)
    return np.asarray(logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)))
