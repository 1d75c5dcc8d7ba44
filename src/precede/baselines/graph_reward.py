r"""BIC and reward of whole directed graphs, in batches, from the covariance alone (Zhu, Ng and Chen, ICLR 2020)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import torch

from precede.arrays import BoolArray, FloatArray
from precede.baselines.acyclicity import exponential_acyclicity
from precede.errors import check_choice
from precede.scores.assumptions import Assumptions
from precede.scores.covariance import covariance
from precede.scores.gp import GPScore

Noise = Literal["equal", "unequal"]

SCORE_RANGE = 5.0
"""Scores are mapped to [0, 5] between the complete and the empty graph (the authors' program)."""

CACHE_ENTRIES = 500_000
"""Residual variances that are kept, about 100 bytes each; the cache is emptied when it is full."""


class GraphBIC:
    r"""BIC of linear Gaussian models over directed graphs, cyclic ones included; lower is better.

    With :math:`\mathrm{RSS}_j` of the regression of j on its parents and :math:`|E|` edges, divided by m (by
    m d where the variances are equal):

    - equal variances (RL-BIC2): :math:`\log(\sum_j \mathrm{RSS}_j / (m d)) + |E| \log(m) / (m d)`;
    - unequal (RL-BIC): :math:`\sum_j \log(\mathrm{RSS}_j / m) + |E| \log(m) / m`.

    All regressions of all graphs of a batch are one batched Cholesky factorization of masked correlation matrices, as
    large as the largest parent set. Results are kept by (variable, parents).

    Parameters
    ----------
    values : (n_samples, n_variables) float array
    noise : "equal" or "unequal"
    device : torch.device

    Examples
    --------
    >>> values = np.array([[1.0, 0.0], [-1.0, 2.0], [1.0, 2.0], [-1.0, 0.0]])
    >>> bic = GraphBIC(values, "equal", torch.device("cpu"))
    >>> bic.scores(np.zeros((1, 2, 2), dtype=bool))  # two variances of one
    array([0.])
    """

    def __init__(self, values: FloatArray, noise: Noise, device: torch.device) -> None:
        check_choice("noise", noise, get_args(Noise))
        self.n_samples, self.n_variables = values.shape
        self.noise = noise
        matrix = covariance(values)
        self.variances: FloatArray = np.diag(matrix).copy()
        scale = np.sqrt(self.variances)
        self._correlation = torch.tensor(matrix / np.outer(scale, scale), device=device)
        self._known: dict[bytes, float] = {}

    def scores(self, graphs: BoolArray) -> FloatArray:
        """BIC of each graph, (batch,); ``graphs[k, i, j]`` means i -> j in graph k."""
        return self._total(self.residual_variances(graphs), graphs.sum(axis=1))

    def _total(self, residual: FloatArray, n_parents: np.ndarray) -> FloatArray:
        """BIC from residual variances and numbers of parents, both (..., n_variables)."""
        price = math.log(self.n_samples) / self.n_samples
        if self.noise == "equal":
            result: FloatArray = np.log(residual.mean(axis=-1)) + n_parents.mean(axis=-1) * price
        else:
            result = np.log(residual).sum(axis=-1) + n_parents.sum(axis=-1) * price
        return result

    def differences(self, graphs: BoolArray) -> FloatArray:
        """How much each variable's parents raise its graph's BIC over the batch's average parents for it, (batch, d).

        The comparison keeps the parents of all other variables. As a baseline it depends on the judged choice only
        through that choice's share of the batch average, so the policy gradient is biased by one part in the batch.
        """
        residual, n_parents = self.residual_variances(graphs), graphs.sum(axis=1)
        own = np.eye(self.n_variables, dtype=bool)
        other_residual = np.where(own, residual.mean(axis=0), residual[:, None, :])  # shape: (batch, judged, d)
        other_parents = np.where(own, n_parents.mean(axis=0), n_parents[:, None, :])
        return self._total(residual, n_parents)[:, None] - self._total(other_residual, other_parents)

    def residual_variances(self, graphs: BoolArray) -> FloatArray:
        """Variance of each variable given its parents, (batch, n_variables)."""
        batch, d, _ = graphs.shape
        parents = graphs.transpose(0, 2, 1).reshape(-1, d)  # transposed: a row per effect
        targets = np.tile(np.arange(d), batch)
        keys = [
            bits.tobytes() + target.tobytes()
            for bits, target in zip(np.packbits(parents, axis=1), targets.astype(np.int32), strict=True)
        ]
        wanted = {key: row for row, key in enumerate(keys) if key not in self._known}
        if wanted:
            if len(self._known) + len(wanted) > CACHE_ENTRIES:
                self._known.clear()
                wanted = {key: row for row, key in enumerate(keys)}
            rows = np.fromiter(wanted.values(), dtype=np.int64, count=len(wanted))
            self._known.update(zip(wanted, self._regress(parents[rows], targets[rows]).tolist(), strict=True))
        shares = np.array([self._known[key] for key in keys]).reshape(batch, d)
        return shares * self.variances

    def _regress(self, parents: BoolArray, targets: np.ndarray) -> FloatArray:
        """Share of variance left after regressing each target on its parents; (n, d) masks, (n,) targets."""
        most = max(1, int(parents.sum(axis=1).max()))
        listed = torch.from_numpy(np.argsort(~parents, axis=1, kind="stable")[:, :most]).to(self._correlation.device)
        present = torch.from_numpy(np.arange(most) < parents.sum(axis=1)[:, None]).to(listed.device)
        target = torch.from_numpy(targets).to(listed.device)
        gram = self._correlation[listed[:, :, None], listed[:, None, :]]
        both = present[:, :, None] & present[:, None, :]
        gram = torch.where(both, gram, torch.eye(most, dtype=gram.dtype, device=gram.device))
        cross = self._correlation[listed, target[:, None]] * present
        factor = torch.linalg.cholesky_ex(gram)[0]
        explained = torch.linalg.solve_triangular(factor, cross[..., None], upper=False).square().sum(dim=(1, 2))
        result: FloatArray = (1.0 - explained).clamp(min=1e-12).cpu().numpy()
        return result


class GPGraphBIC(GraphBIC):
    """The same with Gaussian process regression on the parents, as in :class:`precede.scores.gp.GPScore`."""

    def __init__(self, values: FloatArray, noise: Noise, device: torch.device) -> None:
        super().__init__(values, noise, device)
        self._gp = GPScore(values, noise=noise, device=device)

    def _regress(self, parents: BoolArray, targets: np.ndarray) -> FloatArray:
        sets, places = np.unique(parents, axis=0, return_inverse=True)  # one factor serves all effects of a set
        left = self._gp.residual_variances(sets)[places.ravel(), targets] / self.variances[targets]
        result: FloatArray = np.clip(left, 1e-12, None)
        return result


@dataclass(frozen=True)
class JudgedGraphs:
    r"""What :class:`GraphReward` says of a batch of graphs; (batch,) arrays, and (batch, d, d) for ``credits``.

    ``credits[k, i, j]`` shares the reward of graph k out to the choice whether i -> j: the part of the score that is
    owed to j's parents, and :math:`\lambda_1` where the edge lies on a cycle.
    """

    scores: FloatArray
    acyclicity: FloatArray
    cyclic: BoolArray
    rewards: FloatArray
    credits: FloatArray


def on_cycles(graphs: BoolArray) -> BoolArray:
    """Edges that lie on a directed cycle, for each graph of a batch, (batch, d, d).

    An edge i -> j does if and only if a path leads from j to i; paths are found by squaring, all graphs at once.

    Examples
    --------
    >>> on_cycles(np.array([[[0, 1, 1], [1, 0, 0], [0, 0, 0]]], dtype=bool)).astype(int)
    array([[[0, 1, 0],
            [1, 0, 0],
            [0, 0, 0]]])
    """
    d = graphs.shape[1]
    paths = (graphs | np.eye(d, dtype=bool)).astype(np.float32)
    for _ in range(math.ceil(math.log2(max(d, 2)))):
        paths = np.minimum(paths @ paths, 1.0)
    result: BoolArray = graphs & (paths.transpose(0, 2, 1) > 0)
    return result


class GraphReward:
    r"""Reward :math:`-[\mathcal S(G) + \lambda_1 1(G \text{ cyclic}) + \lambda_2 h(A)]` of Zhu et al.

    :math:`\mathcal S` is the BIC mapped to [0, 5], 0 for the complete graph (cyclic, so a lower bound) and 5 for the
    empty one; :math:`h(A) = \operatorname{tr} e^A - d`.

    The weights follow their schedule: :math:`\lambda_1` grows from zero, step by step, up to the score of the best
    DAG so far, which makes that DAG better than any cyclic graph; :math:`\lambda_2` grows tenfold
    from :math:`10^{-\operatorname{round}(d / 3)}` up to 0.01.

    Parameters
    ----------
    bic : GraphBIC
    cycle_step : float
        How much :math:`\lambda_1` grows at a time; the authors' program has 1.

    Deviation from the authors' program: a graph is cyclic when it has a cycle, not when h(A) > 1e-5, which a single
    cycle through ten variables does not reach.
    """

    def __init__(self, bic: GraphBIC, cycle_step: float = 1.0) -> None:
        d = bic.n_variables
        self.bic = bic
        nothing = np.zeros((1, d, d), dtype=bool)
        complete = ~np.eye(d, dtype=bool)[None]
        self._lowest = self._fit_only(complete)
        self._range = max(self._fit_only(nothing) - self._lowest, 1e-12)
        self.cycle_step = cycle_step
        self.cycle_weight, self.cycle_bound = 0.0, SCORE_RANGE  # lambda_1
        self.acyclicity_weight, self.acyclicity_bound = 10.0 ** -round(d / 3), 0.01  # lambda_2

    def _fit_only(self, graphs: BoolArray) -> float:
        """BIC without the price of the parameters, as in the authors' bounds."""
        residual = self.bic.residual_variances(graphs)
        return float(np.log(residual.mean()) if self.bic.noise == "equal" else np.log(residual).sum())

    def judge(self, graphs: BoolArray) -> JudgedGraphs:
        """Score, acyclicity and reward of each graph under the present weights."""
        scores = (self.bic.scores(graphs) - self._lowest) / self._range * SCORE_RANGE
        in_cycle = on_cycles(graphs)
        cyclic = np.asarray(in_cycle.any(axis=(1, 2)))
        h = np.zeros(len(graphs))  # what it is for a DAG
        h[cyclic] = exponential_acyclicity(torch.from_numpy(graphs[cyclic].astype(np.float64))).numpy()
        penalty = self.cycle_weight * cyclic + self.acyclicity_weight * h
        shares = self.bic.differences(graphs) / self._range * SCORE_RANGE
        credits = -(shares[:, None, :] + self.cycle_weight * in_cycle)
        return JudgedGraphs(scores, h, cyclic, -(scores + penalty), credits)

    def tighten(self, best_dag_score: float) -> None:
        """Raise the weights; ``best_dag_score`` is infinite while no DAG has been seen."""
        self.cycle_bound = min(self.cycle_bound, best_dag_score)
        self.cycle_weight = min(self.cycle_weight + self.cycle_step, self.cycle_bound)
        self.acyclicity_weight = min(self.acyclicity_weight * 10.0, self.acyclicity_bound)


class GraphSearch:
    """Remembers the best graph: a DAG by its score, and until one is drawn, the graph of the highest reward."""

    def __init__(self, reward: GraphReward) -> None:
        d = reward.bic.n_variables
        self.reward = reward
        self.graph: BoolArray = np.zeros((d, d), dtype=bool)
        self.best_score = math.inf
        self.found_at = 0
        self._best_reward = -math.inf

    def judge(self, graphs: BoolArray, iteration: int) -> JudgedGraphs:
        """Judge a batch and keep what is best in it."""
        judged = self.reward.judge(graphs)
        dag_scores = np.where(judged.cyclic, np.inf, judged.scores)
        best = int(dag_scores.argmin())
        if dag_scores[best] < self.best_score:
            self.graph, self.best_score, self.found_at = graphs[best], float(dag_scores[best]), iteration
        elif math.isinf(self.best_score) and judged.rewards.max() > self._best_reward:
            best = int(judged.rewards.argmax())
            self.graph, self._best_reward, self.found_at = graphs[best], float(judged.rewards[best]), iteration
        return judged


def assumed_by(regression: str, noise: Noise) -> Assumptions:
    """What the reward takes for granted.

    Examples
    --------
    >>> assumed_by("linear", "equal").words
    'Every variable is a weighted sum of its causes plus Gaussian noise, of the same variance everywhere.'
    """
    curved = regression == "gp"
    form = "smooth function" if curved else "weighted sum"
    assumed = Assumptions(
        "additive" if curved else "linear", False, "assumed", curved,
        f"Every variable is a {form} of its causes plus Gaussian noise.",
    )  # fmt: skip
    return assumed.with_equal_variances() if noise == "equal" else assumed
