"""Suspicion of hidden common causes: a probability for each pair, never an edge."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from precede.effects.sample import sample_for
from precede.errors import DataError
from precede.graph import CausalGraph
from precede.hidden_causes.calibration import probabilities
from precede.hidden_causes.residual_dependence import dependence, residuals
from precede.hidden_causes.signs import signs
from precede.lazy import pandas as pd
from precede.strict_json import JsonObject

SUSPECT = 0.3
"""Pairs from this probability on are named."""


@dataclass(frozen=True, eq=False)
class HiddenCauses:
    """How probable it is that two variables share a cause that is not in the data.

    Parameters
    ----------
    probability : DataFrame
        Symmetric, zero on the diagonal, and for two columns of the past (lags), whose causes are not learned.
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
        return f"{len(found)} {noun} may share a cause that is not in the data, or lack an edge: {shown}{more}."

    def to_dict(self) -> JsonObject:
        """The suspected pairs and the sentence, JSON-ready."""
        pairs = [{"first": str(a), "second": str(b), "probability": share} for a, b, share in self.suspects()]
        return {"pairs": pairs, "sentence": self.sentence}


def hidden_causes(graph: CausalGraph, data: Any = None, *, learned: bool = True) -> HiddenCauses:
    """Suspect a hidden common cause where the noise of two variables still depends, or others rule out an edge.

    Parameters
    ----------
    graph : CausalGraph
    data : as for ``fit``, optional
        What the graph was learned from when left out.
    learned : bool
        Whether the graph comes from data, and may itself be wrong where residuals depend; False for one that is known.

    Notes
    -----
    Between variables that no edge joins, a missing edge looks the same. Along an edge only noise that is not Gaussian,
    curves, or third variables can give a hidden cause away. The probabilities are calibrated on simulated data with 13
    to 15 variables, half of which have no hidden cause, given graphs that methods learned there, or the true ones: of
    pairs with a probability p about a share of p has one, on simulations that were not used for it
    (``benchmarks/hidden_causes.py``). Given a learned graph even the strongest sign leaves much open: see
    ``precede.hidden_causes.calibration.HIGHEST``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> hidden = rng.normal(size=800)
    >>> x = np.column_stack([hidden + rng.normal(size=800), hidden + rng.normal(size=800), rng.normal(size=800)])
    >>> graph = CausalGraph.from_matrix(np.zeros((3, 3)), names=["ice", "crime", "rain"])
    >>> [pair[:2] for pair in hidden_causes(graph, x, learned=False).suspects()]
    [('ice', 'crime')]
    """
    rows = sample_for(graph, data).rows
    if rows is None:
        raise DataError("the test needs rows, and this graph has only moments: give the table as data=...")
    left = residuals(rows, graph.edges)
    p_values = dependence(left, graph.edges)
    joined = graph.edges | graph.edges.T  # transposed: a pair, whichever way
    probability = probabilities(signs(rows, graph.edges, left, p_values), joined, learned=learned)
    probability = np.triu(probability, 1)
    if graph.past is not None:
        probability[np.ix_(graph.past, graph.past)] = 0.0
    probability += probability.T  # transposed: the same both ways, to the last bit
    names = list(graph.names)
    frames = (pd.DataFrame(part, index=names, columns=names) for part in (probability, p_values, joined))
    return HiddenCauses(*frames)
