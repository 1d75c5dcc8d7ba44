"""Compiled: contingency counts of discrete columns, summed up as log-likelihoods and marginal likelihoods."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

Array = np.ndarray[Any, Any]


@njit(cache=True, nogil=True)
def cells_of(codes: Array, levels: Array, members: Array, labels: Array) -> int:  # pragma: no cover - compiled
    """Number the combinations of the members' levels that occur, in ``labels``; returns how many there are.

    Parameters
    ----------
    codes : (n_variables, n_samples) int array
    levels : (n_variables,) int array
    members : (n_members,) int array
    labels : (n_samples,) int64 array
        Written.
    """
    n = codes.shape[1]
    labels[:] = 0
    n_cells = 1
    for member in members:
        column, width = codes[member], levels[member]
        seen = np.full(n_cells * width, -1, np.int64)
        n_cells = 0
        for row in range(n):
            place = labels[row] * width + column[row]
            if seen[place] < 0:
                seen[place] = n_cells
                n_cells += 1
            labels[row] = seen[place]
    return n_cells


@njit(cache=True, nogil=True)
def likelihood(counts: Array, n_cells: int, n_values: int, entropy: Array) -> float:  # pragma: no cover - compiled
    """Log-likelihood of a column given cells: counts ``[cell * n_values + value]``, and n log n by n in ``entropy``."""
    total = 0.0
    for cell in range(n_cells):
        size = 0
        for value in range(n_values):
            count = counts[cell * n_values + value]
            size += count
            total += entropy[count]
        total -= entropy[size]
    return total


@njit(cache=True, nogil=True)
def evidence(counts: Array, n_cells: int, n_values: int, weight: float) -> float:  # pragma: no cover - compiled
    """Log marginal likelihood of a column given cells; ``weight`` is the Dirichlet prior's for one entry."""
    total = 0.0
    whole = weight * n_values
    for cell in range(n_cells):
        size = 0
        for value in range(n_values):
            count = counts[cell * n_values + value]
            size += count
            if count:
                total += math.lgamma(count + weight) - math.lgamma(weight)
        if size:
            total += math.lgamma(whole) - math.lgamma(whole + size)
    return total


@njit(cache=True, nogil=True)
def family(
    codes: Array, levels: Array, target: int, parents: Array, entropy: Array, prior: float
) -> float:  # pragma: no cover - compiled
    """Log-likelihood of a column given its parents; with a positive ``prior`` (sample size), the BDeu evidence."""
    n = codes.shape[1]
    labels = np.empty(n, np.int64)
    n_cells = cells_of(codes, levels, parents, labels)
    width = levels[target]
    counts = np.zeros(n_cells * width, np.int64)
    column = codes[target]
    for row in range(n):
        counts[labels[row] * width + column[row]] += 1
    if prior > 0:
        states = 1.0 * width
        for parent in parents:
            states *= levels[parent]
        return evidence(counts, n_cells, width, prior / states)
    return likelihood(counts, n_cells, width, entropy)


@njit(cache=True, nogil=True)
def families_with_one_more(
    codes: Array, levels: Array, target: int, parents: Array, wanted: Array, entropy: Array, prior: float, out: Array
) -> None:  # pragma: no cover - compiled
    """As :func:`family`, with each wanted variable as one more parent, in ``out`` (n_variables,)."""
    d, n = codes.shape
    labels = np.empty(n, np.int64)
    n_cells = cells_of(codes, levels, parents, labels)
    width = levels[target]
    column = codes[target]
    states = 1.0 * width
    for parent in parents:
        states *= levels[parent]
    entries = n_cells * width
    place = np.empty(n, np.int64)  # of each row among the entries without one more
    for row in range(n):
        place[row] = labels[row] * width + column[row]
    counts = np.empty(entries * levels.max(), np.int32)
    for one in range(d):
        if not wanted[one]:
            continue
        other, steps = codes[one], levels[one]
        size = n_cells * steps
        counts[: size * width] = 0
        for row in range(n):  # the cells of one level of the other variable stand together
            counts[other[row] * entries + place[row]] += 1
        if prior > 0:
            out[one] = evidence(counts, size, width, prior / (states * steps))
        else:
            out[one] = likelihood(counts, size, width, entropy)
