"""Parent sets: candidates, which sets are looked at, what each explains, and a memory of those scored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Protocol

import numpy as np
from torch import Tensor

from precede.arrays import BoolArray, FloatArray
from precede.errors import OptionError, check_positive
from precede.knowledge import Constraints
from precede.scores.assumptions import Assumptions
from precede.scores.heteroscedasticity import hinge_basis
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


def candidate_parents(evidence: ColumnScore, most: int, constraints: Constraints) -> BoolArray:
    """Candidates of each variable, ``[i, j]``: i may be a parent of j (as CAM's preliminary neighborhood selection).

    Two rankings take turns: the evidence given one variable alone, and the path of an additive spline regression that
    takes in the most useful variable next. Together they find strong parents and those that only show beside others.
    """
    d = evidence.n_variables
    free = constraints.allowed & ~constraints.required
    if (free.sum(axis=0) <= most).all():
        return free
    singles = evidence.of_sets([(i,) for i in range(d)])
    columns = evidence.columns.cpu().numpy()
    bases = np.stack([hinge_basis(columns[:, i])[:, 1:] for i in range(d)], axis=1)  # (m, d, n_terms)
    bases = bases - bases.mean(axis=0)
    candidates = np.zeros((d, d), dtype=bool)
    for v in range(d):
        open_to_v = np.flatnonzero(free[:, v])
        alone = open_to_v[np.argsort(-singles[open_to_v, v], kind="stable")]
        beside = open_to_v[_selection_path(bases[:, open_to_v], columns[:, v], most)]
        turns = [int(i) for pair in zip_longest(beside, alone) for i in pair if i is not None]
        candidates[list(dict.fromkeys(turns))[:most], v] = True
    return candidates


def _selection_path(bases: FloatArray, target: FloatArray, most: int) -> list[int]:
    """Groups of columns in the order in which forward regression takes them in.

    Parameters
    ----------
    bases : (n_samples, n_groups, n_terms) array
    target : (n_samples,) array
    most : int
        Length of the path.
    """
    m, n_groups, n_terms = bases.shape
    design = np.column_stack([bases.reshape(m, -1), target])
    moments = design.T @ design / m
    moments[np.diag_indices_from(moments)] += 1e-6  # hinges may coincide where values are tied
    path: list[int] = []
    for _ in range(min(most, n_groups)):
        blocks = moments[:-1, :-1].reshape(n_groups, n_terms, n_groups, n_terms)
        blocks = blocks[np.arange(n_groups), :, np.arange(n_groups)]
        cross = moments[:-1, -1].reshape(n_groups, n_terms, 1)
        gain = (cross * np.linalg.solve(blocks, cross)).sum(axis=(1, 2))
        gain[path] = -np.inf
        best = int(gain.argmax())
        path.append(best)
        group = slice(best * n_terms, (best + 1) * n_terms)
        # what the chosen group explains is taken out of everything
        moments = moments - moments[:, group] @ np.linalg.solve(moments[group, group], moments[group])
        chosen = np.arange(group.start, group.stop)
        moments[chosen, chosen] = 1.0  # its own block is spent: keep it solvable
    return path


def affordable_size(candidates: BoolArray, max_parents: int, budget: int) -> int:
    """Largest size for which the table has no more sets than the budget (at least 1)."""
    sets: set[ParentSet] = {()}
    newest: list[set[ParentSet]] = [{()} for _ in range(len(candidates))]
    for size in range(1, max_parents + 1):
        for v in range(len(candidates)):
            members = np.flatnonzero(candidates[:, v]).tolist()
            newest[v] = {(*known, i) for known in newest[v] for i in members if not known or i > known[-1]}
            sets |= newest[v]
            if len(sets) > budget:
                return max(1, size - 1)
    return max_parents
