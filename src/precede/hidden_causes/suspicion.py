"""Suspicion of hidden common causes: a probability for each pair, never an edge."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from precede.arrays import BoolArray, FloatArray
from precede.effects.sample import sample_for
from precede.errors import DataError
from precede.graph import CausalGraph
from precede.hidden_causes.residual_dependence import dependence, residuals
from precede.hidden_causes.triples import not_a_cause, shared_information
from precede.lazy import pandas as pd
from precede.strict_json import JsonObject

CALIBRATION = {
    "apart": (-5.072, 1.259, -0.084, 0.491, 0.218, 1.012, -0.145),
    "joined": (-2.998, 0.433, 0.180, 0.601, 0.158, 0.599, -0.135),
}
"""Intercept of the log odds and weights of the :func:`signs`, for pairs without and with an edge: fitted to learned
graphs of simulated data, a third of them without hidden causes, by ``benchmarks/hidden_causes.py --calibrate``."""

SUSPECT = 1 / 3
"""Pairs from this probability on are named."""


@dataclass(frozen=True, eq=False)
class HiddenCauses:
    """How probable it is that two variables share a cause that is not in the data.

    Parameters
    ----------
    probability : DataFrame
        Symmetric, zero on the diagonal.
    p_value : DataFrame
        Of the test that what the causes leave of the two variables is independent.
    joined : DataFrame
        Whether an edge joins the pair in the graph.
    """

    probability: pd.DataFrame
    p_value: pd.DataFrame
    joined: pd.DataFrame

    def suspects(self, at_least: float = SUSPECT) -> list[tuple[Hashable, Hashable, float]]:
        """``(first, second, probability)`` of each pair that is suspected, the surest first; to be drawn dashed."""
        names, shares = list(self.probability.columns), self.probability.to_numpy()
        found = [
            (names[i], names[j], float(shares[i, j])) for i, j in np.argwhere(np.triu(shares, 1) >= max(at_least, 1e-9))
        ]
        return sorted(found, key=lambda pair: -pair[2])

    @property
    def sentence(self) -> str:
        """The suspicion in plain words."""
        found = self.suspects()
        if not found:
            return (
                "No pair of variables stands out as sharing a cause that is not in the data (0 suspected), which rules "
                "none out: along an edge most hidden causes leave no trace."
            )
        shown = ", ".join(f"{first} and {second} ({share:.0%})" for first, second, share in found[:3])
        more = f" and {len(found) - 3} more" if len(found) > 3 else ""
        noun = "pair" if len(found) == 1 else "pairs"
        return (
            f"{len(found)} {noun} may share a cause that is not in the data, or lack an edge: {shown}{more}. What "
            "their causes leave unexplained is still dependent."
        )

    def to_dict(self) -> JsonObject:
        """The suspected pairs and the sentence, JSON-ready."""
        pairs = [{"first": str(a), "second": str(b), "probability": share} for a, b, share in self.suspects()]
        return {"pairs": pairs, "sentence": self.sentence}


def hidden_causes(graph: CausalGraph, data: Any = None) -> HiddenCauses:
    """Suspect a hidden common cause where the noise of two variables still depends, or others rule out an edge.

    Parameters
    ----------
    graph : CausalGraph
    data : as for ``fit``, optional
        What the graph was learned from when left out.

    Notes
    -----
    Between variables that no edge joins, a missing edge looks the same. Along an edge only noise that is not Gaussian,
    curves, or third variables can give a hidden cause away. The probabilities are right on average over simulated data
    of which a third have no hidden cause, given the graph that a method learned there; those above a third are too high
    there by a half (``benchmarks/hidden_causes.py``).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> hidden = rng.normal(size=800)
    >>> x = np.column_stack([hidden + rng.normal(size=800), hidden + rng.normal(size=800), rng.normal(size=800)])
    >>> graph = CausalGraph.from_matrix(np.zeros((3, 3)), names=["ice", "crime", "rain"])
    >>> [pair[:2] for pair in hidden_causes(graph, x).suspects()]
    [('ice', 'crime')]
    """
    rows = sample_for(graph, data).rows
    if rows is None:
        raise DataError("the test needs rows, and this graph has only moments: give the table as data=...")
    p_values = dependence(residuals(rows, graph.edges), graph.edges)
    joined = graph.edges | graph.edges.T  # transposed: a pair, whichever way
    told = np.concatenate([np.ones((1, *joined.shape)), signs(rows, graph.edges, p_values)])
    log_odds = np.where(joined, *(np.tensordot(CALIBRATION[kind], told, axes=1) for kind in ("joined", "apart")))
    probability = 1 / (1 + np.exp(-log_odds))
    np.fill_diagonal(probability, 0.0)
    names = list(graph.names)
    frames = (pd.DataFrame(part, index=names, columns=names) for part in (probability, p_values, joined))
    return HiddenCauses(*frames)


def signs(rows: FloatArray, edges: BoolArray, p_values: FloatArray) -> FloatArray:
    """What speaks for or against a hidden common cause of each pair.

    A learned graph hides the cause: it mostly joins the pair with an edge, along which the residuals are no longer
    dependent. So they are not asked alone, but beside what third variables tell and what the graph looks like there.

    Parameters
    ----------
    rows : (n_samples, n_variables) float array
    edges : (n_variables, n_variables) bool array
    p_values : (n_variables, n_variables) float array
        Of the residuals, as :func:`~precede.hidden_causes.residual_dependence.dependence` gives them.

    Returns
    -------
    signs : (6, n_variables, n_variables) float array
        Dependence of the residuals; how far it is ruled out that either causes the other; how much further that one
        does; dependence of the pair; variables that the graph joins with both; the product of the third and the fourth.
    """
    against = np.log1p(not_a_cause(rows))
    both = np.minimum(against, against.T)  # transposed: the other way
    one = np.maximum(against, against.T) - both
    depends = np.log1p(len(rows) * shared_information(rows))
    links = (edges | edges.T).astype(float)  # transposed: a pair, whichever way
    common = np.log1p(links @ links)
    return np.stack([evidence_from(p_values), both, one, depends, common, one * depends])


def evidence_from(p_values: FloatArray) -> FloatArray:
    r""":math:`\log(1 - \log_{10} p)`: zero for no evidence, growing ever more slowly."""
    return np.asarray(np.log1p(-np.log10(np.maximum(p_values, 1e-300))))
