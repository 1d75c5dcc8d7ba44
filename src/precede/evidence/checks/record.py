"""What a fit knows about its own result: checks, edges, and a typed record that also reads like a dictionary."""

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from typing_extensions import TypedDict

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.graph import CausalGraph
from precede.scores.assumptions import Assumptions
from precede.strict_json import JsonObject, plain

Level = Literal["fine", "note", "warning", "not run"]
Verdict = tuple[float | None, str, Level, Mapping[str, Any]] | tuple[float | None, str, Level, Mapping[str, Any], str]
"""What a check returns: its number, None where it could not be computed; its sentence, its level and more numbers; and
a remedy where the usual one does not fit."""

_TEXT = Path(__file__).with_name("remedies.txt").read_text(encoding="utf-8")
REMEDIES = {name: words.strip() for name, _, words in (line.partition(":") for line in _TEXT.splitlines())}
"""What to do about a concern, the most harmful concern first."""


@dataclass(frozen=True)
class Check:
    """A check of the result.

    Parameters
    ----------
    name : str
        What was looked at.
    value : float or None
        The number, None where it could not be computed.
    sentence : str
        What it means, in plain words, with the number.
    level : "fine", "note" or "warning"
    details : dict
        More numbers.
    remedy : str
        What to do about a warning, with what to type; that of the name when left out.
    """

    name: str
    value: float | None
    sentence: str
    level: Level
    details: Mapping[str, Any] = field(default_factory=dict)
    remedy: str = ""

    def __post_init__(self) -> None:
        if self.level == "warning" and not self.remedy:
            object.__setattr__(self, "remedy", REMEDIES.get(self.name, ""))


def ranked(said: Iterable[Check]) -> list[Check]:
    """Warnings first, then notes, what is fine, what was not run; among equals the most harmful first.

    Examples
    --------
    >>> found = [Check("nonlinearity", 1.0, "", "warning"), Check("search", None, "", "warning")]
    >>> [item.name for item in ranked(found)]
    ['search', 'nonlinearity']
    """
    levels, harms = ("warning", "note", "fine", "not run"), list(REMEDIES)
    return sorted(said, key=lambda x: (levels.index(x.level), harms.index(x.name) if x.name in harms else len(harms)))


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    Examples
    --------
    >>> counted(1, "edge"), counted(3, "edge")
    ('1 edge', '3 edges')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def some(items: Sequence[object], most: int = 3) -> str:
    """A few items in words, and how many more there are.

    Examples
    --------
    >>> some(["a", "b", "c", "d"])
    'a, b, c and 1 more'
    """
    rest = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(str(item) for item in items[:most]) + rest


Source = Literal[
    "structure", "shape", "curvature", "variances", "policy", "time", "experiment", "knowledge", "open", "unchecked"
]

SOURCE_WORDS: dict[str, str] = {name: name for name in get_args(Source)} | {
    "shape": "shape of the noise",
    "variances": "equal variances",
    "policy": "the policy",
    "experiment": "an experiment",
    "knowledge": "your knowledge",
    "unchecked": "not checked",
}
"""Where the direction of an edge comes from, as every page says it. Structure: independences between variables."""
Trend = Literal["rising", "falling", "mixed"]


class Remark(Check):
    """Something that was done or that limits the result, in a sentence; a warning unless it was asked for."""

    def __init__(self, sentence: str, level: Level = "warning", name: str = "remark") -> None:
        super().__init__(name, None, sentence, level)


@dataclass(frozen=True)
class Influence:
    """What is left of an edge without its most influential rows.

    Parameters
    ----------
    rows : tuple of int
        The rows that were left out, counted from 1 in the table as it was used.
    strength : float
        Without them.
    farthest : float
        How many standard deviations the farthest of them is from the mean, in the cause or the effect.
    """

    rows: tuple[int, ...]
    strength: float
    farthest: float


@dataclass(frozen=True)
class EdgeDiagnostics:
    """All that is known about one edge.

    Parameters
    ----------
    cause, effect : int
        Columns.
    weight : float or None
        In units of the effect per unit of the cause; None where the effect is not a straight line and so has none.
    strength : float
        Standard deviation of the cause's contribution over that of the effect; it has no sign. NaN, as what follows
        from the same fit, where a column holds categories.
    trend : "rising", "falling" or "mixed"
        How the effect moves with the cause along the fitted line or curve.
    partial_r2 : float
        Share of what the other causes leave of the effect that this one explains.
    source : str
        Where the direction comes from, a key of ``SOURCE_WORDS``; "open" where nothing determines it.
    influence : Influence or None
        None where single rows hardly matter.
    confidence, connected : float or None
        Share of fits with this edge, and with it in either direction: of the resamples of a bootstrap, or of the quick
        ones beside the fit itself, which counts as 15 of them. The one meaning of confidence everywhere.
    policy_probability : float or None
        What the pretrained policy gives the edge, where the result rests on it.
    """

    cause: int
    effect: int
    weight: float | None
    strength: float
    trend: Trend
    partial_r2: float
    source: Source = "unchecked"
    influence: Influence | None = None
    confidence: float | None = None
    connected: float | None = None
    policy_probability: float | None = None

    @property
    def place(self) -> tuple[int, int]:
        """Its place in a matrix of edges."""
        return self.cause, self.effect

    @property
    def directed(self) -> bool:
        """Whether the edge is drawn with a tip."""
        return self.source != "open"


def signed_strengths(edges: Iterable[tuple[int, int, float | None, Trend]], n_variables: int) -> FloatArray:
    """Strengths of (cause, effect, strength, trend) by column, negative where the effect falls as the cause rises."""
    matrix = np.zeros((n_variables, n_variables))
    for cause, effect, strength, trend in edges:
        size = np.nan if strength is None else strength
        matrix[cause, effect] = -size if trend == "falling" else size
    return matrix


def unchecked_edges(graph: CausalGraph) -> tuple[EdgeDiagnostics, ...]:
    """The edges of a graph of which nothing else is known, in causal order of the cause."""
    unknown = float("nan")
    places = ((int(i), int(j)) for i in graph.positions for j in np.flatnonzero(graph.edges[i]))
    return tuple(EdgeDiagnostics(*place, None, unknown, "mixed", unknown) for place in places)


class EdgePlot(TypedDict):
    """Partial plot of an edge: the effect without its other causes, along the cause; numbers as short as it shows them.

    Parameters
    ----------
    slope : float or None
        Of the straight line; None where the method assumes none.
    curve : list of float
        The smooth fit, along the grid of the cause.
    points : list of float
        Of the rows that are shown.
    extremes : two lists of float
        Cause and effect of points far out that are not among the rows.
    density : list of lists of int
        Rows by cause (first axis) and effect, for a report without points; cells with few rows are empty.
    extent : list of four floats
        Least and largest of the cause, then of the effect, of the density.
    outside : int
        Rows beyond it.
    """

    slope: float | None
    curve: list[float] | None
    points: list[float] | None
    extremes: list[list[float]] | None
    density: list[list[int]] | None
    extent: list[float] | None
    outside: int


class NodePlot(TypedDict):
    """What the plots of its edges need of a variable.

    Parameters
    ----------
    values : list of float
        In the rows that are shown.
    grid : list of float
        Where along it the curves are drawn.
    histogram : list of int
    range : list of two floats
        Least and largest value that the histogram shows.
    """

    values: list[float] | None
    grid: list[float] | None
    histogram: list[int] | None
    range: list[float] | None


@dataclass(frozen=True, eq=False)
class Diagnostics(Mapping[str, Any]):
    """What is known about a result: ``model.diagnostics_``.

    It reads like a dictionary of plain values, ready for JSON: ``diagnostics_["checks"]``, ``["remarks"]``,
    ``["search"]``, ``["score_choice"]`` and whatever else the method reports. The attributes are typed.

    Parameters
    ----------
    reported : mapping
        What the method says of itself.
    assumptions : Assumptions
    remarks : tuple of Remark
        All that limits the result.
    checks : tuple of Check
    edges : tuple of EdgeDiagnostics
        In causal order.
    resamples : int
        How many resamples the confidences of the edges rest on; 0 where that is not known.
    checked : bool
        Whether checks were asked for.
    plots : (list of EdgePlot, list of NodePlot), optional
        What a report draws of each edge and of each variable; not among the plain values.
    resampled : (n_resamples, n_variables, n_variables) array, optional
        The graphs of the resamples, as of a :class:`precede.CausalGraph`; not among the plain values.

    Examples
    --------
    >>> found = Diagnostics({"converged": True}, remarks=(Remark("The table was cut short."),))
    >>> found["converged"], found["remarks"], found.warnings
    (True, ['The table was cut short.'], ['The table was cut short.'])
    """

    reported: Mapping[str, Any] = field(default_factory=dict)
    assumptions: Assumptions = field(default_factory=Assumptions)
    remarks: tuple[Remark, ...] = ()
    checks: tuple[Check, ...] = ()
    edges: tuple[EdgeDiagnostics, ...] = ()
    resamples: int = 0
    checked: bool = False
    plots: tuple[list[EdgePlot], list[NodePlot]] | None = None
    resampled: BoolArray | IntArray | None = None

    @property
    def has_confidence(self) -> bool:
        """Whether the rows were resampled."""
        return any(edge.confidence is not None for edge in self.edges)

    @property
    def said(self) -> list[Check]:
        """Every remark and check: warnings first, the most harmful first."""
        return ranked([*self.remarks, *self.checks])

    @property
    def warnings(self) -> list[str]:
        """The sentences of every remark and check that is a warning."""
        return [item.sentence for item in self.said if item.level == "warning"]

    @property
    def sentences(self) -> list[str]:
        """Everything that is said, warnings first."""
        return [item.sentence for item in self.said]

    def __str__(self) -> str:
        """A page: the warnings with their remedies, the notes, and how much more there is."""
        lines = []
        for item in self.said:
            if item.level in ("warning", "note"):
                lines.append(f"{'!' if item.level == 'warning' else '-'} {item.sentence} {item.remedy}".rstrip())
        counts = Counter(item.level for item in self.said)
        lines.append(f"{counts['fine']} checks passed, {counts['not run']} were not run.")
        if self.edges:
            sources = Counter(SOURCE_WORDS[edge.source] for edge in self.edges)
            words = ", ".join(f"{words} {count}" for words, count in sources.most_common())
            lines.append(f"{len(self.edges)} edges; directions from: {words}.")
        lines.append(f"More: {', '.join(self)}.")
        return "\n".join(textwrap.fill(line, 100, subsequent_indent="  ") for line in lines)

    __repr__ = __str__

    @cached_property
    def _plain(self) -> JsonObject:
        own: JsonObject = {"remarks": [remark.sentence for remark in self.remarks]}
        if self.checked:
            own |= {"checks": plain(self.checks), "edges": plain(self.edges), "resamples": self.resamples}
        return {**plain(self.reported), **own}

    def to_dict(self) -> JsonObject:
        """Plain values, ready for JSON."""
        return dict(self._plain)

    def __getitem__(self, name: str) -> Any:
        return self._plain[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._plain)

    def __len__(self) -> int:
        return len(self._plain)
