"""Is the graph any good? Tests that a wrong one fails: its independences, unseen rows, shuffled columns."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.data.load import load_table
from precede.data.table import Table, filled_table
from precede.errors import DataError, OptionError, check_positive
from precede.evidence.sample import sample_for
from precede.graph import CausalGraph
from precede.graph.dags import ancestors, cpdag
from precede.lazy import linalg, special
from precede.ranks import normal_scores
from precede.runtime import RandomState, numpy_rng

DEGREE = 3
"""Hermite polynomials of each variable."""

RIDGE, CONSTANT = 1e-9, 1e-6
"""Added to correlations before they are inverted; and the spread below which a polynomial is constant."""


def hermite_moments(values: FloatArray) -> FloatArray:
    """Correlations of the Hermite polynomials of every variable's normal scores.

    Parameters
    ----------
    values : (n_samples, n_variables) float array

    Returns
    -------
    moments : (3 n_variables, 3 n_variables) float array
        Variable k has the columns 3k, 3k + 1, 3k + 2; a variable of two values has zeros in the last two.
    """
    columns = hermite_columns(values)
    return np.asarray(columns.T @ columns / len(values))


def _rows_for(graph: CausalGraph, data: Any) -> FloatArray:
    """The rows that a test looks at."""
    rows = sample_for(graph, data).rows
    if rows is None:
        raise DataError("the test needs rows, and this graph has only moments: give the table as data=...")
    return rows


def hermite_columns(values: FloatArray) -> FloatArray:
    """Polynomials of first to third degree of each column's normal scores, orthogonal, of mean zero and variance one.

    Zero where a polynomial is constant.
    """
    scores = normal_scores(values).T  # transposed: a variable in a row
    powers = np.stack([scores, scores**2, scores**3 - 3 * scores], axis=2)
    basis, parts = np.linalg.qr(powers - powers.mean(axis=1, keepdims=True))
    sizes = np.diagonal(parts, axis1=1, axis2=2) / np.sqrt(len(values))
    scale = np.where(np.abs(sizes) < CONSTANT, 0.0, np.sign(sizes) * np.sqrt(len(values)))
    return np.asarray((basis * scale[:, None, :]).transpose(1, 0, 2).reshape(len(values), -1))


def dependence_p_values(
    moments: FloatArray, n_samples: int, target: IntArray, others: IntArray, given: IntArray
) -> FloatArray:
    """P-value that the target is independent of each of the others, given some variables; for a batch of such claims.

    Parameters
    ----------
    moments : (3 n_variables, 3 n_variables) float array
        As :func:`hermite_moments` gives them.
    n_samples : int
    target : (...) int array
    others : (..., n_others) int array
        Tested one at a time.
    given : (..., n_given) int array

    Returns
    -------
    p_values : (..., n_others) float array

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(500, 3))
    >>> x[:, 1] += x[:, 0] ** 2
    >>> x[:, 2] += x[:, 1]
    >>> moments = hermite_moments(x)
    >>> (dependence_p_values(moments, 500, np.array(2), np.array([0, 1]), np.array([], dtype=int)) < 0.01).tolist()
    [True, True]
    >>> bool(dependence_p_values(moments, 500, np.array(2), np.array([0]), np.array([1]))[0] > 0.01)
    True
    """
    place, held, tested = DEGREE * np.asarray(target), _columns(given), _columns(others)
    by_variable = (*others.shape, DEGREE)
    cells = tested.reshape(by_variable)
    joint = moments[place[..., None, None], cells]
    blocks = moments[cells[..., :, None], cells[..., None, :]] + RIDGE * np.eye(DEGREE)
    total = moments[place, place]
    n_held = held.shape[-1]
    if n_held:  # what is left of each once the given ones are taken out
        block = moments[held[..., :, None], held[..., None, :]] + RIDGE * np.eye(n_held)
        cross, own = moments[held[..., :, None], tested[..., None, :]], moments[held, place[..., None]]
        weights = np.linalg.solve(block, np.concatenate([cross, own[..., None]], axis=-1))
        removed = np.einsum("...h,...hw->...w", own, weights)
        joint = joint - removed[..., :-1].reshape(by_variable)
        total = total - removed[..., -1]
        each = (*others.shape[:-1], n_held, *by_variable[-2:])
        blocks -= np.einsum("...hvi,...hvj->...vij", cross.reshape(each), weights[..., :-1].reshape(each))
    freedom = n_samples - n_held - DEGREE - 1
    if freedom < 1:
        return np.ones(others.shape)
    explained = (joint * np.linalg.solve(blocks, joint[..., None])[..., 0]).sum(axis=-1)
    share = np.clip(explained / np.maximum(total, 1e-12)[..., None], 0.0, 1 - 1e-12)
    statistic = share / DEGREE / ((1 - share) / freedom)
    return np.asarray(special.fdtrc(DEGREE, freedom, statistic))


def _columns(variables: IntArray) -> IntArray:
    columns = DEGREE * np.asarray(variables, dtype=np.int64)[..., None] + np.arange(DEGREE)
    return columns.reshape(*columns.shape[:-2], -1)


SHRINKAGE = 1.0
"""Ridge penalty, in rows: a variable with no effect on few rows is not given one."""

SMALLEST_VARIANCE = 1e-6
"""Of a residual, as a share of the column's variance."""


@dataclass(frozen=True)
class HeldOut:
    """Mean log-likelihood of a row that was not used, in nats.

    Parameters
    ----------
    graph, empty, full : float
        Of this graph, of the one without edges, and of the one in which every variable depends on all before it.
    n_rows : int
    """

    graph: float
    empty: float
    full: float
    n_rows: int

    @property
    def sentence(self) -> str:
        """The comparison in plain words."""
        gain, rest = self.graph - self.empty, self.full - self.graph
        facts = f"On rows not used to fit it, the graph predicts {gain:+.3g} nats a row compared with no edges at all"
        if gain <= 0:
            return f"{facts}: its edges do not help to predict."
        if rest > 0.02 * gain:
            return f"{facts}, and {rest:.3g} less than with every possible edge of its order: it may lack some."
        return f"{facts}, and no less than with every possible edge of its order."


def held_out_likelihood(
    graph: CausalGraph, data: Any = None, n_folds: int = 5, random_state: RandomState = 0
) -> HeldOut:
    """Predict each variable from its parents on rows that the fit has not seen.

    Each variable's normal score is regressed on the Hermite polynomials of its parents' by ridge regression, and the
    Gaussian log-density of the rows left out is averaged over folds. Only differences mean anything. Columns of the
    past (lags) predict and are not predicted: what caused them is not learned.

    Parameters
    ----------
    graph : CausalGraph
    data : as for ``fit``, optional
    n_folds : int
    random_state : int, Generator or None
        Of the folds.

    Examples
    --------
    >>> from precede import simulate
    >>> made = simulate(n_variables=5, degree=1, n_samples=300, random_state=0)
    >>> found = held_out_likelihood(made.graph, made.data)
    >>> found.graph > found.empty
    True
    """
    if not isinstance(n_folds, int) or n_folds < 2:
        raise OptionError(f"n_folds={n_folds!r} cannot be used: give a whole number of at least 2.")
    rows = _rows_for(graph, data)
    columns = hermite_columns(rows)
    now = np.ones(graph.n_variables, dtype=bool) if graph.past is None else ~graph.past
    fold = numpy_rng(random_state).permutation(len(rows)) % n_folds
    whole, likelihoods = columns.T @ columns, np.zeros(3)
    for k in range(n_folds):
        part = columns[fold == k]
        left = part.T @ part
        split = Fold(whole - left, left, len(rows) - len(part), len(part))
        given, alone = (split.of_graph(edges, now) for edges in (graph.edges, np.zeros_like(graph.edges)))
        likelihoods += given, alone, split.of_order(graph.positions, now)
    own, empty, full = (float(total) / len(rows) for total in likelihoods)
    return HeldOut(own, empty, full, len(rows))


@dataclass(frozen=True, eq=False)
class Fold:
    """Log-likelihood of the rows of a fold under fits to all others: two matrices of moments are all it takes.

    Parameters
    ----------
    fit, left : (3 n_variables, 3 n_variables) float arrays
        Sums of products of the polynomials over the rows that are fitted, and over those left out.
    n_fit, n_left : int
        Rows.
    """

    fit: FloatArray
    left: FloatArray
    n_fit: int
    n_left: int

    def of_graph(self, edges: BoolArray, now: BoolArray) -> float:
        """Every variable of now given its parents."""
        total = 0.0
        for j in np.flatnonzero(now):
            used = _columns(np.flatnonzero(edges[:, j]))
            block = self.fit[np.ix_(used, used)]
            weights = np.linalg.solve(block + SHRINKAGE * np.eye(len(used)), self.fit[used, DEGREE * j])
            fitted, missed = (
                own[DEGREE * j, DEGREE * j] + weights @ (own[np.ix_(used, used)] @ weights - 2 * own[used, DEGREE * j])
                for own in (self.fit, self.left)
            )
            total += self._of_squares(np.array([fitted]), np.array([missed]), np.array([len(used)]))
        return total

    def of_order(self, order: IntArray, now: BoolArray) -> float:
        """Every variable of now given all before it: the rows of one Cholesky factor are half-way to all these fits."""
        columns = _columns(order)
        targets = np.arange(0, len(columns), DEGREE)[now[order]]
        before = np.arange(len(columns))[:, None] < targets
        fit = self.fit[np.ix_(columns, columns)]
        factor = np.linalg.cholesky(fit + SHRINKAGE * np.eye(len(fit)))
        halves = np.where(before, factor[targets].T, 0.0)  # transposed: a target's row of the factor as a column
        weights = linalg.solve_triangular(factor, halves, trans="T", lower=True, check_finite=False)
        # with the penalty p, (A + p) w = b and b'w = |half|²: so what is left of y'y - 2b'w + w'Aw is this
        fitted = fit[targets, targets] - np.square(halves).sum(axis=0) - SHRINKAGE * np.square(weights).sum(axis=0)
        left = self.left[np.ix_(columns, columns)]
        missed = left[targets, targets] + (weights * (left @ weights - 2 * left[:, targets])).sum(axis=0)
        return self._of_squares(fitted, missed, targets)

    def _of_squares(self, fitted: FloatArray, missed: FloatArray, n_used: IntArray) -> float:
        """Log-density of the rows left out, from sums of squared residuals and the numbers of columns used."""
        variance = np.maximum(fitted / np.maximum(self.n_fit - n_used, 1), SMALLEST_VARIANCE)
        terms = np.maximum(missed, 0.0) / variance + self.n_left * np.log(2 * math.pi * variance)
        return float(-0.5 * terms.sum())


SIGNIFICANT = 0.05
"""Level of each independence test, and of the test as a whole."""

MOST_TESTED = 20
"""Variables whose independences are looked at in each graph, evenly spread: more would cost minutes."""


@dataclass(frozen=True)
class PermutationTest:
    """How a graph's independences hold, beside those of graphs with its variables shuffled.

    Parameters
    ----------
    p_value : float
        Share of the shuffled graphs that are violated no more often. Above .05 the graph is no better than chance.
    violated : float
        Share of the graph's independences that the data contradict.
    by_chance : float
        The same for the shuffled graphs, on average.
    equivalent : float
        Share of the shuffled graphs that claim the same as the graph. Above .05 the test cannot judge it.
    n_tests, n_permutations : int
    """

    p_value: float
    violated: float
    by_chance: float
    equivalent: float
    n_tests: int
    n_permutations: int

    @property
    def informative(self) -> bool:
        """Whether there are shuffled copies enough that claim something else."""
        return self.equivalent <= SIGNIFICANT

    @property
    def falsified(self) -> bool:
        """Whether the data treat the graph no better than its shuffled copies, where these claim something else."""
        return self.informative and self.p_value > SIGNIFICANT

    @property
    def sentence(self) -> str:
        """The verdict in plain words."""
        if self.n_tests == 0:
            return "The graph claims no independence, so the data cannot contradict it (0 tests)."
        facts = (
            f"The data contradict {self.violated:.0%} of the {self.n_tests} independences that the graph claims, and "
            f"{self.by_chance:.0%} on average once its variables are shuffled (p = {self.p_value:.2g})"
        )
        if not self.informative:
            return (
                f"{facts}: {self.equivalent:.0%} of the shuffled graphs claim just the same, so this test cannot tell "
                "the graph from a random one."
            )
        if self.falsified:
            return f"{facts}: the graph is no better than a random one of the same shape."
        return f"{facts}: a random graph of the same shape is ruled out. This confirms no direction and no single edge."


def permutation_test(
    graph: CausalGraph, data: Any = None, n_permutations: int = 99, random_state: RandomState = 0
) -> PermutationTest:
    """Test whether a graph's independences hold better than those of the same graph with shuffled variables.

    A graph says that each variable is independent of everything that does not follow from it, given its parents. Each
    such statement is tested along curves, and the share that fails is compared with shuffled graphs.

    Parameters
    ----------
    graph : CausalGraph
    data : as for ``fit``, optional
        What the graph was learned from when left out; a graph is judged most fairly on rows it has not seen.
    n_permutations : int
    random_state : int, Generator or None

    Examples
    --------
    >>> from precede import simulate
    >>> made = simulate(n_variables=8, degree=1, n_samples=300, random_state=0)
    >>> permutation_test(made.graph, made.data).falsified
    False
    """
    check_positive("n_permutations", n_permutations, integer=True)
    rows = _rows_for(graph, data)
    moments, m = hermite_moments(rows), len(rows)
    statements = independences(graph.edges, graph.past)
    n_tests = sum(len(others) for _, others, _ in statements)
    if n_tests == 0:
        return PermutationTest(1.0, 0.0, 0.0, 1.0, 0, 0)
    rng = numpy_rng(random_state)
    pattern = cpdag(graph.edges)
    shuffled = np.array([rng.permutation(graph.n_variables) for _ in range(n_permutations)])
    own, *others = violations(moments, m, statements, np.vstack([np.arange(graph.n_variables), shuffled]))
    same = sum(bool((pattern[np.ix_(names, names)] == pattern).all()) for names in shuffled)
    p_value = (1 + sum(other <= own for other in others)) / (1 + n_permutations)
    by_chance, equivalent = float(np.mean(others)) / n_tests, same / n_permutations
    return PermutationTest(p_value, own / n_tests, by_chance, equivalent, n_tests, n_permutations)


Statement = tuple[int, IntArray, IntArray]


def independences(edges: BoolArray, past: BoolArray | None = None) -> list[Statement]:
    """What a graph claims: ``(variable, those it is independent of, given its parents)``.

    About columns of the past, whose causes are not learned, it claims nothing.

    Examples
    --------
    >>> chain = np.eye(3, k=1, dtype=bool)
    >>> [(v, list(map(int, others)), list(map(int, given))) for v, others, given in independences(chain)]
    [(2, [0], [1])]
    """
    reach = ancestors(edges)
    d = len(edges)
    claims = []
    for v in range(d):
        free = ~reach[v] & ~edges[:, v]
        free[v] = False
        if free.any() and (past is None or not past[v]):
            claims.append((v, np.flatnonzero(free), np.flatnonzero(edges[:, v])))
    if len(claims) > MOST_TESTED:
        claims = [claims[k] for k in np.linspace(0, len(claims) - 1, MOST_TESTED).round().astype(int)]
    return claims


def violations(moments: FloatArray, n_samples: int, statements: list[Statement], names: IntArray) -> list[int]:
    """How many of the statements the data contradict, for each row of names: variable k is called ``names[row, k]``."""
    contradicted = np.zeros(len(names), dtype=np.int64)
    for v, others, given in statements:
        p_values = dependence_p_values(moments, n_samples, names[:, v], names[:, others], names[:, given])
        contradicted += (p_values < SIGNIFICANT).sum(axis=1)
    return [int(count) for count in contradicted]


@dataclass(frozen=True)
class Placebo:
    """Edges found in the data, and in the same columns each shuffled on its own.

    Parameters
    ----------
    found : int
        Edges in the data.
    placebo : tuple of int
        Edges in each shuffled copy, where every edge is a false one.
    """

    found: int
    placebo: tuple[int, ...]

    @property
    def share(self) -> float:
        """Edges of a shuffled copy over those of the data: about what share may be false alarms."""
        return float(np.mean(self.placebo)) / self.found if self.found else float(np.mean(self.placebo) > 0)

    @property
    def sentence(self) -> str:
        """The comparison in plain words."""
        mean = float(np.mean(self.placebo))
        facts = f"With every column shuffled, so that nothing causes anything, the method finds {mean:.3g} edges"
        verdict = (
            "its edges are hardly ever false alarms" if self.share <= 0.1 else "many of its edges may be false alarms"
        )
        return f"{facts} instead of {self.found}: {verdict}."


def placebo_test(model: Any, data: Any, n_shuffles: int = 3, random_state: RandomState = 0) -> Placebo:
    """Fit a method to the data and to copies in which every column is shuffled on its own.

    Parameters
    ----------
    model : estimator
        Left as it is.
    data : as for ``fit``
    n_shuffles : int
    random_state : int, Generator or None

    Examples
    --------
    >>> from precede import baselines, simulate
    >>> made = simulate(n_variables=5, degree=1, n_samples=300, random_state=0)
    >>> placebo_test(baselines.EqVar(verbose=False), made.data).placebo
    (0, 0, 0)
    """
    check_positive("n_shuffles", n_shuffles, integer=True)
    table, rng = load_table(data), numpy_rng(random_state)
    quiet = {name: False for name in ("verbose", "diagnose") if name in model.get_params(deep=False)}
    silent = model.unfitted().set_params(**quiet)
    found = silent.unfitted().fit(table).graph_.n_edges
    counts = []
    for _ in range(n_shuffles):
        counts.append(silent.unfitted().fit(_shuffled(table, rng)).graph_.n_edges)
    return Placebo(found, tuple(counts))


def _shuffled(table: Table, rng: np.random.Generator) -> Table:
    """Every column in a sequence of its own, its gaps with it: then what is in them, and the moments, are new too."""
    values = np.array(table.values)
    if table.gaps is not None:
        values[table.gaps.mask] = np.nan
    for k in range(table.n_variables):
        values[:, k] = rng.permutation(values[:, k])
    values.flags.writeable = False
    shuffled = replace(table, values=values, gaps=None)
    return shuffled if table.gaps is None else filled_table(shuffled, table.gaps.how, rng)
