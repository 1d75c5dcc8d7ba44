"""Rows that stand for many."""

from __future__ import annotations

import numpy as np

from precede.arrays import IntArray


def evenly_spaced(n_rows: int, most: int) -> IntArray:
    """At most ``most`` row numbers, spread over the table.

    Examples
    --------
    >>> evenly_spaced(7, 3)
    array([0, 3, 6])
    """
    if n_rows <= most:
        return np.arange(n_rows)
    return np.linspace(0, n_rows - 1, most).round().astype(np.int64)
