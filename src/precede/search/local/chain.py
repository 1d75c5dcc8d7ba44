"""One chain of local search: compiled climbs, shakes between them, the best order kept."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np

from precede.arrays import BoolArray, IntArray
from precede.knowledge import Constraints
from precede.runtime.deadline import Deadline
from precede.scores.moves import CovarianceMoves, ExpandedMoves, TableMoves
from precede.search.local import arrays as at
from precede.search.local.arrays import Array, Arrays
from precede.search.local.shake import shaken
from precede.search.local.walk import run
from precede.ties import TOLERANCE

StateMoves = CovarianceMoves | ExpandedMoves | TableMoves

FIRST_CAPACITY = 2**12
"""States that there is room for at the start; the room doubles where it is used up."""

POOL_PER_STATE = 32
"""Members and rivals that a state is expected to have."""

MOST_BYTES = 2**29
"""States are forgotten and made anew when they take more than this."""

PAUSE_AFTER = 10_000_000
"""Steps of compiled code between two looks at the clock: some ten milliseconds."""

KEY_SEED = 20_190_101
"""Of the keys that states are found by: they decide nothing."""


class Chain:
    """A climb from one order, then from shaken ones.

    Parameters
    ----------
    moves : CovarianceMoves, ExpandedMoves or TableMoves
    n_variables : int
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
        n_variables: int,
        constraints: Constraints,
        deadline: Deadline,
        seed: int,
        lock: threading.Lock,
    ) -> None:
        self.n_variables, self.constraints, self.deadline = n_variables, constraints, deadline
        self._moves, self._lock = moves, lock
        self._rng = np.random.default_rng(seed)
        self.arrays = _allocate(moves, n_variables, constraints, seed)
        self.best_order: IntArray | None = None
        self.best = -math.inf
        self._is_bounded = False

    # -- what a search does --------------------------------------------------------------------------------------

    def start(self) -> bool:
        """Bound every variable's score, once; False when time was over, as all that follows."""
        if self._is_bounded:
            return True
        self.arrays.whole[at.ORDER] = np.arange(self.n_variables)
        if not self._run(at.BOUNDS):
            return False
        if not isinstance(self._moves, CovarianceMoves):
            self.arrays.numbers[at.TOLERANCE] = TOLERANCE * max(1.0, abs(float(self.arrays.real[at.BOUND].sum())))
        self._is_bounded = True
        return True

    def climb_from(self, order: IntArray) -> bool:
        """Climb from an order and keep where it ends, if that is the best; a climb that is cut short counts too."""
        if not self.start():
            return False
        self.arrays.whole[at.ORDER] = order
        if not self._run(at.SETTLE):
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
            self.arrays.whole[at.ORDER] = order
            finished = self._run(at.SETTLE)
        return finished

    def insert_all(self) -> IntArray:
        """Put in one variable after another, in column order, each where the order so far is best."""
        d = self.n_variables
        going = self.start()
        self.arrays.whole[at.POSITION] = d
        self.arrays.whole[at.ORDER] = np.arange(d)
        for n in range(d):
            if not going or self.deadline.passed() or not self._run(at.INSERT, n):
                break
        return self.order.copy()

    @property
    def n_moves(self) -> int:
        """Made so far."""
        return int(self.arrays.counters[at.N_MOVES])

    @property
    def order(self) -> IntArray:
        """Where the chain is."""
        order: IntArray = self.arrays.whole[at.ORDER]
        return order

    def total(self) -> float:
        """Sum of the terms where the chain is, added up by column."""
        states = self.arrays.whole[at.STATE]
        if isinstance(self._moves, TableMoves):
            return float(self.arrays.table[np.arange(self.n_variables), states].sum())
        return float(self.arrays.value[states].sum())

    def parents(self) -> BoolArray:
        """Parent sets of the states where the chain is, ``[i, j]`` means i -> j; of no use with a table."""
        s = self.arrays
        edges = np.zeros((self.n_variables, self.n_variables), dtype=bool)
        for v, state in enumerate(s.whole[at.STATE]):
            start = s.about[state, at.START]
            edges[s.pool[start : start + s.about[state, at.N_MEMBERS]], v] = True
        return edges

    # -- steps -----------------------------------------------------------------------------------------------------

    @property
    def tolerance(self) -> float:
        """Differences that count for nothing."""
        return float(self.arrays.numbers[at.TOLERANCE])

    def _climb(self) -> bool:
        counters = self.arrays.counters
        counters[at.SINCE_GAIN] = counters[at.AT] = 0
        self.arrays.whole[at.SEQUENCE] = self._rng.permutation(self.n_variables)
        return self._run(at.CLIMB)

    def _settle_anew(self) -> None:
        """States as they are without the way there, which is what the score itself says of an order.

        A climb may end at better parent sets than those that grow from nothing. Then another order of the same graph
        is tried, in which fewer variables come before the others.
        """
        if isinstance(self._moves, TableMoves):
            return
        climbed, edges, order = self.total(), self.parents(), self.order.copy()
        self._run(at.SETTLE)
        direct = self.total()
        if direct >= climbed - self.tolerance:
            return
        before = edges | self.constraints.before
        self.arrays.whole[at.ORDER] = _first_order(before)
        self._run(at.SETTLE)
        if self.total() <= direct + self.tolerance:
            self.arrays.whole[at.ORDER] = order
            self._run(at.SETTLE)

    # -- compiled code and its wants -------------------------------------------------------------------------------

    def _run(self, task: int, n: int | None = None) -> bool:
        """Run a task to its end; False when time is over."""
        n = self.n_variables if n is None else n
        while True:
            answer = run(self.arrays, task, n)
            if answer == at.DONE:
                return True
            if answer == at.FULL:
                self._make_room(task, n)
            elif answer == at.MISSING:
                with self._lock:
                    self._supply(task, n)
            if task == at.CLIMB and self.deadline.passed():
                return False

    def _make_room(self, task: int, n: int) -> None:
        s = self.arrays
        if 2 * (s.about.nbytes + s.value.nbytes + s.pool.nbytes + s.slots.nbytes) <= MOST_BYTES:
            if s.counters[at.N_STATES] < len(s.value):
                self.arrays = s._replace(pool=_lengthened(s.pool, 2 * len(s.pool)))
                return
            self.arrays = s._replace(
                about=_lengthened(s.about, 2 * len(s.about)),
                value=_lengthened(s.value, 2 * len(s.value)),
                shaped=_lengthened(s.shaped, 2 * len(s.shaped)),
                slots=np.full(2 * len(s.slots), -1, dtype=np.int64),
            )
            run(self.arrays, at.REHASH, 0)
            return
        s.counters[at.N_STATES] = s.counters[at.POOL_USED] = 0
        s.slots[:] = -1
        if task in (at.CLIMB, at.INSERT):  # the states of the order were forgotten with the others
            self._run(at.SETTLE, n)

    def _supply(self, task: int, n: int) -> None:
        """Work out what compiled code asks for."""
        s = self.arrays
        variable, size = int(s.counters[at.ASKED]), int(s.counters[at.ASKED_SIZE])
        if isinstance(self._moves, TableMoves):
            self._moves.settle(variable, size)
            return
        if not isinstance(self._moves, ExpandedMoves):
            raise TypeError("compiled code works out covariances by itself")
        found = self._moves.expand(variable, tuple(s.whole[at.MEMBERS, :size].tolist()))
        s.whole[at.RIVALS, : len(found.rivals)] = found.rivals
        s.real[at.SHARE, 0] = found.score
        s.counters[at.ASKED_DROP] = found.drop
        if run(s, at.STORE, len(found.rivals)) == at.FULL:
            self._make_room(task, n)  # it is asked for again


def _allocate(moves: StateMoves, d: int, constraints: Constraints, seed: int) -> Arrays:
    """Arrays of a chain that is not anywhere yet."""
    square, edges = np.zeros((3, d, d)), np.zeros((3, d, d), dtype=bool)
    real, whole = np.zeros((6, d)), np.zeros((10, d), dtype=np.int64)
    counters, numbers = np.zeros(at.N_COUNTERS, dtype=np.int64), np.zeros(6)
    table, place = np.zeros((0, 1)), np.zeros((0, 0), dtype=np.int64)
    columns = np.zeros((d, 0))
    keys = np.random.default_rng(KEY_SEED)
    whole[[at.MEMBER_KEY, at.OWNER_KEY]] = keys.integers(-(2**63), 2**63 - 1, (2, d))
    edges[at.BEFORE] = constraints.before
    counters[at.IS_CONSTRAINED] = constraints.before.any()
    counters[at.PAUSE_AT], counters[at.RANDOM] = PAUSE_AFTER, seed
    if isinstance(moves, TableMoves):
        counters[at.IS_TABLED] = 1
        table, place = moves.table, moves.place  # the table itself: what is settled is seen at once
    elif isinstance(moves, CovarianceMoves):
        counters[at.IS_NATIVE], counters[at.MAX_PARENTS] = 1, moves.max_parents
        square[at.CORRELATION] = moves.correlation
        edges[at.ALLOWED], edges[at.REQUIRED] = moves.allowed, moves.required
        real[at.OFFSET] = moves.offset
        half, tolerance = moves.n_samples / 2, TOLERANCE * moves.n_samples * d
        pays, keeps = (-math.expm1(-(moves.price + sign * tolerance) / half) for sign in (1, -1))
        numbers[:] = half, moves.price, tolerance, pays, keeps, moves.shape_price
        columns = moves.columns
    else:
        edges[at.REQUIRED] = moves.required
    words = (d + 63) // 64
    return Arrays(
        square, edges, table, place, columns, np.zeros(columns.shape[1]), real, whole, numbers, counters,
        np.zeros((FIRST_CAPACITY, at.RELEVANT + words), dtype=np.int64), np.zeros(FIRST_CAPACITY),
        np.zeros(FIRST_CAPACITY, dtype=bool),
        np.zeros(POOL_PER_STATE * FIRST_CAPACITY, dtype=np.int16), np.full(2 * FIRST_CAPACITY, -1, dtype=np.int64),
    )  # fmt: skip


def _lengthened(array: Array, length: int) -> Any:
    longer = np.zeros((length, *array.shape[1:]), dtype=array.dtype)
    longer[: len(array)] = array
    return longer


def _first_order(before: BoolArray) -> IntArray:
    """Place, again and again, the first column whose predecessors are all placed."""
    waiting = before.sum(axis=0)
    order = np.empty(len(before), dtype=np.int64)
    for t in range(len(before)):
        order[t] = first = int(np.flatnonzero(waiting == 0)[0])
        waiting = waiting - before[first]
        waiting[first] = -1
    return order
