r"""CAM: causal additive models by greedy edge addition (Bühlmann, Peters and Ernest, Annals of Statistics 2014).

.. math::

    \max_{\text{DAG}} -\sum_j \log \hat\sigma_j, \qquad x_j = \alpha_j + \sum_{i \in pa(j)} f_{ij}(x_i) + \varepsilon_j

in three steps: neighbors by boosting, greedy addition of the edge that gains most, pruning by significance.
All fits share one bank of spline bases, whose cross products are computed once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.baselines.iterative import IterativeMethod
from precede.data.load import Table
from precede.estimator import FitResult
from precede.graph.dags import topological_order
from precede.knowledge import Constraints, Knowledge, constraints_over
from precede.options import Count, Share
from precede.pruning.gam import LOG_SMOOTHING_RANGE, RIDGE, basis_size, prune_by_gam, select_smoothing, spline_basis
from precede.runtime import Deadline
from precede.scores.assumptions import Assumptions

BOOSTING_STEPS = 100
BOOSTING_RATE = 0.1
BOOSTING_DF = 3.0
"""Degrees of freedom of a base learner beyond the constant (mboost's P-splines have four with it)."""
LEAST_SELECTED = 0.02
"""A neighbor is chosen in more than this share of the boosting steps (the authors' R package)."""


@dataclass(frozen=True)
class SplineBank:
    r"""Spline bases of all variables and their cross products; every fit is made of these blocks.

    Bases of variables with few distinct values are filled up with columns that are orthogonal to everything, so that
    all have ``width`` columns and candidates can be handled in one batch.

    Parameters
    ----------
    cross : (n_variables * width, n_variables * width) float array
        :math:`Z^\top Z / m`. The first column of a block is the standardized variable itself, so ``cross`` holds the
        responses too.
    roughness : (n_variables, width) float array
        Diagonal of the penalties; zero for the linear and the filled columns.
    real : (n_variables, width) bool array
        Which columns are not filled.
    n_samples, width : int
    """

    cross: FloatArray
    roughness: FloatArray
    real: BoolArray
    n_samples: int
    width: int

    @classmethod
    def of(cls, values: FloatArray, size: int) -> SplineBank:
        """Make the bank with ``size`` basis functions a variable, the constant included."""
        m, d = values.shape
        width = size - 1
        columns, roughness, real = np.zeros((m, d, width)), np.zeros((d, width)), np.zeros((d, width), dtype=bool)
        for j in range(d):
            basis = spline_basis(values[:, j], size)
            n_real = len(basis.roughness)
            columns[:, j, :n_real], roughness[j, :n_real], real[j, :n_real] = basis.columns, basis.roughness, True
        flat = columns.reshape(m, d * width)
        cross = flat.T @ flat / m
        filled = np.flatnonzero(~real.ravel())
        cross[filled, filled] = 1.0
        return cls(cross, roughness, real, m, width)

    @property
    def n_variables(self) -> int:
        return len(self.real)

    def columns_of(self, variables: IntArray) -> IntArray:
        """Positions in ``cross`` of the real columns of some variables, one variable after the other."""
        positions = variables[:, None] * self.width + np.arange(self.width)
        return np.asarray(positions[self.real[variables]])


def likely_parents(bank: SplineBank, allowed: BoolArray, most: int) -> BoolArray:
    r"""Preliminary neighborhood selection by component-wise spline boosting, all responses at once.

    In each step the base learner that lowers the residual sum of squares most is added at a tenth of its size. The
    variables chosen in more than 2% of the steps stay; where these are more than ``most``, those stay that were chosen
    more often than the next one in line, as in the authors' R package, so that a tie at the limit drops all of its
    members.

    Parameters
    ----------
    bank : SplineBank
    allowed : (n_variables, n_variables) bool array
        ``[i, j]``: i may be chosen for the response j.
    most : int

    Returns
    -------
    selected : (n_variables, n_variables) bool array
        ``[i, j]``: i is a likely parent of j.
    """
    d, width = bank.n_variables, bank.width
    shrink = np.where(bank.real, _shrinkage(bank.roughness, bank.real), 0.0)
    worth = 2 * shrink - shrink**2
    residual = bank.cross[::width].copy()  # row j: Z'(residual of j) / m
    blocks = bank.cross.reshape(d, width, d * width)
    times = np.zeros((d, d))
    responses = np.flatnonzero(allowed.any(axis=0))
    for _ in range(BOOSTING_STEPS):
        by_block = residual.reshape(d, d, width)  # [j, i]: response j, learner i
        gain = np.where(allowed.T, np.einsum("jiw,iw->ji", by_block**2, worth), -1.0)  # .T: gain is [response, learner]
        best = gain.argmax(axis=1)
        for j in responses:
            i = best[j]
            times[i, j] += 1
            residual[j] -= (BOOSTING_RATE * shrink[i] * by_block[j, i]) @ blocks[i]
    ranked = -np.sort(-times, axis=0)
    next_in_line = ranked[most] if most < d else np.zeros(d)
    return np.asarray(times > np.maximum(LEAST_SELECTED * BOOSTING_STEPS, next_in_line))


def _shrinkage(roughness: FloatArray, real: BoolArray) -> FloatArray:
    """Shrinkage 1 / (1 + c * roughness) of each column, with ``c`` such that a variable's sum is BOOSTING_DF."""
    low, high = np.full(len(real), -30.0), np.full(len(real), 30.0)
    for _ in range(60):  # bisection of log c
        middle = (low + high) / 2
        shrink: FloatArray = 1 / (1 + np.exp(middle)[:, None] * roughness)
        rough = (shrink * real).sum(axis=1) > BOOSTING_DF
        low, high = np.where(rough, middle, low), np.where(rough, high, middle)
    return shrink


SAMPLES_PER_PARENT = 20
"""No variable gets more parents than samples allow at this rate (the authors' R package)."""
LARGEST_WITHOUT_SELECTION = 20
"""Up to this many variables ``preliminary_selection="auto"`` looks at every pair."""


class CAM(IterativeMethod):
    r"""Causal additive model: neighbor selection, greedy edge addition, pruning.

    Parameters
    ----------
    preliminary_selection : "auto" or bool
        Whether boosting first chooses each variable's possible parents; "auto" does so beyond 20 variables.
    max_neighbors : int
        Most possible parents that the preliminary selection leaves to a variable.
    max_parents : int, optional
        Most parents that the greedy search gives to a variable; ``n_samples / 20`` when left out.
    pruning : bool
        Whether insignificant edges are dropped in the end; without, the graph is dense by construction (the R package
        does neither this nor the preliminary selection unless told to).
    cutoff : float
        Largest p-value of an edge that stays.
    knowledge : Knowledge, optional
        Required edges are there from the start, forbidden ones are never tried, precedence is kept.
    max_time : float, optional
        Seconds after which no further edge is added; what is there is still pruned.
    verbose : bool

    Attributes
    ----------
    score_ : float
        :math:`-\sum_j \log\hat\sigma_j` of the greedy search, before pruning.
    history_ : DataFrame
        One row per added edge: cause, effect, gain (once all smoothing parameters are selected anew) and score.

    Notes
    -----
    Deviations from the paper: (1) smoothing parameters are selected by REML, not by generalized cross-validation.
    (2) While a candidate edge is tried, the smoothing parameters of the parents that are already there are held;
    all are selected anew once an edge is added. (3) The basis is sized for the most parents a variable may have, so
    that one bank serves all fits. (4) No edge is added that gains nothing; the R package goes on until no edge is left
    that would not close a cycle, and leaves these to the pruning. (5) Base learners of the boosting step are the same
    splines, with four degrees of freedom. The method draws nothing at random.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.normal(size=400)
    >>> data = np.column_stack([np.sin(2 * cause) + 0.3 * rng.normal(size=400), cause])
    >>> CAM(verbose=False).fit(data).adjacency_matrix_.to_numpy()
    array([[0, 0],
           [1, 0]])
    """

    assumes = Assumptions("additive", False, "assumed", True, form="a sum of smooth curves of its causes")

    preliminary_selection: bool | Literal["auto"] = "auto"
    max_neighbors: Count = 10
    max_parents: Count | None = None
    pruning: bool = True
    cutoff: Share = 0.001
    knowledge: Knowledge | None = None

    def _learn(self, table: Table) -> FitResult:
        m, d = table.values.shape
        deadline = Deadline(self.max_time)
        constraints = constraints_over(self.knowledge, table.names)
        select = d > LARGEST_WITHOUT_SELECTION if self.preliminary_selection == "auto" else self.preliminary_selection
        most = self.max_parents or max(1, round(m / SAMPLES_PER_PARENT))
        most = min(most, d - 1, self.max_neighbors) if select else min(most, d - 1)
        bank = SplineBank.of(table.values, basis_size(m, most))
        candidates = constraints.allowed
        if select:
            candidates = candidates & likely_parents(bank, candidates, self.max_neighbors)
        search = GreedySearch(bank, constraints, candidates, most)
        offset = -float(np.log(table.values.std(axis=0)).sum())

        def steps() -> Iterator[AddedEdge]:
            while not deadline.passed() and (added := search.add_best_edge()) is not None:
                cause, effect, gain = added
                yield AddedEdge(table.names[cause], table.names[effect], gain, offset + search.score())

        history = self._watch("CAM", None, steps(), "score")
        edges, strengths = search.edges, search.strengths()
        if self.pruning:
            pruned = prune_by_gam(table.values, edges, required=constraints.required, cutoff=self.cutoff)
            edges, strengths = pruned.edges, pruned.strengths
        reported = {
            "preliminary_selection": bool(select),
            "n_candidate_edges": int(candidates.sum()),
            "n_edges_before_pruning": int(search.edges.sum()),
            "stopped_by_max_time": bool(deadline.passed()),
        }
        score = offset + search.score()
        return FitResult(edges, topological_order(search.reach), strengths, score, history, AddedEdge, reported)


@dataclass(frozen=True)
class AddedEdge:
    """A step of the search: the edge, what it gained, and the score after it."""

    cause: Hashable
    effect: Hashable
    gain: float
    score: float


@dataclass(frozen=True)
class NodeFit:
    """The additive model of one variable: its parents, in sequence of addition, and their fit."""

    parents: IntArray
    columns: IntArray
    penalty: FloatArray
    log_smoothing: FloatArray
    coefficients: FloatArray
    inverse: FloatArray
    residual: float


class GreedySearch:
    """The state of greedy edge addition (IncEdge): graph, fits, and the gain of each admissible edge.

    Parameters
    ----------
    bank : SplineBank
    constraints : Constraints
    candidates : (n_variables, n_variables) bool array
        Edges that may be tried.
    most : int
        Most parents of a variable.
    """

    def __init__(self, bank: SplineBank, constraints: Constraints, candidates: BoolArray, most: int) -> None:
        d = bank.n_variables
        self.bank, self.most = bank, most
        self.edges = constraints.required.copy()
        self.reach = constraints.before.copy()
        self.admissible = candidates & ~self.edges & ~self.reach.T  # .T: no i -> j where j must come before i
        self.fits = [self._fit(j, np.flatnonzero(self.edges[:, j]), np.empty(0)) for j in range(d)]
        self.gains = np.full((d, d), -np.inf)
        for j in range(d):
            self._update_gains(j)

    def add_best_edge(self) -> tuple[int, int, float] | None:
        """Add the edge with the largest gain; None when no admissible edge gains anything."""
        gains = np.where(self.admissible, self.gains, -np.inf)
        cause, effect = (int(k) for k in np.unravel_index(gains.argmax(), gains.shape))
        if not gains[cause, effect] > 0:
            return None
        self.edges[cause, effect] = True
        self.admissible[cause, effect] = False
        above, below = self.reach[:, cause].copy(), self.reach[effect].copy()
        above[cause] = below[effect] = True
        self.reach |= np.outer(above, below)
        self.admissible &= ~self.reach.T  # .T: an edge against a path would close a cycle
        before = self.fits[effect]
        self.fits[effect] = self._fit(effect, np.append(before.parents, cause), before.log_smoothing)
        self._update_gains(effect)  # the fits of all other variables are as they were
        return cause, effect, 0.5 * float(np.log(before.residual / self.fits[effect].residual))

    def score(self) -> float:
        """Sum over variables of minus the log of the residual standard deviation, of standardized variables."""
        return -0.5 * float(np.log([fit.residual for fit in self.fits]).sum())

    def strengths(self) -> FloatArray:
        """Standard deviation of each fitted effect over that of the variable, ``[i, j]`` for i -> j."""
        result = np.zeros(self.edges.shape)
        for j, fit in enumerate(self.fits):
            np.add.at(result[:, j], fit.columns // self.bank.width, fit.coefficients**2)
        return np.sqrt(result)

    def _fit(self, response: int, parents: IntArray, known: FloatArray) -> NodeFit:
        """Additive model from the bank's blocks; ``known`` starts the smoothing parameters of the first parents."""
        bank = self.bank
        columns = bank.columns_of(parents)
        if len(parents) == 0:
            return NodeFit(parents, columns, np.empty(0), np.empty(0), np.empty(0), np.empty((0, 0)), 1.0)
        cross = bank.cross[np.ix_(columns, columns)]
        target = bank.cross[columns, response * bank.width]
        term = np.repeat(np.arange(len(parents)), bank.real[parents].sum(axis=1))
        start = np.zeros(len(parents))
        start[: len(known)] = known
        roughness = bank.roughness.ravel()[columns]
        chosen = select_smoothing(cross, target, 1.0, bank.n_samples, term, roughness, start)
        beta = chosen.coefficients
        residual = max(1.0 - 2 * float(beta @ target) + float(beta @ cross @ beta), 1e-12)
        penalty = np.exp(chosen.log_smoothing)[term] * roughness
        return NodeFit(parents, columns, penalty, chosen.log_smoothing, beta, chosen.inverse, residual)

    def _update_gains(self, response: int) -> None:
        """Gain of every admissible edge into one variable."""
        self.gains[:, response] = -np.inf
        candidates = np.flatnonzero(self.admissible[:, response])
        fit = self.fits[response]
        if len(candidates) and len(fit.parents) < self.most:
            residual = self._residuals_with(response, candidates)
            self.gains[candidates, response] = 0.5 * np.log(fit.residual / residual)

    def _residuals_with(self, response: int, candidates: IntArray) -> FloatArray:
        r"""Residual variance of the response after one more parent, for each candidate, (n_candidates,).

        With the present parents' penalized normal matrix :math:`V` held, the candidate's normal matrix is the Schur
        complement :math:`G = Z_c^\top Z_c - Z_c^\top Z V^{-1} Z^\top Z_c`. One eigendecomposition relative to the
        penalty makes its restricted likelihood a sum over columns, which is searched on a grid.
        """
        bank, fit = self.bank, self.fits[response]
        n, width = len(candidates), bank.width
        rows = candidates[:, None] * width + np.arange(width)
        link = bank.cross[rows[:, :, None], fit.columns]  # (n, width, n_columns)
        solved = link @ fit.inverse
        own = bank.cross[rows[:, :, None], rows[:, None, :]]
        schur = own - solved @ _transposed(link) + RIDGE * np.eye(width)
        gradient = bank.cross[rows, response * width] - link @ fit.coefficients
        roughness = bank.roughness[candidates]
        factor = np.linalg.cholesky(schur)
        inverse = np.linalg.inv(factor)
        stiffness, rotation = np.linalg.eigh(inverse @ (roughness[:, :, None] * _transposed(inverse)))
        turn = _transposed(rotation) @ inverse  # (n, width, width)
        pull = (turn @ gradient[:, :, None])[:, :, 0]
        target = bank.cross[fit.columns, response * width]
        misfit = 1.0 - float(fit.coefficients @ target)
        low, high = LOG_SMOOTHING_RANGE
        grid = np.arange(low, high + 0.5, 0.5)
        damping = 1 + np.exp(grid)[:, None, None] * np.maximum(stiffness, 0.0)  # (n_grid, n, width)
        misfits = np.maximum(misfit - (pull**2 / damping).sum(axis=2), 1e-12)
        free = bank.n_samples - 2.0 - len(fit.parents)
        rank = (roughness > 0).sum(axis=1)
        criterion = free * np.log(misfits) + np.log(damping).sum(axis=2) - rank * grid[:, None]
        best, each = criterion.argmin(axis=0), np.arange(n)
        beta = (_transposed(turn) @ (pull / damping[best, each])[:, :, None])[:, :, 0]
        moved = fit.coefficients - (_transposed(solved) @ beta[:, :, None])[:, :, 0]
        penalty = (moved**2 * fit.penalty).sum(axis=1) + np.exp(grid[best]) * (roughness * beta**2).sum(axis=1)
        return np.asarray(np.maximum(misfits[best, each] - penalty, 1e-12))


def _transposed(matrices: FloatArray) -> FloatArray:
    """Transpose each matrix of a stack."""
    return np.swapaxes(matrices, -1, -2)
