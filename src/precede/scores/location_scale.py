"""Conditional densities: location and scale from the parents, and a residual of any shape, judged on held-out rows."""

from collections.abc import Sequence

import numpy as np
import torch

from precede.arrays import FloatArray, IntArray
from precede.data.table import evenly_spaced
from precede.ranks import normal_scores
from precede.scores.assumptions import Assumptions
from precede.scores.covariance import standardized
from precede.scores.parent_tables import N_KNOTS, hinge_basis
from precede.scores.protocol import ParentSet

MOST_ROWS = 1000
"""Rows that are looked at, evenly spaced."""

N_CANDIDATES = 10
"""Candidate parents of each variable at most."""

SETS = 40
"""Sets that are scored at most for each variable, half of them in the table: 7 ms each at 20 variables and 500 rows."""

N_PARTS = 3
"""Parts of the rows, each judged by what was fitted to the others."""

BEND_RIDGE, SCALE_RIDGE = 2.0, 20.0
"""Rows that speak for a straight line and for a constant scale; a bend of the scale costs twice."""

SMALLEST_SQUARE = 1e-3
"""Added to squared residuals, as a share of their mean, before the logarithm."""

BANDWIDTHS = (1.0, 0.7, 0.5, 0.35, 0.25, 0.15)
"""Of the residual's density, beside that of a Gaussian: the nearest to its middle half is taken."""

WIDE = 0.05
"""Part of the residual's density that is wide (Student's t), so that no held-out row is impossible."""

REACH, N_BINS = 8.0, 400
"""Residuals are binned between minus and plus this many standard deviations."""

ASSUMED = Assumptions(
    "additive",
    words="Every variable has a location and a scale that are sums of curves of few causes; the noise may have any "
    "shape.",
)


def spread_ties(column: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Spread values that occur several times over the gap to their neighbors: rounded values have no density.

    Examples
    --------
    >>> spread_ties(np.array([0.0, 0.0, 1.0, 1.0]), np.random.default_rng(0)).round()
    array([ 0., -0.,  1.,  1.])
    """
    values, place, counts = np.unique(column, return_inverse=True, return_counts=True)
    if len(values) < 2 or counts.max() == 1:
        return column
    gaps = np.diff(values)
    below, above = np.append(gaps[0], gaps) / 2, np.append(gaps, gaps[-1]) / 2
    tied = counts[place] > 1
    drawn = rng.random(len(column)) * (below + above)[place] - below[place]
    return np.where(tied, column + drawn, column)


class ConditionalDensity:
    r"""Held-out log-density of a variable given parents, for all variables at once.

    .. math:: y = f(x_S) + e^{g(x_S)} z, \qquad \mathrm{local}(y, S) = \sum_i \log \hat p(z_i) - \hat g(x_{S,i}),

    with f and g sums of splines of the parents (least squares, g to the logarithm of the squared residual) and
    :math:`\hat p` a kernel density. Each part of the rows is judged by what was fitted to the others, so that a
    parent has to pay for itself; one Gram matrix serves all targets.

    Parameters
    ----------
    values : (n_samples, n_variables) array
        Tied values are spread over the gaps between them.
    max_samples : int
        Rows used at most, evenly spaced.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.normal(size=(2, 400))
    >>> density = ConditionalDensity(np.column_stack([x, np.exp(x) * noise]))
    >>> empty, given_x = density.of_sets([(), (0,)])
    >>> bool(given_x[1] > empty[1] + 50)
    True
    """

    name, assumes = "location-scale", ASSUMED

    def __init__(self, values: FloatArray, *, max_samples: int = MOST_ROWS) -> None:
        values = values[evenly_spaced(len(values), max_samples)]
        rng = np.random.default_rng(0)  # the same table gives the same score
        values = np.column_stack([spread_ties(column, rng) for column in values.T])
        columns = standardized(values)
        self.n_samples, self.n_variables = columns.shape
        self.columns = torch.from_numpy(columns)
        self.most_candidates, self.most_sets = N_CANDIDATES, SETS * self.n_variables
        self._targets = np.column_stack([columns, normal_scores(columns)])
        self._bases = [hinge_basis(column)[:, 1:] for column in columns.T]
        part = np.arange(self.n_samples) % N_PARTS
        self._parts = [part == k for k in range(N_PARTS)]
        edges = np.linspace(-REACH, REACH, N_BINS + 1)
        self._centers = (edges[:-1] + edges[1:]) / 2
        widths = np.array(BANDWIDTHS) * 0.9 * (self.n_samples * (1 - 1 / N_PARTS)) ** -0.2
        apart = self._centers[:, None] - self._centers[None, :]
        # [bandwidth, bin, bin]: density at a bin of rows in another
        self._kernels = np.stack([np.exp(-0.5 * (apart / h) ** 2) / (h * np.sqrt(2 * np.pi)) for h in widths])
        self._wide = WIDE * 0.18375 / (1 + self._centers**2 / 12) ** 2  # Student's t of 3 degrees, scale 2
        self._alone = self._both_forms(())

    def of_sets(self, sets: Sequence[ParentSet]) -> FloatArray:
        """Held-out log-density of every variable given each set, (n_sets, n_variables); NaN for the members."""
        scores = np.empty((len(sets), self.n_variables))
        for number, members in enumerate(sets):
            plain, bent = self._both_forms(members)
            # a change of variables: what parents gain is a ratio of densities, the same in any unit
            gained = np.logaddexp(plain - self._alone[0], bent - self._alone[1]) - np.log(2)
            scores[number] = self._alone[0] + gained
            scores[number, list(members)] = np.nan
        return scores

    def _both_forms(self, members: ParentSet) -> FloatArray:
        """Held-out log-density of every variable as it is, and of its normal scores, (2, n_variables)."""
        design = np.column_stack([np.ones(self.n_samples), *(self._bases[i] for i in members)])
        held_out = np.sum([self._held_out(design, part) for part in self._parts], axis=0)
        return np.asarray(held_out.reshape(2, self.n_variables))

    def _held_out(self, design: FloatArray, held_out: IntArray) -> FloatArray:
        """Log-density of the rows held out, (n_variables,), by what was fitted to the others."""
        fitted, rows = design[~held_out], len(design) - int(held_out.sum())
        spreads = np.append(0.0, fitted[:, 1:].var(axis=0))
        bends = spreads * (np.arange(-1, len(spreads) - 1) % (N_KNOTS + 1) > 0)  # a line comes first in each basis
        gram = fitted.T @ fitted + 1e-8 * rows * np.eye(len(spreads))
        weights = np.linalg.solve(gram + np.diag(BEND_RIDGE * bends), fitted.T @ self._targets[~held_out])
        residual = self._targets - design @ weights
        if design.shape[1] == 1:
            log_scale = np.zeros_like(residual)
        else:
            squares = residual**2
            target = np.log(squares + SMALLEST_SQUARE * squares[~held_out].mean(axis=0) + 1e-12)
            ridge = np.diag(SCALE_RIDGE * (spreads + bends))
            log_scale = design @ np.linalg.solve(gram + ridge, fitted.T @ target[~held_out]) / 2
            inside = log_scale[~held_out]
            log_scale = np.clip(log_scale, inside.min(axis=0), inside.max(axis=0))
        scaled = residual * np.exp(-log_scale)
        spread = scaled[~held_out].std(axis=0) + 1e-9
        density = self._log_density(scaled[~held_out] / spread, scaled[held_out] / spread)
        result: FloatArray = (density - log_scale[held_out] - np.log(spread)).sum(axis=0)
        return result

    def _log_density(self, known: FloatArray, asked: FloatArray) -> FloatArray:
        """Kernel density of each column of ``known``, at each row of ``asked``."""
        d = known.shape[1]
        middle = np.diff(np.quantile(known, [0.25, 0.75], axis=0), axis=0)[0] / 1.349
        which = np.abs(np.log(np.array(BANDWIDTHS)[:, None]) - np.log(np.maximum(middle, 1e-3))).argmin(axis=0)
        counts = np.stack([np.bincount(column, minlength=N_BINS) for column in _bins(known).T])
        density = np.empty((d, N_BINS))
        for bandwidth in np.unique(which):
            mine = which == bandwidth
            density[mine] = counts[mine] @ self._kernels[bandwidth]
        logs = np.log((1 - WIDE) * density / len(known) + self._wide)
        at = _bins(asked)
        return np.asarray(logs[np.arange(d)[None, :], at])


def _bins(scaled: FloatArray) -> IntArray:
    places = np.floor((scaled + REACH) * (N_BINS / (2 * REACH)))
    return np.clip(places, 0, N_BINS - 1).astype(np.int64)
