"""Parent sets: which are looked at, how well each explains a variable, and a memory of those that were scored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from torch import Tensor

from precede.arrays import BoolArray, FloatArray
from precede.errors import OptionError, check_positive
from precede.knowledge import Constraints
from precede.scores.assumptions import Assumptions
from precede.scores.moves import ParentSet

MOST_CANDIDATES = 16
"""Candidate parents of one variable at most: the look-up array has a place for each of their subsets."""

SETS_AT_ONCE = 16
"""Sets between two looks at the clock, for a local score that does not say (``sets_at_once``)."""


class LocalScore(Protocol):
    """How well sets of parents explain each variable: log-likelihood or log evidence, higher is better.

    Parameters
    ----------
    name : str
        Of the score that it makes.
    assumes : Assumptions
        What it takes for granted.
    n_samples, n_variables : int

    Notes
    -----
    It may have more: ``notes``, remarks for the user, and ``sets_at_once``, how many sets it is given between two looks
    at the clock.
    """

    name: str
    assumes: Assumptions
    n_samples: int
    n_variables: int

    def of_sets(self, sets: Sequence[ParentSet]) -> FloatArray:
        """Score of every variable given each set, (n_sets, n_variables); NaN for the members of the set."""


class ColumnScore(LocalScore, Protocol):
    """A local score with the standardized columns that it judges, (n_samples, n_variables)."""

    columns: Tensor


@dataclass(frozen=True)
class ParentSets:
    """Which parent sets are looked at.

    Parameters
    ----------
    candidates : (n_variables, n_variables) bool array, optional
        ``[i, j]``: i may be a parent of j; every other variable when left out. At most 16 per variable.
    max_parents : int
        Largest sets of all.
    table_size : int or None
        Largest sets that are scored at the start; ``max_parents`` when None, and then the maximum is exact.
    max_sets : int or None
        Once this many sets have been scored, the table included, none is grown any more; the score's ``notes`` say so.
    """

    candidates: BoolArray | None = None
    max_parents: int = 4
    table_size: int | None = None
    max_sets: int | None = None

    def __post_init__(self) -> None:
        check_positive("max_parents", self.max_parents, integer=True)
        if self.table_size is not None:
            check_positive("table_size", self.table_size, integer=True)

    def open_to(self, constraints: Constraints) -> BoolArray:
        """Candidates that the constraints leave, ``[i, j]``; a required parent is always there, and not one."""
        allowed = constraints.allowed & ~constraints.required
        if self.candidates is not None:
            allowed = allowed & self.candidates
        counts = allowed.sum(axis=0)
        if counts.max(initial=0) > MOST_CANDIDATES:
            raise OptionError(
                f"column {int(counts.argmax())} has {int(counts.max())} candidate parents and a sparse table takes "
                f"at most {MOST_CANDIDATES} a variable: screen them first (candidates=...)."
            )
        return np.asarray(allowed)


SMALL_SETS = ParentSets()


class ParentSetCache:
    """Local scores minus their penalty, computed once per set; one evaluation serves every variable outside the set."""

    def __init__(self, local: LocalScore, price: float) -> None:
        self.local, self.price = local, price
        self._rows: dict[ParentSet, FloatArray] = {}

    def __len__(self) -> int:
        """Number of sets evaluated."""
        return len(self._rows)

    def fill(self, sets: set[ParentSet], go_on: Callable[[], bool] = lambda: True) -> bool:
        """Evaluate the sets that are not there yet; False when ``go_on``, asked before each piece, put an end to it."""
        missing = sorted(sets - self._rows.keys())
        step = int(getattr(self.local, "sets_at_once", SETS_AT_ONCE))
        for start in range(0, len(missing), step):
            if not go_on():
                return False
            piece = missing[start : start + step]
            self._rows.update(zip(piece, self.local.of_sets(piece), strict=True))
        return True

    def score(self, variable: int, parents: ParentSet) -> float:
        """Penalized local score of a set that was filled in."""
        return float(self._rows[parents][variable]) - self.price * len(parents)
