"""Compiled: states (variable, parent set) made, found again, and stepped between."""

from __future__ import annotations

import math

import numpy as np
from numba import types

from precede.scores.shape import EVEN_WEIGHT, GAUSSIAN_MEAN, ODD_WEIGHT, SMALLEST_SPREAD
from precede.search.local import arrays as at
from precede.search.local.arrays import Arrays
from precede.search.local.compiled import compiled, inlined

SMALLEST_VARIANCE = 1e-9
"""As in :mod:`precede.scores.sparse_linear`: a variable that the parents leave less than this adds nothing."""

SMALLEST_RESIDUAL = 1e-15
"""Residual variance of a target is taken as at least this."""


@inlined
def condition(s: Arrays, v: int, k: int) -> None:
    """Variances of all variables, and covariances with v, given the members: rows of a Cholesky factor."""
    correlation, rows, members = s.square[at.CORRELATION], s.square[at.ROWS], s.whole[at.MEMBERS]
    variance, cross = s.real[at.VARIANCE], s.real[at.CROSS]
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
    inverse, rows, members = s.square[at.INVERSE], s.square[at.ROWS], s.whole[at.MEMBERS]
    residual = max(s.real[at.VARIANCE, v], SMALLEST_RESIDUAL)
    least, drop = s.numbers[at.KEEPS], -1
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
        if share < least * (1 - 1e-9) and not s.edges[at.REQUIRED, v, members[i]]:  # of equals the first
            least, drop = share, members[i]
    return drop


@inlined
def list_rivals(s: Arrays, v: int, k: int, residual: float) -> int:
    """Variables whose addition pays, largest share first; equal ones (in single precision) by column. Their number."""
    rivals, share, variance, cross = s.whole[at.RIVALS], s.real[at.SHARE], s.real[at.VARIANCE], s.real[at.CROSS]
    for i in range(k):
        variance[s.whole[at.MEMBERS, i]] = 0.0  # a member is not a rival
    enough = s.numbers[at.PAYS] * residual
    n = 0
    for u in range(len(variance)):
        square = cross[u] * cross[u]
        if square > enough * variance[u] and variance[u] >= SMALLEST_VARIANCE and s.edges[at.ALLOWED, v, u]:
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
def worth_of_shape(s: Arrays, v: int, state: int) -> float:
    """What the shape of v's residual given the members of a state is worth: see :mod:`precede.scores.shape`."""
    correlation, factor, weights = s.square[at.CORRELATION], s.square[at.ROWS], s.real[at.CROSS]
    start, k = s.about[state, at.START], s.about[state, at.N_MEMBERS]
    members = s.pool[start : start + k]
    for i in range(k):  # weights of the regression, by a Cholesky factor
        for j in range(i + 1):
            total = correlation[members[i], members[j]]
            for t in range(j):
                total -= factor[i, t] * factor[j, t]
            factor[i, j] = total / factor[j, j] if j < i else math.sqrt(max(total, SMALLEST_VARIANCE))
        total = correlation[v, members[i]]
        for t in range(i):
            total -= factor[i, t] * weights[t]
        weights[i] = total / factor[i, i]
    for i in range(k - 1, -1, -1):
        for t in range(i + 1, k):
            weights[i] -= factor[t, i] * weights[t]
        weights[i] /= factor[i, i]
    residual = s.residual
    n = len(residual)
    for row in range(n):
        residual[row] = s.columns[v, row]
    for i in range(k):
        weight, column = weights[i], s.columns[members[i]]
        for row in range(n):
            residual[row] -= weight * column[row]
    mean = residual.sum() / n
    square = 0.0
    for row in range(n):
        residual[row] -= mean
        square += residual[row] * residual[row]
    spread = math.sqrt(square / n)
    s.counters[at.WORK] += (k + 10) * n
    if spread <= SMALLEST_SPREAD:
        return 0.0
    odd = even = 0.0
    for row in range(n):
        z = residual[row] / spread
        bell = math.exp(-0.5 * z * z)
        odd += z * bell
        even += bell
    odd, even = odd / n, even / n - GAUSSIAN_MEAN
    return max(0.0, n * (ODD_WEIGHT * odd * odd + EVEN_WEIGHT * even * even) - s.numbers[at.SHAPE_PRICE])


@inlined
def kept(s: Arrays, v: int, k: int, n_rivals: int, slot: int, value: float, drop: int, key: int) -> int:
    """Keep a state whose members and rivals lie in the work arrays; its number, or FULL."""
    number, start = s.counters[at.N_STATES], s.counters[at.POOL_USED]
    if number >= len(s.value) or start + k + n_rivals > len(s.pool):
        return at.FULL
    about = s.about[number]
    about[at.VARIABLE], about[at.N_MEMBERS], about[at.N_RIVALS] = v, k, n_rivals
    about[at.START], about[at.DROP], about[at.KEY] = start, drop, key
    for word in range(at.RELEVANT, len(about)):
        about[word] = 0
    for i in range(k + n_rivals):
        u = s.whole[at.MEMBERS, i] if i < k else s.whole[at.RIVALS, i - k]
        s.pool[start + i] = u
        about[at.RELEVANT + (u >> 6)] |= 1 << (u & 63)
    s.value[number], s.shaped[number] = value, False
    s.slots[slot] = number
    s.counters[at.N_STATES] = number + 1
    s.counters[at.POOL_USED] = start + k + n_rivals
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
        if s.about[number, at.KEY] == key and s.about[number, at.VARIABLE] == v and s.about[number, at.N_MEMBERS] == k:
            start, i = s.about[number, at.START], 0
            while i < k and s.pool[start + i] == s.whole[at.MEMBERS, i]:
                i += 1
            if i == k:
                return slot
        slot = (slot + 1) & mask


@inlined
def list_members(s: Arrays, v: int, state: int, change: int) -> int:
    """Members of a state with one more or one fewer; of a negative state the required ones. Their number."""
    members = s.whole[at.MEMBERS]
    k = 0
    if state < 0:
        for u in range(len(members)):
            if s.edges[at.REQUIRED, v, u]:
                members[k] = u
                k += 1
        return k
    waiting = True
    start = s.about[state, at.START]
    for i in range(start, start + s.about[state, at.N_MEMBERS]):
        member = int(s.pool[i])
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
    key = s.whole[at.OWNER_KEY, v]
    for i in range(k):
        key ^= s.whole[at.MEMBER_KEY, s.whole[at.MEMBERS, i]]
    return key


@compiled(*[types.int64] * 5, types.boolean)
def settled(s: Arrays, v: int, state: int, change: int, limit: int, x: int, x_is_before: bool) -> int:
    """State of v when one variable changes sides; from the required parents on for a negative state.

    Then grow by the best rival that comes before, and where there is none drop what does not pay, to the end. Before
    come the variables at positions under the limit; ``x``, the one that moves, does or does not, as is said.
    """
    c, position = s.counters, s.whole[at.POSITION]
    if c[at.IS_TABLED]:
        bits = 0
        if state >= 0:
            bits = state ^ (1 << s.place[v, change])
        else:
            for u in range(len(position)):
                if s.place[v, u] >= 0 and u != v and position[u] < limit:
                    bits |= 1 << s.place[v, u]
        c[at.ASKED], c[at.ASKED_SIZE] = v, bits
        return at.MISSING if np.isnan(s.table[v, bits]) else bits
    while True:
        k = list_members(s, v, state, change)
        key = key_of(s, v, k)
        slot = found_slot(s, v, k, key)
        state = s.slots[slot]
        if state < 0:
            if not c[at.IS_NATIVE]:
                c[at.ASKED], c[at.ASKED_SIZE], c[at.ASKED_SLOT] = v, k, slot
                return at.MISSING
            c[at.WORK] += len(position) * (k + 2)
            condition(s, v, k)
            residual = max(s.real[at.VARIANCE, v], SMALLEST_RESIDUAL)
            value = s.real[at.OFFSET, v] - s.numbers[at.HALF_SAMPLES] * math.log(residual) - s.numbers[at.PRICE] * k
            drop = best_drop(s, v, k)
            n_rivals = list_rivals(s, v, k, residual) if k < c[at.MAX_PARENTS] else 0
            state = kept(s, v, k, n_rivals, slot, value, drop, key)
            if state < 0:
                return state
        change = s.about[state, at.DROP]
        start = s.about[state, at.START] + s.about[state, at.N_MEMBERS]
        for i in range(start, start + s.about[state, at.N_RIVALS]):
            rival = int(s.pool[i])
            if x_is_before if rival == x else position[rival] < limit:
                change = rival
                break
        if change < 0:
            if len(s.residual) and not s.shaped[state]:
                s.value[state] += worth_of_shape(s, v, state)
                s.shaped[state] = True
            return state
