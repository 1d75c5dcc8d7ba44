"""Scores by name: what ``CORL(score=...)`` and the command line accept."""

from typing import Literal, get_args

import torch

from precede.data.kinds import refuse_categories
from precede.data.load import Table
from precede.errors import OptionError, check_choice, listed
from precede.knowledge import Constraints
from precede.runtime import Deadline
from precede.scores.covariance import moments_of
from precede.scores.evidence import GaussianProcessEvidence, Kernel
from precede.scores.gp import KERNELS, GPScore, KernelName
from precede.scores.levels import KIND_SCORES, KindScoreName, build_by_kind, interventional_score
from precede.scores.linear import LinearScore
from precede.scores.location_scale import ConditionalDensity
from precede.scores.parent_tables import ColumnScore, screened_score
from precede.scores.policy_prior import PolicyEvidence, informed
from precede.scores.predecessors import Noise
from precede.scores.protocol import NoiseName, OrderScore
from precede.scores.quadratic import QuadraticScore
from precede.scores.sparse_linear import LinearAnyScore, NonGaussianScore, SparseLinearScore

NumberScoreName = Literal[
    "linear",
    "linear-any",
    "nongaussian",
    "quadratic",
    "gp",
    "sparse-linear",
    "sparse-gp",
    "sparse-gp-additive",
    "location-scale",
]
ScoreName = NumberScoreName | KindScoreName
SCORE_NAMES: tuple[ScoreName, ...] = (*get_args(NumberScoreName), *KIND_SCORES)


NOISES: dict[ScoreName, tuple[NoiseName, ...]] = {
    **dict.fromkeys(SCORE_NAMES, ()),
    **dict.fromkeys(("linear", "quadratic", "gp", "sparse-gp", "sparse-gp-additive"), ("equal", "unequal")),
    **dict.fromkeys(("linear-any", "sparse-linear", "nongaussian"), ("unequal",)),
}
"""Values of ``noise`` besides "auto"; a linear score refuses "unequal" with its reason."""

WIDE_GAMMA = 1.0
"""Of extended BIC where there are no more rows than columns: any such number of columns is consistent with it."""

BIC_UP_TO = 150
"""Columns up to which ``linear-any`` takes BIC's own price of a parent. It lets in one of 200 by chance, which makes
2,300 edges among 1,000 columns: with more than this, parents cost what pruning asks of them afterwards."""

WIDE_ROWS_PER_PARENT = 4
"""Rows there must be for each parent of a set then: with a parent for each row, anything is explained."""

WIDE_NOTE = (
    "There are no more rows than columns. Each variable has few causes here, and an edge must pay extended BIC's price "
    "for all the others that it was chosen from: weak edges are missing. Odd cells, curves and the shape of noise were "
    "not looked for, so some directions cannot be determined."
)

TAKES_POLICY: tuple[ScoreName, ...] = ("location-scale", "sparse-gp", "sparse-gp-additive")
"""Scores to which a policy's evidence of edges can be added."""


def build_score(  # noqa: PLR0913 (what a score is made of)
    name: ScoreName,
    table: Table,
    constraints: Constraints,
    *,
    noise: NoiseName = "auto",
    policy: PolicyEvidence | None = None,
    device: torch.device,
    deadline: Deadline | None = None,
    verbose: bool = False,
    kernel: KernelName = "median",
) -> OrderScore:
    """Build the score of a name over a table; with what a policy says of the edges, where that is given.

    Only tables of parent sets take long enough for the ``deadline`` (a table may take half of the time) and
    ``verbose`` (a progress bar) to matter: see :class:`precede.scores.parent_tables.SparseScore`.
    """
    check_choice("score", name, ["auto", *SCORE_NAMES])
    check_choice("noise", noise, get_args(NoiseName))
    if noise != "auto" and noise not in NOISES[name]:
        able = [other for other, noises in NOISES.items() if noise in noises]
        raise OptionError(f"score={name!r} does not take noise={noise!r}: {listed(able)} do.")
    if policy is not None and policy.weight and name not in TAKES_POLICY:
        raise OptionError(
            f"policy_weight={policy.weight:g} does not go with score={name!r}: {listed(TAKES_POLICY)} take it."
        )
    if kernel != "median" and name != "gp":
        raise OptionError(f"kernel={kernel!r} is an option of score='gp': leave it out with score={name!r}.")
    if table.is_wide and name != "sparse-linear":
        raise OptionError(
            f"score={name!r} needs more rows ({table.n_samples}) than columns ({table.n_variables}): 'sparse-linear' "
            "does not."
        )
    if table.targets is not None:
        return interventional_score(name, table, constraints)
    if name not in KIND_SCORES:
        refuse_categories(table.names, table.kinds, f"score={name!r}")
    values, moments = table.values, None if table.gaps is None else moments_of(table)
    usual: Noise = "equal" if name == "linear" else "unequal"
    told: Noise = usual if noise == "auto" else noise
    match name:
        case "discrete-bic" | "bdeu" | "degenerate-gaussian" | "conditional-gaussian":
            return build_by_kind(name, table, constraints)
        case "linear":
            return LinearScore(values, noise=told, moments=moments, device=device)
        case "quadratic":
            return QuadraticScore(values, noise=told, device=device)
        case "gp":
            return GPScore(values, noise=told, device=device, kernel=KERNELS[kernel])
        case "linear-any" | "sparse-linear" | "nongaussian":
            if table.is_wide:
                return wide_score(table, constraints, device)
            sparse = {"sparse-linear": SparseLinearScore, "nongaussian": NonGaussianScore}.get(name, LinearAnyScore)
            gamma = WIDE_GAMMA if name == "linear-any" and table.n_variables > BIC_UP_TO else 0.0
            return sparse(values, gamma=gamma, constraints=constraints, moments=moments, device=device)
        case "sparse-gp" | "sparse-gp-additive":
            kind: Kernel = "joint" if name == "sparse-gp" else "additive"
            local: ColumnScore = GaussianProcessEvidence(
                values, kernel=kind, noise=told, n_inducing="auto", device=device
            )
        case "location-scale":
            local = ConditionalDensity(values)
    local = informed(local, policy)
    return screened_score(local, constraints=constraints, device=device, deadline=deadline, verbose=verbose)


def wide_score(table: Table, constraints: Constraints, device: torch.device) -> SparseLinearScore:
    """The sparse linear score of a table with no more rows than columns: parents cost extended BIC's price."""
    most = max(1, table.n_samples // WIDE_ROWS_PER_PARENT)
    score = SparseLinearScore(
        table.values, penalty=1.0, gamma=WIDE_GAMMA, max_parents=most, constraints=constraints, device=device
    )
    score.notes = [*score.notes, WIDE_NOTE]
    return score
