r"""What methods share that come to their graph step by step: a time limit, a progress bar, a record of each step.

Acyclicity is a smooth function of a non-negative matrix W (``W[i, j]`` is the weight of i -> j), zero if and only if W
has no cycle:

- :func:`exponential_acyclicity`, :math:`\operatorname{tr} e^{W} - d` (Zheng et al. 2018, NOTEARS);
- :func:`polynomial_acyclicity`, :math:`\operatorname{tr}(I + W / d)^d - d` (Yu et al. 2019, DAG-GNN).

:func:`strongest_dag` is the repair that makes a graph a DAG.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import torch
from torch import Tensor

from precede.arrays import BoolArray, FloatArray
from precede.data.load import Table
from precede.errors import DataError
from precede.estimator import CausalEstimator, FitResult
from precede.graph.dags import is_acyclic
from precede.options import NotNegative, Positive
from precede.runtime import Deadline, DeviceName, ProgressBar, RandomState, choose_device, numpy_rng

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


def polynomial_acyclicity(weights: Tensor) -> Tensor:
    r"""Acyclicity of Yu et al. (2019): :math:`\operatorname{tr}[(I + W / d)^d] - d`.

    Parameters
    ----------
    weights : (d, d) tensor
        Non-negative; DAG-GNN passes :math:`A \circ A`. Computed in float64, because the float32 trace hides
        anything below about 1e-5.

    Examples
    --------
    >>> float(polynomial_acyclicity(torch.tensor([[0.0, 2.0], [0.0, 0.0]])))
    0.0
    >>> float(polynomial_acyclicity(torch.tensor([[0.0, 2.0], [2.0, 0.0]])))
    2.0
    """
    d = len(weights)
    base = torch.eye(d, dtype=torch.float64, device=weights.device) + weights.double() / d
    with torch.no_grad():
        slope = torch.linalg.matrix_power(base, d - 1).mT
        trace = (base * slope).sum()
    return _with_gradient(trace, slope, weights) - d


def _with_gradient(value: Tensor, slope: Tensor, weights: Tensor) -> Tensor:
    """A known value with a known gradient in the weights, so that no autograd goes through powers and exponentials."""
    weights = weights.double()
    return value + (slope * (weights - weights.detach())).sum(dim=(-2, -1))


def exponential_acyclicity(weights: Tensor) -> Tensor:
    r"""Acyclicity of Zheng et al. (2018): :math:`\operatorname{tr} e^{W} - d`.

    Parameters
    ----------
    weights : (*batch, d, d) tensor
        Non-negative: a 0/1 adjacency, :math:`A \circ A`, or GraN-DAG's connectivity. Computed in float64.

    Returns
    -------
    h : (*batch,) float64 tensor

    Examples
    --------
    >>> float(exponential_acyclicity(torch.tensor([[0.0, 1.0], [0.0, 0.0]])))
    0.0
    >>> cycle = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    >>> bool(torch.isclose(exponential_acyclicity(cycle), 2 * torch.cosh(torch.tensor(1.0)).double() - 2))
    True
    """
    with torch.no_grad():
        exponential = torch.linalg.matrix_exp(weights.double())
    trace = exponential.diagonal(dim1=-2, dim2=-1).sum(-1)
    return _with_gradient(trace, exponential.mT, weights) - weights.shape[-1]


def strongest_dag(strengths: FloatArray, threshold: float = 0.0) -> tuple[BoolArray, float]:
    """Keep the edges stronger than a threshold; raise the threshold until no cycle is left.

    How Lachapelle et al. (2020) make their graph a DAG, and the repair for the methods whose own threshold does not
    promise a DAG. A graph only loses edges as the threshold rises, so the smallest one is found by bisection.

    Parameters
    ----------
    strengths : (d, d) float array
        Absolute values count; ``[i, j]`` is the strength of i -> j. The diagonal is ignored.
    threshold : float
        Where to start: an edge needs a strength above it.

    Returns
    -------
    edges : (d, d) bool array
        Acyclic.
    threshold : float
        The threshold that was needed.

    Examples
    --------
    >>> edges, raised = strongest_dag(np.array([[0.0, 0.9], [0.4, 0.0]]), threshold=0.3)
    >>> edges.astype(int), raised
    (array([[0, 1],
           [0, 0]]), 0.4)
    """
    if not np.isfinite(strengths).all():
        raise DataError(
            "the training left the range of floats, so there is no graph to read: give the columns other units, or "
            "scale each to variance one."
        )
    magnitudes = np.abs(strengths) * ~np.eye(len(strengths), dtype=bool)
    candidates = np.unique(magnitudes[magnitudes > threshold])
    thresholds = np.concatenate([[threshold], candidates])
    low, high = 0, len(thresholds) - 1  # the last one leaves no edge at all
    while low < high:
        middle = (low + high) // 2
        if is_acyclic(magnitudes > thresholds[middle]):
            high = middle
        else:
            low = middle + 1
    return magnitudes > thresholds[low], float(thresholds[low])
