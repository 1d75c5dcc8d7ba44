"""Backward elimination against refitting without each regressor in turn, where some stand in for others."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from precede.knowledge import Knowledge
from precede.pruning.weights import BLOCK, eliminate, prune_by_bic, regress_on
from precede.scores.covariance import covariance
from precede.simulation import simulate


def residual_sum(x: np.ndarray, parents: list[int], target: int) -> float:
    y = x[:, target]
    if not parents:
        return float(y @ y)
    rest = y - x[:, parents] @ np.linalg.lstsq(x[:, parents], y, rcond=None)[0]
    return float(rest @ rest)


def one_by_one(
    x: np.ndarray, parents: list[int], target: int, limit: float, required: tuple[int, ...] = ()
) -> list[int]:
    """Refit without each, drop the cheapest, start again."""
    while free := [i for i in parents if i not in required]:
        with_all = residual_sum(x, parents, target)
        shares = [residual_sum(x, [p for p in parents if p != i], target) / with_all - 1 for i in free]
        if min(shares) >= limit:
            break
        parents = [p for p in parents if p != free[int(np.argmin(shares))]]
    return parents


def correlated(d: int, m: int, seed: int) -> np.ndarray:
    """Columns with few common factors, in all kinds of units; the last also depends on some of the others."""
    rng = np.random.default_rng(seed)
    factors = int(rng.integers(1, 4))
    x = rng.normal(size=(m, factors)) @ rng.normal(size=(factors, d)) * 10 ** rng.uniform(-1, 1.5) + rng.normal(
        size=(m, d)
    )
    x[:, -1] += x[:, :-1] @ (rng.normal(size=d - 1) * (rng.random(d - 1) < 0.3))
    x *= 10 ** rng.uniform(-3, 3, size=d)
    return np.asarray(x - x.mean(axis=0))


@given(d=st.integers(2, 12), m=st.integers(30, 400), seed=st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_pruning_is_plain_backward_elimination(d: int, m: int, seed: int) -> None:
    x = correlated(d, m, seed)
    order = np.random.default_rng(seed).permutation(d)
    edges = prune_by_bic(covariance(x), order, m)
    limit = math.expm1(2 * (math.log(m) / 2 + math.log(d)) / m)
    for t, j in enumerate(order):
        expected = one_by_one(x, order[:t].tolist(), int(j), limit)
        assert sorted(expected) == np.flatnonzero(edges[:, j]).tolist()


def regressing_anew(matrix: np.ndarray, parents: np.ndarray, target: int, limit: float, required: np.ndarray) -> list:
    """The same from the moments: each step from a factor of its own."""
    while len(parents):
        found = regress_on(matrix, parents, target)
        share = found.weights**2 / (found.residual * found.inverse.diagonal())
        share[np.isin(parents, required)] = np.inf
        if share.min() >= limit:
            break
        parents = np.delete(parents, share.argmin())
    return parents.tolist()


@pytest.mark.parametrize("seed", range(8))
def test_so_it_is_beyond_one_block_and_with_required_parents(seed: int) -> None:
    d = 3 * BLOCK + 10
    matrix = covariance(correlated(d, 500, seed))
    parents, required = np.arange(d - 1), np.zeros(d - 1, dtype=bool)
    required[[3, 40]] = True
    kept = eliminate(matrix, parents, d - 1, required, 0.03)
    assert kept.tolist() == regressing_anew(matrix, parents, d - 1, 0.03, parents[required])
    assert 2 < len(kept) < d - 1 - 2 * BLOCK


def test_so_it_is_where_variances_explode() -> None:
    data = simulate(graph="sf-degree", n_variables=40, degree=8, n_samples=1000, random_state=0)
    matrix = covariance(data.data.to_numpy())
    assert matrix.max() > 1e6
    order = np.random.default_rng(0).permutation(40)
    limit = math.expm1(2 * (math.log(1000) / 2 + math.log(40)) / 1000)
    edges = prune_by_bic(matrix, order, 1000)
    for t, j in enumerate(order):
        expected = regressing_anew(matrix, order[:t], j, limit, np.empty(0))
        assert sorted(expected) == np.flatnonzero(edges[:, j]).tolist()


def test_one_of_several_that_stand_in_for_one_another_stays() -> None:
    """Each is cheap while the others are there: at once they would all go, and the effect lose its causes."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        factor = rng.normal(size=500)
        x = np.sqrt(0.95) * factor[:, None] + np.sqrt(0.05) * rng.normal(size=(500, 4))
        y = 0.5 * x[:, 0] + rng.normal(size=500)
        assert prune_by_bic(covariance(np.column_stack([x, y])), np.arange(5), 500)[:, 4].any()


def test_of_equally_cheap_ones_the_first_goes() -> None:
    matrix = np.full((4, 4), 0.9)
    matrix[np.diag_indices(4)] = 1.0
    matrix[3, :3] = matrix[:3, 3] = 0.6
    for nudge in np.eye(3) * 1e-13:
        nudged = matrix.copy()
        nudged[3, :3] += nudge
        nudged[:3, 3] += nudge
        assert eliminate(nudged, np.array([2, 0, 1]), 3, np.zeros(3, dtype=bool), 0.05).tolist() == [1]


@pytest.mark.parametrize("noise", [1e-8, 1e-10])
@pytest.mark.parametrize("correlation", [0.2, 0.3, 0.35, 0.4, 0.5, 0.7, 0.8])
def test_so_it_does_where_dropping_others_cancels_digits(correlation: float, noise: float) -> None:
    """Two equal causes, each after a noisy copy of itself: without the copies their inverse is a fraction as large."""
    matrix = np.array([[1.0, correlation, 0.5], [correlation, 1.0, 0.5], [0.5, 0.5, 1.0]])
    places = np.array([0, 1, 0, 1, 2])
    matrix = matrix[np.ix_(places, places)]
    matrix[[0, 1], [0, 1]] += noise
    assert eliminate(matrix, np.arange(4), 4, np.zeros(4, dtype=bool), 0.3).tolist() == [3]


def test_a_price_that_is_reached_but_for_rounding_is_kept() -> None:
    matrix = np.array([[1.0, 0.5], [0.5, 1.0]])
    share = 0.25 / 0.75
    for limit, kept in ((share * (1 + 1e-12), [0]), (share * (1 + 1e-6), []), (share * (1 - 1e-6), [0])):
        assert eliminate(matrix, np.array([0]), 1, np.zeros(1, dtype=bool), limit).tolist() == kept


def test_required_edges_stay_in_the_regression_of_the_others() -> None:
    x = correlated(8, 300, 5)
    names = [f"x{k}" for k in range(8)]
    order = np.arange(8)
    constraints = Knowledge(required=[("x2", "x7")], forbidden=[("x0", "x7")]).over(names)
    edges = prune_by_bic(covariance(x), order, 300, constraints)
    limit = math.expm1(2 * (math.log(300) / 2 + math.log(8)) / 300)
    assert np.flatnonzero(edges[:, 7]).tolist() == one_by_one(x, [1, 2, 3, 4, 5, 6], 7, limit, (2,))
