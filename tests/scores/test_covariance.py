"""Covariance: pieces, ridges, units, factors."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from precede.data.load import load_table
from precede.scores import covariance as module
from precede.scores.covariance import RIDGE, covariance, moments_of, ordered_cholesky, regularized, standardized


def values(n_samples: int = 57, n_variables: int = 4) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n_samples, n_variables)) @ rng.normal(size=(n_variables, n_variables)) + 3


@pytest.mark.parametrize("chunk", [1, 8 * 4 * 10, 8 * 4 * 57, 10**9])
def test_pieces_add_up(monkeypatch, chunk):
    monkeypatch.setattr(module, "CHUNK_BYTES", chunk)
    np.testing.assert_allclose(covariance(values()), np.cov(values(), rowvar=False, ddof=0), rtol=1e-12)


@pytest.mark.parametrize(("rows", "pieces"), [(10, [10] * 5 + [7]), (0.5, [1] * 57)])
def test_pieces_have_the_size_that_is_said(monkeypatch, rows, pieces):
    seen = []

    def watched(piece):
        seen.append(len(piece))
        return piece

    monkeypatch.setattr(module, "CHUNK_BYTES", int(8 * 4 * rows))
    covariance(values(), watched)
    assert seen == [1, *pieces, *pieces]  # the first row says how wide it is; then the mean, then the products


def test_a_regular_matrix_is_left_alone():
    matrix = covariance(values())
    assert regularized(matrix) is matrix


def test_a_singular_matrix_gets_a_ridge():
    x = values()
    matrix = covariance(np.column_stack([x, x[:, 0] + x[:, 1]]))
    mended = regularized(matrix)
    np.testing.assert_allclose(mended - matrix, RIDGE * np.diag(np.diag(matrix)), rtol=1e-4, atol=1e-18)
    assert np.linalg.eigvalsh(mended).min() > 0
    units = np.array([1e-6, 1.0, 1e6, 1.0, 1.0])
    scaled = regularized(matrix * np.outer(units, units))
    np.testing.assert_allclose(scaled, mended * np.outer(units, units), rtol=1e-9)


def test_the_ridge_begins_at_the_smallest_pivot(monkeypatch):
    matrix = np.array([[1.0, 0.6], [0.6, 1.0]])  # the second pivot is .64
    monkeypatch.setattr(module, "SMALLEST_PIVOT", 0.63)
    assert regularized(matrix) is matrix
    monkeypatch.setattr(module, "SMALLEST_PIVOT", 0.65)
    assert regularized(matrix) is not matrix


def test_standard_columns_of_any_size():
    x = values() * np.array([1e-200, 1.0, 1e200, 5.0])
    found = standardized(x)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose((found**2).mean(axis=0), 1, rtol=1e-12)


def test_moments_of_a_table():
    table = load_table(values())
    found = moments_of(table)
    assert found.n_samples == 57
    np.testing.assert_allclose(found.covariance, covariance(values()), rtol=1e-12)


def test_factors_follow_the_orders():
    matrix = torch.from_numpy(covariance(values()))
    orders = torch.tensor([[0, 1, 2, 3], [3, 1, 0, 2]])
    for factor, order in zip(ordered_cholesky(matrix, orders), orders, strict=True):
        torch.testing.assert_close(factor @ factor.T, matrix[order][:, order])
        assert torch.equal(factor, factor.tril())
