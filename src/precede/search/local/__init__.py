"""Local search over orders: compiled for scores that say what single moves are worth, in sweeps for the others.

It begins with greedy orders, the quick baselines that every learned order is compared with.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from precede.arrays import IntArray
from precede.knowledge import Constraints
from precede.lazy import without_collections
from precede.runtime.deadline import Deadline, logger
from precede.scores.protocol import CovarianceMoves, LocalMoves, OrderScore, VarianceMoves
from precede.search.local.climber import Climber, Sweeps

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


def prepare() -> None:
    """Compile what most scores need in a thread of its own, while something else is done; a search waits for it."""
    threading.Thread(target=_compiled, args=["chain"], daemon=True).start()


def prepare_for(score: OrderScore) -> None:
    """The same for what this score needs."""
    if (moves := score.moves()) is not None:
        threading.Thread(target=_compiled, args=[_home(moves)], daemon=True).start()


def climbers(score: OrderScore, constraints: Constraints, deadline: Deadline) -> Callable[[int], Climber]:
    """A function that makes climbers by their seeds; those of compiled code may each work in a thread of its own."""
    moves = score.moves()
    if moves is None:
        return partial(Sweeps, score, constraints, deadline)
    module = _compiled(_home(moves))
    if isinstance(moves, VarianceMoves):
        return partial(module.VarianceChain, moves, constraints, deadline)
    return partial(module.Chain, moves, constraints, deadline, lock=threading.Lock())


def greedy_order(
    score: OrderScore, constraints: Constraints | None = None, deadline: Deadline | None = None
) -> IntArray:
    """Order by the greedy method that suits the score.

    A score may know a quick way (with equal noise variances, the variable of smallest conditional variance comes
    next). For the others each variable, in column order, is put in where the order so far is best.

    Parameters
    ----------
    score : OrderScore
    constraints : Constraints, optional
    deadline : Deadline, optional
        When it passes, what is left is put at the end as it comes.
    """
    constraints = constraints or Constraints.none(score.n_variables)
    quick = score.quick_order(constraints)
    return best_insertion_order(score, constraints, deadline) if quick is None else quick


def best_insertion_order(
    score: OrderScore, constraints: Constraints | None = None, deadline: Deadline | None = None
) -> IntArray:
    """Put in one variable after another, each where the terms of the order so far sum highest."""
    constraints = constraints or Constraints.none(score.n_variables)
    return climbers(score, constraints, deadline or Deadline(None))(0).insert_all()
