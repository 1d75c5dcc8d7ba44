"""How often polish starts again, and where that takes the place of a policy."""

from __future__ import annotations

from precede.scores.moves import CovarianceMoves, VarianceMoves
from precede.scores.protocol import OrderScore
from precede.search import local

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
    return sorts_by_variance(score) or isinstance(score.moves(), CovarianceMoves)


def sorts_by_variance(score: OrderScore) -> bool:
    """Whether the score is linear with equal variances, so that its quick order is nearly right."""
    return score.assumes.mechanism == "linear" and score.assumes.equal_variances


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
