"""Missing cells drawn again from a graph that was learned: weighted sums of the causes, and noise of its own shape.

EM knows a Gaussian only. What it draws in the gaps mixes the noise of several variables, and the shape of the noise is
what tells directions in linear data that are not Gaussian. So, once there is a graph, each missing cell is drawn from
what its causes, its effects, and their noise leave open.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from precede.arrays import BoolArray, FloatArray
from precede.data.missing import moments_given
from precede.data.parents import weights_on_parents
from precede.data.table import Table
from precede.runtime.deadline import Deadline

PASSES, SWEEPS = 3, 4
"""How often weights and noise are estimated again, and how often all cells are drawn for each."""

CANDIDATES, REACH = 40, 5.0
"""Values that a cell may take, spread over this many conditional standard deviations to either side."""

BINS = 1000
FLOOR = 1e-3
"""Share of a density that is even over its range and a standard deviation beyond: no value is impossible."""


def redrawn(table: Table, edges: BoolArray, rng: np.random.Generator, deadline: Deadline | None = None) -> Table:
    r"""Draw the missing numbers of a table again, given a graph, by Gibbs sampling.

    With residuals :math:`e_j = x_j - \sum_i w_{ij} x_i` and their densities :math:`p_j`, a cell is drawn from

    .. math:: p(x_k \mid \text{rest of the row}) \propto p_k(e_k) \prod_{j:\, k \to j} p_j(e_j).

    Weights and densities are those of the rows as they are filled at the time, so that repeated calls with what is
    learned in between are a stochastic EM. The moments of the gaps are then the mean over several fillings.

    Parameters
    ----------
    table : Table
        With gaps; what is in them now is where the sampler starts. Counts and levels stay as they are.
    edges : (n_variables, n_variables) bool array
        Acyclic; ``edges[i, j]`` means i -> j.
    rng : numpy Generator
    deadline : Deadline, optional
        Once it has passed, the cells are left as they were drawn last, after one draw at least.

    References
    ----------
    Friedman (1998), The Bayesian structural EM algorithm. Celeux and Diebolt (1985), The SEM algorithm.
    """
    assert table.gaps is not None
    numbers = np.array([kind.name == "number" for kind in table.kinds])
    mask = table.gaps.mask & numbers
    values = np.array(table.values, order="F")
    for _ in range(PASSES):
        model = _LinearModel.of(values, edges)
        matrices = []
        for _ in range(SWEEPS):
            model.draw(values, mask, rng)
            matrices.append(np.cov(values, rowvar=False, bias=True))
            if deadline is not None and deadline.passed():
                break
        if deadline is not None and deadline.passed():
            break
    values.flags.writeable = False
    gaps = replace(table.gaps, covariance=np.mean(matrices, axis=0), mean=values.mean(axis=0))
    return replace(table, values=values, gaps=gaps)


def reestimated(table: Table, edges: BoolArray) -> Table:
    """The moments of the gaps by EM once more, for a Gaussian in which variables depend along a graph alone.

    Without a graph every pair of variables has a covariance to estimate, and where few rows have both, false edges come
    of it.

    Parameters
    ----------
    table : Table
        With gaps, and without categories; its values stay as they are.
    edges : (n_variables, n_variables) bool array
    """
    assert table.gaps is not None
    columns = np.where(table.gaps.mask, np.nan, table.values)
    mean, covariance = moments_given(columns, edges, table.gaps)
    return replace(table, gaps=replace(table.gaps, mean=mean, covariance=covariance))


@dataclass(frozen=True)
class _LinearModel:
    """Means, weights ``[i, j]`` of i -> j, residuals of the rows it comes from, and the densities of these."""

    mean: FloatArray
    weights: FloatArray
    residuals: FloatArray
    densities: list[Density]

    @classmethod
    def of(cls, values: FloatArray, edges: BoolArray) -> _LinearModel:
        """Least squares on the parents."""
        mean = values.mean(axis=0)
        centered = values - mean
        weights = weights_on_parents(centered, edges)
        residuals = np.asfortranarray(centered - centered @ weights)
        return cls(mean, weights, residuals, [Density.of(column) for column in residuals.T])

    def draw(self, values: FloatArray, mask: BoolArray, rng: np.random.Generator) -> None:
        """Draw the cells of the mask once, one column after the other, in place."""
        residuals = self.residuals
        scales = np.array([density.scale for density in self.densities])
        effects = (np.eye(len(scales)) - self.weights) / scales
        precision = effects @ effects.T
        gappy = np.flatnonzero(mask.any(axis=0))
        for k in rng.permutation(gappy).tolist():
            rows = np.flatnonzero(mask[:, k])
            pull = (values[rows] - self.mean) @ precision[:, k] / precision[k, k]  # to where a Gaussian would be
            steps = (np.arange(CANDIDATES) + rng.random((len(rows), 1))) * (2 * REACH / CANDIDATES) - REACH
            changes = steps / np.sqrt(precision[k, k]) - pull[:, None]
            fit = self.densities[k].log(residuals[rows, k, None] + changes)
            children = np.flatnonzero(self.weights[k])
            for j in children:
                fit += self.densities[j].log(residuals[rows, j, None] - self.weights[k, j] * changes)
            chances = np.exp(fit - fit.max(axis=1, keepdims=True)).cumsum(axis=1)
            picked = (rng.random((len(rows), 1)) * chances[:, -1:] > chances).sum(axis=1)
            change = changes[np.arange(len(rows)), picked]
            values[rows, k] += change
            residuals[rows, k] += change
            residuals[np.ix_(rows, children)] -= np.outer(change, self.weights[k, children])


@dataclass(frozen=True)
class Density:
    """A density by a kernel, as the logarithm in bins of equal width.

    Examples
    --------
    >>> noise = np.random.default_rng(0).uniform(-1, 1, 5000)
    >>> inside, outside = Density.of(noise).log(np.array([0.0, 1.3]))
    >>> bool(abs(inside - np.log(0.5)) < 0.1), bool(outside < -4)
    (True, True)
    """

    start: float
    width: float
    logs: FloatArray
    scale: float

    @classmethod
    def of(cls, residuals: FloatArray) -> Density:
        """With the usual bandwidth, by the smaller of standard deviation and quartiles (Silverman)."""
        scale = max(float(residuals.std()), 1e-12 * float(np.abs(residuals).max(initial=1.0)))
        start, stop = residuals.min() - scale, residuals.max() + scale
        width = (stop - start) / BINS
        low, high = np.percentile(residuals, (25, 75))
        spread = min(scale, (high - low) / 1.349) or scale
        bandwidth = max(0.9 * spread * len(residuals) ** -0.2 / width, 0.5)
        reach = np.arange(-int(4 * bandwidth) - 1, int(4 * bandwidth) + 2)
        kernel = np.exp(-0.5 * (reach / bandwidth) ** 2)
        counts = np.histogram(residuals, BINS, (start, stop))[0] / (len(residuals) * width)
        smooth = np.convolve(counts, kernel / kernel.sum())[len(reach) // 2 :][:BINS]
        return cls(start, width, np.log((1 - FLOOR) * smooth + FLOOR / (stop - start)), scale)

    def log(self, residuals: FloatArray) -> FloatArray:
        """Logarithm of the density; beyond its range as at the end of it."""
        places = ((residuals - self.start) / self.width).astype(np.int64)
        return self.logs[np.clip(places, 0, BINS - 1, out=places)]
