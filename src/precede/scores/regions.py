"""Answers that hold for a whole region of predecessor sets, so that a search asks for each only once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

CAPACITY = 500
"""Answers kept for each variable; the oldest give way."""

CHUNK_ELEMENTS = 2**26
"""Questions are looked up in pieces of about this many (answer, question) pairs."""

PICK_EVERY = 4
"""Of the questions still open, every fourth is worked out: its answer may settle its neighbors."""


@dataclass
class Parents:
    """Parent sets of a batch of problems, each a variable and the predecessors it may choose from.

    Parameters
    ----------
    chosen : (n_problems, n_variables) bool tensor
    terms : (n_problems,) float64 tensor
        Penalized log-likelihood of the chosen sets.
    touched : (n_problems, n_variables) bool tensor
        Predecessors that were chosen at some step: without any other the result is the same.
    rivals : (n_problems, n_variables) bool tensor
        Variables that would be chosen at some step if they were predecessors: with any other the result is the same.
    """

    chosen: Tensor
    terms: Tensor
    touched: Tensor
    rivals: Tensor


class RegionMemo:
    r"""Parents of each variable, each valid for all predecessor sets P with touched ⊆ P and P ∩ rivals = ∅.

    With the touched as -1 and the rivals as +1 in a vector s, P is in the region exactly when
    :math:`\#\text{touched} + s \cdot P = 0`: one matrix product looks up all questions. (The grow-shrink trees of BOSS
    serve the same end.)

    Parameters
    ----------
    n_variables : int
    solve : callable
        ``solve(variables, predecessors)`` works out problems: (n,) int64 and (n, n_variables) bool tensors.
    device : torch.device

    Attributes
    ----------
    n_questions, n_solved : int
        (variable, predecessor set) pairs asked for, and those that had to be worked out.
    """

    def __init__(self, n_variables: int, solve: Callable[[Tensor, Tensor], Parents], device: torch.device) -> None:
        d = self.n_variables = n_variables
        self.device = device
        self.n_questions = self.n_solved = 0
        self._solve = solve
        self._filled = torch.zeros(d, dtype=torch.int64, device=device)
        size = 8
        self._signs = torch.zeros(d, size, d, device=device)
        self._n_touched = torch.ones(d, size, device=device)  # an empty place matches nothing
        self._terms = torch.zeros(d, size, dtype=torch.float64, device=device)
        self._chosen = torch.zeros(d, size, d, dtype=torch.bool, device=device)

    def terms(self, predecessors: Tensor, wanted: Tensor | None = None) -> Tensor:
        """Terms of variable v given predecessor sets, (n_variables, n_sets) from (n_variables, n_sets, n_variables).

        Where ``wanted`` is false the result is zero.
        """
        n_sets = predecessors.shape[1]
        step = max(1, CHUNK_ELEMENTS // (self.n_variables * CAPACITY))
        if wanted is None:
            wanted = torch.ones(self.n_variables, n_sets, dtype=torch.bool, device=self.device)
        return torch.cat(
            [
                self._terms_of(predecessors[:, start : start + step], wanted[:, start : start + step])
                for start in range(0, n_sets, step)
            ],
            dim=1,
        )

    def parents(self, predecessors: Tensor) -> Parents:
        """Everything about variable v given one predecessor set, (n_variables, n_variables), row v for variable v."""
        self.terms(predecessors[:, None])
        asked = predecessors[:, :, None].to(self._signs.dtype)
        _, place = _match(self._signs, self._n_touched, asked)
        row = torch.arange(self.n_variables, device=self.device)
        signs = self._signs[row, place[:, 0]]
        return Parents(
            self._chosen[row, place[:, 0]], self._terms[row, place[:, 0]], touched=signs < 0, rivals=signs > 0
        )

    def _terms_of(self, predecessors: Tensor, wanted: Tensor) -> Tensor:
        asked = predecessors.transpose(1, 2).to(self._signs.dtype)  # (n_variables, n_variables, n_sets)
        used = max(1, min(int(self._filled.max()), CAPACITY))
        found, place = _match(self._signs[:, :used], self._n_touched[:, :used], asked)
        result = torch.where(found & wanted, self._terms.gather(1, place), 0.0)
        unsettled = wanted & ~found
        self.n_questions += int(wanted.sum())
        while bool(unsettled.any()):
            from_the_end = unsettled.flip(1).cumsum(dim=1).flip(1)
            picked = unsettled & (from_the_end % PICK_EVERY == 1)
            variables, which = picked.nonzero(as_tuple=True)
            answers = self._solve(variables, predecessors[variables, which])
            self._keep(variables, picked, answers)
            # only the new answers can settle what the old ones could not
            rank = (picked.cumsum(dim=1) - 1)[picked]
            n_new = int(rank.max()) + 1
            signs = torch.zeros(self.n_variables, n_new, self.n_variables, device=self.device)
            n_touched = torch.ones(self.n_variables, n_new, device=self.device)
            terms = torch.zeros(self.n_variables, n_new, dtype=torch.float64, device=self.device)
            signs[variables, rank], n_touched[variables, rank] = _region(answers)
            terms[variables, rank] = answers.terms
            found, place = _match(signs, n_touched, asked)
            result = torch.where(found & unsettled, terms.gather(1, place), result)
            unsettled &= ~found
        return result

    def _keep(self, variables: Tensor, picked: Tensor, answers: Parents) -> None:
        self.n_solved += len(variables)
        place = (self._filled[:, None] + picked.cumsum(dim=1) - 1)[picked] % CAPACITY
        self._filled += picked.sum(dim=1)
        needed = min(int(self._filled.max()), CAPACITY)
        while self._signs.shape[1] < needed:
            self._signs = torch.cat([self._signs, torch.zeros_like(self._signs)], dim=1)
            self._n_touched = torch.cat([self._n_touched, torch.ones_like(self._n_touched)], dim=1)
            self._terms = torch.cat([self._terms, torch.zeros_like(self._terms)], dim=1)
            self._chosen = torch.cat([self._chosen, torch.zeros_like(self._chosen)], dim=1)
        self._signs[variables, place], self._n_touched[variables, place] = _region(answers)
        self._terms[variables, place] = answers.terms
        self._chosen[variables, place] = answers.chosen


def _region(answers: Parents) -> tuple[Tensor, Tensor]:
    """Signs and number touched, both float32."""
    signs = answers.rivals.to(torch.float32) - answers.touched.to(torch.float32)
    return signs, answers.touched.sum(dim=1).to(torch.float32)


def _match(signs: Tensor, n_touched: Tensor, asked: Tensor) -> tuple[Tensor, Tensor]:
    """Whether each question is in the region of an answer, and which, both (n_variables, n_sets)."""
    outside = torch.baddbmm(n_touched[:, :, None], signs, asked)
    fewest, place = outside.min(dim=1)  # never negative: every touched one counts at most once
    return fewest < 0.5, place
