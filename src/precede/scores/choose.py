"""score="auto": which score the data call for, with the reason in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from precede.arrays import BoolArray, FloatArray
from precede.data.load import Table
from precede.data.odd import FEW, MANY
from precede.data.table import evenly_spaced
from precede.errors import DataError
from precede.ranks import rank_correlation
from precede.scores.covariance import covariance, regularized, standardized
from precede.scores.levels import KindScoreName, score_for
from precede.scores.parent_tables import hinge_basis
from precede.scores.shape import SMALLEST_EVIDENCE, negentropy

N_WAVES = 100
"""Random Fourier features of a joint curve."""

BEND_RIDGE = 3.0
"""Rows that speak against each of them, and against each hinge."""

CURVE_ROWS = 1000
"""Rows that are looked at, evenly spaced."""

LEAST_GAIN, CLEAR_GAIN = 0.005, 0.025
"""Nats per row that the curve must gain over the plane, on rows left out, to count at all, and to count fully."""

CHANCE_ROWS = 1.0
"""Nats over all rows that are added to both: with few rows a gain is mostly chance."""


def share_of_curved_mechanisms(columns: FloatArray, edges: BoolArray) -> float:
    r"""Share of the variables with causes that a joint curve of these explains better than a plane.

    A function of several variables may look like a line in each of them, so that pairs tell little:

    .. math:: y = b + w^\top x + \sum_k a_k \cos(\omega_k^\top x + \varphi_k), \qquad \omega_k \sim N(0, I / p),

    with a ridge on the a, against the plane alone; each row is predicted from all the others.

    Parameters
    ----------
    columns : (n_samples, n_variables) array
        Standardized.
    edges : (n_variables, n_variables) bool array
        Supposed causes, ``[i, j]`` for i -> j.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, y, noise = rng.normal(size=(3, 600))
    >>> edges = np.array([[False, False, True], [False, False, True], [False, False, False]])
    >>> share_of_curved_mechanisms(np.column_stack([x, y, x * y + noise]), edges)
    1.0
    >>> share_of_curved_mechanisms(np.column_stack([x, y, x + y + noise**3]), edges)
    0.0
    """
    return share_of_gains(_gains(columns, edges, 1)[0], len(columns))


def share_of_gains(gains: FloatArray, n_rows: int) -> float:
    """Share of the gains, in nats per row, that count."""
    chance = CHANCE_ROWS / n_rows
    return soft_share(gains, LEAST_GAIN + chance, CLEAR_GAIN + chance)


def gain_of_adding_up(columns: FloatArray, edges: BoolArray) -> float:
    """Nats per row that a sum of curves gains over a joint curve, mean over the variables with several causes.

    Both have a plane beside them and the same ridge; hinges of each cause against waves of all. Parameters as in
    :func:`share_of_curved_mechanisms`; zero where no variable has two causes.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, y, noise = rng.normal(size=(3, 600))
    >>> edges = np.array([[False, False, True], [False, False, True], [False, False, False]])
    >>> added, multiplied = np.abs(x) + np.sin(2 * y), np.abs(x) * np.sin(2 * y)
    >>> tables = [np.column_stack([x, y, effect + 0.3 * noise]) for effect in (added, multiplied)]
    >>> [gain_of_adding_up(table, edges) > 0 for table in tables]
    [True, False]
    """
    jointly, added = _gains(columns, edges, 2)
    return float(np.mean(added - jointly)) if len(added) else 0.0


def _gains(columns: FloatArray, edges: BoolArray, fewest: int) -> FloatArray:
    """What a joint curve and a sum of curves gain over a plane, (2, n_effects), for effects with this many causes."""
    columns = columns[evenly_spaced(len(columns), CURVE_ROWS)]
    effects = np.flatnonzero(edges.sum(axis=0) >= fewest)
    gains = [_gain(columns[:, np.flatnonzero(edges[:, v])], columns[:, v]) for v in effects]
    return np.array(gains).reshape(-1, 2).T


def _gain(causes: FloatArray, effect: FloatArray) -> tuple[float, float]:
    """Nats per row that a joint curve and a sum of curves gain over a plane."""
    hinges = np.column_stack([hinge_basis(cause)[:, 2:] for cause in causes.T])
    left = [_left_by_bends(causes, bends, effect) for bends in (causes[:, :0], _waves(causes), hinges)]
    straight, jointly, added = (0.5 * np.log(max(float(np.square(rest).mean()), 1e-12)) for rest in left)
    return straight - jointly, straight - added


def _waves(causes: FloatArray) -> FloatArray:
    """Random Fourier features of all causes together, the same for as many causes."""
    p, rng = causes.shape[1], np.random.default_rng(0)
    waves: FloatArray = np.cos(
        causes @ (rng.normal(size=(p, N_WAVES)) / np.sqrt(p)) + rng.uniform(0, 2 * np.pi, N_WAVES)
    )
    return waves


def _left_by_bends(causes: FloatArray, bends: FloatArray, target: FloatArray) -> FloatArray:
    """Residuals of rows left out beside a plane and bends, with a ridge on these."""
    plane = np.column_stack([np.ones(len(causes)), causes])
    ridge = np.append(np.zeros(plane.shape[1]), np.full(bends.shape[1], BEND_RIDGE))
    return left_out_residuals(np.column_stack([plane, bends]), target, ridge)


ChosenName = (
    Literal["linear-any", "sparse-linear", "sparse-gp", "sparse-gp-additive", "location-scale", "policy", "vote"]
    | KindScoreName
)

MOST_ROWS = 3000
"""Rows that are looked at, evenly spaced: enough for every test here."""

CURVED_SHARE = 0.25
"""Share of the pairs, or of the supposed mechanisms, that must be curved for the data to count as nonlinear."""

ADDS_UP, ADDS_UP_ROWS = 0.02, 5.0
"""Nats per row, and over all rows, that sums of curves must gain over joint ones for mechanisms to be additive."""

SMALLEST_SPACING = 0.01
"""Spacings of standardized order statistics are taken as at least this."""

MOST_UNEVEN = 0.2
"""Share of the variables whose noise may depend on their causes before classes with additive noise are given up."""

FEW_DISTINCT = 0.2
"""A column with fewer distinct values, as a share of the rows, is rounded: its noise is not what a density says."""

FEW_MISSING = 0.01
"""Share of missing cells up to which what was drawn to fill them cannot sway a density."""

MOST_ROUNDED = 0.25
"""Share of such columns from which on scores of densities are given up."""

FEWEST_VARIABLES = 3
"""With fewer there is one pair, and no class of directed models is trusted on its word alone."""

MOST_GP_VARIABLES = 150
"""The table of GP evidence is too slow beyond this."""


@dataclass(frozen=True)
class Choice:
    """A score by name, why, the figures behind it (JSON-ready), and whether the policy's evidence counts beside it."""

    name: ChosenName
    reason: str
    figures: dict[str, float]
    informed: bool = False


def choose_score(table: Table, *supposed: BoolArray) -> Choice:
    r"""Choose a score from what the data show, and check on held-out rows that its class of models holds.

    Where a column is categorical, or none is a plain number, kinds decide
    (:func:`precede.scores.levels.score_for`). Else a class is named:

    1. *Curved?* For the d most dependent pairs of variables, the likelihood of rows left out of a bivariate model is
       compared: :math:`-H(x) - H(y - \hat f(x))` with :math:`\hat f` a spline or a line, each in its better direction,
       and the entropies H free of any shape. (In linear non-Gaussian data the regression of a cause on its effect is
       curved too, but the line the other way does as well; so both directions must be tried.) Where a quarter of the
       pairs are curved, or a quarter of the mechanisms that a policy supposes (a joint curve of several causes shows in
       no pair, ``precede.scores.choose``): "sparse-gp", or "sparse-gp-additive" where sums of curves fit those
       mechanisms better than joint ones.
    2. Else the data look linear, and noise may have any shape and variance: "linear-any", which says by itself which
       directions can be told.

    Shares are of gains with a margin that fades in, means over what is supposed at several cuts of the policy's
    probabilities, and every row is predicted from all the others, so that a few rows more or less hardly matter; with
    few rows a gain must be larger.

    The class has to survive: noise that does not depend on the causes (``share_with_uneven_noise``), and
    columns that are not rounded. Where it does not, a score would prefer wrong orders, the more surely the more rows
    there are; then several classes and the pretrained policy vote (``score="vote"``), or the policy answers
    alone where many cells are missing ("policy"). Of two columns that are not Gaussian, where one pair is all there is
    to name a class by, the policy has its say beside a density that takes little for granted ("location-scale").
    Without a policy to fall back on, the class is taken as it is.

    Equal noise variances are never assumed: ask for ``score="linear"`` to do so.

    Parameters
    ----------
    table : Table
    *supposed : (n_variables, n_variables) bool arrays
        Edges that a pretrained policy finds likely, ``[i, j]`` for i -> j, at one or more cuts: the causes that noise
        is compared with. None without a policy.

    Returns
    -------
    Choice

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.normal(size=500)
    >>> curved = np.column_stack([cause, np.sin(3 * cause) + 0.2 * rng.normal(size=500)])
    >>> choice = choose_score(Table(curved, ("cause", "effect"), True))
    >>> choice.name
    'sparse-gp'
    >>> print(choice.reason)
    100% of the most dependent pairs are curved: nonlinear.
    """
    if table.is_wide:
        reason = (
            f"There are no more rows ({table.n_samples}) than columns ({table.n_variables}): linear Gaussian, with few "
            "causes each. Curves and the shape of noise cannot be told from so few rows."
        )
        return Choice("sparse-linear", reason, {"n_samples": float(table.n_samples)})
    by_kind = score_for(table.kinds)
    if by_kind is not None and (not supposed or _by_levels_alone(table)):
        return Choice(*by_kind, {})
    if table.targets is not None:
        return Choice("sparse-linear", "Interventions are known: linear Gaussian, each variable from its own rows.", {})
    rows = table.values
    constant = (rows == rows[:1]).all(axis=0)
    if constant.any():
        raise DataError(f"column {table.names[int(constant.argmax())]!r} is constant: leave it out.")
    columns = standardized(rows[evenly_spaced(len(rows), MOST_ROWS)])
    m = len(columns)
    named = _class_of(columns, supposed)
    if not supposed:
        return named
    curved = named.name.startswith("sparse-gp")
    uneven = float(np.mean([share_with_uneven_noise(columns, edges, curved=curved) for edges in supposed]))
    rounded = float(np.mean([len(np.unique(column)) < FEW_DISTINCT * m for column in columns.T]))
    figures = named.figures | {"uneven_noise": uneven, "rounded_columns": rounded}
    if uneven > MOST_UNEVEN:
        broken = f"In {uneven:.0%} of the variables the size of the noise depends on the causes"
    elif rounded > MOST_ROUNDED:
        broken = f"{rounded:.0%} of the columns are rounded to few distinct values"
    elif columns.shape[1] < FEWEST_VARIABLES and (named.name != "linear-any" or has_shape(columns)):
        broken = "One pair of variables is too little to tell which class of models holds"
    elif named.name == "linear-any" and table.odd is not None and table.odd.mean() > MANY and table.odd.sum() > FEW:
        reason = "Many cells are odd, and others may be that nobody can tell: the shape of the noise is not heard."
        return Choice("sparse-linear", reason, figures)
    else:
        return Choice(named.name, named.reason, figures)
    broken = f"{broken}: no score with additive noise is safe here (the nearest would be {named.name!r})"
    if table.gaps is not None and table.gaps.mask.mean() > FEW_MISSING:
        return Choice("policy", f"{broken}, so the pretrained policy's own answer stands.", figures)
    if columns.shape[1] >= FEWEST_VARIABLES:
        return Choice("vote", f"{broken}, so several classes of models vote.", figures)
    return Choice(
        "location-scale",
        f"{broken}, so noise may depend on the causes, and what the policy says of the edges counts as well.",
        figures,
        informed=True,
    )


def _by_levels_alone(table: Table) -> bool:
    """Whether levels have no order, variables were set, or a count of levels does better than the policy."""
    kinds = table.kinds
    categories = any(kind.name == "categorical" for kind in kinds)
    return categories or table.targets is not None or all(kind.name != "number" for kind in kinds)


def _class_of(columns: FloatArray, supposed: Sequence[BoolArray]) -> Choice:
    """Curved, linear non-Gaussian or linear Gaussian, with the reason."""
    m, d = columns.shape
    curved = share_of_curved_pairs(columns)
    figures = {"curved_pairs": curved, "n_samples": float(m)}
    share, bent, what = curved, "of the most dependent pairs are curved", "of the most dependent pairs"
    if supposed:
        jointly = [share_of_curved_mechanisms(columns, edges) for edges in supposed if edges.any()]
        figures["curved_mechanisms"] = float(np.mean(jointly or 0.0))
        if jointly:  # shared causes with noise that is not Gaussian bend pairs as well
            share, bent = figures["curved_mechanisms"], "of the variables are a curved function of their likely causes"
            what = "of the supposed mechanisms"
    if share >= CURVED_SHARE:
        reason = f"{share:.0%} {bent}: nonlinear"
        if d > MOST_GP_VARIABLES:
            return Choice(
                "linear-any",
                f"{reason}, but {d} variables are too many for GP evidence (at most {MOST_GP_VARIABLES}): the linear "
                "score is an approximation here.",
                figures,
            )
        if supposed:
            figures["gain_of_adding_up"] = float(np.mean([gain_of_adding_up(columns, edges) for edges in supposed]))
            if figures["gain_of_adding_up"] > ADDS_UP + ADDS_UP_ROWS / m:
                return Choice("sparse-gp-additive", f"{reason}, and the curves of several causes add up.", figures)
        return Choice("sparse-gp", f"{reason}.", figures)
    return Choice(
        "linear-any",
        f"A line fits {1 - share:.0%} {what} as well as a curve: linear, and noise may have any shape. "
        "Scale is taken as arbitrary; score='linear' assumes equal noise variances.",
        figures,
    )


def has_shape(columns: FloatArray) -> bool:
    """Whether any variable is clearly not Gaussian given all the others linearly."""
    columns = columns[:, columns.any(axis=0)]  # one may be constant among the rows that are looked at
    precision = np.linalg.inv(regularized(covariance(columns)))
    residuals = columns @ precision / np.diag(precision)
    least = np.log(len(columns)) + SMALLEST_EVIDENCE
    return any(len(columns) * negentropy(residual) > least for residual in residuals.T)


def share_of_curved_pairs(columns: FloatArray) -> float:
    """Share of the most dependent pairs that a curve explains better than a line does in either direction.

    Parameters
    ----------
    columns : (n_samples, n_variables) array
        Standardized.
    """
    d = columns.shape[1]
    if d < 2:
        return 0.0
    bases = [hinge_basis(columns[:, i]) for i in range(d)]
    rows = evenly_spaced(len(columns), max(CURVE_ROWS, SCREENED // d))
    screened, at_once = columns[rows], range(0, d, BASES_AT_ONCE)
    some = [basis[rows] for basis in bases]
    blocks = [_left_out_squares(some[k : k + BASES_AT_ONCE], screened, screened**2) for k in at_once]
    left = np.concatenate(blocks)  # j given i at [i, j]
    upper = np.triu_indices(d, 1)
    strongest = np.argsort(np.minimum(left, left.T)[upper])[:d]  # transposed: the other direction
    entropy = [spacing_entropy(columns[:, i]) for i in range(d)]
    straight, curved = np.full((2, len(strongest)), np.inf)
    for pair, (i, j) in enumerate(zip(upper[0][strongest], upper[1][strongest], strict=True)):
        for cause, effect in ((i, j), (j, i)):
            line = left_out_residuals(bases[cause][:, :2], columns[:, effect])
            curve = left_out_residuals(bases[cause], columns[:, effect])
            straight[pair] = min(straight[pair], entropy[cause] + spacing_entropy(line))
            if curve.var() < line.var():  # entropy alone is a poor judge of coarse, tied values
                curved[pair] = min(curved[pair], entropy[cause] + spacing_entropy(curve))
    return share_of_gains(np.maximum(straight - curved, 0.0), len(columns))


def spacing_entropy(sample: FloatArray) -> float:
    r"""Entropy from spacings (Vasicek 1976), :math:`\frac1n \sum \log \frac{n}{2w} (x_{(i+w)} - x_{(i-w)})`.

    The window w is the root of n; ends are repeated, and a spacing has a floor, since values may be tied.
    """
    n = len(sample)
    window = round(np.sqrt(n))
    padded = np.pad(np.sort(sample), window, mode="edge")
    spacings = np.maximum(padded[2 * window :] - padded[: -2 * window], SMALLEST_SPACING)
    return float(np.log(spacings * (n / (2 * window))).mean())


MOST_CAUSES = 6
LEAST_TREND, CLEAR_TREND = 0.1, 0.2
"""Rank correlations of a residual's size with a cause, or with the fit, at which noise begins to count as uneven, and
at which it does so fully."""

CHANCE = 3.3
"""Standard deviations of a rank correlation of nothing that do not count."""

MOST_LEVERAGE = 0.95


def left_out_residuals(basis: FloatArray, targets: FloatArray, ridge: FloatArray | float = 0.0) -> FloatArray:
    """Residual of every row, predicted by the least-squares fit of all the others: no part of the rows decides.

    Parameters
    ----------
    basis : (n_samples, n_terms) array
    targets : (n_samples,) or (n_samples, n_targets) array
    ridge : float or (n_terms,) array
        Rows that speak against each term.
    """
    solved, leverage = _hat(basis, ridge)
    left: FloatArray = (targets - basis @ (solved @ targets)) / (1 - leverage).reshape(-1, *[1] * (targets.ndim - 1))
    return left


def _hat(basis: FloatArray, ridge: FloatArray | float = 0.0) -> tuple[FloatArray, FloatArray]:
    """What gives the coefficients of a target, (n_terms, n_samples), and the leverage of each row."""
    # a little ridge in any case, since hinges may coincide where values are tied
    penalty = np.broadcast_to(ridge, basis.shape[1]) + 1e-8 * len(basis)
    solved = np.linalg.solve(basis.T @ basis + np.diag(penalty), basis.T).astype(np.float64)
    return solved, np.asarray(np.minimum(np.einsum("ij,ji->i", basis, solved), MOST_LEVERAGE))


SCREENED = 300_000
"""Cells by which pairs are told that are worth a look, where those of a thousand rows are not more."""

BASES_AT_ONCE = 16
"""So many make products of matrices that are worth it, and no more room is taken than for the columns."""


def _left_out_squares(bases: list[FloatArray], columns: FloatArray, squared: FloatArray) -> FloatArray:
    r"""Mean squares of left-out residuals, (n_bases, n_columns), from sums over the rows.

    .. math:: \sum_i w_i (y_i - b_i^\top c)^2 = w^\top y^2 - 2 c^\top B^\top W y + c^\top B^\top W B c

    with the coefficients c, and :math:`w_i` one over the square of one minus the leverage.
    """
    hats = [_hat(basis) for basis in bases]
    weights = [1 / (1 - leverage) ** 2 for _, leverage in hats]
    weighted = [basis.T * w for basis, w in zip(bases, weights, strict=True)]
    shape = (len(bases), -1, columns.shape[1])
    fitted = (np.concatenate([solved for solved, _ in hats]) @ columns).reshape(shape)
    cross = (np.concatenate(weighted) @ columns).reshape(shape)
    middle = np.stack([one @ basis for one, basis in zip(weighted, bases, strict=True)])
    left: FloatArray = np.array(weights) @ squared + (fitted * (middle @ fitted - 2 * cross)).sum(axis=1)
    return left / len(columns)


def soft_share(strengths: FloatArray, low: float, high: float) -> float:
    """Mean of strengths that count from low on, and fully from high on; 0 where there are none.

    A share that small changes of the rows change little: a count of those above a limit would jump.

    Examples
    --------
    >>> soft_share(np.array([0.1, 0.2, 0.5, 0.0]), 0.1, 0.3)
    0.375
    """
    return float(np.clip((strengths - low) / (high - low), 0, 1).mean()) if len(strengths) else 0.0


def share_with_uneven_noise(columns: FloatArray, edges: BoolArray, *, curved: bool) -> float:
    """Share of the variables with causes whose noise grows or shrinks with a cause or with the fit.

    Each variable is regressed on its causes, each row by the fit of the others, and the size of the
    residual is compared with the fitted value and with every cause by rank correlation. A monotone trend is what is
    asked for: what a fit has missed rarely has one.

    Parameters
    ----------
    columns : (n_samples, n_variables) array
        Standardized.
    edges : (n_variables, n_variables) bool array
        Supposed causes, ``[i, j]`` for i -> j.
    curved : bool
        A joint curve of the causes instead of a plane.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cause, noise = rng.normal(size=(2, 600))
    >>> edges = np.array([[False, True], [False, False]])
    >>> share_with_uneven_noise(np.column_stack([cause, cause + noise]), edges, curved=False)
    0.0
    >>> share_with_uneven_noise(np.column_stack([cause, cause + noise * np.exp(cause)]), edges, curved=False)
    1.0
    """
    effects = np.flatnonzero(edges.any(axis=0))
    causes = [np.flatnonzero(edges[:, v])[:MOST_CAUSES] for v in effects]
    trends = np.array([_trend(columns[:, i], columns[:, v], curved) for i, v in zip(causes, effects, strict=True)])
    least = max(LEAST_TREND, CHANCE / np.sqrt(len(columns)))
    return soft_share(trends, least, least + CLEAR_TREND - LEAST_TREND)


def _trend(causes: FloatArray, effect: FloatArray, curved: bool) -> float:
    """Largest rank correlation of the residual's size."""
    left = _left_by_bends(causes, _waves(causes) if curved else causes[:, :0], effect)
    varied = [other for other in (effect - left, *causes.T) if np.ptp(other) > 0]  # not constant among these rows
    return max((abs(rank_correlation(np.abs(left), other)[0]) for other in varied if np.ptp(left) > 0), default=0.0)
