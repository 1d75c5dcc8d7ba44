"""Interventional scores: each variable is explained by the rows in which it was not set."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from precede.arrays import FloatArray, IntArray
from precede.data.table import Table
from precede.errors import OptionError, listed
from precede.knowledge import Constraints
from precede.scores.grow_shrink import FamiliesScore, FamilyScore
from precede.scores.levels.kinds import KIND_SCORES, KindScoreName, build_by_kind, families_of
from precede.scores.moves import ParentSet

TAKES_INTERVENTIONS = ("sparse-linear", *KIND_SCORES)
LINEAR_PENALTY = 2.0
"""That of the sparse linear score."""


class InterventionalFamilies:
    """Families of each variable over its own rows: those in which it was not set (hard interventions).

    Parameters
    ----------
    families : sequence of FamilyScore
        One for each set of rows.
    which : (n_variables,) int array
        The one of each variable.
    """

    def __init__(self, families: Sequence[FamilyScore], which: IntArray) -> None:
        self.families, self.which = families, which
        self.n_variables = len(which)

    def of(self, variable: int, parents: ParentSet) -> float:
        """Score of a variable with these parents."""
        return self.families[int(self.which[variable])].of(variable, parents)

    def additions(self, variable: int, parents: ParentSet) -> FloatArray:
        """Scores with one more parent each."""
        return self.families[int(self.which[variable])].additions(variable, parents)


def interventional_score(name: str, table: Table, constraints: Constraints) -> FamiliesScore:
    """Build a score of a table with targets."""
    if table.targets is None or name not in TAKES_INTERVENTIONS:
        raise OptionError(f"score={name!r} does not take interventions: {listed(TAKES_INTERVENTIONS)} do.")
    kind: KindScoreName = next((known for known in KIND_SCORES if known == name), "degenerate-gaussian")
    penalty = LINEAR_PENALTY if name == "sparse-linear" else 1.0
    settings, which = np.unique(table.targets, axis=1, return_inverse=True)
    families = [families_of(kind, table.only(~settings[:, k]), penalty) for k in range(settings.shape[1])]
    score = build_by_kind(kind, table, constraints, InterventionalFamilies(families, np.ravel(which)))
    score.name, score.targets = name, np.unique(table.targets, axis=0)
    score.notes = [
        "Interventions direct edges at what was set; the direction of an edge that neither they nor the CPDAG tell is "
        "arbitrary."
    ]
    return score
