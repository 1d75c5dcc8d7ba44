"""Simulated data: a random DAG, random mechanisms, noise."""

from __future__ import annotations

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.data import equations
from precede.data.as_seen import discretized, marginal_graph, with_measurement_error
from precede.data.dags import random_dag
from precede.data.datasets import Dataset
from precede.data.level_equations import SHARES, data_with_levels
from precede.data.noise import NOISE_SHAPES, gaussian_noise, noise_scales, power_noise, shaped_noise
from precede.data.uneven_equations import UNEVEN
from precede.errors import OptionError, check_choice, check_not_negative, check_positive
from precede.graph import CausalGraph
from precede.lazy import pandas as pd
from precede.runtime.randomness import RandomState, numpy_rng

NONLINEAR: dict[str, equations.Mechanism] = {
    "gp": equations.gp_joint,
    "gp-quiet": equations.gp_joint,
    "gp-scaled": equations.gp_scaled,
    "gp-additive": equations.gp_additive,
    "quadratic": equations.quadratic,
    "mlp": equations.mlp,
}
LINEAR = ("linear-gaussian", "lingam")
SEMS = (*LINEAR, *NONLINEAR, *UNEVEN, *SHARES)
DEFAULT_WEIGHT_RANGE = (0.5, 2.0)
QUIET = 0.5
"""Noise of "gp-quiet", as a share of that of the others."""


def simulate(
    graph: str = "er",
    n_variables: int = 30,
    degree: float = 2,
    sem: str = "linear-gaussian",
    n_samples: int = 3000,
    *,
    noise: str = "equal",
    weight_range: tuple[float, float] = DEFAULT_WEIGHT_RANGE,
    discretize: int | None = None,
    hidden: int = 0,
    measurement_error: float = 0.0,
    standardize: bool = False,
    random_state: RandomState = None,
) -> Dataset:
    r"""Simulate data with a known causal graph, :math:`x_j = f_j(x_{\mathrm{pa}(j)}) + e_j` for most kinds.

    Parameters
    ----------
    graph : "er", "sf", "sf-degree" or "sf-repeat"
        Erdős–Rényi with exactly ``degree * n_variables`` edges, or Barabási–Albert with edges from the newer
        node to the older, older nodes chosen by in-degree + 1 as igraph does, by total degree, or with replacement
        (see :func:`precede.data.dags.scale_free`).
    n_variables, n_samples : int
    degree : float
        The h of ER_h and SF_h: edges per variable.
    sem : str
        "linear-gaussian", "lingam" (linear, non-Gaussian noise), "gp" (Gaussian process over the parents jointly, as
        the paper has it), "gp-quiet" (the same with half the noise), "gp-scaled" (squared distances divided by the
        number of parents), "gp-additive", "quadratic" or "mlp" (see :mod:`precede.data.equations`);
        "heteroscedastic", "post-nonlinear", "multiplicative", "steps" (see ``precede.data.uneven_equations``);
        "mixed" and "discrete" have half of the columns, or all, as categories (see
        ``precede.data.level_equations``).
    noise : str
        "equal" or "unequal": standard deviations all one, or uniform in :data:`precede.data.noise.UNEQUAL_RANGE`; half
        for "gp-quiet". Or a shape with variance one: "laplace", "uniform", "exponential", "gumbel", "student".
    weight_range : (float, float)
        Size of the weights or coefficients, either sign; Gaussian processes have none, so they refuse another one.
    discretize : int, optional
        Show every variable as one of this many levels, cut at random quantiles; its children see the levels.
    hidden : int
        Further variables that are in the graph but not shown. The true graph is then the marginal one, in which a path
        through hidden variables is an edge; two effects of a hidden cause have none between them for that.
    measurement_error : float
        Gaussian error on every cell of what is shown, as a share of the column's standard deviation.
    standardize : bool
        Scale each column to mean zero and variance one; the true weights of linear data are rescaled with it.
    random_state : int, Generator or None

    Returns
    -------
    Dataset
        ``data`` has columns x1, x2, ... in random causal order; ``graph`` has the true order and, for linear data
        that is shown as it is, the true weights (one elsewhere).

    Examples
    --------
    >>> dataset = simulate("er", 5, 1, n_samples=100, random_state=0)
    >>> dataset.data.shape, dataset.graph.n_edges
    ((100, 5), 5)
    """
    check_choice("sem", sem, SEMS)
    check_positive("n_samples", n_samples, integer=True)
    _check_weight_range(weight_range, sem)
    _check_as_seen(discretize, hidden, measurement_error, sem)
    settings = {
        "graph": graph, "n_variables": int(n_variables), "degree": degree, "sem": sem, "n_samples": int(n_samples),
        "noise": noise, "weight_range": list(weight_range), "discretize": discretize, "hidden": int(hidden),
        "measurement_error": float(measurement_error), "standardize": bool(standardize),
        "random_state": random_state if isinstance(random_state, int) else None,
    }  # fmt: skip
    rng = numpy_rng(random_state)
    adjacency, order = random_dag(graph, n_variables + hidden, degree, rng)
    errors = _errors(sem, noise, int(n_samples), len(order), rng)
    names = [f"x{k}" for k in range(1, n_variables + 1)]
    weights = adjacency.astype(float)
    if sem in SHARES:
        columns = data_with_levels(errors, adjacency, order, sem, weight_range, rng)
        frame = pd.DataFrame(dict(zip(names, columns, strict=True)))
        if standardize:
            numbers = frame.select_dtypes("number").columns
            frame[numbers] = (frame[numbers] - frame[numbers].mean()) / frame[numbers].std(ddof=0)
        return Dataset(frame, CausalGraph.from_matrix(adjacency, weights, order, names), settings)
    if sem in LINEAR:
        weights = adjacency * equations.random_weights(adjacency.shape, weight_range, rng)
    data = _values(sem, errors, weights, order, weight_range, discretize, rng)
    if hidden:
        shown = np.sort(rng.permutation(len(order))[:n_variables])
        adjacency, data = marginal_graph(adjacency, shown), data[:, shown]
        order = np.searchsorted(shown, order[np.isin(order, shown)])
    if hidden or discretize is not None:
        weights = adjacency.astype(float)
    if measurement_error:
        data = with_measurement_error(data, measurement_error, rng)
    if standardize:
        scale = data.std(axis=0)
        data = (data - data.mean(axis=0)) / scale
        if sem in LINEAR and not hidden and discretize is None:
            weights = weights * scale[:, None] / scale[None, :]
    truth = CausalGraph.from_matrix(adjacency, weights, order, names)
    return Dataset(pd.DataFrame(data, columns=names, copy=False), truth, settings)


def _errors(sem: str, noise: str, n_samples: int, n_variables: int, rng: np.random.Generator) -> FloatArray:
    scales = noise_scales(noise, n_variables, rng) * (QUIET if sem == "gp-quiet" else 1.0)
    if noise in NOISE_SHAPES:
        if sem == "linear-gaussian":
            raise OptionError(f"noise={noise!r} is not Gaussian: use sem='lingam' with it.")
        return shaped_noise(noise, n_samples, scales, rng)
    return (power_noise if sem == "lingam" else gaussian_noise)(n_samples, scales, rng)


def _values(
    sem: str,
    errors: FloatArray,
    weights: FloatArray,
    order: IntArray,
    weight_range: tuple[float, float],
    n_levels: int | None,
    rng: np.random.Generator,
) -> FloatArray:
    """Values (n_samples, n_variables); with levels, or uneven noise, each variable from what its parents show."""
    adjacency: BoolArray = weights != 0
    if n_levels is None and sem in LINEAR:
        return equations.linear_data(errors, weights, order)
    if n_levels is None and sem in NONLINEAR:
        return equations.nonlinear_data(errors, adjacency, order, NONLINEAR[sem], weight_range, rng)
    data = errors.copy()
    for node in order:
        causes = np.flatnonzero(adjacency[:, node])
        parents = data[:, causes]
        if len(causes) and sem in UNEVEN:
            data[:, node] = UNEVEN[sem](parents, errors[:, node], weight_range, rng)
        elif len(causes) and sem in NONLINEAR:
            data[:, node] += NONLINEAR[sem](parents, weight_range, rng)
        elif len(causes):
            data[:, node] += parents @ weights[causes, node]
        if n_levels is not None:
            data[:, node] = discretized(data[:, node], n_levels, rng)
    return data


def _check_as_seen(discretize: int | None, hidden: int, measurement_error: float, sem: str) -> None:
    if sem in SHARES and (discretize is not None or hidden or measurement_error):
        raise OptionError(f"sem={sem!r} has columns of words: discretize, hidden, measurement_error are for numbers.")
    if discretize is not None:
        check_positive("discretize", discretize, integer=True)
        if discretize < 2:
            raise OptionError(f"discretize={discretize!r} leaves one level: it must be 2 or more.")
    check_not_negative("measurement_error", measurement_error)
    if not isinstance(hidden, int | np.integer) or hidden < 0:
        raise OptionError(f"hidden={hidden!r} cannot be used: it must be a whole number, 0 or more.")


def _check_weight_range(weight_range: tuple[float, float], sem: str) -> None:
    low, high = weight_range
    if not (0 < low <= high and np.isfinite(high)):
        raise OptionError(f"weight_range={weight_range!r} cannot be used: it must be two positive numbers, low first.")
    if sem.startswith("gp") and tuple(weight_range) != DEFAULT_WEIGHT_RANGE:
        raise OptionError(f"weight_range={weight_range!r} has no meaning for sem={sem!r}, which has no weights.")
