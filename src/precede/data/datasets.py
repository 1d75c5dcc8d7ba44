"""Data sets with a known graph, and the ones that come with the package."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Literal

from precede.errors import check_choice
from precede.graph import CausalGraph
from precede.lazy import pandas as pd
from precede.strict_json import JsonObject


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
    with_hidden : CausalGraph, optional
        The DAG over the columns and the variables that are not shown, where there are any.
    """

    data: pd.DataFrame
    graph: CausalGraph
    settings: JsonObject = field(default_factory=dict)
    with_hidden: CausalGraph | None = None

    @property
    def full_graph(self) -> CausalGraph:
        """The DAG over all variables, hidden ones included; ``graph`` where nothing is hidden."""
        return self.graph if self.with_hidden is None else self.with_hidden

    @property
    def hidden(self) -> tuple[Hashable, ...]:
        """Names of the hidden variables in ``full_graph``."""
        return tuple(name for name in self.full_graph.names if name not in self.graph.names)


SACHS_TARGETS = {
    "Akt-inhibitor": "Akt",
    "G06976": "PKC",
    "psitectorigenin": "PIP2",
    "U0126": "Mek",
    "LY294002": "Akt",
    "PMA": "PKC",
    "b2cAMP": "PKA",
}
"""What each reagent acts on, after Sachs et al. (2005); the two general stimuli act on none of the variables."""


def load_sachs(conditions: Literal["observational", "all"] = "observational") -> Dataset:
    """Protein signalling in T cells: 11 variables, the 17-edge consensus graph.

    Parameters
    ----------
    conditions : "observational" or "all"
        853 samples under general stimulation; or 7,466 under nine conditions, with the column "set" for
        ``fit(data, interventions="set")``: which variable the condition's reagent acts on, if any. The reagents change
        what a protein does rather than how much of it is measured, so a hard intervention is an approximation.

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
    check_choice("conditions", conditions, ("observational", "all"))
    folder, every = files("precede.data") / "files", conditions == "all"
    with (folder / ("sachs_all.csv.gz" if every else "sachs.csv")).open("rb") as file:
        data = pd.read_csv(file, compression="gzip" if every else None)
    if every:
        data["set"] = data.pop("condition").map(SACHS_TARGETS).fillna("")
    graph = CausalGraph.from_csv((folder / "sachs_graph.csv").read_text(encoding="utf-8"))
    return Dataset(data, graph, {"name": "sachs", "source": "Sachs et al. 2005, Science 308:523-529; cdt 0.6.0"})
