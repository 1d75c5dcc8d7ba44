r"""GOLEM and DAGMA: linear graphs by gradient descent on penalized objectives, with Adam.

Both keep a matrix W of weights whose diagonal is zero; ``W[i, j]`` is the weight of i -> j.
"""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch

from precede.arrays import FloatArray
from precede.baselines.iterative import WeightedMethod
from precede.baselines.notears import Loss, ValueAndGradient, acyclicity, linear_loss
from precede.data.load import Table
from precede.estimator import FitResult
from precede.options import Count, NotNegative, Positive
from precede.runtime import Deadline
from precede.scores.assumptions import Assumptions
from precede.scores.covariance import covariance

LOOK = 1000
"""Iterations between two looks at the objective: a record of the history, a step of the bar, the clock."""


@dataclass(frozen=True)
class DescentLook:
    """The objective after so many iterations; ``stage`` counts the problems that are solved one after another."""

    iteration: int
    stage: int
    objective: float


class Adam:
    """Torch's Adam on a matrix of NumPy.

    Parameters
    ----------
    weights : (d, d) float array
        Changed in place.
    rate : float
    betas : (float, float)
    """

    def __init__(self, weights: FloatArray, rate: float, betas: tuple[float, float]) -> None:
        self.parameter = torch.nn.Parameter(torch.from_numpy(weights))
        self.optimizer = torch.optim.Adam([self.parameter], rate, betas, fused=True)

    def step(self, slope: FloatArray) -> None:
        """Move against the slope."""
        self.parameter.grad = torch.from_numpy(slope)
        self.optimizer.step()


UNEQUAL = Assumptions("linear", gaussian="assumed", form="a weighted sum of its causes")
EQUAL = UNEQUAL.with_equal_variances()


class GOLEM(WeightedMethod):
    r"""GOLEM (Ng, Ghassami and Zhang 2020): likelihood with soft penalties for density and cycles.

    .. math:: \min_W L(W; X) + \lambda_1 \|W\|_1 + \lambda_2 (\operatorname{tr} e^{W \circ W} - d)

    with :math:`L = \frac d2 \log \|X - XW\|_F^2 - \log|\det(I - W)|` for equal noise variances (GOLEM-EV) and
    :math:`L = \frac12 \sum_j \log \|x_j - X w_j\|^2 - \log|\det(I - W)|` for any (GOLEM-NV, which starts from the
    solution of GOLEM-EV). Deterministic.

    Parameters
    ----------
    max_time : float, optional
        Seconds; the weights so far are thresholded when they are over.
    verbose : bool
        Show progress.
    threshold : float
        Weights smaller than this, in absolute value, are dropped.
    noise : "equal" or "unequal"
    lambda1, lambda2 : float
        Weights of the l1 penalty and of the acyclicity; "auto" is the authors' :math:`\lambda_1`, 0.02 for equal and
        0.002 for unequal variances.
    n_iterations : int
        Of Adam; as many again for the start of GOLEM-NV.
    learning_rate : float

    Notes
    -----
    Deviations from the authors' program: the likelihood and its gradient come from the d x d covariance, in double
    precision; and where the thresholded graph still has a cycle the threshold is raised to the smallest value that
    leaves none. On standardized columns GOLEM-EV has lost what tells directions.

    References
    ----------
    Ng, Ghassami, Zhang: On the role of sparsity and DAG constraints for learning linear DAGs. NeurIPS 2020.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.normal(size=500)
    >>> X = np.column_stack([2 * cause + rng.normal(size=500), cause])
    >>> GOLEM(n_iterations=3000, verbose=False).fit(X).causal_order_
    [1, 0]
    """

    assumes = EQUAL

    noise: Literal["equal", "unequal"] = "equal"
    lambda1: NotNegative | Literal["auto"] = "auto"
    lambda2: NotNegative = 5.0
    n_iterations: Count = 100_000
    learning_rate: Positive = 1e-3

    def _learn(self, table: Table) -> FitResult:
        weights, deadline = np.zeros((table.n_variables, table.n_variables)), Deadline(self.max_time)
        stages: list[Literal["equal", "unequal"]] = ["equal"] if self.noise == "equal" else ["equal", "unequal"]
        objectives = [golem_objective(covariance(table.values), noise, *self._penalties(noise)) for noise in stages]

        def looks() -> Iterator[DescentLook]:
            for stage, objective in enumerate(objectives):
                adam = Adam(weights, self.learning_rate, (0.9, 0.999))
                for iteration in range(1, int(self.n_iterations) + 1):
                    value, slope = objective(weights)
                    adam.step(slope)
                    if iteration % LOOK == 0 or iteration == self.n_iterations:
                        yield DescentLook(stage * int(self.n_iterations) + iteration, stage, value)
                        if deadline.passed():
                            return

        history = self._watch("GOLEM", len(stages) * int(self.n_iterations), looks(), "objective")
        found = self._kept(weights, -objectives[-1](weights)[0], history, DescentLook, h=acyclicity(weights)[0])
        return replace(found, assumes=EQUAL if self.noise == "equal" else UNEQUAL)

    def _penalties(self, noise: Literal["equal", "unequal"]) -> tuple[float, float]:
        usual = 0.02 if noise == "equal" else 0.002
        own = usual if self.lambda1 == "auto" or noise != self.noise else float(self.lambda1)
        return own, self.lambda2


def golem_objective(
    moments: FloatArray, noise: Literal["equal", "unequal"], lambda1: float, lambda2: float
) -> ValueAndGradient:
    r"""Objective of GOLEM and its gradient in W, from the covariance S: the residuals have :math:`(I-W)^T S (I-W)`.

    A constant of the number of rows is left out.
    """
    d = len(moments)

    def objective(weights: FloatArray) -> tuple[float, FloatArray]:
        rest = np.eye(d) - weights
        pulled = moments @ rest
        residual = (rest * pulled).sum(axis=0)  # variance of each residual
        if noise == "equal":
            fit, slope = 0.5 * d * np.log(residual.sum()), -d * pulled / residual.sum()
        else:
            fit, slope = 0.5 * np.log(residual).sum(), -pulled / residual
        h, h_slope = acyclicity(weights)
        value = fit - np.linalg.slogdet(rest)[1] + lambda1 * np.abs(weights).sum() + lambda2 * h
        slope = slope + np.linalg.inv(rest).T + lambda1 * np.sign(weights) + lambda2 * h_slope
        np.fill_diagonal(slope, 0.0)  # nothing causes itself
        return float(value), slope

    return objective


LEVELS = (1.0, 0.9, 0.8, 0.7, 0.6)
"""The s of each stage of DAGMA (the authors' program)."""

CENTRAL_PATH = 0.1
"""Factor on the weight of the score from stage to stage (the same)."""

SMALLEST_RATE, TOLERANCE = 1e-16, 1e-6
"""Where the search of a step within the domain ends, and the relative change that ends a stage (the same)."""

OUTSIDE = 1e-16
"""An inverse of an M-matrix has no entry below zero; rounding may have (the same)."""


class DAGMA(WeightedMethod):
    r"""DAGMA (Bello, Aragam and Ravikumar 2022): acyclicity as a log-determinant, along a central path.

    .. math:: \min_W \mu (\ell(W; X) + \lambda_1 \|W\|_1) + h_s(W), \qquad
              h_s(W) = -\log\det(sI - W \circ W) + d \log s

    for :math:`\mu = 1, 0.1, \ldots`, each stage from the solution of the one before, within the domain where
    :math:`sI - W \circ W` is an M-matrix. Deterministic.

    Parameters
    ----------
    max_time : float, optional
        Seconds; the weights so far are thresholded when they are over.
    verbose : bool
        Show progress.
    threshold : float
        Weights smaller than this, in absolute value, are dropped.
    loss : {"l2", "logistic", "poisson"}
        As of :class:`NOTEARS`.
    lambda1 : float
        Weight of the l1 penalty.
    warm_iterations, max_iterations : int
        Most iterations of Adam in each of the first four stages, and in the last.
    learning_rate : float

    Notes
    -----
    Deviations from the authors' program: where the thresholded graph still has a cycle the threshold is raised to the
    smallest value that leaves none. Like NOTEARS it profits from unequal variances: look at it on standardized data
    too.

    References
    ----------
    Bello, Aragam, Ravikumar: DAGMA: learning DAGs via M-matrices and a log-determinant acyclicity characterization.
    NeurIPS 2022.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.normal(size=500)
    >>> X = np.column_stack([2 * cause + rng.normal(size=500), cause])
    >>> DAGMA(warm_iterations=2000, max_iterations=2000, verbose=False).fit(X).causal_order_
    [1, 0]
    """

    assumes = Assumptions("linear", equal_variances=True, form="a weighted sum of its causes")

    loss: Loss = "l2"
    lambda1: NotNegative = 0.03
    warm_iterations: Count = 30_000
    max_iterations: Count = 60_000
    learning_rate: Positive = 3e-4

    def _learn(self, table: Table) -> FitResult:
        loss, deadline = linear_loss(self.loss, table), Deadline(self.max_time)
        weights = np.zeros((table.n_variables, table.n_variables))

        def looks() -> Iterator[DescentLook]:
            for stage, s in enumerate(LEVELS):
                start, rate, inside = weights.copy(), self.learning_rate, False
                while not inside and not deadline.passed():
                    weights[:] = start
                    inside = yield from self._stage(weights, loss, stage, s, rate, deadline)
                    s, rate = s + 0.1, rate / 2

        history = self._watch("DAGMA", None, looks(), "stage", "objective")
        score = -(loss(weights)[0] + self.lambda1 * float(np.abs(weights).sum()))
        return self._kept(weights, score, history, DescentLook, h=acyclicity(weights)[0])

    def _stage(
        self, weights: FloatArray, loss: ValueAndGradient, stage: int, s: float, rate: float, deadline: Deadline
    ) -> Generator[DescentLook, None, bool]:
        r"""Descend with one :math:`\mu`; returns whether it stayed within the domain of s."""
        mu, last = CENTRAL_PATH**stage, stage == len(LEVELS) - 1
        n_iterations = int(self.max_iterations if last else self.warm_iterations)
        scaled, before, previous = s * np.eye(len(weights)), weights.copy(), np.inf
        adam = Adam(weights, rate, (0.99, 0.999))
        for iteration in range(1, n_iterations + 1):
            while (inverse := np.linalg.inv(scaled - weights**2)).min() < -OUTSIDE:
                if iteration == 1 or s <= LEVELS[1]:
                    return False
                weights[:] = (before + weights) / 2  # half of the step that led outside
                rate /= 2
                if rate <= SMALLEST_RATE:
                    return True
                adam.optimizer.param_groups[0]["lr"] = rate
            slope = mu * (loss(weights)[1] + self.lambda1 * np.sign(weights)) + 2 * weights * inverse.T
            np.fill_diagonal(slope, 0.0)  # nothing causes itself
            before[:] = weights
            adam.step(slope)
            if iteration % LOOK == 0 or iteration == n_iterations:
                penalized = loss(weights)[0] + self.lambda1 * float(np.abs(weights).sum())
                h = len(weights) * np.log(s) - np.linalg.slogdet(scaled - weights**2)[1]
                objective = float(mu * penalized + h)
                yield DescentLook(iteration, stage, objective)
                if deadline.passed() or abs(previous - objective) <= TOLERANCE * abs(previous) < np.inf:
                    return True
                previous = objective
        return True
