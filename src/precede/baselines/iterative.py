"""What methods share that come to their graph step by step: a time limit, a progress bar, a record of each step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

from precede.estimator import CausalEstimator
from precede.options import Positive
from precede.runtime.device import DeviceName
from precede.runtime.progress import ProgressBar
from precede.runtime.randomness import RandomState

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
