"""The sparse GP score: candidate parents, and a table of parent sets that fits the data and the machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch

from precede.arrays import FloatArray
from precede.errors import check_positive
from precede.knowledge import Constraints
from precede.runtime.deadline import Deadline
from precede.scores.evidence import GaussianProcessEvidence, Kernel
from precede.scores.likelihood import Noise
from precede.scores.parent_sets import MOST_CANDIDATES
from precede.scores.parent_tables import SparseScore, screened_score
from precede.scores.policy_prior import PolicyEvidence, informed

N_INDUCING = 100
"""Inducing rows on a CPU, where the data have more than twice as many: a set then costs 10 ms at 1,000 rows."""

SETS_ON_CPU = 60
"""Sets that are scored at most for each variable on a CPU, half of them in the table: 12 s of one core at 20 variables
and 1,000 rows."""

SETS_ON_GPU = 2000
"""The same on a GPU, where the evidence is exact."""


@dataclass(frozen=True)
class SparseGPSettings:
    """What the table costs and holds.

    Parameters
    ----------
    max_parents : int
    table_size : int or None
        Largest sets of the table; as large as keeps it quick when None.
    max_candidates : int
        Candidate parents of each variable, by :func:`~precede.scores.parent_sets.candidate_parents`; 16 at most.
    penalty : float
        Price of a parent in units of log(m)/2. The evidence already pays for complexity; 0 keeps more edges.
    max_samples : int or None
        Rows that the evidence uses at most.
    n_inducing : int, "auto" or None
        Inducing rows of the evidence: "auto" takes 100 on a CPU where the data have more than twice as many, and is
        exact otherwise; None is exact.
    policy : PolicyEvidence, optional
        What a pretrained policy says of the edges, which then counts as well.
    """

    max_parents: int = 8
    table_size: int | None = None
    max_candidates: int = MOST_CANDIDATES
    penalty: float = 1.0
    max_samples: int | None = 1000
    n_inducing: int | Literal["auto"] | None = "auto"
    policy: PolicyEvidence | None = None


DEFAULTS = SparseGPSettings()


def sparse_gp_score(
    values: FloatArray,
    settings: SparseGPSettings = DEFAULTS,
    *,
    kernel: Kernel = "joint",
    noise: Noise = "unequal",
    constraints: Constraints | None = None,
    device: torch.device | str = "cpu",
    deadline: Deadline | None = None,
    verbose: bool = False,
) -> SparseScore:
    r"""Sparse score with Gaussian-process evidence, screened and sized for the data and the machine.

    Parameters
    ----------
    values : (n_samples, n_variables) array
    settings : SparseGPSettings
    kernel : {"joint", "additive"}
    noise : {"unequal", "equal"}
        "equal" takes all variables to have the same noise variance, in the units of the data.
    constraints : Constraints, optional
    device : str or torch.device
    deadline : Deadline, optional
        The table may take half of the time that is left. One that is cut short ends at a smaller size of sets; when
        the time is over no new set is scored at all. The score's ``notes`` say so.
    verbose : bool
        Show progress.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=100)
    >>> y = np.sin(2 * x) + 0.1 * np.random.default_rng(1).normal(size=100)
    >>> score = sparse_gp_score(np.column_stack([x, y]))
    >>> score.name, score.identifies
    ('sparse-gp', 'dag')
    """
    check_positive("max_candidates", settings.max_candidates, integer=True)
    on_cpu = torch.device(device).type == "cpu"
    max_samples, n_inducing = settings.max_samples, settings.n_inducing
    if n_inducing == "auto":
        rows = len(values) if max_samples is None else min(len(values), max_samples)
        n_inducing = N_INDUCING if on_cpu and rows > 2 * N_INDUCING else None
    evidence = informed(
        GaussianProcessEvidence(
            values, kernel=kernel, noise=noise, max_samples=max_samples, n_inducing=n_inducing, device=device
        ),
        settings.policy,
    )
    return screened_score(
        evidence,
        (SETS_ON_CPU if on_cpu else SETS_ON_GPU) * evidence.n_variables,
        max_candidates=min(settings.max_candidates, MOST_CANDIDATES),
        max_parents=settings.max_parents,
        table_size=settings.table_size,
        penalty=settings.penalty,
        constraints=constraints,
        device=device,
        deadline=deadline,
        verbose=verbose,
    )
