"""A* lasso: shortest path through the lattice of variable subsets, with lasso costs (Xiang and Kim 2013)."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import coo_array

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.baselines.iterative import IterativeMethod
from precede.baselines.l1obs import bit_mask
from precede.data.load import Table
from precede.estimator import FitResult
from precede.graph.dags import full_dag
from precede.knowledge import Constraints, Knowledge, constraints_over
from precede.options import Count, NotNegative, Positive
from precede.pruning.weights import prune_by_weight, regression_weights
from precede.runtime import Deadline, ProgressBar
from precede.scores.assumptions import Assumptions
from precede.scores.covariance import covariance, regularized

TOLERANCE = 1e-9
"""Rounding allowed in a gradient, as a share of the two standard deviations in it."""

MOST_STEPS_PER_VARIABLE = 20
"""A guard against endless exchanges within rounding; a warm start takes a handful of steps."""


def solve_lassos(
    covariance: FloatArray, penalty: FloatArray, targets: IntArray, candidates: BoolArray, start: FloatArray
) -> FloatArray:
    r"""Weights of :math:`\min_w \tfrac12 w^T S w - w^T S_{\cdot j} + \sum_i \lambda_{ij} |w_i|` for several targets j.

    An active-set method: with the signs of the active weights fixed the minimum is one linear system; walk to it, stop
    at the first weight that reaches zero and let it go; at the minimum let the variable enter whose gradient exceeds
    its penalty most. Every step lowers the objective, so it ends, and it ends at the exact solution. All targets
    walk together, in one batched solve of their padded active systems.

    Parameters
    ----------
    covariance : (n_variables, n_variables) float array
        Positive definite.
    penalty : (n_variables, n_targets) float array
        Zero leaves a weight free.
    targets : (n_targets,) int array
    candidates : (n_variables, n_targets) bool array
        Variables that each target may be regressed on.
    start : (n_variables, n_targets) float array
        Where to start; zero outside the candidates. Close to the solution it saves most of the work.

    Returns
    -------
    weights : (n_variables, n_targets) float array

    Examples
    --------
    >>> moments = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> others = np.array([[False], [True]])
    >>> solve_lassos(moments, np.full((2, 1), 0.1), np.array([0]), others, np.zeros((2, 1)))
    array([[0. ],
           [0.4]])
    """
    weights = start.copy()
    signs = np.sign(weights)
    cross = covariance[:, targets]
    deviation = np.sqrt(np.diag(covariance))
    slack = TOLERANCE * np.outer(deviation, deviation[targets])
    busy = np.arange(len(targets))
    for _ in range(MOST_STEPS_PER_VARIABLE * len(covariance)):
        w, s = weights[:, busy], signs[:, busy]
        gradient = cross[:, busy] - covariance @ w
        lam = penalty[:, busy]
        active = s != 0
        settled = (~active | (np.abs(gradient - lam * s) <= slack[:, busy])).all(axis=0)
        excess = np.where(candidates[:, busy] & ~active, np.abs(gradient) - lam - slack[:, busy], -np.inf)
        entering = excess.argmax(axis=0)
        columns = np.arange(len(busy))
        enters = settled & (excess[entering, columns] > 0)
        s[entering[enters], columns[enters]] = np.sign(gradient[entering[enters], columns[enters]])
        walking = ~settled | enters
        busy, w, s, lam = busy[walking], w[:, walking], s[:, walking], lam[:, walking]
        if not len(busy):
            break
        weights[:, busy], signs[:, busy] = _walk(covariance, cross[:, busy], lam, w, s)
    return weights


def _walk(
    covariance: FloatArray, cross: FloatArray, penalty: FloatArray, weights: FloatArray, signs: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """One step to the minimum of the fixed signs, or to the first weight on the way that reaches zero."""
    goal = _minimum_of_signs(covariance, cross - penalty * signs, signs != 0)
    crossing = (signs != 0) & (penalty > 0) & (goal * signs < 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(crossing, weights / (weights - goal), 1.0)
    first = share.argmin(axis=0)
    columns = np.arange(weights.shape[1])
    step = share[first, columns]
    moved = np.where(step == 1.0, goal, weights + step * (goal - weights))
    stopped = crossing[first, columns]
    moved[first[stopped], columns[stopped]] = 0.0
    signs = signs.copy()
    signs[first[stopped], columns[stopped]] = 0.0
    return moved, signs


def _minimum_of_signs(covariance: FloatArray, right: FloatArray, active: BoolArray) -> FloatArray:
    """Solve each column's active system, padded with ones to the size of the largest; zero elsewhere."""
    size = int(active.sum(axis=0).max())
    columns = np.arange(active.shape[1])[:, None]
    chosen = np.argsort(~active, axis=0, kind="stable")[:size].T  # (n_targets, size): the active ones come first
    real = active[chosen, columns]
    systems = covariance[chosen[:, :, None], chosen[:, None, :]]
    systems = np.where(real[:, :, None] & real[:, None, :], systems, np.eye(size))
    solved = np.linalg.solve(systems, np.where(real, right[chosen, columns], 0.0)[:, :, None])[:, :, 0]
    result = np.zeros_like(right)
    result[chosen, columns] = np.where(real, solved, 0.0)
    return result


def lasso_costs(covariance: FloatArray, penalty: FloatArray, targets: IntArray, weights: FloatArray) -> FloatArray:
    r"""Objective at the solution, :math:`\tfrac12 (S_{jj} - w^T S_{\cdot j} + \sum_i \lambda_{ij} |w_i|)`, per target.

    The quadratic term is gone because :math:`w^T S w = w^T S_{\cdot j} - \sum_i \lambda_{ij} |w_i|` there.
    """
    fit = (weights * covariance[:, targets]).sum(axis=0)
    return np.asarray(0.5 * (np.diag(covariance)[targets] - fit + (penalty * np.abs(weights)).sum(axis=0)))


ROUNDING = 1e-12
"""A path to a known set must be shorter by this share to replace the known one."""

QUEUES = (10, 500)
"""Queues that are searched before the one asked for, with ``widen``."""

LOOK_AHEAD = 32
"""States of one set size whose lassos are solved together; the next ones to be expanded are mostly among them."""


class AStarLasso(IterativeMethod):
    r"""Best order under the lasso, by A* search over sets of placed variables.

    .. math:: \min_{\text{DAG}} \sum_j \tfrac{1}{2m} \|x_j - X w_j\|_2^2 + \lambda \|w_j\|_1

    (Xiang and Kim 2013). A path from the empty set to the full one places one variable at a time; placing j after the
    set U costs the lasso objective :math:`\ell(j, U)` of j on U, so the shortest path obeys

    .. math:: g(U) = \min_{j \in U} g(U \setminus j) + \ell(j, U \setminus j), \qquad
              h(U) = \sum_{j \notin U} \ell(j, V \setminus j).

    A* expands the set with the least :math:`g + h`. No variable can cost less than its lasso on all others, so h never
    overestimates and, with an unlimited queue, the order is optimal.

    Parameters
    ----------
    penalty : float
        :math:`\lambda` above.
    queue_size : int or None
        States kept for each number of placed variables, the paper's limited queue; None keeps all, which is exact and
        feasible up to about 15 variables. The CORL paper tries 10, 500 and 1,000 (Appendix E).
    widen : bool
        Search with queues of 10 and of 500 first, where ``queue_size`` is larger, and keep the order of least cost: the
        paper's best of three with ``queue_size=1000``. A time limit then ends the widest search, not the result.
    threshold : float or None
        Drop edges with a smaller absolute least-squares weight in the end, as the CORL paper does with this method's
        graphs (Section 5.1); None keeps all that the lasso selects.
    knowledge : Knowledge, optional
    max_time : float, optional
        Seconds; then the most advanced state is completed greedily.
    verbose : bool

    Notes
    -----
    **Deviations from the paper.** The squared loss is divided by 2m, so that the penalty does not grow with the sample.
    How the limited queue is shared among set sizes is our reading: each size has its own limit, counting the states
    already expanded, so that the work is at most ``queue_size * n_variables`` expansions; as estimates never fall along
    a path, this keeps the best states of each size. The data is centered and not standardized: on equal-variance data
    the scales tell orders apart. Weights of required edges are not penalized. The lassos are solved exactly, by an
    active-set method (:mod:`precede.baselines.astar_lasso`).

    References
    ----------
    J. Xiang, S. Kim: A* lasso for learning a sparse Bayesian network structure for continuous variables. NIPS 2013.

    Examples
    --------
    >>> from precede.simulation import simulate
    >>> dataset = simulate("er", 5, 1, n_samples=500, random_state=0)
    >>> model = AStarLasso(queue_size=None, verbose=False).fit(dataset.data)
    >>> bool((model.graph_.edges == dataset.graph.edges).all()), model.diagnostics_["optimal"]
    (True, True)
    """

    assumes = Assumptions("linear", equal_variances=True, form="a weighted sum of few causes")

    penalty: Positive = 0.1
    queue_size: Count | None = 10
    widen: bool = False
    threshold: NotNegative | None = 0.3
    knowledge: Knowledge | None = None

    def _learn(self, table: Table) -> FitResult:
        deadline = Deadline(self.max_time)
        constraints = constraints_over(self.knowledge, table.names)
        matrix = regularized(covariance(table.values))
        largest = math.inf if self.queue_size is None else self.queue_size
        best: SubsetSearch | None = None
        with ProgressBar("A* lasso", None, self.verbose) as bar:
            for size in [*(size for size in QUEUES if self.widen and size < largest), largest]:
                if best is not None and deadline.passed():
                    break
                search = SubsetSearch(matrix, float(self.penalty), size, constraints)
                while search.goal is None and not deadline.passed():
                    search.expand_next()
                    bar.update(search.n_expanded, lower_bound=search.lower_bound)
                search.finish()
                if best is None or search.cost < best.cost * (1 - ROUNDING):
                    best = search
        assert best is not None
        order, parents, timed_out = best.order, best.parents, deadline.passed()
        edges = prune_by_weight(matrix, order, self.threshold or 0.0, constraints, candidates=parents)
        reported = {
            "optimal": not timed_out and not best.discarded,
            "timed_out": timed_out,
            "lower_bound": best.lower_bound,
            "n_expanded": best.n_expanded,
            "n_edges_before_threshold": int(parents.sum()),
        }
        weights = regression_weights(matrix, order, edges)
        return FitResult(edges, order, weights, -best.cost, best.history, ExpandedState, reported)


@dataclass(frozen=True)
class ExpandedState:
    """A state that was expanded: how many variables it has placed, and the least cost through it."""

    n_placed: int
    estimate: float


@dataclass(order=True)
class State:
    """A set of placed variables; states compare by the length of the best whole path through them."""

    estimate: float
    placed: int
    length: float = field(compare=False)
    last: int = field(compare=False)
    parent: State | None = field(compare=False, repr=False)
    lassos: coo_array | None = field(default=None, compare=False, repr=False)
    costs: FloatArray | None = field(default=None, compare=False, repr=False)


class SubsetSearch:
    """A* from the empty set to the full one; one open queue for each set size.

    Parameters
    ----------
    covariance : (n_variables, n_variables) float array
    penalty : float
    queue_size : int, or infinity
    constraints : Constraints

    Attributes
    ----------
    order : (n_variables,) int array
        Once finished: the path to the goal, first placed first.
    parents : (n_variables, n_variables) bool array
        Lasso parents of every variable in that order, ``[i, j]`` means i -> j.
    cost : float
        Its objective.
    """

    def __init__(self, covariance: FloatArray, penalty: float, queue_size: float, constraints: Constraints) -> None:
        d = len(covariance)
        self.covariance, self.constraints, self.queue_size = covariance, constraints, queue_size
        self.penalty = np.where(constraints.required, 0.0, penalty)
        self.must_precede = [bit_mask(constraints.before[:, j]) for j in range(d)]
        everything = np.arange(d)
        alone = solve_lassos(covariance, self.penalty, everything, constraints.allowed, np.zeros((d, d)))
        self.bounds = lasso_costs(covariance, self.penalty, everything, alone)
        self.open: list[list[State]] = [[] for _ in range(d + 1)]
        self.shortest: dict[int, float] = {0: 0.0}
        self.expanded_at = [0] * (d + 1)
        self.n_expanded = 0
        self.discarded = False
        self.goal: State | None = None
        self.lower_bound = float(self.bounds.sum())
        self.history: list[ExpandedState] = []
        self.open[0].append(State(self.lower_bound, 0, 0.0, -1, None))

    def expand_next(self) -> None:
        """Take the most promising state; stop when it is the full set, else place each further variable."""
        size = min((queue[0], size) for size, queue in enumerate(self.open) if queue)[1]
        state = heapq.heappop(self.open[size])
        if state.length > self.shortest.get(state.placed, -math.inf):
            return  # a shorter path to the same set was found meanwhile
        if not self.discarded:
            self.lower_bound = state.estimate
        if size == len(self.covariance):
            self.goal = state
            return
        self.n_expanded += 1
        self.expanded_at[size] += 1
        self.history.append(ExpandedState(size, state.estimate))
        if state.costs is None:
            ahead = heapq.nsmallest(LOOK_AHEAD, self.open[size])
            self._solve([state, *(other for other in ahead if other.costs is None)])
        costs, state.costs = state.costs, None
        assert costs is not None
        for variable in self._ready(state.placed):
            cost, placed = float(costs[variable]), state.placed | 1 << variable
            length = state.length + cost
            if self.shortest.get(placed, math.inf) <= length + ROUNDING * abs(length):
                continue
            self.shortest[placed] = length
            # consistency: a variable never costs less than its bound, rounding aside
            estimate = state.estimate + max(cost - float(self.bounds[variable]), 0.0)
            heapq.heappush(self.open[size + 1], State(estimate, placed, length, variable, state))
        self._limit(size + 1)

    def _limit(self, size: int) -> None:
        """Keep the best states of a set size; those that were expanded already count."""
        room = self.queue_size - self.expanded_at[size]
        if len(self.open[size]) <= 2 * room and room > 0:
            return  # trimmed only now and then
        live = [state for state in self.open[size] if state.length <= self.shortest[state.placed]]
        kept = heapq.nsmallest(int(max(room, 0)), live)
        self.discarded = self.discarded or len(kept) < len(live)
        self.open[size] = kept

    def _ready(self, placed: int) -> list[int]:
        """Variables that may come next."""
        return [j for j, before in enumerate(self.must_precede) if not placed >> j & 1 and before & placed == before]

    def _solve(self, states: list[State]) -> None:
        """Lasso objective of every missing variable on each state's set, from the solutions of the state's parent."""
        d = len(self.covariance)
        stacks = np.zeros((len(states), d, d))
        members = np.zeros((len(states), d), dtype=bool)
        changed = np.zeros((len(states), d), dtype=bool)
        for k, state in enumerate(states):
            members[k] = [state.placed >> i & 1 for i in range(d)]
            if state.parent is not None and state.parent.lassos is not None:
                stacks[k] = state.parent.lassos.toarray()
                stacks[k][:, members[k]] = 0.0
                # only the newcomer can break the optimality of a solution: solve anew where its gradient is too large
                row = self.covariance[state.last]
                gradient = np.abs(row - row @ stacks[k])
                changed[k] = (gradient > self.penalty[state.last]) & self.constraints.allowed[state.last] & ~members[k]
        which, targets = np.nonzero(changed)
        if len(targets):
            candidates = members[which].T & self.constraints.allowed[:, targets]
            start = stacks[which, :, targets].T
            solved = solve_lassos(self.covariance, self.penalty[:, targets], targets, candidates, start)
            stacks[which, :, targets] = solved.T
        for state, weights in zip(states, stacks, strict=True):
            state.lassos = coo_array(weights)
            state.costs = lasso_costs(self.covariance, self.penalty, np.arange(d), weights)

    def finish(self) -> None:
        """Read the order from the path to the goal.

        Where the goal was not reached, the path leads to the most advanced open state, and from there always to the
        variable that exceeds its bound least.
        """
        state = self.goal or next(queue[0] for queue in reversed(self.open) if queue)
        while ready := self._ready(state.placed):
            self._solve([state])
            assert state.costs is not None
            last = min(ready, key=(state.costs - self.bounds).__getitem__)
            length = state.length + float(state.costs[last])
            state = State(length, state.placed | 1 << last, length, last, state)
        path, node = [state.last], state.parent
        while node is not None and node.parent is not None:
            path.append(node.last)
            node = node.parent
        self.order: IntArray = np.array(path[::-1], dtype=np.int64)
        everything, candidates = np.arange(len(path)), full_dag(self.order) & self.constraints.allowed
        weights = solve_lassos(self.covariance, self.penalty, everything, candidates, np.zeros_like(self.penalty))
        self.parents: BoolArray = weights != 0
        self.cost = float(lasso_costs(self.covariance, self.penalty, everything, weights).sum())
