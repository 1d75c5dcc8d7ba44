"""What a score of causal orders is: the one interface that every search sees."""

from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from precede.arrays import BoolArray, IntArray


@runtime_checkable
class OrderScore(Protocol):
    r"""Judge of causal orders; higher is better.

    ``terms(orders)`` decomposes: entry ``[k, t]`` depends only on the t-th variable of order k and on the *set* of
    variables before it (Equation 3 of the paper). The order's score is ``total(terms.sum(1))``, where ``total`` is
    increasing (the identity for most scores), so every search may compare row sums.
    """

    name: str
    n_variables: int
    device: torch.device

    def terms(self, orders: Tensor) -> Tensor:
        """Contribution of each variable given all variables before it.

        Parameters
        ----------
        orders : (n_orders, n_variables) int64 tensor on ``device``
            Causes first.

        Returns
        -------
        terms : (n_orders, n_variables) float64 tensor
            In the order's own sequence.
        """

    def total(self, sums: Tensor) -> Tensor:
        """Increasing map from row sums of the terms to the reported score."""

    def bounds(self) -> Tensor:
        """Best term that each variable can have, (n_variables,): its term given all the others."""


@runtime_checkable
class GraphScore(OrderScore, Protocol):
    """A score whose maximising parent sets are the graph, so that no pruning is needed."""

    def graph(self, order: IntArray) -> BoolArray:
        """Best graph that agrees with an order; ``[i, j]`` means i -> j."""


def terms_given_all_others(score: OrderScore) -> Tensor:
    """Each variable's term when it comes last, (n_variables,): ``bounds`` for any score that grows with the set."""
    d = score.n_variables
    variables = torch.arange(d, device=score.device)
    orders = variables.repeat(d, 1)
    # row j: every variable but j in column order, then j
    others = orders[~torch.eye(d, dtype=torch.bool, device=score.device)].view(d, d - 1)
    return score.terms(torch.cat([others, variables[:, None]], dim=1))[:, -1]
