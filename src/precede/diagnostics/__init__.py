"""Say what the data can tell (METHODS 6): each check is a number and one plain sentence."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.diagnostics.controls import controls
from precede.diagnostics.data_checks import (
    check_equal_variances,
    check_nonlinearity,
    check_normality,
    check_r2_sortability,
    check_standardising,
    check_var_sortability,
)
from precede.diagnostics.diagnostic import Diagnostic, Learned, Level
from precede.diagnostics.result_checks import (
    check_identifiability,
    check_search,
    check_stability,
    check_weak_edges,
    stability,
)
from precede.knowledge import Constraints
from precede.pruning.weights import THRESHOLD

__all__ = ["Diagnostic", "Level", "controls", "diagnose", "stability"]

CHECKS = (
    check_identifiability,
    check_search,
    check_weak_edges,
    check_stability,
    check_var_sortability,
    check_r2_sortability,
    check_standardising,
    check_normality,
    check_equal_variances,
    check_nonlinearity,
)

OF_NUMBERS = (
    check_var_sortability,
    check_r2_sortability,
    check_standardising,
    check_normality,
    check_equal_variances,
    check_nonlinearity,
)
"""Checks that mean nothing where columns have levels."""


def diagnose(
    values: FloatArray,
    edges: BoolArray,
    order: IntArray,
    names: Sequence[Hashable] | None = None,
    *,
    score: str | None = None,
    noise: str = "auto",
    identifies: str = "dag",
    search: dict[str, Any] | None = None,
    pruning: str = "auto",
    threshold: float = THRESHOLD,
    cutoff: float = 0.001,
    constraints: Constraints | None = None,
    confidence: FloatArray | None = None,
) -> list[Diagnostic]:
    """Check a learned graph against the data and against what the method assumed.

    Parameters
    ----------
    values : (n_samples, n_variables) float array
    edges : (n_variables, n_variables) bool array
        ``edges[i, j]`` means i -> j.
    order : (n_variables,) int array
        Causes first.
    names : sequence, optional
        The integers from 0 when left out.
    score, noise : str
        The score by name and its noise model, which say what was assumed; None for a method without one.
    identifies : "dag" or "cpdag"
        What the score can tell apart.
    search : dict, optional
        Figures of the search: ``best_score``, and where known ``policy_score``, ``polish_gain``, ``greedy_score``,
        ``exact_score``, or ``exact=True``.
    pruning, threshold, cutoff
        How the edges were chosen.
    constraints : Constraints, optional
        Background knowledge that was obeyed.
    confidence : (n_variables, n_variables) float array, optional
        Probability of each edge, from resampling.

    Returns
    -------
    checks : list of Diagnostic

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(1000, 3)).cumsum(axis=1)
    >>> checks = diagnose(x, np.eye(3, k=1, dtype=bool), np.arange(3), list("abc"), score="linear")
    >>> print(next(check.sentence for check in checks if check.name == "nonlinearity"))
    0 of the 2 variables with causes depend on them along a curve: straight lines describe the effects well.
    """
    learned = Learned(
        np.asarray(values, dtype=np.float64),
        np.asarray(edges) != 0,
        np.asarray(order, dtype=np.int64),
        tuple(range(values.shape[1])) if names is None else tuple(names),
        score,
        noise,
        identifies,
        search or {},
        pruning,
        threshold,
        cutoff,
        constraints,
        confidence,
    )
    levels = learned.assumptions.mechanism == "levels"
    found = [check(learned) for check in CHECKS if not (levels and check in OF_NUMBERS)]
    return [check for check in found if check is not None]
