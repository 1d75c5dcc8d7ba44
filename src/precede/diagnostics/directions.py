"""Directions: which of them the data can tell, and which are not claimed."""

from __future__ import annotations

import numpy as np

from precede.arrays import BoolArray
from precede.diagnostics.check import Check, Level, counted, some
from precede.diagnostics.learned import Learned
from precede.diagnostics.record import Direction
from precede.diagnostics.residual_tests import SIGNIFICANT, normality

CUT_OFF = 0.05
"""Share of the rows at a column's smallest or largest value from which the column looks cut off there."""


COARSE, ROWS_EACH = 30, 5
"""A column of numbers with at most this many values, each with this many rows on average, was rounded to steps."""


def stepped_columns(learned: Learned) -> BoolArray:
    """Columns of few values and counts that the method takes for continuous numbers, (n_variables,)."""
    if learned.levels:
        return np.zeros(learned.n_variables, dtype=bool)
    sample = learned.values[learned.fit.rows]
    few = min(COARSE, len(sample) // ROWS_EACH)
    coarse = [len(np.unique(column)) <= few for column in sample.T]
    return np.array([kind.name != "number" for kind in learned.table.kinds]) | coarse


def cut_off_columns(learned: Learned) -> BoolArray:
    """Columns of numbers that pile up at an end, as a saturated sensor's or a detection limit's do, (n_variables,)."""
    if learned.levels:
        return np.zeros(learned.n_variables, dtype=bool)
    values = learned.values
    at_an_end = np.maximum((values == values.min(axis=0)).mean(axis=0), (values == values.max(axis=0)).mean(axis=0))
    return np.asarray((at_an_end >= CUT_OFF) & ~stepped_columns(learned))


def gaussian_columns(learned: Learned) -> BoolArray:
    """Variables whose noise looks Gaussian to a score that tells directions by noise that is not, (n_variables,)."""
    if learned.assumptions.gaussian != "excluded":
        return np.zeros(learned.n_variables, dtype=bool)
    return np.asarray(normality(learned.fit.residuals) >= SIGNIFICANT)  # NaN, too few rows to tell, is not


def edge_directions(learned: Learned) -> dict[tuple[int, int], Direction]:
    """What may be claimed about each edge's direction.

    An edge that conditional independences or background knowledge direct is told by any score. The others are told
    only by a score that identifies more than the class, between columns that are what it takes them for.

    Columns of few values and columns that are cut off are not what a continuous model takes them for, and two variables
    with Gaussian noise give a score nothing that rests on other noise. Of a random order nothing is claimed.
    """
    unfit = stepped_columns(learned) | cut_off_columns(learned)
    gaussian = gaussian_columns(learned)
    result: dict[tuple[int, int], Direction] = {}
    for i, j in np.argwhere(learned.edges):
        loose = bool(learned.pattern[j, i])
        if not learned.assumptions.tells_directions:
            direction: Direction = "told" if learned.told[i, j] else "not claimed"
        elif loose and (unfit[i] or unfit[j] or (gaussian[i] and gaussian[j])):
            direction = "not claimed"
        else:
            direction = "either way" if loose and learned.identifies == "cpdag" else "told"
        result[int(i), int(j)] = direction
    return result


def check_identifiability(learned: Learned) -> Check:
    """Which edges could be turned round without changing what the data say."""
    name = "identifiability"
    loose_edges = learned.edges & (learned.pattern.T == 1)  # transposed: either way
    loose = [(int(i), int(j)) for i, j in np.argwhere(loose_edges)]
    details = {"undirected": learned.edge_names(loose)}
    n = learned.n_edges
    level: Level
    if n == 0:
        return Check(name, 0.0, "No edges, so no directions to tell (0 undirected).", "fine", details)
    if not learned.assumptions.tells_directions:
        free = int((learned.edges & ~learned.told).sum())
        sentence = f"The directions of {free} of {n} edges mean nothing: the order was drawn at random."
        return Check(name, float(free), sentence, "warning", details)
    if learned.identifies == "cpdag":
        if not loose:
            alone = "alone" if learned.constraints is None else "and what was known beforehand"
            sentence = f"The directions of all {n} edges follow from conditional independences {alone} (0 undirected)."
            return Check(name, 0.0, sentence, "fine", details)
        sentence = (
            f"{counted(len(loose), 'edge')} of {n} ({some(details['undirected'])}) could point either way: under this "
            "score the data tell that the pair is connected, not which precedes."
        )
        return Check(name, float(len(loose)), sentence, "warning", details)
    level = "note" if loose else "fine"
    tail = (
        f"without its assumptions, {len(loose)} of {n} could point either way."
        if loose
        else f"and even without its assumptions none of the {n} could be turned round alone."
    )
    return Check(
        name, float(len(loose)), f"Under the score's assumptions every direction can be told; {tail}", level, details
    )


def check_column_kinds(learned: Learned) -> Check | None:
    """Whether columns that are not continuous numbers were treated as such, and what is therefore not claimed."""
    found = "with few values, or counts ({}), taken for continuous numbers by this method"
    return _not_claimed("kinds of columns", learned, stepped_columns(learned), found)


def check_cut_off(learned: Learned) -> Check | None:
    """Whether columns pile up at an end, and what is therefore not claimed."""
    found = f"with {CUT_OFF:.0%} or more of the rows at the smallest or largest value ({{}}), as if cut off there"
    return _not_claimed("columns cut off", learned, cut_off_columns(learned), found)


def _not_claimed(name: str, learned: Learned, unfit: BoolArray, words: str) -> Check | None:
    """Say which columns are not what the method takes them for, and which directions are not claimed for that."""
    if not unfit.any():
        return None
    directions = edge_directions(learned).items()
    left = [(i, j) for (i, j), direction in directions if direction == "not claimed" and (unfit[i] or unfit[j])]
    names, edges = learned.variable_names(np.flatnonzero(unfit)), learned.edge_names(left)
    found = f"{counted(len(names), 'column')} {words.format(some(names))}"
    if not left:
        return Check(name, float(len(names)), f"{found}; no direction rests on that.", "note", {"columns": names})
    sentence = (
        f"{found}: the direction{'s' if len(left) > 1 else ''} of {counted(len(left), 'edge')} ({some(edges)}) "
        f"{'are' if len(left) > 1 else 'is'} not claimed, only that the two are connected."
    )
    return Check(name, float(len(left)), sentence, "warning", {"columns": names, "edges": edges})
