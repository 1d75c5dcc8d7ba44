"""Compiled local search over orders, for scores that say what single moves are worth."""

from __future__ import annotations

import importlib.util
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

from precede.arrays import IntArray
from precede.knowledge import Constraints
from precede.runtime.deadline import Deadline
from precede.runtime.progress import logger
from precede.scores.moves import LocalMoves
from precede.scores.protocol import OrderScore
from precede.search.local import arrays as at

if TYPE_CHECKING:
    from precede.search.local.chain import Chain

RESTARTS_PER_CHAIN = 50
"""Restarts beyond this many are dealt out to chains of their own, which threads share: never by the threads there are,
so that the result is the same on every machine."""


class Climbed(NamedTuple):
    """Where each chain ended, and the moves it took together."""

    orders: list[IntArray]
    n_moves: int


@cache
def _chain_class() -> type[Chain]:
    """The class, compiled; the first time on a machine this takes some seconds, later it is read from disk."""
    logger.info("compiling the local search: a few seconds, the first time only")
    from precede.search.local.chain import Chain

    return Chain


def moves_of(score: OrderScore) -> LocalMoves | None:
    """Moves that compiled search can make with a score; None where it has none, or where numba is absent."""
    return score.moves() if importlib.util.find_spec("numba") else None


def prepare() -> None:
    """Compile in a thread of its own, while something else is done; a search that comes earlier waits for it."""
    if importlib.util.find_spec("numba"):
        threading.Thread(target=_chain_class, daemon=True).start()


def climb(
    score: OrderScore,
    moves: LocalMoves,
    order: IntArray,
    constraints: Constraints,
    *,
    n_restarts: int,
    rng: np.random.Generator | None,
    deadline: Deadline,
) -> Climbed:
    """Climb from an order by insertion moves, shake, and climb again, in as many chains as the restarts are worth.

    Each chain has its own seed, drawn from ``rng``. When the deadline passes, each chain's best order so far counts.
    """
    n_chains = 1 + n_restarts // RESTARTS_PER_CHAIN
    seeds = [0] if rng is None else rng.integers(2**62, size=n_chains).tolist()
    lock, own = threading.Lock(), deadline.part()
    chains = [_chain_class()(moves, score.n_variables, constraints, own, seed, lock) for seed in seeds]
    shares = [len(part) for part in np.array_split(np.arange(n_restarts), n_chains)]

    def work(number: int) -> None:
        chain = chains[number]
        going = chain.start() and chain.climb_from(order)
        for _ in range(shares[number]):
            if not going or own.passed():
                break
            going = chain.restart()

    if n_chains == 1:
        work(0)
    else:
        with ThreadPoolExecutor(min(n_chains, torch.get_num_threads())) as pool:
            try:
                list(pool.map(work, range(n_chains)))
            except BaseException:
                own.cancel()
                raise
    n_moves = sum(int(chain.arrays.counters[at.N_MOVES]) for chain in chains)
    return Climbed([chain.best_order for chain in chains if chain.best_order is not None], n_moves)


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
    deadline = deadline or Deadline(None)
    chain = _chain_class()(moves, score.n_variables, constraints, deadline, 0, threading.Lock())
    if not chain.start():
        return constraints.nearest_order(np.arange(score.n_variables))
    return constraints.nearest_order(chain.insert_all())
