"""Tables of levels: each score learns a graph from some rows, and the one that predicts the others best is chosen."""

from functools import cache

import numpy as np
import torch

from precede.corl.vote import learn_graph
from precede.data.table import Table
from precede.knowledge import Constraints
from precede.runtime.deadline import Deadline
from precede.scores.choose import Choice
from precede.scores.levels import KindScoreName
from precede.scores.levels.held_out import held_out_likelihood

CANDIDATES: tuple[KindScoreName, ...] = ("degenerate-gaussian", "discrete-bic", "bdeu")
"""Effects of levels that add up; and tables of any kind, with a price of entries or with a prior."""

MOST_ROWS = 4000
"""Rows that are looked at, drawn at random: with more, the scores hardly differ."""

MOST_FOLDS, FOLD_COLUMNS = 5, 150
"""Parts that are left out in turn; fewer where the columns are many, since every graph is learned once for each."""


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
