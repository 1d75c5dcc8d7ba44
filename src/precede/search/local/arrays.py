"""The arrays that compiled local search reads and writes. Few and plain: each one costs compilation time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]


class Arrays(NamedTuple):
    """One chain of the search: its problem, the states made so far, the order, and room to work in.

    A state is a (variable, parent set) with its score, its best parent to drop, and its rivals: the variables whose
    addition would pay, best first. For a score with a table, a state is the bits of the candidates that come before.
    """

    square: Array  # (3, d, d) float64: CORRELATION, ROWS, INVERSE
    edges: Array  # (3, d, d) bool: ALLOWED and REQUIRED as [child, parent], BEFORE as [i, j]: i must come before j
    table: Array  # (d, 2^n_candidates) float64: terms by predecessor bits, NaN where not known yet
    place: Array  # (d, d) int64: bit of a candidate (column) in the table of a variable (row), -1 for the others
    columns: Array  # (d, n_rows) float64: standardized; no rows where residuals have no shape
    residual: Array  # (n_rows,) float64: room
    real: Array  # (6, d) float64: OFFSET, BOUND, GAIN, VARIANCE, CROSS, SHARE
    whole: Array  # (10, d) int64: ORDER, POSITION, STATE, SEQUENCE, PASSED, OWN, MEMBERS, RIVALS, MEMBER_KEY, OWNER_KEY
    numbers: Array  # float64: HALF_SAMPLES, PRICE, TOLERANCE, PAYS, KEEPS, SHAPE_PRICE
    counters: Array  # int64, see below
    about: Array  # (capacity, 6 + d / 64) int64: VARIABLE, N_MEMBERS, N_RIVALS, START, DROP, KEY, bits of RELEVANT
    value: Array  # (capacity,) float64: scores
    shaped: Array  # (capacity,) bool: whether the shape of the residual is in the score
    pool: Array  # int16: of each state the members, ascending, then the rivals
    slots: Array  # int64: hash table of states, -1 where empty


CORRELATION, ROWS, INVERSE = range(3)
ALLOWED, REQUIRED, BEFORE = range(3)
OFFSET, BOUND, GAIN, VARIANCE, CROSS, SHARE = range(6)
ORDER, POSITION, STATE, SEQUENCE, PASSED, OWN, MEMBERS, RIVALS, MEMBER_KEY, OWNER_KEY = range(10)
HALF_SAMPLES, PRICE, TOLERANCE, PAYS, KEEPS, SHAPE_PRICE = range(6)
VARIABLE, N_MEMBERS, N_RIVALS, START, DROP, KEY, RELEVANT = range(7)

# counters: what there is of states, work since the last pause, the climb, the problem, and the state that is asked for
N_STATES, POOL_USED, WORK, PAUSE_AT, SINCE_GAIN, AT, N_MOVES, RANDOM = range(8)
MAX_PARENTS, IS_TABLED, IS_NATIVE, IS_CONSTRAINED, ASKED, ASKED_SIZE, ASKED_SLOT, ASKED_DROP = range(8, 16)
N_COUNTERS = 16

SETTLE, BOUNDS, CLIMB, INSERT, REHASH, STORE = range(6)
"""Tasks of :func:`precede.search.local.walk.run`."""

MISSING, FULL, PAUSED, DONE = -1, -2, -3, -4
"""What it returns: a state is asked for, there is no room for another, time for a look at the clock, done."""
