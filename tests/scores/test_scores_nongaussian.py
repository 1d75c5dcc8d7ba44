"""The non-Gaussian score against a direct computation, its symmetries and its quick insertion moves."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from precede.scores import nongaussian
from precede.scores.nongaussian import NonGaussianScore, entropy
from precede.scores.protocol import OrderScore


def lingam_data(n_samples=300, n_variables=5, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.laplace(size=(n_samples, n_variables)) ** 3
    for j in range(1, n_variables):
        values[:, j] += values[:, :j] @ rng.normal(size=j)
    return values * np.arange(1, n_variables + 1) + 2


def direct_term(values, target, predecessors):
    """Least squares, then the formula of Hyvärinen (1998), written out."""
    centered = values - values.mean(axis=0)
    y, x = centered[:, target], centered[:, predecessors]
    if len(predecessors):
        y = y - x @ np.linalg.lstsq(x, y, rcond=None)[0]
    scale = y.std()
    z = y / scale
    gauss = (1 + np.log(2 * np.pi)) / 2
    even = (np.mean(np.log(np.cosh(z))) - 0.37457) ** 2
    odd = np.mean(z * np.exp(-(z**2) / 2)) ** 2
    return -len(values) * (gauss - 79.047 * even - 7.4129 * odd + np.log(scale))


def moved(order, i, k):
    order = list(order)
    order.insert(k, order.pop(i))
    return order


@pytest.mark.parametrize("n_samples", [300, 303])
def test_terms_are_the_direct_computation(n_samples):
    values = lingam_data(n_samples)
    score = NonGaussianScore(values)
    assert isinstance(score, OrderScore)
    orders = [[0, 1, 2, 3, 4], [3, 1, 4, 0, 2]]
    terms = score.terms(torch.tensor(orders))
    assert terms.dtype == torch.float64
    expected = [[direct_term(values, j, order[:t]) for t, j in enumerate(order)] for order in orders]
    np.testing.assert_allclose(terms, expected, rtol=1e-9)
    total = terms[0].sum() - 15 / 2 * np.log(n_samples)  # ten weights and five variances
    assert float(score.total(terms[0].sum())) == pytest.approx(float(total))


@settings(deadline=None, max_examples=10)
@given(st.integers(1, 8), st.integers(0, 1000))
def test_insertion_sums_are_those_of_the_moved_orders(n_variables, seed):
    values = lingam_data(n_variables=n_variables, seed=seed)
    score = NonGaussianScore(values)
    order = np.random.default_rng(seed).permutation(n_variables)
    sums = score.insertion_sums(torch.from_numpy(order))
    moves = list(itertools.product(range(n_variables), repeat=2))
    brute = score.terms(torch.tensor([moved(order, i, k) for i, k in moves])).sum(1)
    np.testing.assert_allclose(sums.flatten(), brute, rtol=1e-9)


@settings(deadline=None, max_examples=10)
@given(st.permutations(range(5)), st.permutations(range(3)))
def test_term_depends_on_the_set_only_and_columns_permute(columns, prefix):
    values = lingam_data()
    score = NonGaussianScore(values)
    one, other = score.terms(torch.tensor([[0, 1, 2, 3, 4], [*prefix, 3, 4]]))
    np.testing.assert_allclose(one[3:], other[3:], rtol=1e-9)
    permuted = NonGaussianScore(values[:, columns]).terms(torch.tensor([[0, 1, 2, 3, 4]]))[0]
    np.testing.assert_allclose(permuted, score.terms(torch.tensor([columns]))[0], rtol=1e-9)


@settings(deadline=None, max_examples=10)
@given(st.lists(st.floats(1e-4, 1e4), min_size=5, max_size=5))
def test_scale_shifts_every_order_by_the_same(scales):
    values = lingam_data()
    orders = torch.tensor([[0, 1, 2, 3, 4], [4, 2, 0, 1, 3], [2, 3, 4, 1, 0]])
    raw = NonGaussianScore(values).terms(orders).sum(1)
    scaled = NonGaussianScore(values * np.array(scales) * [1, -1, 1, 1, -1]).terms(orders).sum(1)
    np.testing.assert_allclose(raw - scaled, np.full(3, len(values) * np.log(scales).sum()), atol=1e-4)


def test_bounds_are_the_terms_given_all_others():
    score = NonGaussianScore(lingam_data())
    np.testing.assert_allclose(score.bounds(), OrderScore.bounds(score), rtol=1e-9)


def test_orders_in_pieces_give_the_same(monkeypatch):
    score = NonGaussianScore(lingam_data())
    orders = torch.from_numpy(np.array([np.random.default_rng(k).permutation(5) for k in range(7)]))
    whole = score.terms(orders)
    monkeypatch.setitem(nongaussian.CHUNK_ELEMENTS, "cpu", 3000)
    np.testing.assert_allclose(score.terms(orders), whole, rtol=1e-12)


def test_collinear_columns_stay_finite():
    values = lingam_data()
    values = np.column_stack([values, values[:, 0] + values[:, 1]])
    score = NonGaussianScore(values)
    order = torch.arange(6)
    assert torch.isfinite(score.terms(order[None])).all()
    assert torch.isfinite(score.insertion_sums(order)).all()


def test_entropy_is_highest_for_a_gaussian_and_survives_outliers():
    rng = np.random.default_rng(0)
    samples = np.stack([rng.normal(size=20_000), rng.uniform(size=20_000), rng.exponential(size=20_000)])
    samples = (samples - samples.mean(axis=1, keepdims=True)) / samples.std(axis=1, keepdims=True)
    values = entropy(torch.from_numpy(samples))
    assert values.argmax() == 0
    assert torch.isfinite(entropy(torch.tensor([1e6, -1e6, 0.0], dtype=torch.float64)))


def test_the_true_order_of_small_data_wins_over_all_orders():
    rng = np.random.default_rng(5)
    noise = rng.uniform(-1, 1, size=(3000, 4))
    x0 = noise[:, 0]
    x1 = x0 + noise[:, 1]
    x2 = x0 - x1 + noise[:, 2]
    x3 = x2 + noise[:, 3]
    score = NonGaussianScore(np.column_stack([x3, x2, x1, x0]))
    orders = torch.tensor(list(itertools.permutations(range(4))))
    assert orders[score.terms(orders).sum(1).argmax()].tolist() == [3, 2, 1, 0]


def test_placing_sums_equal_scoring_every_place():
    values = np.random.default_rng(3).laplace(size=(300, 6)) @ np.triu(np.ones((6, 6)))
    score = NonGaussianScore(values)
    order = torch.tensor([4, 1, 0, 5, 2, 3])
    for n_placed in range(6):
        quick, brute = score.placing_sums(order, n_placed), OrderScore.placing_sums(score, order, n_placed)
        np.testing.assert_allclose(quick, brute, rtol=1e-9)
        for k in range(n_placed + 1):
            placed = order[:n_placed].tolist()
            placed.insert(k, int(order[n_placed]))
            whole = torch.tensor([placed + order[n_placed + 1 :].tolist()])
            np.testing.assert_allclose(brute[k], score.terms(whole)[0, : n_placed + 1].sum(), rtol=1e-9)
