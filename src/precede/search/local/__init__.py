"""Compiled local search over orders, for scores that say what single moves are worth."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from functools import cache
from typing import Any, Protocol

from precede.arrays import IntArray
from precede.knowledge import Constraints
from precede.lazy import without_collections
from precede.runtime.deadline import Deadline
from precede.runtime.progress import logger
from precede.scores.protocol import CovarianceMoves, LocalMoves, OrderScore, VarianceMoves


class Climber(Protocol):
    """A climb from one order, then from shaken ones.

    Attributes
    ----------
    best_order : (n_variables,) int array or None
        None before the first climb.
    best : float
        What its terms sum to, up to a number that is the same for every order.
    tolerance : float
        Differences that count for nothing.
    n_moves : int
    """

    best_order: IntArray | None
    best: float

    @property
    def tolerance(self) -> float: ...

    @property
    def n_moves(self) -> int: ...

    def climb_from(self, order: IntArray) -> bool:
        """Climb and keep where it ends, if that is the best; False when time was over."""

    def restart(self) -> bool:
        """Shake and climb; go on from there if it is no worse than before, else go back; False when time was over."""


_one_at_a_time = threading.Lock()


def _compiled(module: str) -> Any:
    """A module of this package, compiled; the first time on a machine this takes some seconds, later little."""
    with _one_at_a_time:
        return _announced(module)


@cache
def _announced(module: str) -> Any:
    with without_collections():
        if not importlib.import_module("precede.runtime.compiled").is_kept():
            logger.info("compiling the local search: a few seconds, the first time only")
        return importlib.import_module(f"precede.search.local.{module}")


def _home(moves: LocalMoves) -> str:
    return "variances" if isinstance(moves, VarianceMoves) else "chain"


def are_cheap(moves: LocalMoves | None) -> bool:
    """Whether compiled code prices moves by itself, so that a climb takes milliseconds."""
    return isinstance(moves, CovarianceMoves | VarianceMoves)


def prepare(score: OrderScore | None = None) -> None:
    """Compile in a thread of its own, while something else is done; a search that comes earlier waits for it.

    Before it is known which score there will be, what most scores need.
    """
    moves = None if score is None else score.moves()
    if score is None or moves is not None:
        home = "chain" if moves is None else _home(moves)
        threading.Thread(target=_compiled, args=[home], daemon=True).start()


def climbers(moves: LocalMoves, constraints: Constraints, deadline: Deadline) -> Callable[[int], Climber]:
    """A function that makes climbers by their seeds; each may work in a thread of its own."""
    module = _compiled(_home(moves))
    if isinstance(moves, VarianceMoves):
        return lambda seed: module.VarianceChain(moves, constraints, deadline, seed)
    lock = threading.Lock()
    return lambda seed: module.Chain(moves, constraints, deadline, seed, lock)


def insertion_order(
    score: OrderScore, constraints: Constraints | None = None, deadline: Deadline | None = None
) -> IntArray | None:
    """Greedy order: one variable after another, in column order, put in where the order so far is best.

    None where the score has no moves to offer. When the deadline passes, what is left comes last.
    """
    moves = score.moves()
    if moves is None:
        return None
    constraints = constraints or Constraints.none(score.n_variables)
    make: Any = climbers(moves, constraints, deadline or Deadline(None))
    return constraints.nearest_order(make(0).insert_all())
