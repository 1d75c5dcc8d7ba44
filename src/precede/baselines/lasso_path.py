"""Active sets along the lasso path of one variable, from second moments alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from precede.arrays import FloatArray, IntArray

MOST_STEPS_PER_VARIABLE = 8
"""A guard against cycling on degenerate data; a path has about as many steps as variables."""


def lasso_path(gram: FloatArray, cross: FloatArray) -> Iterator[tuple[IntArray, FloatArray]]:
    r"""Walk down the lasso path :math:`w(\lambda) = \arg\min \tfrac12 w^T G w - w^T c + \lambda \|w\|_1`.

    Between two knots the active set A and its signs s stay, and with :math:`G_{AA} v = c_A` and :math:`G_{AA} u = s`,
    :math:`w_A(\lambda) = v - \lambda u`. The next knot is the largest smaller :math:`\lambda` where an active weight
    reaches zero or an inactive correlation reaches :math:`\lambda` (the lasso modification of LARS, Efron et al. 2004).
    ``v`` are the least-squares weights that L1OBS scores the set with, so they come for free.

    Parameters
    ----------
    gram : (p, p) float array
    cross : (p,) float array

    Yields
    ------
    active : (k,) int array
        The active set, from the empty one to the full one.
    weights : (k,) float array
        Its least-squares weights.

    Examples
    --------
    >>> [active.tolist() for active, _ in lasso_path(np.eye(2), np.array([1.0, -3.0]))]
    [[], [1], [1, 0]]
    """
    p = len(cross)
    yield np.zeros(0, dtype=np.int64), np.zeros(0)
    if p == 0 or not np.abs(cross).max() > 0:
        return
    first = int(np.argmax(np.abs(cross)))
    level = abs(float(cross[first]))
    active, signs = [first], [float(np.sign(cross[first]))]
    dropped = -1
    for _ in range(MOST_STEPS_PER_VARIABLE * p):
        chosen = np.array(active, dtype=np.int64)
        rows = gram[chosen]
        solution = np.linalg.solve(rows[:, chosen], np.column_stack([cross[chosen], signs]))
        yield chosen, solution[:, 0]
        # correlation of every inactive variable with the residual, as offset + level * slope
        moved = rows.T @ solution
        offset, slope = cross - moved[:, 0], moved[:, 1]
        offset[chosen], slope[chosen] = 0.0, 0.0
        entry = np.concatenate([_ratio(offset, 1.0 - slope), _ratio(-offset, 1.0 + slope)])
        if dropped >= 0:  # it sits on the boundary now: its root at this very level is the past, not the next knot
            own = entry[dropped::p]
            own[own > level * (1 - 1e-9)] = 0.0
        entry[entry > level * (1 + 1e-12)] = 0.0
        exits = _ratio(solution[:, 0], solution[:, 1])
        exits[exits > level * (1 - 1e-12)] = 0.0
        if dropped < 0:  # the newest weight is zero at this level, and a line has no second zero
            exits[-1] = 0.0
        next_entry, next_exit = float(entry.max()), float(exits.max())
        if next_entry <= 0 and next_exit <= 0:
            return
        if next_exit > next_entry:
            place = int(np.argmax(exits))
            dropped = active.pop(place)
            signs.pop(place)
            level = next_exit
            if not active:
                return
        else:
            side, entering = divmod(int(np.argmax(entry)), p)
            active.append(entering)
            signs.append(1.0 if side == 0 else -1.0)
            level, dropped = next_entry, -1


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """Quotient, zero where the denominator is."""
    return np.divide(above, below, out=np.zeros_like(above), where=below != 0)
