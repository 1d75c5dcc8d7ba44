"""LiNGAM, orders of linear non-Gaussian models: by independent components, and by regressing out one root at a time."""

import math
import warnings

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment
from sklearn.decomposition import fastica
from sklearn.exceptions import ConvergenceWarning
from torch import Tensor

from precede.arrays import FloatArray, IntArray
from precede.baselines.iterative import strongest_dag
from precede.baselines.order_methods import OrderMethod
from precede.data.load import Table
from precede.graph.dags import topological_order
from precede.knowledge import Constraints
from precede.options import Count, Positive
from precede.runtime import Deadline, ProgressBar, RandomState, numpy_rng
from precede.scores.assumptions import Assumptions
from precede.scores.covariance import covariance, regularized, standardized
from precede.strict_json import JsonObject
from precede.ties import first_best

# Maximum-entropy approximation of Hyvärinen (1998), with log cosh (even) and x exp(-x²/2) (odd)
EVEN_WEIGHT = 79.047
ODD_WEIGHT = 7.4129
GAUSSIAN_LOG_COSH = 0.37457


class DirectLiNGAM(OrderMethod):
    r"""Order of a linear non-Gaussian model without ICA (Shimizu et al. 2011).

    Again and again, the variable that depends least on the residuals of the others comes next,

    .. math:: \arg\max_j -\sum_{i \ne j} \min\{0, R_{ji}\}^2, \qquad
              R_{ji} = H(x_i) + H(r_{j|i}) - H(x_j) - H(r_{i|j}),

    with :math:`R_{ji}` the likelihood ratio of j -> i over i -> j (Hyvärinen and Smith 2013), x and the
    residuals r scaled to variance one, H the entropy approximation of Hyvärinen (1998). Then it is regressed out of the
    rest. Scale-free and deterministic. Costs :math:`O(m d^3)`.

    Parameters
    ----------
    pruning : {"threshold", "bic", "lasso", "none"}
        See :class:`precede.baselines.order_methods.OrderMethod`; the ``lingam`` package has the adaptive lasso.
    threshold : float
        Smallest weight that stays, for ``pruning="threshold"``: the CORL paper's, in the units of the data.
    knowledge : Knowledge, optional
        Only permitted variables are considered at each step; edges are dropped or added.
    max_time : float, optional
        Seconds after which the variables not yet placed follow by their measure in the last step.
    verbose : bool
        Show progress.

    Notes
    -----
    Deviations from the paper: the pairwise likelihood ratio instead of the kernel measure of dependence, as in the
    authors' own current package; pruning by the extended BIC
    instead of the adaptive lasso; neither depends on the units.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.uniform(size=1000)
    >>> X = np.column_stack([cause + rng.uniform(size=1000), cause])
    >>> DirectLiNGAM(verbose=False).fit(X).causal_order_
    [1, 0]
    """

    assumes = Assumptions("linear", gaussian="excluded", form="a weighted sum of its causes")

    def _find_order(self, table: Table, constraints: Constraints, deadline: Deadline) -> tuple[IntArray, JsonObject]:
        """Place variables from the most exogenous on; those that there is no time for follow as they looked last."""
        d = table.n_variables
        centered = torch.tensor(table.values - table.values.mean(axis=0)).T.contiguous()
        rest = centered / centered.square().mean(1, keepdim=True).sqrt()  # shape: (n_variables, n_samples)
        left, order, dependence = np.arange(d), list[int](), np.zeros(d)
        with ProgressBar("DirectLiNGAM", d, self.verbose) as bar:
            while len(left) > 1 and (measured := pairwise_dependence(rest, deadline)) is not None:
                blocked = constraints.before[np.ix_(left, left)].any(axis=0)
                chosen = int(np.where(blocked, np.inf, measured).argmin())
                order.append(int(left[chosen]))
                keep = np.arange(len(left)) != chosen
                root, others = rest[chosen], rest[torch.from_numpy(keep)]
                others = others - (others @ root / len(root))[:, None] * root
                rest = others / others.square().mean(1, keepdim=True).sqrt()
                left, dependence = left[keep], measured[keep]
                bar.update(len(order))
        complete = len(left) == 1
        whole = np.array([*order, *left[np.argsort(dependence, kind="stable")].tolist()], dtype=np.int64)
        return constraints.nearest_order(whole), {"complete": complete}


def pairwise_dependence(rows: Tensor, deadline: Deadline) -> FloatArray | None:
    r""":math:`\sum_{i \ne j} \min\{0, R_{ji}\}^2` of each row j; None when the deadline passed on the way.

    Parameters
    ----------
    rows : (n_variables, n_samples) float64 tensor
        Each of mean zero and variance one.
    deadline : Deadline

    Returns
    -------
    dependence : (n_variables,) array
        Small for a cause of all the others.
    """
    k, m = rows.shape
    correlation = rows @ rows.T / m
    spread = (1 - correlation.square()).clamp_min(torch.finfo(rows.dtype).tiny).sqrt()
    # entropies are a constant minus the distance from a Gaussian, so R needs only the distances
    residual_distance = torch.zeros(k, k, dtype=rows.dtype)  # [i, j]: of i given j
    residuals = torch.empty_like(rows)
    for j in range(k):  # a row at a time fits the processor's cache; all pairs at once would not
        if deadline.passed():
            return None
        torch.mul(correlation[:, j, None], rows[j], out=residuals)
        torch.sub(rows, residuals, out=residuals).div_(spread[:, j, None])
        residual_distance[:, j] = negentropy(residuals)
    own = negentropy(rows)
    # [j, i]: likelihood ratio of j -> i over i -> j
    ratio = own[:, None] + residual_distance.T - own[None, :] - residual_distance
    ratio.fill_diagonal_(0.0)
    return np.asarray(ratio.clamp_max(0.0).square().sum(1))


def negentropy(residuals: Tensor) -> Tensor:
    r"""Distance from a Gaussian, :math:`k_1 (E[\log\cosh z] - \gamma)^2 + k_2 (E[z e^{-z^2/2}])^2`, over the last axis.

    Parameters
    ----------
    residuals : (..., n_samples) tensor
        Mean 0 and variance 1.

    Notes
    -----
    ``log cosh z = |z| + log(1 + exp(-2|z|)) - log 2``; the logarithm is taken of the product of eight samples, each
    in [1, 2]. That, and working in place, makes the whole several times faster on a CPU.
    """
    n_samples = residuals.shape[-1]
    size = residuals.abs()
    mean_size = size.mean(dim=-1)
    factors = size.mul_(-2).exp_().add_(1)
    eighth = n_samples // 8
    products = factors[..., : 8 * eighth].reshape(*factors.shape[:-1], 8, eighth).prod(dim=-2)
    logs = products.log_().sum(dim=-1) + factors[..., 8 * eighth :].log().sum(dim=-1)
    log_cosh = mean_size + logs / n_samples - math.log(2)
    odd = torch.square(residuals).mul_(-0.5).exp_().mul_(residuals).mean(dim=-1)
    result: Tensor = EVEN_WEIGHT * (log_cosh - GAUSSIAN_LOG_COSH) ** 2 + ODD_WEIGHT * odd**2
    return result


ITERATIONS_AT_ONCE = 25
"""FastICA is run in pieces, so that the clock and the progress bar are looked at between them."""

GAUSSIAN_MEAN = 0.374567207491438
"""Mean of log cosh of a standard Gaussian variable."""

NOT_CONVERGED = (
    "FastICA did not converge in {} iterations: another seed, or rounding on another machine, may give another order."
)


class ICALiNGAM(OrderMethod):
    r"""Linear non-Gaussian acyclic model by independent component analysis (Shimizu et al. 2006).

    With :math:`x = Bx + e`, ICA finds :math:`W = I - B` up to scale and permutation of its rows:

    1. FastICA gives W: of several random starts, the one with the least Gaussian components.
    2. Permute its rows so that :math:`\sum_i 1 / |W_{ii}|` is smallest.
    3. Divide each row by its diagonal entry; :math:`\hat B = I - W`.
    4. The order: set the smallest entries of :math:`\hat B` to zero, from d(d+1)/2 of them on, until what is left is
       acyclic.
    5. Regress along the order and prune.

    Parameters
    ----------
    max_iterations : int
        Of FastICA.
    tolerance : float
        FastICA stops when no component turns by more than this.
    n_starts : int
        FastICA ends in a local optimum, and another start may end elsewhere; the best of this many is taken. One is the
        authors' program.
    pruning : {"threshold", "bic", "lasso", "none"}
        See :class:`precede.baselines.order_methods.OrderMethod`; the ``lingam`` package has the adaptive lasso,
        the authors' original program tests by resampling.
    threshold : float
        Smallest weight that stays, for ``pruning="threshold"``: the CORL paper's, in the units of the data.
    knowledge : Knowledge, optional
        The order is mended to keep the precedences, edges are dropped or added.
    standardize : bool
        Take steps 2 and 4 in units of each entry's error (``order_of``), so that the columns' own do not matter;
        False is the paper.
    random_state : int, Generator or None
        Of FastICA's start.
    max_time : float, optional
        Seconds after which FastICA is stopped where it is.
    verbose : bool
        Show progress.

    Notes
    -----
    Deviations from the paper: step 4 bisects over the number of zeros, which gives the same order; entries are compared
    in units of their error, not of the data; pruning is by the extended BIC. ``diagnostics_["converged"]`` says whether
    FastICA did; on Gaussian data it has nothing to find.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.uniform(size=1000)
    >>> X = np.column_stack([cause + rng.uniform(size=1000), cause])
    >>> ICALiNGAM(random_state=0, verbose=False).fit(X).causal_order_
    [1, 0]
    """

    assumes = DirectLiNGAM.assumes

    max_iterations: Count = 1000
    tolerance: Positive = 1e-8
    n_starts: Count = 3
    standardize: bool = True
    random_state: RandomState = None

    def _find_order(self, table: Table, constraints: Constraints, deadline: Deadline) -> tuple[IntArray, JsonObject]:
        """FastICA with log cosh on whitened data, from several starts, and the order of its unmixing matrix."""
        values = standardized(table.values) if self.standardize else table.values
        eigenvalues, vectors = np.linalg.eigh(regularized(covariance(values)))
        whitening = (vectors / np.sqrt(eigenvalues)).T  # shape: (components, variables)
        if self.standardize:
            whitening = vectors @ whitening  # symmetric: rounding cannot flip the sign of a component
        white = (values - values.mean(axis=0)) @ whitening.T
        rng = numpy_rng(self.random_state)
        ends: list[tuple[FloatArray, int, bool]] = []
        with ProgressBar("FastICA", self.n_starts * self.max_iterations, self.verbose) as bar:
            while len(ends) < self.n_starts and not (ends and deadline.passed()):
                start = rng.normal(size=whitening.shape)
                ends.append(self._climb(white, start, deadline, bar, len(ends) * self.max_iterations))
        best = first_best(np.array([contrast(white @ rotation.T) for rotation, _, _ in ends]))
        rotation, n_iterations, converged = ends[best]
        order = constraints.nearest_order(order_of(rotation @ whitening, self.standardize))
        remarks = [*table.remarks, *([] if converged else [NOT_CONVERGED.format(n_iterations)])]
        return order, {"converged": converged, "remarks": remarks, "ica_iterations": n_iterations}

    def _climb(
        self, white: FloatArray, rotation: FloatArray, deadline: Deadline, bar: ProgressBar, before: int
    ) -> tuple[FloatArray, int, bool]:
        """FastICA from one start: the rotation, iterations done, whether it converged."""
        done, converged = 0, False
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # reported in the diagnostics
            while done < self.max_iterations and not converged and not (done and deadline.passed()):
                pieces = min(ITERATIONS_AT_ONCE, self.max_iterations - done)
                _, rotation, _, used = fastica(
                    white, whiten=False, w_init=rotation, max_iter=pieces, tol=self.tolerance, return_n_iter=True
                )
                done += used
                converged = used < pieces
                bar.update(before + done)
        return rotation, done, converged


def contrast(components: FloatArray) -> float:
    """How far components of variance one are from Gaussian: the squared gap of their mean log cosh, summed.

    Parameters
    ----------
    components : (n_samples, n_components) float array

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> contrast(rng.normal(size=(10_000, 1))) < contrast(rng.laplace(scale=0.5**0.5, size=(10_000, 1)))
    True
    """
    sizes = np.abs(components)  # log cosh x = |x| + log(1 + exp(-2|x|)) - log 2
    means = (sizes + np.log1p(np.exp(-2 * sizes)) - np.log(2)).mean(axis=0)
    return float(((means - GAUSSIAN_MEAN) ** 2).sum())


def order_of(unmixing: FloatArray, in_units_of_error: bool = False) -> IntArray:
    r"""Causal order of an unmixing matrix (steps 2 to 4 above).

    The error of ICA mixes the rows of W with each other, so that the one of :math:`W_{ij}` grows with the length of
    column j. :math:`|W_{ij}| / \lVert W_{\cdot j} \rVert` is free of the units of the data and tells entries that are
    there from those that are not; :math:`\hat B` depends on them, and is misled by units in which causes are large.

    Parameters
    ----------
    unmixing : (n_variables, n_variables) float array
        Rows are components of variance one, columns variables.
    in_units_of_error : bool
        Compare these ratios in steps 2 and 4, not :math:`W` and :math:`\hat B`.

    Examples
    --------
    >>> order_of(np.array([[0.0, 3.0], [1.0, -2.0]]))
    array([1, 0])
    """
    d = len(unmixing)
    sizes = np.maximum(np.abs(unmixing), np.finfo(float).tiny)
    if in_units_of_error:
        sizes = sizes / np.linalg.norm(sizes, axis=0)
    components, variables = linear_sum_assignment(1 / sizes)
    effects = np.empty_like(sizes)  # row is effect
    effects[variables] = sizes[components]
    if not in_units_of_error:
        effects /= np.diag(effects)[:, None].copy()  # |B|
    np.fill_diagonal(effects, 0.0)
    least = float(np.sort(effects, axis=None)[d * (d + 1) // 2 - 1])
    return topological_order(strongest_dag(effects.T, least)[0])  # transposed: adjacency has causes in rows
