"""BestScore and BestOrdering of Algorithm 1, kept on the device."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from precede.arrays import IntArray
from precede.ties import TOLERANCE, first_best_tensor


class BestOrdering:
    """The best order of each run so far; of equal ones the first.

    Parameters
    ----------
    orders : (runs, n_variables) int64 tensor
        What stands before anything was scored (Algorithm 1 starts from a random ordering and minus infinity).
    """

    def __init__(self, orders: Tensor) -> None:
        self.orders = orders
        self.scores = torch.full((len(orders),), -torch.inf, dtype=torch.float64, device=orders.device)

    def known(self, run: int = 0) -> tuple[IntArray, float] | None:
        """A run's order and its score; None before anything was scored."""
        score = float(self.scores[run])
        return None if math.isinf(score) else (self.order(run), score)

    def order(self, run: int = 0) -> IntArray:
        """A run's order, whether or not anything was scored."""
        result: IntArray = self.orders[run].cpu().numpy()
        return result

    def offer_one(self, order: IntArray, score: float) -> None:
        """Name an order that was found elsewhere, with its score, to the only run."""
        device = self.orders.device
        scores = torch.tensor([[score]], dtype=torch.float64, device=device)
        self.offer(torch.as_tensor(order, device=device)[None, None], scores)

    def offer(self, orders: Tensor, scores: Tensor, going_on: Tensor | None = None) -> None:
        """Keep the best of each run's batch where it is better than the one so far.

        Parameters
        ----------
        orders : (runs, batch, n_variables) int64 tensor
        scores : (runs, batch) float64 tensor
        going_on : (runs,) bool tensor, optional
            Runs that have ended keep what they have.
        """
        first = first_best_tensor(scores)[:, None]
        score = scores.gather(1, first)[:, 0]
        order = orders.gather(1, first[:, :, None].expand(-1, 1, orders.shape[2]))[:, 0]
        better = score > self.scores + TOLERANCE * self.scores.abs().nan_to_num(posinf=0.0)
        if going_on is not None:
            better = better & going_on
        self.scores = torch.where(better, score, self.scores)
        self.orders = torch.where(better[:, None], order, self.orders)
