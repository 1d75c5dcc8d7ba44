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

ENOUGH, FEWEST_VARIABLES = 40, 5
"""Random orders and variables below which the share says nothing: even a perfect answer could be luck."""


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
    random_perfect : float
        Share of random orders that give the reference graph itself.
    n_random, n_variables : int
    """

    learned: int
    empty: int
    random_mean: float
    random_best: int
    random_as_good: float
    random_perfect: float
    n_random: int
    n_variables: int

    @property
    def beatable(self) -> bool:
        """Whether a perfect answer would stand out among random orders."""
        enough = self.n_random >= ENOUGH and self.n_variables >= FEWEST_VARIABLES
        return enough and self.empty > 0 and self.random_perfect < NO_BETTER

    @property
    def no_better(self) -> bool:
        """Whether chance does as well as the result, random orders often or the empty graph, where it can be beaten."""
        return self.beatable and (self.random_as_good >= NO_BETTER or self.empty <= self.learned)

    @property
    def sentence(self) -> str:
        facts = f"{self.learned} edges differ from the reference graph (SHD); with no edges at all, {self.empty}"
        if not self.beatable:
            return f"{facts}. Too small a case to compare with chance: a perfect answer could be luck."
        return (
            f"{facts}; with random orders, {self.random_mean:.1f} on average ({self.random_as_good:.0%} of "
            f"{self.n_random} do at least as well)."
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
    n_random: int = 100,
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
        float((random == 0).mean()),
        n_random,
        len(true),
    )
