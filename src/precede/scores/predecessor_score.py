"""What scores share that regress each variable on the whole set of its predecessors, every set once."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
import torch
from torch import Tensor

from precede.arrays import BoolArray, FloatArray
from precede.scores.cache import Pieces, PredecessorCache
from precede.scores.likelihood import NoiseModel
from precede.scores.protocol import OrderScore


class PredecessorScore(OrderScore):
    """Terms looked up in a cache of predecessor sets; between the pieces that it lacks, it looks at the clock.

    A subclass sets ``likelihood``, makes its ``cache`` of ``self.evaluate``, and adds ``total`` and ``regressions``.
    """

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
        return torch.from_numpy(self.cache.terms(orders.cpu().numpy(), self.deadline)).to(self.device)

    def bounds(self) -> Tensor:
        return torch.from_numpy(self.cache.given_all_others(self.deadline)).to(self.device)

    @abstractmethod
    def regressions(self, members: BoolArray) -> Pieces:
        """Regress on sets, piece by piece: which of them, and the residual variance of every variable given each."""

    def residual_variances(self, members: BoolArray) -> FloatArray:
        """Residual variance of every variable given each set, (n_sets, n_variables).

        Parameters
        ----------
        members : (n_sets, n_variables) bool array
        """
        variances = np.empty(members.shape)
        for which, piece in self.regressions(members):
            variances[which] = piece
        return variances

    def evaluate(self, members: BoolArray) -> Pieces:
        """Terms in the place of the variances."""
        for which, variances in self.regressions(members):
            yield which, self.likelihood.terms(variances)
