"""The grow-and-shrink engine, compiled: the best parents of a variable among those that come before it.

A *state* is a variable with a set of parents. It knows its score, the parent to drop if one does not pay, and its
*rivals*: the variables whose addition pays, best first. From the required parents on, the best rival among the
predecessors is added while there is one; where there is none, the parent is dropped that does not pay, and so on to the
end (the grow-shrink of BOSS and FLOP, gone on with while it pays). So the result depends on the set of predecessors
alone, and a change of sides matters to a state only if the other variable is one of its parents or rivals.

Linear regressions are priced here from the correlations (``CovarianceMoves``); any other
score is asked for what a parent more or less would change (``ExpandedMoves``). Which
rivals pay, which parent goes, and what is decided where two are equal, is decided here for all of them.
"""

from __future__ import annotations

import math
import threading
from typing import Any, NamedTuple

import numpy as np
from numba import types

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.runtime.compiled import compiled, inlined, typeof
from precede.scores.protocol import CovarianceMoves, StateMoves, TableMoves
from precede.scores.shape import EVEN_WEIGHT, GAUSSIAN_MEAN, ODD_WEIGHT, SMALLEST_SPREAD
from precede.ties import TOLERANCE

Array = np.ndarray[Any, Any]

SMALLEST_VARIANCE = 1e-9
"""A variable that the parents leave less than this share of its variance has nothing to add."""

SMALLEST_RESIDUAL = 1e-15
"""Residual variance of a target is taken as at least this."""

FIRST_CAPACITY = 2**12
"""States that there is room for at the start; the room doubles where it is used up."""

POOL_PER_STATE = 32
"""Members and rivals that a state is expected to have."""

MOST_BYTES = 2**29
"""States are forgotten and made anew when they take more than this."""

KEY_SEED = 20_190_101
"""Of the keys that states are found by: they decide nothing."""

MISSING, FULL = -1, -2
"""In the place of a state: it has to be worked out in Python; there is no room for another."""

PROBLEM = np.dtype(
    [(name, np.float64) for name in ("half_samples", "price", "pays", "keeps", "shape_price")]
    + [(name, np.int64) for name in ("max_parents", "is_native", "exchanges")]
)
"""Log-likelihood of a unit of log-variance; price of a parent; shares of a variance from which adding a parent pays,
and under which keeping one does not; price of a residual's shape; and how parents are found."""

STATE = np.dtype(
    [(name, np.int64) for name in ("variable", "n_members", "n_rivals", "start", "drop", "key", "is_shaped")]
    + [("score", np.float64)]
)
"""``start``: of its members in the pool, ascending, then of its rivals; ``drop``: -1 for none."""

USED = np.dtype(
    [(name, np.int64) for name in ("n_states", "pool", "work", "n_held", "held_for", "variable", "size", "slot")]
    + [("score", np.float64)]
)
"""How many states and entries of the pool there are, steps of work, rows of the last factor and the list that they are
of, and the state that is asked for in Python."""


class States(NamedTuple):
    """The states made so far, what they are made from, and room to work in."""

    problem: Array  # (1,) PROBLEM
    correlation: Array  # (d, d) float64
    allowed: Array  # (d, d) bool, [child, parent], as the next
    required: Array
    offset: Array  # (d,) float64: score without parents but for what they explain
    columns: Array  # (d, n_rows) float64: standardized; no rows where residuals have no shape
    member_key: Array  # (d,) int64: Zobrist keys
    owner_key: Array
    known: Array  # (capacity,) STATE
    relevant: Array  # (capacity, d / 64) int64: bits of members and rivals
    pool: Array  # int16: members and rivals
    gains: Array  # float64, beside the pool: of rivals; empty where parents are not exchanged
    slots: Array  # int64: hash table of states, -1 where empty
    used: Array  # (1,) USED
    near: Array  # (d, n_near + 1) int64: a variable with its possible parents, ascending; or one line with all
    n_near: Array  # (d,) int64, or (1,): how many
    held: Array  # (d,) int64: whose rows the next has
    rows: Array  # (d, n_near + 1) float64: of a Cholesky factor, by place in the line of near
    factor: Array  # (d, d) float64: those of the members alone, side by side
    variance: Array  # (n_near + 1,) float64: of each variable of the line given the members
    cross: Array  # (d,) float64: its covariance with the target; where Python prices it, by variable what it would gain
    gain: Array  # (d,) float64, as the next: by number of a rival, and by number of a member what is lost without it
    loss: Array
    members: Array  # (d,) int64, as the next: of the state that is worked on
    rivals: Array
    residual: Array  # (n_rows,) float64


def new_states(moves: StateMoves, exchanges: bool = False) -> States:
    """No states yet, of a score's moves; a table needs none, only a place to ask at."""
    required = np.zeros(moves.place.shape, bool) if isinstance(moves, TableMoves) else moves.required
    d = len(required)
    problem, used = np.zeros(1, PROBLEM), np.zeros(1, USED)
    problem["exchanges"] = exchanges
    correlation, allowed, offset, columns = np.zeros((0, 0)), np.zeros((0, 0), bool), np.zeros(0), np.zeros((d, 0))
    if isinstance(moves, CovarianceMoves):
        correlation, allowed, offset, columns = moves.correlation, moves.allowed, moves.offset, moves.columns
        half, tolerance = moves.n_samples / 2, TOLERANCE * moves.n_samples * d
        pays, keeps = (-math.expm1(-(moves.price + sign * tolerance) / half) for sign in (1, -1))
        problem[0] = (half, moves.price, pays, keeps, moves.shape_price, moves.max_parents, 1, 0)
    near, n_near = lists_of(allowed | required if len(allowed) else allowed)
    keys = np.random.default_rng(KEY_SEED).integers(-(2**63), 2**63 - 1, (2, d))
    pool = np.zeros(POOL_PER_STATE * FIRST_CAPACITY, np.int16)
    return States(
        problem, correlation, allowed, required, offset, columns, keys[0].copy(), keys[1].copy(),
        known=np.zeros(FIRST_CAPACITY, STATE), relevant=np.zeros((FIRST_CAPACITY, (d + 63) // 64), np.int64),
        pool=pool, gains=np.zeros(len(pool) if exchanges else 0), slots=np.full(2 * FIRST_CAPACITY, -1), used=used,
        near=near, n_near=n_near, held=np.zeros(d, np.int64), rows=np.zeros((d, near.shape[1])),
        factor=np.zeros((d, d)), variance=np.zeros(near.shape[1]), cross=np.zeros(d),
        gain=np.zeros(d), loss=np.zeros(d), members=np.zeros(d, np.int64), rivals=np.zeros(d, np.int64),
        residual=np.zeros(columns.shape[1]),
    )  # fmt: skip


def lists_of(allowed: BoolArray) -> tuple[IntArray, IntArray]:
    """Each variable with its possible parents, and how many; where they are many, one line with all variables."""
    listed = allowed | np.eye(len(allowed), dtype=bool)
    n = listed.sum(axis=1, dtype=np.int64)
    if 2 * n.max(initial=0) > len(listed):
        return np.arange(len(listed))[None], np.array([len(listed)])
    last = np.argsort(~listed, axis=1, kind="stable")[:, : n.max(initial=1)]
    return last.astype(np.int64), n


_NO, _ZERO = np.zeros((1, 1), bool), np.zeros(1)
STATES = typeof(new_states(CovarianceMoves(_ZERO[None], _ZERO, 1, 0.0, 0, _NO, _NO, _ZERO[None], 0.0)))
"""The one type that is compiled for."""

WHOLE, TRUTH, LINE = types.int64, types.boolean, types.int64[::1]


# -- linear regressions ------------------------------------------------------------------------------------------


@inlined
def take_over(s: States, k: int) -> int:
    """The members, those in front whose rows of the factor hold; the number of these.

    Parents come and go one by one, so that a row or two are to be worked out where all would take k times as long.
    """
    held, members, n = s.held, s.members, 0
    while n < s.used[0].n_held and contains(members, k, held[n]):
        n += 1
    j = n
    for i in range(k):
        if not contains(held, n, members[i]):
            held[j] = members[i]
            j += 1
    s.used[0].n_held = k
    return n


@inlined
def contains(numbers: Array, n: int, one: int) -> bool:
    """Whether a number is among the first n."""
    place = 0
    while place < n and numbers[place] != one:
        place += 1
    return place < n


@inlined
def place_in(line: Array, n: int, one: int) -> int:
    """Place of a number in the first n of a line, which ascend and have it."""
    if line[n - 1] == n - 1:
        return one
    low, high = 0, n - 1
    while low < high:
        middle = (low + high) >> 1
        if line[middle] < one:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def condition(s: States, v: int, k: int, line: int) -> None:
    """Variances of the possible parents of v, and covariances with v, given the members: rows of a Cholesky factor."""
    correlation, rows, held, variance, cross = s.correlation, s.rows, s.held, s.variance, s.cross
    near, n = s.near[line], s.n_near[line]
    for t in range(n):
        variance[t] = 1.0
        cross[t] = correlation[v, near[t]]
    if s.used[0].held_for != line:
        s.used[0].n_held, s.used[0].held_for = 0, line
    known, place_of_v = take_over(s, k), place_in(near, n, v)
    for j in range(k):
        row = rows[j]
        if j >= known:
            member = held[j]
            place = place_in(near, n, member)
            for t in range(n):
                row[t] = correlation[member, near[t]]
            for i in range(0, j - 1, 2):  # two rows at once: half the traffic
                factor, other_factor = rows[i, place], rows[i + 1, place]
                for t in range(n):
                    row[t] -= factor * rows[i, t] + other_factor * rows[i + 1, t]
            if j & 1:
                factor = rows[j - 1, place]
                for t in range(n):
                    row[t] -= factor * rows[j - 1, t]
            scale = 1.0 / math.sqrt(max(variance[place], SMALLEST_VARIANCE))
            for t in range(n):
                row[t] *= scale
        at_v = row[place_of_v]
        for t in range(n):
            variance[t] -= row[t] * row[t]
            cross[t] -= at_v * row[t]


@inlined
def factorize(s: States, v: int, k: int) -> None:
    """Cholesky factor of the correlations of the members, and behind them v, where what is left of its variance stays.

    The members come as they are listed, so that nothing depends on the set before.
    """
    correlation, factor, members = s.correlation, s.factor, s.members
    members[k] = v
    for t in range(k + 1):
        for j in range(t, k + 1):
            factor[t, j] = correlation[members[t], members[j]]
    for t in range(k):
        scale = 1.0 / math.sqrt(max(factor[t, t], SMALLEST_VARIANCE))
        for j in range(t, k + 1):
            factor[t, j] *= scale
        for i in range(t + 1, k + 1):
            for j in range(i, k + 1):
                factor[i, j] -= factor[t, i] * factor[t, j]


@inlined
def price_drops(s: States, v: int, k: int, residual: float) -> None:
    """Share of the residual variance that each member explains.

    It is b² / (residual G + b²) with b the member's regression coefficient and G its entry on the diagonal of the
    inverse of the members' correlations, both from the inverse of the Cholesky factor.
    """
    factor, members, loss, column, required = s.factor, s.members, s.loss, s.gain, s.required[v]
    for i in range(k):
        spread = 0.0
        for j in range(i, k + 1):
            column[j] = 1.0 if j == i else 0.0
        for t in range(i, k):  # column i of the inverse
            entry = column[t] / factor[t, t]
            spread += entry * entry
            for j in range(t + 1, k + 1):
                column[j] -= entry * factor[t, j]
        square = column[k] * column[k]
        loss[i] = np.inf if required[members[i]] else square / (residual * spread + square)


@inlined
def with_rival(s: States, n: int, rival: int, size: float) -> int:
    """One rival more, where its gain puts it: largest first, equal ones as they come; their number.

    Gains are in single precision, so that rounding decides nothing.
    """
    rivals, gain, rounded, place = s.rivals, s.gain, np.float32(size), n
    while place > 0 and gain[place - 1] < rounded:
        rivals[place], gain[place] = rivals[place - 1], gain[place - 1]
        place -= 1
    rivals[place], gain[place] = rival, rounded
    return n + 1


@inlined
def price_additions(s: States, v: int, k: int, line: int, enough: float) -> int:
    """Variance of v that each possible parent would explain, where that is enough; their number."""
    variance, cross, allowed, near, n_near = s.variance, s.cross, s.allowed[v], s.near[line], s.n_near[line]
    for i in range(k):
        variance[place_in(near, n_near, s.members[i])] = 0.0  # a member is not a rival
    n = 0
    for t in range(n_near):
        square = cross[t] * cross[t]
        if square > enough * variance[t] and variance[t] >= SMALLEST_VARIANCE and allowed[near[t]]:
            n = with_rival(s, n, near[t], square / variance[t])
    return n


@inlined
def bell_at(z: float) -> float:
    """exp(-z²/2) to twelve digits, by steps that a processor takes for several rows at once."""
    x = -min(0.5 * z * z, 64.0) / 256
    power = 1 + x * (1 + x / 2 * (1 + x / 3 * (1 + x / 4 * (1 + x / 5 * (1 + x / 6 * (1 + x / 7))))))
    for _ in range(8):
        power *= power
    return power


@compiled(types.float64(STATES, WHOLE, WHOLE), called_from_python=False, reorders_sums=True)
def worth_of_shape(s: States, v: int, k: int) -> float:
    """What the shape of v's residual given the members is worth: see ``precede.scores.shape``."""
    factor, members, weights, residual = s.factor, s.members, s.loss, s.residual
    factorize(s, v, k)
    for row in range(len(residual)):  # to assign all at once takes twice as long to compile
        residual[row] = s.columns[v, row]
    for i in range(k - 1, -1, -1):  # weights of the regression, by the transposed factor
        weight = factor[i, k]
        for j in range(i + 1, k):
            weight -= factor[i, j] * weights[j]
        weights[i] = weight = weight / factor[i, i]
        column = s.columns[members[i]]
        for row in range(len(residual)):
            residual[row] -= weight * column[row]
    n = len(residual)
    square = 0.0
    for row in range(n):
        square += residual[row] * residual[row]
    spread = math.sqrt(square / n)
    s.used[0].work += (k + 10) * n
    if spread <= SMALLEST_SPREAD:
        return 0.0
    odd = even = 0.0
    for row in range(n):
        z = residual[row] / spread
        bell = bell_at(z)
        odd += z * bell
        even += bell
    odd, even = odd / n, even / n - GAUSSIAN_MEAN
    return max(0.0, n * (ODD_WEIGHT * odd * odd + EVEN_WEIGHT * even * even) - s.problem[0].shape_price)


# -- what pays: the one rule for all scores ------------------------------------------------------------------------


@inlined
def best_drop(s: States, k: int, most: float, slack: float) -> int:
    """The member whose loss is least, where that is less than the most that may be lost; of equals the first."""
    loss, members, least, drop = s.loss, s.members, most, -1
    for i in range(k):
        if loss[i] < least - slack:
            least, drop = loss[i], members[i]
    return drop


# -- states ------------------------------------------------------------------------------------------------------


@inlined
def list_members(s: States, v: int, state: int, change: int) -> int:
    """Members of a state with one more or one fewer; of a negative state the required ones. Their number."""
    members, pool = s.members, s.pool
    k = 0
    if state < 0:
        required = s.required[v]
        for u in range(len(members)):
            if required[u]:
                members[k] = u
                k += 1
        return k
    waiting = True
    found = s.known[state]
    start = found.start
    for i in range(start, start + found.n_members):
        member = int(pool[i])
        if waiting and member >= change:
            waiting = False
            if member == change:
                continue
            members[k] = change
            k += 1
        members[k] = member
        k += 1
    if waiting:
        members[k] = change
        k += 1
    return k


@inlined
def key_of(s: States, v: int, k: int) -> int:
    """Zobrist key of v and the members in the work array."""
    key, keys, members = s.owner_key[v], s.member_key, s.members
    for i in range(k):
        key ^= keys[members[i]]
    return key


@inlined
def found_slot(s: States, v: int, k: int, key: int) -> int:
    """Slot of the state of v with the members in the work array, or the empty one where it belongs."""
    slots, known, pool, members = s.slots, s.known, s.pool, s.members
    mask = len(slots) - 1
    slot = key & mask
    while True:
        number = slots[slot]
        if number < 0:
            return slot
        state = known[number]
        if state.key == key and state.variable == v and state.n_members == k:
            start, i = state.start, 0
            while i < k and pool[start + i] == members[i]:
                i += 1
            if i == k:
                return slot
        slot = (slot + 1) & mask


@inlined
def asked(s: States, v: int, k: int, slot: int) -> int:
    """Ask for a state in Python."""
    used = s.used[0]
    used.variable, used.size, used.slot = v, k, slot
    return MISSING


@inlined
def kept(s: States, v: int, k: int, n_rivals: int, slot: int, score: float, drop: int, key: int) -> int:
    """Keep a state whose members and rivals lie in the work arrays; its number, or FULL."""
    used = s.used[0]
    number, start = used.n_states, used.pool
    if number >= len(s.known) or start + k + n_rivals > len(s.pool):
        return FULL
    state, relevant = s.known[number], s.relevant[number]
    state.variable, state.n_members, state.n_rivals, state.start = v, k, n_rivals, start
    state.drop, state.key, state.score, state.is_shaped = drop, key, score, 0
    for word in range(len(relevant)):
        relevant[word] = 0
    pool, members, rivals = s.pool, s.members, s.rivals
    for i in range(k + n_rivals):
        u = members[i] if i < k else rivals[i - k]
        pool[start + i] = u
        relevant[u >> 6] |= 1 << (u & 63)
    if len(s.gains):
        for i in range(n_rivals):
            s.gains[start + k + i] = s.cross[rivals[i]]
    s.slots[slot] = number
    used.n_states = number + 1
    used.pool = start + k + n_rivals
    return number


@compiled(WHOLE(STATES, *[WHOLE] * 4), called_from_python=False)
def regressed(s: States, v: int, k: int, slot: int, key: int) -> int:
    """A new state of v with the members in the work array, by linear regression; its number, or FULL."""
    problem, line = s.problem[0], min(v, len(s.near) - 1)
    s.used[0].work += s.n_near[line] * (k + 2)
    condition(s, v, k, line)
    factorize(s, v, k)
    residual = max(s.factor[k, k], SMALLEST_RESIDUAL)
    score = s.offset[v] - problem.half_samples * math.log(residual) - problem.price * k
    price_drops(s, v, k, residual)
    drop = best_drop(s, k, problem.keeps, TOLERANCE * problem.keeps)
    n_rivals = price_additions(s, v, k, line, problem.pays * residual) if k < problem.max_parents else 0
    return kept(s, v, k, n_rivals, slot, score, drop, key)


@compiled(WHOLE(STATES, LINE, *[WHOLE] * 5, TRUTH), called_from_python=False)
def settled(
    s: States, position: Array, v: int, state: int, change: int, limit: int, moved: int, moved_is_before: bool
) -> int:
    """State of v when one variable changes sides; from the required parents on for a negative state.

    Then grow by the best rival that comes before, and where there is none drop what does not pay, to the end. Before
    come the variables at positions under the limit; the one that is moved does or does not, as is said.
    """
    while True:
        k = list_members(s, v, state, change)
        key = key_of(s, v, k)
        slot = found_slot(s, v, k, key)
        state = s.slots[slot]
        if state < 0:
            state = regressed(s, v, k, slot, key) if s.problem[0].is_native else asked(s, v, k, slot)
            if state < 0:
                return state
        found, pool = s.known[state], s.pool
        change = found.drop
        start = found.start + found.n_members
        for i in range(start, start + found.n_rivals):
            rival = int(pool[i])
            if moved_is_before if rival == moved else position[rival] < limit:
                change = rival
                break
        if change < 0:
            if len(s.residual) and not found.is_shaped:
                found.score += worth_of_shape(s, v, k)
                found.is_shaped = 1
            return state


@inlined
def exchanged(s: States, position: Array, v: int, state: int, limit: int) -> int:
    """The state with the one parent exchanged for another that gains most, grown and shrunk; itself where none gains.

    Growth takes the best single parents first, and where their levels are many, the price of another parent keeps out
    those that would do better together.
    """
    found = s.known[state]
    least = found.score + TOLERANCE * abs(found.score)
    smallest, taken = -1, -1
    for i in range(found.start, found.start + found.n_members):
        parent = int(s.pool[i])
        if s.required[v, parent]:
            continue
        k = list_members(s, v, state, parent)
        slot = found_slot(s, v, k, key_of(s, v, k))
        number = s.slots[slot]
        if number < 0:
            return asked(s, v, k, slot)
        smaller = s.known[number]
        start = smaller.start + smaller.n_members
        for j in range(start, start + smaller.n_rivals):
            score, rival = smaller.score + s.gains[j], int(s.pool[j])
            if score <= least:
                break
            if rival != parent and position[rival] < limit:
                smallest, taken, least = number, rival, score + TOLERANCE * abs(score)
                break
    return state if smallest < 0 else settled(s, position, v, smallest, taken, limit, v, False)


@inlined
def best_parents(s: States, position: Array, v: int, limit: int) -> int:
    """State of v given all at positions under the limit, its parents exchanged for others while that pays."""
    state, before = settled(s, position, v, -1, -1, limit, v, False), -1
    while s.problem[0].exchanges and state >= 0 and state != before:
        before = state
        state = exchanged(s, position, v, state, limit)
    return state


@compiled(WHOLE(STATES, types.int64[:, ::1], LINE, WHOLE, LINE, types.float64[:, ::1], types.boolean[:, ::1]))
def score_orders(
    s: States, orders: Array, position: Array, first: int, cursor: Array, terms: Array, edges: Array
) -> int:
    """Terms of the variables of each order from the first place on; what is missing, or 0 at the end.

    ``cursor`` says where to go on, an order and a place; parents in the last order are written to ``edges``, [i, j]
    for i -> j, where there is room.
    """
    d = orders.shape[1]
    while cursor[0] < len(orders):
        order = orders[cursor[0]]
        for p in range(d):
            position[order[p]] = p
        for p in range(cursor[1], d):
            v = order[p]
            state = best_parents(s, position, v, p)
            if state < 0:
                cursor[1] = p
                return state
            found = s.known[state]
            terms[cursor[0], p] = found.score
            if len(edges):
                for i in range(found.start, found.start + found.n_members):
                    edges[s.pool[i], v] = True
        cursor[0], cursor[1] = cursor[0] + 1, first
    return 0


@compiled(WHOLE(STATES, WHOLE))
def store(s: States, n: int) -> int:
    """Keep the state that was asked for: priced in Python, with n candidates for rivals."""
    v, k = s.used[0].variable, s.used[0].size
    score = s.used[0].score
    slack = TOLERANCE * abs(score)
    drop, n_rivals = best_drop(s, k, -slack, slack), 0
    for i in range(n):  # those that come are read before their places are written
        if s.cross[s.rivals[i]] > slack:
            n_rivals = with_rival(s, n_rivals, s.rivals[i], s.cross[s.rivals[i]])
    return kept(s, v, k, n_rivals, s.used[0].slot, score, drop, key_of(s, v, k))


@compiled(types.void(STATES))
def rehash(s: States) -> None:
    """Fill an empty hash table with the states that there are."""
    for number in range(s.used[0].n_states):
        slot = s.known[number].key & (len(s.slots) - 1)
        while s.slots[slot] >= 0:
            slot = (slot + 1) & (len(s.slots) - 1)
        s.slots[slot] = number


class ParentSearch:
    """States of one thread: compiled code makes and finds them, and this supplies what it asks for.

    Parameters
    ----------
    moves : CovarianceMoves, ExpandedMoves or TableMoves
    exchanges : bool
        Whether ``terms`` and ``edges`` also exchange one parent for another while that pays.
    lock : threading.Lock, optional
        Held while a score works something out in Python: scores are not made for several threads.
    """

    def __init__(self, moves: StateMoves, exchanges: bool = False, lock: threading.Lock | None = None) -> None:
        self._moves, self._lock = moves, lock or threading.Lock()
        self.states = new_states(moves, exchanges)
        self._position = np.zeros(len(self.states.required), np.int64)

    def terms(self, orders: IntArray, first: int = 0, edges: BoolArray | None = None) -> FloatArray:
        """Score of each variable with its best parents, (n_orders, n_variables), of those at the first place and after.

        The edges of the last order are added to a matrix that is given.
        """
        terms, cursor = np.zeros(orders.shape), np.array([0, first])
        room = np.zeros((0, 0), bool) if edges is None else edges
        orders = np.array(orders, np.int64, order="C")
        while (wanted := score_orders(self.states, orders, self._position, first, cursor, terms, room)) < 0:
            self.supply(wanted)
        return terms

    def supply(self, wanted: int) -> bool:
        """Work out the state that is asked for, or make room; False where all states had to be forgotten for that."""
        if wanted == FULL:
            return self._make_room()
        s, moves = self.states, self._moves
        if isinstance(moves, CovarianceMoves):
            raise TypeError("compiled code works out covariances by itself")
        variable, size = int(s.used["variable"][0]), int(s.used["size"][0])
        with self._lock:
            if isinstance(moves, TableMoves):
                moves.settle(variable, size)
                return True
            found = moves.expand(variable, tuple(s.members[:size].tolist()))
        n = len(found.rivals)
        s.rivals[:n], s.loss[:size], s.used["score"] = found.rivals, found.losses, found.score
        s.cross[found.rivals] = found.gains
        return store(s, n) >= 0 or self._make_room()  # without room, it is asked for again

    def _make_room(self) -> bool:
        s = self.states
        if 2 * sum(part.nbytes for part in (s.known, s.relevant, s.pool, s.gains, s.slots)) > MOST_BYTES:
            s.used["n_states"] = s.used["pool"] = 0
            s.slots[:] = -1
            return False
        known, relevant, pool, gains = map(_doubled, (s.known, s.relevant, s.pool, s.gains))
        slots = np.full(2 * len(s.slots), -1)
        self.states = s._replace(known=known, relevant=relevant, pool=pool, gains=gains, slots=slots)
        rehash(self.states)
        return True


def _doubled(array: Array) -> Any:
    longer = np.zeros((2 * len(array), *array.shape[1:]), array.dtype)  # memory that is not touched before it is used
    longer[: len(array)] = array
    return longer
