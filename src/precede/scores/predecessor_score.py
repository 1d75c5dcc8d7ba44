"""What scores share that regress each variable on the whole set of its predecessors, every set once."""

from __future__ import annotations

import torch
from torch import Tensor

from precede.scores.cache import PredecessorCache
from precede.scores.likelihood import NoiseModel
from precede.scores.protocol import OrderScore


class PredecessorScore(OrderScore):
    """Terms looked up in a cache of predecessor sets; a subclass sets ``cache``, ``likelihood``, and adds ``total``."""

    noises = ("equal", "unequal")
    cache: PredecessorCache
    likelihood: NoiseModel

    @property
    def hit_rate(self) -> float:
        """Share of the (variable, set) lookups that needed no new regression."""
        return self.cache.hit_rate

    @property
    def n_evaluations(self) -> int:
        """Predecessor sets factorized so far."""
        return self.cache.n_evaluations

    def terms(self, orders: Tensor) -> Tensor:
        return torch.from_numpy(self.cache.terms(orders.cpu().numpy())).to(self.device)

    def bounds(self) -> Tensor:
        return torch.from_numpy(self.cache.given_all_others()).to(self.device)
