"""What can be said of columns and of pairs of columns by formula: the first layer of the moments encoder.

All features are of order one, need no training, and come in both directions where they have one.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from precede.policy.inputs import Told

RIDGE = 1e-6
"""Added to the correlation matrix, so that collinear columns have an inverse."""

USUAL_SAMPLES = 300.0
"""The log of the number of samples is an input, relative to this many."""

N_BINS = 8
"""Bins of one column's ranks in which moments of another are taken."""

LARGEST = 4.0
"""Values enter third and fourth moments within these many standard deviations."""

SMALLEST_VARIANCE = 0.003
"""Variance within a bin, of a column with variance one, is taken as at least this."""

CODE_BINS = 16
"""Bins of equal width, within three standard deviations, by which the values of one column are coded."""

FEW_ROWS = 5.0
"""What a cell's setting did counts in full where it was set in many more rows than these."""

N_PAIR_FEATURES = 68
N_VARIABLE_FEATURES = 15


@dataclass(frozen=True)
class ColumnReadings:
    """Columns of some tables, with what is known of single cells; zero where a cell is missing.

    Parameters
    ----------
    values : (batch, n_variables, n_samples) tensor
        Standardized.
    scores : tensor of the same shape
        Normal scores of the ranks, standardized: the same for every monotone transform of a column.
    ties : tensor of the same shape
        Log of how often a cell's value is found in its column, from 0 (once) to 1 (always).
    positions : tensor of the same shape
        Mean rank as a share of the rows, between 0 and 1.
    seen, was_set : tensors of the same shape
        One for a cell that is there, zero for a missing one; one for a cell that an intervention set.
    log_scale : (batch, n_variables) tensor
    """

    values: Tensor
    scores: Tensor
    ties: Tensor
    positions: Tensor
    seen: Tensor
    was_set: Tensor
    log_scale: Tensor

    @property
    def n_seen(self) -> Tensor:
        """How many cells of each column are there, (batch, n_variables)."""
        return self.seen.sum(2).clamp_min(1.0)


@torch.no_grad()
def read_columns(inputs: Tensor, told: Told) -> ColumnReadings:
    """Columns of inputs (batch, n_variables, n_samples + 1): values, NaN for a missing cell, and the log scale last."""
    raw = inputs[:, :, :-1].contiguous()
    seen = (~raw.isnan()).to(raw.dtype)
    last = raw.nan_to_num(torch.inf, torch.inf)  # missing cells rank after all others
    ordered = last.sort(2).values
    below = torch.searchsorted(ordered, last)
    upto = torch.searchsorted(ordered, last, right=True)
    count = seen.sum(2, keepdim=True).clamp_min(1.0)
    positions = (0.5 * (below + upto) / count).clamp(0.5 / raw.shape[2], 1 - 0.5 / raw.shape[2])
    scores = math.sqrt(2) * torch.erfinv(2 * positions - 1) * seen
    scores = (scores - scores.sum(2, keepdim=True) / count) * seen
    scores = scores * torch.rsqrt((scores.square().sum(2, keepdim=True) / count).clamp_min(1e-6))
    ties = (upto - below).clamp_min(1).log() / count.clamp_min(2.0).log() * seen
    return ColumnReadings(
        raw.nan_to_num(0.0), scores, ties, positions * seen, seen, told.was_set * seen, inputs[:, :, -1]
    )


@torch.no_grad()
def classical_features(columns: ColumnReadings, told: Told) -> tuple[Tensor, Tensor]:
    r"""Features of pairs and of single columns.

    With R the correlation matrix and z the log scale: :math:`\rho_{ij}`, the partial correlation given all others, the
    log residual scales :math:`\tfrac12 \log(1 - \rho_{ij}^2)` and :math:`-\tfrac12 \log (R^{-1})_{ii}`, alone
    and with z added (the scale of what is left), third and fourth moments, the number of samples; the same
    correlations of normal scores; moments of one column within bins of the other (:func:`binned_moments`); of single
    columns also how many distinct values they have, how often the commonest, the least and the greatest is found, how
    many cells are missing and how many were set, whether levels have no order, and their :func:`code_length`; of pairs
    also what is known (required and forbidden, either way), what setting one did to the other (:func:`responses`), what
    third columns say (:func:`triples`), how what all others leave depends on the other's (:func:`dependence_left`), and
    the code length of one and of the other given it, less that the other way round.

    Returns
    -------
    pairs : (batch, n_variables, n_variables, N_PAIR_FEATURES) tensor
    variables : (batch, n_variables, N_VARIABLE_FEATURES) tensor
    """
    x, z = columns.values, columns.log_scale
    n = x.shape[2]
    both = (columns.seen @ columns.seen.mT).clamp_min(1.0)  # rows in which both cells are there
    rho, partial, left, left_all, rest = correlations(x, both)
    score_rho, score_partial, *_ = correlations(columns.scores, both)
    square, cube = x.square(), x.clamp(-5, 5) ** 3
    skewed = square @ x.mT / both  # [i, j]: E x_i² x_j
    peaked = cube @ x.mT / both
    bent = x.tanh() @ x.mT / both
    score_skewed = columns.scores.square() @ columns.scores.mT / both
    clipped = x.clamp(-LARGEST, LARGEST)
    joint = clipped.square() @ clipped.square().mT / both
    size = torch.full_like(rho, math.log(n / USUAL_SAMPLES))
    here, there = z[:, :, None].expand_as(rho), z[:, None, :].expand_as(rho)
    pairs = [rho, partial, left, here + left, there + left, here - there]
    pairs += both_ways(skewed.asinh(), peaked.asinh())
    pairs += [(peaked - peaked.mT).asinh(), size, score_rho, score_partial, (bent - bent.mT) * 3]
    binned, code = binned_moments(columns), code_length(columns)
    pairs += [*both_ways(score_skewed.asinh()), joint.log1p() - math.log(2.0), *both_ways(*binned)]
    # new features come last: a network that was trained without them has no weight for them
    pairs += both_ways(told.required.to(x.dtype), told.forbidden.to(x.dtype), *responses(columns))
    least, opened, closed = triples(score_rho)
    length = code[:, :, None] + binned[1]  # of i, and of j within bins of i
    pairs += [(least * math.sqrt(n)).asinh() / 3, length - length.mT]
    pairs += both_ways(opened, closed, *dependence_left(rest * columns.seen))
    return torch.stack(pairs, dim=3), _variable_features(columns, left_all, code, told)


def both_ways(*features: Tensor) -> list[Tensor]:
    """Each feature of i and j, and the same of j and i."""
    return [part for feature in features for part in (feature, feature.mT)]


def responses(columns: ColumnReadings) -> list[Tensor]:
    r"""What setting i does to j: rows in which i was set and j was not, beside rows in which neither was.

    Returns
    -------
    features : list of (batch, n_variables, n_variables) tensors
        ``[i, j]``: the correlation in the first rows, and in the second; the log of how much the first is beyond
        chance; the shift of j's mean from the second rows to the first in j's deviations, and in standard errors; the
        log of how its deviation changes; how many rows there are. All are zero in a table in which nothing was set.
    """
    y = columns.values.clamp(-LARGEST, LARGEST)
    was_set, free = columns.was_set, columns.seen - columns.was_set
    set_count, there, set_variance, set_correlation = _moments_in(was_set, free, y)
    free_count, usual, variance, correlation = _moments_in(free, free, y)
    counts = set_count / (set_count + FEW_ROWS)
    some = (was_set.amax((1, 2)) > 0)[:, None, None]
    shift = there - usual
    error = set_variance / set_count.clamp_min(1.0) + variance / free_count.clamp_min(1.0)
    return [
        counts * set_correlation,
        some * correlation,
        counts * (set_correlation * set_count.sqrt()).asinh() / 3,
        counts * (shift * torch.rsqrt(variance)).clamp(-LARGEST, LARGEST),
        counts * (shift * torch.rsqrt(error)).asinh() / 3,
        counts * 0.5 * (set_variance / variance).log().clamp(-LARGEST, LARGEST),
        set_count.log1p() / 5,
    ]


def _moments_in(here: Tensor, there: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Count, mean and variance of j, and correlation over rows in which i is ``here`` and j is ``there``."""
    count = here @ there.mT
    n = count.clamp_min(1.0)
    first, second = (here * y) @ there.mT / n, here @ (there * y).mT / n
    own = ((here * y.square()) @ there.mT / n - first.square()).clamp_min(SMALLEST_VARIANCE)
    other = (here @ (there * y.square()).mT / n - second.square()).clamp_min(SMALLEST_VARIANCE)
    covariance = (here * y) @ (there * y).mT / n - first * second
    return count, second, other, (covariance * torch.rsqrt(own * other)).clamp(-1, 1)


def triples(rho: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    r"""What third columns say of a pair, by partial correlations :math:`\rho_{ij \cdot k}` given one column.

    Returns
    -------
    least, opened, closed : (batch, n_variables, n_variables) tensors
        ``[i, j]``: the least correlation of i and j given any column or none; by how much j makes i more alike to some
        third column, as a common effect does; by how much less alike, as a common cause or a step between does.
    """
    eye = torch.eye(rho.shape[1], dtype=torch.bool, device=rho.device)
    beside = eye[:, None] | eye  # [i, j, k]: k is one of the two
    own = (1 + RIDGE - rho.square()).rsqrt()
    alike = rho.abs()[:, :, :, None]
    given = rho[:, :, :, None] - rho[:, :, None, :] * rho[:, None, :, :]
    given = (given * own[:, :, None, :] * own[:, None, :, :]).abs().clamp_max(1.0)
    given = torch.where(beside, alike, given)
    change = given - alike  # [i, k, j] for what j does to i and k
    return given.amin(3), change.amax(2), -change.amin(2)


def dependence_left(rest: Tensor) -> list[Tensor]:
    r"""How r, which the columns but j leave of i, depends on u, which all leave of j: by construction uncorrelated.

    Where i causes j in a linear model, j causes nothing and nothing is hidden, they are independent.

    Parameters
    ----------
    rest : (batch, n_variables, n_samples) float64 tensor
        What all others leave of each column, standardized. With q the correlation of two of them,
        :math:`r = (u_i - q u_j) / \sqrt{1 - q^2}`.

    Returns
    -------
    features : list of (batch, n_variables, n_variables) tensors
        ``[i, j]``: :math:`E r^2 u`, :math:`E r^3 u` and :math:`E r^2 u^2`, on scales of order one.
    """
    n = rest.shape[2]
    u = rest.clamp(-LARGEST, LARGEST)
    u = u * torch.rsqrt(u.square().mean(2, keepdim=True).clamp_min(1e-6))
    square, cube = u.square(), u**3
    q, m21, m31, m22 = u @ u.mT / n, square @ u.mT / n, cube @ u.mT / n, square @ square.mT / n
    m12, m13, m03, m04 = m21.mT, m31.mT, cube.mean(2)[:, None], square.square().mean(2)[:, None]
    left = (1 - q.square()).clamp_min(0.05)
    third = (m21 - 2 * q * m12 + q**2 * m03) / left
    fourth = (m31 - 3 * q * m22 + 3 * q**2 * m13 - q**3 * m04) / left**1.5
    sizes = (m22 - 2 * q * m13 + q**2 * m04) / left
    features = third.asinh(), fourth.asinh(), sizes.clamp_min(0.0).log1p() - math.log(2.0)
    return [feature.float() for feature in features]


def code_length(columns: ColumnReadings) -> Tensor:
    """Nats that a cell of each column costs in bins of equal width beyond a Gaussian's, (batch, n_variables)."""
    place = (columns.values.clamp(-3, 3) + 3) / 6
    bins = (place * CODE_BINS).long().clamp_max(CODE_BINS - 1)
    share = place.new_zeros((*bins.shape[:2], CODE_BINS)).scatter_add_(2, bins, columns.seen)
    share = share / columns.n_seen[:, :, None]
    entropy: Tensor = torch.special.entr(share).sum(2)
    return entropy + math.log(6 / CODE_BINS) - 0.5 * math.log(2 * math.pi * math.e)


def correlations(x: Tensor, both: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Correlations, partial correlations, log residual scales given one other column and given all others.

    The last is what all others leave of each column, (batch, n_variables, n_samples) in double precision, standardized.

    Parameters
    ----------
    x : (batch, n_variables, n_samples) tensor
        Standardized, zero where missing.
    both : (batch, n_variables, n_variables) tensor
        In how many rows both columns are there.
    """
    d, n = x.shape[1:]
    precise = x.double()  # collinear columns: 1 - R² can be far below single precision
    eye = torch.eye(d, dtype=torch.float64, device=x.device)
    products = precise @ precise.mT
    rho = (products / both).clamp(-1.0, 1.0)
    # over all rows, missing cells as zero: positive definite in any case, and the same where none is missing
    filled = products / n
    spread = filled.diagonal(dim1=1, dim2=2).clamp_min(1e-12).sqrt()
    filled = filled / (spread[:, :, None] * spread[:, None, :])
    inverse = torch.linalg.inv_ex(filled + RIDGE * eye).inverse  # not checked: a GPU would have to wait
    diagonal = inverse.diagonal(dim1=1, dim2=2).clamp_min(1.0)
    partial = (-inverse / (diagonal[:, :, None] * diagonal[:, None, :]).sqrt()).clamp(-1, 1)
    left = 0.5 * torch.log1p(RIDGE - rho.square().clamp_max(1.0)).clamp_min(-10.0)
    rest = inverse @ (precise / spread[:, :, None]) / diagonal.sqrt()[:, :, None]
    return rho.float(), partial.float(), left.float(), (-0.5 * diagonal.log()).float(), rest


def binned_moments(columns: ColumnReadings) -> list[Tensor]:
    r"""How one column is distributed given another: moments of j within bins of the ranks of i.

    Returns
    -------
    features : list of (batch, n_variables, n_variables) tensors
        ``[i, j]``, for the values of j and then for its normal scores: the share of variance that the means explain,
        the mean log scale within bins, how much that scale varies (heteroscedasticity), how much the skewness varies,
        and the mean skewness.
    """
    batch, d, n = columns.values.shape
    bins = (columns.positions * N_BINS).long().clamp_max(N_BINS - 1)
    indicator = torch.zeros((batch, d, N_BINS, n), device=bins.device).scatter_(2, bins[:, :, None, :], 1.0)
    indicator = (indicator * columns.seen[:, :, None, :]).view(batch, d * N_BINS, n)

    def sums(y: Tensor) -> Tensor:
        """Sum of column j over the rows of each bin of i, (batch, i, bin, j)."""
        return (indicator @ y.mT).view(batch, d, N_BINS, d)

    count = sums(columns.seen)
    share = count / count.sum(2, keepdim=True).clamp_min(1.0)
    count = count.clamp_min(1.0)
    features = []
    for y in (columns.values.clamp(-LARGEST, LARGEST), columns.scores):
        first, second, third = (sums(y**power) / count for power in (1, 2, 3))
        variance = (second - first.square()).clamp_min(SMALLEST_VARIANCE)
        skewness = (third - 3 * first * second + 2 * first**3) / variance**1.5
        skewness = skewness.clamp(-LARGEST, LARGEST)
        log_scale = 0.5 * variance.log()
        mean_scale, mean_skewness = ((share * part).sum(2) for part in (log_scale, skewness))
        features += [
            (share * first.square()).sum(2),
            mean_scale,
            (share * (log_scale - mean_scale[:, :, None]).square()).sum(2).sqrt(),
            (share * (skewness - mean_skewness[:, :, None]).square()).sum(2).sqrt(),
            mean_skewness,
        ]
    return features


def _variable_features(columns: ColumnReadings, left_all: Tensor, code: Tensor, told: Told) -> Tensor:
    x, z, count = columns.values, columns.log_scale, columns.n_seen
    n = x.shape[2]
    square = x.square()
    often = columns.ties * count.clamp_min(2.0).log()[:, :, None]  # log of how often a value is found
    distinct = ((-often).exp() * columns.seen).sum(2).clamp_min(1.0)
    ends = columns.positions.masked_fill(columns.seen == 0, 0.5)
    least, greatest = 2 * ends.amin(2), 2 * (1 - ends.amax(2))  # a value's mean rank is half its share of the ends
    return torch.stack(
        [
            z,
            left_all,
            z + left_all,
            ((x * square).sum(2) / count).asinh(),
            (square.square().sum(2) / count).clamp_min(0.1).log() - 1.0,
            torch.full_like(z, math.log(n / USUAL_SAMPLES)),
            distinct.log() / count.clamp_min(2.0).log(),
            distinct.log() / 4.0,
            columns.ties.amax(2),
            least.clamp(0.0, 1.0),
            greatest.clamp(0.0, 1.0),
            1 - count / n,
            columns.was_set.sum(2) / count,
            told.unordered.to(x.dtype),
            code,
        ],
        dim=2,
    )
