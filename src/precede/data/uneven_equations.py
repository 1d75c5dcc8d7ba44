"""Mechanisms in which noise is not simply added: a variable from its parents and its noise together.

Parents are standardized first, so that values keep their size along a path.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from precede.arrays import FloatArray
from precede.data.equations import random_weights

NoisyMechanism = Callable[[FloatArray, FloatArray, tuple[float, float], np.random.Generator], FloatArray]
"""From parents (n_samples, n_parents), noise (n_samples,), the range of weights and a generator to the variable."""


def heteroscedastic(
    parents: FloatArray, noise: FloatArray, weight_range: tuple[float, float], rng: np.random.Generator
) -> FloatArray:
    r"""Noise whose scale depends on the parents, :math:`x = w^\top z + \exp(\tanh(v^\top z))\, e`."""
    z, p = _standardized(parents), parents.shape[1]
    signal = z @ random_weights(p, weight_range, rng)
    return np.asarray(signal + np.exp(np.tanh(z @ random_weights(p, weight_range, rng))) * noise)


def post_nonlinear(
    parents: FloatArray, noise: FloatArray, weight_range: tuple[float, float], rng: np.random.Generator
) -> FloatArray:
    r"""A monotone distortion after the noise, :math:`x = g(w^\top z + e)`: a power, logistic or exponential curve."""
    inner = _standardized(parents) @ random_weights(parents.shape[1], weight_range, rng) + noise
    inner = (inner - inner.mean()) / inner.std()
    strength = rng.uniform(0.5, 1.0)
    kind = rng.integers(3)
    if kind == 0:
        return np.asarray(np.sign(inner) * np.abs(inner) ** (1 + 2 * strength))
    return np.asarray(1 / (1 + np.exp(-3 * strength * inner)) if kind == 1 else np.exp(strength * inner))


def multiplicative(
    parents: FloatArray, noise: FloatArray, weight_range: tuple[float, float], rng: np.random.Generator
) -> FloatArray:
    r"""Noise as a factor, :math:`x = \log(1 + \exp(w^\top z))\, \exp(e / 2)`: positive, larger values vary more."""
    signal = _standardized(parents) @ random_weights(parents.shape[1], weight_range, rng)
    return np.asarray(np.logaddexp(0, signal) * np.exp(noise / 2))


def steps(
    parents: FloatArray, noise: FloatArray, weight_range: tuple[float, float], rng: np.random.Generator
) -> FloatArray:
    """Each parent has an effect of three levels, cut at two random quantiles; noise is added."""
    p = parents.shape[1]
    cuts = np.sort(rng.uniform(0.15, 0.85, size=(p, 2)), axis=1)
    levels = [np.searchsorted(np.quantile(parents[:, k], cuts[k]), parents[:, k]) for k in range(p)]
    heights = random_weights((p, 3), weight_range, rng)
    return np.asarray(np.sum([heights[k, levels[k]] for k in range(p)], axis=0) + noise)


UNEVEN: dict[str, NoisyMechanism] = {
    "heteroscedastic": heteroscedastic,
    "post-nonlinear": post_nonlinear,
    "multiplicative": multiplicative,
    "steps": steps,
}


def _standardized(parents: FloatArray) -> FloatArray:
    return np.asarray((parents - parents.mean(axis=0)) / np.maximum(parents.std(axis=0), 1e-12))
