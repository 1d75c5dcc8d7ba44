"""Random DAGs: Erdős–Rényi and scale-free, their columns shuffled."""

from __future__ import annotations

import numpy as np

from precede.arrays import BoolArray, IntArray
from precede.errors import OptionError, check_choice, check_positive

GRAPH_KINDS = ("er", "sf")


def random_dag(kind: str, n_variables: int, degree: float, rng: np.random.Generator) -> tuple[BoolArray, IntArray]:
    """Draw a DAG whose column order is a random permutation of its causal order.

    Parameters
    ----------
    kind : "er" or "sf"
        :func:`erdos_renyi` or :func:`scale_free`.
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
    draw = erdos_renyi if kind == "er" else scale_free
    sorted_dag = draw(int(n_variables), degree, rng)  # edges lead from lower to higher numbers
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


def scale_free(n_variables: int, degree: float, rng: np.random.Generator) -> BoolArray:
    """Barabási–Albert graph, edges from the newer node to the older: hubs are common effects.

    The k-th node attaches to min(k, degree) distinct older nodes with probability proportional to their degree, which
    makes ``degree * n_variables - degree * (degree + 1) / 2`` edges. The direction is that of igraph's directed
    Barabási graph, which the simulations of NOTEARS use; the paper does not say. Returns a strictly upper triangular
    adjacency (the newest node comes first in causal order).
    """
    if degree != int(degree) or degree >= n_variables:
        raise OptionError(
            f"degree={degree!r} will not do for a scale-free graph of {n_variables} variables: "
            f"it must be a whole number below {n_variables}."
        )
    by_age = np.zeros((n_variables, n_variables), dtype=bool)  # [newer, older]
    degrees = np.zeros(n_variables)
    for node in range(1, n_variables):
        count = min(node, int(degree))
        share = degrees[:node] / degrees[:node].sum() if node > 1 else np.ones(1)
        older = rng.choice(node, size=count, replace=False, p=share)
        by_age[node, older] = True
        degrees[older] += 1
        degrees[node] = count
    return by_age[::-1, ::-1].copy()
