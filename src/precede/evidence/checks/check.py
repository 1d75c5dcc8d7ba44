"""One check: its number, and its sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Level = Literal["fine", "note", "warning", "not run"]

REMEDIES = {
    "better than chance": "Take it as a guess; say what you know: --knowledge FILE.",
    "rows near each other": "If the rows are in time: --lags 1 (--group NAME for several series).",
    "knowledge against the data": "Check the rule; without it the data decide.",
    "identifiability": "Say what you know: --tier 'a,b<c', --root NAME, or --knowledge FILE.",
    "kinds of columns": "Name the kind (--types NAME=ordinal) or take --score degenerate-gaussian.",
    "search": "Give it more time: --max-time SECONDS, or none.",
    "influence of single rows": "Look at these rows; --na VALUE makes an error missing.",
    "values far out": "Look at these cells; --na VALUE makes an error missing, or take logarithms.",
    "unstable edges": "Do not rely on these edges; --bootstrap 100 gives a finer number.",
    "unlikely edges": "Do not rely on these edges; --bootstrap 100 tells how stable they are.",
    "independences against chance": "Try another model: --score sparse-gp.",
    "effect of standardizing": "Take a score without units: --score sparse-linear.",
    "equal noise variances": "Take a score without equal variances: --score sparse-linear.",
    "nonlinearity": "Compare with --score sparse-gp for curves, --score sparse-linear for lines.",
    "residual normality": "Compare with --score sparse-linear.",
    "columns cut off": "Say what you know: --tier 'a,b<c', or leave the column out: --leave-out NAME.",
    "distance to the best score known": "Search longer: --max-time SECONDS, or none.",
    "held-out likelihood": "Compare with --score sparse-gp.",
    "edges within reach of the threshold": "Do not rely on these edges; --bootstrap 100 tells more.",
    "remark": "",
}
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
