r"""GraN-DAG: one network per variable, the graph read from its weights (Lachapelle et al., ICLR 2020).

.. math::

    \max_\phi \mathbb{E} \sum_j \log p_j(x_j \mid x_{-j}; \phi_j) \quad\text{subject to}\quad
    h(\phi) = \operatorname{tr} e^{A_\phi} - d = 0
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.ensemble import ExtraTreesRegressor
from torch import Tensor, nn

from precede.arrays import BoolArray, FloatArray
from precede.baselines.iterative import NetworkMethod, exponential_acyclicity, strongest_dag
from precede.data.load import Table
from precede.errors import OptionError
from precede.estimator import FitResult
from precede.options import Count, NotNegative, Positive, Share
from precede.pruning.gam import prune_by_gam
from precede.runtime import Deadline, ProgressBar, initial_weights, torch_generator
from precede.scores.assumptions import Assumptions
from precede.strict_json import JsonObject


class ConditionalNetworks(nn.Module):
    r"""Gaussian conditionals :math:`p_j(x_j \mid x) = N(\mu_j(x), \sigma_j^2)`, one perceptron per variable.

    All perceptrons run at once: the first layer is one matrix product, each further layer one batched product. A mask
    takes away inputs; a variable never sees itself.
    """

    mask: Tensor

    def __init__(self, n_variables: int, n_layers: int, hidden_size: int, mask: Tensor) -> None:
        super().__init__()
        sizes = [n_variables, *[hidden_size] * n_layers, 1]
        shapes = [(n_variables, out, into) for into, out in pairwise(sizes)]
        self.weights = nn.ParameterList(torch.empty(shape) for shape in shapes)  # [variable, to, from]
        self.biases = nn.ParameterList(torch.zeros(n_variables, 1, out) for _, out, _ in shapes)
        self.log_scale = nn.Parameter(torch.zeros(n_variables))
        self.register_buffer("mask", mask)  # [i, j]: i may cause j
        self.n_paths = hidden_size**n_layers
        for weight in self.weights:
            for part in weight:  # Glorot's scale is that of one perceptron, not of the stack
                nn.init.xavier_uniform_(part, gain=nn.init.calculate_gain("leaky_relu"))

    def first_layer(self) -> Tensor:
        """Weights that the mask leaves, (d, hidden, d)."""
        masked: Tensor = self.weights[0] * self.mask.T[:, None, :]  # transposed: the networks are stacked by effect
        return masked

    def means(self, values: Tensor) -> Tensor:
        """Conditional means of every variable, (n, d) from (n, d)."""
        d = len(self.log_scale)
        first = self.first_layer()
        hidden: Tensor = (values @ first.reshape(-1, d).T).view(len(values), d, -1).transpose(0, 1) + self.biases[0]
        for weight, bias in zip(self.weights[1:], self.biases[1:], strict=True):
            hidden = torch.baddbmm(bias, F.leaky_relu(hidden), weight.mT)
        return hidden[..., 0].T

    def log_likelihood(self, values: Tensor, targets: Tensor) -> Tensor:
        """Log density of each target given the values, (n, d)."""
        standardized = (targets - self.means(values)) * torch.exp(-self.log_scale)
        return -0.5 * standardized.square() - self.log_scale - 0.5 * math.log(2 * math.pi)

    def connectivity(self) -> Tensor:
        r"""Weighted adjacency :math:`A_\phi`, mean over paths of the product of absolute weights.

        Zero at ``[i, j]`` if and only if no path leads from input i to the mean of j.
        """
        product: Tensor = self.weights[-1].abs()
        for weight in reversed(self.weights[1:-1]):
            product = product @ weight.abs()
        product = product @ self.first_layer().abs()
        connectivity: Tensor = product[:, 0].T / self.n_paths  # transposed: rows are causes from here on
        return connectivity

    def sensitivity(self, values: Tensor) -> Tensor:
        r"""Mean absolute Jacobian :math:`\mathbb{E} |\partial \log p_j / \partial x_i|`, (d, d)."""
        inputs = values.clone().requires_grad_()
        terms = self.log_likelihood(inputs, values).sum(dim=0)
        rows = [torch.autograd.grad(term, inputs, retain_graph=True)[0].abs().mean(dim=0) for term in terms]
        return torch.stack(rows, dim=1)


SELECTION_FROM = 50
"""Neighbors are selected first from this many variables on; in the authors' program it is the user who decides."""

N_TREES = 500
"""Trees per variable in the neighbor selection, in the authors' program."""


def select_neighbors(
    values: FloatArray,
    rng: np.random.Generator,
    within: Deadline,
    share: float = 0.75,
    n_trees: int = N_TREES,
    verbose: bool = False,
) -> BoolArray:
    """Candidate parents of each variable by the importance of the others in extremely randomized trees.

    An input is kept when its importance is at least ``share`` of the mean importance, as in the authors' program. A
    variable that there is no time for keeps all the others.

    Returns
    -------
    candidates : (n_variables, n_variables) bool array
        ``[i, j]``: i may cause j.
    """
    d = values.shape[1]
    candidates = ~np.eye(d, dtype=bool)
    with ProgressBar("GraN-DAG neighbors", d, verbose) as bar:
        for j in range(d):
            if within.passed():
                break
            others = np.arange(d) != j
            forest = ExtraTreesRegressor(n_estimators=n_trees, random_state=int(rng.integers(2**31)))
            importance = forest.fit(values[:, others], values[:, j]).feature_importances_
            # The authors average over d inputs, their own column zeroed, and not over the d - 1 others.
            candidates[others, j] = importance >= share * importance.sum() / d
            bar.update(j + 1)
    return candidates


@dataclass(frozen=True)
class Look:
    """State at a look at the validation loss; ``inputs`` counts those that are not masked yet."""

    iteration: int
    loss: float
    log_likelihood: float
    acyclicity: float
    penalty: float
    multiplier: float
    inputs: int


class GranDAG(NetworkMethod):
    r"""GraN-DAG (Lachapelle et al. 2020) for nonlinear Gaussian additive noise models.

    1. From 50 variables on, candidate parents are chosen by tree importance.
    2. The augmented Lagrangian :math:`-\mathbb{E} \log p + \lambda h + \frac\mu2 h^2` is minimized by
       RMSprop; when the validation loss stands still, :math:`\lambda \leftarrow \lambda + \mu h`, and
       :math:`\mu \leftarrow 10 \mu` unless h fell to ``omega`` of what it was. Inputs with a
       connectivity below ``clamp`` are masked for good.
    3. Edges are dropped, weakest mean absolute Jacobian first, until there is no cycle.
    4. CAM pruning: an additive model per variable keeps parents that are significant.

    Parameters
    ----------
    n_layers, hidden_size : int
        Hidden layers of each perceptron, and units per layer.
    first_learning_rate, learning_rate : float
        RMSprop's rate in the first subproblem, and after it.
    batch_size : int
    n_iterations : int
        Most gradient steps.
    validation_share : float
        Share of the samples that only decide when a subproblem is solved.
    window : int
        Steps between two looks at the validation loss.
    convergence : float
        A subproblem is solved when the validation loss falls by less than this per step.
    penalty, omega : float
        The first :math:`\mu`; the share of h that must be left for it to stay.
    tolerance : float
        Stop when h is at most this.
    clamp : float
        Connectivity under which an input is masked.
    select : "auto", True or False
        Whether to choose candidate parents first; "auto" does from 50 variables on.
    cutoff : float or None
        Largest p-value of an edge in CAM pruning; None leaves the pruning out.
    standardize : bool
        Scale the columns to variance one for training; False is the authors' program, which depends on the units.
    max_time : float or None
        Seconds of neighbor selection (half of them at most) and training; thresholding and pruning come after.
    device : str
        "auto", "cpu" or "cuda".
    random_state : int, Generator or None
    verbose : bool

    Attributes
    ----------
    score_ : float
        Mean validation log-likelihood per sample, of the columns as they were trained on.
    weights_ : DataFrame
        Strengths of the additive model that pruned the graph; mean absolute Jacobians with ``cutoff=None``.
    diagnostics_ : dict
        ``acyclicity``, ``converged``, ``n_iterations``, ``edges_before_pruning``, ``seconds``.

    Notes
    -----
    Deviations from the authors' program: columns are centered; the first subproblem has a learning rate of its own
    (there an option, by default the same 1e-3); ``cutoff`` is CAM's, where they try ten between 1e-6 and 1; the
    acyclicity is computed in float64 and all else in float32. The likelihood has a free variance per variable, so
    linear Gaussian data are only identified up to their Markov equivalence class; the variances start at one, though,
    and training is local, so the scale of the columns sways the directions.

    References
    ----------
    Lachapelle, Brouillard, Deleu, Lacoste-Julien: Gradient-based neural DAG learning. ICLR 2020.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.normal(size=400)
    >>> X = np.column_stack([cause, np.sin(2 * cause) + 0.2 * rng.normal(size=400)])
    >>> GranDAG(n_iterations=300, verbose=False, random_state=0).fit(X).graph_
    CausalGraph(2 variables, 1 edge: 0 -> 1)
    """

    assumes = Assumptions("additive", False, "assumed", True, form="a curved function of its causes")

    n_layers: Count = 2
    hidden_size: Count = 10
    first_learning_rate: Positive = 1e-2
    learning_rate: Positive = 1e-3
    batch_size: Count = 64
    n_iterations: Count = 100_000
    validation_share: Share = 0.2
    window: Count = 100
    convergence: Positive = 1e-4
    penalty: Positive = 1e-3
    omega: Positive = 0.9
    tolerance: Positive = 1e-8
    clamp: NotNegative = 1e-4
    select: bool | Literal["auto"] = "auto"
    cutoff: Share | None = 0.001
    standardize: bool = True

    def _learn_by(self, table: Table, rng: np.random.Generator, device: torch.device, deadline: Deadline) -> FitResult:
        self._n_validation(table)
        d = table.n_variables
        candidates = ~np.eye(d, dtype=bool)
        if self.select is True or (self.select == "auto" and d >= SELECTION_FROM):
            candidates = select_neighbors(table.values, rng, deadline.part(share=0.5), verbose=self.verbose)
        with initial_weights(rng):
            mask = torch.tensor(candidates, dtype=torch.float32)
            model = ConditionalNetworks(d, int(self.n_layers), int(self.hidden_size), mask).to(device)
        train, validation = self._split(table, rng, device)
        looks = self._train(model, train, validation, torch_generator(rng, device), deadline)
        history = self._watch("GraN-DAG", int(self.n_iterations), looks, "log_likelihood", "acyclicity", "penalty")
        strengths: FloatArray = model.sensitivity(train).double().cpu().numpy()
        edges, _ = strongest_dag(strengths)
        last = history[-1]
        reported: JsonObject = {
            "acyclicity": last.acyclicity,
            "converged": last.acyclicity <= self.tolerance,
            "n_iterations": last.iteration,
            "edges_before_pruning": int(edges.sum()),
        }
        if self.cutoff is not None:
            pruned = prune_by_gam(table.values, edges, cutoff=self.cutoff)
            edges, strengths = pruned.edges, pruned.strengths
        return FitResult(edges, None, strengths, last.log_likelihood, history, Look, reported)

    def _n_validation(self, table: Table) -> int:
        """How many samples only decide when a subproblem is solved."""
        n = round(self.validation_share * table.n_samples)
        if n in (0, table.n_samples):
            raise OptionError(
                f"validation_share={self.validation_share!r} cannot be used: it must leave some of the "
                f"{table.n_samples} samples on either side."
            )
        return n

    def _split(self, table: Table, rng: np.random.Generator, device: torch.device) -> tuple[Tensor, Tensor]:
        """Training and validation samples, centered and scaled by the training part."""
        shuffled = table.values[rng.permutation(table.n_samples)]
        n_train = table.n_samples - self._n_validation(table)
        centered = shuffled - shuffled[:n_train].mean(axis=0)
        if self.standardize:
            spread = centered[:n_train].std(axis=0)
            centered = centered / np.where(spread > 0, spread, 1.0)  # a column may be constant in the training part
        values = torch.tensor(centered, dtype=torch.float32, device=device)
        return values[:n_train], values[n_train:]

    def _train(
        self,
        model: ConditionalNetworks,
        train: Tensor,
        validation: Tensor,
        generator: torch.Generator,
        deadline: Deadline,
    ) -> Iterator[Look]:
        """Augmented Lagrangian; yields a record at each look at the validation loss."""
        penalty, multiplier, solved_at = self.penalty, 0.0, math.inf
        optimizer = torch.optim.RMSprop(model.parameters(), lr=self.first_learning_rate)
        looks: list[float] = []  # validation values of the augmented Lagrangian
        for iteration in range(1, int(self.n_iterations) + 1):
            rows = torch.randint(len(train), (int(self.batch_size),), generator=generator, device=train.device)
            batch = train[rows]
            loss = -model.log_likelihood(batch, batch).mean()
            connectivity = model.connectivity()
            h = exponential_acyclicity(connectivity)
            optimizer.zero_grad()
            objective = loss + (multiplier * h + 0.5 * penalty * h.square()).float()
            objective.backward()
            optimizer.step()
            model.mask.mul_(connectivity.detach() > self.clamp)
            late = deadline.passed()
            if (iteration - 1) % self.window and not (late or iteration == self.n_iterations):
                continue
            acyclicity = float(h.detach())
            with torch.no_grad():
                likelihood = float(model.log_likelihood(validation, validation).mean())
            looks.append(multiplier * acyclicity + 0.5 * penalty * acyclicity**2 - likelihood)
            n_inputs, whole = int(model.mask.sum()), likelihood * train.shape[1]
            yield Look(iteration, float(loss.detach()), whole, acyclicity, penalty, multiplier, n_inputs)
            if late or acyclicity <= self.tolerance:
                return
            if len(looks) >= 3 and len(looks) % 2 and _stands_still(looks[-3:], self.window, self.convergence):
                multiplier += penalty * acyclicity
                if acyclicity > self.omega * solved_at:
                    penalty *= 10.0
                solved_at = acyclicity
                looks[-1] = multiplier * acyclicity + 0.5 * penalty * acyclicity**2 - likelihood
                optimizer = torch.optim.RMSprop(model.parameters(), lr=self.learning_rate)


def _stands_still(looks: list[float], window: int, convergence: float) -> bool:
    """Whether three looks show a rise or a fall too slow to count; one that goes up and down shows nothing."""
    first, middle, last = looks
    if not min(first, last) < middle < max(first, last):
        return False
    slope = (last - first) / window
    return slope > 0 or abs(slope) < convergence
