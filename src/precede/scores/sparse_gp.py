"""The sparse GP score: candidate parents, and a table of parent sets that fits the data and the machine."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

import numpy as np
import torch

from precede.arrays import BoolArray, FloatArray
from precede.errors import check_positive
from precede.knowledge import Constraints
from precede.runtime.deadline import Deadline
from precede.scores.evidence import GaussianProcessEvidence, Kernel
from precede.scores.likelihood import Noise
from precede.scores.moves import ParentSet
from precede.scores.parent_sets import MOST_CANDIDATES, ParentSets
from precede.scores.parent_tables import SparseScore
from precede.scores.spread import hinge_basis

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
        Candidate parents of each variable, by :func:`candidate_parents`; 16 at most.
    penalty : float
        Price of a parent in units of log(m)/2. The evidence already pays for complexity; 0 keeps more edges.
    max_samples : int or None
        Rows that the evidence uses at most.
    n_inducing : int, "auto" or None
        Inducing rows of the evidence: "auto" takes 100 on a CPU where the data have more than twice as many, and is
        exact otherwise; None is exact.
    """

    max_parents: int = 8
    table_size: int | None = None
    max_candidates: int = MOST_CANDIDATES
    penalty: float = 1.0
    max_samples: int | None = 1000
    n_inducing: int | Literal["auto"] | None = "auto"


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
    evidence = GaussianProcessEvidence(
        values, kernel=kernel, noise=noise, max_samples=max_samples, n_inducing=n_inducing, device=device
    )
    constraints = constraints or Constraints.none(evidence.n_variables)
    candidates = candidate_parents(evidence, min(settings.max_candidates, MOST_CANDIDATES), constraints)
    max_sets = (SETS_ON_CPU if on_cpu else SETS_ON_GPU) * evidence.n_variables
    table_size = settings.table_size
    if table_size is None:
        table_size = _affordable_size(candidates, settings.max_parents, max_sets // 2)
    return SparseScore(
        evidence,
        ParentSets(candidates, settings.max_parents, table_size, max_sets),
        penalty=settings.penalty,
        constraints=constraints,
        device=device,
        deadline=deadline,
        verbose=verbose,
    )


def candidate_parents(evidence: GaussianProcessEvidence, most: int, constraints: Constraints) -> BoolArray:
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


def _affordable_size(candidates: BoolArray, max_parents: int, budget: int) -> int:
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
