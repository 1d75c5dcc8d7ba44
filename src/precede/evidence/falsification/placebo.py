"""Negative control: what the method finds where there is nothing to find."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from precede.data.load import load_table
from precede.data.table import Table, filled_table
from precede.errors import check_positive
from precede.runtime.randomness import RandomState, numpy_rng


@dataclass(frozen=True)
class Placebo:
    """Edges found in the data, and in the same columns each shuffled on its own.

    Parameters
    ----------
    found : int
        Edges in the data.
    placebo : tuple of int
        Edges in each shuffled copy, where every edge is a false one.
    """

    found: int
    placebo: tuple[int, ...]

    @property
    def share(self) -> float:
        """Edges of a shuffled copy over those of the data: about what share may be false alarms."""
        return float(np.mean(self.placebo)) / self.found if self.found else float(np.mean(self.placebo) > 0)

    @property
    def sentence(self) -> str:
        """The comparison in plain words."""
        mean = float(np.mean(self.placebo))
        facts = f"With every column shuffled, so that nothing causes anything, the method finds {mean:.3g} edges"
        verdict = (
            "its edges are hardly ever false alarms" if self.share <= 0.1 else "many of its edges may be false alarms"
        )
        return f"{facts} instead of {self.found}: {verdict}."


def placebo_test(model: Any, data: Any, n_shuffles: int = 3, random_state: RandomState = 0) -> Placebo:
    """Fit a method to the data and to copies in which every column is shuffled on its own.

    Parameters
    ----------
    model : estimator
        Left as it is.
    data : as for ``fit``
    n_shuffles : int
    random_state : int, Generator or None

    Examples
    --------
    >>> from precede import baselines, simulate
    >>> made = simulate(n_variables=5, degree=1, n_samples=300, random_state=0)
    >>> placebo_test(baselines.EqVar(verbose=False), made.data).placebo
    (0, 0, 0)
    """
    check_positive("n_shuffles", n_shuffles, integer=True)
    table, rng = load_table(data), numpy_rng(random_state)
    quiet = {name: False for name in ("verbose", "diagnose") if name in model.get_params(deep=False)}
    silent = model.unfitted().set_params(**quiet)
    found = silent.unfitted().fit(table).graph_.n_edges
    counts = []
    for _ in range(n_shuffles):
        counts.append(silent.unfitted().fit(_shuffled(table, rng)).graph_.n_edges)
    return Placebo(found, tuple(counts))


def _shuffled(table: Table, rng: np.random.Generator) -> Table:
    """Every column in a sequence of its own, its gaps with it: then what is in them, and the moments, are new too."""
    values = np.array(table.values)
    if table.gaps is not None:
        values[table.gaps.mask] = np.nan
    for k in range(table.n_variables):
        values[:, k] = rng.permutation(values[:, k])
    values.flags.writeable = False
    shuffled = replace(table, values=values, gaps=None)
    return shuffled if table.gaps is None else filled_table(shuffled, table.gaps.how, rng)
