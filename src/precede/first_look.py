"""A first look at a table: what a pretrained policy says at once, without a score, a search or a check."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from precede.arrays import FloatArray
from precede.data.kinds import refuse_categories
from precede.data.load import Table
from precede.graph import CausalGraph
from precede.knowledge import Constraints
from precede.policy.judgement import judge
from precede.policy.pretrained import load_pretrained
from precede.pruning.weights import regression_on
from precede.scores.covariance import covariance, regularised
from precede.scores.policy_prior import PolicyScore


@dataclass(frozen=True)
class FirstLook:
    """A graph with the probabilities behind it.

    Parameters
    ----------
    graph : CausalGraph
        The likely edges, weighted by linear regression on the parents.
    edge_probability, precedence : (n_variables, n_variables) arrays
        ``[i, j]``: of i -> j, and that i comes before j.
    """

    graph: CausalGraph
    edge_probability: FloatArray
    precedence: FloatArray


def first_look(table: Table, pretrained: str | Path = "default") -> FirstLook:
    """Order and graph of ``CORL(score="policy", pretrained=pretrained, n_iterations=0)``, in a second.

    Parameters
    ----------
    table : Table
    pretrained : "default" or path

    Examples
    --------
    >>> from precede import load_table, simulate
    >>> data = simulate(n_variables=5, degree=1, n_samples=500, random_state=0)
    >>> first_look(load_table(data.data)).graph.n_variables
    5
    """
    refuse_categories(table.names, table.kinds, "a first look")
    said = judge(table.values, load_pretrained(pretrained))
    score = PolicyScore(said.precedence, said.edges, said.order)
    order = score.quick_order(Constraints.none(table.n_variables))
    edges = score.graph(order)
    weights = regression_on(regularised(covariance(table.values)), edges, order)
    return FirstLook(CausalGraph.from_matrix(edges, weights, order, table.names), said.edges, said.precedence)
