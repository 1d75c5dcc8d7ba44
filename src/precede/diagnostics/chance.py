"""How close to a reference graph one gets without learning anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.metrics.structure import shd
from precede.pruning.weights import prune_by_bic
from precede.runtime.randomness import RandomState, numpy_rng
from precede.scores.covariance import covariance, regularized

NO_BETTER = 0.1
"""A result that such a share of random orders equals is no better than chance would have it."""


@dataclass(frozen=True)
class Chance:
    """Structural Hamming distances of a result, of the empty graph, and of random orders with the same pruning.

    Parameters
    ----------
    learned, empty : int
    random_mean : float
    random_best : int
    random_as_good : float
        Share of random orders that do at least as well as the result.
    n_random : int
    """

    learned: int
    empty: int
    random_mean: float
    random_best: int
    random_as_good: float
    n_random: int

    @property
    def no_better(self) -> bool:
        """Whether chance does as well as the result: random orders often, or the empty graph."""
        return self.random_as_good >= NO_BETTER or self.empty <= self.learned

    @property
    def sentence(self) -> str:
        return (
            f"The result differs from the reference graph in {self.learned} places (SHD); the empty graph in "
            f"{self.empty}, a random order with the same pruning in {self.random_mean:.1f} on average and "
            f"{self.random_best} at best of {self.n_random}; {self.random_as_good:.0%} of the random orders do at "
            "least as well."
        )

    @property
    def warning(self) -> str | None:
        """A sentence where the result is no better than chance, else None."""
        if not self.no_better:
            return None
        return f"No better than chance. {self.sentence}"


def compare_with_chance(
    truth: Any,
    values: FloatArray,
    edges: BoolArray,
    *,
    prune: Callable[[IntArray], BoolArray] | None = None,
    n_random: int = 50,
    random_state: RandomState = 0,
) -> Chance:
    """Compare a result with random orders under the same pruning.

    Parameters
    ----------
    truth : CausalGraph, DataFrame or (n_variables, n_variables) array
        Over the columns of ``values``, in their order.
    values : (n_samples, n_variables) float array
    edges : (n_variables, n_variables) bool array
        The learned graph.
    prune : callable, optional
        From an order to a graph; pruning by the extended BIC when left out.
    n_random : int
        Number of random orders.
    random_state : int, Generator or None

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(500, 3)).cumsum(axis=1)
    >>> chain = np.eye(3, k=1, dtype=bool)
    >>> chance = compare_with_chance(chain, x, chain, n_random=20)
    >>> chance.learned, chance.empty
    (0, 2)
    """
    if prune is None:
        matrix = regularized(covariance(values))

        def prune(order: IntArray) -> BoolArray:
            return prune_by_bic(matrix, order, len(values))

    true = np.asarray(getattr(truth, "edges", truth)) != 0
    rng = numpy_rng(random_state)
    random = np.array([shd(prune(rng.permutation(len(true))), true) for _ in range(n_random)])
    learned = int(shd(edges, true))
    return Chance(
        learned,
        int(true.sum()),
        float(random.mean()),
        int(random.min()),
        float((random <= learned).mean()),
        n_random,
    )
