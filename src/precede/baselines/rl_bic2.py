"""RL-BIC2: a policy that writes whole graphs, rewarded by BIC and acyclicity (Zhu, Ng and Chen, ICLR 2020)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import torch
from torch import nn

from precede.arrays import BoolArray
from precede.baselines.acyclicity import strongest_dag
from precede.baselines.graph_policy import GraphPolicy, per_entry, surprise_and_entropy
from precede.baselines.graph_reward import (
    GPGraphBIC,
    GraphBIC,
    GraphReward,
    GraphSearch,
    Noise,
    assumed_by,
)
from precede.data.table import Table, standardized_table
from precede.errors import OptionError
from precede.estimator import CausalEstimator, Findings
from precede.options import Count, NotNegative, Options, Positive, Share
from precede.policy.encoders import NormalizationName
from precede.policy.inputs import FixedInputs, InputsName, ResampledInputs
from precede.pruning.cam import prune_by_gam
from precede.pruning.weights import regression_weights
from precede.runtime.deadline import Deadline
from precede.runtime.device import DeviceName, choose_device
from precede.runtime.progress import ProgressBar
from precede.runtime.randomness import RandomState, initial_weights, numpy_rng, torch_generator
from precede.scores.covariance import covariance, regularized

BASELINE_DECAY = 0.99
"""Of the moving average of the reward, in the authors' program."""

RATE_DECAY, RATE_DECAY_STEPS = 0.96, 5000
"""The learning rate falls by this factor in this many iterations, in the authors' program."""

PAPER_SETTINGS: Options = {
    "inputs": "resample",
    "normalization": "batch",
    "bias": None,
    "learning_rate": 1e-3,
    "entropy_weight": 1e-3,
    "credit": "graph",
    "cycle_step": 1.0,
    "update_every": 1000,
    "patience": None,
}
"""Where the authors' program differs from the defaults here."""

PAPER_SETTINGS_30: Options = {"bias": -10.0, "batch_size": 128, "n_samples": 128, "n_iterations": 40_000}
"""What the authors' command for 30 variables adds."""

PAPER_SETTINGS_GP: Options = {"regression": "gp", "standardize": True, "n_samples": 128}
"""What the authors' commands for nonlinear and real data add."""

CYCLE_STEP = 0.3
"""With ``cycle_step="auto"``, the growth of the cycle weight per update times the number of variables."""

FIRST_EDGES = 0.2
"""Expected edges per variable of the first graphs with ``bias="auto"``; the authors' -10 at 30 variables draws none."""


@dataclass(frozen=True)
class GraphIteration:
    """One iteration: means over the graphs drawn, the best score so far, and the weights of the penalties."""

    iteration: int
    reward: float
    best_score: float
    edges: float
    cyclic: float
    cycle_weight: float
    acyclicity_weight: float


class RLBIC2(CausalEstimator):
    r"""RL-BIC2 (Zhu et al. 2020): reinforcement learning over directed graphs.

    Each iteration draws graphs from the policy, rewards them by
    :math:`-[\mathcal S(G) + \lambda_1 1(G \text{ cyclic}) + \lambda_2 h(A)]` (see
    :class:`~precede.baselines.graph_reward.GraphReward`) and takes one actor-critic step with an entropy bonus.
    The best DAG ever drawn is kept, and edges whose regression weight is at most ``threshold`` are
    pruned.

    Parameters
    ----------
    noise : "equal" or "unequal"
        Equal noise variances (RL-BIC2) or one per variable (RL-BIC).
    regression : "linear" or "gp"
        How a variable is explained by its parents; with Gaussian processes (the authors' ``reg_type=GPR``) the graph is
        pruned by additive models at ``cutoff``.
    standardize : bool
        Give every column mean zero and variance one first, as the authors' ``--normalize`` does.
    n_iterations : int
        Most iterations.
    batch_size : int
        Graphs per iteration.
    n_samples : int
        Rows of the data that the encoder sees at a time.
    inputs : "fixed" or "resample"
        The same rows throughout, or new ones for each graph (the paper).
    width, n_heads, n_blocks, decoder_width : int
        Size of the encoder and of the decoder's hidden layer.
    normalization : "layer" or "batch"
        Of the encoder; "batch" is the authors' encoder, and the one to take with resampled inputs.
    bias : float, "auto" or None
        Start of a learned bias on all logits, to start from sparse graphs; "auto" starts from one edge for every five
        variables (the authors: -10 at 30 variables, else None).
    learning_rate : float
        Of Adam, for actor and critic; decays by 4% every 5000 iterations.
    entropy_weight : float
        Weight of the entropy bonus, per edge (the authors: the learning rate, which decays).
    credit : "edge" or "graph"
        What the choice of an edge is rewarded by: the score's change through its effect's parents, and
        :math:`\lambda_1` if the edge lies on a cycle; or the reward of the whole graph, less average and critic (the
        paper).
    cycle_step : float or "auto"
        Growth of :math:`\lambda_1` per update (the authors: 1); "auto" is 0.3 over the number of variables, because an
        edge's share of the score shrinks with it.
    update_every : int
        Iterations between two updates of the penalty weights.
    patience : int or None
        Stop when most graphs are DAGs and the best one has not changed for as many iterations; None never does.
    threshold : float
        Edges need a larger absolute regression weight; with ``noise="unequal"``, where units mean nothing, that between
        standardized columns.
    cutoff : float
        Largest p-value of an edge that stays, with ``regression="gp"``.
    max_time : float or None
        Seconds after which the best graph is taken.
    device : str
        "auto", "cpu" or "cuda".
    random_state : int, Generator or None
    verbose : bool

    Attributes
    ----------
    score_ : float
        Minus the BIC of the best DAG before pruning, per sample (and per variable with equal variances).
    history_ : DataFrame
        One row per iteration: ``iteration``, ``reward`` (mean), ``best_score`` (of the best DAG so far, mapped to
        [0, 5], lower is better), ``edges`` (mean), ``cyclic`` (share), ``cycle_weight``, ``acyclicity_weight``.
    diagnostics_ : dict
        ``converged_at`` (the iteration that found the result), ``n_iterations``, ``edges_before_pruning``, ``repaired``
        (whether no DAG was drawn, and cycles had to be broken by raising the threshold), ``seconds``.

    Notes
    -----
    Deviations from the paper and the authors' program:

    - Layer normalization instead of batch normalization, and fixed inputs that all graphs of a batch share. (From
      resampled inputs the policy was seen to learn with batch normalization only.)
    - With ``credit="edge"`` an edge is rewarded by what it does, not by what the whole graph gets. The score's part is
      the paper's gradient with a baseline per variable, with far less noise (see
      :meth:`~precede.baselines.graph_reward.GraphBIC.differences`); the penalty is another one: it is put on the
      edges of the cycles alone, so that it teaches even while all graphs are cyclic, and :math:`\lambda_2` is not used.
    - :math:`\lambda_1` then grows in small steps: of two edges that close a cycle, the one that explains less goes; and
      advantages are standardized over the batch, without a critic.
    - ``patience`` stops.

    :meth:`paper` undoes all of these. What differs even there: a graph is cyclic when it has a cycle, and not by its
    h(A); :math:`\lambda_1` is bounded by the best DAG drawn so far, theirs only while that DAG has the highest reward;
    actor and critic take one common step, with one bound on the norm of their whole gradient.

    References
    ----------
    Zhu, Ng, Chen: Causal discovery with reinforcement learning. ICLR 2020.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.normal(size=500)
    >>> X = np.column_stack([cause, 2 * cause + rng.normal(size=500)])
    >>> RLBIC2(n_iterations=30, verbose=False, random_state=0).fit(X).graph_
    CausalGraph(2 variables, 1 edge: 0 -> 1)
    """

    noise: Noise = "equal"
    regression: Literal["linear", "gp"] = "linear"
    standardize: bool = False
    n_iterations: Count = 20_000
    batch_size: Count = 64
    n_samples: Count = 64
    inputs: InputsName = "fixed"
    width: Count = 64
    n_heads: Count = 16
    n_blocks: Count = 6
    decoder_width: Count = 16
    normalization: NormalizationName = "layer"
    bias: float | Literal["auto"] | None = "auto"
    learning_rate: Positive = 3e-4
    entropy_weight: NotNegative = 0.05
    credit: Literal["edge", "graph"] = "edge"
    cycle_step: Positive | Literal["auto"] = "auto"
    update_every: Count = 20
    patience: Count | None = 500
    threshold: NotNegative = 0.3
    cutoff: Share = 0.001
    max_time: Positive | None = None
    device: DeviceName = "auto"
    random_state: RandomState = None
    verbose: bool = True

    @classmethod
    def paper(cls, **options: Any) -> Self:
        """The settings of the authors' program (``PAPER_SETTINGS``); any option may be given on top.

        Their runs of 30 variables add ``PAPER_SETTINGS_30``.
        """
        return cls(**PAPER_SETTINGS | options)

    def _learn(self, table: Table) -> Findings:
        deadline = Deadline(self.max_time)
        device = choose_device(self.device)
        rng = numpy_rng(self.random_state)
        step = CYCLE_STEP / table.n_variables if self.cycle_step == "auto" else self.cycle_step
        table = standardized_table(table) if self.standardize else table
        bic = GPGraphBIC if self.regression == "gp" else GraphBIC
        reward = GraphReward(bic(table.values, self.noise, device), step)
        search = GraphSearch(reward)
        history: list[GraphIteration] = []
        with ProgressBar("RL-BIC2", int(self.n_iterations), self.verbose) as bar:
            for record in self._train(table, search, rng, device, deadline):
                history.append(record)
                bar.update(record.iteration, reward=record.reward, best_score=record.best_score, cyclic=record.cyclic)
        weights = regression_weights(regularized(covariance(table.values)), np.arange(table.n_variables), search.graph)
        scale = table.values.std(axis=0) if self.noise == "unequal" else np.ones(table.n_variables)
        least = 0.0 if self.regression == "gp" else self.threshold
        edges, threshold = strongest_dag(weights * scale[:, None] / scale, least)
        if self.regression == "gp":
            pruned = prune_by_gam(table.values, edges, cutoff=self.cutoff)
            edges, weights = pruned.edges, pruned.strengths
        return Findings(
            edges,
            weights=weights * edges,
            score=-float(reward.bic.scores(search.graph[None])[0]),
            history=history,
            step=GraphIteration,
            diagnostics={
                "converged_at": search.found_at,
                "n_iterations": len(history),
                "edges_before_pruning": int(search.graph.sum()),
                "repaired": threshold > least,
                "seconds": deadline.elapsed(),
            },
            assumes=assumed_by(self.regression, self.noise),
        )

    def _check_together(self) -> None:
        if self.width % self.n_heads:
            raise OptionError(f"n_heads={self.n_heads!r} cannot be used: it must divide width={self.width!r}.")

    def _build(
        self, table: Table, rng: np.random.Generator, device: torch.device
    ) -> tuple[FixedInputs | ResampledInputs, GraphPolicy]:
        """What the policy looks at, and the policy."""
        source: FixedInputs | ResampledInputs
        if self.inputs == "fixed":
            source = FixedInputs(table.values, int(self.n_samples), rng, device)
        else:
            source = ResampledInputs(table.values, int(self.n_samples), torch_generator(rng), device)
        share = FIRST_EDGES / max(table.n_variables - 1, 1)
        bias = math.log(share / (1 - share)) if self.bias == "auto" else self.bias
        with initial_weights(rng):
            policy = GraphPolicy(
                source.n_inputs, int(self.width), int(self.n_heads), int(self.n_blocks), int(self.decoder_width),
                bias, self.normalization,
            ).to(device)  # fmt: skip
        return source, policy

    def _train(
        self, table: Table, search: GraphSearch, rng: np.random.Generator, device: torch.device, deadline: Deadline
    ) -> Iterator[GraphIteration]:
        """Actor-critic loop; yields one record per iteration."""
        d = table.n_variables
        source, policy = self._build(table, rng, device)
        generator = torch_generator(rng, device)
        adam = torch.optim.Adam(policy.parameters(), lr=self.learning_rate, betas=(0.9, 0.99), eps=1e-7, fused=True)
        possible = ~torch.eye(d, dtype=torch.bool, device=device)
        average = -1.0  # the authors' first baseline
        for iteration in range(1, int(self.n_iterations) + 1):
            logits, value = policy(source.draw(int(self.batch_size)))
            logits = logits.expand(int(self.batch_size), d, d)
            draws = torch.rand(logits.shape, generator=generator, device=device)
            drawn = (draws < torch.sigmoid(logits.detach())) & possible
            graphs: BoolArray = drawn.cpu().numpy()
            judged = search.judge(graphs, iteration)
            rewards = torch.tensor(judged.rewards, dtype=torch.float32, device=device)
            average += (1 - BASELINE_DECAY) * (float(judged.rewards.mean()) - average)

            if self.credit == "edge":
                gain = torch.tensor(judged.credits, dtype=torch.float32, device=device)  # shape: (batch, d, d)
                gain = gain - gain.mean(dim=0)
                advantage, critic_loss = gain / (gain.std() + 1e-8), rewards.new_zeros(())
            else:
                surplus = rewards - average - value
                advantage, critic_loss = surplus.detach()[:, None, None], surplus.square().mean()
            rate = self.learning_rate * RATE_DECAY ** (iteration / RATE_DECAY_STEPS)
            for group in adam.param_groups:
                group["lr"] = rate
            surprise, entropy = surprise_and_entropy(logits, drawn)
            adam.zero_grad()
            (per_entry(advantage * surprise) - self.entropy_weight * per_entry(entropy) + critic_loss).backward()
            nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
            adam.step()

            yield GraphIteration(
                iteration, float(judged.rewards.mean()), search.best_score, float(graphs.sum()) / len(graphs),
                float(judged.cyclic.mean()), search.reward.cycle_weight, search.reward.acyclicity_weight,
            )  # fmt: skip
            stale = self.patience is not None and iteration - search.found_at >= self.patience
            if deadline.passed() or (stale and judged.cyclic.mean() < 0.5):
                return
            if iteration == 1 or iteration % self.update_every == 0:
                search.reward.tighten(search.best_score)
