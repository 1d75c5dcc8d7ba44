"""Families that the policy is never trained on: what validates it and calibrates its probabilities.

Each is a way to make a variable from its parents that no part of :mod:`precede.pretraining.world` has: counts, coin
tosses, regulation of genes, decision trees, outliers, reaction rates, angles, ratings.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from precede.arrays import BoolArray, FloatArray
from precede.simulation.graphs import random_dag

Mechanism = Callable[[FloatArray, np.random.Generator], FloatArray]
"""From standardized parents (n_samples, n_parents), maybe none, to the variable (n_samples,)."""

FIRST_SEED = 700_000
"""Seeds of these data sets; training, tests and benchmarks use others."""


def _blend(parents: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Random weighted sum of the parents, variance about one; Gaussian for a root."""
    n, p = parents.shape
    if p == 0:
        return np.asarray(rng.normal(size=n))
    weights = rng.choice([-1.0, 1.0], p) * rng.uniform(0.5, 1.5, p)
    return np.asarray(parents @ weights / np.linalg.norm(weights))


def counts(parents: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Poisson with a log-linear mean."""
    mean = np.exp(rng.uniform(0.5, 2.0) + rng.uniform(0.5, 1.0) * _blend(parents, rng).clip(-3, 3))
    return rng.poisson(mean).astype(np.float64)


def coins(parents: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Half of the variables are tosses of a coin whose log-odds the parents give, half are linear."""
    signal = rng.uniform(1.5, 3.0) * _blend(parents, rng)
    if rng.random() < 0.5:
        return (rng.random(len(signal)) < 1 / (1 + np.exp(-signal))).astype(np.float64)
    return np.asarray(signal + rng.uniform(0.5, 1.5) * rng.normal(size=len(signal)))


def genes(parents: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Product of Hill functions, each activating or repressing, with log-normal noise."""
    n, p = parents.shape
    level = np.exp(rng.normal(size=n) * 0.5) if p == 0 else np.ones(n)
    for column in np.exp(0.7 * parents.T):
        power, half = rng.uniform(1.5, 4.0), rng.uniform(0.6, 1.6)
        bound = column**power / (half**power + column**power)
        level = level * (0.1 + (bound if rng.random() < 0.6 else 1 - bound))
    return np.asarray(level * np.exp(rng.uniform(0.1, 0.4) * rng.normal(size=n)))


def trees(parents: FloatArray, rng: np.random.Generator) -> FloatArray:
    """A random decision tree of depth three, and Gaussian noise."""
    n, p = parents.shape
    if p == 0:
        return np.asarray(rng.uniform(-1, 1, n))
    leaf = np.zeros(n, dtype=int)
    for level in range(3):
        for node in range(2**level):
            inside = leaf == node + 2**level - 1 if level else np.ones(n, dtype=bool)
            side = parents[:, (node + 2**level - 1) % p] > rng.normal() * 0.5  # every parent in its turn
            leaf = np.where(inside, 2 * leaf + 1 + side, leaf)
    values = rng.normal(size=leaf.max() + 1)[leaf]
    return np.asarray(values + rng.uniform(0.1, 0.5) * rng.normal(size=n))


def outliers(parents: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Linear, with Student's t of three degrees of freedom and a few gross errors."""
    n = len(parents)
    gross = (rng.random(n) < 0.01) * rng.normal(size=n) * 8
    return np.asarray(_blend(parents, rng) + rng.uniform(0.3, 1.0) * rng.standard_t(3, size=n) + gross)


def rates(parents: FloatArray, rng: np.random.Generator) -> FloatArray:
    """A rate that saturates in one parent and grows with the others, gamma noise."""
    n, p = parents.shape
    amounts = np.exp(0.6 * parents)
    level = np.ones(n)
    for k in range(p):
        level = level * (amounts[:, k] / (rng.uniform(0.3, 2.0) + amounts[:, k]) if k == 0 else amounts[:, k] ** 0.6)
    shape = rng.uniform(5, 40)
    return np.asarray(level * rng.gamma(shape, 1 / shape, n))


def angles(parents: FloatArray, rng: np.random.Generator) -> FloatArray:
    """A sine of the parents' sum, in noise that is uniform."""
    n, p = parents.shape
    phase = rng.uniform(0.8, 1.6) * _blend(parents, rng) + rng.uniform(0, 1)
    return np.asarray((np.sin(phase) if p else phase) + rng.uniform(0.2, 0.6) * rng.uniform(-1, 1, n))


def ratings(parents: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Linear Gaussian, shown as one of five ratings."""
    hidden = _blend(parents, rng) + rng.uniform(0.3, 1.0) * rng.normal(size=len(parents))
    cuts = np.sort(rng.normal(size=4)) * hidden.std()
    return np.searchsorted(cuts, hidden).astype(np.float64)


HELD_OUT: dict[str, Mechanism] = {
    "counts": counts,
    "coins": coins,
    "genes": genes,
    "trees": trees,
    "outliers": outliers,
    "rates": rates,
    "angles": angles,
    "ratings": ratings,
}


def held_out_data(
    family: str, seed: int, n_variables: int = 20, n_samples: int = 500, degree: float = 1.5
) -> tuple[FloatArray, BoolArray]:
    """A data set of a family and its adjacency, ``[i, j]`` meaning i -> j; constant columns are drawn again.

    Examples
    --------
    >>> values, adjacency = held_out_data("counts", 0, n_variables=5, n_samples=40)
    >>> values.shape, adjacency.shape
    ((40, 5), (5, 5))
    """
    rng = np.random.default_rng(FIRST_SEED + seed)
    adjacency, order = random_dag(
        ("er", "sf")[seed % 2], n_variables, max(1, round(degree)) if seed % 2 else degree, rng
    )
    values, shown = np.zeros((2, n_samples, n_variables))
    for node in order:
        parents = np.flatnonzero(adjacency[:, node])
        while shown[:, node].std() == 0:
            shown[:, node] = HELD_OUT[family](values[:, parents], rng)
        values[:, node] = (shown[:, node] - shown[:, node].mean()) / shown[:, node].std()
    return shown, adjacency
