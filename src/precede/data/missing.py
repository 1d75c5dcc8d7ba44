"""How missing cells are filled: moments by EM or from pairs, cells drawn from what the rest of their row says.

EM knows a Gaussian only. What it draws in the gaps mixes the noise of several variables, and the shape of the noise is
what tells directions in linear data that are not Gaussian. So, once there is a graph, :func:`redrawn` draws each cell
again from what its causes, its effects, and their noise leave open.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.graph.dags import weights_on_parents
from precede.kinds import ColumnKind, indicator_blocks

if TYPE_CHECKING:
    from precede.data.table import Table
    from precede.runtime import Deadline

MOST_ITERATIONS = 100
CONVERGED = 1e-4
"""EM ends when no standardized moment changes by more."""

RIDGE = 1e-6
"""Share of each variance that is added, so that EM stays regular with few rows."""

FEWEST_RESIDUALS = 50
"""Complete rows from which the shape of the noise is taken; else it is Gaussian."""


@dataclass(frozen=True)
class Gaps:
    """Where cells are missing, and the moments of the whole as they are estimated in spite of it.

    Parameters
    ----------
    mask : (n_samples, n_variables) bool array
        True where a cell is missing.
    covariance : (n_columns, n_columns) array
        Over the columns, categories as indicators (``precede.kinds.indicator_blocks``), in the data's units.
    mean : (n_columns,) array
    n_effective : float
        Rows that the moments are worth: the mean number of rows in which two columns are both there.
    how : "em" or "pairwise"
    """

    mask: BoolArray
    covariance: FloatArray
    mean: FloatArray
    n_effective: float
    how: str


def gaps_of(values: FloatArray, kinds: Sequence[ColumnKind], how: str) -> Gaps:
    """Estimate the moments of a table with missing cells (NaN)."""
    mask = np.isnan(values)
    columns, _ = indicator_blocks(values, kinds)
    present = (~mask).astype(np.float64)
    d = values.shape[1]
    together = (present.T @ present)[~np.eye(d, dtype=bool)].mean()
    scale = np.nanstd(columns, axis=0)
    scale[scale == 0] = 1.0
    center = np.nanmean(columns, axis=0)
    estimate = em_moments if how == "em" else pairwise_moments
    mean, matrix = estimate((columns - center) / scale)
    return Gaps(mask, matrix * np.outer(scale, scale), center + mean * scale, float(together), how)


def em_moments(columns: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""Mean and covariance of a Gaussian by EM, from rows with missing cells.

    Each row's missing part is replaced by its conditional mean given the rest, and the conditional covariance
    :math:`(K_{mm})^{-1}`, with K the inverse of the covariance, is added to the scatter.

    Parameters
    ----------
    columns : (n_samples, n_columns) array
        NaN where missing; every column has some value.

    References
    ----------
    Dempster, Laird, Rubin (1977). Maximum likelihood from incomplete data via the EM algorithm. JRSS B 39.

    Examples
    --------
    >>> rows = np.array([[0.0, 1.0], [2.0, 5.0], [1.0, np.nan], [3.0, 7.0]])
    >>> mean, _ = em_moments(rows)
    >>> float(mean[1].round(2))  # not the mean of what is there, 4.33: the gap is where the first is low
    4.0
    """
    return _em(columns, np.nanmean(columns, axis=0), pairwise_moments(columns)[1], lambda matrix: matrix, RIDGE)


def _em(
    columns: FloatArray,
    mean: FloatArray,
    matrix: FloatArray,
    model: Callable[[FloatArray], FloatArray],
    ridge: float = 0.0,
) -> tuple[FloatArray, FloatArray]:
    """Expected mean and scatter, again and again, with the covariance that the model makes of the last estimate."""
    scale = np.sqrt(np.diag(matrix))
    gappy = np.isnan(columns).any(axis=1)
    whole, columns, m = columns[~gappy] - mean, columns[gappy], len(columns)
    origin, sums, products = mean, whole.sum(axis=0), whole.T @ whole  # of the rows that EM leaves as they are
    groups = _by_pattern_size(np.isnan(columns))
    for _ in range(MOST_ITERATIONS):
        filled, extra = _expected(columns, mean, model(matrix), groups)
        filled -= origin
        shift = (sums + filled.sum(axis=0)) / m
        new_mean = origin + shift
        new_matrix = (products + filled.T @ filled + extra) / m - np.outer(shift, shift)
        new_matrix[np.diag_indices_from(new_matrix)] *= 1 + ridge
        change = max(
            np.abs((new_mean - mean) / scale).max(), np.abs((new_matrix - matrix) / np.outer(scale, scale)).max()
        )
        mean, matrix = new_mean, new_matrix
        if change < CONVERGED or not groups:
            break
    return mean, matrix


def _along(edges: BoolArray, matrix: FloatArray) -> FloatArray:
    """The covariance that a graph has with the weights and noise variances of a matrix."""
    rows = np.asarray(np.linalg.cholesky(matrix).T, dtype=np.float64)  # transposed: the factor stands for rows
    weights = weights_on_parents(rows, edges)
    own = np.diag(matrix)
    noise = np.maximum(own - (weights * matrix).sum(axis=0), RIDGE * own)
    total = np.linalg.inv(np.eye(len(matrix)) - weights)  # effects along all paths
    return np.asarray(total.T @ (noise[:, None] * total))


def pairwise_moments(columns: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Means of what is there, and covariances from the rows where both columns are, made positive definite."""
    mask = ~np.isnan(columns)
    mean = np.nanmean(columns, axis=0)
    centered = np.where(mask, columns - mean, 0.0)
    there = mask.astype(np.float64)
    count = there.T @ there
    cross = centered.T @ centered
    # deviations from the means over the common rows
    shift = centered.T @ there
    with np.errstate(invalid="ignore", divide="ignore"):
        matrix = np.where(count > 1, cross / count - shift * shift.T / count**2, 0.0)  # transposed: the other's
    scale = np.sqrt(np.diag(matrix))
    correlation = matrix / np.outer(scale, scale)
    values, vectors = np.linalg.eigh(np.clip(correlation, -1, 1))
    if values[0] < RIDGE:
        correlation = (vectors * np.maximum(values, RIDGE)) @ vectors.T
        unit = np.sqrt(np.diag(correlation))
        correlation /= np.outer(unit, unit)
    return mean, correlation * np.outer(scale, scale)


def _by_pattern_size(mask: BoolArray) -> list[tuple[IntArray, IntArray]]:
    """Rows by how many of their cells are missing, and which these are: (n_rows,) and (n_rows, n_missing)."""
    sizes = mask.sum(axis=1)
    groups = []
    for size in np.unique(sizes[sizes > 0]):
        rows = np.flatnonzero(sizes == size)
        groups.append((rows, np.argwhere(mask[rows])[:, 1].reshape(len(rows), size)))
    return groups


def _expected(
    columns: FloatArray, mean: FloatArray, matrix: FloatArray, groups: list[tuple[IntArray, IntArray]]
) -> tuple[FloatArray, FloatArray]:
    """Rows with conditional means in the gaps, and the sum of the conditional covariances."""
    precision = np.linalg.inv(matrix)
    deviation = np.where(np.isnan(columns), 0.0, columns - mean)
    pull = deviation @ precision  # by what the observed part of a row asks of each column
    filled = np.where(np.isnan(columns), 0.0, columns)
    extra = np.zeros_like(matrix)
    for rows, places in groups:
        blocks = np.linalg.inv(precision[places[:, :, None], places[:, None, :]])
        asked = np.take_along_axis(pull[rows], places, axis=1)
        filled[rows[:, None], places] = mean[places] - (blocks @ asked[:, :, None])[:, :, 0]
        np.add.at(extra, (places[:, :, None], places[:, None, :]), blocks)
    return filled, extra


def complete(values: FloatArray, kinds: Sequence[ColumnKind], gaps: Gaps, rng: np.random.Generator) -> FloatArray:
    """Fill the gaps with draws from what the rest of each row says: means plus noise, so that nothing is weakened.

    Numbers are drawn around their conditional mean, levels with their conditional probabilities. The noise of numbers
    is resampled from the residuals of cells that are there, which keeps its shape.
    """
    columns, blocks = indicator_blocks(values, kinds)
    groups = _by_pattern_size(np.isnan(columns))
    means, _ = _expected(columns, gaps.mean, gaps.covariance, groups)
    filled = np.array(values, order="F")
    noise = _draws(columns, gaps, groups, rng)
    for k, (kind, block) in enumerate(zip(kinds, blocks, strict=True)):
        rows = np.flatnonzero(gaps.mask[:, k])
        if not len(rows):
            continue
        if kind.name == "categorical":
            chances = np.clip(means[rows, block], 0.0, 1.0)
            chances = np.column_stack([np.clip(1 - chances.sum(axis=1), 0.0, 1.0), chances])
            chances /= chances.sum(axis=1, keepdims=True)
            picked = (rng.random(len(rows))[:, None] > chances.cumsum(axis=1)).sum(axis=1)
            filled[rows, k] = np.array(kind.levels)[np.minimum(picked, kind.n_levels - 1)]
            continue
        drawn = means[rows, block.start] + noise[rows, block.start]
        if kind.name == "binary":
            low, high = kind.levels
            chance = np.clip((means[rows, block.start] - low) / (high - low), 0.0, 1.0)
            drawn = np.where(rng.random(len(rows)) < chance, high, low)
        elif kind.name == "ordinal":
            levels = np.array(kind.levels)
            drawn = levels[np.abs(drawn[:, None] - levels).argmin(axis=1)]
        elif kind.name == "count":
            drawn = np.maximum(np.round(drawn), 0.0)
        filled[rows, k] = drawn
    return filled


def _draws(
    columns: FloatArray, gaps: Gaps, groups: list[tuple[IntArray, IntArray]], rng: np.random.Generator
) -> FloatArray:
    """Noise for the gaps: with the conditional covariance of each row, in the shape of the residuals that are there."""
    precision = np.linalg.inv(gaps.covariance)
    whole = ~np.isnan(columns).any(axis=1)
    residuals = (columns[whole] - gaps.mean) @ precision / np.sqrt(np.diag(precision))  # of each column on all others
    noise = np.zeros(columns.shape)
    for rows, places in groups:
        factors = np.linalg.cholesky(np.linalg.inv(precision[places[:, :, None], places[:, None, :]]))
        if len(residuals) >= FEWEST_RESIDUALS:
            drawn = residuals[rng.integers(len(residuals), size=places.shape), places]
        else:
            drawn = rng.normal(size=places.shape)
        noise[rows[:, None], places] = (factors @ drawn[:, :, None])[:, :, 0]
    return noise


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
    r"""The moments of the gaps by EM once more, for a Gaussian in which variables depend along a linear graph alone.

    Without a graph every pair of variables has a covariance to estimate, and where few rows have both, false edges come
    of it. The graph's covariance is :math:`(I - W)^{-T} D (I - W)^{-1}` with the weights W and noise variances D that
    the last estimate gives; what is returned is the expected scatter, in which other edges still show.

    Parameters
    ----------
    table : Table
        With gaps, and without categories; its values stay as they are.
    edges : (n_variables, n_variables) bool array

    References
    ----------
    Friedman (1998). The Bayesian structural EM algorithm. UAI.
    """
    assert table.gaps is not None
    columns = np.where(table.gaps.mask, np.nan, table.values)
    mean, covariance = _em(columns, table.gaps.mean, table.gaps.covariance, lambda matrix: _along(edges, matrix))
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
