"""Scores of columns with levels, and of numbers beside them."""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from precede.data.table import Table
from precede.errors import OptionError, listed
from precede.kinds import ColumnKind
from precede.knowledge import Constraints
from precede.scores.assumptions import Assumptions
from precede.scores.grow_shrink import FamiliesScore, FamilyScore

KindScoreName = Literal["discrete-bic", "bdeu", "degenerate-gaussian", "conditional-gaussian"]
KIND_SCORES: tuple[KindScoreName, ...] = get_args(KindScoreName)

PRIOR_SAMPLE_SIZE = 10.0
"""Of BDeu: how many rows the prior counts for."""

MOST_PARENTS = 8
"""Of a column whose combinations of parents are counted."""

MANY_STEPS = 5
"""From this many levels on, ordinal columns among themselves are taken as numbers."""

TABLES = Assumptions(
    "levels", words="Every variable has levels, and their probabilities depend on its causes in any way at all."
)
ASSUMED: dict[str, Assumptions] = {
    "discrete-bic": TABLES,
    "bdeu": TABLES,
    "degenerate-gaussian": Assumptions(
        "levels",
        words="Every number, and every indicator of a category, is a weighted sum of few causes (numbers and "
        "indicators) plus noise.",
    ),
    "conditional-gaussian": Assumptions(
        "levels",
        words="Within each combination of categories, the numbers are linear in each other with Gaussian noise.",
    ),
}


def score_for(kinds: Sequence[ColumnKind]) -> tuple[KindScoreName, str] | None:
    """The score that kinds of columns call for, and why; None where all are numbers.

    Counts and columns with levels break what scores that tell directions assume (their noise is not what it was
    without rounding), so these are scored by what identifies the CPDAG only.

    Examples
    --------
    >>> score_for([ColumnKind("number"), ColumnKind("count")])[0]
    'degenerate-gaussian'
    """
    if all(kind.name == "number" for kind in kinds):
        return None
    steps = all(kind.name == "ordinal" and kind.n_levels >= MANY_STEPS for kind in kinds)
    if all(kind.discrete for kind in kinds) and not steps:
        return (
            "discrete-bic",
            "Every column has levels: probabilities are counted, and some directions cannot be determined.",
        )
    special = sum(kind.name != "number" for kind in kinds)
    return (
        "degenerate-gaussian",
        f"{special} of {len(kinds)} columns are counts or have levels: categories are taken as indicators beside "
        "numbers, and some directions cannot be determined.",
    )


def families_of(name: KindScoreName, table: Table, penalty: float = 1.0) -> FamilyScore:
    """What a score of columns with levels says of one variable and its parents."""
    from precede.scores.levels import families  # here, so that nobody else waits for a compiler

    match name:
        case "discrete-bic" | "bdeu":
            return families.DiscreteFamilies.of_table(table, penalty, PRIOR_SAMPLE_SIZE if name == "bdeu" else None)
        case "degenerate-gaussian":
            return families.DegenerateGaussianFamilies.of_table(table, penalty)
        case "conditional-gaussian":
            return families.ConditionalGaussianFamilies.of_table(table, penalty)


def build_by_kind(
    name: KindScoreName, table: Table, constraints: Constraints, local: Sequence[FamilyScore] | None = None
) -> FamiliesScore:
    """Build a score of columns with levels; with local scores of the variables that stand in for its own."""
    is_linear = name == "degenerate-gaussian"  # then growth alone finds the parents
    return FamiliesScore(
        local or families_of(name, table),
        name,
        assumes=ASSUMED[name],
        max_parents=table.n_variables if is_linear else MOST_PARENTS,
        exchange=not is_linear,
        constraints=constraints,
    )


TAKES_INTERVENTIONS = ("sparse-linear", *KIND_SCORES)
LINEAR_PENALTY = 2.0
"""That of the sparse linear score."""


def interventional_score(name: str, table: Table, constraints: Constraints) -> FamiliesScore:
    """Build a score of a table with targets: each variable over the rows in which it was not set."""
    if table.targets is None or name not in TAKES_INTERVENTIONS:
        raise OptionError(f"score={name!r} does not take interventions: {listed(TAKES_INTERVENTIONS)} do.")
    kind: KindScoreName = next((known for known in KIND_SCORES if known == name), "degenerate-gaussian")
    penalty = LINEAR_PENALTY if name == "sparse-linear" else 1.0
    settings, which = np.unique(table.targets, axis=1, return_inverse=True)
    families = [families_of(kind, table.only(~settings[:, k]), penalty) for k in range(settings.shape[1])]
    score = build_by_kind(kind, table, constraints, [families[k] for k in np.ravel(which)])
    score.name, score.targets = name, np.unique(table.targets, axis=0)
    score.notes = [
        "Interventions direct edges at what was set; the direction of an edge that neither they nor the CPDAG tell is "
        "arbitrary."
    ]
    return score
