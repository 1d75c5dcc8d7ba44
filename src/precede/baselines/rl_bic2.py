"""RL-BIC2: a policy that writes whole graphs, rewarded by BIC and acyclicity (Zhu, Ng and Chen, ICLR 2020)."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import torch
from torch import Tensor, nn

from precede.arrays import BoolArray, FloatArray
from precede.baselines.iterative import NetworkMethod, exponential_acyclicity, strongest_dag
from precede.data.table import Table, standardized_table
from precede.errors import OptionError
from precede.estimator import FitResult
from precede.options import Count, NotNegative, Options, Positive, Share
from precede.policy.inputs import FixedInputs, InputsName, ResampledInputs
from precede.policy.networks import NormalizationName, TransformerEncoder
from precede.pruning.gam import prune_by_gam
from precede.pruning.weights import regression_weights
from precede.runtime import Deadline, initial_weights, torch_generator
from precede.scores.assumptions import Assumptions
from precede.scores.covariance import covariance, regularized
from precede.scores.gp import GPScore, MedianKernel
from precede.scores.predecessors import Noise


class GraphPolicy(nn.Module):
    r"""Encoder, single-layer decoder and critic of Zhu et al.

    The decoder's logit for an edge i -> j is :math:`u^T \tanh(W_1 e_i + W_2 e_j) + b`, e the encoded
    variables; edges are independent Bernoulli draws. The critic predicts the reward from the mean of e.
    """

    def __init__(self, encoder: TransformerEncoder, decoder_width: int, bias: float | None) -> None:
        super().__init__()
        self.encoder, width = encoder, encoder.embed.out_features
        self.cause = nn.Linear(width, decoder_width, bias=False)
        self.effect = nn.Linear(width, decoder_width, bias=False)
        self.combine = nn.Linear(decoder_width, 1, bias=False)
        self.bias = None if bias is None else nn.Parameter(torch.tensor(float(bias)))
        self.critic = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))
        for layer in (self.cause, self.effect, self.combine):
            nn.init.xavier_uniform_(layer.weight)

    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Edge logits (batch, d, d) with ``[k, i, j]`` for i -> j, and predicted rewards (batch,)."""
        states = self.encoder(inputs)
        logits = self.combine(torch.tanh(self.cause(states)[:, :, None] + self.effect(states)[:, None]))[..., 0]
        value = self.critic(states.mean(dim=1))[:, 0]
        return (logits if self.bias is None else logits + self.bias), value


def per_entry(values: Tensor) -> Tensor:
    """Mean over the batch and over the pairs of different variables."""
    d = values.shape[-1]
    off_diagonal = ~torch.eye(d, dtype=torch.bool, device=values.device)
    total: Tensor = (values * off_diagonal).sum(dim=(1, 2)).mean()
    return total / (d * max(d - 1, 1))


SCORE_RANGE, LARGEST_ACYCLICITY_WEIGHT = 5.0, 0.01
"""Scores are mapped to [0, 5] between the complete and the empty graph; where the second weight ends (the authors)."""

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
        self.n_samples, self.n_variables = values.shape
        self.noise = noise
        matrix = covariance(values)
        self.variances: FloatArray = np.diag(matrix).copy()
        scale = np.sqrt(self.variances)
        self._correlation = torch.tensor(matrix / np.outer(scale, scale), device=device)
        self._known: dict[bytes, float] = {}

    def scores(self, graphs: BoolArray) -> FloatArray:
        """BIC of each graph, (batch,); ``graphs[k, i, j]`` means i -> j in graph k."""
        return self.total(self.residual_variances(graphs), graphs.sum(axis=1))

    def total(self, residual: FloatArray, n_parents: np.ndarray) -> FloatArray:
        """BIC from residual variances and numbers of parents, both (..., n_variables)."""
        price = math.log(self.n_samples) / self.n_samples
        if self.noise == "equal":
            return np.asarray(np.log(residual.mean(axis=-1)) + n_parents.mean(axis=-1) * price)
        return np.asarray(np.log(residual).sum(axis=-1) + n_parents.sum(axis=-1) * price)

    def differences(self, graphs: BoolArray) -> FloatArray:
        """How much each variable's parents raise its graph's BIC over the batch's average parents for it, (batch, d).

        The comparison keeps the parents of all other variables. As a baseline it depends on the judged choice only
        through that choice's share of the batch average, so the policy gradient is biased by one part in the batch.
        """
        residual, n_parents = self.residual_variances(graphs), graphs.sum(axis=1)
        own = np.eye(self.n_variables, dtype=bool)
        other_residual = np.where(own, residual.mean(axis=0), residual[:, None, :])  # shape: (batch, judged, d)
        other_parents = np.where(own, n_parents.mean(axis=0), n_parents[:, None, :])
        return self.total(residual, n_parents)[:, None] - self.total(other_residual, other_parents)

    def residual_variances(self, graphs: BoolArray) -> FloatArray:
        """Variance of each variable given its parents, (batch, n_variables)."""
        batch, d, _ = graphs.shape
        parents = graphs.transpose(0, 2, 1).reshape(-1, d)  # transposed: a row per effect
        targets = np.tile(np.arange(d), batch)
        own = np.eye(d, dtype=bool)[targets]
        keys = [row.tobytes() for row in np.packbits(np.hstack([parents, own]), axis=1)]
        wanted = {key: row for row, key in enumerate(keys) if key not in self._known}
        if len(self._known) + len(wanted) > CACHE_ENTRIES:
            self._known.clear()
            wanted = {key: row for row, key in enumerate(keys)}
        if wanted:
            rows = list(wanted.values())
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
        return np.asarray((1.0 - explained).clamp(min=1e-12).cpu())


AUTHORS_KERNEL = MedianKernel(kernel_noise=1e-10)
"""The authors' regression is scikit-learn's, with its noise: parents are all but interpolated."""


class GPGraphBIC(GraphBIC):
    """The same with Gaussian process regression on the parents; one is added to each RSS, as the authors do.

    The regression is that of :class:`precede.scores.gp.GPScore` with :data:`AUTHORS_KERNEL`.
    """

    def __init__(self, values: FloatArray, noise: Noise, device: torch.device) -> None:
        super().__init__(values, noise, device)
        self._gp = GPScore(values, noise=noise, device=device, kernel=AUTHORS_KERNEL)

    def _regress(self, parents: BoolArray, targets: np.ndarray) -> FloatArray:
        sets, places = np.unique(parents, axis=0, return_inverse=True)  # one factor serves all effects of a set
        left = self._gp.residual_variances(sets)[places.ravel(), targets]
        return np.asarray((left + 1 / self.n_samples) / self.variances[targets])


@dataclass(frozen=True)
class JudgedGraphs:
    r"""What :class:`GraphReward` says of a batch of graphs; (batch,) arrays, and (batch, d, d) for ``credits``.

    ``credits[k, i, j]`` shares the reward of graph k out to the choice whether i -> j: the part of the score that is
    owed to j's parents, and :math:`\lambda_1` where the edge lies on a cycle.
    """

    scores: FloatArray
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
    return np.asarray(graphs & (paths.transpose(0, 2, 1) > 0))


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

    Attributes
    ----------
    best : (n_variables, n_variables) bool array
        The best DAG judged so far; until there is one, the graph of the highest reward.
    best_score : float
        Of that DAG; infinite while there is none.
    found_at : int
        The batch that it was in, from 1 on.

    Notes
    -----
    Deviation from the authors' program: a graph is cyclic when it has a cycle, not when h(A) > 1e-5, which a single
    cycle through ten variables does not reach.
    """

    def __init__(self, bic: GraphBIC, cycle_step: float = 1.0) -> None:
        d = bic.n_variables
        self.bic = bic
        nothing = np.zeros((d, d), dtype=bool)
        bounds = bic.residual_variances(np.stack([~np.eye(d, dtype=bool), nothing]))
        self._lowest, highest = bic.total(bounds, np.zeros((2, d)))  # without the price, as in the authors' program
        self._range = max(highest - self._lowest, 1e-12)
        self.cycle_step = cycle_step
        self.cycle_weight, self.cycle_bound = 0.0, SCORE_RANGE  # lambda_1
        self.acyclicity_weight = 10.0 ** -round(d / 3)  # lambda_2
        self.best: BoolArray = nothing
        self.best_score, self._best_reward = math.inf, -math.inf
        self.found_at = self._judged = 0

    def judge(self, graphs: BoolArray) -> JudgedGraphs:
        """Score and reward of each graph under the present weights; the best one is kept."""
        scores = (self.bic.scores(graphs) - self._lowest) / self._range * SCORE_RANGE
        in_cycle = on_cycles(graphs)
        cyclic = np.asarray(in_cycle.any(axis=(1, 2)))
        h = np.zeros(len(graphs))  # what it is for a DAG
        h[cyclic] = exponential_acyclicity(torch.from_numpy(graphs[cyclic].astype(np.float64))).numpy()
        penalty = self.cycle_weight * cyclic + self.acyclicity_weight * h
        shares = self.bic.differences(graphs) / self._range * SCORE_RANGE
        credits = -(shares[:, None, :] + self.cycle_weight * in_cycle)
        judged = JudgedGraphs(scores, cyclic, -(scores + penalty), credits)
        self._judged += 1
        dag_scores = np.where(cyclic, np.inf, scores)
        best, most = int(dag_scores.argmin()), int(judged.rewards.argmax())
        if dag_scores[best] < self.best_score:
            self.best, self.best_score, self.found_at = graphs[best], float(dag_scores[best]), self._judged
        elif math.isinf(self.best_score) and judged.rewards[most] > self._best_reward:
            self.best, self._best_reward, self.found_at = graphs[most], float(judged.rewards[most]), self._judged
        return judged

    def tighten(self) -> None:
        """Raise the weights."""
        self.cycle_bound = min(self.cycle_bound, self.best_score)
        self.cycle_weight = min(self.cycle_weight + self.cycle_step, self.cycle_bound)
        self.acyclicity_weight = min(self.acyclicity_weight * 10.0, LARGEST_ACYCLICITY_WEIGHT)


def assumed_by(regression: str, noise: Noise) -> Assumptions:
    """What the reward takes for granted.

    Examples
    --------
    >>> assumed_by("linear", "equal").words.partition(":")[0]
    'Every variable is a weighted sum of its causes plus Gaussian noise of the same variance everywhere'
    """
    curved = regression == "gp"
    form = f"a {'smooth function' if curved else 'weighted sum'} of its causes"
    assumed = Assumptions("additive" if curved else "linear", False, "assumed", curved, form=form)
    return assumed.with_equal_variances() if noise == "equal" else assumed


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


class RLBIC2(NetworkMethod):
    r"""RL-BIC2 (Zhu et al. 2020): reinforcement learning over directed graphs.

    Each iteration draws graphs from the policy, rewards them by
    :math:`-[\mathcal S(G) + \lambda_1 1(G \text{ cyclic}) + \lambda_2 h(A)]` (see
    :class:`~precede.baselines.rl_bic2.GraphReward`) and takes one actor-critic step with an entropy bonus.
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
      :meth:`~precede.baselines.rl_bic2.GraphBIC.differences`); the penalty is another one: it is put on the
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

    @classmethod
    def paper(cls, **options: Any) -> Self:
        """The settings of the authors' program (``PAPER_SETTINGS``); any option may be given on top.

        Their runs of 30 variables add ``PAPER_SETTINGS_30``.
        """
        return cls(**PAPER_SETTINGS | options)

    def _learn_by(self, table: Table, rng: np.random.Generator, device: torch.device, deadline: Deadline) -> FitResult:
        step = CYCLE_STEP / table.n_variables if self.cycle_step == "auto" else self.cycle_step
        table = standardized_table(table) if self.standardize else table
        bic = GPGraphBIC if self.regression == "gp" else GraphBIC
        reward = GraphReward(bic(table.values, self.noise, device), step)
        iterations = self._train(table, reward, rng, device, deadline)
        history = self._watch("RL-BIC2", int(self.n_iterations), iterations, "reward", "best_score", "cyclic")
        weights = regression_weights(regularized(covariance(table.values)), np.arange(table.n_variables), reward.best)
        scale = table.values.std(axis=0) if self.noise == "unequal" else np.ones(table.n_variables)
        least = 0.0 if self.regression == "gp" else self.threshold
        edges, threshold = strongest_dag(weights * scale[:, None] / scale, least)
        if self.regression == "gp":
            pruned = prune_by_gam(table.values, edges, cutoff=self.cutoff)
            edges, weights = pruned.edges, pruned.strengths
        reported = {
            "converged_at": reward.found_at,
            "n_iterations": len(history),
            "edges_before_pruning": int(reward.best.sum()),
            "repaired": threshold > least,
        }
        score = -float(reward.bic.scores(reward.best[None])[0])
        assumes = assumed_by(self.regression, self.noise)
        return FitResult(edges, None, weights, score, history, GraphIteration, reported, assumes)

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
            width, n_heads, n_blocks = int(self.width), int(self.n_heads), int(self.n_blocks)
            encoder = TransformerEncoder(source.n_inputs, self.normalization, width, n_heads, n_blocks, of_rl_bic2=True)
            policy = GraphPolicy(encoder, int(self.decoder_width), bias)
        return source, policy.to(device)

    def _train(
        self, table: Table, reward: GraphReward, rng: np.random.Generator, device: torch.device, deadline: Deadline
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
            judged = reward.judge(graphs)
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
            edges = torch.distributions.Bernoulli(logits=logits, validate_args=False)
            surprise, entropy = per_entry(-advantage * edges.log_prob(drawn.float())), per_entry(edges.entropy())
            adam.zero_grad()
            (surprise - self.entropy_weight * entropy + critic_loss).backward()
            nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
            adam.step()

            yield GraphIteration(
                iteration, float(judged.rewards.mean()), reward.best_score, float(graphs.sum()) / len(graphs),
                float(judged.cyclic.mean()), reward.cycle_weight, reward.acyclicity_weight,
            )  # fmt: skip
            stale = self.patience is not None and iteration - reward.found_at >= self.patience
            if deadline.passed() or (stale and judged.cyclic.mean() < 0.5):
                return
            if iteration == 1 or iteration % self.update_every == 0:
                reward.tighten()
