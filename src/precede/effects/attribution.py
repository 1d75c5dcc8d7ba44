"""Root causes: which variables account for an unusual row, or for a change from one period to another.

References
----------
Budhathoki, Minorics, Blöbaum, Janzing (2022), Causal structure-based root cause analysis of outliers, ICML.
Budhathoki, Janzing, Blöbaum, Ng (2021), Why did the distribution change?, AISTATS.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from math import factorial
from typing import Any

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.data.load import load_table
from precede.errors import DataError, OptionError
from precede.evidence.sample import columns_in_order
from precede.graph import CausalGraph
from precede.graph.dags import ancestors, weights_on_parents
from precede.kinds import ColumnKind, indicator_blocks
from precede.strict_json import Spoken

MOST_EXACT = 10
"""Variables that lead to the outcome up to which every combination is tried; of more, orders are drawn at random."""

N_ORDERS = 300
"""Random orders of the variables where there are more."""


@dataclass(frozen=True)
class Contribution:
    """What one variable adds to the difference.

    Parameters
    ----------
    variable : name
    value : float
        In units of the outcome; all contributions together are the difference.
    unusual : float or None
        For a row, how many standard deviations the variable lies from what its own causes predict; None for a category
        and for periods.
    """

    variable: Hashable
    value: float
    unusual: float | None = None


@dataclass(frozen=True)
class Explanation(Spoken):
    """Where a difference in the outcome comes from, the largest contribution first.

    Parameters
    ----------
    outcome : name
    about : str
        What is compared, in words.
    expected, observed : float
        The mean of the outcome, and its value in the row; or its means before and after.
    contributions : tuple of Contribution
    """

    outcome: Hashable
    about: str
    expected: float
    observed: float
    contributions: tuple[Contribution, ...]

    def __post_init__(self) -> None:
        ranked = sorted(self.contributions, key=lambda part: -abs(part.value))
        object.__setattr__(self, "contributions", tuple(ranked))

    @property
    def sentences(self) -> list[str]:
        """The difference and its main sources, in plain words."""
        difference = self.observed - self.expected
        lines = [
            f"{self.about}: {self.outcome} is {self.observed:.4g} instead of {self.expected:.4g} ({difference:+.4g})."
        ]
        for part in self.contributions[:5]:
            own = "itself" if part.variable == self.outcome else "by its own change"
            if part.unusual is not None:
                side = "above" if part.unusual > 0 else "below"
                own = f"{abs(part.unusual):.1f} standard deviations {side} what its causes predict"
            lines.append(f"{part.variable}: {part.value:+.4g} ({own}).")
        rest = sum(part.value for part in self.contributions[5:])
        if len(self.contributions) > 5:
            lines.append(f"{len(self.contributions) - 5} others together: {rest:+.4g}.")
        return lines


def explain_row(graph: CausalGraph, outcome: Hashable, row: int, data: Any) -> Explanation:
    r"""Why the outcome of one row is what it is.

    In a linear model every variable is what its causes predict and a deviation of its own. The outcome is its mean and
    the sum of the deviations of all that leads to it, each times its total effect on the outcome: these products are
    the contributions, and the Shapley values of the deviations (Budhathoki et al. 2022).

    Parameters
    ----------
    graph : CausalGraph
    outcome : name
    row : int
        Place of the row in the data, from 0.
    data : as for ``fit``

    Examples
    --------
    >>> graph = CausalGraph.from_matrix([[0, 1], [0, 0]], names=["rain", "wet"])
    >>> rain = np.array([0.0, 1.0, 2.0, 9.0])
    >>> found = explain_row(graph, "wet", 3, np.column_stack([rain, 2 * rain + [0.1, -0.1, -0.1, 0.1]]))
    >>> found.contributions[0].variable
    'rain'
    """
    columns = _Columns.of(graph, data)
    if not 0 <= row < len(columns.values):
        raise OptionError(f"there is no row {row}: the data has rows 0 to {len(columns.values) - 1}.")
    target = columns.number_at(graph.position(outcome))
    weights, mean = columns.regressions(slice(None))
    apart = columns.values - columns.values.mean(axis=0)
    deviations = apart - apart @ weights
    total = np.linalg.solve(np.eye(len(weights)) - weights, np.eye(len(weights)))[:, target]
    spread = deviations.std(axis=0)
    parts = []
    for k in _leading_to(graph, graph.position(outcome)):
        own = columns.places[k]
        number = columns.kinds[k].name != "categorical" and spread[own.start] > 0
        unusual = float(deviations[row, own.start] / spread[own.start]) if number else None
        parts.append(Contribution(graph.names[k], float(deviations[row, own] @ total[own]), unusual))
    return Explanation(outcome, f"Row {row}", float(mean[target]), float(columns.values[row, target]), tuple(parts))


def explain_change(graph: CausalGraph, outcome: Hashable, before: IntArray, after: IntArray, data: Any) -> Explanation:
    r"""Why the mean of the outcome changed from some rows to others.

    Each variable follows its causes by a regression of its own before and another after. A variable contributes what
    exchanging its regression changes, averaged over all orders in which the exchanges may be made: the Shapley values
    of the mechanisms (Budhathoki et al. 2021).

    Parameters
    ----------
    graph : CausalGraph
    outcome : name
    before, after : int arrays
        Places of the rows in the data.
    data : as for ``fit``

    Examples
    --------
    >>> graph = CausalGraph.from_matrix([[0, 1], [0, 0]], names=["rain", "wet"])
    >>> rain = np.arange(8.0) + 10 * (np.arange(8) > 3)
    >>> wet = 2 * rain + np.tile([0.1, -0.1, -0.1, 0.1], 2)
    >>> found = explain_change(graph, "wet", np.arange(4), np.arange(4, 8), np.column_stack([rain, wet]))
    >>> [(part.variable, round(part.value)) for part in found.contributions]
    [('rain', 28), ('wet', 0)]
    """
    columns = _Columns.of(graph, data)
    target = columns.number_at(graph.position(outcome))
    leading = _leading_to(graph, graph.position(outcome))
    last = len(columns.values) - 1
    for rows, name in ((before, "before"), (after, "after")):
        if len(rows) < 2 or rows.min() < 0 or rows.max() > last:
            raise OptionError(f"'{name}' needs at least two rows from 0 to {last}.")
    periods = [columns.regressions(rows) for rows in (before, after)]
    mixed = np.array([weights for weights, _ in periods])
    intercepts = np.array([mean - mean @ weights for weights, mean in periods])

    def mean_of_outcome(exchanged: int) -> float:
        """With the regressions of the variables in a bit mask taken from the time after."""
        which = np.zeros(columns.values.shape[1], dtype=np.int64)
        for at, k in enumerate(leading):
            which[columns.places[k]] = exchanged >> at & 1
        here = np.arange(len(which))
        weights = mixed[which, :, here].T  # transposed: a row of the gather is the regression of one column
        return float(np.linalg.solve((np.eye(len(which)) - weights).T, intercepts[which, here])[target])

    values = _shapley(mean_of_outcome, len(leading))
    parts = [Contribution(graph.names[k], float(value)) for k, value in zip(leading, values, strict=True)]
    first, second = (float(mean[target]) for _, mean in periods)
    return Explanation(outcome, "After compared with before", first, second, tuple(parts))


def _shapley(worth: Any, n_players: int) -> FloatArray:
    """Shapley values of a game over bit masks: exact for few players, over random orders for more."""
    known: dict[int, float] = {}

    def ask(mask: int) -> float:
        if mask not in known:
            known[mask] = worth(mask)
        return known[mask]

    values = np.zeros(n_players)
    if n_players <= MOST_EXACT:
        for mask in range(2**n_players):
            size = mask.bit_count()
            for k in range(n_players):
                if not mask >> k & 1:
                    share = factorial(size) * factorial(n_players - size - 1) / factorial(n_players)
                    values[k] += share * (ask(mask | 1 << k) - ask(mask))
        return values
    rng = np.random.default_rng(0)
    for _ in range(N_ORDERS):
        mask = 0
        for k in rng.permutation(n_players).tolist():
            values[k] += (ask(mask | 1 << k) - ask(mask)) / N_ORDERS
            mask |= 1 << k
    return values


@dataclass(frozen=True, eq=False)
class _Columns:
    """The data as columns of numbers, categories as indicators, and what each of them follows.

    Parameters
    ----------
    values : (n_samples, n_columns) float array
    places : list of slice
        The columns of each variable.
    kinds : tuple of ColumnKind
    parents : (n_columns, n_columns) bool array
        ``[c, k]``: column c belongs to a cause of the variable of k.
    """

    values: FloatArray
    places: list[slice]
    kinds: tuple[ColumnKind, ...]
    parents: BoolArray

    @classmethod
    def of(cls, graph: CausalGraph, data: Any) -> _Columns:
        if data is None:
            raise DataError("an explanation needs the rows of the data: give the table as data=...")
        table = columns_in_order(load_table(data), graph.names)
        values, places = indicator_blocks(table.values, table.kinds)
        owner = np.repeat(np.arange(len(places)), [place.stop - place.start for place in places])
        return cls(values, places, table.kinds, graph.edges[np.ix_(owner, owner)])

    def number_at(self, variable: int) -> int:
        """The column of a variable that is a number."""
        if self.kinds[variable].name == "categorical":
            raise OptionError("the outcome is categorical: make a column of 0 and 1 of the level that matters.")
        return int(self.places[variable].start)

    def regressions(self, rows: Any) -> tuple[FloatArray, FloatArray]:
        """The weights of every column on those of its causes, ``[cause, effect]``, and the means, in some rows."""
        own = self.values[rows]
        mean = own.mean(axis=0)
        return weights_on_parents(own - mean, self.parents), mean


def _leading_to(graph: CausalGraph, outcome: int) -> list[int]:
    """The outcome and all that leads to it."""
    return [*np.flatnonzero(ancestors(graph.edges)[:, outcome]).tolist(), outcome]
