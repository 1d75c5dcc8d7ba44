"""NOTEARS-MLP: one small network per variable, acyclic in the norms of the first layers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.special import expit

from precede.arrays import FloatArray
from precede.baselines.acyclicity import strongest_dag
from precede.baselines.notears import AcyclicProblem, DualStep, solve
from precede.data.load import Table
from precede.estimator import CausalEstimator, Findings
from precede.options import Count, NotNegative, Positive
from precede.runtime.randomness import RandomState, numpy_rng
from precede.scores.assumptions import Assumptions


class NOTEARSMLP(CausalEstimator):
    r"""Nonlinear NOTEARS with multilayer perceptrons (Zheng, Dan, Aragam, Ravikumar, Xing 2020).

    .. math:: \min \tfrac{1}{2m} \sum_j \|x_j - a_j^T \sigma(A_j X + b_j) - c_j\|^2 + \lambda_1 \sum_j \|A_j\|_1
              + \tfrac{\lambda_2}{2} \sum_j (\|A_j\|_F^2 + \|a_j\|^2)
              \quad\text{s.t.}\quad \operatorname{tr} e^{W \circ W} = d, \; W_{ij} = \|A_j e_i\|_2

    with :math:`\sigma` the logistic function, by the augmented Lagrangian of linear NOTEARS.
    Edges with :math:`W_{ij}` up to ``threshold`` are dropped at the end.

    Parameters
    ----------
    hidden_size : int
        Units of each hidden layer.
    lambda1, lambda2 : float
        Weights of the l1 and the squared l2 penalty.
    threshold : float
        Norms up to this are dropped.
    max_iterations : int
        Dual ascent steps.
    h_tolerance, rho_max : float
        Stop when :math:`h` is at most the one or the penalty reaches the other.
    random_state : int, Generator or None
        Of the first weights.
    max_time : float, optional
        Seconds; the norms so far are thresholded when they are over.
    verbose : bool
        Show progress.

    Notes
    -----
    Deviations from the authors' code: data is centered; gradients are written out in NumPy; where the thresholded graph
    still has a cycle, the threshold is raised to the smallest value that leaves none (``diagnostics_["threshold"]``).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.normal(size=300)
    >>> X = np.column_stack([2 * np.sin(cause) + 0.5 * rng.normal(size=300), cause])
    >>> NOTEARSMLP(random_state=0, verbose=False).fit(X).causal_order_
    [1, 0]
    """

    assumes = Assumptions(
        "additive", equal_variances=True, nonlinear_needed=True,
        words="Every variable is a curved function of its causes plus noise of the same variance everywhere.",
    )  # fmt: skip

    hidden_size: Count = 10
    lambda1: NotNegative = 0.01
    lambda2: NotNegative = 0.01
    threshold: NotNegative = 0.3
    max_iterations: Count = 100
    h_tolerance: Positive = 1e-8
    rho_max: Positive = 1e16
    random_state: RandomState = None
    max_time: Positive | None = None
    verbose: bool = True

    def _learn(self, table: Table) -> Findings:
        centered = table.values - table.values.mean(axis=0)
        networks = Perceptrons(centered, self.hidden_size, self.lambda1, self.lambda2)
        start, lower, upper = networks.start(numpy_rng(self.random_state))
        problem = AcyclicProblem(networks.objective, start, upper, self.h_tolerance, self.rho_max, lower)
        parameters, history = solve(problem, "NOTEARS-MLP", self.max_iterations, self.max_time, verbose=self.verbose)
        norms = networks.norms(parameters)
        edges, used = strongest_dag(norms, self.threshold)
        value, _, h, _ = networks.objective(parameters)
        reported = {"threshold": used, "h": h}
        return Findings(edges, weights=norms, score=-value, history=history, step=DualStep, diagnostics=reported)


@dataclass(frozen=True)
class Perceptrons:
    """One-hidden-layer networks of every variable on all others, as one parameter vector.

    The vector holds the positive and the negative part of the first layers A, (d, d, hidden) as [input, output, unit],
    then their biases (d, hidden), the second layers (d, hidden) and their biases (d,).

    Parameters
    ----------
    values : (n_samples, n_variables) float array
    hidden_size : int
    lambda1, lambda2 : float
    """

    values: FloatArray
    hidden_size: int
    lambda1: float
    lambda2: float

    @property
    def n_variables(self) -> int:
        return int(self.values.shape[1])

    def start(self, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, FloatArray]:
        """First parameters, uniform within one over the root of the inputs, the authors' scale, and bounds."""
        d, k = self.n_variables, self.hidden_size
        first = rng.uniform(0, 1 / np.sqrt(d), 2 * d * d * k)
        rest = [rng.uniform(-1, 1, d * k) / np.sqrt(d), rng.uniform(-1, 1, d * k) / np.sqrt(k), np.zeros(d)]
        own = np.broadcast_to(np.eye(d, dtype=bool)[:, :, None], (d, d, k)).ravel()
        upper = np.where(np.tile(own, 2), 0.0, np.inf)  # no variable is its own input
        free = np.full(2 * d * k + d, np.inf)
        start = np.concatenate([np.minimum(first, upper), *rest])
        return start, np.concatenate([np.zeros_like(upper), -free]), np.concatenate([upper, free])

    def _unpack(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        d, k = self.n_variables, self.hidden_size
        n = d * d * k
        first = (parameters[:n] - parameters[n : 2 * n]).reshape(d, d, k)
        bias, second, offset = np.split(parameters[2 * n :], [d * k, 2 * d * k])
        return first, bias.reshape(d, k), second.reshape(d, k), offset

    def norms(self, parameters: FloatArray) -> FloatArray:
        """Dependence of each variable on each other one, (d, d): ``[i, j]`` is the norm of i's weights in network j."""
        result: FloatArray = np.sqrt((self._unpack(parameters)[0] ** 2).sum(axis=2))
        return result

    def objective(self, parameters: FloatArray) -> tuple[float, FloatArray, float, FloatArray]:
        """Penalized loss and h, each with its gradient."""
        d, k, m = self.n_variables, self.hidden_size, len(self.values)
        first, bias, second, offset = self._unpack(parameters)
        hidden = expit((self.values @ first.reshape(d, d * k)).reshape(m, d, k) + bias)
        error = np.einsum("mjk,jk->mj", hidden, second) + offset - self.values
        n = first.size
        value = 0.5 / m * float((error**2).sum())
        value += self.lambda1 * float(parameters[: 2 * n].sum())
        value += 0.5 * self.lambda2 * float((first**2).sum() + (second**2).sum())

        pull = error / m
        second_slope = np.einsum("mjk,mj->jk", hidden, pull) + self.lambda2 * second
        hidden_slope = hidden * (1 - hidden)  # shape: (n_samples, d, hidden)
        hidden_slope *= second * pull[:, :, None]
        first_slope = (self.values.T @ hidden_slope.reshape(m, d * k)).ravel() + self.lambda2 * first.ravel()
        slope = np.concatenate(
            [
                first_slope + self.lambda1,
                self.lambda1 - first_slope,
                hidden_slope.sum(axis=0).ravel(),
                second_slope.ravel(),
                pull.sum(axis=0),
            ]
        )
        exponential = scipy.linalg.expm((first**2).sum(axis=2))
        h_first = (exponential.T[:, :, None] * (2 * first)).ravel()  # transposed: the derivative of a trace
        h_slope = np.concatenate([h_first, -h_first, np.zeros(2 * d * k + d)])
        return value, slope, float(np.trace(exponential) - d), h_slope
