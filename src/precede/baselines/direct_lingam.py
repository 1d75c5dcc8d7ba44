"""DirectLiNGAM: find the most exogenous variable, regress it out of the others, repeat."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from precede.arrays import FloatArray, IntArray
from precede.baselines.order_method import OrderMethod
from precede.data.load import Table
from precede.knowledge import Constraints
from precede.runtime.deadline import Deadline
from precede.runtime.progress import ProgressBar
from precede.scores.assumptions import Assumptions
from precede.strict_json import JsonObject

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
        See :func:`precede.baselines.order_pruning.findings_from_order`; the ``lingam`` package has the adaptive lasso.
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

    assumes = Assumptions(
        "linear", gaussian="excluded",
        words="Every variable is a weighted sum of its causes plus noise, and the noise is not Gaussian.",
    )  # fmt: skip

    def _find_order(self, table: Table, constraints: Constraints, deadline: Deadline) -> tuple[IntArray, JsonObject]:
        order, complete = direct_lingam_order(table.values, constraints, deadline, verbose=self.verbose)
        return order, {"complete": complete}


def direct_lingam_order(
    values: FloatArray, constraints: Constraints, deadline: Deadline, *, verbose: bool = False
) -> tuple[IntArray, bool]:
    """Place variables from the most exogenous on; also say whether the deadline left time for all.

    Parameters
    ----------
    values : (n_samples, n_variables) float array
    constraints : Constraints
    deadline : Deadline
    verbose : bool

    Returns
    -------
    order : (n_variables,) int array
    complete : bool
    """
    d = values.shape[1]
    centered = torch.tensor(values - values.mean(axis=0)).T.contiguous()  # shape: (n_variables, n_samples)
    rest = centered / centered.square().mean(1, keepdim=True).sqrt()
    left = np.arange(d)
    order: list[int] = []
    dependence = np.zeros(d)
    with ProgressBar("DirectLiNGAM", d, verbose) as bar:
        while len(left) > 1:
            measured = pairwise_dependence(rest, deadline)
            if measured is None:  # out of time: the others follow as they looked in the last whole step
                order = [*order, *left[np.argsort(dependence, kind="stable")].tolist()]
                return constraints.nearest_order(np.array(order, dtype=np.int64)), False
            dependence = measured
            blocked = constraints.before[np.ix_(left, left)].any(axis=0)
            chosen = int(np.where(blocked, np.inf, dependence).argmin())
            order.append(int(left[chosen]))
            keep = np.arange(len(left)) != chosen
            root, others = rest[chosen], rest[torch.from_numpy(keep)]
            others = others - (others @ root / len(root))[:, None] * root
            rest = others / others.square().mean(1, keepdim=True).sqrt()
            left, dependence = left[keep], dependence[keep]
            bar.update(len(order))
    return np.array([*order, *left.tolist()], dtype=np.int64), True


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
    result: FloatArray = ratio.clamp_max(0.0).square().sum(1).numpy()
    return result


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
