"""L1OBS: order search with tabu lists over parents that lasso paths select (Schmidt, Niculescu-Mizil, Murphy 2007)."""

import math
from collections import deque
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

import numpy as np
from sklearn.linear_model import lars_path_gram

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.baselines.iterative import IterativeMethod
from precede.data.load import Table
from precede.estimator import FitResult
from precede.knowledge import Constraints, Knowledge, constraints_over
from precede.options import Count, CountOrZero, NotNegative
from precede.pruning.weights import prune_by_weight, regression_weights
from precede.runtime import Deadline, ProgressBar, RandomState, numpy_rng
from precede.scores.assumptions import Assumptions
from precede.scores.covariance import covariance, regularized
from precede.ties import TOLERANCE, exceeds

ROUNDING = 1e-12
"""A weight between columns of variance one that is not zero, where one that leaves the path should be."""


def lasso_path(gram: FloatArray, cross: FloatArray) -> list[tuple[IntArray, FloatArray]]:
    r"""Active sets along the lasso path :math:`w(\lambda) = \arg\min \tfrac12 w^T G w - w^T c + \lambda \|w\|_1`.

    Between two knots of the path the active set stays: it is what is not zero at either of them.

    Parameters
    ----------
    gram : (p, p) float array
    cross : (p,) float array

    Returns
    -------
    path : list of (active, weights)
        Each active set, from the empty one to the full one, and its least-squares weights.

    Examples
    --------
    >>> [active.tolist() for active, _ in lasso_path(np.eye(2), np.array([1.0, -3.0]))]
    [[], [1], [0, 1]]
    """
    knots = np.zeros((len(cross), 1), dtype=bool)
    if len(cross):
        knots = np.abs(lars_path_gram(cross, gram, n_samples=1, method="lasso")[2]) > ROUNDING
    path: list[tuple[IntArray, FloatArray]] = []
    for here, there in pairwise([knots[:, 0], *knots.T]):
        active: IntArray = np.flatnonzero(here | there)
        weights = np.asarray(np.linalg.solve(gram[np.ix_(active, active)], cross[active]), dtype=np.float64)
        path.append((active, weights))
    return path


UNIT_VARIANCE = Assumptions("linear", True, "assumed", False, "Every variable is a weighted sum of few causes plus "
    "Gaussian noise of variance one: directions come from the columns' variances.")  # fmt: skip
ANY_VARIANCE = Assumptions("linear", gaussian="assumed", form="a weighted sum of few causes")


class L1OBS(IterativeMethod):
    r"""Greedy search over orders whose parents come from lasso paths.

    .. math:: \max_{\text{order}} \sum_j \max_{S \in \mathrm{path}(j, U_j)}
              -\mathrm{NLL}(x_j \mid x_S) - \tfrac12 |S| \log m

    where :math:`U_j` are the variables before j and :math:`\mathrm{path}(j, U_j)` the active sets along the lasso path
    of j on :math:`U_j`; each set is scored by its description length at its least-squares weights (Schmidt et al.
    2007). The search swaps neighbors in the order (Teyssier and Koller 2005): it takes the best swap that is not
    tabu, and starts anew from a random order when nothing improves.

    Parameters
    ----------
    n_evaluations : int
        Budget of lasso paths; one found in the cache costs nothing. The authors' demonstration has 2,500, the CORL
        paper raised it to 10,000 (Appendix E).
    n_restarts : int
        Random orders to start from at most; with many variables the budget ends first.
    tabu_length : int
        Pairs whose swap is forbidden because they were swapped last; a climb ends after as many moves in a row
        without a new best, so with 0 it ends at the first local optimum (the authors' program).
    variance : "unit" or "free"
        Noise variance in the likelihood: one, as in the authors' program, so that
        :math:`\mathrm{NLL} = \tfrac12 \mathrm{RSS}`; or each variable's own, :math:`\tfrac m2 \log \mathrm{RSS}`,
        which tells orders apart only up to Markov equivalence.
    threshold : float or None
        Drop edges with a smaller absolute weight in the end, as the CORL paper does with this method's graphs
        (Section 5.1); None keeps them all. With ``variance="free"``, where units mean nothing, the weights are those
        between standardized columns.
    knowledge : Knowledge, optional
    max_time : float, optional
        Seconds; the best order so far is kept.
    random_state : int, Generator or None
    verbose : bool

    Notes
    -----
    **Deviations from the paper.** The data is centered, not standardized, for scoring: with unit variances, scaling
    would hide the order; the paths are computed on the correlations, as LARS expects. A family is cached by
    (variable, set of predecessors). A path counts as one evaluation, since it costs about as much as one least-squares
    fit; the authors' program counts every set on it, so the same number is a larger budget here. The paths of one order
    of 100 variables hold thousands of sets: there 10,000 evaluations of their program end before the first swap, with
    a random order. Required parents are
    part of every set and partialled out before the path. Discrete data and interventions are left out.

    References
    ----------
    M. Schmidt, A. Niculescu-Mizil, K. Murphy: Learning graphical model structure using L1-regularization paths.
    AAAI 2007.
    M. Teyssier, D. Koller: Ordering-based search: a simple and effective algorithm for learning Bayesian networks.
    UAI 2005.

    Examples
    --------
    >>> from precede.simulation import simulate
    >>> dataset = simulate("er", 5, 1, n_samples=500, random_state=0)
    >>> model = L1OBS(random_state=0, verbose=False).fit(dataset.data)
    >>> bool((model.graph_.edges == dataset.graph.edges).all())
    True
    """

    n_evaluations: Count = 10_000
    n_restarts: Count = 100
    tabu_length: CountOrZero = 10
    variance: Literal["unit", "free"] = "unit"
    threshold: NotNegative | None = 0.3
    knowledge: Knowledge | None = None
    random_state: RandomState = None

    def _learn(self, table: Table) -> FitResult:
        rng = numpy_rng(self.random_state)
        constraints = constraints_over(self.knowledge, table.names)
        matrix = regularized(covariance(table.values))
        families = Families(matrix, table.n_samples, self.variance, constraints)
        search = TabuSearch(families, constraints, self.tabu_length, self.n_evaluations, Deadline(self.max_time), rng)
        with ProgressBar("L1OBS", self.n_evaluations, self.verbose) as bar:
            for _ in range(self.n_restarts):
                search.climb(constraints.nearest_order(rng.permutation(table.n_variables)))
                bar.update(min(families.n_evaluations, self.n_evaluations), best_score=search.best_score)
                if search.exhausted():
                    break
        order, free = search.best_order, self.variance == "free"
        parents = families.graph(order)
        edges = prune_by_weight(
            matrix, order, self.threshold or 0.0, constraints, candidates=parents, standardized=free
        )
        weights, assumes = regression_weights(matrix, order, edges), ANY_VARIANCE if free else UNIT_VARIANCE
        reported = {"n_evaluations": families.n_evaluations, "n_edges_before_threshold": int(parents.sum())}
        return FitResult(edges, order, weights, search.best_score, search.history, Improvement, reported, assumes)


@dataclass
class Families:
    """Best parent set of a variable among its predecessors, remembered by (variable, bit mask of predecessors).

    Parameters
    ----------
    covariance : (n_variables, n_variables) float array
    n_samples : int
    variance : "unit" or "free"
    constraints : Constraints
    """

    covariance: FloatArray
    n_samples: int
    variance: str
    constraints: Constraints
    cache: dict[tuple[int, int], tuple[float, IntArray]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        scale = np.sqrt(np.diag(self.covariance))
        self._correlation = self.covariance / np.outer(scale, scale)
        self._allowed = [bit_mask(self.constraints.allowed[:, j]) for j in range(len(scale))]

    @property
    def n_evaluations(self) -> int:
        """Lasso paths so far."""
        return len(self.cache)

    def best(self, variable: int, predecessors: int) -> tuple[float, IntArray]:
        """Score and parents of a variable; ``predecessors`` is a bit mask of the variables before it."""
        key = (variable, predecessors & self._allowed[variable])
        if key not in self.cache:
            members = np.array([i for i in range(len(self.covariance)) if key[1] >> i & 1], dtype=np.int64)
            self.cache[key] = self._search_path(variable, members)
        return self.cache[key]

    def graph(self, order: IntArray) -> BoolArray:
        """Parents of every variable in an order; ``[i, j]`` means i -> j."""
        edges = np.zeros_like(self.constraints.allowed)
        before = 0
        for variable in order.tolist():
            edges[self.best(variable, before)[1], variable] = True
            before |= 1 << variable
        return edges

    def _search_path(self, variable: int, members: IntArray) -> tuple[float, IntArray]:
        required = self.constraints.required[members, variable]
        kept, free = members[required], members[~required]
        columns = np.append(free, variable)
        gram = self._correlation[np.ix_(columns, columns)]
        if len(kept):  # partial the required parents out: they are in every set
            cross = self._correlation[np.ix_(kept, columns)]
            gram = gram - cross.T @ np.linalg.solve(self._correlation[np.ix_(kept, kept)], cross)
        best_score, best_set = -math.inf, kept
        for active, weights in lasso_path(gram[:-1, :-1], gram[:-1, -1]):
            residual = float(gram[-1, -1] - weights @ gram[active, -1])
            score = self._local_score(variable, residual, len(kept) + len(active))
            if exceeds(score, best_score):
                best_score, best_set = score, np.concatenate([kept, free[active]])
        return best_score, best_set

    def _local_score(self, variable: int, unexplained: float, n_parents: int) -> float:
        """Minus the description length of a family, from the share of the variance that its parents leave."""
        residual = unexplained * float(self.covariance[variable, variable])
        fit = residual if self.variance == "unit" else math.log(residual)
        return -0.5 * self.n_samples * fit - 0.5 * n_parents * math.log(self.n_samples)


@dataclass(frozen=True)
class Improvement:
    """A better order than any before."""

    n_evaluations: int
    best_score: float


@dataclass
class TabuSearch:
    """Hill-climbing over adjacent swaps with a tabu list (Teyssier and Koller 2005)."""

    families: Families
    constraints: Constraints
    tabu_length: int
    budget: int
    deadline: Deadline
    rng: np.random.Generator
    best_score: float = -math.inf
    best_order: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    history: list[Improvement] = field(default_factory=list)

    def exhausted(self) -> bool:
        """Whether the budget or the time is spent."""
        return self.families.n_evaluations >= self.budget or self.deadline.passed()

    def climb(self, start: IntArray) -> None:
        """Swap neighbors until nothing improves; the best order ever seen is kept."""
        order = start.tolist()
        masks = [0]  # masks[t]: bit mask of the first t variables
        for variable in order:
            masks.append(masks[-1] | 1 << variable)
        terms = [self.families.best(variable, masks[t])[0] for t, variable in enumerate(order)]
        score = climb_best = sum(terms)
        self._record(order, score)
        tabu: deque[set[int]] = deque(maxlen=int(self.tabu_length))
        swaps: list[tuple[float, float]] = [(math.nan, math.nan)] * (len(order) - 1)
        stale, waited = range(len(order) - 1), 0
        while True:
            for t in stale:
                if self.exhausted():
                    return
                swaps[t] = self._swapped_terms(order, masks, t)
            gains = np.array([sum(swap) - terms[t] - terms[t + 1] for t, swap in enumerate(swaps)])
            is_tabu = np.array([set(pair) in tabu for pair in pairwise(order)], dtype=bool)
            # a tabu swap counts only when it beats the best order of this climb
            gains[is_tabu & (gains <= climb_best - score + TOLERANCE * abs(score))] = -math.inf
            best_gain = gains.max(initial=-math.inf)
            if best_gain == -math.inf or (best_gain <= TOLERANCE * abs(score) and waited >= self.tabu_length):
                break
            t = int(self.rng.choice(np.flatnonzero(gains >= best_gain - TOLERANCE * abs(score))))
            first, second = order[t], order[t + 1]
            order[t], order[t + 1] = second, first
            masks[t + 1] = masks[t] | 1 << second
            terms[t], terms[t + 1] = swaps[t]
            tabu.append({first, second})
            stale = range(max(t - 1, 0), min(t + 2, len(order) - 1))  # only these swaps see a changed predecessor set
            score = sum(terms)
            waited += 1
            if score > climb_best + TOLERANCE * abs(score):
                climb_best, waited = score, 0
            self._record(order, score)

    def _swapped_terms(self, order: list[int], masks: list[int], t: int) -> tuple[float, float]:
        """Terms at places t and t + 1 after swapping them; no other term changes."""
        first, second = order[t], order[t + 1]
        if self.constraints.before[first, second]:
            return -math.inf, -math.inf
        return self.families.best(second, masks[t])[0], self.families.best(first, masks[t] | 1 << second)[0]

    def _record(self, order: list[int], score: float) -> None:
        if exceeds(score, self.best_score):
            self.best_score, self.best_order = score, np.array(order, dtype=np.int64)
            self.history.append(Improvement(self.families.n_evaluations, score))


def bit_mask(members: BoolArray) -> int:
    """A set of variables as one number.

    Examples
    --------
    >>> bit_mask(np.array([True, False, True]))
    5
    """
    return sum(1 << int(i) for i in np.flatnonzero(members))
