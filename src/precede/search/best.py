"""BestScore and BestOrdering of Algorithm 1, kept on the device."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from precede.arrays import IntArray
from precede.ties import TOLERANCE, first_best_tensor


class BestOrdering:
    """The best order so far; of equal ones the first.

    Parameters
    ----------
    order : (n_variables,) int64 tensor
        What stands before anything was scored (Algorithm 1 starts from a random ordering and minus infinity).
    """

    def __init__(self, order: Tensor) -> None:
        self.order = order
        self.score = torch.full((), -torch.inf, dtype=torch.float64, device=order.device)

    @property
    def known(self) -> tuple[IntArray, float] | None:
        """The order and its score; None before anything was scored."""
        score = float(self.score)
        return None if math.isinf(score) else (self.order.cpu().numpy(), score)

    def offer_one(self, order: IntArray, score: float) -> None:
        """Name an order that was found elsewhere, with its score."""
        device = self.order.device
        self.offer(
            torch.as_tensor(order, device=device)[None], torch.tensor([score], dtype=torch.float64, device=device)
        )

    def offer(self, orders: Tensor, scores: Tensor) -> None:
        """Keep the best of a batch where it is better than the one so far.

        Parameters
        ----------
        orders : (batch, n_variables) int64 tensor
        scores : (batch,) float64 tensor
        """
        self.challenge(*first_best_order(orders, scores))

    def challenge(self, order: Tensor, score: Tensor) -> None:
        """Keep one order where it is better than the one so far.

        Parameters
        ----------
        order : (n_variables,) int64 tensor
        score : () float64 tensor
        """
        better = score > self.score + TOLERANCE * self.score.abs().nan_to_num(posinf=0.0)
        self.order = torch.where(better, order, self.order)
        self.score = torch.where(better, score, self.score)


def first_best_order(orders: Tensor, scores: Tensor) -> tuple[Tensor, Tensor]:
    """The first of a batch's best orders, with its score; a GPU is not waited for, as ``orders[first]`` would."""
    first = first_best_tensor(scores)[None]
    return orders.index_select(0, first)[0], scores.index_select(0, first)[0]
