"""Random DAGs: Erdős–Rényi and scale-free, their columns shuffled."""

from __future__ import annotations

from typing import Literal, cast, get_args

import numpy as np

from precede.arrays import BoolArray, IntArray
from precede.errors import OptionError, check_choice, check_positive

ScaleFreeKind = Literal["sf", "sf-degree", "sf-repeat"]
GRAPH_KINDS = ("er", *get_args(ScaleFreeKind))


def random_dag(kind: str, n_variables: int, degree: float, rng: np.random.Generator) -> tuple[BoolArray, IntArray]:
    """Draw a DAG whose column order is a random permutation of its causal order.

    Parameters
    ----------
    kind : "er", "sf", "sf-degree" or "sf-repeat"
        :func:`erdos_renyi`, or a variant of :func:`scale_free`.
    n_variables : int
    degree : float
        The h of the paper's ER_h and SF_h: edges per variable.
    rng : numpy Generator

    Returns
    -------
    adjacency : (n_variables, n_variables) bool array
        ``adjacency[i, j]`` means i -> j.
    order : (n_variables,) int array
        A causal order, causes first.

    Examples
    --------
    >>> adjacency, order = random_dag("er", 10, 2, np.random.default_rng(0))
    >>> int(adjacency.sum())
    20
    """
    check_choice("graph", kind, GRAPH_KINDS)
    check_positive("n_variables", n_variables, integer=True)
    check_positive("degree", degree)
    if kind == "er":  # edges lead from lower to higher numbers
        sorted_dag = erdos_renyi(int(n_variables), degree, rng)
    else:
        sorted_dag = scale_free(int(n_variables), degree, rng, cast(ScaleFreeKind, kind))
    order = rng.permutation(int(n_variables))  # order[k] is the column of the k-th variable
    adjacency = np.zeros_like(sorted_dag)
    adjacency[np.ix_(order, order)] = sorted_dag
    return adjacency, order


def erdos_renyi(n_variables: int, degree: float, rng: np.random.Generator) -> BoolArray:
    """G(n, m): exactly ``degree * n_variables`` edges, every set of that many pairs equally likely.

    Returns a strictly upper triangular adjacency.
    """
    rows, columns = np.triu_indices(n_variables, k=1)
    n_edges = round(degree * n_variables)
    if n_edges > len(rows):
        raise OptionError(
            f"degree={degree!r} asks for {n_edges} edges, but {n_variables} variables have only {len(rows)} pairs: "
            f"at most degree={(n_variables - 1) / 2:g} would work."
        )
    chosen = rng.choice(len(rows), size=n_edges, replace=False)
    adjacency = np.zeros((n_variables, n_variables), dtype=bool)
    adjacency[rows[chosen], columns[chosen]] = True
    return adjacency


def scale_free(n_variables: int, degree: float, rng: np.random.Generator, kind: ScaleFreeKind = "sf") -> BoolArray:
    r"""Barabási–Albert graph, edges from the newer node to the older: hubs are common effects.

    The k-th node draws older nodes, those with many edges more often:

    - "sf": min(k, degree) distinct ones, with probability proportional to in-degree + 1, which makes
      ``degree * n_variables - degree * (degree + 1) / 2`` edges. That is igraph's directed Barabási graph, by which the
      simulations of NOTEARS draw theirs; the paper does not name its generator.
    - "sf-degree": the same number by total degree, as in an undirected Barabási–Albert graph.
    - "sf-repeat": ``degree`` draws with replacement by in-degree + 1; an edge that is drawn again counts once, so there
      are fewer: on average 50, 88 and 184 at degree 2 with 30, 50 and 100 variables, 76, 141 and 317 at degree 5.

    Returns a strictly upper triangular adjacency (the newest node comes first in causal order).
    """
    if degree != int(degree) or degree >= n_variables:
        raise OptionError(
            f"degree={degree!r} cannot be used for a scale-free graph of {n_variables} variables: "
            f"it must be a whole number below {n_variables}."
        )
    by_age = np.zeros((n_variables, n_variables), dtype=bool)  # [newer, older]
    received, made = np.zeros(n_variables), np.zeros(n_variables)  # edges from newer nodes, edges to older ones
    for node in range(1, n_variables):
        weights = received[:node] + (made[:node] if kind == "sf-degree" else 1.0)
        share = weights / weights.sum() if node > 1 else np.ones(1)
        made[node] = int(degree) if kind == "sf-repeat" else min(node, int(degree))
        older = rng.choice(node, size=int(made[node]), replace=kind == "sf-repeat", p=share)
        by_age[node, older] = True
        np.add.at(received, older, 1.0)
    return by_age[::-1, ::-1].copy()
