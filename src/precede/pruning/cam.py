"""CAM pruning: keep a parent when its smooth effect is significant (the last step of CAM).

Bühlmann, Peters and Ernest (2014), CAM: Causal additive models, high-dimensional order search and penalized
regression, Annals of Statistics 42.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from precede.arrays import BoolArray, FloatArray
from precede.errors import DataError, OptionError, check_choice, is_number
from precede.lazy import joblib
from precede.pruning.gam import BASIS_SIZE, GamFit, basis_size, fit_terms, spline_basis

GamTest = Literal["wood", "f"]


@dataclass(frozen=True)
class GamPruning:
    """What significance testing left of a graph; all matrices have ``[i, j]`` for i -> j.

    Parameters
    ----------
    edges : (n_variables, n_variables) bool array
        The edges that stay.
    p_values : (n_variables, n_variables) float array
        Of every edge that was tested, NaN elsewhere.
    strengths : (n_variables, n_variables) float array
        Standard deviation of the cause's fitted effect over that of the variable, zero where there was no edge.
    """

    edges: BoolArray
    p_values: FloatArray
    strengths: FloatArray


def prune_by_gam(
    values: FloatArray,
    edges: BoolArray,
    *,
    required: BoolArray | None = None,
    cutoff: float = 0.001,
    test: GamTest = "wood",
    n_jobs: int = 1,
) -> GamPruning:
    r"""Keep i -> j when :math:`f_{ij} = 0` is refused in :math:`x_j = \alpha_j + \sum_i f_{ij}(x_i) + \varepsilon_j`.

    One additive model per variable, on all its parents at once. The result depends on nothing but the arguments.

    Parameters
    ----------
    values : (n_samples, n_variables) float array
    edges : (n_variables, n_variables) bool array
        ``edges[i, j]`` means i -> j; only these are tested.
    required : (n_variables, n_variables) bool array, optional
        Edges that stay whatever their p-value; they are added where ``edges`` lacks them.
    cutoff : float
        Largest p-value that keeps an edge (the default of the authors' R package).
    test : "wood" or "f"
        Penalized splines with REML and the test of Wood (2013), or unpenalized splines with the partial F test, which
        is faster and has less power.
    n_jobs : int
        Variables that are fitted at the same time, as in joblib.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cause, other = rng.normal(size=(2, 300))
    >>> data = np.column_stack([cause, other, np.cos(2 * cause) + 0.3 * rng.normal(size=300)])
    >>> candidates = np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]], dtype=bool)
    >>> prune_by_gam(data, candidates).edges.astype(int)
    array([[0, 0, 1],
           [0, 0, 0],
           [0, 0, 0]])
    """
    check_choice("test", test, ("wood", "f"))
    if not is_number(cutoff) or not 0 < cutoff <= 1:
        raise OptionError(f"cutoff={cutoff!r} cannot be used: it is a p-value, above 0 and at most 1.")
    d = values.shape[1]
    if edges.shape != (d, d):
        raise DataError(f"the data has {d} columns but the graph has shape {edges.shape}: they must fit.")
    kept_anyway = np.zeros((d, d), dtype=bool) if required is None else required
    candidates = edges | kept_anyway
    parents = [np.flatnonzero(candidates[:, j]) for j in range(d)]
    tested = [j for j in range(d) if len(parents[j])]
    sizes = {j: basis_size(len(values), len(parents[j])) for j in tested}
    bases = [spline_basis(column, BASIS_SIZE) for column in values.T]  # the smaller ones are cut from these
    fits: list[GamFit] = joblib.Parallel(n_jobs=n_jobs)(
        joblib.delayed(fit_terms)([bases[i].cut(sizes[j]) for i in parents[j]], values[:, j], test == "wood")
        for j in tested
    )
    p_values, strengths = np.full((d, d), np.nan), np.zeros((d, d))
    for j, fit in zip(tested, fits, strict=True):
        p_values[parents[j], j] = fit.p_values
        strengths[parents[j], j] = fit.strengths
    significant = np.less_equal(p_values, cutoff, where=candidates, out=np.zeros((d, d), dtype=bool))
    return GamPruning(significant | kept_anyway, p_values, strengths)
