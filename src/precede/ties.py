"""Ties: where values differ by rounding only, the first in a fixed sequence wins, on every machine.

Rounding depends on the CPU. Wherever the largest of several values decides something (the next variable of a greedy
order, a move, the best order of a batch, a set of parents), :func:`first_best` or :func:`exceeds` decides it.
"""

import numpy as np
import torch
from torch import Tensor

from precede.arrays import BoolArray, FloatArray, IntArray

TOLERANCE = 1e-9
"""Values that differ by less than this share of their size count as equal: far above rounding, far below evidence."""


def first_best(values: FloatArray, scale: float | None = None) -> int:
    """Position of the first value that is as good as the largest.

    Parameters
    ----------
    values : (n_values,) array
        Higher is better; minus infinity never wins against anything finite.
    scale : float, optional
        The size that the tolerance is a share of; the largest finite value's when left out.

    Examples
    --------
    >>> first_best(np.array([1.0, 3.0, 3.0 + 1e-12, 2.0]))
    1
    """
    return int(first_best_rows(np.asarray(values)[None], scale)[0])


def first_best_rows(values: FloatArray, scale: float | None = None) -> IntArray:
    """:func:`first_best` of every row, (n_rows,)."""
    best = values.max(axis=1, keepdims=True)
    size = np.abs(np.where(np.isfinite(best), best, 0.0)) if scale is None else abs(scale)
    result: IntArray = (values >= best - TOLERANCE * size).argmax(axis=1)
    return result


def first_best_tensor(values: Tensor) -> Tensor:
    """:func:`first_best` along the last axis, on any device and as a tensor: nothing waits for a GPU."""
    best = values.amax(-1, keepdim=True)
    size = torch.where(best.isfinite(), best.abs(), torch.zeros_like(best))
    return (values >= best - TOLERANCE * size).to(torch.uint8).argmax(-1)


def exceeds(value: float, other: float) -> bool:
    """Whether a value is larger than another by more than rounding.

    Examples
    --------
    >>> exceeds(2.0 + 1e-12, 2.0), exceeds(2.1, 2.0), exceeds(2.0, -np.inf)
    (False, True, True)
    """
    if not np.isfinite(other):
        return value > other
    return value > other + TOLERANCE * abs(other)


def tied(values: FloatArray, other: float, scale: float | None = None) -> BoolArray:
    """Which values equal another but for rounding."""
    size = abs(other) if scale is None else abs(scale)
    result: BoolArray = np.abs(values - other) <= TOLERANCE * size
    return result
