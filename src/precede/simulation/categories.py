"""Equations of columns with levels: numbers and categories that cause each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.simulation.draws import NumpyDraws

LEVELS = (2, 3, 4)
"""How many levels a category may have, each as likely."""

SHARES = {"mixed": 0.5, "discrete": 1.0}
"""Share of the columns that are categories."""


def data_with_levels(
    errors: FloatArray,
    adjacency: BoolArray,
    order: IntArray,
    sem: str,
    weight_range: tuple[float, float],
    rng: np.random.Generator,
) -> list[np.ndarray[Any, Any]]:
    """Columns of numbers and of words along a DAG.

    A number is a weighted sum of its causes plus noise, where a numeric cause counts by its standardized value and a
    category by a random effect of each level (mean 0, variance 1 over its levels). A category takes the level of
    largest utility: weighted sums of the same kind for each level plus Gumbel noise, so that the levels' odds are those
    of multinomial logistic regression.

    Parameters
    ----------
    errors : (n_samples, n_variables) array
        Noise of the numbers.
    adjacency : (n_variables, n_variables) bool array
    order : (n_variables,) int array
    sem : "mixed" or "discrete"
        Half of the columns are categories, or all.
    weight_range : (float, float)
    rng : numpy Generator
    """
    n, d = errors.shape
    words = np.zeros(d, dtype=bool)
    words[rng.choice(d, size=round(SHARES[sem] * d), replace=False)] = True
    columns: list[np.ndarray[Any, Any]] = [np.empty(0)] * d
    signals: list[FloatArray] = [np.empty(0)] * d  # (n_samples, width): indicators, or one standardized number
    for j in order:
        n_levels = int(rng.choice(LEVELS)) if words[j] else 1
        total = np.zeros((n, n_levels))
        for i in np.flatnonzero(adjacency[:, j]):
            effects = rng.normal(size=(signals[i].shape[1], n_levels)) if words[i] or words[j] else np.ones((1, 1))
            if words[i]:
                effects = (effects - effects.mean(axis=0)) / effects.std(axis=0)
            elif words[j]:
                effects = (effects - effects.mean()) / effects.std()
            total += NumpyDraws(rng).either_sign((1,), *weight_range).item() * (signals[i] @ effects)
        if words[j]:
            level = (total + rng.gumbel(size=total.shape)).argmax(axis=1)
            columns[j] = np.array([f"level {k + 1}" for k in range(n_levels)])[level]
            signals[j] = np.eye(n_levels)[level]
        else:
            number = total[:, 0] + errors[:, j]
            columns[j] = number
            signals[j] = ((number - number.mean()) / number.std())[:, None]
    return columns
