"""``precede reproduce panel DIR``: any methods on tables of which something is known, in one page.

The folder may have, at any depth,

- ``NAME/data.csv`` (or any other file that Precede reads) with ``NAME/truth.csv``, a labeled 0/1 matrix (rows cause
  columns), as ``precede simulate`` writes them: the whole graph is known;
- ``NAME/data.csv`` with ``NAME/tiers.json``, ``{column: tier}``: no cause is in a later tier than its effect;
- beside either ``NAME/options.json``, how the table is read: ``{"lags": 1, "interventions": "what_was_set"}`` and
  further options of :func:`precede.load_table`;
- ``NAME.csv`` with ``NAME.graph.csv``, or with an entry of ``tiers.json``, ``{NAME: {"tiers": {column: tier}}}``;
- ``pairs.npz`` with ``K_data`` (n, 2) and ``K_cause_column_and_weight``: pairs of which one column causes the other.

Tables of one kind lie in a folder of their own, ``KIND/NAME``: means over kinds count each kind once.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import numpy as np

from precede.arrays import BoolArray, FloatArray
from precede.baselines.constraint import CausalLearnMethod
from precede.corl import make_method
from precede.corl import methods as every_method
from precede.data.load import Table, load_table
from precede.data.numbers import NA_MARKERS
from precede.data.read import read_file
from precede.errors import DataError, GraphError, OptionError, PrecedeError, check_choice
from precede.estimator import CausalEstimator
from precede.experiments.ledger import provenance, sentence
from precede.files import append_line, write_text
from precede.graph import CausalGraph, MixedGraph
from precede.graph.ancestral import ARROW
from precede.graph.dags import consistent_extension, full_dag
from precede.lazy import pandas as pd
from precede.metrics import evaluate
from precede.options import Options
from precede.report.render import template
from precede.runtime import HERE, ProgressBar, Workers, as_finished, logger
from precede.scores.build import SCORE_NAMES
from precede.strict_json import JsonObject, to_json


@dataclass(frozen=True)
class KnownSet:
    """A data set and what is known of it.

    Parameters
    ----------
    name : str
    kind : "tiers", "graph" or "pair"
    data : DataFrame
    tiers : (n_variables,) float array, optional
        NaN where no tier is known.
    truth : DataFrame, optional
        Labeled 0/1 matrix, rows cause columns; of a series it may have cycles.
    weight : float
        Of a pair among the pairs.
    options : mapping
        Of :func:`precede.load_table`: how the table is read.
    group : str
        Folder of the tables of one kind.
    """

    name: str
    kind: Literal["tiers", "graph", "pair"]
    data: pd.DataFrame
    tiers: FloatArray | None = None
    truth: pd.DataFrame | None = None
    weight: float = 1.0
    options: Options = field(default_factory=dict)
    group: str = ""

    def table(self, model: CausalEstimator | None = None) -> Table:
        """What a method is given, numbers standardized; without lags and interventions where it does not hear them."""
        heard = {key: value for key, value in self.options.items() if getattr(model, DEAF.get(key, "__class__"), False)}
        asides = [value for key, value in self.options.items() if key in DEAF and isinstance(value, str)]
        data = self.data.drop(columns=[name for name in asides if name in self.data and name not in heard.values()])
        numbers = data.select_dtypes("number").drop(columns=asides, errors="ignore")
        return load_table(data.assign(**(numbers - numbers.mean()) / numbers.std(ddof=0)), **heard)


@dataclass(frozen=True)
class Measured:
    """What a graph got right on one data set, as counts that can be added up.

    Parameters
    ----------
    right, known : float
        Edges between tiers that point forward, of all edges between tiers; or for a pair its weight, if the cause
        comes first in the order, of its weight.
    f1, shd, order_tpr : float
        NaN unless the graph is known; the last two also where the truth or what was found has cycles.
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
        """Share that is right, or F1 where the graph is known; NaN where nothing is."""
        return self.right / self.known if self.known else self.f1

    def in_words(self) -> str:
        """How many edges between tiers point forward, or F1; of a control with its spread."""
        counts = f"{self.right:.3g}/{self.known:.3g}" if np.isnan(self.spread) else f"{self.right:.0f}/{self.known:.0f}"
        shown = f"{self.f1:.2f}" if np.isfinite(self.f1) else counts
        return shown if np.isnan(self.spread) else f"{shown} ± {self.spread:.2f}"


def read_panel(folder: Path) -> list[KnownSet]:
    """Read every data set of a folder, each pair in both sequences of its columns.

    Raises
    ------
    DataError
        The folder has none, or a file beside a table does not fit it.
    """
    found = [*_tables(folder), *_pairs(folder)]
    if not found:
        raise DataError(
            f"{folder} has no data sets of which something is known: put truth.csv or tiers.json beside each data.csv."
        )
    return found


def _tables(folder: Path) -> Iterator[KnownSet]:
    """Those that lie in the folder itself, then those with a folder of their own."""
    for name, entry in _json(folder / "tiers.json").items():
        yield _known(name, folder / f"{name}.csv", entry["tiers"])
    for path in sorted(folder.glob("*.graph.csv")):
        name = path.name.removesuffix(".graph.csv")
        yield _known(name, folder / f"{name}.csv", path)
    for path in sorted(folder.rglob("data.*")):
        name, graph = path.parent.relative_to(folder).as_posix(), path.with_name("truth.csv")
        if known := graph if graph.exists() else _json(path.with_name("tiers.json")):
            found = _known(name, path, known)
            yield replace(found, group=name.rpartition("/")[0], options=_json(path.with_name("options.json")))


def _json(path: Path) -> JsonObject:
    """What a file holds; nothing where it is missing."""
    return json.loads(path.read_text()) if path.exists() else {}


def _known(name: str, path: Path, known: Path | dict[str, float]) -> KnownSet:
    """The table of a file, with the file of its graph or with its tiers."""
    data = read_file(path, NA_MARKERS).frame
    if isinstance(known, Path):
        truth = pd.read_csv(known, index_col=0)
        if set(truth.index) != set(truth.columns) or not set(truth.columns) <= set(data.columns):
            raise DataError(
                f"the graph of {name!r} needs a row and a column for each of its variables, named as in its table."
            )
        return KnownSet(name, "graph", data, truth=truth.loc[truth.columns].astype(float))
    for column in known:
        if column not in data.columns:
            raise DataError(f"the tiers of {name!r} name column {column!r}, which its table does not have.")
    return KnownSet(name, "tiers", data, tiers=np.array([known.get(str(column), np.nan) for column in data]))


def _pairs(folder: Path) -> Iterator[KnownSet]:
    path = folder / "pairs.npz"
    stored = np.load(path) if path.exists() else {}
    for number in sorted({key.split("_")[0] for key in stored}, key=lambda key: (len(key), key)):
        values, (cause, weight) = stored[f"{number}_data"], stored[f"{number}_cause_column_and_weight"]
        for suffix, places in (("", [0, 1]), (" turned", [1, 0])):
            shown = pd.DataFrame(values[:, places], columns=["a", "b"])  # so that no method can sort by the names
            ranks = np.array(places if cause == 0 else places[::-1], dtype=float)
            yield KnownSet(f"pair {number}{suffix}", "pair", shown, tiers=ranks, weight=float(weight))


def measure(found: CausalGraph | pd.DataFrame, known: KnownSet, seconds: float = 0.0) -> Measured:
    """Compare what was learned with what is known of its data set.

    Parameters
    ----------
    found : CausalGraph or labeled DataFrame
        Of the graph of a pair the order counts, with or without an edge. A DataFrame has 1 for an edge, and one half
        in each direction for one that is left open.
    known : KnownSet
    seconds : float

    Examples
    --------
    >>> loose = pd.DataFrame([[0, 0.5], [0.5, 0]], ["a", "b"], ["a", "b"])
    >>> pair = KnownSet("p", "pair", pd.DataFrame(columns=["a", "b"]), tiers=np.array([1.0, 0.0]), weight=0.4)
    >>> measure(loose, pair).right
    0.2
    """
    claims = found.adjacency if isinstance(found, CausalGraph) else found
    if known.kind == "pair" and isinstance(found, CausalGraph):
        claims = _claims(full_dag(found.positions), found.names)
    names = list((known.data if known.truth is None else known.truth).columns)
    told = claims.reindex(index=names, columns=names, fill_value=0).to_numpy(dtype=float)
    if known.truth is not None:
        truth = known.truth.to_numpy() * ~np.eye(len(names), dtype=bool)
        total = (told * ~np.eye(len(names), dtype=bool)).sum() + truth.sum()
        f1 = float(2 * (told * truth).sum() / total) if total else 1.0
        return Measured(0, 0, f1, *_without_cycles(found, told > 0, known.truth), seconds)
    assert known.tiers is not None
    forward, backward = crossing(told, known.tiers)
    if known.kind == "tiers":
        return Measured(forward, forward + backward, seconds=seconds)
    right = 0.5 * (1 + (forward > backward) - (forward < backward))
    return Measured(known.weight * right, known.weight, seconds=seconds)


def _without_cycles(found: CausalGraph | pd.DataFrame, pattern: BoolArray, truth: pd.DataFrame) -> tuple[float, float]:
    """SHD and order TPR, of a class those of one member; NaN where there is a cycle."""
    try:
        if not isinstance(found, CausalGraph):
            member = consistent_extension(pattern, np.arange(len(pattern)))
            edges = pattern & ~pattern.T if member is None else member
            found = CausalGraph.from_matrix(edges, names=list(truth.columns))
        figures = evaluate(found, CausalGraph.from_matrix(truth))
    except GraphError:
        return float("nan"), float("nan")
    return figures.shd, float("nan") if figures.order_tpr is None else figures.order_tpr


def crossing(claims: FloatArray, tiers: FloatArray) -> tuple[float, float]:
    """How many edges lead from an earlier to a later tier, and how many the other way.

    Examples
    --------
    >>> crossing(np.array([[0.0, 1, 0], [0, 0, 0], [1, 0.5, 0]]), np.array([1.0, 2.0, 2.0]))
    (1.0, 1.0)
    """
    forward = tiers[:, None] < tiers[None, :]
    return float(claims[forward].sum()), float(claims[forward.T].sum())  # transposed: to an earlier tier


DEFAULT_METHODS = ("default", "policy", "random", "flop", "pc")
N_RANDOM = 20
"""Draws of the random-order control on each set."""

PEERS = {"flop": "flopsearch", "pc": "causallearn"}
"""Packages of others that a method needs; without it the method is left out, unless it is asked for."""

DEAF = {"lags": "_takes_lags", "group": "_takes_lags", "interventions": "_takes_interventions"}
"""Options of a table that only some methods hear."""

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

    def share(self, kind: str, known: Sequence[KnownSet]) -> float:
        """Share that is right over all sets of a kind; NaN without any."""
        done = [self.sets[one.name] for one in known if one.kind == kind and one.name in self.sets]
        total = sum(one.known for one in done)
        return sum(one.right for one in done) / total if total else float("nan")

    def mean(self, figure: str, known: Sequence[KnownSet]) -> float:
        """Mean of f1, shd or order_tpr over the kinds of tables with a known graph, of a kind over its tables."""
        kinds: dict[str, list[float]] = {}
        for one in known:
            if one.name in self.sets and not np.isnan(value := getattr(self.sets[one.name], figure)):
                kinds.setdefault(one.group, []).append(value)
        return float(np.mean([np.mean(values) for values in kinds.values()])) if kinds else float("nan")

    @property
    def seconds(self) -> float:
        """For all sets together."""
        return sum(one.seconds for one in self.sets.values())


def run_panel(
    sets: Sequence[KnownSet],
    methods: Sequence[str] | None = None,
    *,
    max_time: float | None = None,
    workers: Workers = HERE,
    verbose: bool = True,
) -> Iterator[PanelRow]:
    """Fit each method to each data set, columns standardized; yields a method's row as soon as it is done.

    Parameters
    ----------
    sets : sequence of KnownSet
        From :func:`read_panel`.
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
    names = list(methods or (name for name in DEFAULT_METHODS if find_spec(PEERS.get(name, "precede"))))
    allowed = [*OPTIONS, *SCORE_NAMES, *every_method(), "flop"]
    for name in names:
        check_choice("method", name, allowed)
    rows = {name: PanelRow(name, {}, {}) for name in names}
    tasks = [(name, known, max_time) for name in names for known in sets]
    with ProgressBar("panel", len(tasks), verbose) as bar:
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


def _cell(method: str, known: KnownSet, max_time: float | None) -> tuple[str, str, Measured | str]:
    """Method, name of the set, and the figures or why there are none."""
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of near-collinear columns and the like: real data has them
            if method == "random":
                return method, known.name, _random_control(known)
            found = _flop(known.table()) if method == "flop" else _learned(_estimator(method, max_time), known)
        return method, known.name, measure(found, known, time.perf_counter() - start)
    except PrecedeError as error:
        return method, known.name, str(error)


def _estimator(method: str, max_time: float | None) -> CausalEstimator:
    name, options = method, Options(verbose=False, random_state=0)
    if method not in every_method():
        name = "corl"
        options |= {"max_time": max_time, "diagnose": False, **OPTIONS.get(method, {"score": method})}
    accepted = every_method()[name].option_names()
    return make_method(name, {key: value for key, value in options.items() if key in accepted})


def _learned(model: CausalEstimator, known: KnownSet) -> CausalGraph | pd.DataFrame:
    """The graph; of a series its summary, of a constraint-based method what its marks allow."""
    model.fit(known.table(model))
    if model.graph_.lags is not None:
        return model.summary_graph_
    if not isinstance(model, CausalLearnMethod):
        return model.graph_
    ends = MixedGraph.from_edges(map(tuple, model.diagnostics_["marks"]), model.graph_.names).ends
    return _claims(np.asarray((ends != 0) & (ends.T != ARROW)), model.graph_.names)  # transposed: no arrowhead at i


def _claims(pattern: BoolArray, names: Sequence[Hashable]) -> pd.DataFrame:
    """Of a class: one half in each direction for an edge that is left open."""
    claims = np.where(pattern & pattern.T, 0.5, pattern)  # transposed: the other direction
    return pd.DataFrame(claims, index=list(names), columns=list(names))


def _flop(table: Table) -> pd.DataFrame:
    """CPDAG of FLOP."""
    if find_spec("flopsearch") is None:
        raise OptionError(
            "the method 'flop' is the package flopsearch, which is not installed: pip install flopsearch."
        )
    found = import_module("flopsearch").flop(table.values.copy(), FLOP_PENALTY, restarts=FLOP_RESTARTS)
    return _claims(np.asarray(found) > 0, table.names)


def _random_control(known: KnownSet) -> Measured:
    """Mean over random orders, each with its linear graph."""
    random_order, table = every_method()["random"], known.table()
    drawn = [measure(random_order().set_params(random_state=k).fit(table).graph_, known) for k in range(N_RANDOM)]
    names = ("right", "known", "f1", "shd", "order_tpr")
    figures = {name: float(np.mean([getattr(one, name) for one in drawn])) for name in names}
    told = [one.share for one in drawn if not np.isnan(one.share)]  # a draw may have no edge between tiers
    return Measured(**figures, spread=float(np.std(told)) if told else 0.0)


def below_control(row: PanelRow, control: PanelRow, sets: Sequence[KnownSet]) -> list[str]:
    """Tables on which a method is below the control by more than the control's spread.

    A pair is right or wrong: of those, only the share of all can be compared.
    """
    both = [one.name for one in sets if one.kind != "pair" and one.name in row.sets and one.name in control.sets]
    chance = control.sets
    return [name for name in both if row.sets[name].share - chance[name].share < -chance[name].spread]


def panel_table(rows: Sequence[PanelRow], sets: Sequence[KnownSet]) -> tuple[list[str], list[list[str]]]:
    """Heads and rows: means over kinds of F1, SHD and order TPR, what is right of tiers and of pairs, then each table.

    There are columns for what the sets have, and none for the rest. Where the random control is among the methods,
    "below" marks the tables on which another method is below it by more than its spread.
    """
    kinds = {one.kind for one in sets}
    means = {"F1": "f1", "SHD": "shd", "order TPR": "order_tpr"} if "graph" in kinds else {}
    shares = {heading: kind for heading, kind in (("tiers", "tiers"), ("pairs", "pair")) if kind in kinds}
    tables = [one.name for one in sets if one.kind != "pair"]
    control = next((row for row in rows if row.method == "random"), None)
    lines = []
    for row in rows:
        totals = [row.mean(name, sets) for name in means.values()]
        totals += [row.share(kind, sets) for kind in shares.values()]
        below = [] if control is None else below_control(row, control, sets)
        cells = [row.sets[name].in_words() + " below" * (name in below) if name in row.sets else "–" for name in tables]
        shown = ["–" if np.isnan(value) else f"{value:.2f}" for value in totals]
        lines.append([row.method, *shown, *cells, f"{row.seconds:.0f}"])
    return ["method", *means, *shares, *tables, "s"], lines


LOOKS = "looks.jsonl"
"""Who looked at a panel: a line for each run."""


def write_page(rows: Sequence[PanelRow], sets: Sequence[KnownSet], out: Path, command: str, jobs: int) -> Path:
    """Write ``panel.md``: the table, what failed and why, and every run so far with its methods; returns its path."""
    out.mkdir(parents=True, exist_ok=True)
    methods = [row.method for row in rows]
    append_line(out / LOOKS, to_json(provenance(command, jobs, "cpu") | {"methods": methods}, sort_keys=True))
    heads, lines = panel_table(rows, sets)
    failed = [(row.method, name, why) for row in rows for name, why in row.failed.items()]
    looks = [(sentence(look), look["methods"]) for look in map(json.loads, (out / LOOKS).read_text().splitlines())]
    page = template("panel.md").render(n_sets=len(sets), heads=heads, lines=lines, failed=failed, looks=looks)
    write_text(out / "panel.md", page)
    return out / "panel.md"
