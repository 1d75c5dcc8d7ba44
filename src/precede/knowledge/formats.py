"""Background knowledge of other packages, read into the fields of :class:`precede.Knowledge`.

Neither package is imported: causal-learn's object is asked for its content, lingam's is a matrix.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from itertools import permutations
from typing import Any, Literal, TypedDict

import numpy as np

from precede.arrays import BoolArray
from precede.errors import KnowledgeError, check_choice, refusing
from precede.lazy import networkx

PathReading = Literal["exact", "edges"]


class KnowledgeFields(TypedDict, total=False):
    """Fields of :class:`precede.Knowledge`."""

    required: list[tuple[Hashable, Hashable]]
    forbidden: list[tuple[Hashable, Hashable]]
    tiers: list[list[Hashable]]


def fields_from_causallearn(source: Any, names: Sequence[Hashable] | None) -> KnowledgeFields:
    """Read causal-learn's ``BackgroundKnowledge``, which speaks of edges as we do: nothing is lost.

    Its patterns are regular expressions that match the beginning of a name; they are written out over ``names``. A
    tier within which edges are forbidden becomes forbidden pairs.
    """
    parts = ("required_rules_specs", "forbidden_rules_specs", "tier_value_map")
    if not all(hasattr(source, part) for part in parts):
        raise KnowledgeError(f"a {type(source).__name__} is not causal-learn's BackgroundKnowledge.")
    columns = None if names is None else {str(name): name for name in names}

    def named(node: Any) -> Hashable:
        name = str(node.get_name())
        return name if columns is None else columns.get(name, name)

    edges: dict[str, list[tuple[Hashable, Hashable]]] = {}
    for kind in ("required", "forbidden"):
        pairs = [(named(cause), named(effect)) for cause, effect in getattr(source, f"{kind}_rules_specs")]
        for pattern in sorted(getattr(source, f"{kind}_pattern_rules_specs", ())):
            pairs += _matching(kind, pattern, columns)
        edges[kind] = sorted(set(pairs), key=repr)
    levels: dict[int, list[Hashable]] = {}
    for node, level in source.tier_value_map.items():
        levels.setdefault(int(level), []).append(named(node))
    for level in sorted(getattr(source, "forbidden_within_tiers", ())):
        edges["forbidden"] += permutations(sorted(levels.get(level, []), key=repr), 2)
    tiers = [sorted(levels[level], key=repr) for level in sorted(levels)]
    return {"required": edges["required"], "forbidden": edges["forbidden"], "tiers": tiers}


def _matching(
    kind: str, pattern: tuple[str, str], columns: dict[str, Hashable] | None
) -> list[tuple[Hashable, Hashable]]:
    if columns is None:
        raise KnowledgeError(
            f"the {kind} pattern {pattern[0]!r} -> {pattern[1]!r} of causal-learn is a regular expression: "
            "give the names of the columns, so that it can be written out."
        )
    with refusing(re.error, KnowledgeError, f"the {kind} pattern {pattern[0]!r} -> {pattern[1]!r} is not valid:"):
        causes, effects = ([name for name in columns if re.match(expression, name)] for expression in pattern)
    return [(columns[cause], columns[effect]) for cause in causes for effect in effects if cause != effect]


def fields_from_lingam(matrix: Any, names: Sequence[Hashable] | None, reading: PathReading) -> KnowledgeFields:
    """Read lingam's ``prior_knowledge`` matrix, which speaks of directed paths where we speak of edges.

    ``matrix[i, j]`` is about paths from j to i (effects in rows, as lingam computes and ``make_prior_knowledge``
    fills it): 0 says that there is none, 1 that there is one, -1 nothing.
    """
    check_choice("reading", reading, ("exact", "edges"))
    known = np.asarray(matrix)
    if known.ndim != 2 or known.shape[0] != known.shape[1]:
        raise KnowledgeError(f"lingam's prior knowledge is a square matrix; this has shape {known.shape}.")
    with refusing((TypeError, ValueError), KnowledgeError, "lingam's prior knowledge holds numbers only: 0, 1 and -1."):
        known = known.astype(float).T  # transposed: lingam puts effects in rows
    labels = list(range(len(known))) if names is None else list(names)
    if len(labels) != len(known):
        raise KnowledgeError(f"the prior knowledge is over {len(known)} variables; {len(labels)} names were given.")
    known = np.where(np.isnan(known) | (known < 0), -1, known)
    np.fill_diagonal(known, -1)
    if not np.isin(known, (-1, 0, 1)).all():
        strange = known[~np.isin(known, (-1, 0, 1))][0]
        raise KnowledgeError(f"lingam's prior knowledge holds {strange:g}; only 0, 1 and -1 have a meaning there.")
    forbidden, required = known == 0, known == 1
    if reading == "exact":
        _check_edges_say_the_same(forbidden, required, labels)
    return {
        "forbidden": [(labels[i], labels[j]) for i, j in np.argwhere(forbidden)],
        "required": [(labels[i], labels[j]) for i, j in np.argwhere(required)],
    }


def _check_edges_say_the_same(no_path: BoolArray, path: BoolArray, labels: Sequence[Hashable]) -> None:
    """Refuse a statement about a path that one about its edge would weaken or strengthen: there is a detour."""
    allowed = networkx.from_numpy_array(~no_path & ~np.eye(len(labels), dtype=bool), create_using=networkx.DiGraph)
    for i, j in np.argwhere(no_path | path):
        if not networkx.has_path(networkx.restricted_view(allowed, [], [(i, j)]), i, j):
            continue
        said = f"from {labels[i]!r} to {labels[j]!r}"
        if no_path[i, j]:
            raise KnowledgeError(
                f"lingam's prior knowledge says that no path leads {said}; forbidding the edge would leave paths "
                "through other variables open, so list tiers, roots or sinks instead, or take reading='edges'."
            )
        raise KnowledgeError(
            f"lingam's prior knowledge says that a path leads {said}, through whichever variables; edges cannot say "
            "that, so require the edge yourself, or take reading='edges'."
        )
