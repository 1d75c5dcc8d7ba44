"""Is the graph any good? The tests of :mod:`precede.evidence.falsification`, as checks of a result."""

from __future__ import annotations

from dataclasses import asdict

from precede.arrays import FloatArray
from precede.evidence.checks.check import Check, Level
from precede.evidence.checks.learned import Learned
from precede.evidence.falsification import held_out_likelihood, permutation_test
from precede.evidence.sample import sample_of

PERMUTATIONS = 39
"""Shuffled graphs: the fewest that let a graph be clearly better than chance at the level of .05."""

FEWEST_ROWS = 20
"""Below, a test of independences says nothing."""


def check_independences(learned: Learned) -> Check:
    """Whether the independences that the graph claims hold better than a shuffled graph's."""
    name, rows = "independences against chance", _observed(learned)
    if len(rows) < FEWEST_ROWS:
        return Check(name, None, f"Not run: fewer than {FEWEST_ROWS} rows in which nothing was set.", "not run")
    found = permutation_test(learned.graph, sample_of(rows), PERMUTATIONS)
    if found.n_tests == 0:
        return Check(name, None, f"Not run: {found.sentence[0].lower()}{found.sentence[1:]}", "not run")
    level: Level = "warning" if found.falsified else "fine" if found.informative else "note"
    return Check(name, found.p_value, found.sentence, level, asdict(found))


def check_prediction(learned: Learned) -> Check:
    """Whether the edges help to predict rows that were left out."""
    name, rows = "held-out likelihood", _observed(learned)
    if learned.n_edges == 0:
        return Check(name, None, "Not run: the graph has no edges.", "not run")
    if len(rows) < FEWEST_ROWS:
        return Check(name, None, f"Not run: fewer than {FEWEST_ROWS} rows in which nothing was set.", "not run")
    found = held_out_likelihood(learned.graph, sample_of(rows))
    gain, rest = found.graph - found.empty, found.full - found.graph
    level: Level = "warning" if gain <= 0 else "note" if rest > 0.02 * gain else "fine"
    return Check(name, gain, found.sentence, level, asdict(found))


def _observed(learned: Learned) -> FloatArray:
    """The rows in which nothing was set: what was set does not follow from its causes."""
    targets = learned.table.targets
    return learned.values if targets is None else learned.values[~targets.any(axis=1)]
