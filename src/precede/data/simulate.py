"""Simulated data: a random DAG, random mechanisms, noise."""

from __future__ import annotations

import numpy as np

from precede.data import equations
from precede.data.dags import random_dag
from precede.data.datasets import Dataset
from precede.data.level_equations import SHARES, data_with_levels
from precede.data.noise import gaussian_noise, noise_scales, power_noise
from precede.errors import OptionError, check_choice, check_positive
from precede.graph import CausalGraph
from precede.lazy import pandas as pd
from precede.randomness import RandomState, numpy_rng

NONLINEAR: dict[str, equations.Mechanism] = {
    "gp": equations.gp_joint,
    "gp-quiet": equations.gp_joint,
    "gp-scaled": equations.gp_scaled,
    "gp-additive": equations.gp_additive,
    "quadratic": equations.quadratic,
    "mlp": equations.mlp,
}
SEMS = ("linear-gaussian", "lingam", *NONLINEAR, *SHARES)
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
    standardize: bool = False,
    random_state: RandomState = None,
) -> Dataset:
    r"""Simulate data with a known causal graph, :math:`x_j = f_j(x_{\mathrm{pa}(j)}) + e_j`.

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
        number of parents), "gp-additive", "quadratic" or "mlp" (see :mod:`precede.data.equations`); "mixed" and
        "discrete" have half of the columns, or all, as categories (see :mod:`precede.data.level_equations`).
    noise : "equal" or "unequal"
        Standard deviations all one, or uniform in :data:`precede.data.noise.UNEQUAL_RANGE`; half for "gp-quiet".
    weight_range : (float, float)
        Size of the weights or coefficients, either sign; Gaussian processes have none, so they refuse another one.
    standardize : bool
        Scale each column to mean zero and variance one; the true weights of linear data are rescaled with it.
    random_state : int, Generator or None

    Returns
    -------
    Dataset
        ``data`` has columns x1, x2, ... in random causal order; ``graph`` has the true order and, for linear data,
        the true weights (one elsewhere).

    Examples
    --------
    >>> dataset = simulate("er", 5, 1, n_samples=100, random_state=0)
    >>> dataset.data.shape, dataset.graph.n_edges
    ((100, 5), 5)
    """
    check_choice("sem", sem, SEMS)
    check_positive("n_samples", n_samples, integer=True)
    _check_weight_range(weight_range, sem)
    settings = {
        "graph": graph,
        "n_variables": int(n_variables),
        "degree": degree,
        "sem": sem,
        "n_samples": int(n_samples),
        "noise": noise,
        "weight_range": list(weight_range),
        "standardize": bool(standardize),
        "random_state": random_state if isinstance(random_state, int) else None,
    }
    rng = numpy_rng(random_state)
    adjacency, order = random_dag(graph, n_variables, degree, rng)
    scales = noise_scales(noise, n_variables, rng) * (QUIET if sem == "gp-quiet" else 1.0)
    draw = power_noise if sem == "lingam" else gaussian_noise
    errors = draw(int(n_samples), scales, rng)
    names = [f"x{k}" for k in range(1, n_variables + 1)]
    weights = adjacency.astype(float)
    if sem in SHARES:
        columns = data_with_levels(errors, adjacency, order, sem, weight_range, rng)
        frame = pd.DataFrame(dict(zip(names, columns, strict=True)))
        if standardize:
            numbers = frame.select_dtypes("number").columns
            frame[numbers] = (frame[numbers] - frame[numbers].mean()) / frame[numbers].std(ddof=0)
        return Dataset(frame, CausalGraph.from_matrix(adjacency, weights, order, names), settings)
    if sem in NONLINEAR:
        data = equations.nonlinear_data(errors, adjacency, order, NONLINEAR[sem], weight_range, rng)
    else:
        weights = adjacency * equations.random_weights(adjacency.shape, weight_range, rng)
        data = equations.linear_data(errors, weights, order)
    if standardize:
        scale = data.std(axis=0)
        data = (data - data.mean(axis=0)) / scale
        if sem not in NONLINEAR:
            weights = weights * scale[:, None] / scale[None, :]
    truth = CausalGraph.from_matrix(adjacency, weights, order, names)
    return Dataset(pd.DataFrame(data, columns=names, copy=False), truth, settings)


def _check_weight_range(weight_range: tuple[float, float], sem: str) -> None:
    low, high = weight_range
    if not (0 < low <= high and np.isfinite(high)):
        raise OptionError(f"weight_range={weight_range!r} cannot be used: it must be two positive numbers, low first.")
    if sem.startswith("gp") and tuple(weight_range) != DEFAULT_WEIGHT_RANGE:
        raise OptionError(f"weight_range={weight_range!r} has no meaning for sem={sem!r}, which has no weights.")
