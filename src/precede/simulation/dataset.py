"""Simulated data: a random DAG, random mechanisms, noise."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import numpy as np
import torch
from torch import Tensor

from precede.arrays import IntArray
from precede.data.datasets import Dataset
from precede.errors import OptionError, check_choice
from precede.graph import CausalGraph
from precede.lazy import pandas as pd
from precede.options import Count, CountOrZero, NotNegative, Positive, Range, check_options
from precede.runtime import RandomState, numpy_rng
from precede.simulation.draws import Draws, NumpyDraws
from precede.simulation.graphs import random_dag
from precede.simulation.mechanisms import MECHANISMS, SHARES, data_with_levels, linear_data, structural_data
from precede.simulation.noise import NOISE_KINDS, NOISE_SHAPES, SHAPES, UNEQUAL_RANGE
from precede.simulation.observation import choose_shown, marginal_graph, with_error
from precede.strict_json import plain

LINEAR = ("linear-gaussian", "lingam")
SEMS = (*MECHANISMS, *SHARES)
DEFAULT_WEIGHT_RANGE = (0.5, 2.0)
QUIET = 0.5
"""Noise of "gp-quiet", as a share of that of the others."""


def simulate(
    graph: str = "er",
    n_variables: Count = 30,
    degree: Positive = 2,
    sem: str = "linear-gaussian",
    n_samples: Count = 3000,
    *,
    noise: str = "equal",
    weight_range: Iterable[float] = DEFAULT_WEIGHT_RANGE,
    discretize: Annotated[int, Range(least=2)] | None = None,
    hidden: CountOrZero = 0,
    measurement_error: NotNegative = 0.0,
    standardize: bool = False,
    random_state: RandomState = None,
) -> Dataset:
    r"""Simulate data with a known causal graph, :math:`x_j = f_j(x_{\mathrm{pa}(j)}) + e_j` for most kinds.

    Parameters
    ----------
    graph : "er", "sf", "sf-degree", "sf-repeat" or "ba"
        Erdős–Rényi with exactly ``degree * n_variables`` edges; scale-free with edges from the newer node to the older,
        older nodes chosen by in-degree + 1 as igraph does, by total degree, or with replacement; or the Barabási–Albert
        graph of networkx, its edges directed by a random order (see ``precede.simulation.graphs.scale_free``).
    n_variables, n_samples : int
    degree : float
        The h of ER_h and SF_h: edges per variable.
    sem : str
        "linear-gaussian", "lingam" (linear, non-Gaussian noise), "gp" (Gaussian process over the parents jointly, as
        the paper has it), "gp-quiet" (the same with half the noise), "gp-scaled" (squared distances divided by the
        number of parents), "gp-additive", "quadratic", "mlp", "heteroscedastic",
        "post-nonlinear", "multiplicative", "steps" (see ``precede.simulation.mechanisms``); "mixed" and "discrete" have
        half of the columns, or all, as categories (see ``precede.simulation.mechanisms``).
    noise : str
        "equal" or "unequal": standard deviations all one, or uniform in [0.5, 2]; half for "gp-quiet". Or a
        shape with variance one: "laplace", "uniform", "exponential", "gumbel", "student", "bimodal", "heavy".
    weight_range : (float, float)
        Size of the weights or coefficients, either sign; Gaussian processes have none, so they refuse another one.
    discretize : int, optional
        Show every variable as one of this many levels, cut at random quantiles; its children see the levels.
    hidden : int
        Further variables that are in the graph but not shown. The true graph is then the marginal one, in which a path
        through hidden variables is an edge; two effects of a hidden cause have none between them for that. The DAG over
        all is ``full_graph``, in which hidden variables are called h1, h2, ...
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
    given = dict(locals())  # the arguments
    check_options(simulate, given)
    check_choice("sem", sem, SEMS)
    low, high = weight_range
    sizes = (low, high)
    if not (0 < low <= high and np.isfinite(high)):
        raise OptionError(f"weight_range={sizes!r} cannot be used: it must be two positive numbers, low first.")
    if sem.startswith("gp") and sizes != DEFAULT_WEIGHT_RANGE:
        raise OptionError(f"weight_range={sizes!r} has no meaning for sem={sem!r}, which has no weights.")
    if sem in SHARES and (discretize is not None or hidden or measurement_error):
        raise OptionError(f"sem={sem!r} has columns of words: discretize, hidden, measurement_error are for numbers.")
    settings = plain(
        {**given, "weight_range": sizes, "random_state": random_state if isinstance(random_state, int) else None}
    )
    rng = numpy_rng(random_state)
    draws = NumpyDraws(rng)
    adjacency, order = random_dag(graph, n_variables + hidden, degree, rng)
    errors = _errors(sem, noise, int(n_samples), len(order), draws)
    if sem in SHARES:
        truth = CausalGraph.from_matrix(adjacency, order=order, names=_names(np.arange(n_variables)))
        made = data_with_levels(errors[0].T.numpy(), adjacency, order, sem, sizes, rng)
        frame = pd.DataFrame(dict(zip(truth.names, made, strict=True)))
        if standardize:
            numbers = frame.select_dtypes("number").columns
            frame[numbers] = (frame[numbers] - frame[numbers].mean()) / frame[numbers].std(ddof=0)
        return Dataset(frame, truth, settings)
    weights = torch.from_numpy(adjacency.astype(float))[None]
    if sem in LINEAR:
        weights = weights * draws.either_sign(tuple(weights.shape), *sizes)
    if sem in LINEAR and discretize is None:
        values = linear_data(errors, weights, order.tolist())
    else:
        values = structural_data(errors, weights, order.tolist(), MECHANISMS[sem], draws, sizes, discretize)
    shown = torch.arange(len(order)) if not hidden else choose_shown(1, len(order), n_variables, draws)[0]
    values = values[:, shown]
    if measurement_error:
        values = with_error(values, measurement_error, draws)
    data, columns = values[0].T.numpy(), shown.numpy()
    strengths = weights[0].numpy() if discretize is None else adjacency.astype(float)
    if standardize:
        scale = np.ones(len(order))
        scale[columns] = data.std(axis=0)
        data = (data - data.mean(axis=0)) / scale[columns]
        if sem in LINEAR and discretize is None:
            strengths = strengths * scale[:, None] / scale[None, :]
    truth = CausalGraph.from_matrix(adjacency, strengths, order, _names(columns, len(order)))
    marginal, whole = truth, None
    if hidden:
        edges = marginal_graph(torch.from_numpy(adjacency)[None], shown[None])[0][0].numpy()
        kept = np.searchsorted(columns, order[np.isin(order, columns)])
        marginal, whole = CausalGraph.from_matrix(edges, order=kept, names=_names(np.arange(n_variables))), truth
    frame = pd.DataFrame(data, columns=list(marginal.names), copy=False)
    return Dataset(frame, marginal, settings, whole)


def _names(columns: IntArray, n_variables: int | None = None) -> list[str]:
    """Names x1, x2, ... of the columns that are shown, h1, h2, ... of all others."""
    names = {int(column): f"x{k}" for k, column in enumerate(columns, start=1)}
    others = (column for column in range(n_variables or len(columns)) if column not in names)
    names |= {column: f"h{k}" for k, column in enumerate(others, start=1)}
    return [names[column] for column in sorted(names)]


def _errors(sem: str, noise: str, n_samples: int, n_variables: int, draws: Draws) -> Tensor:
    """Noise (1, n_variables, n_samples)."""
    check_choice("noise", noise, NOISE_KINDS)
    if noise in NOISE_SHAPES and sem == "linear-gaussian":
        raise OptionError(f"noise={noise!r} is not Gaussian: use sem='lingam' with it.")
    size = QUIET if sem == "gp-quiet" else 1.0
    scales = draws.uniform((n_variables,), *UNEQUAL_RANGE) if noise == "unequal" else torch.ones(n_variables)
    shape = noise if noise in NOISE_SHAPES else "power" if sem == "lingam" else "gaussian"
    return (SHAPES[shape]((1, n_samples, n_variables), draws) * (size * scales)).mT
