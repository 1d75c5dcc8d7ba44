"""``precede reproduce real DIR``: any methods on real data with partly known causes, in one table."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.table import Table as TerminalTable

from precede.discovery import methods as known_methods
from precede.errors import PrecedeError, check_choice
from precede.experiments.real_data import Measured, RealSet, measure
from precede.runtime.progress import ProgressBar, logger
from precede.scores.build import SCORE_NAMES

DEFAULT_METHODS = ("default", "policy", "sparse-linear", "nongaussian", "direct-lingam", "random")
N_RANDOM = 20
"""Draws of the random-order control on each set."""

OPTIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "policy": {"score": "policy", "n_iterations": 0},
    "policy-order": {"score": "sparse-linear", "pruning": "policy", "n_iterations": 0, "polish": False},
}
"""Ways to call CORL that have a name here, besides ``score=NAME``."""


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
    verbose: bool = True,
) -> Iterator[PanelRow]:
    """Fit each method to each data set, columns standardised; yields a row as soon as it is done.

    Parameters
    ----------
    sets : sequence of RealSet
        From :func:`precede.experiments.real_data.read_real_sets`.
    methods : sequence of str, optional
        "default" and "policy" (CORL's default and the pretrained policy alone), names of scores, names of methods,
        "random".
    max_time : float, optional
        Seconds for each fit of CORL.
    verbose : bool
    """
    names = list(methods or DEFAULT_METHODS)
    allowed = [*OPTIONS, *SCORE_NAMES, *known_methods()]
    for name in names:
        check_choice("method", name, allowed)
    with ProgressBar("real data", len(names) * len(sets), verbose) as bar:
        for number, name in enumerate(names):
            row = PanelRow(name, {}, {})
            for k, known in enumerate(sets):
                try:
                    row.sets[known.name] = _fit(name, known, max_time)
                except PrecedeError as error:
                    row.failed[known.name] = str(error)
                    logger.warning("%s on %s: %s", name, known.name, error)
                bar.update(number * len(sets) + k + 1)
            yield row


def _fit(method: str, known: RealSet, max_time: float | None) -> Measured:
    data = (known.data - known.data.mean()) / known.data.std(ddof=0)
    start = time.perf_counter()
    if method == "random":
        return _random_control(data, known)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of near-collinear columns and the like: real data has them
        graph = _estimator(method, max_time).fit(data).graph_
    return measure(graph, known, time.perf_counter() - start)


def _estimator(method: str, max_time: float | None) -> Any:
    known = known_methods()
    common: dict[str, Any] = {"verbose": False}
    if method in known:
        accepted = known[method]._get_param_names()
        common |= {"random_state": 0} if "random_state" in accepted else {}
        return known[method](**{key: value for key, value in common.items() if key in accepted})
    options = OPTIONS.get(method, {"score": method})
    return known["corl"](**options, random_state=0, max_time=max_time, diagnose=False, **common)


def _random_control(data: Any, known: RealSet) -> Measured:
    """Mean over random orders, each with its linear graph."""
    random_order = known_methods()["random"]
    drawn = [measure(random_order(random_state=k).fit(data).graph_, known) for k in range(N_RANDOM)]
    figures = {
        name: float(np.mean([getattr(one, name) for one in drawn]))
        for name in ("right", "known", "f1", "shd", "order_tpr")
    }
    return Measured(**figures)


def panel_table(rows: Sequence[PanelRow], sets: Sequence[RealSet]) -> TerminalTable:
    """Methods down, what is known across: shares right by set with tiers, over all of them, of pairs; graph figures."""
    table = TerminalTable(title="Real data", title_justify="left")
    table.add_column("method")
    tiered = [one.name for one in sets if one.kind == "tiers"]
    headings = [*tiered, "tiers", "pairs", "F1", "SHD", "order TPR", "s"]
    for heading in headings:
        table.add_column(heading, justify="right")
    for row in rows:
        cells = []
        for name in tiered:
            one = row.sets.get(name)
            cells.append("–" if one is None else f"{one.right:.0f}/{one.known:.0f}")
        shares = [row.share("tiers", sets), row.share("pair", sets), *map(row.mean, ("f1", "shd", "order_tpr"))]
        cells += ["–" if np.isnan(value) else f"{value:.2f}" for value in shares]
        table.add_row(row.method, *cells, f"{row.seconds:.0f}")
    return table
