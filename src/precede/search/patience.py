"""When training has stopped moving."""

from __future__ import annotations

import math
from typing import Literal

PatienceName = Literal["best", "mean"]

SMOOTHING = 0.02
"""Weight of an iteration in the smoothed mean: about the last fifty count."""

SHRINKAGE = 0.05
"""The mean has moved when its distance from the best score is so much shorter than at the last move."""


class Patience:
    """Count the iterations since training moved.

    Parameters
    ----------
    limit : int or None
        Iterations without a move after which training ends; None waits forever.
    on : "best" or "mean"
        A move is a better best score; or that, or the smoothed mean of the batches has come closer to the best score.
        A policy goes on learning while its best draw stands still.
    """

    def __init__(self, limit: int | None, on: PatienceName = "best") -> None:
        self.limit, self.on = limit, on
        self.best, self.last_move = -math.inf, 0
        self._mean, self._distance = -math.inf, math.inf

    def expect(self, best_score: float) -> None:
        """Let only what is better than this count as a move."""
        self.best = max(self.best, best_score)

    def see(self, iteration: int, best_score: float, mean_score: float) -> None:
        """Take notice of a finished iteration."""
        self._mean = mean_score if math.isinf(self._mean) else self._mean + SMOOTHING * (mean_score - self._mean)
        distance = best_score - self._mean
        closer = self.on == "mean" and distance < (1 - SHRINKAGE) * self._distance
        if best_score > self.best or closer:
            self.best, self.last_move, self._distance = best_score, iteration, distance

    def spent(self, iteration: int) -> bool:
        return self.limit is not None and iteration - self.last_move >= self.limit

    def state(self) -> list[float]:
        """What has been noticed, as plain numbers; the limit is no part of it."""
        return [self.best, self.last_move, self._mean, self._distance]

    def restore(self, state: list[float]) -> None:
        """Go back to what :meth:`state` gave."""
        self.best, last_move, self._mean, self._distance = state
        self.last_move = int(last_move)
