"""Polish: insertion moves on an order until none improves its score."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import torch

from precede.arrays import IntArray
from precede.errors import OptionError
from precede.knowledge import Constraints
from precede.runtime.deadline import Deadline
from precede.runtime.device import one_thread, pool_of_threads
from precede.scores.protocol import CovarianceMoves, OrderScore, VarianceMoves
from precede.search import local
from precede.search.local.climber import Climber
from precede.ties import first_best, first_best_rows

CPDAG_RESTARTS = 20
"""Restarts of polish for a score that identifies only the CPDAG (``benchmarks/cpdag_flop.py``); 1,000 variables have
twelve, after which the next eight find a millionth of the score."""

MOST_RESTARTS = 100
"""Where compiled search makes them cheap, small problems have up to this many (``benchmarks/discrete_networks.py``)."""

SHAPE_RESTARTS = 40
"""Where the shape of noise tells every direction, small problems have up to this many, those with 100 variables ten."""

VARIANCE_RESTARTS = 100
"""Where it prices them by variances, those with up to 200 variables have this many, those with 1,000 have 20."""


def do_without_policy(score: OrderScore) -> bool:
    """Whether a table too wide for the policy is better left to restarts.

    With parent sets priced by compiled code both end at the same score, and the look of the policy alone takes longer.
    With equal variances the quick order is nearly right, and restarts from there reach as much in a quarter of the time
    (160 and 250 variables, six data sets: more on four, within 3e-5 on the others).
    """
    sorts_by_variance = score.assumes.mechanism == "linear" and score.assumes.equal_variances
    return sorts_by_variance or isinstance(score.moves(), CovarianceMoves)


def default_restarts(score: OrderScore) -> int:
    """How often polish restarts: the more the cheaper a climb is, and the earlier climbs end short of the best."""
    moves = score.moves()
    if isinstance(moves, VarianceMoves):
        return max(1, min(VARIANCE_RESTARTS, 20_000 // score.n_variables))
    if score.identifies == "dag":
        return max(1, min(SHAPE_RESTARTS, 1000 // score.n_variables)) if isinstance(moves, CovarianceMoves) else 0
    least = max(1, min(CPDAG_RESTARTS, 12_000 // score.n_variables))
    n_restarts = least if moves is None else max(least, min(MOST_RESTARTS, 3000 // score.n_variables))
    return n_restarts if local.are_cheap(moves) else n_restarts // 2


RESTARTS_PER_CHAIN = 50
"""Restarts of compiled search beyond this many are dealt out to chains of their own, which threads share: never by the
threads there are, so that the result is the same on every machine."""


@dataclass(frozen=True)
class Polished:
    """An order that no single insertion improves, its score, and the work it took.

    Parameters
    ----------
    order : (n_variables,) int array
    score : float
    n_moves : int
    agreed : bool
        Whether there were several starts, and the climbs from all of them ended at the same score.
    """

    order: IntArray
    score: float
    n_moves: int
    agreed: bool = False


def polish(
    score: OrderScore,
    order: IntArray,
    constraints: Constraints | None = None,
    *,
    others: Sequence[IntArray] = (),
    n_restarts: int = 0,
    n_chases: int = 0,
    rng: np.random.Generator | None = None,
    deadline: Deadline | None = None,
) -> Polished:
    """Climb by insertion moves; with restarts, shake the order and climb again.

    Where the score says what single moves are worth (``OrderScore.moves``), compiled code takes one variable after
    another through the order (``precede.search.local``). Else each sweep judges all moves in a batch.

    A climb also makes random moves that leave the score as it is (a score that identifies only the CPDAG has very
    many). A restart puts some variables in at random: from two to a fifth of them, fewer more often. The climb goes on
    from there, and the next restart from where it ends if that is no worse.

    Climbs from several starts tell how sure the result is. Whoever is behind restarts until it has caught up; if it
    overtakes, the other one follows.

    Parameters
    ----------
    score : OrderScore
    order : (n_variables,) int array
        Where to start.
    constraints : Constraints, optional
        Moves that break a precedence are not made.
    others : sequence of (n_variables,) int arrays
        Further starts.
    n_restarts : int
        How often each order is shaken and polished again.
    n_chases : int
        How often those that are behind may restart after that.
    rng : numpy Generator
        Needed with restarts.
    deadline : Deadline, optional
        When it passes, or is cancelled, the best order so far is returned.

    Examples
    --------
    >>> from precede.simulation import simulate
    >>> from precede.scores.linear import LinearScore
    >>> data = simulate(n_variables=5, degree=1, random_state=0).data.to_numpy()
    >>> polish(LinearScore(data), np.arange(5)).n_moves > 0
    True
    """
    if n_restarts and rng is None:
        raise OptionError(
            f"n_restarts={n_restarts} cannot be used without rng: give the generator to shake the order by."
        )
    constraints = constraints or Constraints.none(score.n_variables)
    own = (deadline or Deadline(None)).part()
    starts = [constraints.nearest_order(np.asarray(start)) for start in (order, *others)]
    make, is_compiled = local.climbers(score, constraints, own), score.moves() is not None
    n_chains = 1 + n_restarts // RESTARTS_PER_CHAIN if is_compiled else 1
    shares = [len(part) for part in np.array_split(np.arange(n_restarts), n_chains)]
    seeds = [0] * len(starts) * n_chains if rng is None else rng.integers(2**62, size=len(starts) * n_chains).tolist()
    plan = [(make(seed), start, share) for seed, (start, share) in zip(seeds, product(starts, shares), strict=True)]
    _search_all(plan, own, in_threads=is_compiled)
    climbers = [climber for climber, _, _ in plan]
    reached = np.array([climber.best for climber in climbers]).reshape(len(starts), n_chains)
    heads = [climbers[k * n_chains + best] for k, best in enumerate(first_best_rows(reached))]
    agreed = len(heads) > 1 and all(_chase(heads[0], other, n_chases, own) for other in heads[1:])
    orders = [*starts, *(climber.best_order for climber in climbers if climber.best_order is not None)]
    totals = score.totals(torch.as_tensor(np.array(orders), device=score.device)).cpu().numpy()
    best = first_best(totals)
    return Polished(orders[best], float(totals[best]), sum(climber.n_moves for climber in climbers), agreed)


def _search_all(plan: Sequence[tuple[Climber, IntArray, int]], deadline: Deadline, in_threads: bool) -> None:
    """Let each climber climb from its start, and restart this many times."""
    if len(plan) == 1 or not in_threads:
        for climber, start, n_restarts in plan:
            climber.search(start, n_restarts)
        return
    with one_thread(), pool_of_threads(len(plan)) as pool:
        try:
            list(pool.map(lambda task: task[0].search(*task[1:]), plan))
        except BaseException:
            deadline.cancel()
            raise


def _chase(first: Climber, second: Climber, n_chases: int, deadline: Deadline) -> bool:
    """Let whoever is behind restart, this many times at most; whether both are at the same score in the end."""
    for left in range(n_chases, -1, -1):
        if abs(first.best - second.best) <= max(first.tolerance, second.tolerance):
            return True
        behind = first if first.best < second.best else second
        if left == 0 or deadline.passed() or not behind.restart():
            break
    return False
