"""A folder of real data sets with partly known causes: what is known of each, and how a graph is measured by it.

The folder may have

- ``NAME.csv`` with ``tiers.json``, ``{NAME: {"tiers": {column: tier}}}``: no cause is in a later tier than its effect;
- ``NAME.csv`` with ``NAME.graph.csv``, a labeled 0/1 matrix (rows cause columns): the whole graph is known;
- ``pairs.npz`` with ``K_data`` (n, 2) and ``K_cause_column_and_weight``: pairs of which one column causes the other.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from precede.arrays import BoolArray, FloatArray
from precede.errors import DataError
from precede.graph import CausalGraph
from precede.graph.equivalence import consistent_extension
from precede.lazy import pandas as pd
from precede.metrics import evaluate

Known = Literal["tiers", "graph", "pair"]


@dataclass(frozen=True)
class RealSet:
    """A data set and what is known of it.

    Parameters
    ----------
    name : str
    kind : "tiers", "graph" or "pair"
    data : DataFrame
    tiers : (n_variables,) float array, optional
        NaN where no tier is known.
    truth : CausalGraph, optional
    weight : float
        Of a pair among the pairs.
    """

    name: str
    kind: Known
    data: pd.DataFrame
    tiers: FloatArray | None = None
    truth: CausalGraph | None = None
    weight: float = 1.0


@dataclass(frozen=True)
class Measured:
    """What a graph got right on one data set, as counts that can be added up.

    Parameters
    ----------
    right, known : float
        Edges between tiers that point forward, of all edges between tiers; or for a pair its weight, if the cause
        comes first in the order, of its weight.
    f1, shd, order_tpr : float
        NaN unless the graph is known.
    seconds : float
    spread : float
        Of a control: standard deviation of the share that is right, over its draws.
    """

    right: float
    known: float
    f1: float = float("nan")
    shd: float = float("nan")
    order_tpr: float = float("nan")
    seconds: float = 0.0
    spread: float = float("nan")

    @property
    def share(self) -> float:
        """Share that is right; NaN where nothing is known."""
        return self.right / self.known if self.known else float("nan")


def read_real_sets(folder: Path) -> list[RealSet]:
    """Read every data set of a folder, each pair in both sequences of its columns.

    Raises
    ------
    DataError
        The folder has none, or a column of ``tiers.json`` is not in its table.
    """
    found = [*_tiered(folder), *_with_graphs(folder), *_pairs(folder)]
    if not found:
        raise DataError(
            f"{folder} has no data sets with known causes: tiers.json, NAME.graph.csv or pairs.npz beside the tables."
        )
    return found


def _tiered(folder: Path) -> list[RealSet]:
    path = folder / "tiers.json"
    if not path.exists():
        return []
    sets = []
    for name, entry in json.loads(path.read_text()).items():
        data, tiers = pd.read_csv(folder / f"{name}.csv"), entry["tiers"]
        for column in tiers:
            if column not in data.columns:
                raise DataError(f"tiers.json names column {column!r}, which {name}.csv does not have.")
        ranks = np.array([tiers.get(column, np.nan) for column in data.columns], dtype=float)
        sets.append(RealSet(name, "tiers", data, tiers=ranks))
    return sets


def _with_graphs(folder: Path) -> list[RealSet]:
    sets = []
    for path in sorted(folder.glob("*.graph.csv")):
        name = path.name.removesuffix(".graph.csv")
        truth = CausalGraph.from_matrix(pd.read_csv(path, index_col=0))
        data = pd.read_csv(folder / f"{name}.csv")
        sets.append(RealSet(name, "graph", data[list(truth.names)], truth=truth))
    return sets


def _pairs(folder: Path) -> list[RealSet]:
    path = folder / "pairs.npz"
    if not path.exists():
        return []
    stored = np.load(path)
    numbers = sorted({key.split("_")[0] for key in stored.files}, key=lambda key: (len(key), key))
    sets = []
    for number in numbers:
        values, (cause, weight) = stored[f"{number}_data"], stored[f"{number}_cause_column_and_weight"]
        first, second = ("cause", "effect") if cause == 0 else ("effect", "cause")
        data = pd.DataFrame(values, columns=[first, second])
        tiers = np.array([0.0, 1.0]) if cause == 0 else np.array([1.0, 0.0])
        for suffix, columns in (("", [first, second]), (" turned", [second, first])):
            # names that say nothing, so that no method can sort by them
            shown = data[columns].set_axis(["a", "b"], axis=1)
            ranks = tiers if not suffix else tiers[::-1]
            sets.append(RealSet(f"pair {number}{suffix}", "pair", shown, tiers=ranks, weight=float(weight)))
    return sets


def measure(found: CausalGraph, known: RealSet, seconds: float = 0.0) -> Measured:
    """Compare a learned graph with what is known of its data set."""
    if known.kind == "pair" and known.tiers is not None:
        right = known.tiers[found.positions[0]] == 0
        return Measured(known.weight * right, known.weight, seconds=seconds)
    if known.kind == "tiers" and known.tiers is not None:
        forward, backward = crossing(found.edges, known.tiers)
        return Measured(forward, forward + backward, seconds=seconds)
    assert known.truth is not None
    figures = evaluate(found, known.truth)
    order_tpr = float("nan") if figures.order_tpr is None else figures.order_tpr
    return Measured(0, 0, figures.f1, figures.shd, order_tpr, seconds)


def measure_class(pattern: BoolArray, known: RealSet, seconds: float = 0.0) -> Measured:
    """Compare a CPDAG with what is known of its data set: a direction that it leaves open counts as half right.

    Parameters
    ----------
    pattern : (n_variables, n_variables) bool array
        ``[i, j]`` and ``[j, i]`` for an edge that is left open.
    known : RealSet
    seconds : float

    Examples
    --------
    >>> loose = np.array([[False, True], [True, False]])
    >>> pair = RealSet("p", "pair", pd.DataFrame(), tiers=np.array([1.0, 0.0]), weight=0.4)
    >>> measure_class(loose, pair).right
    0.2
    """
    if known.kind == "graph" or known.tiers is None:
        assert known.truth is not None
        member = consistent_extension(pattern, np.arange(len(pattern)))
        return measure(CausalGraph.from_matrix(pattern & ~pattern.T if member is None else member), known, seconds)
    forward, backward = crossing(pattern, known.tiers)
    both = crossing(pattern & pattern.T, known.tiers)[0]  # transposed: left open, so met once in each direction
    if known.kind == "tiers":
        return Measured(forward - both / 2, forward + backward - both, seconds=seconds)
    right = 0.5 * (1 + (forward > backward) - (forward < backward))
    return Measured(known.weight * right, known.weight, seconds=seconds)


def crossing(edges: BoolArray, tiers: FloatArray) -> tuple[int, int]:
    """How many edges lead from an earlier to a later tier, and how many the other way.

    Examples
    --------
    >>> crossing(np.array([[0, 1, 0], [0, 0, 0], [1, 1, 0]]) == 1, np.array([1.0, 2.0, 2.0]))
    (1, 1)
    """
    forward = tiers[:, None] < tiers[None, :]
    return int(edges[forward].sum()), int(edges[forward.T].sum())  # transposed: to an earlier tier
