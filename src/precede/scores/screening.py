"""Candidate parents: which variables are worth a place in the table of parent sets, and how large it may be."""

from __future__ import annotations

from itertools import zip_longest

import numpy as np

from precede.arrays import BoolArray, FloatArray
from precede.knowledge import Constraints
from precede.scores.moves import ParentSet
from precede.scores.parent_sets import ColumnScore
from precede.scores.spread import hinge_basis


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
