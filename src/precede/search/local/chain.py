"""One chain of local search: compiled climbs, shakes between them, the best order kept."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable

import numpy as np

from precede.arrays import BoolArray, IntArray
from precede.knowledge import Constraints
from precede.runtime.deadline import Deadline
from precede.scores.moves import CovarianceMoves, StateMoves, TableMoves
from precede.scores.parents import ParentSearch, States
from precede.search.local import walk
from precede.search.local.sweeps import shaken
from precede.ties import TOLERANCE

Task = Callable[[States, walk.Walk, int], int]

PAUSE_AFTER = 10_000_000
"""Steps of compiled code between two looks at the clock: some ten milliseconds."""


class Chain:
    """A climb from one order, then from shaken ones.

    Parameters
    ----------
    moves : CovarianceMoves, ExpandedMoves or TableMoves
    constraints : Constraints
    deadline : Deadline
    seed : int
        Of the sequence of moves, of moves along ties, and of shakes.
    lock : threading.Lock
        Held while a score works something out in Python: scores are not made for several threads.

    Attributes
    ----------
    best_order : (n_variables,) int array or None
        None before the first climb.
    best : float
        Sum of its terms.
    """

    def __init__(
        self,
        moves: StateMoves,
        constraints: Constraints,
        deadline: Deadline,
        seed: int,
        lock: threading.Lock,
    ) -> None:
        self.n_variables, self.constraints, self.deadline = len(constraints.before), constraints, deadline
        self._moves = moves
        self._rng = np.random.default_rng(seed)
        self.parents = ParentSearch(moves, lock=lock)
        table = (moves.table, moves.place) if isinstance(moves, TableMoves) else ()
        self.walk = walk.new_walk(constraints.before, *table)
        self.walk.climb["random"], self.walk.climb["pause_at"] = seed, PAUSE_AFTER
        if isinstance(moves, CovarianceMoves):
            self.walk.climb["tolerance"] = TOLERANCE * moves.n_samples * self.n_variables
        self.best_order: IntArray | None = None
        self.best = -math.inf
        self._is_bounded = False

    # -- what a search does --------------------------------------------------------------------------------------

    def start(self) -> bool:
        """Bound every variable's score, once; False when time was over, as all that follows."""
        if self._is_bounded:
            return True
        if not self._run(walk.bound):
            return False
        if not isinstance(self._moves, CovarianceMoves):
            self.walk.climb["tolerance"] = TOLERANCE * max(1.0, abs(float(self.walk.bound.sum())))
        self._is_bounded = True
        return True

    def climb_from(self, order: IntArray) -> bool:
        """Climb from an order and keep where it ends, if that is the best; a climb that is cut short counts too."""
        if not self.start():
            return False
        self.walk.order[:] = order
        if not self._run(walk.settle):
            return False
        finished = self._climb()
        self._settle_anew()
        if self.total() > self.best + self.tolerance:
            self.best, self.best_order = self.total(), self.order.copy()
        return finished

    def restart(self) -> bool:
        """Shake and climb; go on from there if it is no worse than before, else go back."""
        before, order = self.total(), self.order.copy()
        finished = self.climb_from(self.constraints.nearest_order(shaken(self.order, self._rng)))
        if finished and self.total() < before - self.tolerance:
            self.walk.order[:] = order
            finished = self._run(walk.settle)
        return finished

    def insert_all(self) -> IntArray:
        """Put in one variable after another, in column order, each where the order so far is best."""
        d = self.n_variables
        going = self.start()
        self.walk.position[:] = d
        self.walk.order[:] = np.arange(d)
        for n in range(d):
            if not going or self.deadline.passed() or not self._run(walk.insert, n):
                break
        return self.order.copy()

    @property
    def n_moves(self) -> int:
        """Made so far."""
        return int(self.walk.climb["n_moves"][0])

    @property
    def order(self) -> IntArray:
        """Where the chain is."""
        return self.walk.order

    def total(self) -> float:
        """Sum of the terms where the chain is, added up by column."""
        if isinstance(self._moves, TableMoves):
            return float(self.walk.table[np.arange(self.n_variables), self.walk.state].sum())
        return float(self.parents.states.known["score"][self.walk.state].sum())

    def edges(self) -> BoolArray:
        """Parent sets of the states where the chain is, ``[i, j]`` means i -> j; of no use with a table."""
        s = self.parents.states
        edges = np.zeros((self.n_variables, self.n_variables), dtype=bool)
        states = s.known[["start", "n_members"]][self.walk.state].tolist()
        for v, (start, n_members) in enumerate(states):
            edges[s.pool[start : start + n_members], v] = True
        return edges

    # -- steps -----------------------------------------------------------------------------------------------------

    @property
    def tolerance(self) -> float:
        """Differences that count for nothing."""
        return float(self.walk.climb["tolerance"][0])

    def _climb(self) -> bool:
        self.walk.climb["since_gain"] = self.walk.climb["at"] = 0
        self.walk.sequence[:] = self._rng.permutation(self.n_variables)
        return self._run(walk.climb)

    def _settle_anew(self) -> None:
        """States as they are without the way there, which is what the score itself says of an order.

        A climb may end at better parent sets than those that grow from nothing. Then another order of the same graph
        is tried, in which fewer variables come before the others.
        """
        if isinstance(self._moves, TableMoves):
            return
        climbed, edges, order = self.total(), self.edges(), self.order.copy()
        self._run(walk.settle)
        direct = self.total()
        if direct >= climbed - self.tolerance:
            return
        before = edges | self.constraints.before
        self.walk.order[:] = _first_order(before)
        self._run(walk.settle)
        if self.total() <= direct + self.tolerance:
            self.walk.order[:] = order
            self._run(walk.settle)

    def _run(self, task: Task, n: int | None = None) -> bool:
        """Run a compiled task to its end, supplying what it asks for; False when time is over."""
        n = self.n_variables if n is None else n
        while (answer := task(self.parents.states, self.walk, n)) != walk.DONE:
            remembered = answer == walk.PAUSED or self.parents.supply(answer)
            if not remembered and task in (walk.climb, walk.insert):  # the states of the order were forgotten too
                self._run(walk.settle, n)
            if task is walk.climb and self.deadline.passed():
                return False
        return True


def _first_order(before: BoolArray) -> IntArray:
    """Place, again and again, the first column whose predecessors are all placed."""
    waiting = before.sum(axis=0)
    order = np.empty(len(before), dtype=np.int64)
    for t in range(len(before)):
        order[t] = first = int(np.flatnonzero(waiting == 0)[0])
        waiting = waiting - before[first]
        waiting[first] = -1
    return order
