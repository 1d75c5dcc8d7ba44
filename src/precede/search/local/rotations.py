"""Compiled: one variable taken through an order whose residuals are known, for scores by negentropy.

Moving a variable is a chain of adjacent swaps, and a swap rotates two residuals (see
:meth:`precede.scores.nongaussian.NonGaussianScore.insertion_sums`). Residuals lie in blocks of :data:`LANES`, the last
one filled with zeros. Only sums, products and roots in a fixed sequence are used, so that every machine gets the same
numbers: exponentials are polynomials, and each lane of a block has sums of its own.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, cast

import numpy as np
from numba import types

from precede.search.local.arrays import Array
from precede.search.local.compiled import array, compiled_for, inlined

VECTOR, MATRIX = array(types.float64, 1), array(types.float64, 2)

LANES = 64
"""Values that a CPU works on side by side."""

MOST_FACTORS = 512
"""Factors between 1 and 2 that are multiplied before the logarithm is taken."""

ROUNDING = 6755399441055744.0
"""1.5 * 2^52: adding it leaves a whole number in the last bits."""

# of the negentropy, as in precede.scores.nongaussian
EVEN_WEIGHT, ODD_WEIGHT, GAUSSIAN_LOG_COSH = 79.047, 7.4129, 0.37457
LOG_2 = math.log(2.0)

HERE, GAIN, OWN, PASSED, ROOM = range(5)
"""Rows of the work array: negentropies as they are; of the variable that is looked at, at each position, its gain, its
negentropy and that of the one it passes there; and room."""

SIZE, ODD, FACTOR, OTHER = 0, LANES, 2 * LANES, 3 * LANES
"""Where sums start: of the sizes, of the odd function, products; the same for the other sample after these."""


class Residuals(NamedTuple):
    """An order, the residuals along it, and room to work in."""

    z: Array  # (d, n_blocks, LANES) float64: residuals by position, of variance one
    factor: Array  # (d, d) float64: Cholesky factor of the covariance along the order
    order: Array  # (d,) int64
    work: Array  # (5, d) float64: HERE, GAIN, OWN, PASSED, ROOM
    state: Array  # (n_blocks, LANES) float64
    sums: Array  # (6 * LANES,) float64


RESIDUALS = cast(Any, types.NamedTuple)(
    [array(types.float64, 3), MATRIX, array(types.int64, 1), MATRIX, MATRIX, VECTOR], Residuals
)


@inlined
def exponential(x: float) -> float:
    """exp(x) for x from -60 to 0, within 1e-14."""
    shifted = x * 1.4426950408889634 + ROUNDING
    whole = shifted - ROUNDING
    r = (x - whole * 0.6931471803691238) - whole * 1.9082149292705877e-10  # log 2 in two parts
    power = 1.0 / 39916800.0
    power = power * r + 1.0 / 3628800.0
    power = power * r + 1.0 / 362880.0
    power = power * r + 1.0 / 40320.0
    power = power * r + 1.0 / 5040.0
    power = power * r + 1.0 / 720.0
    power = power * r + 1.0 / 120.0
    power = power * r + 1.0 / 24.0
    power = power * r + 1.0 / 6.0
    power = power * r + 0.5
    power = power * r + 1.0
    power = power * r + 1.0
    return power * np.int64((np.float64(shifted).view(np.int64) + 1023) << 52).view(np.float64)


@compiled_for(types.void(VECTOR, types.int64), called_from_python=False)
def take_logarithms(sums: Array, n_zeros: int) -> None:
    """Add the logarithms of the products to the sizes: together they are log cosh, but for log 2."""
    for part in range(2):
        for lane in range(LANES):
            at = part * OTHER + lane
            sums[at] += math.log(sums[FACTOR + at])
            sums[FACTOR + at] = 1.0
        sums[part * OTHER] -= n_zeros * LOG_2


@compiled_for(types.void(MATRIX, MATRIX, types.float64, types.float64, VECTOR), called_from_python=False)
def rotate(passed: Array, state: Array, cosine: float, sine: float, sums: Array) -> None:
    """Rotate a state against a residual that it passes; sums of what the passed one becomes, and of the state."""
    for at in range(2 * OTHER):
        sums[at] = 0.0
    for lane in range(LANES):
        sums[FACTOR + lane] = 1.0
        sums[OTHER + FACTOR + lane] = 1.0
    for block in range(len(state)):
        for lane in range(LANES):
            other, own = passed[block, lane], state[block, lane]
            left, right = cosine * other + sine * own, cosine * own - sine * other
            state[block, lane] = right
            size = abs(left)
            sums[SIZE + lane] += size
            sums[ODD + lane] += left * exponential(max(-0.5 * left * left, -60.0))
            sums[FACTOR + lane] *= 1.0 + exponential(max(-2.0 * size, -60.0))
            size = abs(right)
            sums[OTHER + SIZE + lane] += size
            sums[OTHER + ODD + lane] += right * exponential(max(-0.5 * right * right, -60.0))
            sums[OTHER + FACTOR + lane] *= 1.0 + exponential(max(-2.0 * size, -60.0))
        if block % MOST_FACTORS == MOST_FACTORS - 1:
            take_logarithms(sums, 0)


@inlined
def negentropy_from(sums: Array, start: int, m: int) -> float:
    """Of a sample of m values, from the parts of its sums."""
    size = odd = 0.0
    for lane in range(start, start + LANES):
        size += sums[SIZE + lane]
        odd += sums[ODD + lane]
    even = size / m - LOG_2 - GAUSSIAN_LOG_COSH
    odd /= m
    return EVEN_WEIGHT * even * even + ODD_WEIGHT * odd * odd


@inlined
def swap(s: Residuals, t: int) -> None:
    """Exchange the variables at positions t and t + 1."""
    z, factor, order = s.z, s.factor, s.order
    a, c = factor[t + 1, t + 1], factor[t + 1, t]
    length = math.sqrt(a * a + c * c)
    cosine, sine = a / length, c / length
    for k in range(t):
        factor[t, k], factor[t + 1, k] = factor[t + 1, k], factor[t, k]
    b = factor[t, t]
    factor[t, t], factor[t, t + 1] = length, 0.0
    factor[t + 1, t], factor[t + 1, t + 1] = sine * b, cosine * b
    for k in range(t + 2, len(order)):
        left, right = factor[k, t], factor[k, t + 1]
        factor[k, t], factor[k, t + 1] = sine * left + cosine * right, cosine * left - sine * right
    for block in range(z.shape[1]):
        for lane in range(LANES):
            left, right = z[t, block, lane], z[t + 1, block, lane]
            z[t, block, lane], z[t + 1, block, lane] = sine * left + cosine * right, cosine * left - sine * right
    order[t], order[t + 1] = order[t + 1], order[t]


@compiled_for(types.int64(RESIDUALS, *[types.int64] * 4, types.float64))
def improve(s: Residuals, p: int, low: int, high: int, m: int, tolerance: float) -> int:
    """Move the variable at position p where the sum of negentropies is largest, from low to high; where it is then.

    Of equal positions the first is taken, and it stays where it is if no gain exceeds the tolerance.
    """
    z, factor, state = s.z, s.factor, s.state
    here, gain, own, passed, room = s.work[HERE], s.work[GAIN], s.work[OWN], s.work[PASSED], s.work[ROOM]
    for step in range(1, -2, -2):
        end = high if step > 0 else low
        for block in range(len(state)):
            for lane in range(LANES):
                state[block, lane] = z[p, block, lane]
        total = 0.0
        for k in range(p, -1, -1):
            total += factor[p, k] * factor[p, k]
            room[k] = math.sqrt(total)  # of p given the first k
        if step > 0:
            for k in range(p, end + 1):
                room[k] = factor[k, p]
        others = gain[p] = 0.0
        for q in range(p + step, end + step, step):
            if step > 0:
                length = math.sqrt(factor[q, q] * factor[q, q] + room[q] * room[q])
                cosine, sine = factor[q, q] / length, room[q] / length
                for k in range(q + 1, end + 1):
                    room[k] = cosine * room[k] - sine * factor[k, q]
            else:
                cosine, sine = room[q + 1] / room[q], -factor[p, q] / room[q]
            rotate(z[q], state, cosine, sine, s.sums)
            take_logarithms(s.sums, state.size - m)
            passed[q], own[q] = negentropy_from(s.sums, 0, m), negentropy_from(s.sums, OTHER, m)
            others += passed[q] - here[q]
            gain[q] = others + own[q] - here[p]
    best = 0.0
    for q in range(low, high + 1):
        best = max(best, gain[q])
    if best <= tolerance:
        return p
    target = low
    while gain[target] < best - tolerance:
        target += 1
    step = 1 if target > p else -1
    for q in range(p, target, step):
        swap(s, min(q, q + step))
        here[q] = passed[q + step]
    here[target] = own[target]
    return target
