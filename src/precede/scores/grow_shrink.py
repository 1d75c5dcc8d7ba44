"""Order scores from any local score: parents grown and shrunk among the predecessors, each set worked out once."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.knowledge import Constraints
from precede.scores.assumptions import Assumptions
from precede.scores.moves import ExpandedMoves, Expansion, ParentSet
from precede.scores.protocol import CPDAG_NOTE, OrderScore, check_agreement
from precede.ties import TOLERANCE

LEVELS = Assumptions("levels")


class FamilyScore(Protocol):
    """How well a set of parents explains a variable, minus what its parameters cost; higher is better."""

    n_variables: int

    def of(self, variable: int, parents: ParentSet) -> float:
        """Score of a variable with these parents (ascending)."""

    def additions(self, variable: int, parents: ParentSet) -> FloatArray:
        """Scores with one more parent each, (n_variables,); anything for the members and the variable itself."""


class _State:
    """A parent set with its rivals; the drop is worked out when it is asked for."""

    __slots__ = ("drop", "gains", "parents", "rivals", "score")

    def __init__(self, parents: ParentSet, score: float, rivals: list[int], gains: FloatArray) -> None:
        self.parents, self.score, self.rivals, self.gains = parents, score, rivals, gains
        self.drop: int | None = None


class _Answer(NamedTuple):
    """Parents among some predecessors; the same for all predecessors that hold the touched and none of the rivals."""

    state: _State
    touched: int
    rivals: int


class GrowShrinkScore(OrderScore):
    r"""Best parents among the predecessors by a local score, grown one at a time while it rises, then shrunk.

    .. math:: \mathrm{term}_t = \mathrm{local}(t, S(t, \mathrm{pre}(t)))

    Sets of variables are bit masks here, bit u for variable u.

    Parameters
    ----------
    local : FamilyScore
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
    >>> from precede.scores.discrete import DiscreteFamilies
    >>> rng = np.random.default_rng(0)
    >>> left, right = rng.integers(0, 2, (2, 400))
    >>> both = np.where(rng.random(400) < 0.1, rng.integers(0, 2, 400), left & right)
    >>> codes = np.column_stack([both, left, right])
    >>> score = GrowShrinkScore(DiscreteFamilies(codes, (2, 2, 2)), "discrete-bic")
    >>> score.graph(np.array([1, 2, 0])).astype(int)
    array([[0, 0, 0],
           [1, 0, 0],
           [1, 0, 0]])
    """

    identifies = "cpdag"

    def __init__(
        self,
        local: FamilyScore,
        name: str,
        *,
        assumes: Assumptions = LEVELS,
        max_parents: int = 8,
        exchange: bool = True,
        constraints: Constraints | None = None,
    ) -> None:
        d = local.n_variables
        self.local, self.name, self.n_variables, self.max_parents = local, name, d, max_parents
        self.assumes, self.exchange = assumes, exchange
        self.device = torch.device("cpu")
        self.notes = [CPDAG_NOTE]
        constraints = constraints or Constraints.none(d)
        self._allowed = constraints.allowed.T.copy()  # [child, parent]
        self._required: list[ParentSet] = [tuple(np.flatnonzero(column).tolist()) for column in constraints.required.T]
        self._states: list[dict[ParentSet, _State]] = [{} for _ in range(d)]
        self._scores: list[dict[ParentSet, float]] = [{} for _ in range(d)]

    def __len__(self) -> int:
        """Number of parent sets that were worked out."""
        return sum(map(len, self._states))

    # -- one variable -------------------------------------------------------------------------------------------

    def expand(self, variable: int, parents: ParentSet) -> Expansion:
        """Everything about a parent set (ascending): for a search of its own."""
        state = self._state(variable, parents)
        return Expansion(state.score, self._drop(variable, state), np.array(state.rivals, dtype=np.int64), state.gains)

    def moves(self) -> ExpandedMoves:
        required = np.zeros((self.n_variables, self.n_variables), dtype=bool)
        for variable, parents in enumerate(self._required):
            required[variable, list(parents)] = True
        return ExpandedMoves(self.expand, required)

    def _state(self, variable: int, parents: ParentSet) -> _State:
        known = self._states[variable].get(parents)
        return known or self._new_state(variable, parents)

    def _new_state(self, variable: int, parents: ParentSet) -> _State:
        score = self._score(variable, parents)
        rivals: list[int] = []
        gains = np.empty(0)
        if len(parents) < self.max_parents + len(self._required[variable]):
            gain = self.local.additions(variable, parents) - score
            gain[list(parents)] = gain[variable] = -np.inf
            pays = np.flatnonzero(self._allowed[variable] & (gain > TOLERANCE * abs(score)))
            # in single precision, so that rounding decides nothing; of equals the first column
            places = pays[np.argsort(-gain[pays].astype(np.float32), kind="stable")]
            rivals, gains = places.tolist(), gain[places]
            for rival, more in zip(rivals, gains.tolist(), strict=True):
                self._scores[variable].setdefault(_with(parents, rival), score + more)
        state = self._states[variable][parents] = _State(parents, score, rivals, gains)
        return state

    def _score(self, variable: int, parents: ParentSet) -> float:
        scores = self._scores[variable]
        if parents not in scores:
            scores[parents] = self.local.of(variable, parents)
        return scores[parents]

    def _drop(self, variable: int, state: _State) -> int:
        if state.drop is None:
            state.drop, best = -1, state.score - TOLERANCE * abs(state.score)
            for parent in state.parents:
                if parent in self._required[variable]:
                    continue
                without = self._score(variable, _without(state.parents, parent))
                if without > best + TOLERANCE * abs(best):
                    state.drop, best = parent, without
        return state.drop

    def _settle(self, variable: int, predecessors: int) -> _Answer:
        """Grow, then shrink; then exchange one parent for another and begin again, while that pays."""
        state = self._state(variable, self._required[variable])
        touched = rivals = 0
        while True:
            state, chosen, passed = self._grown(variable, state, predecessors)
            touched, rivals = touched | chosen, rivals | passed
            drop = self._drop(variable, state)
            while drop >= 0:
                state = self._state(variable, _without(state.parents, drop))
                drop = self._drop(variable, state)
            if not self.exchange:
                break
            better, chosen, passed = self._exchanged(variable, state, predecessors)
            touched, rivals = touched | chosen, rivals | passed
            if better is state:
                break
            state = better
        return _Answer(state, touched, rivals & ~predecessors)

    def _grown(self, variable: int, state: _State, predecessors: int) -> tuple[_State, int, int]:
        """Add the best predecessor while that pays; also which were added, and which others would have been."""
        touched = rivals = 0
        growing = True
        while growing:
            growing = False
            for rival in state.rivals:
                if predecessors >> rival & 1:
                    touched |= 1 << rival
                    state = self._state(variable, _with(state.parents, rival))
                    growing = True
                    break
                rivals |= 1 << rival
        return state, touched, rivals

    def _exchanged(self, variable: int, state: _State, predecessors: int) -> tuple[_State, int, int]:
        """The best set with one parent exchanged, or the set itself; also which came in, and which would have.

        Growth takes the best single parents first, and where their levels are many, the price of another parent keeps
        out those that would do better together.
        """
        best, came, rivals = state, 0, 0
        least = state.score + TOLERANCE * abs(state.score)
        for parent in state.parents:
            if parent in self._required[variable]:
                continue
            smaller = self._state(variable, _without(state.parents, parent))
            for rival, gain in zip(smaller.rivals, smaller.gains.tolist(), strict=True):
                if smaller.score + gain <= least:
                    break
                if rival == parent:
                    continue
                if predecessors >> rival & 1:
                    best, came = self._state(variable, _with(smaller.parents, rival)), 1 << rival
                    least = best.score + TOLERANCE * abs(best.score)
                    break
                rivals |= 1 << rival
        return best, came, rivals

    # -- the OrderScore interface -------------------------------------------------------------------------------

    def terms(self, orders: Tensor) -> Tensor:
        rows = [[answer.state.score for answer in self._answers(order)] for order in orders.tolist()]
        return torch.tensor(rows, dtype=torch.float64, device=self.device)

    def _answers(self, order: list[int]) -> list[_Answer]:
        """Parents of each variable in sequence."""
        before, answers = 0, []
        for variable in order:
            answers.append(self._settle(variable, before))
            before |= 1 << variable
        return answers

    def bounds(self) -> Tensor:
        everything = (1 << self.n_variables) - 1
        best = [self._settle(v, everything & ~(1 << v)).state.score for v in range(self.n_variables)]
        return torch.tensor(best, dtype=torch.float64, device=self.device)

    def graph(self, order: IntArray) -> BoolArray:
        """The graph of an order: each variable's parents, ``[i, j]`` means i -> j."""
        edges = np.zeros((self.n_variables, self.n_variables), dtype=bool)
        sequence = np.asarray(order).tolist()
        for variable, answer in zip(sequence, self._answers(sequence), strict=True):
            edges[list(answer.state.parents), variable] = True
        check_agreement(edges, order)
        return edges

    def insertion_sums(self, order: Tensor) -> Tensor:
        """As in ``OrderScore``; only what a move can change is asked for."""
        sequence, d = order.tolist(), self.n_variables
        now = self._answers(sequence)
        terms = np.array([answer.state.score for answer in now])
        own = np.empty((d, d))  # [i, k]: the variable at i given the first k others
        changes = np.zeros((d, d))  # [i, j]: what the variable at j gains when that at i changes sides
        before = 0
        for j, variable in enumerate(sequence):
            own[j] = self._own_terms(variable, sequence[:j] + sequence[j + 1 :])
            matters = now[j].touched | now[j].rivals
            for i, moved in enumerate(sequence):
                if matters >> moved & 1:
                    changes[i, j] = self._settle(variable, before ^ (1 << moved)).state.score - terms[j]
            before |= 1 << variable
        right = np.triu(changes, 1).cumsum(axis=1)
        left = np.tril(changes, -1)[:, ::-1].cumsum(axis=1)[:, ::-1]
        sums = terms.sum() - terms[:, None] + own + np.triu(right, 1) + np.tril(left, -1)
        return torch.from_numpy(sums).to(self.device)

    def _own_terms(self, variable: int, others: list[int]) -> list[float]:
        """Terms of a variable given the first 0, 1, ... of the others."""
        answer, before = self._settle(variable, 0), 0
        terms = [answer.state.score]
        for other in others:
            before |= 1 << other
            if answer.rivals >> other & 1:
                answer = self._settle(variable, before)
            terms.append(answer.state.score)
        return terms


def _without(parents: ParentSet, one: int) -> ParentSet:
    return tuple(parent for parent in parents if parent != one)


def _with(parents: ParentSet, one: int) -> ParentSet:
    return tuple(sorted((*parents, one)))
