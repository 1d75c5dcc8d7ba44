"""Data sets with a known graph, and the ones that come with the package."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

import numpy as np

from precede.graph import CausalGraph
from precede.lazy import pandas as pd

SACHS_EDGES = {
    "Raf": ["Mek"],
    "Mek": ["Erk"],
    "Erk": ["Akt"],
    "Plcg": ["PIP2", "PIP3"],
    "PIP3": ["PIP2"],
    "PKA": ["Raf", "Mek", "Erk", "Akt", "P38", "Jnk"],
    "PKC": ["Raf", "Mek", "PKA", "P38", "Jnk"],
}


@dataclass(frozen=True)
class Dataset:
    """Data and the graph behind it.

    Parameters
    ----------
    data : DataFrame
        One row per sample, one named column per variable.
    graph : CausalGraph
        The true graph, over the columns of ``data``.
    settings : dict
        How the data was made, or where it is from; JSON-ready.
    """

    data: pd.DataFrame
    graph: CausalGraph
    settings: dict[str, Any] = field(default_factory=dict)


def load_sachs() -> Dataset:
    """Protein signalling in T cells: 853 observational samples, 11 variables, the 17-edge consensus graph.

    The provenance is in ``precede/data/files/sachs.md``.

    References
    ----------
    Sachs et al. (2005). Causal protein-signaling networks derived from multiparameter single-cell data.
    Science 308:523-529.

    Examples
    --------
    >>> sachs = load_sachs()
    >>> sachs.data.shape, sachs.graph.n_edges
    ((853, 11), 17)
    """
    with (files("precede.data") / "files" / "sachs.csv").open("rb") as file:
        data = pd.read_csv(file)
    names = list(data.columns)
    adjacency = np.zeros((len(names), len(names)), dtype=bool)
    for cause, effects in SACHS_EDGES.items():
        adjacency[names.index(cause), [names.index(effect) for effect in effects]] = True
    graph = CausalGraph.from_matrix(adjacency, names=names)
    return Dataset(data, graph, {"name": "sachs", "source": "Sachs et al. 2005, Science 308:523-529; cdt 0.6.0"})
