"""Data sets with a known graph, and the ones that come with the package."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from precede.graph import CausalGraph


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
