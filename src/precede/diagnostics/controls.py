"""Controls: how close to the truth one gets without learning anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.metrics.structure import shd
from precede.pruning.weights import prune_by_bic
from precede.randomness import RandomState, numpy_rng
from precede.scores.covariance import covariance, regularised


def controls(
    truth: Any,
    values: FloatArray,
    edges: BoolArray,
    *,
    prune: Callable[[IntArray], BoolArray] | None = None,
    n_random: int = 50,
    random_state: RandomState = 0,
) -> dict[str, Any]:
    """Structural Hamming distances of the result, of the empty graph, and of random orders with the same pruning.

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

    Returns
    -------
    figures : dict
        ``learned``, ``empty``, ``random_mean``, ``random_best``, ``random_as_good`` (the share of random orders that
        do at least as well as the result), ``n_random`` and a ``sentence``.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(500, 3)).cumsum(axis=1)
    >>> chain = np.eye(3, k=1, dtype=bool)
    >>> figures = controls(chain, x, chain, n_random=20)
    >>> figures["learned"], figures["empty"]
    (0, 2)
    """
    if prune is None:
        matrix = regularised(covariance(values))

        def prune(order: IntArray) -> BoolArray:
            return prune_by_bic(matrix, order, len(values))

    true = np.asarray(getattr(truth, "edges", truth)) != 0
    rng = numpy_rng(random_state)
    random = np.array([shd(prune(rng.permutation(len(true))), true) for _ in range(n_random)])
    learned = shd(edges, true)
    as_good = float((random <= learned).mean())
    return {
        "learned": learned,
        "empty": int(true.sum()),
        "random_mean": float(random.mean()),
        "random_best": int(random.min()),
        "random_as_good": as_good,
        "n_random": n_random,
        "sentence": (
            f"The result differs from the reference graph in {learned} places (SHD); the empty graph in {true.sum()}, "
            f"a random order with the same pruning in {random.mean():.1f} on average and {random.min()} at best of "
            f"{n_random}; {as_good:.0%} of the random orders do at least as well."
        ),
    }
