"""Mechanisms of simulated data: how a variable depends on its parents.

A nonlinear mechanism maps the parents' samples (n_samples, n_parents) to the noise-free variable (n_samples,).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.errors import OptionError
from precede.lazy import linalg, special

Mechanism = Callable[[FloatArray, tuple[float, float], np.random.Generator], FloatArray]

HIDDEN_UNITS = 100
"""Width of the random network, as in the simulations of NOTEARS-MLP (Zheng et al. 2020)."""

MOST_GP_SAMPLES = 20_000
"""An exact draw needs two n_samples x n_samples matrices: 6.4 GB at this many."""


def random_weights(
    shape: int | tuple[int, ...], weight_range: tuple[float, float], rng: np.random.Generator
) -> FloatArray:
    """Uniform in ``±[low, high]``, either sign equally likely."""
    low, high = weight_range
    return np.asarray(rng.uniform(low, high, size=shape) * rng.choice([-1.0, 1.0], size=shape))


def linear_data(noise: FloatArray, weights: FloatArray, order: IntArray) -> FloatArray:
    r"""Solve the linear equations :math:`x = W^\top x + e` (Appendix B.2).

    Parameters
    ----------
    noise : (n_samples, n_variables) array
    weights : (n_variables, n_variables) array
        ``weights[i, j]`` is the effect of i on j.
    order : (n_variables,) int array
        Causes first; makes the system triangular.
    """
    upper = np.eye(len(order)) - weights[np.ix_(order, order)]
    data = np.empty_like(noise)
    # row by row x (I - W) = e; transposed because the solver wants the unknowns as columns
    data[:, order] = linalg.solve_triangular(upper, noise[:, order].T, trans="T", unit_diagonal=True).T
    return data


def nonlinear_data(
    noise: FloatArray,
    adjacency: BoolArray,
    order: IntArray,
    mechanism: Mechanism,
    weight_range: tuple[float, float],
    rng: np.random.Generator,
) -> FloatArray:
    """Variable by variable in causal order: mechanism of the parents plus noise."""
    data = noise.copy()
    for node in order:
        parents = np.flatnonzero(adjacency[:, node])
        if len(parents):
            data[:, node] += mechanism(data[:, parents], weight_range, rng)
    return data


def gp_joint(parents: FloatArray, weight_range: tuple[float, float], rng: np.random.Generator) -> FloatArray:
    r"""One draw of a Gaussian process over all parents jointly (Appendix B.2).

    :math:`k(x, y) = \exp(-\tfrac12 \lVert x - y \rVert^2)`, bandwidth one, on the parents' own scale.
    """
    return _gp_draw(parents, rng)


def gp_scaled(parents: FloatArray, weight_range: tuple[float, float], rng: np.random.Generator) -> FloatArray:
    r"""As :func:`gp_joint`, with squared distances divided by the number p of parents.

    :math:`k(x, y) = \exp(-\tfrac{1}{2p} \lVert x - y \rVert^2)`: a function of many parents is as smooth as one of few.
    """
    return _gp_draw(parents / np.sqrt(parents.shape[1]), rng)


def gp_additive(parents: FloatArray, weight_range: tuple[float, float], rng: np.random.Generator) -> FloatArray:
    """Sum of independent Gaussian processes, one for each parent, kernel as in :func:`gp_joint`."""
    return np.asarray(np.sum([_gp_draw(column[:, None], rng) for column in parents.T], axis=0))


def _gp_draw(inputs: FloatArray, rng: np.random.Generator) -> FloatArray:
    m = len(inputs)
    if m > MOST_GP_SAMPLES:
        raise OptionError(
            f"n_samples={m} needs {16e-9 * m * m:.0f} GB for one exact draw of a Gaussian process: "
            f"at most {MOST_GP_SAMPLES} would work, or another sem."
        )
    from scipy.spatial.distance import pdist, squareform  # slow to import, and for these draws alone

    kernel = squareform(np.exp(-0.5 * pdist(inputs, "sqeuclidean")))
    noise = rng.standard_normal(m)
    jitter = 1e-8  # above the rounding of the kernel's null eigenvalues; a deviation of 1e-4 in the draw
    while True:
        np.fill_diagonal(kernel, 1.0 + jitter)
        try:
            return np.asarray(np.linalg.cholesky(kernel) @ noise)
        except np.linalg.LinAlgError:
            jitter *= 10


def quadratic(parents: FloatArray, weight_range: tuple[float, float], rng: np.random.Generator) -> FloatArray:
    r"""Random quadratic form of the standardized parents.

    :math:`f = \sum_i a_i z_i + \sum_{i \le k} b_{ik} z_i z_k`, each coefficient zero or from ``weight_range`` with
    equal probability; a parent that would be in no term keeps its square.

    Deviations from Zhu et al. (2020), whose data this follows: the parents are standardized first, since values
    would otherwise grow doubly exponentially along a path, and no edge is dropped.
    """
    n_parents = parents.shape[1]
    z = (parents - parents.mean(axis=0)) / parents.std(axis=0)
    first, second = np.triu_indices(n_parents)
    kept_linear = np.asarray(rng.random(n_parents) < 0.5)
    kept_square = np.asarray(rng.random(len(first)) < 0.5)
    lonely: BoolArray = ~kept_linear
    lonely[first[kept_square]] = False
    lonely[second[kept_square]] = False
    kept_square |= (first == second) & lonely[first]
    a = random_weights(n_parents, weight_range, rng) * kept_linear
    b = random_weights(len(first), weight_range, rng) * kept_square
    result: FloatArray = z @ a + (z[:, first] * z[:, second]) @ b
    return result


def mlp(parents: FloatArray, weight_range: tuple[float, float], rng: np.random.Generator) -> FloatArray:
    r"""Random network :math:`f(x) = \sigma(x U)\,v` with one hidden layer of sigmoids (NOTEARS-MLP's data)."""
    into = random_weights((parents.shape[1], HIDDEN_UNITS), weight_range, rng)
    out = random_weights(HIDDEN_UNITS, weight_range, rng)
    return np.asarray(special.expit(parents @ into) @ out)
