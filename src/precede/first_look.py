"""A first look at a table: the order that a pretrained policy finds most likely, and the linear graph along it."""

from __future__ import annotations

from pathlib import Path

import torch

from precede.data.kinds import refuse_categories
from precede.data.load import Table
from precede.graph import CausalGraph
from precede.policy.pretrained import load_pretrained
from precede.pruning.weights import prune_by_bic, regression_on
from precede.randomness import numpy_rng, torch_generator
from precede.scores.covariance import covariance, regularised

SEED = 0
"""Of the rows that the policy sees where it cannot see all: the same table gives the same result."""


def first_look(table: Table, pretrained: str | Path = "default") -> CausalGraph:
    """Order the variables in one forward pass, without a score, a search or a check.

    The graph of ``CORL(score="linear", pruning="bic", pretrained=pretrained, n_iterations=0, polish=False,
    device="cpu", random_state=0)``, without all that the estimator imports.

    Parameters
    ----------
    table : Table
    pretrained : {"default", "paper"} or path

    Examples
    --------
    >>> from precede import load_table, simulate
    >>> first_look(load_table(simulate(n_variables=5, degree=1, n_samples=500, random_state=0).data)).n_variables
    5
    """
    refuse_categories(table.names, table.kinds, "a first look")
    policy = load_pretrained(pretrained)
    rng, device = numpy_rng(SEED), torch.device("cpu")
    torch_generator(rng, device)  # that of the sampling, which CORL draws before it draws the rows
    order = policy.actor.most_likely_order(policy.architecture.inputs(table.values, rng, device).draw(1)).numpy()
    matrix = regularised(covariance(table.values))
    edges = prune_by_bic(matrix, order, table.n_samples)
    return CausalGraph.from_matrix(edges, regression_on(matrix, edges, order), order, table.names)
