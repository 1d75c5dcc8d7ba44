"""What methods share that come to their graph step by step: a time limit, a progress bar, a record of each step."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import torch

from precede.arrays import FloatArray
from precede.baselines.acyclicity import strongest_dag
from precede.data.load import Table
from precede.estimator import CausalEstimator, FitResult
from precede.options import NotNegative, Positive
from precede.runtime.deadline import Deadline
from precede.runtime.device import DeviceName, choose_device
from precede.runtime.progress import ProgressBar
from precede.runtime.randomness import RandomState, numpy_rng

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Record = TypeVar("Record", bound="DataclassInstance")


class IterativeMethod(CausalEstimator):
    """A method whose steps a progress bar counts and a time limit ends.

    Parameters
    ----------
    max_time : float, optional
        Seconds.
    verbose : bool
        Show progress.
    """

    max_time: Positive | None = None
    verbose: bool = True

    def _watch(self, label: str, total: int | None, steps: Iterable[Record], *figures: str) -> list[Record]:
        """Take the steps, one record each; the bar shows the named figures of the last one."""
        taken: list[Record] = []
        with ProgressBar(label, total, self.verbose) as bar:
            for step in steps:
                taken.append(step)
                bar.update(getattr(step, "iteration", len(taken)), **{name: getattr(step, name) for name in figures})
        return taken


class WeightedMethod(IterativeMethod):
    """An iterative method that ends with a weight for every pair, of which the strong ones are edges.

    Parameters
    ----------
    max_time : float, optional
    verbose : bool
    threshold : float
        Edges need a larger absolute weight; it is raised where a cycle is left, and ``diagnostics_["threshold"]`` says
        to what.
    """

    threshold: NotNegative = 0.3

    def _kept(
        self,
        weights: FloatArray,
        score: float,
        history: Sequence[DataclassInstance],
        step: type[DataclassInstance],
        **reported: float,
    ) -> FitResult:
        """The graph of the strong weights."""
        edges, used = strongest_dag(weights, self.threshold)
        diagnostics = {"threshold": used, **reported}
        return FitResult(edges, weights=weights, score=score, history=history, step=step, diagnostics=diagnostics)


class NetworkMethod(IterativeMethod):
    """An iterative method that trains a network.

    Parameters
    ----------
    max_time : float, optional
    verbose : bool
    device : str
        "auto", "cpu" or "cuda".
    random_state : int, Generator or None
    """

    device: DeviceName = "auto"
    random_state: RandomState = None

    def _learn(self, table: Table) -> FitResult:
        deadline = Deadline(self.max_time)
        found = self._learn_by(table, numpy_rng(self.random_state), choose_device(self.device), deadline)
        found.diagnostics["seconds"] = deadline.elapsed()
        return found

    @abstractmethod
    def _learn_by(self, table: Table, rng: np.random.Generator, device: torch.device, deadline: Deadline) -> FitResult:
        """Train the network and read its graph."""
