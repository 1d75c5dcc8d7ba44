"""A first look at a table: what a pretrained policy says at once, without a score, a search or a check."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import asdict, dataclass
from pathlib import Path

from precede.arrays import FloatArray
from precede.data.kinds import refuse_categories
from precede.data.load import Table
from precede.graph import CausalGraph
from precede.knowledge import Constraints
from precede.policy.prediction import judge, seen_values
from precede.policy.pretrained import load_pretrained
from precede.pruning.weights import regression_weights
from precede.scores.covariance import moments_of, regularized
from precede.scores.policy_prior import PolicyScore
from precede.strict_json import JsonObject


@dataclass(frozen=True)
class LikelyEdge:
    """An edge of a first look; ``reverse`` is the probability that it points the other way."""

    cause: Hashable
    effect: Hashable
    weight: float
    probability: float
    reverse: float


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

    def edges(self) -> list[LikelyEdge]:
        """The edges of the graph with their probabilities, in causal order of the cause."""
        place = {name: k for k, name in enumerate(self.graph.names)}
        return [
            LikelyEdge(
                cause, effect, weight,
                float(self.edge_probability[place[cause], place[effect]]),
                float(self.edge_probability[place[effect], place[cause]]),
            )
            for cause, effect, weight in self.graph.edge_list()
        ]  # fmt: skip

    def to_dict(self) -> JsonObject:
        """Plain values for JSON: order, edges, and the probability of every ordered pair by position in ``names``."""
        return {
            "order": list(self.graph.order),
            "edges": [asdict(edge) for edge in self.edges()],
            "names": list(self.graph.names),
            "edge_probability": self.edge_probability.round(4).tolist(),
            "precedence": self.precedence.round(4).tolist(),
        }


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
    said = judge(seen_values(table), load_pretrained(pretrained))
    score = PolicyScore(said.precedence, said.edges, said.order)
    order = score.quick_order(Constraints.none(table.n_variables))
    edges = score.graph(order)
    weights = regression_weights(regularized(moments_of(table).covariance), order, edges)
    return FirstLook(CausalGraph.from_matrix(edges, weights, order, table.names), said.edges, said.precedence)
