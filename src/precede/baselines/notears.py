"""NOTEARS: structure learning as smooth optimization under an acyclicity constraint, linear and with perceptrons."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.linalg
from scipy.optimize import Bounds, minimize
from scipy.special import expit

from precede.arrays import FloatArray
from precede.baselines.iterative import WeightedMethod
from precede.data.load import Table
from precede.errors import DataError, listed
from precede.estimator import FitResult
from precede.options import Count, NotNegative, Positive
from precede.runtime import Deadline, RandomState, numpy_rng
from precede.scores.assumptions import Assumptions
from precede.scores.covariance import covariance

Loss = Literal["l2", "logistic", "poisson"]
ValueAndGradient = Callable[[FloatArray], tuple[float, FloatArray]]
Objective = Callable[[FloatArray], tuple[float, FloatArray, float, FloatArray]]
"""Parameters to the penalized loss, its gradient, h and its gradient."""

SUFFICIENT_DECREASE = 0.25
"""Share of the last h that a dual step must reach, else the penalty grows (the authors' program)."""

PENALTY_GROWTH = 10.0
"""Factor on rho when a dual step decreased h too little (the authors' program)."""


@dataclass(frozen=True)
class DualStep:
    """Where one dual step ended."""

    objective: float
    h: float
    rho: float
    alpha: float
    evaluations: int


class AugmentedLagrangian(WeightedMethod):
    r"""Minimize an objective subject to :math:`h = 0` as Zheng et al. (2018) do, and drop what is weak.

    Each dual step minimizes :math:`F(W) + \frac\rho2 h(W)^2 + \alpha h(W)` by L-BFGS-B from the last solution, raising
    :math:`\rho` until h falls enough, then sets :math:`\alpha \leftarrow \alpha + \rho h(W)`.

    Parameters
    ----------
    max_time, verbose, threshold
        As of every method with weights.
    max_iterations : int
        Dual steps.
    h_tolerance, rho_max : float
        When to stop.
    """

    max_iterations: Count = 100
    h_tolerance: Positive = 1e-8
    rho_max: Positive = 1e16

    def _solve(
        self, objective: Objective, start: FloatArray, bounds: Bounds, read: Callable[[FloatArray], FloatArray]
    ) -> FitResult:
        """The graph of the minimum, whose strengths ``read`` tells from the parameters."""
        reached = [start]
        with np.errstate(over="ignore", invalid="ignore"):
            steps = self._dual_steps(objective, reached, bounds)
            history = self._watch(type(self).__name__, int(self.max_iterations), steps, "objective", "h")
        value, _, h, _ = objective(reached[-1])
        return self._kept(read(reached[-1]), -value, history, DualStep, h=h)

    def _dual_steps(self, objective: Objective, reached: list[FloatArray], bounds: Bounds) -> Iterator[DualStep]:
        """Take the dual steps, each from where the last one has ended."""
        deadline, rho, alpha, h = Deadline(self.max_time), 1.0, 0.0, np.inf

        def lagrangian(point: FloatArray, rho: float, alpha: float) -> tuple[float, FloatArray]:
            value, slope, h, h_slope = objective(point)
            return value + (0.5 * rho * h + alpha) * h, slope + (rho * h + alpha) * h_slope

        def stop_in_time(_: FloatArray) -> None:
            if deadline.passed():
                raise StopIteration

        for _ in range(int(self.max_iterations)):
            evaluations = 0
            while True:
                solution = minimize(  # type: ignore[call-overload]  # its stubs want 1-d shapes
                    lagrangian, reached[-1], (rho, alpha), "L-BFGS-B", jac=True, bounds=bounds, callback=stop_in_time
                )
                evaluations += int(solution.nfev)
                value, _, new_h, _ = objective(solution.x)
                if new_h <= SUFFICIENT_DECREASE * h or deadline.passed() or rho >= self.rho_max:
                    break
                rho *= PENALTY_GROWTH
            reached[:], h = [solution.x], new_h
            alpha += rho * h
            yield DualStep(float(value), float(h), rho, alpha, evaluations)
            if h <= self.h_tolerance or rho >= self.rho_max or deadline.passed():
                return


class NOTEARS(AugmentedLagrangian):
    r"""Linear NOTEARS (Zheng, Aragam, Ravikumar, Xing 2018).

    .. math:: \min_W \ell(W; X) + \lambda_1 \|W\|_1 \quad\text{s.t.}\quad h(W) = \operatorname{tr} e^{W \circ W} - d = 0

    by its augmented Lagrangian; entries below ``threshold`` are dropped at
    the end. Deterministic.

    Parameters
    ----------
    lambda1 : float
        Weight of the l1 penalty; 0 is plain least squares.
    loss : {"l2", "logistic", "poisson"}
        Least squares :math:`\frac{1}{2m}\|X - XW\|_F^2` on centered data; logistic wants columns of 0 and 1, Poisson
        wants counts, and neither has an intercept.
    threshold : float
        Weights smaller than this, in absolute value, are dropped.
    max_iterations : int
        Dual ascent steps.
    h_tolerance : float
        Stop when :math:`h(W)` is at most this.
    rho_max : float
        Stop when the penalty reaches this.
    max_time : float, optional
        Seconds; the best matrix so far is thresholded when they are over.
    verbose : bool
        Show progress.

    Notes
    -----
    Deviations from the authors' code: the l2 loss and its gradient are computed from the d x d covariance, so that a
    step does not depend on the number of samples; and where the thresholded graph still has a cycle (which theirs
    would return), the threshold is raised to the smallest value that leaves none. ``diagnostics_["threshold"]`` says
    which was used. NOTEARS profits from unequal variances: look at it on standardized data too.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.normal(size=500)
    >>> X = np.column_stack([2 * cause + rng.normal(size=500), cause])
    >>> NOTEARS(verbose=False).fit(X).adjacency_matrix_.to_numpy()
    array([[0, 0],
           [1, 0]])
    """

    assumes = Assumptions("linear", equal_variances=True, form="a weighted sum of its causes")

    lambda1: NotNegative = 0.1
    loss: Loss = "l2"

    def _learn(self, table: Table) -> FitResult:
        d = table.n_variables
        loss = linear_loss(self.loss, table)

        def weights_of(parts: FloatArray) -> FloatArray:
            return (parts[: d * d] - parts[d * d :]).reshape(d, d)

        def objective(parts: FloatArray) -> tuple[float, FloatArray, float, FloatArray]:
            value, slope = loss(weights_of(parts))
            h, h_slope = acyclicity(weights_of(parts))
            both = np.concatenate([slope.ravel(), -slope.ravel()]) + self.lambda1
            return value + self.lambda1 * parts.sum(), both, h, np.concatenate([h_slope.ravel(), -h_slope.ravel()])

        upper = np.where(np.eye(d, dtype=bool), 0.0, np.inf).ravel()  # nothing causes itself
        found = self._solve(objective, np.zeros(2 * d * d), Bounds(0.0, np.tile(upper, 2)), weights_of)
        found.diagnostics["loss"] = loss(np.asarray(found.weights))[0]
        return found


def acyclicity(weights: FloatArray) -> tuple[float, FloatArray]:
    r""":math:`h(W) = \operatorname{tr} e^{W \circ W} - d` and its gradient :math:`(e^{W \circ W})^T \circ 2W`.

    Zero exactly for a DAG.

    Examples
    --------
    >>> acyclicity(np.array([[0.0, 2.0], [0.0, 0.0]]))[0]
    0.0
    """
    exponential = scipy.linalg.expm(weights * weights)
    return float(np.trace(exponential) - len(weights)), exponential.T * (2 * weights)


def linear_loss(kind: Loss, table: Table) -> ValueAndGradient:
    """Loss per sample and its gradient in W (the three losses of the authors' program)."""
    X, m = table.values, table.n_samples
    if kind == "l2":
        S = covariance(X)

        def least_squares(W: FloatArray) -> tuple[float, FloatArray]:
            rest = -W
            rest.flat[:: len(W) + 1] += 1.0  # I - W
            slope = -(S @ rest)
            return -0.5 * float(np.vdot(rest, slope)), slope

        return least_squares
    wanted, taken, model = {
        "logistic": ("0 and 1", np.isin(X, (0.0, 1.0)), bernoulli),
        "poisson": ("counts", (X >= 0) & (np.round(X) == X), poisson),
    }[kind]
    columns = [table.names[j] for j in np.flatnonzero(~taken.all(axis=0))]
    if columns:
        raise DataError(f"loss={kind!r} takes columns of {wanted}, which {listed(columns)} are not: take loss='l2'.")

    def likelihood(W: FloatArray) -> tuple[float, FloatArray]:
        fitted = X @ W
        normalizer, mean = model(fitted)
        return float((normalizer - X * fitted).sum()) / m, X.T @ (mean - X) / m

    return likelihood


def bernoulli(fitted: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Log-normalizer and mean of 0/1 variables by their log-odds."""
    return np.logaddexp(0, fitted), expit(fitted)


def poisson(fitted: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Log-normalizer and mean of counts by the logarithm of their rate, both the rate."""
    rate = np.exp(np.minimum(fitted, 700.0))  # a line search may try what would overflow
    return rate, rate


class NOTEARSMLP(AugmentedLagrangian):
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

    assumes = Assumptions("additive", True, nonlinear_needed=True, form="a curved function of its causes")

    hidden_size: Count = 10
    lambda1: NotNegative = 0.01
    lambda2: NotNegative = 0.01
    random_state: RandomState = None

    def _learn(self, table: Table) -> FitResult:
        centered = table.values - table.values.mean(axis=0)
        networks = Perceptrons(centered, self.hidden_size, self.lambda1, self.lambda2)
        start, lower, upper = networks.start(numpy_rng(self.random_state))
        return self._solve(networks.objective, start, Bounds(lower, upper), networks.norms)


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

    def start(self, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, FloatArray]:
        """First parameters, uniform within one over the root of the inputs, the authors' scale, and bounds."""
        d, k = self.values.shape[1], self.hidden_size
        first = rng.uniform(0, 1 / np.sqrt(d), 2 * d * d * k)
        rest = [rng.uniform(-1, 1, d * k) / np.sqrt(d), rng.uniform(-1, 1, d * k) / np.sqrt(k), np.zeros(d)]
        own = np.broadcast_to(np.eye(d, dtype=bool)[:, :, None], (d, d, k)).ravel()
        upper = np.where(np.tile(own, 2), 0.0, np.inf)  # no variable is its own input
        free = np.full(2 * d * k + d, np.inf)
        start = np.concatenate([np.minimum(first, upper), *rest])
        return start, np.concatenate([np.zeros_like(upper), -free]), np.concatenate([upper, free])

    def _unpack(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        d, k = self.values.shape[1], self.hidden_size
        n = d * d * k
        first = (parameters[:n] - parameters[n : 2 * n]).reshape(d, d, k)
        bias, second, offset = np.split(parameters[2 * n :], [d * k, 2 * d * k])
        return first, bias.reshape(d, k), second.reshape(d, k), offset

    def norms(self, parameters: FloatArray) -> FloatArray:
        """Dependence of each variable on each other one, (d, d): ``[i, j]`` is the norm of i's weights in network j."""
        return np.asarray(np.sqrt((self._unpack(parameters)[0] ** 2).sum(axis=2)))

    def objective(self, parameters: FloatArray) -> tuple[float, FloatArray, float, FloatArray]:
        """Penalized loss and h, each with its gradient."""
        (m, d), k = self.values.shape, self.hidden_size
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
        biases = hidden_slope.sum(axis=0).ravel(), second_slope.ravel(), pull.sum(axis=0)
        slope = np.concatenate([first_slope + self.lambda1, self.lambda1 - first_slope, *biases])
        exponential = scipy.linalg.expm((first**2).sum(axis=2))
        h_first = (exponential.T[:, :, None] * (2 * first)).ravel()  # transposed: the derivative of a trace
        h_slope = np.concatenate([h_first, -h_first, np.zeros(2 * d * k + d)])
        return value, slope, float(np.trace(exponential) - d), h_slope
