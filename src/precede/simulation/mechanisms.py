"""Mechanisms: how a variable comes from its parents and its noise, for a batch of data sets at once.

A mechanism is a function ``(parents, weights, noise, weight_range, draws) -> values``:

- ``parents``, (batch, n_parents, n_samples): values of what are parents in one task of the batch at least;
- ``weights``, (batch, n_parents): those of linear equations; a zero says that this is no parent in that task;
- ``noise``, (batch, n_samples): :func:`structural_data` keeps it alone where a task has no parents;
- ``weight_range``: size of the weights or coefficients, either sign;
- ``values``, (batch, n_samples).

A new mechanism is one function and one line of :data:`MECHANISMS`.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.errors import OptionError
from precede.simulation.draws import Draws, NumpyDraws, select, unit_rows
from precede.simulation.observation import discretized, levels_at

WeightRange = tuple[float, float]
Mechanism = Callable[[Tensor, Tensor, Tensor, WeightRange, Draws], Tensor]

HIDDEN_UNITS = 100
"""Width of the random network, as in the simulations of NOTEARS-MLP (Zheng et al. 2020)."""

MOST_GP_SAMPLES = 20_000
"""An exact draw needs two n_samples x n_samples matrices: 6.4 GB at this many."""

RANDOM_FEATURES = 128
"""Cosines in a draw of a Gaussian process: the kernel is right to about 1 / sqrt of this many."""


def structural_data(
    noise: Tensor,
    weights: Tensor,
    order: Sequence[int],
    mechanism: Mechanism,
    draws: Draws,
    weight_range: WeightRange = (0.5, 2.0),
    n_levels: int | None = None,
    imposed: Tensor | None = None,
) -> Tensor:
    """Variable by variable in causal order, from the parents and the noise.

    Parameters
    ----------
    noise : (batch, n_variables, n_samples) tensor
    weights : (batch, n_variables, n_variables) tensor
        Not zero at ``[:, i, j]`` for i -> j.
    order : sequence of int
        One causal order for all tasks, causes first.
    mechanism : Mechanism
    n_levels : int, optional
        Cut every variable to this many levels, which are what its children see.
    imposed : (batch, n_variables, n_samples) tensor, optional
        What :func:`set_by_intervention` sets.
    """
    ever = (weights != 0).any(0).cpu()  # parents in some task
    x = noise.clone()
    for node in order:
        causes = ever[:, node].nonzero()[:, 0].to(noise.device)
        if len(causes):
            own = weights[:, causes, node]
            made = mechanism(x[:, causes], own, noise[:, node], weight_range, draws)
            x[:, node] = torch.where((own != 0).any(1)[:, None], made, noise[:, node])
        if imposed is not None:
            x[:, node] = set_by_intervention(x[:, node], imposed[:, node])
        if n_levels is not None:
            x[:, node] = discretized(x[:, node], n_levels, draws)
    return x


def set_by_intervention(x: Tensor, imposed: Tensor) -> Tensor:
    """Values (batch, n_samples) of a variable, of which some were set.

    Parameters
    ----------
    imposed : (batch, n_samples) tensor
        In deviations from the mean that the variable has by itself; NaN where nothing was set.

    Examples
    --------
    >>> set_by_intervention(torch.tensor([[-1.0, 1.0]]), torch.tensor([[torch.nan, 3.0]]))
    tensor([[-1.,  3.]])
    """
    mean = x.mean(1, keepdim=True)
    scale = (x - mean).square().mean(1, keepdim=True).sqrt()
    return torch.where(imposed.isnan(), x, mean + scale * imposed)


def linear_data(noise: Tensor, weights: Tensor, order: Sequence[int]) -> Tensor:
    r"""Solve the linear equations :math:`x = W^\top x + e` (Appendix B.2), one triangular system a task.

    Parameters
    ----------
    noise : (batch, n_variables, n_samples) tensor
    weights : (batch, n_variables, n_variables) tensor
        ``weights[:, i, j]`` is the effect of i on j.
    order : sequence of int
        Causes first; makes the systems triangular.
    """
    by_order = torch.as_tensor(order, device=noise.device)
    sorted_weights = weights[:, by_order[:, None], by_order[None, :]]
    system = torch.eye(len(by_order), dtype=noise.dtype, device=noise.device) - sorted_weights.mT
    solution = torch.linalg.solve_triangular(system, noise[:, by_order], upper=False, unitriangular=True)
    x = torch.empty_like(noise)
    x[:, by_order] = solution
    return x


def linear(parents: Tensor, weights: Tensor, noise: Tensor, weight_range: WeightRange, draws: Draws) -> Tensor:
    """Weighted sum of the parents, and noise."""
    return noise + _sum(weights, parents)


def gp_joint(parents: Tensor, weights: Tensor, noise: Tensor, weight_range: WeightRange, draws: Draws) -> Tensor:
    r"""One draw of a Gaussian process over all parents jointly (Appendix B.2), and noise.

    :math:`k(x, y) = \exp(-\tfrac12 \lVert x - y \rVert^2)`, bandwidth one, on the parents' own scale.
    """
    return noise + gaussian_process(parents * (weights != 0)[:, :, None], draws)


def gp_scaled(parents: Tensor, weights: Tensor, noise: Tensor, weight_range: WeightRange, draws: Draws) -> Tensor:
    r"""As :func:`gp_joint`, with squared distances divided by the number p of parents.

    :math:`k(x, y) = \exp(-\tfrac{1}{2p} \lVert x - y \rVert^2)`: a function of many parents is as smooth as one of few.
    """
    n_parents = (weights != 0).to(parents).sum(1)[:, None, None].clamp_min(1)
    return gp_joint(parents / n_parents.sqrt(), weights, noise, weight_range, draws)


def gp_additive(parents: Tensor, weights: Tensor, noise: Tensor, weight_range: WeightRange, draws: Draws) -> Tensor:
    """Sum of independent Gaussian processes, one for each parent, kernel as in :func:`gp_joint`."""
    task, parent = (weights != 0).nonzero(as_tuple=True)
    effects = gaussian_process(parents[task, parent][:, None], draws)
    return noise + torch.zeros_like(noise).index_add_(0, task, effects)


def gaussian_process(inputs: Tensor, draws: Draws) -> Tensor:
    r"""Draws of Gaussian processes at inputs (batch, n_inputs, n_samples), one for each of the batch.

    Exact from a NumPy generator. From one of torch by random Fourier features: :math:`f(x) = \sqrt{2/F} \sum_k a_k
    \cos(w_k^\top x + b_k)` with Gaussian a and w and uniform b has the kernel (Rahimi & Recht 2007).
    """
    if isinstance(draws, NumpyDraws):
        return torch.stack([_exact_process(points.T, draws) for points in inputs])
    batch, d, _ = inputs.shape
    phases = draws.uniform((batch, RANDOM_FEATURES, 1), high=2 * math.pi)
    amplitudes = math.sqrt(2 / RANDOM_FEATURES) * draws.normal((batch, RANDOM_FEATURES))
    features = torch.baddbmm(phases, draws.normal((batch, RANDOM_FEATURES, d)), inputs).cos_()
    return _sum(amplitudes, features)


def _exact_process(points: Tensor, draws: Draws) -> Tensor:
    m = len(points)
    if m > MOST_GP_SAMPLES:
        raise OptionError(
            f"n_samples={m} needs {16e-9 * m * m:.0f} GB for one exact draw of a Gaussian process: "
            f"at most {MOST_GP_SAMPLES} would work, or another sem."
        )
    from scipy.spatial.distance import pdist, squareform  # slow to import, and for these draws alone

    kernel = squareform(np.exp(-0.5 * pdist(points.numpy(), "sqeuclidean")))
    noise = draws.normal((m,)).numpy()
    jitter = 1e-8  # above the rounding of the kernel's null eigenvalues; a deviation of 1e-4 in the draw
    while True:
        np.fill_diagonal(kernel, 1.0 + jitter)
        try:
            return torch.from_numpy(np.linalg.cholesky(kernel) @ noise)
        except np.linalg.LinAlgError:
            jitter *= 10


def quadratic(parents: Tensor, weights: Tensor, noise: Tensor, weight_range: WeightRange, draws: Draws) -> Tensor:
    r"""Random quadratic form of the standardized parents, and noise.

    :math:`f = \sum_i a_i z_i + \sum_{i \le k} b_{ik} z_i z_k`, each coefficient zero or from ``weight_range`` with
    equal probability; a parent that would be in no term keeps its square.

    Deviations from Zhu et al. (2020), whose data this follows: the parents are standardized first, since values
    would otherwise grow doubly exponentially along a path, and no edge is dropped.
    """
    batch, p, _ = parents.shape
    z, present = unit_rows(parents), weights != 0
    first, second = torch.triu_indices(p, p, device=parents.device)
    kept_linear = draws.chance((batch, p), 0.5) & present
    kept_square = draws.chance((batch, len(first)), 0.5) & present[:, first] & present[:, second]
    terms = torch.zeros((batch, p, p), dtype=torch.bool, device=parents.device)
    terms[:, first, second] = kept_square
    lonely = present & ~(kept_linear | terms.any(1) | terms.any(2))
    a = draws.either_sign((batch, p), *weight_range) * kept_linear
    form = torch.zeros((batch, p, p), dtype=parents.dtype, device=parents.device)
    form[:, first, second] = draws.either_sign((batch, len(first)), *weight_range)
    return noise + _sum(a, z) + (z * ((form * (terms | torch.diag_embed(lonely))) @ z)).sum(1)


def mlp(parents: Tensor, weights: Tensor, noise: Tensor, weight_range: WeightRange, draws: Draws) -> Tensor:
    r"""Random network :math:`f(x) = \sigma(x U)\,v` with a layer of sigmoids (NOTEARS-MLP's data), and noise."""
    batch, p, _ = parents.shape
    into = draws.either_sign((batch, p, HIDDEN_UNITS), *weight_range) * (weights != 0)[:, :, None]
    out = draws.either_sign((batch, HIDDEN_UNITS), *weight_range)
    return noise + _sum(out, torch.sigmoid(into.mT @ parents))


def heteroscedastic(parents: Tensor, weights: Tensor, noise: Tensor, weight_range: WeightRange, draws: Draws) -> Tensor:
    r"""Noise whose scale depends on the parents, :math:`x = w^\top z + \exp(\tanh(v^\top z))\, e`."""
    signal = _weighted(parents, weights, weight_range, draws)
    return signal + _weighted(parents, weights, weight_range, draws).tanh().exp() * noise


def post_nonlinear(parents: Tensor, weights: Tensor, noise: Tensor, weight_range: WeightRange, draws: Draws) -> Tensor:
    r"""A monotone distortion after the noise, :math:`x = g(w^\top z + e)`: a power, logistic or exponential curve."""
    inner = unit_rows(_weighted(parents, weights, weight_range, draws) + noise)
    strength = draws.uniform((len(inner), 1), 0.5, 1.0)
    kind = draws.integers((len(inner), 1), 3)
    power = inner.sign() * inner.abs() ** (1 + 2 * strength)
    return torch.where(
        kind == 0, power, torch.where(kind == 1, (3 * strength * inner).sigmoid(), (strength * inner).exp())
    )


def multiplicative(parents: Tensor, weights: Tensor, noise: Tensor, weight_range: WeightRange, draws: Draws) -> Tensor:
    r"""Noise as a factor, :math:`x = \log(1 + \exp(w^\top z))\, \exp(e / 2)`: positive, larger values vary more."""
    signal = _weighted(parents, weights, weight_range, draws)
    return torch.logaddexp(torch.zeros_like(signal), signal) * (noise / 2).exp()


def steps(parents: Tensor, weights: Tensor, noise: Tensor, weight_range: WeightRange, draws: Draws) -> Tensor:
    """Each parent has an effect of three levels, cut at two random quantiles; noise is added."""
    batch, p, _ = parents.shape
    cuts = draws.uniform((batch, p, 2), 0.15, 0.85).sort(2).values
    heights = draws.either_sign((batch, p, 3), *weight_range) * (weights != 0)[:, :, None]
    return heights.gather(2, levels_at(parents, cuts)).sum(1) + noise


MECHANISMS: dict[str, Mechanism] = {
    "linear-gaussian": linear,
    "lingam": linear,
    "gp": gp_joint,
    "gp-quiet": gp_joint,
    "gp-scaled": gp_scaled,
    "gp-additive": gp_additive,
    "quadratic": quadratic,
    "mlp": mlp,
    "heteroscedastic": heteroscedastic,
    "post-nonlinear": post_nonlinear,
    "multiplicative": multiplicative,
    "steps": steps,
}
"""How variables come from their parents, by the name of the ``sem``."""


def _weighted(parents: Tensor, weights: Tensor, weight_range: WeightRange, draws: Draws) -> Tensor:
    """Sum of the standardized parents with new weights; standardized, values keep their size along a path."""
    return _sum(draws.either_sign(tuple(weights.shape), *weight_range) * (weights != 0), unit_rows(parents))


def _sum(weights: Tensor, values: Tensor) -> Tensor:
    """Weighted sums (batch, n_samples) of values (batch, n, n_samples)."""
    return (weights[:, None] @ values)[:, 0]


TERMS = 32
"""Terms of a function, of which some or all are used."""

ACTIVATIONS = {
    "identity": 3.0,
    "cosine": 2.5,
    "tanh": 3.5,
    "step": 1.0,
    "hinge": 1.5,
    "square": 0.7,
    "bump": 0.7,
    "switch": 1.0,
}
"""Activations and how often each is drawn."""

ADDITIVE_SHARE = 0.5
PRODUCT_SHARE = 0.12
POSITIVE_SHARE = 0.25
"""Share of the tasks in which every effect has the same sign, as abilities and sizes have."""

WEAKEST = 0.3
"""Smallest weight of a parent beside a largest of one."""


def activate(kinds: Tensor, u: Tensor) -> Tensor:
    """Activations of projections (batch, terms, n_samples), by the kind of each task (batch,)."""
    made = [u, u.cos(), u.tanh(), u.sign(), u.relu(), u.square(), (-u.square()).exp(), torch.sigmoid(6 * u)]
    return select(kinds[:, None, None], made)


class RandomFunctions:
    """Functions of the variables' parents, evaluated in causal order.

    Parameters
    ----------
    batch, n_variables : int
    draws : Draws
    n_terms : int
        Most terms of a function.
    """

    def __init__(self, batch: int, n_variables: int, draws: Draws, n_terms: int = TERMS) -> None:
        self.draws, self.n_terms = draws, n_terms
        shape = (batch, n_variables)
        self.kinds = draws.kinds(batch, n_variables, ACTIVATIONS)
        self.additive = torch.where(
            draws.chance((batch, 1), 0.5), draws.chance((batch, 1), ADDITIVE_SHARE), draws.chance(shape, ADDITIVE_SHARE)
        )
        self.product = draws.chance(shape, PRODUCT_SHARE)
        self.used = draws.log_uniform(shape, 1.0, 2.0 * n_terms).clamp_max(n_terms)
        self.bandwidth = draws.log_uniform((batch, 1), 0.4, 2.5) * draws.log_uniform(shape, 0.7, 1.4)
        self.positive = draws.chance((batch, 1, 1), POSITIVE_SHARE)

    def at(self, t: int, x: Tensor, parents: Tensor) -> Tensor:
        """Signal of the t-th variable.

        Parameters
        ----------
        x : (batch, n_inputs, n_samples) tensor
            Standardized values of what it may depend on: the variables before, and its noise where that is inside.
        parents : (batch, n_inputs) bool tensor
            Which of them it does depend on.

        Returns
        -------
        signal : (batch, n_samples) tensor
            Standardized; zero without parents.
        """
        batch = len(x)
        draws, terms = self.draws, self.n_terms
        kinds, additive = self.kinds[:, t], self.additive[:, t]
        n_parents = parents.sum(1).clamp_min(1)
        inputs = self._projections(t, parents, n_parents, additive)
        spread = torch.where(kinds == 1, math.pi, 1.0)  # a phase for cosines, a place within the data for the others
        places = draws.uniform((batch, terms, 1), -1.0, 1.0) * spread[:, None, None]
        places = torch.where((kinds == 0)[:, None, None], 0.0, places)
        features = activate(kinds, torch.baddbmm(places, inputs, x))
        needed = torch.where(additive, n_parents.float(), 1.0)  # so that no parent is left out
        used = torch.maximum(self.used[:, t], needed)[:, None]
        number = torch.arange(terms, device=x.device)
        weights = draws.either_sign((batch, terms), WEAKEST, 1.0)
        weights = torch.where(self.positive[:, 0], weights.abs(), weights)
        weights = weights * (number < used)
        half = (number % 2 == 0).float()
        whole = (weights[:, None] @ features)[:, 0]
        first = ((weights * half)[:, None] @ features)[:, 0]
        product = unit_rows(first) * unit_rows(whole - first)
        signal = torch.where((self.product[:, t] & (used[:, 0] > 1))[:, None], product + 0.5 * unit_rows(whole), whole)
        return unit_rows(signal) * parents.any(1)[:, None]

    def _projections(self, t: int, parents: Tensor, n_parents: Tensor, additive: Tensor) -> Tensor:
        """Weights (batch, terms, n_inputs) of the parents in every term."""
        draws, (batch, n_inputs) = self.draws, parents.shape
        weights = draws.either_sign((batch, self.n_terms, n_inputs), WEAKEST, 1.0)
        weights = torch.where(self.positive, weights.abs(), weights) * parents[:, None, :]
        # the k-th term of an additive function sees the parent whose number is k, modulo their number
        rank = parents.cumsum(1) - 1
        turn = torch.arange(self.n_terms, device=parents.device)[None, :] % n_parents[:, None]
        one = (rank[:, None, :] == turn[:, :, None]) & parents[:, None, :]
        # sinusoids, thresholds and networks of several parents keep the spread of one
        scale = self.bandwidth[:, t, None, None] * 1.5
        joint = weights * scale * torch.rsqrt(n_parents.float())[:, None, None]
        return torch.where(additive[:, None, None], one * scale * weights.sign(), joint)


LEVELS = (2, 3, 4)
"""How many levels a category may have, each as likely."""

SHARES = {"mixed": 0.5, "discrete": 1.0}
"""Share of the columns that are categories."""


def data_with_levels(
    errors: FloatArray,
    adjacency: BoolArray,
    order: IntArray,
    sem: str,
    weight_range: tuple[float, float],
    rng: np.random.Generator,
) -> list[np.ndarray[Any, Any]]:
    """Columns of numbers and of words along a DAG.

    A number is a weighted sum of its causes plus noise, where a numeric cause counts by its standardized value and a
    category by a random effect of each level (mean 0, variance 1 over its levels). A category takes the level of
    largest utility: weighted sums of the same kind for each level plus Gumbel noise, so that the levels' odds are those
    of multinomial logistic regression.

    Parameters
    ----------
    errors : (n_samples, n_variables) array
        Noise of the numbers.
    adjacency : (n_variables, n_variables) bool array
    order : (n_variables,) int array
    sem : "mixed" or "discrete"
        Half of the columns are categories, or all.
    weight_range : (float, float)
    rng : numpy Generator
    """
    n, d = errors.shape
    words = np.zeros(d, dtype=bool)
    words[rng.choice(d, size=round(SHARES[sem] * d), replace=False)] = True
    columns: list[np.ndarray[Any, Any]] = [np.empty(0)] * d
    signals: list[FloatArray] = [np.empty(0)] * d  # (n_samples, width): indicators, or one standardized number
    for j in order:
        n_levels = int(rng.choice(LEVELS)) if words[j] else 1
        total = np.zeros((n, n_levels))
        for i in np.flatnonzero(adjacency[:, j]):
            effects = rng.normal(size=(signals[i].shape[1], n_levels)) if words[i] or words[j] else np.ones((1, 1))
            if words[i]:
                effects = (effects - effects.mean(axis=0)) / effects.std(axis=0)
            elif words[j]:
                effects = (effects - effects.mean()) / effects.std()
            total += NumpyDraws(rng).either_sign((1,), *weight_range).item() * (signals[i] @ effects)
        if words[j]:
            level = (total + rng.gumbel(size=total.shape)).argmax(axis=1)
            columns[j] = np.array([f"level {k + 1}" for k in range(n_levels)])[level]
            signals[j] = np.eye(n_levels)[level]
        else:
            number = total[:, 0] + errors[:, j]
            columns[j] = number
            signals[j] = ((number - number.mean()) / number.std())[:, None]
    return columns
