"""Greedy orders: the quick baselines that every learned order is compared with."""

from precede.arrays import IntArray
from precede.knowledge import Constraints
from precede.runtime.deadline import Deadline
from precede.scores.protocol import OrderScore
from precede.search.local import climbers


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
