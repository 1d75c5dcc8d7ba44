"""The quadratic score against least squares, and every option of it."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from precede.errors import DataError, OptionError
from precede.scores.protocol import OrderScore
from precede.scores.quadratic import QuadraticScore, n_features


def quadratic_data(n_samples=100, n_variables=5, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n_samples, n_variables))
    for j in range(1, n_variables):
        parent = np.tanh(values[:, j - 1])  # keeps the degree, and so the tails, from growing
        values[:, j] += parent**2 - values[:, 0] * parent
    return values * np.arange(1, n_variables + 1) - 3


def least_squares_variance(values, target, predecessors):
    x = values[:, predecessors]
    products = [x[:, i] * x[:, k] for i, k in itertools.combinations_with_replacement(range(x.shape[1]), 2)]
    features = np.column_stack([np.ones(len(x)), x, *products])
    scaled = features / np.linalg.norm(features, axis=0)
    fitted = scaled @ np.linalg.lstsq(scaled, values[:, target], rcond=None)[0]
    return np.mean((values[:, target] - fitted) ** 2)


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 1000))
def test_residual_variances_are_those_of_least_squares(seed):
    values = quadratic_data(seed=seed)
    members = np.random.default_rng(seed).random((4, 5)) < 0.6
    found = QuadraticScore(values).residual_variances(members)
    for s, j in np.argwhere(~members):
        expected = least_squares_variance(values, j, np.flatnonzero(members[s]))
        assert found[s, j] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("noise", ["equal", "unequal"])
def test_terms_and_total_are_the_bic(noise):
    values = quadratic_data()
    m, d = values.shape
    score = QuadraticScore(values, noise=noise)
    assert isinstance(score, OrderScore)
    order = [3, 1, 4, 0, 2]
    terms = score.terms(torch.tensor([order]))[0]
    v = np.array([least_squares_variance(values, j, order[:t]) for t, j in enumerate(order)])
    n_coefficients = 2 + 5 + 9 + 14
    if noise == "unequal":
        expected = -m / 2 * np.log(v)
        total = expected.sum() - (n_coefficients + d) / 2 * np.log(m)
    else:
        expected = -m / 2 * v / values.var(axis=0).min()
        total = -m * d / 2 * np.log(v.mean()) - (n_coefficients + 1) / 2 * np.log(m)
    np.testing.assert_allclose(terms, expected, rtol=1e-8)
    assert float(score.total(terms.sum())) == pytest.approx(total, rel=1e-8)


@settings(deadline=None, max_examples=10)
@given(st.permutations(range(5)), st.permutations(range(3)))
def test_term_depends_on_the_set_only_and_columns_permute(columns, prefix):
    values = quadratic_data()
    score = QuadraticScore(values)
    one, other = score.terms(torch.tensor([[0, 1, 2, 3, 4], [*prefix, 3, 4]]))
    np.testing.assert_array_equal(one[3:], other[3:])
    permuted = QuadraticScore(values[:, columns]).terms(torch.tensor([[0, 1, 2, 3, 4]]))[0]
    np.testing.assert_allclose(permuted, score.terms(torch.tensor([columns]))[0], rtol=1e-8)


def test_bounds_no_order_does_better():
    values = quadratic_data(n_variables=4)
    score = QuadraticScore(values)
    orders = torch.tensor(list(itertools.permutations(range(4))))
    best = torch.full((4,), -torch.inf, dtype=torch.float64)
    for order, terms in zip(orders, score.terms(orders), strict=True):
        best[order] = torch.maximum(best[order], terms)
    np.testing.assert_allclose(best, score.bounds())


def test_the_true_order_wins():
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    y = x**2 + rng.normal(size=500)
    z = x * y + rng.normal(size=500)
    score = QuadraticScore(np.column_stack([z, y, x]))
    orders = torch.tensor(list(itertools.permutations(range(3))))
    assert orders[score.terms(orders).sum(1).argmax()].tolist() == [2, 1, 0]


def test_cache_counts_and_max_sets():
    score = QuadraticScore(quadratic_data())
    orders = torch.tensor([[0, 1, 2, 3, 4], [0, 1, 2, 4, 3]])
    first = score.terms(orders)
    assert torch.equal(score.terms(orders), first)
    assert score.cache.n_evaluations == 6
    assert QuadraticScore(quadratic_data(), max_sets=3).cache.max_sets == 3


def test_rows_and_sets_in_pieces_give_the_same(monkeypatch):
    values = quadratic_data()
    orders = torch.from_numpy(np.array([np.random.default_rng(k).permutation(5) for k in range(6)]))
    whole = QuadraticScore(values).terms(orders)
    monkeypatch.setattr("precede.scores.covariance.CHUNK_BYTES", 2000)
    np.testing.assert_allclose(QuadraticScore(values, memory_limit=20_000).terms(orders), whole, rtol=1e-10)


def test_two_valued_and_duplicate_columns_pass():
    rng = np.random.default_rng(1)
    values = np.column_stack([rng.integers(0, 2, 200), rng.choice([-1, 1], 200), rng.normal(size=(200, 2))])
    values = np.column_stack([values, values[:, 2] * (1 + 1e-13)])
    orders = torch.from_numpy(np.array([rng.permutation(5) for _ in range(10)]))
    assert torch.isfinite(QuadraticScore(values).terms(orders)).all()


def test_too_few_samples_or_too_little_memory_is_refused():
    values = quadratic_data(n_samples=15, n_variables=5)
    with pytest.raises(DataError, match=r"fits 15 coefficients .* 15 samples: use more than 15 rows, at most 4 var"):
        QuadraticScore(values)
    QuadraticScore(quadratic_data(n_samples=16, n_variables=5))
    QuadraticScore(values[:, :4])
    with pytest.raises(DataError, match=r"needs 0\.\d MB for the 20 features of 5 variables.*raise memory_limit"):
        QuadraticScore(quadratic_data(), memory_limit=10_000)
    with pytest.raises(OptionError, match="noise='same'"):
        QuadraticScore(values, noise="same")
    assert n_features(4) == 14
