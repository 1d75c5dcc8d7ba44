"""The linear score against least squares, and its insertion moves against brute force."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from precede.errors import OptionError
from precede.scores.covariance import covariance
from precede.scores.linear import LinearScore
from precede.scores.protocol import OrderScore


def draw(d: int, m: int = 200, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, d)) @ rng.normal(size=(d, d)) + rng.normal(size=d)


def least_squares_variances(x: np.ndarray, order: np.ndarray) -> np.ndarray:
    x = x - x.mean(axis=0)
    result = []
    for t, j in enumerate(order):
        before = x[:, order[:t]]
        weights = np.linalg.lstsq(before, x[:, j], rcond=None)[0]
        result.append(np.mean((x[:, j] - before @ weights) ** 2))
    return np.array(result)


@given(d=st.integers(1, 8), seed=st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_residual_variances_are_those_of_least_squares(d: int, seed: int) -> None:
    x = draw(d, seed=seed)
    orders = np.array([np.random.default_rng(seed + k).permutation(d) for k in range(3)])
    found = LinearScore(x).residual_variances(torch.from_numpy(orders)).numpy()
    expected = np.array([least_squares_variances(x, order) for order in orders])
    np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_total_is_the_equal_variance_bic() -> None:
    x = draw(4, m=300)
    order = np.array([2, 0, 3, 1])
    score = LinearScore(x)
    total = float(score.total(score.terms(torch.from_numpy(order)[None]).sum(1)))
    m, d = x.shape
    by_hand = -m * d / 2 * np.log(least_squares_variances(x, order).mean()) - (d * (d - 1) / 2 + 1) / 2 * np.log(m)
    assert total == pytest.approx(by_hand, rel=1e-10)


def test_total_grows_with_the_sum_of_terms() -> None:
    score = LinearScore(draw(6))
    orders = torch.stack([torch.randperm(6, generator=torch.Generator().manual_seed(k)) for k in range(50)])
    sums = score.terms(orders).sum(1)
    assert torch.equal(sums.argsort(), score.total(sums).argsort())


def test_terms_depend_on_the_set_of_predecessors_only() -> None:
    terms = LinearScore(draw(5)).terms(torch.tensor([[0, 1, 2, 3, 4], [2, 1, 0, 3, 4]]))
    torch.testing.assert_close(terms[0, 3:], terms[1, 3:])


def test_bounds_are_the_terms_given_all_others() -> None:
    score = LinearScore(draw(7))
    torch.testing.assert_close(score.bounds(), OrderScore.bounds(score))
    assert (score.terms(torch.arange(7)[None])[0] <= score.bounds() + 1e-9).all()


def test_columns_permuted_permute_the_terms() -> None:
    x, permutation = draw(5), np.array([3, 1, 4, 0, 2])
    order = torch.tensor([[0, 1, 2, 3, 4]])
    moved = torch.from_numpy(np.argsort(permutation))[order]
    torch.testing.assert_close(LinearScore(x).terms(order), LinearScore(x[:, permutation]).terms(moved))


def test_covariance_in_pieces_equals_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    x = draw(4, m=1000)
    monkeypatch.setattr("precede.scores.covariance.CHUNK_BYTES", 8 * 4 * 7)
    np.testing.assert_allclose(covariance(x), np.cov(x.T, ddof=0), rtol=1e-12)


@pytest.mark.parametrize("m", [4, 200])
def test_singular_data_gets_a_ridge_and_finite_terms(m: int) -> None:
    x = draw(6, m=m)
    x[:, 5] = x[:, 0] + x[:, 1]
    orders = torch.stack([torch.randperm(6, generator=torch.Generator().manual_seed(k)) for k in range(20)])
    assert torch.isfinite(LinearScore(x).terms(orders)).all()


def test_regular_data_gets_no_ridge() -> None:
    x = draw(5)
    np.testing.assert_array_equal(LinearScore(x).covariance.numpy(), covariance(x))


def test_unequal_noise_is_refused_with_the_reason() -> None:
    with pytest.raises(OptionError, match=r"log det S for every order.*nongaussian"):
        LinearScore(draw(3), noise="unequal")


def test_it_is_an_order_score() -> None:
    assert isinstance(LinearScore(draw(3)), OrderScore)


def test_batches_larger_than_a_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    score = LinearScore(draw(4))
    orders = torch.stack([torch.randperm(4, generator=torch.Generator().manual_seed(k)) for k in range(11)])
    whole = score.terms(orders)
    monkeypatch.setattr("precede.scores.linear.CHUNK_ELEMENTS", 16 * 3)
    torch.testing.assert_close(score.terms(orders), whole)
