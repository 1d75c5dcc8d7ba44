"""Missing cells: the moments by EM or from pairs, cells drawn from what the others say, and what the gaps look like."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.data.kinds import ColumnKind, indicator_blocks
from precede.data.parents import weights_on_parents
from precede.errors import DataError, listed

MOST_ITERATIONS = 100
CONVERGED = 1e-4
"""EM ends when no standardized moment changes by more."""

RIDGE = 1e-6
"""Share of each variance that is added, so that EM stays regular with few rows."""

FEWEST_RESIDUALS = 50
"""Complete rows from which the shape of the noise is taken; else it is Gaussian."""

MOSTLY_EMPTY = 0.5
"""Share of missing cells from which a column is better left out."""

FEWEST_TOGETHER = 3
"""Rows in which any two columns must both be there."""

SIGNIFICANT = 0.001
"""Level (shared out over all pairs) at which gaps count as depending on another column."""


@dataclass(frozen=True)
class Gaps:
    """Where cells are missing, and the moments of the whole as they are estimated in spite of it.

    Parameters
    ----------
    mask : (n_samples, n_variables) bool array
        True where a cell is missing.
    covariance : (n_columns, n_columns) array
        Over the columns, categories as indicators (``precede.data.kinds.indicator_blocks``), in the data's units.
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


def moments_given(columns: FloatArray, edges: BoolArray, gaps: Gaps) -> tuple[FloatArray, FloatArray]:
    r"""Mean and covariance by EM with the conditional means and covariances of a linear graph.

    The graph's covariance is :math:`(I - W)^{-T} D (I - W)^{-1}` with the weights W and noise variances D that the last
    estimate gives; what is returned is the expected scatter, in which other edges still show.

    Parameters
    ----------
    columns : (n_samples, n_variables) array
        NaN where missing.
    edges : (n_variables, n_variables) bool array
    gaps : Gaps
        Where to start.

    References
    ----------
    Friedman (1998). The Bayesian structural EM algorithm. UAI.
    """
    return _em(columns, gaps.mean, gaps.covariance, lambda matrix: _along(edges, matrix))


def _em(
    columns: FloatArray,
    mean: FloatArray,
    matrix: FloatArray,
    model: Callable[[FloatArray], FloatArray],
    ridge: float = 0.0,
) -> tuple[FloatArray, FloatArray]:
    """Expected mean and scatter, again and again, with the covariance that the model makes of the last estimate."""
    scale = np.sqrt(np.diag(matrix))
    groups = _by_pattern_size(np.isnan(columns))
    for _ in range(MOST_ITERATIONS):
        filled, extra = _expected(columns, mean, model(matrix), groups)
        new_mean = filled.mean(axis=0)
        centered = filled - new_mean
        new_matrix = (centered.T @ centered + extra) / len(columns)
        new_matrix[np.diag_indices_from(new_matrix)] *= 1 + ridge
        change = max(
            np.abs((new_mean - mean) / scale).max(), np.abs((new_matrix - matrix) / np.outer(scale, scale)).max()
        )
        mean, matrix = new_mean, new_matrix
        if change < CONVERGED:
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


def mean_filled(values: FloatArray) -> FloatArray:
    """The column's mean in every gap."""
    filled: FloatArray = np.where(np.isnan(values), np.nanmean(values, axis=0), values)
    return filled


def check_gaps(values: FloatArray, names: Sequence[Hashable]) -> None:
    """Refuse columns that are missing altogether, and tables in which hardly any two columns meet."""
    mask = np.isnan(values)
    empty = [names[int(k)] for k in np.flatnonzero(mask.all(axis=0))]
    if empty:
        raise DataError(f"every value of {listed(empty)} is missing: leave it out.")
    there = (~mask).astype(np.float64)
    together = there.T @ there
    i, j = divmod(int(together.argmin()), len(names))
    if i == j and together[i, j] < FEWEST_TOGETHER:
        raise DataError(f"column {names[i]!r} has only {together[i, j]:.0f} values: leave it out.")
    if together[i, j] < FEWEST_TOGETHER:
        raise DataError(
            f"columns {names[i]!r} and {names[j]!r} are both present in only {together[i, j]:.0f} rows: leave one of "
            "them out."
        )


def remarks_on_gaps(values: FloatArray, names: Sequence[Hashable], done: str) -> list[str]:
    """How much is missing and where, what was done about it, and whether gaps depend on other columns."""
    mask = np.isnan(values)
    absent = mask.sum(axis=0)
    worst = np.argsort(-absent, kind="stable")[: min(5, int((absent > 0).sum()))]
    where = ", ".join(f"{names[k]!r} ({absent[k] / len(values):.1%})" for k in worst)
    more = int((absent > 0).sum()) - len(worst)
    rest = f" and {more} more" if more else ""
    share = f"{mask.mean():.1%}"
    said = [f"{share} of the cells are missing, most in {where}{rest}; {done}."]
    mostly = [names[int(k)] for k in np.flatnonzero(absent > MOSTLY_EMPTY * len(values))]
    if mostly:
        which = f"column{'s' if len(mostly) > 1 else ''} {listed(mostly)}"
        said.append(f"Values of {which} are missing in more than half of the rows: better leave out what is guesswork.")
    found = dependent_gaps(values)
    if found:
        shown = "; ".join(f"those of {names[i]!r} on {names[j]!r}" for i, j in found[:3])
        more = len(found) - 3
        rest = f" (and {more} more)" if more > 0 else ""
        said.append(
            f"Gaps depend on other columns: {shown}{rest}. That is allowed for as long as they do not also depend on "
            "the values that are missing."
        )
    return said


def dependent_gaps(values: FloatArray) -> list[tuple[int, int]]:
    """Pairs (i, j), strongest first and one for each i: cells of i are missing more often for high or low values of j.

    By the correlation of the gap's indicator with ranks, at a level shared out over all pairs.
    """
    from scipy import stats  # slow to import, and needed where cells are missing alone

    mask = np.isnan(values)
    d = values.shape[1]
    gappy = np.flatnonzero(mask.any(axis=0))
    if not len(gappy):
        return []
    found: list[tuple[float, int, int]] = []
    for j in range(d):
        there = ~mask[:, j]
        ranks = stats.rankdata(values[there, j])
        n = len(ranks)
        if n < 10 or ranks.std() == 0:
            continue
        ranks = (ranks - ranks.mean()) / ranks.std()
        gaps = mask[there][:, gappy].astype(np.float64)
        spread = gaps.std(axis=0)
        usable = (spread > 0) & (gappy != j)
        r = (gaps - gaps.mean(axis=0)).T @ ranks / n / np.where(usable, spread, 1.0)
        p = 2 * stats.norm.sf(np.abs(r) * np.sqrt(n))
        limit = SIGNIFICANT / (len(gappy) * max(1, d - 1))
        found += [(-abs(float(r[k])), int(i), j) for k, i in enumerate(gappy) if usable[k] and p[k] < limit]
    strongest: dict[int, int] = {}
    for _, i, j in sorted(found):
        strongest.setdefault(i, j)
    return [(i, j) for _, i, j in sorted(found) if strongest[i] == j]
