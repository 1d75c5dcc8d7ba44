"""Compiled local search over orders, for scores that say what single moves are worth."""

from __future__ import annotations

import importlib.util
import os
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from precede.arrays import IntArray
from precede.knowledge import Constraints
from precede.lazy import without_collections
from precede.runtime.deadline import Deadline
from precede.runtime.progress import logger
from precede.scores.moves import CovarianceMoves, LocalMoves, VarianceMoves
from precede.scores.protocol import OrderScore


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
    from precede.search.local.compiled import SOURCES

    kept = [Path(__file__).parent / "__pycache__", Path(os.environ.get("NUMBA_CACHE_DIR") or os.devnull)]
    files = [file.name for folder in kept if folder.is_dir() for file in folder.rglob(f"*_{SOURCES}-*.nbi")]
    if all(name.startswith("numba_ready") for name in files):
        logger.info("compiling the local search: a few seconds, the first time only")
    return _imported(module)


def _imported(module: str) -> Any:
    with without_collections():
        return importlib.import_module(f"precede.search.local.{module}")


def _home(moves: LocalMoves) -> str:
    return "variance_chain" if isinstance(moves, VarianceMoves) else "chain"


def moves_of(score: OrderScore) -> LocalMoves | None:
    """Moves that compiled search can make with a score; None where it has none, or where numba is absent."""
    return score.moves() if importlib.util.find_spec("numba") else None


def are_cheap(moves: LocalMoves | None) -> bool:
    """Whether compiled code prices moves by itself, so that a climb takes milliseconds."""
    return isinstance(moves, CovarianceMoves | VarianceMoves)


def warm_up() -> None:
    """Make numba ready in a thread of its own, before it is known which score there will be."""
    if importlib.util.find_spec("numba"):
        threading.Thread(target=_imported, args=["numba_ready"], daemon=True).start()


def prepare(score: OrderScore) -> None:
    """Compile in a thread of its own, while something else is done; a search that comes earlier waits for it."""
    moves = moves_of(score)
    if moves is not None:
        threading.Thread(target=_compiled, args=[_home(moves)], daemon=True).start()


def climbers(
    moves: LocalMoves, n_variables: int, constraints: Constraints, deadline: Deadline
) -> Callable[[int], Climber]:
    """A function that makes climbers by their seeds; each may work in a thread of its own."""
    module = _compiled(_home(moves))
    if isinstance(moves, VarianceMoves):
        return lambda seed: module.VarianceChain(moves, constraints, deadline, seed)
    lock = threading.Lock()
    return lambda seed: module.Chain(moves, n_variables, constraints, deadline, seed, lock)


def insertion_order(
    score: OrderScore, constraints: Constraints | None = None, deadline: Deadline | None = None
) -> IntArray | None:
    """Greedy order: one variable after another, in column order, put in where the order so far is best.

    None where the score has no moves to offer. When the deadline passes, what is left comes last.
    """
    moves = moves_of(score)
    if moves is None:
        return None
    constraints = constraints or Constraints.none(score.n_variables)
    make: Any = climbers(moves, score.n_variables, constraints, deadline or Deadline(None))
    return constraints.nearest_order(make(0).insert_all())
