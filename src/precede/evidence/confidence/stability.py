"""How often the edges of a graph come back on resampled rows, in seconds: the rest of the search is not repeated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.data.load import Table
from precede.evidence.confidence.resampling import resampled, time_block
from precede.graph.equivalence import cpdag
from precede.knowledge import Constraints
from precede.pruning.order_to_graph import PruningName, order_to_graph
from precede.runtime.deadline import Deadline
from precede.runtime.device import one_thread, pool_of_threads
from precede.scores.build import ScoreName, build_score
from precede.scores.protocol import NoiseName
from precede.search.polish import polish

N_RESAMPLES = 20
"""Resamples of every fit: shares to a twentieth."""


@dataclass(frozen=True, eq=False)
class Shares:
    """Shares of resamples.

    Parameters
    ----------
    directed : (n_variables, n_variables) float array
        ``[i, j]``: with i -> j, or with an edge that may point so.
    connected : (n_variables, n_variables) float array
        With an edge between the two; symmetric.
    n_resamples : int
        How many were made; fewer than asked for where the time was over.
    """

    directed: FloatArray
    connected: FloatArray
    n_resamples: int


Relearn = Callable[[np.random.Generator, Deadline], tuple[BoolArray, BoolArray]]
"""Draw rows and learn again: which edges may point from i to j, and which pairs are connected."""


def shares_of(relearn: Relearn, seed: int, deadline: Deadline) -> Shares | None:
    """Learn again on resample after resample; None where there was no time for one.

    Resample k depends on (seed, k) alone, so a result differs between machines only where the time was over. Threads
    share them: most of the work is compiled.
    """
    own = deadline.part()

    def one(k: int) -> tuple[BoolArray, BoolArray] | None:
        if own.passed():
            return None
        found = relearn(np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(k,))), own)
        return None if own.passed() else found  # it may have been cut short

    with one_thread(), pool_of_threads(N_RESAMPLES) as pool:
        try:
            made = [found for found in pool.map(one, range(N_RESAMPLES)) if found is not None]
        except BaseException:
            own.cancel()
            raise
    if not made:
        return None
    directed, connected = (np.sum(part, axis=0, dtype=float) / len(made) for part in zip(*made, strict=True))
    return Shares(directed, connected, len(made))


@dataclass(frozen=True, eq=False)
class PolishAgain:
    """Polish an order on resampled rows, and prune again.

    Parameters
    ----------
    table : Table
    order : (n_variables,) int array
        Where each polish starts.
    score, noise, pruning, threshold, cutoff
        As for the fit.
    constraints : Constraints
    identifies : "dag" or "cpdag"
        With "cpdag", an edge that may point either way counts in both directions.
    """

    table: Table
    order: IntArray
    score: ScoreName
    constraints: Constraints
    noise: NoiseName = "auto"
    pruning: PruningName = "auto"
    threshold: float = 0.3
    cutoff: float = 0.001
    identifies: str = "dag"

    def __call__(self, rng: np.random.Generator, deadline: Deadline) -> tuple[BoolArray, BoolArray]:
        rows, _ = resampled(self.table, time_block(self.table), rng)
        score = build_score(self.score, rows, self.constraints, noise=self.noise, device=torch.device("cpu"))
        order = polish(score, self.order, self.constraints, deadline=deadline).order
        edges, _ = order_to_graph(
            order, rows, score, self.constraints,
            pruning=self.pruning, threshold=self.threshold, cutoff=self.cutoff,
        )  # fmt: skip
        pattern = cpdag(edges).astype(bool) if self.identifies == "cpdag" else edges
        return pattern, edges | edges.T  # transposed: connected either way
