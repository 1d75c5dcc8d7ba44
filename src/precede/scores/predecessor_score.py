"""What scores share that regress each variable on the whole set of its predecessors, every set once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Self

import numpy as np
import torch
from torch import Tensor

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.scores.cache import Pieces, PredecessorCache, members_of
from precede.scores.likelihood import NoiseModel
from precede.scores.protocol import OrderScore
from precede.scores.together import ScoresTogether

# Which of several scores, which of its sets were regressed on, and the residual variances given each.
JointPieces = Iterator[tuple[int, IntArray, FloatArray]]


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

    @property
    def residual_units(self) -> tuple[float, float]:
        return self.likelihood.residual_units

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

    @classmethod
    def together(cls, scores: Sequence[Self]) -> ScoresTogether:
        """One transfer of all orders, and one round of regressions on all sets that are missing."""
        return PredecessorScores(scores)

    @classmethod
    def joint_regressions(cls, scores: Sequence[Self], members: Sequence[BoolArray]) -> JointPieces:
        """Regress on the sets of several scores, here one score after another."""
        for k, (score, own) in enumerate(zip(scores, members, strict=True)):
            for which, variances in score.regressions(own):
                yield k, which, variances


class PredecessorScores(ScoresTogether):
    """Scores with a cache each: what all of them lack is evaluated together."""

    def __init__(self, scores: Sequence[PredecessorScore]) -> None:
        super().__init__(scores)
        self._kind = type(scores[0])
        self._own = list(scores)

    def terms(self, orders: Tensor) -> Tensor:
        host = orders.cpu().numpy()
        missing = [score.cache.missing(own) for score, own in zip(self._own, host, strict=True)]
        members = [members_of(keys, orders.shape[2]) for keys in missing]
        n_left, deadline = sum(map(len, missing)), self._own[0].deadline
        pieces = self._kind.joint_regressions(self._own, members)
        while n_left:
            if deadline is not None:
                deadline.check()
            k, which, variances = next(pieces)
            score = self._own[k]
            score.cache.keep([missing[k][s] for s in which], score.likelihood.terms(variances))
            n_left -= len(which)
        found = [score.cache.terms(own) for score, own in zip(self._own, host, strict=True)]
        return torch.from_numpy(np.stack(found)).to(orders.device)
