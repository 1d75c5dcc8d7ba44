"""One check: its number, and its sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Level = Literal["fine", "note", "warning"]


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
    """

    name: str
    value: float | None
    sentence: str
    level: Level
    details: Mapping[str, Any] = field(default_factory=dict)


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
