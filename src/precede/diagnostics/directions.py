"""Directions: which of them the data can tell, and which are not claimed."""

from __future__ import annotations

import numpy as np

from precede.arrays import BoolArray
from precede.diagnostics.check import Check, Level, counted, some
from precede.diagnostics.learned import Learned
from precede.diagnostics.record import Direction
from precede.graph.equivalence import class_of


def stepped_columns(learned: Learned) -> BoolArray:
    """Columns of few values and counts that the method takes for continuous numbers, (n_variables,)."""
    return np.array([kind.name != "number" and not learned.levels for kind in learned.table.kinds])


def edge_directions(learned: Learned) -> dict[tuple[int, int], Direction]:
    """What may be claimed about each edge's direction.

    An edge that conditional independences or background knowledge direct is told by any score. The others are told
    only by a score that identifies more than the class, between columns that are what it takes them for.
    """
    pattern = class_of(learned.edges, learned.table.targets)
    fixed = _known_directions(learned)
    stepped = stepped_columns(learned)
    result: dict[tuple[int, int], Direction] = {}
    for i, j in np.argwhere(learned.edges):
        loose = bool(pattern[j, i]) and not fixed[i, j]
        if loose and (stepped[i] or stepped[j]):
            direction: Direction = "not claimed"
        else:
            direction = "either way" if loose and learned.identifies == "cpdag" else "told"
        result[int(i), int(j)] = direction
    return result


def _known_directions(learned: Learned) -> BoolArray:
    """Edges that background knowledge directs, (n_variables, n_variables)."""
    if learned.constraints is None:
        return np.zeros_like(learned.edges)
    known = learned.constraints
    return np.asarray(known.before | known.required | ~known.allowed.T)  # transposed: where the other way is forbidden


def check_identifiability(learned: Learned) -> Check:
    """Which edges could be turned round without changing what the data say."""
    name = "identifiability"
    pattern = class_of(learned.edges, learned.table.targets)
    loose_edges = learned.edges & (pattern.T == 1) & ~_known_directions(learned)  # transposed: either way
    loose = [(int(i), int(j)) for i, j in np.argwhere(loose_edges)]
    details = {"undirected": learned.edge_names(loose)}
    n = learned.n_edges
    level: Level
    if n == 0:
        return Check(name, 0.0, "No edges, so no directions to tell (0 undirected).", "fine", details)
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
    """Whether columns that are no continuous numbers were taken for such, and what is not claimed for that."""
    name = "kinds of columns"
    stepped = np.flatnonzero(stepped_columns(learned))
    if len(stepped) == 0:
        return None
    left = [edge for edge, direction in edge_directions(learned).items() if direction == "not claimed"]
    names, edges = learned.variable_names(stepped), learned.edge_names(left)
    found = (
        f"{counted(len(names), 'column')} with few values, or counts ({some(names)}), taken for continuous numbers by "
        "this method"
    )
    if not left:
        return Check(name, float(len(names)), f"{found}; no direction rests on that.", "note", {"columns": names})
    sentence = (
        f"{found}: the direction{'s' if len(left) > 1 else ''} of {counted(len(left), 'edge')} ({some(edges)}) "
        f"{'are' if len(left) > 1 else 'is'} not claimed, only that the two are connected."
    )
    return Check(name, float(len(left)), sentence, "warning", {"columns": names, "edges": edges})
