"""When training has stopped moving."""

from __future__ import annotations

import math


class Patience:
    """Count the iterations since the best score moved.

    Parameters
    ----------
    limit : int or None
        Iterations without a move after which it is at an end; None waits forever.
    """

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self.best, self.last_move = -math.inf, 0

    def see(self, iteration: int, best_score: float) -> None:
        """Take notice of a finished iteration."""
        if best_score > self.best:
            self.best, self.last_move = best_score, iteration

    def spent(self, iteration: int) -> bool:
        return self.limit is not None and iteration - self.last_move >= self.limit
