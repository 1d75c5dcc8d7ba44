"""Scores of several data sets, each asked for orders of its own: what runs that train together are paid by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from precede.runtime.deadline import Deadline

if TYPE_CHECKING:
    from precede.scores.protocol import OrderScore


class ScoresTogether:
    """Scores side by side, here each by itself; a kind of score that can do more at once brings its own.

    The first axis of every tensor is the score.

    Parameters
    ----------
    scores : sequence of OrderScore
        Of one kind and over as many variables; see :meth:`precede.scores.protocol.OrderScore.together`.
    """

    def __init__(self, scores: Sequence[OrderScore]) -> None:
        self.scores = list(scores)

    def terms(self, orders: Tensor) -> Tensor:
        """Terms (n_scores, n_orders, n_variables) of as many orders, by each order's own score."""
        return torch.stack([score.terms(own) for score, own in zip(self.scores, orders, strict=True)])

    def total(self, sums: Tensor) -> Tensor:
        """Reported scores of sums of terms, both (n_scores, ...)."""
        return torch.stack([score.total(own) for score, own in zip(self.scores, sums, strict=True)])

    def bounds(self) -> Tensor:
        """Best terms, (n_scores, 1, n_variables): they stand beside orders of each score."""
        return torch.stack([score.bounds() for score in self.scores])[:, None]

    @contextmanager
    def within(self, deadline: Deadline | None) -> Iterator[None]:
        """A block in which they may give up when a deadline passes."""
        with ExitStack() as blocks:
            for score in self.scores:
                blocks.enter_context(score.within(deadline))
            yield
