"""Random DAGs, a batch at once: Erdős–Rényi, scale-free and Barabási–Albert.

Variables are numbered in causal order here (edges lead from lower to higher numbers), so an adjacency is strictly
upper triangular; :func:`random_dag` shuffles the columns.
"""

from typing import Literal, cast, get_args

import numpy as np
import torch
from torch import Tensor

from precede.arrays import BoolArray, IntArray
from precede.errors import OptionError, check_choice, check_positive
from precede.simulation.draws import Draws, NumpyDraws

ScaleFreeKind = Literal["sf", "sf-degree", "sf-repeat", "ba"]
GRAPH_KINDS = ("er", *get_args(ScaleFreeKind))


def random_dag(kind: str, n_variables: int, degree: float, rng: np.random.Generator) -> tuple[BoolArray, IntArray]:
    """Draw a DAG whose column order is a random permutation of its causal order.

    Parameters
    ----------
    kind : "er", "sf", "sf-degree", "sf-repeat" or "ba"
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
    n_variables, draws = int(n_variables), NumpyDraws(rng)
    degrees = torch.tensor([degree], dtype=torch.float64)
    if kind == "er":
        n_edges, n_pairs = round(degree * n_variables), n_variables * (n_variables - 1) // 2
        if n_edges > n_pairs:
            raise OptionError(
                f"degree={degree!r} asks for {n_edges} edges, but {n_variables} variables have only {n_pairs} pairs: "
                f"at most degree={(n_variables - 1) / 2:g} would work."
            )
        sorted_dag = erdos_renyi(degrees, n_variables, draws)
    else:
        if degree != int(degree) or degree >= n_variables:
            raise OptionError(
                f"degree={degree!r} cannot be used for a scale-free graph of {n_variables} variables: "
                f"it must be a whole number below {n_variables}."
            )
        sorted_dag = scale_free(degrees, n_variables, draws, cast(ScaleFreeKind, kind))
    order = rng.permutation(n_variables)  # order[k] is the column of the k-th variable
    adjacency = np.zeros((n_variables, n_variables), dtype=bool)
    adjacency[np.ix_(order, order)] = sorted_dag[0].numpy()
    return adjacency, order


def erdos_renyi(degrees: Tensor, n_variables: int, draws: Draws) -> Tensor:
    """G(n, m): exactly ``degree * n_variables`` edges, every set of that many pairs equally likely.

    Parameters
    ----------
    degrees : (batch,) tensor
        Edges per variable; more than there are pairs gives the full DAG.

    Returns
    -------
    adjacency : (batch, n_variables, n_variables) bool tensor

    Examples
    --------
    >>> draws = Draws(torch.Generator().manual_seed(0))
    >>> erdos_renyi(torch.tensor([1.0, 2.0]), 10, draws).sum((1, 2)).tolist()
    [10, 20]
    """
    rows, columns = torch.triu_indices(n_variables, n_variables, 1, device=degrees.device)
    adjacency = torch.zeros((len(degrees), n_variables, n_variables), dtype=torch.bool, device=degrees.device)
    adjacency[:, rows, columns] = draws.subsets(len(rows), (degrees * n_variables).round())
    return adjacency


def scale_free(
    degrees: Tensor, n_variables: int, draws: Draws, kind: ScaleFreeKind = "sf", hubs_last: Tensor | bool = True
) -> Tensor:
    r"""Graphs that grow: each node attaches to older ones, to those with many edges more often.

    The k-th node draws older nodes:

    - "sf": min(k, degree) distinct ones, with probability proportional to in-degree + 1, which makes
      ``degree * n_variables - degree * (degree + 1) / 2`` edges. That is igraph's directed Barabási graph, by which the
      simulations of NOTEARS draw theirs; the paper does not name its generator.
    - "sf-degree": the same number by total degree, as in an undirected Barabási–Albert graph.
    - "sf-repeat": ``degree`` draws with replacement by in-degree + 1; an edge that is drawn again counts once, so there
      are fewer: on average 50, 88 and 184 at degree 2 with 30, 50 and 100 variables, 76, 141 and 317 at degree 5.
    - "ba": the Barabási–Albert graph of networkx, which grows by total degree from a star of degree + 1 nodes
      (``degree * (n_variables - degree)`` edges), every edge directed by a random order: hubs are anywhere.

    Parameters
    ----------
    degrees : (batch,) tensor of whole numbers
    n_variables : int
    draws : Draws
    kind : str
    hubs_last : (batch,) bool tensor or bool
        True: edges from the newer node to the older (hubs are common effects); False: the other way (common causes).
        Not read for "ba".

    Returns
    -------
    adjacency : (batch, n_variables, n_variables) bool tensor
        Strictly upper triangular.
    """
    batch, device = len(degrees), degrees.device
    older = torch.zeros((batch, n_variables, n_variables), dtype=torch.bool, device=device)  # [older, newer]
    # edges from newer nodes, edges to older ones
    received, made = torch.zeros((2, batch, n_variables), dtype=degrees.dtype, device=device)
    for node in range(1, n_variables):
        sizes = degrees.clamp_max(node) if kind != "sf-repeat" else degrees
        weights = received[:, :node] + (made[:, :node] if kind in ("sf-degree", "ba") else 1.0)
        if node == 1:
            weights = torch.ones_like(weights)
        if kind == "ba":  # the star: the first nodes attach to the very first
            in_star = node <= degrees
            sizes = torch.where(in_star, 1.0, sizes)
            weights = torch.where(in_star[:, None] & (torch.arange(node, device=device) > 0), 0.0, weights)
        counts = draws.picks(weights, sizes, replace=kind == "sf-repeat")
        older[:, :node, node] = counts > 0
        received[:, :node] += counts
        made[:, node] = sizes
    if kind == "ba":
        position = draws.permutations(batch, n_variables)
        task = torch.arange(batch, device=device)[:, None, None]
        return (older | older.mT)[task, position[:, :, None], position[:, None, :]].triu(1)
    hubs_last = torch.as_tensor(hubs_last, device=device).expand(batch)
    # age reversed: the newest node becomes the first in causal order
    return torch.where(hubs_last[:, None, None], older.flip(1, 2).mT, older)
