"""Is the graph any good? The tests of :mod:`precede.falsification`, as checks of a result."""

from __future__ import annotations

from dataclasses import asdict

from precede.diagnostics.check import Check, Level
from precede.diagnostics.learned import Learned
from precede.effects.sample import sample_of
from precede.falsification import held_out_likelihood, permutation_test

PERMUTATIONS = 39
"""Shuffled graphs: the fewest that let a graph be clearly better than chance at the level of .05."""


def check_independences(learned: Learned) -> Check | None:
    """Whether the independences that the graph claims hold better than a shuffled graph's."""
    found = permutation_test(learned.graph, sample_of(learned.values), PERMUTATIONS)
    if found.n_tests == 0:
        return None
    level: Level = "warning" if found.falsified else "fine" if found.informative else "note"
    return Check("independences against chance", found.p_value, found.sentence, level, asdict(found))


def check_prediction(learned: Learned) -> Check | None:
    """Whether the edges help to predict rows that were left out."""
    if learned.n_edges == 0:
        return None
    found = held_out_likelihood(learned.graph, sample_of(learned.values))
    gain, rest = found.graph - found.empty, found.full - found.graph
    level: Level = "warning" if gain <= 0 else "note" if rest > 0.02 * gain else "fine"
    return Check("held-out likelihood", gain, found.sentence, level, asdict(found))
