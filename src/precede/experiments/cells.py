"""The parts of an experiment: data, methods, controls that learn nothing, and the cells that they make together."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np

from precede.corl import CORL, methods
from precede.data.datasets import Dataset, load_sachs
from precede.data.load import Table
from precede.errors import OptionError, check_choice
from precede.estimator import CausalEstimator, FitResult
from precede.graph.dags import full_dag
from precede.options import check_names
from precede.pruning.gam import prune_by_gam
from precede.runtime import RandomState, numpy_rng, part_of
from precede.search.settings import Details
from precede.simulation import simulate
from precede.strict_json import JsonObject


class EmptyGraph(CausalEstimator):
    """The graph without edges."""

    def _learn(self, table: Table) -> FitResult:
        return FitResult(np.zeros((table.n_variables, table.n_variables), dtype=bool))


class RandomOrderCAM(CausalEstimator):
    """A random order with the pruning that the paper gives its own orders on nonlinear data (Section 4.3).

    Parameters
    ----------
    cutoff : float
        Largest p-value of an edge that stays.
    random_state : int, Generator or None
    """

    cutoff: float = 0.001
    random_state: RandomState = None

    def _learn(self, table: Table) -> FitResult:
        order = numpy_rng(self.random_state).permutation(table.n_variables)
        pruned = prune_by_gam(table.values, full_dag(order), cutoff=self.cutoff)
        return FitResult(pruned.edges, order, pruned.strengths)


NULL_METHODS: dict[str, type[CausalEstimator]] = {"empty": EmptyGraph, "random-cam": RandomOrderCAM}
"""Name to estimator, beside those of :func:`precede.methods`."""


METHOD_SEED = 10_000
"""Added to a cell's seed for the method, so that a method never draws the very numbers its data was made of."""

REHEARSAL = {
    "n_iterations": 1,
    "batch_size": 4,
    "n_samples": 8,
    "n_encoder_rows": 8,
    "diagnose": False,
    "n_evaluations": 50,
}
"""Options of a rehearsal's cells."""

QUICK_SECONDS = 4.0
"""``max_time`` of a quick run's cells."""


@dataclass(frozen=True)
class Data:
    """What the data of a cell is; the arguments of :func:`precede.simulate`.

    Parameters
    ----------
    name : str
        Short, as in the paper's table: "er2", "30-er2", "500".
    sem : str
        "sachs" is the bundled data set, the same for every seed.
    """

    name: str
    graph: str = "er"
    n_variables: int = 30
    degree: int = 2
    sem: str = "linear-gaussian"
    n_samples: int = 3000

    @property
    def fixed(self) -> bool:
        """Whether the data is the same for every seed."""
        return self.sem == "sachs"

    def draw(self, seed: int) -> Dataset:
        """Simulate or load it."""
        if self.fixed:
            return load_sachs()
        return simulate(self.graph, self.n_variables, self.degree, self.sem, self.n_samples, random_state=seed)


@dataclass(frozen=True)
class Method:
    """A row of a table.

    Parameters
    ----------
    name : str
        As in the table.
    estimator : str
        A name of :func:`precede.methods` or of :data:`precede.experiments.cells.NULL_METHODS`.
    paper : "corl-1", "corl-2" or None
        Start from :meth:`precede.CORL.paper`.
    nonlinear : bool
        Whether in its nonlinear form.
    beside : str or None
        The row of the paper to compare with, where it has another name.
    options : mapping
        Parameters that differ from the defaults; those of :class:`precede.search.settings.Details` stand among them.
    repeats : int
        Cells per seed, each with a seed of its own; for controls whose distribution is asked for.
    cost : str
        What a run takes, where that is why cells are missing: it is said below the table.
    """

    name: str
    estimator: str
    paper: Literal["corl-1", "corl-2"] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    repeats: int = 1
    nonlinear: bool = False
    beside: str | None = None
    cost: str = ""

    def accepts(self, option: str) -> bool:
        return option in {**methods(), **NULL_METHODS}[self.estimator].option_names()

    def build(self, **options: Any) -> CausalEstimator:
        """Make the estimator; of the given options, those are set that it has, and that are not None."""
        own = dict(self.options)
        details = {name: own.pop(name) for name in Details.__dataclass_fields__ if name in own}
        if self.paper is None:
            model = {**methods(), **NULL_METHODS}[self.estimator]()
        else:
            model = CORL.paper(self.paper, self.nonlinear, own.get("pretrained"), own.pop("program", "text"))
        check_names(f"the method {self.name!r}", list(own), model.option_names())
        given = {name: value for name, value in options.items() if value is not None and self.accepts(name)}
        model.set_params(**own, **given)
        if details:
            its_own = model.get_params()["details"]
            model.set_params(details=replace(its_own if isinstance(its_own, Details) else Details(), **details))
        return model


@dataclass(frozen=True)
class Cell:
    """One fit: a method on a data set.

    Parameters
    ----------
    data : Data
    method : Method
    seed : int
        Of the data; the method's is :data:`METHOD_SEED` more.
    max_time : float or None
        Seconds, for methods that take it.
    keep_curve : bool
        Whether the learning curve is recorded.
    """

    data: Data
    method: Method
    seed: int
    max_time: float | None = None
    keep_curve: bool = False

    @property
    def key(self) -> str:
        """Names the cell within its experiment.

        Examples
        --------
        >>> Cell(Data("er2"), Method("eqvar", "eqvar"), 3).key
        'er2/eqvar/3'
        """
        return f"{self.data.name}/{self.method.name}/{self.seed}"

    def settings(self) -> JsonObject:
        """Everything that the result depends on, JSON-ready; a recorded cell with other settings is run again."""
        return {
            **({"nonlinear": True} if self.method.nonlinear else {}),
            "data": asdict(self.data),
            "estimator": self.method.estimator,
            "paper": self.method.paper,
            "options": dict(self.method.options),
            "seed": self.seed,
            "max_time": self.max_time if self.method.accepts("max_time") else None,
            "keep_curve": self.keep_curve,
        }

    def build(self, device: str | None) -> CausalEstimator:
        """Make the estimator, silent and seeded."""
        seed = METHOD_SEED + self.seed
        return self.method.build(random_state=seed, verbose=False, max_time=self.max_time, device=device)


@dataclass(frozen=True)
class Selection:
    """Which cells of an experiment are run, and how.

    Parameters
    ----------
    seeds : sequence of int, optional
        Data sets, instead of the experiment's five.
    methods, data : sequence of str, optional
        Only these rows, only these data settings.
    max_time : float, optional
        Seconds for each cell's search; cells recorded under another limit are run again.
    quick : bool
        One seed and small limits.
    retry_failed : bool
        Run cells again that ended in an error.
    stack : int
        Train as many cells of ``CORL.paper`` together, where they have as many variables: on a GPU that takes a third
        of the time. 0 trains each by itself. ``max_time`` then holds for a whole stack.
    shard : str, optional
        "k/n": every n-th cell, from the k-th on.
    """

    seeds: Sequence[int] | None = None
    methods: Sequence[str] | None = None
    data: Sequence[str] | None = None
    max_time: float | None = None
    quick: bool = False
    retry_failed: bool = False
    stack: int = 0
    shard: str | None = None


EVERYTHING = Selection()
"""All cells that are missing."""


@dataclass(frozen=True)
class Experiment:
    """A table or figure of the paper.

    Parameters
    ----------
    name : str
        What ``precede reproduce`` calls it, and its key in :data:`precede.experiments.verdicts.PUBLISHED`.
    title, source : str
        What it shows, and where the paper has it.
    data : tuple of Data
    methods : tuple of Method
    metrics : tuple of str
        Those that the table shows; more are recorded.
    seeds : tuple of int
    keep_curves : bool
        Record the learning curves, which become the figure.
    quick : mapping
        Options that make a quick run short, by method; those under "" are set for every method that has them, and a
        method with None is left out.
    bound : (method, metric, bound) or None
        Say below the table in which share of a control's cells the metric is at most the bound.
    notes : tuple of str
        Sentences below the table.
    """

    name: str
    title: str
    source: str
    data: tuple[Data, ...]
    methods: tuple[Method, ...]
    metrics: tuple[str, ...] = ("tpr", "shd")
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    keep_curves: bool = False
    quick: Mapping[str, Mapping[str, Any] | None] = field(default_factory=lambda: {"": {"n_iterations": 50}})
    bound: tuple[str, str, float] | None = None
    notes: tuple[str, ...] = ()

    def cells(self, chosen: Selection = EVERYTHING) -> list[Cell]:
        """List the cells to run: all first seeds first, so that a run cut short has whole rows."""
        for option, names, known in (("methods", chosen.methods, self.methods), ("data", chosen.data, self.data)):
            for name in names or ():
                check_choice(f"{option} of {self.name}", name, [item.name for item in known])
        seeds, max_time, runs = self.seeds if chosen.seeds is None else chosen.seeds, chosen.max_time, self.methods
        if not seeds or min(seeds) < 0:
            raise OptionError(f"seeds={list(seeds)} cannot be used: it takes one or more numbers of at least 0.")
        if chosen.quick:
            seeds, max_time = seeds[:1], min(max_time or QUICK_SECONDS, QUICK_SECONDS)
            runs = tuple(filter(None, map(self._quickly, self.methods)))
        cells = [
            Cell(one, method, number, max_time, self.keep_curves)
            for place, seed in enumerate(seeds)
            for one in self.data
            if chosen.data is None or one.name in chosen.data
            for method in runs
            if chosen.methods is None or method.name in chosen.methods
            # on fixed data, a method without randomness finds the same every time
            if place == 0 or not one.fixed or method.accepts("random_state")
            for number in range(seed * method.repeats, (seed + 1) * method.repeats)
        ]
        return list(part_of(cells, chosen.shard))

    def rehearsal(self) -> Cell:
        """The smallest cell there is: least data, CORL where it is in the table, a single iteration."""
        data = min(self.data, key=lambda one: one.n_variables * one.n_samples)
        method = next((method for method in self.methods if method.paper), self.methods[0])
        options = {name: value for name, value in REHEARSAL.items() if method.accepts(name)}
        return Cell(data, replace(method, options={**method.options, **options}), self.seeds[0], None, self.keep_curves)

    def adopt(self, record: Mapping[str, Any]) -> JsonObject | None:
        """A cell recorded in any experiment as a cell of this one; None where this one has no such fit.

        A time limit may differ, as it may between runs of one experiment, and so may the options of a row (those of
        a quick run): the table has a remark on them.
        """
        settings = record["settings"]
        if self.keep_curves and record.get("error") is None and "curve" not in record:
            return None
        cells = [Cell(one, method, settings["seed"]) for one in self.data for method in self.methods]
        same_fit = next((cell for cell in cells if _fit(cell.settings()) == _fit(settings)), None)
        same_row = (cell for cell in cells if cell.key == record["key"] and asdict(cell.data) == settings["data"])
        cell = same_fit or next(same_row, None)
        if cell is None:
            return None
        own = {**settings, "data": asdict(cell.data), "keep_curve": self.keep_curves}
        kept = {name: value for name, value in record.items() if self.keep_curves or name != "curve"}
        return {**kept, "key": cell.key, "settings": own}

    def _quickly(self, method: Method) -> Method | None:
        own = self.quick.get(method.name, {})
        if own is None:
            return None
        small = {name: value for name, value in (self.quick.get("") or {}).items() if method.accepts(name)}
        return replace(method, options={**method.options, **small, **own})


def _fit(settings: Mapping[str, Any]) -> JsonObject:
    """What a fit is, apart from what an experiment calls its data, how long it may take and what is kept of it."""
    data = {name: value for name, value in settings["data"].items() if name != "name"}
    return {**settings, "data": data, "max_time": None, "keep_curve": None}
