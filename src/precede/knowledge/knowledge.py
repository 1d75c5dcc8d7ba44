"""Background knowledge: what the user says, by name, and the matrices over columns that every search obeys."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from precede.arrays import BoolArray, IntArray
from precede.errors import MISSHAPEN, KnowledgeError, did_you_mean, listed, refusing
from precede.graph.dags import ancestors, find_cycle
from precede.knowledge.formats import PathReading, fields_from_causallearn, fields_from_lingam
from precede.lazy import networkx

Edge = tuple[Hashable, Hashable]


@dataclass(frozen=True)
class Constraints:
    """Knowledge compiled to matrices over columns.

    Parameters
    ----------
    required, allowed : (n_variables, n_variables) bool arrays
        Edges that the graph must have, and that it may have.
    before : (n_variables, n_variables) bool array
        ``before[i, j]``: i must be placed before j; transitively closed.
    """

    required: BoolArray
    allowed: BoolArray
    before: BoolArray = field(repr=False)

    @classmethod
    def none(cls, n_variables: int) -> Constraints:
        """No knowledge at all."""
        nothing = np.zeros((n_variables, n_variables), dtype=bool)
        return cls(nothing, ~np.eye(n_variables, dtype=bool), nothing)

    @classmethod
    def together(cls, parts: Sequence[Constraints]) -> Constraints | None:
        """What several say together; None where they contradict each other."""
        required, allowed = np.any([one.required for one in parts], 0), np.all([one.allowed for one in parts], 0)
        before = ancestors(np.any([one.before for one in parts], 0) | required)
        contradict = (required & ~allowed).any() or (before & before.T).any()  # transposed: both ways round
        return None if contradict else cls(required, allowed, before)

    def with_precedences(self, edges: BoolArray) -> Constraints:
        """The same, and every edge of a graph that agrees with it as a precedence."""
        return Constraints(self.required, self.allowed, ancestors(self.before | edges)) if edges.any() else self

    def in_time(self, steps: Sequence[int] | None, names: Sequence[Hashable]) -> Constraints:
        """The same, and those of time: columns of earlier steps come first, and have no causes among the columns.

        Knowledge that contradicts time is refused. That roots come first and sinks last is no part of it: they do so
        within their step, since a root has no cause, and a sink no effect, wherever it stands.
        """
        if steps is None:
            return self
        lag = np.array(steps)
        _refuse_causes_of_the_past(self.required, lag, names)
        backward = self.before & (lag[:, None] < lag[None, :])
        root, sink = (~np.asarray(self.allowed.any(axis=axis)) for axis in (0, 1))
        free = root[:, None] | sink[None, :]
        against = np.argwhere(backward & ~free)
        if len(against):
            late, early = (names[int(k)] for k in against[0])
            raise KnowledgeError(
                f"the tiers place {late!r} before {early!r}, which is of an earlier step: time orders the steps by "
                "itself, so name columns of one step only in the tiers."
            )
        before = ancestors((self.before & ~backward) | (lag[:, None] > lag[None, :]))
        return Constraints(self.required, self.allowed & (lag[None, :] == 0), before)

    def directs(self, edges: BoolArray) -> BoolArray:
        """Edges whose direction is known: they are required, or the other way is forbidden or against a precedence."""
        return np.asarray(edges & (self.before | self.required | ~self.allowed.T))  # transposed: the other way

    def apply(self, edges: BoolArray) -> BoolArray:
        """Drop what is forbidden, add what is required."""
        result: BoolArray = (edges & self.allowed) | self.required
        return result

    def violated_by(self, edges: BoolArray) -> bool:
        """Whether a graph breaks the knowledge, be it by an edge or, across the tiers, by a path."""
        if (edges & ~self.allowed).any() or (self.required & ~edges).any():
            return True
        return bool((ancestors(edges) & self.before.T).any())  # transposed: a path against a precedence

    def permits(self, order: IntArray) -> bool:
        """Whether an order keeps every precedence."""
        position = np.argsort(order)
        return not (self.before & (position[:, None] > position[None, :])).any()

    def nearest_order(self, order: IntArray) -> IntArray:
        """The permitted order that follows a wished-for one as closely as a stable sort can.

        Place, again and again, the earliest wished variable whose predecessors are all placed.
        """
        if self.permits(order):
            return order
        relabeled = self.before[np.ix_(order, order)]  # in wished sequence
        placed: list[int] = []
        waiting = relabeled.sum(axis=0)
        done = np.zeros(len(order), dtype=bool)
        for _ in range(len(order)):
            nxt = int(np.flatnonzero((waiting == 0) & ~done)[0])
            done[nxt] = True
            waiting = waiting - relabeled[nxt]
            placed.append(nxt)
        return np.asarray(order)[placed]


@dataclass(frozen=True)
class Knowledge:
    """What is known before looking at the data.

    Parameters
    ----------
    required, forbidden : iterables of (cause, effect)
        Edges that must, and that must not, be in the graph.
    tiers : iterable of iterables
        The order of time: every variable of a tier is placed before every variable of a later tier, so that neither
        an edge nor a directed path leads from a later tier to an earlier one. Within a tier anything goes. A variable
        in no tier may stand anywhere, before, between or after the tiers, and may cause and be caused by any
        variable; only, as time runs one way, a path from a later to an earlier tier may not lead through it either.
    roots, sinks : iterables
        Variables without causes, variables without effects.

    Notes
    -----
    A name may be a pattern with ``*``, ``?`` or ``[...]``, which stands for every column that it matches (an edge
    between two patterns, for every pair of distinct columns). A column's own name is never read as a pattern. All
    fields are kept as tuples.

    Examples
    --------
    >>> knowledge = Knowledge(required=[("rain", "wet")], tiers=[["rain"], ["wet", "slip"]])
    >>> knowledge.over(["wet", "rain", "slip"]).allowed.astype(int)
    array([[0, 0, 1],
           [1, 0, 1],
           [1, 0, 0]])

    Two tiers, and a variable in none of them, which may be a cause of the earlier tier or an effect of the later:

    >>> constraints = Knowledge(tiers=[["young"], ["old"]]).over(["young", "old", "weather"])
    >>> [constraints.permits(np.array(order)) for order in ([2, 0, 1], [0, 2, 1], [0, 1, 2], [1, 2, 0])]
    [True, True, True, False]
    """

    required: Iterable[Edge] = ()
    forbidden: Iterable[Edge] = ()
    tiers: Iterable[Iterable[Hashable]] = ()
    roots: Iterable[Hashable] = ()
    sinks: Iterable[Hashable] = ()

    def __post_init__(self) -> None:
        """Keep tuples: an iterator would be used up by the first table."""
        for name in ("required", "forbidden"):
            edges = tuple(_names(edge) for edge in getattr(self, name))
            if any(len(edge) != 2 for edge in edges):
                raise KnowledgeError(f"each entry of {name!r} must be a pair (cause, effect).")
            object.__setattr__(self, name, edges)
        object.__setattr__(self, "tiers", tuple(map(_names, self.tiers)))
        for name in ("roots", "sinks"):
            object.__setattr__(self, name, _names(getattr(self, name)))

    def over(self, names: Sequence[Hashable]) -> Constraints:
        """Compile to matrices over columns; unknown names, contradictions and cycles are refused."""
        d = len(names)
        find = _Finder(names)
        required = np.zeros((d, d), dtype=bool)
        forbidden = np.eye(d, dtype=bool)
        for matrix, edges in ((required, self.required), (forbidden, self.forbidden)):
            for cause, effect in edges:
                causes, effects = find(cause), find(effect)
                matrix[np.ix_(causes, effects)] = True
                if len(causes) > 1 or len(effects) > 1:  # a pattern that matches both sides asks for no self-loop
                    np.fill_diagonal(matrix, matrix is forbidden)
        root = np.isin(np.arange(d), [k for name in self.roots for k in find(name)])
        sink = np.isin(np.arange(d), [k for name in self.sinks for k in find(name)])
        forbidden[:, root] = True
        forbidden[sink, :] = True
        tier = self._tier_of(find, names)
        earlier = (tier[:, None] >= 0) & (tier[:, None] < tier[None, :])  # [i, j]: i's tier is before j's
        forbidden |= earlier.T  # transposed: no edge from the later to the earlier
        _refuse_contradictions(required, forbidden, earlier, names)
        return Constraints(required, ~forbidden, ancestors(required | _precedence(tier, earlier, root, sink)))

    def _tier_of(self, find: _Finder, names: Sequence[Hashable]) -> IntArray:
        """Tier number of each column, -1 where it is in none."""
        tier = np.full(len(names), -1, dtype=np.int64)
        for level, members in enumerate(self.tiers):
            for k in (k for name in members for k in find(name)):
                if tier[k] not in (-1, level):
                    raise KnowledgeError(f"{names[k]!r} is in tier {tier[k]} and in tier {level}.")
                tier[k] = level
        return tier

    @classmethod
    def from_file(cls, path: str | Path) -> Knowledge:
        """Read a small JSON or TOML file with the fields of this class.

        .. code-block:: toml

            required = [["rain", "wet"]]
            forbidden = [["wet", "*"]]
            tiers = [["season"], ["rain", "sprinkler"], ["wet"]]
            roots = ["season"]
        """
        path = Path(path)
        shown, kind = f"the knowledge file {path.name!r}", "JSON" if path.suffix == ".json" else "TOML"
        with refusing(OSError, KnowledgeError, f"{shown} cannot be read:"):
            content = path.read_bytes()
        with refusing(MISSHAPEN, KnowledgeError, f"{shown} is not valid {kind}:"):  # or a number has too many digits
            found = (json if kind == "JSON" else tomllib).loads(content.decode("utf-8"))
        return cls.from_dict(found)

    @classmethod
    def from_causallearn(cls, source: Any, names: Sequence[Hashable] | None = None) -> Knowledge:
        """From causal-learn's ``BackgroundKnowledge``.

        Parameters
        ----------
        source : BackgroundKnowledge
            Edges by node, edges by pattern, tiers, and tiers without edges inside them: all is carried over. Its
            tiers speak of edges alone, ours of paths too, which differs only where some variable is in no tier.
        names : sequence, optional
            The columns, over which its patterns (regular expressions) are written out; needed only for those.
        """
        return cls(**fields_from_causallearn(source, names))

    @classmethod
    def from_lingam(
        cls, matrix: Any, names: Sequence[Hashable] | None = None, reading: PathReading = "exact"
    ) -> Knowledge:
        """From lingam's ``prior_knowledge`` matrix (0: no directed path, 1: a directed path, -1: unknown).

        Parameters
        ----------
        matrix : (n_variables, n_variables) array
            ``[i, j]`` is about paths from j to i: effects in rows, as ``lingam.utils.make_prior_knowledge`` fills it
            and ``DirectLiNGAM`` obeys it. (The text of lingam's documentation has it the other way round.)
        names : sequence, optional
            The columns; the integers from 0 when left out.
        reading : {"exact", "edges"}
            lingam speaks of paths, we of edges. "exact" carries over what edges can say without loss: exogenous and
            sink variables, complete tiers, a path that only its own edge can make. Anything else is refused. "edges"
            reads 0 as a forbidden and 1 as a required edge: paths through other variables stay possible where
            there is a 0, and a 1 asks for more than lingam does (which only takes care of the order).

        Examples
        --------
        >>> Knowledge.from_lingam([[-1, 0], [1, -1]], ["cause", "effect"]).required
        (('cause', 'effect'),)
        """
        return cls(**fields_from_lingam(matrix, names, reading))

    @classmethod
    def from_dict(cls, content: Any) -> Knowledge:
        """Check the shape of what a file held; every fault is named."""
        known = [part.name for part in fields(cls)]
        if not isinstance(content, dict):
            raise KnowledgeError(
                f"knowledge is a table with some of {listed(known)}; this is a {type(content).__name__}."
            )
        for name, value in content.items():
            if name not in known:
                raise KnowledgeError(f"knowledge has no field {name!r}; it has {listed(known)}.")
            nested = name in ("required", "forbidden", "tiers")
            rows = value if isinstance(value, list) and nested else [value]
            if not isinstance(value, list) or not all(
                isinstance(row, list) and all(map(_is_name, row)) for row in rows
            ):
                shape = "a list of lists of names" if nested else "a list of names"
                raise KnowledgeError(f"{name!r} must be {shape}.")
        return cls(**content)


def _names(given: Any) -> tuple[Hashable, ...]:
    """One name, or several."""
    return tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)


def _is_name(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


class _Finder:
    """Columns that a name or a pattern stands for."""

    def __init__(self, names: Sequence[Hashable]) -> None:
        self.names = names
        self.index = {name: k for k, name in enumerate(names)}

    def __call__(self, name: Hashable) -> list[int]:
        if name in self.index:
            return [self.index[name]]
        if isinstance(name, str) and any(sign in name for sign in "*?["):
            found = [k for k, column in enumerate(self.names) if fnmatchcase(str(column), name)]
            if found:
                return found
            raise KnowledgeError(f"the pattern {name!r} matches no column; the columns are {listed(self.names, 20)}.")
        raise KnowledgeError(
            f"the knowledge names {name!r}, which the data does not have;{did_you_mean(name, self.names)} its columns "
            f"are {listed(self.names, 20)}."
        )


def _precedence(tier: IntArray, earlier: BoolArray, root: BoolArray, sink: BoolArray) -> BoolArray:
    """Which variable to place before which: as much as costs no graph that obeys.

    A root has no causes and may as well come first, a sink last. Where every variable has a tier that holds for a
    root of a later tier too: it has no edge to an earlier one. A variable in no tier could carry a path from such a
    root back to an earlier tier; then the root takes the first places of its own tier. Likewise for sinks.
    """
    late = early = np.zeros(len(tier), dtype=bool)
    if (tier < 0).any():
        late = root & ~sink & (earlier & ~root[:, None]).any(axis=0)  # a variable with causes is in an earlier tier
        early = sink & ~root & (earlier & ~sink[None, :]).any(axis=1)
    first = root & ~late
    last = sink & ~early & ~first
    middle = ~first & ~last
    before = first[:, None] & ~first[None, :]
    before |= ~last[:, None] & last[None, :]
    before |= earlier & middle[:, None] & middle[None, :]
    same = (tier[:, None] == tier[None, :]) & (tier >= 0)
    before |= same & late[:, None] & ~root[None, :]
    before |= same & early[None, :] & ~sink[:, None]
    return before


def _refuse_contradictions(
    required: BoolArray, forbidden: BoolArray, earlier: BoolArray, names: Sequence[Hashable]
) -> None:
    clash = np.argwhere(required & forbidden)
    if len(clash):
        cause, effect = names[clash[0][0]], names[clash[0][1]]
        if cause == effect:
            raise KnowledgeError(f"{cause!r} is required to cause itself.")
        raise KnowledgeError(
            f"the edge {cause!r} -> {effect!r} is both required and forbidden "
            "(by name, by the tiers, or by a root or sink)."
        )
    cycle = find_cycle(required)
    if cycle:
        path = " -> ".join(repr(names[k]) for k in [*cycle, cycle[0]])
        raise KnowledgeError(f"the required edges form a cycle: {path}.")
    back = np.argwhere(ancestors(required) & earlier.T)  # transposed: from the later to the earlier
    if len(back):
        start, end = map(int, back[0])
        graph = networkx.from_numpy_array(required, create_using=networkx.DiGraph)
        path = " -> ".join(repr(names[k]) for k in networkx.shortest_path(graph, start, end))
        raise KnowledgeError(f"the required edges {path} lead from a later tier back to an earlier one.")


def _refuse_causes_of_the_past(required: BoolArray, lag: IntArray, names: Sequence[Hashable]) -> None:
    """Refuse required edges into columns of earlier steps, whose causes no window of steps shows."""
    for cause, effect in np.argwhere(required & (lag[None, :] > 0)):
        edge = f"the required edge {names[cause]!r} -> {names[effect]!r}"
        if lag[cause] < lag[effect]:
            raise KnowledgeError(
                f"{edge} leads back in time: a cause is of the same step as its effect, or of an earlier one."
            )
        raise KnowledgeError(
            f"{edge} is about the past, whose causes are not learned: require it of the present, with an effect that "
            "is not lagged."
        )


def constraints_over(knowledge: Knowledge | None, names: Sequence[Hashable]) -> Constraints:
    """Compile knowledge that may be absent."""
    return Constraints.none(len(names)) if knowledge is None else knowledge.over(names)
