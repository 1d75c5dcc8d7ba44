"""One check, its number and its sentence; and what all checks look at."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.diagnostics.mechanisms import Mechanisms, fit_mechanisms
from precede.knowledge import Constraints
from precede.pruning.weights import THRESHOLD
from precede.scores.assumptions import Assumptions
from precede.scores.build import assumptions_of
from precede.scores.covariance import covariance, regularised

Level = Literal["fine", "note", "warning"]


@dataclass(frozen=True)
class Diagnostic:
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
        More numbers, JSON-ready.
    """

    name: str
    value: float | None
    sentence: str
    level: Level
    details: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain values by name; what is not a finite number becomes None."""
        finite = self.value is not None and math.isfinite(self.value)
        return {
            "name": self.name,
            "value": float(self.value) if finite and self.value is not None else None,
            "sentence": self.sentence,
            "level": self.level,
            "details": self.details,
        }


@dataclass(frozen=True)
class Learned:
    """What was learned and how: the input of every check. The parameters are those of :func:`diagnose`."""

    values: FloatArray
    edges: BoolArray
    order: IntArray
    names: Sequence[Hashable]
    score: str | None = None
    noise: str = "auto"
    identifies: str = "dag"
    search: dict[str, Any] = field(default_factory=dict)
    pruning: str = "auto"
    threshold: float = THRESHOLD
    cutoff: float = 0.001
    constraints: Constraints | None = None
    confidence: FloatArray | None = None

    @property
    def n_samples(self) -> int:
        return int(self.values.shape[0])

    @property
    def n_variables(self) -> int:
        return int(self.values.shape[1])

    @property
    def n_edges(self) -> int:
        return int(self.edges.sum())

    @property
    def assumptions(self) -> Assumptions:
        return assumptions_of(self.score, self.noise)

    @cached_property
    def linear_fit(self) -> Mechanisms:
        """Every variable regressed linearly on its parents."""
        return fit_mechanisms(self.values, self.edges, "linear")

    @cached_property
    def fit(self) -> Mechanisms:
        """Every variable regressed on its parents in the way that the method assumes."""
        if self.assumptions.mechanism != "additive":
            return self.linear_fit
        return fit_mechanisms(self.values, self.edges, "additive")

    @cached_property
    def correlation(self) -> FloatArray:
        """Correlations over all rows, made regular where they are singular."""
        matrix = covariance(self.values)
        scale = np.sqrt(np.diag(matrix))
        return regularised(matrix / np.outer(scale, scale))

    @cached_property
    def covariance(self) -> FloatArray:
        """Covariances over all rows, made regular where they are singular."""
        return regularised(covariance(self.values))

    def variable_names(self, variables: IntArray) -> list[str]:
        """Names of columns, as text."""
        return [str(self.names[int(j)]) for j in variables]

    def edge_names(self, edges: Sequence[tuple[int, int]]) -> list[str]:
        """``cause -> effect`` for each pair of columns."""
        return [f"{self.names[i]} -> {self.names[j]}" for i, j in edges]


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
