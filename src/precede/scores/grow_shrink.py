"""Order scores of parent sets that are grown and shrunk among the predecessors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.graph.dags import told_by_targets
from precede.knowledge import Constraints
from precede.scores.assumptions import Assumptions
from precede.scores.protocol import CPDAG_NOTE, ExpandedMoves, Expansion, OrderScore, ParentSet, check_agreement

if TYPE_CHECKING:
    from precede.scores.parents import ParentSearch
    from precede.scores.protocol import CovarianceMoves

LEVELS = Assumptions("levels")


class GrowShrinkScore(OrderScore):
    """Sum over the variables of the score of the best parents among the predecessors (:mod:`precede.scores.parents`).

    A subclass says by ``moves`` what a parent more or less changes.
    """

    exchange = False
    """Whether one parent is also exchanged for another while that pays."""

    @abstractmethod
    def moves(self) -> CovarianceMoves | ExpandedMoves: ...

    @cached_property
    def engine(self) -> ParentSearch:
        """All parent sets that were worked out."""
        from precede.scores.parents import ParentSearch  # here, so that nobody else waits for a compiler

        return ParentSearch(self.moves(), self.exchange)

    def terms(self, orders: Tensor) -> Tensor:
        return torch.from_numpy(self.engine.terms(orders.cpu().numpy())).to(self.device)

    def bounds(self) -> Tensor:
        d = self.n_variables
        others = [[*range(v), *range(v + 1, d), v] for v in range(d)]
        return torch.from_numpy(self.engine.terms(np.array(others), first=d - 1)[:, -1].copy()).to(self.device)

    def parent_sets(self, order: IntArray) -> BoolArray:
        """Each variable's best parents, ``[i, j]`` means i -> j."""
        edges = np.zeros((self.n_variables, self.n_variables), dtype=bool)
        self.engine.terms(np.asarray(order)[None], edges=edges)
        check_agreement(edges, order)
        return edges


class FamilyScore(ABC):
    """How well parents explain each variable, minus what their parameters cost; higher is better.

    Markov-equivalent graphs have the same sum, so what a parent u adds to v is what v would add to u.

    Attributes
    ----------
    n_variables : int
    """

    n_variables: int

    @abstractmethod
    def given(self, parents: ParentSet) -> FloatArray:
        """Score of every variable with these parents (ascending), (n_variables,); anything for the parents."""

    def of(self, variable: int, parents: ParentSet) -> float:
        """Score of a variable with these parents."""
        return float(self.given(parents)[variable])


class FamiliesScore(GrowShrinkScore):
    r"""Best parents among the predecessors by a local score, grown and shrunk one at a time while it rises.

    .. math:: \mathrm{term}_t = \mathrm{local}(t, S(t, \mathrm{pre}(t)))

    Parameters
    ----------
    local : FamilyScore, or a sequence of as many as there are variables
        That of each variable. One evaluation of the parents with v says what every further parent u would add.
    name : str
    assumes : Assumptions
        What the local score takes for granted.
    max_parents : int
        Largest parent set; what is required does not count.
    exchange : bool
        Whether one parent is also exchanged for another while that pays.
    constraints : Constraints, optional
        Forbidden parents never enter a set; required ones always are in it.

    Examples
    --------
    >>> from precede.scores.levels.families import DiscreteFamilies
    >>> rng = np.random.default_rng(0)
    >>> left, right = rng.integers(0, 2, (2, 400))
    >>> both = np.where(rng.random(400) < 0.1, rng.integers(0, 2, 400), left & right)
    >>> codes = np.column_stack([both, left, right])
    >>> score = FamiliesScore(DiscreteFamilies(codes, (2, 2, 2)), "discrete-bic")
    >>> score.graph(np.array([1, 2, 0])).astype(int)
    array([[0, 0, 0],
           [1, 0, 0],
           [1, 0, 0]])
    """

    identifies = "cpdag"
    targets: BoolArray | None = None
    """Sets of variables that were set together, (n_sets, n_variables): they direct edges that the class leaves open."""

    def __init__(
        self,
        local: FamilyScore | Sequence[FamilyScore],
        name: str,
        *,
        assumes: Assumptions = LEVELS,
        max_parents: int = 8,
        exchange: bool = True,
        constraints: Constraints | None = None,
    ) -> None:
        self.local = local
        self._locals = list(local) if isinstance(local, Sequence) else [local] * local.n_variables
        self.name, self.n_variables, self.max_parents = name, len(self._locals), max_parents
        self.assumes, self.exchange = assumes, exchange
        self.notes = [CPDAG_NOTE]
        constraints = constraints or Constraints.none(self.n_variables)
        self._allowed = constraints.allowed.T.copy()  # [child, parent]
        self._required = constraints.required.T.copy()
        self._rows: dict[tuple[FamilyScore, ParentSet], FloatArray] = {}

    def moves(self) -> ExpandedMoves:
        return ExpandedMoves(self.expand, self._required)

    def graph(self, order: IntArray) -> BoolArray:
        """The graph of an order: the parent sets."""
        return self.parent_sets(order)

    def told(self, edges: BoolArray) -> BoolArray:
        """Edges whose direction every graph of the interventional class shares (Hauser and Bühlmann 2012)."""
        return super().told(edges) if self.targets is None else told_by_targets(edges, self.targets)

    def expand(self, variable: int, parents: ParentSet) -> Expansion:
        """A parent set (ascending) and what one more or less changes."""
        required, row = self._required[variable], self._row(variable, parents)
        rivals, gains, losses = np.empty(0, dtype=np.int64), np.empty(0), np.full(len(parents), np.inf)
        for k, one in enumerate(parents):
            if not required[one]:
                losses[k] = row[variable] - self._row(variable, (*parents[:k], *parents[k + 1 :]))[variable]
        if len(parents) < self.max_parents + required.sum():
            gain = self._row(variable, tuple(sorted((*parents, variable)))) - row
            gain[[variable, *parents]] = -np.inf
            rivals = np.flatnonzero(self._allowed[variable] & (gain > 0))
            gains = gain[rivals]
        return Expansion(float(row[variable]), rivals, gains, losses)

    def _row(self, variable: int, parents: ParentSet) -> FloatArray:
        """What the variable's own local score says of every variable with these parents, worked out once."""
        local = self._locals[variable]
        if (local, parents) not in self._rows:
            self._rows[local, parents] = local.given(parents)
        return self._rows[local, parents]
