"""Compiled: one variable taken through an order whose residual variances are known, where all noise varies alike.

Moving a variable is a chain of adjacent swaps, and a swap leaves the product of its two residual variances as it is
(see :meth:`precede.scores.linear.LinearScore.insertion_sums`).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, cast

from numba import types

from precede.search.local.arrays import Array
from precede.search.local.compiled import array, compiled_for, inlined

MATRIX = array(types.float64, 2)

GAIN, ROOM = range(2)
"""Rows of the work array: of the variable that is looked at, its gain at each position; and room."""


class VarianceState(NamedTuple):
    """An order, the regressions along it, and room to work in."""

    factor: Array  # (d, d) float64: [t, k] is row k, column t of the covariance's Cholesky factor along the order
    order: Array  # (d,) int64
    least: Array  # (d,) float64: by variable, its variance given all the others
    work: Array  # (2, d) float64: GAIN, ROOM


VARIANCES = cast(Any, types.NamedTuple)([MATRIX, array(types.int64, 1), array(types.float64, 1), MATRIX], VarianceState)


@inlined
def exchange(s: VarianceState, t: int) -> None:
    """Exchange the variables at positions t and t + 1."""
    factor, order = s.factor, s.order
    a, c = factor[t + 1, t + 1], factor[t, t + 1]
    length = math.sqrt(a * a + c * c)
    cosine, sine = a / length, c / length
    for k in range(t):
        factor[k, t], factor[k, t + 1] = factor[k, t + 1], factor[k, t]
    b = factor[t, t]
    factor[t, t], factor[t, t + 1], factor[t + 1, t + 1] = length, sine * b, cosine * b
    for k in range(t + 2, len(order)):
        left, right = factor[t, k], factor[t + 1, k]
        factor[t, k], factor[t + 1, k] = sine * left + cosine * right, cosine * left - sine * right
    order[t], order[t + 1] = order[t + 1], order[t]


@compiled_for(types.int64(VARIANCES, *[types.int64] * 3, types.float64))
def lower_sum(s: VarianceState, p: int, low: int, high: int, tolerance: float) -> int:
    """Move the variable at position p where the sum of variances is smallest, from low to high; where it is then.

    Of equal positions the first is taken, and it stays where it is if no gain exceeds the tolerance. To the right,
    those that it passes lose a predecessor, so it goes no further than its own least variance could make up for.
    """
    factor, gain, room = s.factor, s.work[GAIN], s.work[ROOM]
    own = factor[p, p] * factor[p, p]
    best = gain[p] = 0.0
    given = own  # its variance given those before q
    won = 0.0
    for q in range(p - 1, low - 1, -1):
        more = given + factor[q, p] * factor[q, p]
        won += factor[q, q] * factor[q, q] * (1.0 - given / more)
        given = more
        gain[q] = won - (given - own)
        best = max(best, gain[q])
    for k in range(p + 1, high + 1):
        room[k], gain[k] = factor[p, k], -math.inf
    at_most, given, lost = own - s.least[s.order[p]], own, 0.0
    for q in range(p + 1, high + 1):
        pivot, vector = factor[q, q], room[q]
        lost += vector * vector
        if at_most - lost < best - tolerance:
            break
        length = math.sqrt(pivot * pivot + vector * vector)
        cosine, sine = pivot / length, vector / length
        given *= cosine * cosine
        gain[q] = own - given - lost
        best = max(best, gain[q])
        for k in range(q + 1, high + 1):
            room[k] = cosine * room[k] - sine * factor[q, k]
    if best <= tolerance:
        return p
    target = low
    while gain[target] < best - tolerance:
        target += 1
    step = 1 if target > p else -1
    for q in range(p, target, step):
        exchange(s, min(q, q + step))
    return target
