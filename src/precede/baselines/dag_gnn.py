r"""DAG-GNN: a variational autoencoder whose layers know the graph (Yu, Chen, Gao and Yu, ICML 2019).

.. math::

    \min_{A, \theta} -\mathrm{ELBO}(A, \theta) \quad\text{subject to}\quad
    h(A) = \operatorname{tr}[(I + A \circ A / d)^d] - d = 0
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from precede.arrays import FloatArray
from precede.baselines.iterative import NetworkMethod, polynomial_acyclicity, strongest_dag
from precede.data.load import Table
from precede.estimator import FitResult
from precede.options import Count, NotNegative, Positive, Range
from precede.runtime import Deadline, initial_weights, torch_generator
from precede.scores.assumptions import Assumptions

LEARNING_RATE_RANGE = (1e-4, 1e-2)
"""Bounds of the decayed learning rate, in the authors' program."""

DIAGONAL_PENALTY = 100.0
"""Weight of the squared diagonal of A, in the authors' program."""

LARGEST_PENALTY = 1e20
"""Where the authors' program stops raising c."""


class GraphAutoencoder(nn.Module):
    r"""Encoder :math:`Z = (I - A^T) f_1(X)` and decoder :math:`\hat X = f_2((I - A^T)^{-1} Z)`.

    :math:`f_1, f_2` are perceptrons of one hidden layer that act on every variable by itself with shared weights. As
    in the authors' program :math:`A = \sinh(3 B)` with B the parameter, which makes large entries easy to reach, and
    a learned shift is added before and taken off after each multiplication.
    """

    def __init__(self, n_variables: int, hidden_size: int) -> None:
        super().__init__()
        self.pre_adjacency = nn.Parameter(torch.zeros(n_variables, n_variables))
        self.shift = nn.Parameter(torch.zeros(()))
        self.encoder = nn.Sequential(nn.Linear(1, hidden_size), nn.ReLU(), nn.Linear(hidden_size, 1))
        self.decoder = nn.Sequential(nn.Linear(1, hidden_size), nn.ReLU(), nn.Linear(hidden_size, 1))
        for layer in self.modules():
            if isinstance(layer, nn.Linear):
                nn.init.xavier_normal_(layer.weight)

    def adjacency(self) -> Tensor:
        """Weighted adjacency, (d, d); ``[i, j]`` is the weight of i -> j."""
        return torch.sinh(3.0 * self.pre_adjacency)

    def forward(self, values: Tensor, adjacency: Tensor) -> tuple[Tensor, Tensor]:
        """Code Z and reconstruction of a batch, both (n, d).

        Rows are samples, so :math:`I - A^T` multiplies from the right, transposed. The code is taken at its mean, so
        the decoder's inverse undoes the encoder's product exactly: it is not computed, which spares the rounding of a
        matrix that is nearly singular while A is cyclic.
        """
        encoded = self.encoder(values[..., None])[..., 0]
        shifted = encoded + self.shift
        code = shifted - shifted @ adjacency - self.shift
        return code, self.decoder(encoded[..., None])[..., 0]


def negative_elbo(code: Tensor, reconstruction: Tensor, values: Tensor) -> Tensor:
    r"""Mean over samples of :math:`\frac12 \lVert x - \hat x \rVert^2 + \frac12 \lVert z \rVert^2`.

    Unit variances on both sides and the code at its mean, as in the authors' program; constants are left out.
    """
    return ((reconstruction - values).square().sum() + code.square().sum()) / (2 * len(values))


@dataclass(frozen=True)
class Epoch:
    """State after one epoch of one subproblem."""

    step: int
    epoch: int
    loss: float
    elbo: float
    acyclicity: float
    penalty: float
    multiplier: float


class DAGGNN(NetworkMethod):
    r"""DAG-GNN (Yu et al. 2019), an autoencoder with a weighted adjacency under the augmented Lagrangian.

    Each outer step minimizes :math:`-\mathrm{ELBO} + \lambda h(A) + \frac c2 h(A)^2` by Adam, then sets
    :math:`\lambda \leftarrow \lambda + c h(A)` and :math:`c \leftarrow \eta c` if
    :math:`h(A) > \gamma h(A_\text{old})`. Edges weaker than ``threshold`` are dropped; the threshold
    is raised where a cycle is left.

    Parameters
    ----------
    hidden_size : int
        Width of the hidden layer of encoder and decoder.
    n_epochs : int
        Most epochs of a subproblem.
    batch_size : int
    learning_rate : float
        Divided by :math:`\log_{10} c` and kept within [1e-4, 1e-2], as the authors do.
    penalty : float
        The first c.
    eta, gamma : float
        Growth of c, and the share of h(A) that must be left for c to stay.
    sparsity : float
        :math:`\tau`, weight of :math:`\lVert A \rVert_1`.
    tolerance : float
        Stop when h(A) is at most this.
    max_steps : int
        Most updates of the multiplier.
    threshold : float
        Edges need a larger absolute weight.
    patience : int
        A subproblem ends when the epoch's loss has not improved for as many epochs.
    max_time : float or None
        Seconds after which the present state is taken.
    device : str
        "auto", "cpu" or "cuda".
    random_state : int, Generator or None
    verbose : bool

    Attributes
    ----------
    score_ : float
        The evidence lower bound, without constants.
    diagnostics_ : dict
        ``acyclicity`` (the last h), ``threshold`` (the one that was needed), ``converged``, ``n_steps``, ``seconds``.

    Notes
    -----
    Deviations from the paper: the code is taken at its mean and not drawn, and both variances are one, as in the
    authors' program; then the decoder's inverse undoes the encoder's product, and is not computed. Deviations from
    their program: subproblems are ended early by ``patience``; columns are centered; the result
    is the last A, not the one of the best ELBO, because the latter may be an early and cyclic one; their rule that
    stops raising c when the loss explodes is left out.

    The loss takes all noise variances as equal to one, so the scale of the columns matters: do not standardize
    data that satisfy this.

    References
    ----------
    Yu, Chen, Gao, Yu: DAG-GNN: DAG structure learning with graph neural networks. ICML 2019.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.normal(size=500)
    >>> X = np.column_stack([cause, 2 * cause + rng.normal(size=500)])
    >>> DAGGNN(hidden_size=16, n_epochs=20, tolerance=1e-3, verbose=False, random_state=0).fit(X).graph_
    CausalGraph(2 variables, 1 edge: 0 -> 1)
    """

    assumes = Assumptions(
        "additive", True, "assumed", True, form="a function of its causes that a small network can fit,"
    )

    hidden_size: Count = 64
    n_epochs: Count = 300
    batch_size: Count = 100
    learning_rate: Positive = 3e-3
    penalty: Annotated[float, Range(above=0, most=LARGEST_PENALTY / 10)] = 1.0
    eta: Annotated[float, Range(above=1)] = 10.0
    gamma: Positive = 0.25
    sparsity: NotNegative = 0.0
    tolerance: Positive = 1e-8
    max_steps: Count = 100
    threshold: NotNegative = 0.3
    patience: Count = 5

    def _learn_by(self, table: Table, rng: np.random.Generator, device: torch.device, deadline: Deadline) -> FitResult:
        with initial_weights(rng):
            model = GraphAutoencoder(table.n_variables, int(self.hidden_size)).to(device)
        values = torch.tensor(table.values - table.values.mean(axis=0), dtype=torch.float32, device=device)
        epochs = self._train(model, values, torch_generator(rng), deadline)
        history = self._watch("DAG-GNN", None, epochs, "elbo", "acyclicity", "penalty")
        weights: FloatArray = model.adjacency().detach().double().cpu().numpy()
        edges, threshold = strongest_dag(weights, self.threshold)
        last = history[-1]
        reported = {
            "acyclicity": last.acyclicity,
            "threshold": threshold,
            "converged": last.acyclicity <= self.tolerance,
            "n_steps": last.step,
        }
        return FitResult(edges, None, weights, last.elbo, history, Epoch, reported)

    def _train(
        self, model: GraphAutoencoder, values: Tensor, generator: torch.Generator, deadline: Deadline
    ) -> Iterator[Epoch]:
        """Augmented Lagrangian; yields one record per epoch."""
        optimizer = torch.optim.Adam(model.parameters(), lr=self.learning_rate, fused=True)
        penalty, multiplier, previous = self.penalty, 0.0, math.inf
        for step in range(1, int(self.max_steps) + 1):
            acyclicity = math.inf
            while penalty < LARGEST_PENALTY:
                optimizer.param_groups[0]["lr"] = self._learning_rate(penalty)
                best, stale = math.inf, 0
                for epoch in range(1, int(self.n_epochs) + 1):
                    batches = values[torch.randperm(len(values), generator=generator).to(values.device)]
                    loss, elbo = self._run_epoch(model, optimizer, batches, penalty, multiplier, deadline)
                    acyclicity = float(polynomial_acyclicity(model.adjacency().detach().square()))
                    yield Epoch(step, epoch, loss, elbo, acyclicity, penalty, multiplier)
                    if deadline.passed():
                        return
                    best, stale = (loss, 0) if loss < best else (best, stale + 1)
                    if stale >= self.patience:
                        break
                if acyclicity <= max(self.gamma * previous, self.tolerance):
                    break
                penalty *= self.eta
            previous = acyclicity
            multiplier += penalty * acyclicity
            if acyclicity <= self.tolerance:
                return

    def _learning_rate(self, penalty: float) -> float:
        smallest, largest = LEARNING_RATE_RANGE
        decayed = self.learning_rate / (math.log10(penalty) + 1e-10) if penalty > 1 else math.inf
        return min(max(decayed, smallest), largest)

    def _run_epoch(
        self,
        model: GraphAutoencoder,
        optimizer: torch.optim.Optimizer,
        shuffled: Tensor,
        penalty: float,
        multiplier: float,
        deadline: Deadline,
    ) -> tuple[float, float]:
        """One pass over the shuffled samples; returns the mean augmented Lagrangian and the mean ELBO."""
        totals, n_seen = torch.zeros(2, device=shuffled.device), 0
        for batch in torch.split(shuffled, int(self.batch_size)):
            adjacency = model.adjacency()
            code, reconstruction = model(batch, adjacency)
            elbo = -negative_elbo(code, reconstruction, batch)
            h = polynomial_acyclicity(adjacency.square()).float()
            constraint = multiplier * h + 0.5 * penalty * h.square()
            diagonal = DIAGONAL_PENALTY * adjacency.diagonal().square().sum()
            loss = -elbo + constraint + diagonal + self.sparsity * adjacency.abs().sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if self.sparsity:  # proximal step of the authors' program
                with torch.no_grad():
                    limit = self.sparsity * optimizer.param_groups[0]["lr"]
                    model.pre_adjacency.copy_(F.softshrink(model.pre_adjacency, limit))
            totals += len(batch) * torch.stack([loss.detach(), elbo.detach()])
            n_seen += len(batch)
            if deadline.passed():
                break
        mean_loss, mean_elbo = (totals / n_seen).tolist()
        return mean_loss, mean_elbo
