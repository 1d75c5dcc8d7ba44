"""Compiled local search over orders: states made and found again, variables taken through the order (METHODS 12).

Compiled functions live in this one file, since the cache on disk goes by the file, and are inlined but for two, since
each function that stands alone is optimised again with all that it calls.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit, types

from precede.search.local.arrays import (
    ALLOWED, ASKED, ASKED_DROP, ASKED_SIZE, ASKED_SLOT, AT, BEFORE, BOUND, BOUNDS, CLIMB, CORRELATION, CROSS, DONE,
    DROP, FULL, GAIN, HALF_SAMPLES, INSERT, INVERSE, IS_CONSTRAINED, IS_NATIVE, IS_TABLED, KEEPS, KEY, MAX_PARENTS,
    MEMBER_KEY, MEMBERS, MISSING, N_MEMBERS, N_MOVES, N_RIVALS, N_STATES, OFFSET, ORDER, OWN, OWNER_KEY, PASSED,
    PAUSE_AT, PAUSED, PAYS, POOL_USED, POSITION, PRICE, RANDOM, REHASH, RELEVANT, REQUIRED, RIVALS, ROWS, SEQUENCE,
    SETTLE, SHARE, SINCE_GAIN, START, STATE, STORE, TOLERANCE, VARIABLE, VARIANCE, WANDER, WORK, Array, Arrays,
)  # fmt: skip

Function = TypeVar("Function", bound=Callable[..., Any])

SMALLEST_VARIANCE = 1e-9
"""As in :mod:`precede.scores.sparse_linear`: a variable that the parents leave less than this adds nothing."""

SMALLEST_RESIDUAL = 1e-15
"""Residual variance of a target is taken as at least this."""


def _array(kind: Any, n_dimensions: int) -> Any:
    return types.Array(kind, n_dimensions, "C")


ARRAYS = types.NamedTuple(
    [
        _array(types.float64, 3), _array(types.boolean, 3), _array(types.float64, 2), _array(types.int64, 2),
        _array(types.float64, 2), _array(types.int64, 2), _array(types.float64, 1), _array(types.int64, 1),
        _array(types.int64, 2), _array(types.float64, 1), _array(types.int32, 1), _array(types.int64, 1),
    ],
    Arrays,
)  # fmt: skip
"""The one type of argument that is compiled for."""


def compiled(*arguments: Any) -> Callable[[Function], Function]:
    """Compile for these arguments, to run without the interpreter's lock; kept on disk where there is a place for it."""
    signature = types.int64(ARRAYS, *arguments)
    options = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "no_cpython_wrapper": len(arguments) > 2}

    def decorate(function: Function) -> Function:
        try:
            return cast(Function, njit(signature, cache=True, **options)(function))
        except RuntimeError:  # neither the package's folder nor the user's can be written to
            return cast(Function, njit(signature, **options)(function))

    return decorate


def inlined(function: Function) -> Function:
    """Compile as part of the functions that call it."""
    return cast(Function, njit(inline="always")(function))


# -- states --------------------------------------------------------------------------------------------------------


@inlined
def condition(s: Arrays, v: int, k: int) -> None:
    """Variances of all variables, and covariances with v, given the members: rows of a Cholesky factor."""
    correlation, rows, members = s.square[CORRELATION], s.square[ROWS], s.whole[MEMBERS]
    variance, cross = s.real[VARIANCE], s.real[CROSS]
    d = len(variance)
    for u in range(d):
        variance[u] = 1.0
        cross[u] = correlation[v, u]
    for j in range(k):
        member = members[j]
        row = rows[j]
        for u in range(d):
            row[u] = correlation[member, u]
        for i in range(0, j - 1, 2):  # two rows at once: half the traffic
            factor, other_factor = rows[i, member], rows[i + 1, member]
            for u in range(d):
                row[u] -= factor * rows[i, u] + other_factor * rows[i + 1, u]
        if j & 1:
            factor = rows[j - 1, member]
            for u in range(d):
                row[u] -= factor * rows[j - 1, u]
        scale = 1.0 / math.sqrt(max(variance[member], SMALLEST_VARIANCE))
        at_v = row[v] * scale
        for u in range(d):
            scaled = row[u] * scale
            row[u] = scaled
            variance[u] -= scaled * scaled
            cross[u] -= at_v * scaled


@inlined
def best_drop(s: Arrays, v: int, k: int) -> int:
    """The member whose loss is least, where that is less than its price; else -1.

    The share of the residual variance that a member s explains is b_s² / (residual G_ss + b_s²), with b the regression
    coefficients and G the inverse of the members' correlations, both from the inverse of the Cholesky factor.
    """
    inverse, rows, members = s.square[INVERSE], s.square[ROWS], s.whole[MEMBERS]
    residual = max(s.real[VARIANCE, v], SMALLEST_RESIDUAL)
    least, drop = s.numbers[KEEPS], -1
    for i in range(k):
        inverse[i, i] = 1.0 / rows[i, members[i]]
        weight, spread = inverse[i, i] * rows[i, v], inverse[i, i] * inverse[i, i]
        for j in range(i + 1, k):  # column i of the inverse
            total = 0.0
            for t in range(i, j):
                total += rows[t, members[j]] * inverse[t, i]
            entry = -total / rows[j, members[j]]
            inverse[j, i] = entry
            weight += entry * rows[j, v]
            spread += entry * entry
        share = weight * weight / (residual * spread + weight * weight)
        if share < least * (1 - 1e-9) and not s.edges[REQUIRED, v, members[i]]:  # of equals the first
            least, drop = share, members[i]
    return drop


@inlined
def list_rivals(s: Arrays, v: int, k: int, residual: float) -> int:
    """Variables whose addition pays, largest share first; equal ones (in single precision) by column. Their number."""
    rivals, share, variance, cross = s.whole[RIVALS], s.real[SHARE], s.real[VARIANCE], s.real[CROSS]
    for i in range(k):
        variance[s.whole[MEMBERS, i]] = 0.0  # a member is no rival
    enough = s.numbers[PAYS] * residual
    n = 0
    for u in range(len(variance)):
        square = cross[u] * cross[u]
        if square > enough * variance[u] and variance[u] >= SMALLEST_VARIANCE and s.edges[ALLOWED, v, u]:
            rivals[n] = u
            share[n] = np.float32(square / variance[u])
            n += 1
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap >= 1:  # Shell's sort
        for i in range(gap, n):
            rival, size, j = rivals[i], share[i], i
            while j >= gap and (share[j - gap] < size or (share[j - gap] == size and rivals[j - gap] > rival)):
                rivals[j], share[j] = rivals[j - gap], share[j - gap]
                j -= gap
            rivals[j], share[j] = rival, size
        gap //= 3
    return n


@inlined
def kept(s: Arrays, v: int, k: int, n_rivals: int, slot: int, value: float, drop: int, key: int) -> int:
    """Keep a state whose members and rivals lie in the work arrays; its number, or FULL."""
    number, start = s.counters[N_STATES], s.counters[POOL_USED]
    if number >= len(s.value) or start + k + n_rivals > len(s.pool):
        return FULL
    about = s.about[number]
    about[VARIABLE], about[N_MEMBERS], about[N_RIVALS] = v, k, n_rivals
    about[START], about[DROP], about[KEY] = start, drop, key
    for word in range(RELEVANT, len(about)):
        about[word] = 0
    for i in range(k + n_rivals):
        u = s.whole[MEMBERS, i] if i < k else s.whole[RIVALS, i - k]
        s.pool[start + i] = u
        about[RELEVANT + (u >> 6)] |= 1 << (u & 63)
    s.value[number] = value
    s.slots[slot] = number
    s.counters[N_STATES] = number + 1
    s.counters[POOL_USED] = start + k + n_rivals
    return number


@inlined
def found_slot(s: Arrays, v: int, k: int, key: int) -> int:
    """Slot of the state of v with the members in the work array, or the empty one where it belongs."""
    mask = len(s.slots) - 1
    slot = key & mask
    while True:
        number = s.slots[slot]
        if number < 0:
            return slot
        if s.about[number, KEY] == key and s.about[number, VARIABLE] == v and s.about[number, N_MEMBERS] == k:
            start, i = s.about[number, START], 0
            while i < k and s.pool[start + i] == s.whole[MEMBERS, i]:
                i += 1
            if i == k:
                return slot
        slot = (slot + 1) & mask


@inlined
def list_members(s: Arrays, v: int, state: int, change: int) -> int:
    """Members of a state with one more or one fewer; of a negative state the required ones. Their number."""
    members = s.whole[MEMBERS]
    k = 0
    if state < 0:
        for u in range(len(members)):
            if s.edges[REQUIRED, v, u]:
                members[k] = u
                k += 1
        return k
    waiting = True
    start = s.about[state, START]
    for i in range(start, start + s.about[state, N_MEMBERS]):
        member = np.int64(s.pool[i])
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
def key_of(s: Arrays, v: int, k: int) -> int:
    """Zobrist key of v and the members in the work array."""
    key = s.whole[OWNER_KEY, v]
    for i in range(k):
        key ^= s.whole[MEMBER_KEY, s.whole[MEMBERS, i]]
    return key


@compiled(*[types.int64] * 5, types.boolean)
def settled(s: Arrays, v: int, state: int, change: int, limit: int, x: int, x_is_before: bool) -> int:
    """State of v when one variable changes sides; from the required parents on for a negative state.

    Then grow by the best rival that comes before, and where there is none drop what does not pay, to the end. Before
    come the variables at positions under the limit; ``x``, the one that moves, does or does not, as is said.
    """
    c, position = s.counters, s.whole[POSITION]
    if c[IS_TABLED]:
        bits = 0
        if state >= 0:
            bits = state ^ (1 << s.place[v, change])
        else:
            for u in range(len(position)):
                if s.place[v, u] >= 0 and u != v and position[u] < limit:
                    bits |= 1 << s.place[v, u]
        c[ASKED], c[ASKED_SIZE] = v, bits
        return MISSING if np.isnan(s.table[v, bits]) else bits
    while True:
        k = list_members(s, v, state, change)
        key = key_of(s, v, k)
        slot = found_slot(s, v, k, key)
        state = s.slots[slot]
        if state < 0:
            if not c[IS_NATIVE]:
                c[ASKED], c[ASKED_SIZE], c[ASKED_SLOT] = v, k, slot
                return MISSING
            c[WORK] += len(position) * (k + 2)
            condition(s, v, k)
            residual = max(s.real[VARIANCE, v], SMALLEST_RESIDUAL)
            value = s.real[OFFSET, v] - s.numbers[HALF_SAMPLES] * math.log(residual) - s.numbers[PRICE] * k
            drop = best_drop(s, v, k)
            n_rivals = list_rivals(s, v, k, residual) if k < c[MAX_PARENTS] else 0
            state = kept(s, v, k, n_rivals, slot, value, drop, key)
            if state < 0:
                return state
        change = s.about[state, DROP]
        start = s.about[state, START] + s.about[state, N_MEMBERS]
        for i in range(start, start + s.about[state, N_RIVALS]):
            rival = np.int64(s.pool[i])
            if x_is_before if rival == x else position[rival] < limit:
                change = rival
                break
        if change < 0:
            return state


# -- moves ---------------------------------------------------------------------------------------------------------


@inlined
def is_relevant(s: Arrays, v: int, state: int, u: int) -> bool:
    """Whether it matters to a variable's state that u changes sides."""
    if s.counters[IS_TABLED]:
        return s.place[v, u] >= 0
    return (s.about[state, RELEVANT + (u >> 6)] >> (u & 63)) & 1 != 0


@inlined
def value_of(s: Arrays, v: int, state: int) -> float:
    """Score of a variable in a state."""
    if s.counters[IS_TABLED]:
        return s.table[v, state]
    return s.value[state]


@compiled(*[types.int64] * 4)
def look(s: Arrays, v: int, stop: int, step: int, high: int) -> int:
    """Gains of v at each position from its own to one that it stops before; negative where a state is missing.

    To the right, those that v passes lose a predecessor and gain nothing, so the walk ends where even v's best score
    cannot make up for it. Positions above ``high`` are passed but not taken.
    """
    order, states, gain = s.whole[ORDER], s.whole[STATE], s.real[GAIN]
    mine, others, worth = states[v], 0.0, 0.0
    here = value_of(s, v, mine)
    room = s.real[BOUND, v] - here if step > 0 else np.inf
    for q in range(s.whole[POSITION, v] + step, stop, step):
        u = order[q]
        theirs = states[u]
        if is_relevant(s, u, theirs, v):
            others -= value_of(s, u, theirs)
            theirs = settled(s, u, theirs, v, q, v, step < 0)
            if theirs < 0:
                return theirs
            others += value_of(s, u, theirs)
        if is_relevant(s, v, mine, u):
            mine = settled(s, v, mine, u, q + 1 if step > 0 else q, v, False)
            if mine < 0:
                return mine
        s.whole[PASSED, q], s.whole[OWN, q] = theirs, mine
        if q <= high:
            gain[q] = others + value_of(s, v, mine) - here
            worth = max(worth, gain[q])
        if others + room < worth - s.numbers[TOLERANCE]:
            break
    return 0


@inlined
def random_below(s: Arrays, n: int) -> int:
    """A number under n, each as likely (a linear congruential generator, upper bits)."""
    s.counters[RANDOM] = s.counters[RANDOM] * 6364136223846793005 + 1442695040888963407
    return ((s.counters[RANDOM] >> 33) & 0x3FFFFFFF) % n


@compiled(types.int64, types.int64, types.boolean)
def best_position(s: Arrays, v: int, n: int, plateau: bool) -> int:
    """Where v is best in the first n places: the first of equals, or, with none better, any as good on a plateau."""
    order, gain, p = s.whole[ORDER], s.real[GAIN], s.whole[POSITION, v]
    low, high = 0, n - 1
    if s.counters[IS_CONSTRAINED]:
        for q in range(n - 1, -1, -1):
            if s.edges[BEFORE, v, order[q]]:
                high = q - 1 if q > p else q
            if s.edges[BEFORE, order[q], v] and low == 0:
                low = q + 1
    for q in range(n):
        gain[q] = -np.inf
    if p <= high:
        gain[p] = 0.0
    for step in range(1, -2, -2):  # to the right, then to the left
        missing = look(s, v, high + 1 if step > 0 else low - 1, step, high)
        if missing < 0:
            return missing
    s.counters[WORK] += 4 * n
    best, tolerance = -np.inf, s.numbers[TOLERANCE]
    for q in range(n):
        best = max(best, gain[q])
    if best <= tolerance and p <= high:
        if not plateau:
            return p
        best = 0.0
    n_equal = 0
    for q in range(n):
        if gain[q] >= best - tolerance:
            n_equal += 1
    pick = random_below(s, n_equal) if best == 0.0 else 0
    for q in range(n):
        if gain[q] >= best - tolerance:
            if pick == 0:
                return q
            pick -= 1
    return p


@inlined
def put(s: Arrays, v: int, q: int) -> None:
    """Move v to a position that was just looked at."""
    order, position, states = s.whole[ORDER], s.whole[POSITION], s.whole[STATE]
    p = position[v]
    if q == p:
        return
    step = 1 if q > p else -1
    for j in range(p, q, step):
        u = order[j + step]
        order[j], position[u], states[u] = u, j, s.whole[PASSED, j + step]
    order[q], position[v], states[v] = v, q, s.whole[OWN, q]
    s.counters[N_MOVES] += 1


@inlined
def climb(s: Arrays, n: int, once: bool) -> int:
    """Move variables in sequence, again and again, until none gains, or each once."""
    c = s.counters
    while c[SINCE_GAIN] < n:
        v = s.whole[SEQUENCE, c[AT] % n]
        q = best_position(s, v, n, True)
        if q < 0:
            return q
        gained = s.real[GAIN, q] > s.numbers[TOLERANCE]
        put(s, v, q)
        c[AT] += 1
        c[SINCE_GAIN] = 0 if gained and not once else c[SINCE_GAIN] + 1
        if c[WORK] > c[PAUSE_AT]:
            c[WORK] = 0
            return PAUSED
    return DONE


@compiled(types.int64, types.int64)
def run(s: Arrays, task: int, n: int) -> int:
    """Do a task of :mod:`precede.search.local.arrays`; DONE, or why not."""
    c, order, position, states = s.counters, s.whole[ORDER], s.whole[POSITION], s.whole[STATE]
    d = len(order)
    if task in (CLIMB, WANDER):
        return climb(s, n, task == WANDER)
    if task in (SETTLE, BOUNDS):  # states of the first n variables of the order; or scores given all the others
        for v in range(d):
            position[v] = d if task == SETTLE else 0
        for p in range(n):
            position[order[p]] = p if task == SETTLE else 0
        for p in range(n):
            state = settled(s, order[p], -1, -1, p if task == SETTLE else 1, order[p], False)
            if state < 0:
                return state
            if task == SETTLE:
                states[order[p]] = state
            else:
                s.real[BOUND, order[p]] = value_of(s, order[p], state)
    if task == INSERT:  # put the variable at place n where it is best among those before
        v = order[n]
        position[v] = n
        state = settled(s, v, -1, -1, n, v, False)
        if state >= 0:
            states[v] = state
            state = best_position(s, v, n + 1, False)
        if state < 0:
            position[v] = d
            return state
        put(s, v, state)
    if task == REHASH:  # fill an empty hash table with the states that there are
        for number in range(c[N_STATES]):
            slot = s.about[number, KEY] & (len(s.slots) - 1)
            while s.slots[slot] >= 0:
                slot = (slot + 1) & (len(s.slots) - 1)
            s.slots[slot] = number
    if task == STORE:  # the state that was asked for, with n rivals
        v, k = c[ASKED], c[ASKED_SIZE]
        return kept(s, v, k, n, c[ASKED_SLOT], s.real[SHARE, 0], c[ASKED_DROP], key_of(s, v, k))
    return DONE
