"""One chain of local search: compiled climbs, shakes between them, the best order kept."""

from __future__ import annotations

import math
import threading
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from precede.arrays import BoolArray, IntArray
from precede.knowledge import Constraints
from precede.runtime.compiled import compiled, inlined, typeof
from precede.runtime.deadline import Deadline
from precede.scores.parents import MISSING, STATES, TRUTH, WHOLE, Array, ParentSearch, States, settled
from precede.scores.protocol import CovarianceMoves, StateMoves, TableMoves
from precede.search.local.climber import EVERYWHERE_UP_TO, Climber, edges_away
from precede.ties import TOLERANCE

PAUSED, DONE = -3, -4
"""What a climb returns, beside what is missing (:mod:`precede.scores.parents`): time for a look at the clock, done."""

CLIMB = np.dtype(
    [(name, np.int64) for name in ("since_gain", "at", "n_moves", "random", "is_tabled", "is_constrained", "pause_at")]
    + [("tolerance", np.float64)]
)
"""Variables since the last gain, place in the sequence, moves made, state of the random numbers; kind of problem; work
after which to pause; differences that count for nothing."""


class Walk(NamedTuple):
    """Where a chain is: an order, the state of each variable in it, and what the look at one variable found.

    For a score with a table, a state is the bits of the candidates that come before.
    """

    order: Array  # (d,) int64, as all up to own
    position: Array  # of each variable in the order; d for those that are not placed
    state: Array  # of each variable
    sequence: Array  # in which variables are looked at
    passed: Array  # by position, state of the variable there when the one that moves has passed it
    own: Array  # by position, state of the one that moves when it is there
    gain: Array  # (d,) float64: by position, when it is there
    bound: Array  # (d,) float64: by variable, its best score
    before: Array  # (d, d) bool: [i, j], i must come before j
    table: Array  # (d, 2^n_candidates) float64: scores by predecessor bits, NaN where not known yet
    place: Array  # (d, d) int64: bit of a candidate (column) in the table of a variable (row), -1 for the others
    climb: Array  # (1,) CLIMB


def new_walk(before: Array, table: Array | None = None, place: Array | None = None) -> Walk:
    """A chain that is not anywhere yet; the table itself is kept, so that what is settled is seen at once."""
    d = len(before)
    climb = np.zeros(1, CLIMB)
    climb["is_tabled"], climb["is_constrained"] = table is not None, before.any()
    order, position, state, sequence, passed, own = np.zeros((6, d), np.int64)
    return Walk(
        order, position, state, sequence, passed, own, np.zeros(d), np.zeros(d), np.array(before),
        np.zeros((0, 1)) if table is None else table, np.zeros((0, 0), np.int64) if place is None else place, climb,
    )  # fmt: skip


WALK = typeof(new_walk(np.zeros((1, 1), bool)))


@inlined
def is_relevant(s: States, w: Walk, v: int, state: int, u: int) -> bool:
    """Whether it matters to a variable's state that u changes sides."""
    if w.climb[0].is_tabled:
        return w.place[v, u] >= 0
    return (s.relevant[state, u >> 6] >> (u & 63)) & 1 != 0


@inlined
def score_of(s: States, w: Walk, v: int, state: int) -> float:
    """Score of a variable in a state."""
    return w.table[v, state] if w.climb[0].is_tabled else s.known[state].score


@inlined
def looked_up(s: States, w: Walk, v: int, bits: int) -> int:
    """The bits themselves where the table knows them; else they are asked for."""
    s.used[0].variable, s.used[0].size = v, bits
    return MISSING if np.isnan(w.table[v, bits]) else bits


@inlined
def placed(s: States, w: Walk, v: int, limit: int) -> int:
    """State of v when the variables at positions under the limit come before it."""
    if not w.climb[0].is_tabled:
        return settled(s, w.position, v, -1, -1, limit, v, False)
    bits = 0
    for u in range(len(w.position)):
        if w.place[v, u] >= 0 and u != v and w.position[u] < limit:
            bits |= 1 << w.place[v, u]
    return looked_up(s, w, v, bits)


@inlined
def stepped(s: States, w: Walk, v: int, state: int, change: int, limit: int, moved: int, moved_is_before: bool) -> int:
    """State of v after another variable has changed sides."""
    if w.climb[0].is_tabled:
        return looked_up(s, w, v, state ^ (1 << w.place[v, change]))
    return settled(s, w.position, v, state, change, limit, moved, moved_is_before)


@inlined
def look(s: States, w: Walk, v: int, stop: int, step: int, high: int) -> int:
    """Gains of v at each position from its own to one that it stops before; negative where a state is missing.

    To the right, those that v passes lose a predecessor and gain nothing, so the walk ends where even v's best score
    cannot make up for it. Positions above ``high`` are passed but not taken.
    """
    mine, others, worth = w.state[v], 0.0, 0.0
    here = score_of(s, w, v, mine)
    room = w.bound[v] - here if step > 0 else np.inf
    for q in range(w.position[v] + step, stop, step):
        u = w.order[q]
        theirs = w.state[u]
        if is_relevant(s, w, u, theirs, v):
            others -= score_of(s, w, u, theirs)
            theirs = stepped(s, w, u, theirs, v, q, v, step < 0)
            if theirs < 0:
                return theirs
            others += score_of(s, w, u, theirs)
        if is_relevant(s, w, v, mine, u):
            mine = stepped(s, w, v, mine, u, q + 1 if step > 0 else q, v, False)
            if mine < 0:
                return mine
        w.passed[q], w.own[q] = theirs, mine
        if q <= high:
            w.gain[q] = others + score_of(s, w, v, mine) - here
            worth = max(worth, w.gain[q])
        if others + room < worth - w.climb[0].tolerance:
            break
    return 0


@inlined
def random_below(w: Walk, n: int) -> int:
    """A number under n, each as likely (a linear congruential generator, upper bits)."""
    w.climb[0].random = w.climb[0].random * 6364136223846793005 + 1442695040888963407
    return ((w.climb[0].random >> 33) & 0x3FFFFFFF) % n


@compiled(WHOLE(STATES, WALK, WHOLE, WHOLE, TRUTH), called_from_python=False)
def best_position(s: States, w: Walk, v: int, n: int, wanders: bool) -> int:
    """Where v is best in the first n places: the first of equals; one that wanders takes any as good as where it is."""
    order, gain, p = w.order, w.gain, w.position[v]
    low, high = 0, n - 1
    if w.climb[0].is_constrained:
        for q in range(n - 1, -1, -1):
            if w.before[v, order[q]]:
                high = q - 1 if q > p else q
            if w.before[order[q], v] and low == 0:
                low = q + 1
    for q in range(n):
        gain[q] = -np.inf
    if p <= high:
        gain[p] = 0.0
    for step in range(1, -2, -2):  # to the right, then to the left
        missing = look(s, w, v, high + 1 if step > 0 else low - 1, step, high)
        if missing < 0:
            return missing
    s.used[0].work += 4 * n
    best, tolerance = -np.inf, w.climb[0].tolerance
    for q in range(n):
        best = max(best, gain[q])
    on_plateau = wanders and best <= tolerance
    if on_plateau:
        best = 0.0
    n_equal = 0
    for q in range(n):
        if gain[q] >= best - tolerance:
            n_equal += 1
    pick = random_below(w, n_equal) if on_plateau else 0
    for q in range(n):
        if gain[q] >= best - tolerance:
            if pick == 0:
                return q
            pick -= 1
    return p


@inlined
def put(w: Walk, v: int, q: int) -> None:
    """Move v to a position that was just looked at."""
    p = w.position[v]
    if q == p:
        return
    step = 1 if q > p else -1
    for j in range(p, q, step):
        u = w.order[j + step]
        w.order[j], w.position[u], w.state[u] = u, j, w.passed[j + step]
    w.order[q], w.position[v], w.state[v] = v, q, w.own[q]
    w.climb[0].n_moves += 1


@inlined
def climb(s: States, w: Walk, n: int) -> int:
    """Move variables in sequence, again and again, until none gains."""
    c = w.climb[0]
    while c.since_gain < n:
        v = w.sequence[c.at % n]
        q = best_position(s, w, v, n, True)
        if q < 0:
            return q
        gained = w.gain[q] > c.tolerance
        put(w, v, q)
        c.at += 1
        c.since_gain = 0 if gained else c.since_gain + 1
        if s.used[0].work > c.pause_at:
            s.used[0].work = 0
            return PAUSED
    return DONE


@inlined
def settle(s: States, w: Walk, n: int) -> int:
    """States of the first n variables of the order."""
    for v in range(len(w.order)):
        w.position[v] = len(w.order)
    for p in range(n):
        w.position[w.order[p]] = p
    for p in range(n):
        state = placed(s, w, w.order[p], p)
        if state < 0:
            return state
        w.state[w.order[p]] = state
    return DONE


@inlined
def bound(s: States, w: Walk, n: int) -> int:
    """Scores of the first n variables given all the others, which none can exceed."""
    for v in range(n):
        w.position[v] = 0
    for v in range(n):
        state = placed(s, w, v, 1)
        if state < 0:
            return state
        w.bound[v] = score_of(s, w, v, state)
    return DONE


@inlined
def insert(s: States, w: Walk, n: int) -> int:
    """Put the variable at place n where it is best among those before."""
    v = w.order[n]
    w.position[v] = n
    state = placed(s, w, v, n)
    if state >= 0:
        w.state[v] = state
        state = best_position(s, w, v, n + 1, False)
    if state < 0:
        w.position[v] = len(w.order)
        return state
    put(w, v, state)
    return DONE


CLIMBS, SETTLES, BOUNDS, INSERTS = range(4)


@compiled(WHOLE(STATES, WALK, WHOLE, WHOLE))
def work(s: States, w: Walk, task: int, n: int) -> int:
    """Do one of the tasks: by itself, each takes nearly as long to compile as all of them together."""
    if task == CLIMBS:
        answer = climb(s, w, n)
    elif task == SETTLES:
        answer = settle(s, w, n)
    elif task == BOUNDS:
        answer = bound(s, w, n)
    else:
        answer = insert(s, w, n)
    return answer


PAUSE_AFTER = 10_000_000
"""Steps of compiled code between two looks at the clock: some ten milliseconds."""


class Chain(Climber):
    """A climb by compiled moves of one variable after another, for scores of parent sets.

    Parameters
    ----------
    moves : CovarianceMoves, ExpandedMoves or TableMoves
    constraints, deadline, seed
        As of :class:`precede.search.local.climber.Climber`.
    lock : threading.Lock
        Held while a score works something out in Python: scores are not made for several threads.
    """

    def __init__(
        self, moves: StateMoves, constraints: Constraints, deadline: Deadline, seed: int, lock: threading.Lock
    ) -> None:
        super().__init__(constraints, deadline, seed)
        self._moves, self.parents, self._is_bounded = moves, ParentSearch(moves, lock=lock), False
        table = (moves.table, moves.place) if isinstance(moves, TableMoves) else ()
        self.walk = new_walk(constraints.before, *table)
        self.walk.order[:] = self.order
        self.order = self.walk.order
        self.walk.climb["random"], self.walk.climb["pause_at"] = seed, PAUSE_AFTER
        if isinstance(moves, CovarianceMoves):
            self.walk.climb["tolerance"] = TOLERANCE * moves.n_samples * len(self.order)

    @property
    def tolerance(self) -> float:
        return float(self.walk.climb["tolerance"][0])

    def total(self) -> float:
        """Sum of the terms where the chain is, added up by column."""
        if isinstance(self._moves, TableMoves):
            return float(self.walk.table[np.arange(len(self.order)), self.walk.state].sum())
        return float(self.parents.states.known["score"][self.walk.state].sum())

    def search(self, start: IntArray, n_restarts: int) -> None:
        """Climb and restart. In a wide table most of the work is done near what was found, then all is looked at again.

        A restart costs as much as the neighborhoods that it shakes, and not the square of the columns.
        """
        moves, whole, found = self._moves, self.parents, (-math.inf, start)
        if n_restarts == 0 or not isinstance(moves, CovarianceMoves) or len(self.order) <= EVERYWHERE_UP_TO:
            super().search(start, n_restarts)
            return
        far = 2 if len(self.parents.states.residual) else 3  # to price shapes takes longer
        for share in (0, n_restarts):
            self.settle(found[1])
            self.parents = ParentSearch(replace(moves, allowed=moves.allowed & edges_away(self.edges(), far)))
            self.best = -math.inf
            super().search(found[1], share)
            assert self.best_order is not None
            self.parents, self.best = whole, -math.inf
            self.climb_from(self.best_order)
            if self.best > found[0] + self.tolerance:
                found = self.best, self.best_order
        self.best, self.best_order = found

    def start(self) -> None:
        """Bound every variable's score, once."""
        if self._is_bounded:
            return
        self.walk.bound[:] = np.inf  # shapes may gain by losing a predecessor, so that nothing is a bound
        if not len(self.parents.states.residual):
            self._run(BOUNDS)
        self.walk.position[:] = len(self.order)
        if not isinstance(self._moves, CovarianceMoves):
            self.walk.climb["tolerance"] = TOLERANCE * max(1.0, abs(float(self.walk.bound.sum())))
        self._is_bounded = True

    def settle(self, order: IntArray) -> None:
        self.start()
        self.order[:] = order
        self._run(SETTLES)

    def climb(self, shaken_from: tuple[IntArray, float] | None = None) -> bool:
        self.walk.climb["since_gain"] = self.walk.climb["at"] = 0
        self.walk.sequence[:] = self.rng.permutation(len(self.order))
        finished = self._run(CLIMBS)
        self.n_moves = int(self.walk.climb["n_moves"][0])
        self._settle_anew()
        return finished

    def insert(self, n: int) -> bool:
        self.start()
        return self._run(INSERTS, n)

    def edges(self) -> BoolArray:
        """Parent sets of the states where the chain is, ``[i, j]`` means i -> j; of no use with a table."""
        s = self.parents.states
        edges = np.zeros((len(self.order), len(self.order)), dtype=bool)
        states = s.known[["start", "n_members"]][self.walk.state].tolist()
        for v, (start, n_members) in enumerate(states):
            edges[s.pool[start : start + n_members], v] = True
        return edges

    def _settle_anew(self) -> None:
        """States as they are without the way there, which is what the score itself says of an order.

        A climb may end at better parent sets than those that grow from nothing. Then another order of the same graph
        is tried, in which fewer variables come before the others.
        """
        if isinstance(self._moves, TableMoves):
            return
        climbed, edges, order = self.total(), self.edges(), self.order.copy()
        self._run(SETTLES)
        direct = self.total()
        if direct >= climbed - self.tolerance:
            return
        first = replace(self.constraints, before=edges | self.constraints.before).nearest_order(np.arange(len(order)))
        self.settle(first)
        if self.total() <= direct + self.tolerance:
            self.settle(order)

    def _run(self, task: int, n: int | None = None) -> bool:
        """Run a compiled task to its end, supplying what it asks for; False when time is over."""
        n = len(self.order) if n is None else n
        while (answer := work(self.parents.states, self.walk, task, n)) != DONE:
            remembered = answer == PAUSED or self.parents.supply(answer)
            if not remembered and task in (CLIMBS, INSERTS):  # the states of the order were forgotten too
                self._run(SETTLES, n)
            if task == CLIMBS and self.deadline.passed():
                return False
        return True
