"""Shaken orders: where a climb starts again."""

from __future__ import annotations

import math

import numpy as np

from precede.arrays import IntArray


def shaken(order: IntArray, rng: np.random.Generator) -> IntArray:
    """Take from two to a fifth of the variables out (eight of a few) and put each back up to a tenth of them away.

    The logarithm of their number is uniform: a small shake is climbed out of soon, a large one leads further.
    """
    d = len(order)
    result = order.tolist()
    size = round(2 * math.exp(rng.random() * math.log(max(4.0, d / 10))))
    width = max(5, d // 10)
    for variable in rng.choice(d, size=min(d, size), replace=False).tolist():
        place = result.index(variable)
        result.pop(place)
        result.insert(int(rng.integers(max(0, place - width), min(d - 1, place + width) + 1)), variable)
    return np.array(result, dtype=np.int64)
