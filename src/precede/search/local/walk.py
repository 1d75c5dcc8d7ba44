"""Compiled: one variable after another taken through the order and put where the score is best."""

from __future__ import annotations

import numpy as np
from numba import types

from precede.search.local import arrays as at
from precede.search.local.arrays import Arrays
from precede.search.local.compiled import compiled, inlined
from precede.search.local.states import kept, key_of, settled


@inlined
def is_relevant(s: Arrays, v: int, state: int, u: int) -> bool:
    """Whether it matters to a variable's state that u changes sides."""
    if s.counters[at.IS_TABLED]:
        return s.place[v, u] >= 0
    return (s.about[state, at.RELEVANT + (u >> 6)] >> (u & 63)) & 1 != 0


@inlined
def value_of(s: Arrays, v: int, state: int) -> float:
    """Score of a variable in a state."""
    if s.counters[at.IS_TABLED]:
        return s.table[v, state]
    return s.value[state]


@compiled(*[types.int64] * 4)
def look(s: Arrays, v: int, stop: int, step: int, high: int) -> int:
    """Gains of v at each position from its own to one that it stops before; negative where a state is missing.

    To the right, those that v passes lose a predecessor and gain nothing, so the walk ends where even v's best score
    cannot make up for it. Positions above ``high`` are passed but not taken.
    """
    order, states, gain = s.whole[at.ORDER], s.whole[at.STATE], s.real[at.GAIN]
    mine, others, worth = states[v], 0.0, 0.0
    here = value_of(s, v, mine)
    room = s.real[at.BOUND, v] - here if step > 0 else np.inf
    for q in range(s.whole[at.POSITION, v] + step, stop, step):
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
        s.whole[at.PASSED, q], s.whole[at.OWN, q] = theirs, mine
        if q <= high:
            gain[q] = others + value_of(s, v, mine) - here
            worth = max(worth, gain[q])
        if others + room < worth - s.numbers[at.TOLERANCE]:
            break
    return 0


@inlined
def random_below(s: Arrays, n: int) -> int:
    """A number under n, each as likely (a linear congruential generator, upper bits)."""
    s.counters[at.RANDOM] = s.counters[at.RANDOM] * 6364136223846793005 + 1442695040888963407
    return ((s.counters[at.RANDOM] >> 33) & 0x3FFFFFFF) % n


@compiled(types.int64, types.int64, types.boolean)
def best_position(s: Arrays, v: int, n: int, wanders: bool) -> int:
    """Where v is best in the first n places: the first of equals; one that wanders takes any as good as where it is."""
    order, gain, p = s.whole[at.ORDER], s.real[at.GAIN], s.whole[at.POSITION, v]
    low, high = 0, n - 1
    if s.counters[at.IS_CONSTRAINED]:
        for q in range(n - 1, -1, -1):
            if s.edges[at.BEFORE, v, order[q]]:
                high = q - 1 if q > p else q
            if s.edges[at.BEFORE, order[q], v] and low == 0:
                low = q + 1
    for q in range(n):
        gain[q] = -np.inf
    if p <= high:
        gain[p] = 0.0
    for step in range(1, -2, -2):  # to the right, then to the left
        missing = look(s, v, high + 1 if step > 0 else low - 1, step, high)
        if missing < 0:
            return missing
    s.counters[at.WORK] += 4 * n
    best, tolerance = -np.inf, s.numbers[at.TOLERANCE]
    for q in range(n):
        best = max(best, gain[q])
    on_plateau = wanders and best <= tolerance
    if on_plateau:
        best = 0.0
    n_equal = 0
    for q in range(n):
        if gain[q] >= best - tolerance:
            n_equal += 1
    pick = random_below(s, n_equal) if on_plateau else 0
    for q in range(n):
        if gain[q] >= best - tolerance:
            if pick == 0:
                return q
            pick -= 1
    return p


@inlined
def put(s: Arrays, v: int, q: int) -> None:
    """Move v to a position that was just looked at."""
    order, position, states = s.whole[at.ORDER], s.whole[at.POSITION], s.whole[at.STATE]
    p = position[v]
    if q == p:
        return
    step = 1 if q > p else -1
    for j in range(p, q, step):
        u = order[j + step]
        order[j], position[u], states[u] = u, j, s.whole[at.PASSED, j + step]
    order[q], position[v], states[v] = v, q, s.whole[at.OWN, q]
    s.counters[at.N_MOVES] += 1


@inlined
def climb(s: Arrays, n: int) -> int:
    """Move variables in sequence, again and again, until none gains."""
    c = s.counters
    while c[at.SINCE_GAIN] < n:
        v = s.whole[at.SEQUENCE, c[at.AT] % n]
        q = best_position(s, v, n, True)
        if q < 0:
            return q
        gained = s.real[at.GAIN, q] > s.numbers[at.TOLERANCE]
        put(s, v, q)
        c[at.AT] += 1
        c[at.SINCE_GAIN] = 0 if gained else c[at.SINCE_GAIN] + 1
        if c[at.WORK] > c[at.PAUSE_AT]:
            c[at.WORK] = 0
            return at.PAUSED
    return at.DONE


@compiled(types.int64, types.int64)
def run(s: Arrays, task: int, n: int) -> int:
    """Do a task of :mod:`precede.search.local.arrays`; DONE, or why not."""
    c, order, position, states = s.counters, s.whole[at.ORDER], s.whole[at.POSITION], s.whole[at.STATE]
    d = len(order)
    if task == at.CLIMB:
        return climb(s, n)
    if task in (at.SETTLE, at.BOUNDS):  # states of the first n variables of the order; or scores given all the others
        for v in range(d):
            position[v] = d if task == at.SETTLE else 0
        for p in range(n):
            position[order[p]] = p if task == at.SETTLE else 0
        for p in range(n):
            state = settled(s, order[p], -1, -1, p if task == at.SETTLE else 1, order[p], False)
            if state < 0:
                return state
            if task == at.SETTLE:
                states[order[p]] = state
            else:
                # shapes may gain by losing a predecessor, so that nothing is a bound
                s.real[at.BOUND, order[p]] = np.inf if len(s.residual) else value_of(s, order[p], state)
    if task == at.INSERT:  # put the variable at place n where it is best among those before
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
    if task == at.REHASH:  # fill an empty hash table with the states that there are
        for number in range(c[at.N_STATES]):
            slot = s.about[number, at.KEY] & (len(s.slots) - 1)
            while s.slots[slot] >= 0:
                slot = (slot + 1) & (len(s.slots) - 1)
            s.slots[slot] = number
    if task == at.STORE:  # the state that was asked for, with n rivals
        v, k = c[at.ASKED], c[at.ASKED_SIZE]
        return kept(s, v, k, n, c[at.ASKED_SLOT], s.real[at.SHARE, 0], c[at.ASKED_DROP], key_of(s, v, k))
    return at.DONE
