"""What third variables tell about a pair: whether either can be the cause of the other at all.

If i causes j, then whatever depends on i depends on j, too. So a z that depends on i, but not on j, says that i does
not cause j; and where another one says that j does not cause i, the two that nevertheless depend must share a cause.
This holds whatever a learned graph made of the pair, which mostly is an edge.
"""

from __future__ import annotations

import numpy as np

from precede.arrays import FloatArray
from precede.lazy import special
from precede.ranks import normal_scores

INDEPENDENT = 0.02
"""P-value above which a pair counts as independent."""


def shared_information(values: FloatArray) -> FloatArray:
    r"""Information that two variables have in common: :math:`I_{ij} = -\frac12 \log(1 - r_{ij}^2)`, of normal scores.

    Parameters
    ----------
    values : (n_samples, n_variables) float array

    Returns
    -------
    information : (n_variables, n_variables) float array
        Zero on the diagonal.
    """
    return np.asarray(-0.5 * np.log1p(-(_score_correlations(values) ** 2)))


def not_a_cause(values: FloatArray) -> FloatArray:
    r"""Evidence that i does not cause j: the best that any third variable z gives.

    The log likelihood ratio of "z and j are independent" to "z and j are independent given i",
    :math:`m (I_{zj \mid i} - I_{zj})`. The ratio is the same whichever of the three stands in the middle; so z counts
    only where it and j are the least dependent of the three pairs, and pass for independent.

    Parameters
    ----------
    values : (n_samples, n_variables) float array

    Returns
    -------
    evidence : (n_variables, n_variables) float array
        At least zero; zero on the diagonal.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z, hidden = rng.normal(size=(2, 500))
    >>> x = np.column_stack([z, z + hidden + rng.normal(size=500), hidden + rng.normal(size=500)])
    >>> found = not_a_cause(x)
    >>> bool(found[1, 2] > 10), bool(found[2, 1] > 10)  # z speaks against 1 -> 2, and nothing against 2 -> 1
    (True, False)
    """
    correlations, m = _score_correlations(values), len(values)
    information = -0.5 * np.log1p(-(correlations**2))
    independent = special.chdtrc(1, 2 * m * information) > INDEPENDENT
    result = np.zeros_like(information)
    for i, own in enumerate(correlations):
        left = np.sqrt(1 - own**2)
        partial = np.clip((correlations - np.outer(own, own)) / np.outer(left, left), -0.999, 0.999)  # [z, j] given i
        ratio = m * (-0.5 * np.log1p(-(partial**2)) - information)
        counts = independent & (information < information[:, [i]]) & (information < information[i])
        counts[i] = counts[:, i] = False
        np.fill_diagonal(counts, False)
        result[i] = np.where(counts, ratio, 0.0).max(axis=0, initial=0.0)
    return result


def _score_correlations(values: FloatArray) -> FloatArray:
    """Correlations of normal scores, zero on the diagonal and for columns that do not vary."""
    scores = normal_scores(values)
    spread = scores.std(axis=0)
    scores = (scores - scores.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    result = np.clip(scores.T @ scores / len(values), -0.999, 0.999)
    np.fill_diagonal(result, 0.0)
    return np.asarray(result)
