"""What many fits agree on: probabilities of edges, of ancestors and of precedence, and the graphs most often found."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.errors import MISSHAPEN, DataError, refusing
from precede.files import write_text
from precede.graph import CausalGraph
from precede.graph.ancestral import reachable
from precede.graph.dags import full_dag, halves
from precede.graph.formats import text_of
from precede.lazy import pandas as pd
from precede.strict_json import document, parsed, to_json


def precedence_shares(orders: IntArray, weights: FloatArray | None = None) -> FloatArray:
    r"""Share of orders in which i comes before j: :math:`\sum_k w_k [\,i <_k j\,]`.

    Parameters
    ----------
    orders : (n_orders, n_variables) int array
        Causes first.
    weights : (n_orders,) float array, optional
        Sum to 1; alike when left out.

    Examples
    --------
    >>> precedence_shares(np.array([[0, 1], [0, 1], [1, 0], [0, 1]]))
    array([[0.  , 0.75],
           [0.25, 0.  ]])
    """
    n, d = orders.shape
    shares = np.zeros((d, d))
    for k, order in enumerate(orders):
        shares += full_dag(order) * (1.0 if weights is None else weights[k])
    return shares / n if weights is None else shares


@dataclass(frozen=True, eq=False)
class OrderSample:
    """Orders drawn from a trained policy.

    Parameters
    ----------
    names : tuple
        The variables.
    orders : (n_orders, n_variables) int array
        Columns, causes first.
    log_probabilities : (n_orders,) float array
        Of each order under the policy.
    scores : (n_orders,) float array
    """

    names: tuple[Hashable, ...]
    orders: IntArray
    log_probabilities: FloatArray
    scores: FloatArray

    def weights(self) -> FloatArray:
        r"""Importance weights :math:`w_k \propto \exp(\mathrm{score}_k) / \pi(\mathrm{order}_k)`, summing to 1.

        They turn draws from the policy into an estimate under the distribution whose log-density is the score (up to a
        constant), which for the BIC-like scores approximates the posterior of the order under a uniform prior.
        """
        logits = self.scores - self.log_probabilities
        raw = np.exp(logits - logits.max())
        weights: FloatArray = raw / raw.sum()
        return weights

    def effective_size(self) -> float:
        r"""Number of equally weighted draws that the weighted ones are worth, :math:`1 / \sum_k w_k^2`.

        Near 1, a single order outweighs all the others and the weighted probabilities are its own.
        """
        return float(1 / np.square(self.weights()).sum())

    def order_probability(self, weighted: bool = False) -> pd.DataFrame:
        """``[i, j]``: probability that i precedes j.

        Parameters
        ----------
        weighted : bool
            False counts every draw alike: what the policy believes. True weighs the draws by :meth:`weights`: look at
            :meth:`effective_size` before trusting it.
        """
        shares = precedence_shares(self.orders, self.weights() if weighted else None)
        return pd.DataFrame(shares, index=list(self.names), columns=list(self.names))


FORMAT, VERSION = "precede-confidence", 1
SHARES = ("edge_probability", "ancestor_probability", "order_probability")


@dataclass(frozen=True)
class FrequentGraph:
    """A graph and the number of resamples that gave exactly it."""

    graph: CausalGraph
    count: int


@dataclass(frozen=True, eq=False)
class Confidence:
    r"""How often resampled data give the same answer.

    Parameters
    ----------
    n_resamples : int
    edge_probability : DataFrame
        ``[i, j]``: share of resamples with the edge i -> j. Where a resample gives a class of graphs, an edge that may
        point either way counts a half each way: both directions together are the share in which the two are joined.
    ancestor_probability : DataFrame
        ``[i, j]``: share in which a directed path leads from i to j; a half for a path with open directions.
    order_probability : DataFrame
        ``[i, j]``: share in which i precedes j in the causal order. Variables that no path connects may come in any
        order, so a value near a half need not mean doubt about a cause.
    order_agreement : float
        Probability that two resamples put two variables in the same order: the mean over pairs of
        :math:`p^2 + (1 - p)^2`. 1 when all orders are the same, one half for random ones.
    graphs : tuple of FrequentGraph
        Every graph that was found, the most frequent first.
    remarks : tuple of str
        What happened on the way, a sentence each.

    Notes
    -----
    A share near 1 says that the method would return the edge again on data like these, not that the edge is there: an
    assumption that fails, fails in every resample.
    """

    n_resamples: int
    edge_probability: pd.DataFrame
    ancestor_probability: pd.DataFrame
    order_probability: pd.DataFrame
    order_agreement: float
    graphs: tuple[FrequentGraph, ...]
    remarks: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        names: Sequence[Hashable],
        edges: Sequence[BoolArray],
        orders: Sequence[IntArray],
        remarks: Sequence[str] = (),
        loose: Sequence[BoolArray | None] | None = None,
    ) -> Self:
        """Count over fits, each with an acyclic adjacency and an order that agrees with it.

        ``loose`` are the edges of each that may point either way, None where a fit takes its directions as they are.

        Examples
        --------
        >>> chain = np.array([[0, 1], [0, 0]], bool)
        >>> found = Confidence.of("ab", [chain, chain, chain.T], [[0, 1], [0, 1], [1, 0]])
        >>> found.edge_probability.round(2)
              a     b
        a  0.00  0.67
        b  0.33  0.00
        >>> found.graphs[0].count
        2
        """
        d = len(names)
        precedence = precedence_shares(np.asarray(orders, dtype=np.int64))
        share = precedence[np.triu_indices(d, 1)]
        found = [
            replace(CausalGraph.from_matrix(adjacency, names=tuple(names)), open_directions=either)
            for adjacency, either in zip(edges, loose or [None] * len(edges), strict=True)
        ]
        # the directions that are claimed: those of the class, where it is all that is known
        patterns = [graph.edges if graph.open_directions is None else graph.pattern != 0 for graph in found]
        keys = [pattern.tobytes() for pattern in patterns]  # members of a class are the same answer
        first = dict(reversed(list(zip(keys, found, strict=True))))
        graphs = [FrequentGraph(first[key], count) for key, count in Counter(keys).most_common()]
        return cls(
            n_resamples=len(edges),
            edge_probability=_labeled(np.mean([halves(pattern) for pattern in patterns], axis=0), names),
            ancestor_probability=_labeled(np.mean([_reach(pattern) for pattern in patterns], axis=0), names),
            order_probability=_labeled(precedence, names),
            order_agreement=float(np.mean(share**2 + (1 - share) ** 2)),
            graphs=tuple(graphs),
            remarks=tuple(remarks),
        )

    def edge_list(self, at_least: float = 0.0) -> list[tuple[Hashable, Hashable, float]]:
        """(cause, effect, probability) of every edge ever found, the surest first."""
        names, shares = list(self.edge_probability.columns), self.edge_probability.to_numpy()
        found = [(names[i], names[j], float(shares[i, j])) for i, j in np.argwhere(shares > 0)]
        return sorted((edge for edge in found if edge[2] >= at_least), key=lambda edge: -edge[2])

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """JSON with everything; also written to ``path``, whole or not at all."""
        names = list(self.edge_probability.columns)
        content = {
            "format": FORMAT,
            "version": VERSION,
            "names": names,
            "n_resamples": self.n_resamples,
            **{name: getattr(self, name).to_numpy() for name in SHARES},
            "order_agreement": self.order_agreement,
            "graphs": [
                {"count": one.count, "edges": np.argwhere(one.graph.edges), "open": pairs_of(one.graph.open_directions)}
                for one in self.graphs
            ],
            "remarks": self.remarks,
        }
        text = to_json(content) + "\n"
        if path is not None:
            write_text(path, text)
        return text

    @classmethod
    def from_json(cls, source: str | os.PathLike[str]) -> Self:
        """From the text or the file that :meth:`to_json` wrote."""
        what = "the confidence"
        found = document(parsed(text_of(source, "{"), what), FORMAT, VERSION, what)
        with refusing(MISSHAPEN, DataError, "the confidence's JSON is incomplete or misshapen:"):
            names, graphs = tuple(found["names"]), []
            for entry in found["graphs"]:
                loose = None if entry.get("open") is None else matrix_of(entry["open"], len(names))
                graph = CausalGraph.from_matrix(matrix_of(entry["edges"], len(names)), names=names)
                graphs.append(FrequentGraph(replace(graph, open_directions=loose), int(entry["count"])))
            edges, paths, orders = (_labeled(found[name], names) for name in SHARES)
            if not all(((frame >= 0) & (frame <= 1)).to_numpy().all() for frame in (edges, paths, orders)):
                raise ValueError("a share is a number from 0 to 1")
            agreement, remarks = float(found["order_agreement"]), tuple(map(str, found["remarks"]))
            return cls(int(found["n_resamples"]), edges, paths, orders, agreement, tuple(graphs), remarks)


def pairs_of(matrix: BoolArray | None) -> list[list[int]] | None:
    """The places of a matrix that are true, as a file keeps them."""
    return None if matrix is None else np.argwhere(matrix).tolist()


def matrix_of(pairs: Sequence[Sequence[int]], n_variables: int) -> BoolArray:
    """A matrix that is true at these places."""
    matrix = np.zeros((n_variables, n_variables), dtype=bool)
    for i, j in pairs:
        matrix[i, j] = True
    return matrix


def _reach(pattern: BoolArray) -> FloatArray:
    """One where a path of edges with a direction leads from i to j, a half where it has open ones."""
    directed = pattern & ~pattern.T  # transposed: not the other way as well
    found = (reachable(directed).astype(float) + reachable(pattern)) / 2
    return found * ~np.eye(len(found), dtype=bool)


def _labeled(matrix: Any, names: Sequence[Hashable]) -> pd.DataFrame:
    return pd.DataFrame(np.asarray(matrix, dtype=float), index=list(names), columns=list(names))
