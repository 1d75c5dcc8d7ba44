"""``precede reproduce real DIR``: any methods on real data with partly known causes, in one table."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from rich.table import Table as TerminalTable

from precede.arrays import BoolArray, FloatArray
from precede.baselines.constraint import CausalLearnMethod
from precede.corl import make_method
from precede.corl import methods as every_method
from precede.errors import OptionError, PrecedeError, check_choice
from precede.experiments.real_data import Measured, RealSet, measure, measure_class
from precede.options import Options
from precede.runtime.progress import ProgressBar, logger
from precede.runtime.workers import HERE, Workers, as_finished
from precede.scores.build import SCORE_NAMES

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
        From :func:`precede.experiments.real_data.read_real_sets`.
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
    try:
        return method, known.name, _fit(method, known, max_time)
    except PrecedeError as error:
        return method, known.name, str(error)


def _fit(method: str, known: RealSet, max_time: float | None) -> Measured:
    data = (known.data - known.data.mean()) / known.data.std(ddof=0)
    start = time.perf_counter()
    if method == "random":
        return _random_control(data, known)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of near-collinear columns and the like: real data has them
        if method == "flop":
            pattern = _flop(data.to_numpy(dtype=np.float64, copy=True))
            return measure_class(pattern, known, time.perf_counter() - start)
        model = _estimator(method, max_time).fit(data)
    seconds = time.perf_counter() - start
    if isinstance(model, CausalLearnMethod):
        return measure_class(_marked_pattern(model), known, seconds)
    return measure(model.graph_, known, seconds)


def _estimator(method: str, max_time: float | None) -> Any:
    known = every_method()
    common: Options = {"verbose": False}
    if method in known:
        common |= {"random_state": 0}
        accepted = known[method].option_names()
        return make_method(method, {key: value for key, value in common.items() if key in accepted})
    options = OPTIONS.get(method, {"score": method})
    return known["corl"]().set_params(**options, random_state=0, max_time=max_time, diagnose=False, **common)


def _marked_pattern(model: Any) -> BoolArray:
    """What the marks of a constraint-based method allow, ``[i, j]`` for i -> j."""
    place = {name: k for k, name in enumerate(model.graph_.names)}
    pattern = np.zeros((len(place), len(place)), dtype=bool)
    for first, second, mark in model.diagnostics_["marks"]:
        if mark == "<->":
            continue
        pattern[place[first], place[second]] = True
        pattern[place[second], place[first]] = not mark.endswith(">")
    return pattern


def _flop(values: FloatArray) -> BoolArray:
    """CPDAG of FLOP."""
    if find_spec("flopsearch") is None:
        raise OptionError(
            "the method 'flop' is the package flopsearch, which is not installed: pip install flopsearch."
        )
    found = import_module("flopsearch").flop(values, FLOP_PENALTY, restarts=FLOP_RESTARTS)
    return np.asarray(found) > 0


def _random_control(data: Any, known: RealSet) -> Measured:
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
        if one.kind == "pair" or one.name not in row.sets or one.name not in control.sets:
            continue
        mine, chance = row.sets[one.name], control.sets[one.name]
        gap = mine.f1 - chance.f1 if one.kind == "graph" else mine.share - chance.share
        if gap < -chance.spread:
            found.append(one.name)
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
    totals: dict[str, Callable[[PanelRow], float]] = {}
    if "tiers" in kinds:
        totals["tiers"] = lambda row: row.share("tiers", sets)
    if "pair" in kinds:
        totals["pairs"] = lambda row: row.share("pair", sets)
    if "graph" in kinds:
        totals |= {"F1": partial(PanelRow.mean, figure="f1"), "SHD": partial(PanelRow.mean, figure="shd")}
        totals["order TPR"] = partial(PanelRow.mean, figure="order_tpr")
    for heading in (*tiered, *totals, "s"):
        table.add_column(heading, justify="right", overflow="fold")  # a file has 80 columns: no figure may be lost
    control = next((row for row in rows if row.method == "random"), None)
    for row in rows:
        below = [] if control is None else below_control(row, control, sets)
        cells = []
        for name in tiered:
            one = row.sets.get(name)
            text = "–" if one is None else f"{one.right:.3g}/{one.known:.3g}"
            if one is not None and not np.isnan(one.spread):
                text = f"{one.right:.0f}/{one.known:.0f} ± {one.spread:.2f}"
            cells.append(f"{text} below" if name in below else text)
        shares = [figure(row) for figure in totals.values()]
        cells += ["–" if np.isnan(value) else f"{value:.2f}" for value in shares]
        table.add_row(row.method, *cells, f"{row.seconds:.0f}")
    return table
