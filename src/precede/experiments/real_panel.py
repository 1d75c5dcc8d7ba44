"""``precede reproduce real DIR``: any methods on real data sets with partly known causes, in one table.

The folder may have

- ``NAME.csv`` with ``tiers.json``, ``{NAME: {"tiers": {column: tier}}}``: no cause is in a later tier than its effect;
- ``NAME.csv`` with ``NAME.graph.csv``, a labeled 0/1 matrix (rows cause columns): the whole graph is known;
- ``pairs.npz`` with ``K_data`` (n, 2) and ``K_cause_column_and_weight``: pairs of which one column causes the other.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import numpy as np
from rich.table import Table as TerminalTable

from precede.arrays import BoolArray, FloatArray
from precede.baselines.constraint import CausalLearnMethod
from precede.corl import make_method
from precede.corl import methods as every_method
from precede.errors import DataError, OptionError, PrecedeError, check_choice
from precede.estimator import CausalEstimator
from precede.graph import CausalGraph, MixedGraph
from precede.graph.ancestral import ARROW
from precede.graph.dags import full_dag
from precede.graph.equivalence import consistent_extension
from precede.lazy import pandas as pd
from precede.metrics import evaluate
from precede.options import Options
from precede.runtime.progress import ProgressBar, logger
from precede.runtime.workers import HERE, Workers, as_finished
from precede.scores.build import SCORE_NAMES


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
    kind: Literal["tiers", "graph", "pair"]
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

    def in_words(self) -> str:
        """How many edges between tiers point forward; of a control with its spread."""
        if np.isnan(self.spread):
            return f"{self.right:.3g}/{self.known:.3g}"
        return f"{self.right:.0f}/{self.known:.0f} ± {self.spread:.2f}"


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


def _tiered(folder: Path) -> Iterator[RealSet]:
    path = folder / "tiers.json"
    for name, entry in json.loads(path.read_text()).items() if path.exists() else ():
        data, tiers = pd.read_csv(folder / f"{name}.csv"), entry["tiers"]
        for column in tiers:
            if column not in data.columns:
                raise DataError(f"tiers.json names column {column!r}, which {name}.csv does not have.")
        ranks = np.array([tiers.get(column, np.nan) for column in data.columns], dtype=float)
        yield RealSet(name, "tiers", data, tiers=ranks)


def _with_graphs(folder: Path) -> Iterator[RealSet]:
    for path in sorted(folder.glob("*.graph.csv")):
        name = path.name.removesuffix(".graph.csv")
        truth = CausalGraph.from_matrix(pd.read_csv(path, index_col=0))
        data = pd.read_csv(folder / f"{name}.csv")
        yield RealSet(name, "graph", data[list(truth.names)], truth=truth)


def _pairs(folder: Path) -> Iterator[RealSet]:
    path = folder / "pairs.npz"
    stored = np.load(path) if path.exists() else {}
    for number in sorted({key.split("_")[0] for key in stored}, key=lambda key: (len(key), key)):
        values, (cause, weight) = stored[f"{number}_data"], stored[f"{number}_cause_column_and_weight"]
        for suffix, places in (("", [0, 1]), (" turned", [1, 0])):
            shown = pd.DataFrame(values[:, places], columns=["a", "b"])  # so that no method can sort by the names
            ranks = np.array(places if cause == 0 else places[::-1], dtype=float)
            yield RealSet(f"pair {number}{suffix}", "pair", shown, tiers=ranks, weight=float(weight))


def measure(found: CausalGraph | BoolArray, known: RealSet, seconds: float = 0.0) -> Measured:
    """Compare what was learned with what is known of its data set.

    Parameters
    ----------
    found : CausalGraph, or (n_variables, n_variables) bool array
        Of the graph of a pair the order counts, with or without an edge. An array is a CPDAG, with ``[i, j]`` and
        ``[j, i]`` for an edge that is left open: its direction counts as half right.
    known : RealSet
    seconds : float

    Examples
    --------
    >>> loose = np.array([[False, True], [True, False]])
    >>> pair = RealSet("p", "pair", pd.DataFrame(), tiers=np.array([1.0, 0.0]), weight=0.4)
    >>> measure(loose, pair).right
    0.2
    """
    if known.tiers is None:
        assert known.truth is not None
        if not isinstance(found, CausalGraph):
            member = consistent_extension(found, np.arange(len(found)))
            found = CausalGraph.from_matrix(found & ~found.T if member is None else member)
        figures = evaluate(found, known.truth)
        order_tpr = float("nan") if figures.order_tpr is None else figures.order_tpr
        return Measured(0, 0, figures.f1, figures.shd, order_tpr, seconds)
    if isinstance(found, CausalGraph):
        found = full_dag(found.positions) if known.kind == "pair" else found.edges
    forward, backward = crossing(found, known.tiers)
    if known.kind == "tiers":
        both = crossing(found & found.T, known.tiers)[0]  # transposed: left open, so met once in each direction
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


DEFAULT_METHODS = ("default", "policy", "sparse-linear", "nongaussian", "direct-lingam", "random")
N_RANDOM = 20
"""Draws of the random-order control on each set."""

OPTIONS: dict[str, Options] = {
    "default": {},
    "policy": {"score": "policy", "n_iterations": 0},
    "policy-order": {"score": "sparse-linear", "pruning": "policy", "n_iterations": 0, "polish": False},
}
"""Ways to call CORL that have a name here, besides ``score=NAME``."""

FLOP_PENALTY, FLOP_RESTARTS = 2.0, 20
"""Of the package flopsearch: the penalty that its authors take."""


@dataclass(frozen=True)
class PanelRow:
    """One method on all sets.

    Parameters
    ----------
    method : str
    sets : dict
        By name of the set.
    failed : dict
        Sets that it could not do, with the message.
    """

    method: str
    sets: dict[str, Measured]
    failed: dict[str, str]

    def share(self, kind: str, known: Sequence[RealSet]) -> float:
        """Share that is right over all sets of a kind; NaN without any."""
        done = [self.sets[one.name] for one in known if one.kind == kind and one.name in self.sets]
        total = sum(one.known for one in done)
        return sum(one.right for one in done) / total if total else float("nan")

    def mean(self, figure: str) -> float:
        """Mean of f1, shd or order_tpr over the sets with a known graph."""
        values = [getattr(one, figure) for one in self.sets.values() if not np.isnan(getattr(one, figure))]
        return float(np.mean(values)) if values else float("nan")

    @property
    def seconds(self) -> float:
        """For all sets together."""
        return sum(one.seconds for one in self.sets.values())


def run_panel(
    sets: Sequence[RealSet],
    methods: Sequence[str] | None = None,
    *,
    max_time: float | None = None,
    workers: Workers = HERE,
    verbose: bool = True,
) -> Iterator[PanelRow]:
    """Fit each method to each data set, columns standardized; yields a method's row as soon as it is done.

    Parameters
    ----------
    sets : sequence of RealSet
        From :func:`read_real_sets`.
    methods : sequence of str, optional
        "default" and "policy" (CORL's default and the pretrained policy alone), names of scores, names of methods
        ("pc" and "ges" need ``precede[constraint]``), "flop" (of the package flopsearch), "random". For those that
        tell a CPDAG and nothing more, a direction that it leaves open counts as half right.
    max_time : float, optional
        Seconds for each fit of CORL.
    workers : Workers
        Who fits; with several processes rows come in any sequence.
    verbose : bool
    """
    names = list(methods or DEFAULT_METHODS)
    allowed = [*OPTIONS, *SCORE_NAMES, *every_method(), "flop"]
    for name in names:
        check_choice("method", name, allowed)
    rows = {name: PanelRow(name, {}, {}) for name in names}
    tasks = [(name, known, max_time) for name in names for known in sets]
    with ProgressBar("real data", len(tasks), verbose) as bar:
        for done, (name, of_set, figures) in enumerate(as_finished(_cell, tasks, workers), start=1):
            row = rows[name]
            if isinstance(figures, Measured):
                row.sets[of_set] = figures
            else:
                row.failed[of_set] = figures
                logger.warning("%s on %s: %s", name, of_set, figures)
            bar.update(done)
            if len(row.sets) + len(row.failed) == len(sets):
                yield row


def _cell(method: str, known: RealSet, max_time: float | None) -> tuple[str, str, Measured | str]:
    """Method, name of the set, and the figures or why there are none."""
    data = (known.data - known.data.mean()) / known.data.std(ddof=0)
    try:
        if method == "random":
            return method, known.name, _random_control(data, known)
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of near-collinear columns and the like: real data has them
            found = _flop(data) if method == "flop" else _learned(_estimator(method, max_time).fit(data))
        return method, known.name, measure(found, known, time.perf_counter() - start)
    except PrecedeError as error:
        return method, known.name, str(error)


def _estimator(method: str, max_time: float | None) -> CausalEstimator:
    known = every_method()
    common: Options = {"verbose": False}
    if method in known:
        common |= {"random_state": 0}
        accepted = known[method].option_names()
        return make_method(method, {key: value for key, value in common.items() if key in accepted})
    options = OPTIONS.get(method, {"score": method})
    return known["corl"]().set_params(**options, random_state=0, max_time=max_time, diagnose=False, **common)


def _learned(model: CausalEstimator) -> CausalGraph | BoolArray:
    """The graph, or of a constraint-based method what its marks allow, ``[i, j]`` for i -> j."""
    if not isinstance(model, CausalLearnMethod):
        return model.graph_
    ends = MixedGraph.from_edges(map(tuple, model.diagnostics_["marks"]), model.graph_.names).ends
    return np.asarray((ends != 0) & (ends.T != ARROW))  # transposed: no arrowhead at i


def _flop(data: pd.DataFrame) -> BoolArray:
    """CPDAG of FLOP."""
    if find_spec("flopsearch") is None:
        raise OptionError(
            "the method 'flop' is the package flopsearch, which is not installed: pip install flopsearch."
        )
    values = data.to_numpy(dtype=np.float64, copy=True)
    return np.asarray(import_module("flopsearch").flop(values, FLOP_PENALTY, restarts=FLOP_RESTARTS)) > 0


def _random_control(data: pd.DataFrame, known: RealSet) -> Measured:
    """Mean over random orders, each with its linear graph."""
    random_order = every_method()["random"]
    drawn = [measure(random_order().set_params(random_state=k).fit(data).graph_, known) for k in range(N_RANDOM)]
    figures = {
        name: float(np.mean([getattr(one, name) for one in drawn]))
        for name in ("right", "known", "f1", "shd", "order_tpr")
    }
    shares = [one.share if known.kind != "graph" else one.f1 for one in drawn]
    told = [share for share in shares if not np.isnan(share)]  # a draw may have no edge between tiers
    return Measured(**figures, spread=float(np.std(told)) if told else 0.0)


def below_control(row: PanelRow, control: PanelRow, sets: Sequence[RealSet]) -> list[str]:
    """Tables on which a method is below the control by more than the control's spread.

    A pair is right or wrong: of those, only the share of all can be compared.
    """
    found = []
    for one in sets:
        if one.kind != "pair" and one.name in row.sets and one.name in control.sets:
            mine, chance = row.sets[one.name], control.sets[one.name]
            gap = mine.f1 - chance.f1 if one.kind == "graph" else mine.share - chance.share
            found += [one.name] if gap < -chance.spread else []
    return found


def panel_table(rows: Sequence[PanelRow], sets: Sequence[RealSet]) -> TerminalTable:
    """Methods down, what is known across: shares right by set with tiers, over all of them, of pairs; graph figures.

    There are columns for what the sets have, and none for the rest.

    Where the random control is among the methods, its spread is shown, and "below" marks the sets on which another
    method is below it by more than that.
    """
    table = TerminalTable(title="Real data", title_justify="left")
    table.add_column("method", overflow="fold")
    tiered = [one.name for one in sets if one.kind == "tiers"]
    kinds = {one.kind for one in sets}
    shares = {heading: kind for heading, kind in (("tiers", "tiers"), ("pairs", "pair")) if kind in kinds}
    means = {"F1": "f1", "SHD": "shd", "order TPR": "order_tpr"} if "graph" in kinds else {}
    for heading in (*tiered, *shares, *means, "s"):
        table.add_column(heading, justify="right", overflow="fold")  # a file has 80 columns: no figure may be lost
    control = next((row for row in rows if row.method == "random"), None)
    for row in rows:
        below = [] if control is None else below_control(row, control, sets)
        cells = [row.sets[name].in_words() + " below" * (name in below) if name in row.sets else "–" for name in tiered]
        totals = [*(row.share(kind, sets) for kind in shares.values()), *map(row.mean, means.values())]
        cells += ["–" if np.isnan(value) else f"{value:.2f}" for value in totals]
        table.add_row(row.method, *cells, f"{row.seconds:.0f}")
    return table
