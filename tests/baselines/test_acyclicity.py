"""Acyclicity functions: zero exactly on DAGs, right gradients; the repair leaves the strongest DAG."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from precede.baselines.iterative import exponential_acyclicity, polynomial_acyclicity, strongest_dag
from precede.graph.dags import is_acyclic

FUNCTIONS = [polynomial_acyclicity, exponential_acyclicity]


def random_weights(seed: int, d: int) -> np.ndarray:
    weights = np.random.default_rng(seed).uniform(0, 1, size=(d, d))
    np.fill_diagonal(weights, 0)
    return weights


@pytest.mark.parametrize("function", FUNCTIONS)
def test_zero_on_dags_positive_on_cycles(function):
    weights = torch.tensor(random_weights(0, 6))
    assert float(function(torch.triu(weights, 1))) == pytest.approx(0, abs=1e-12)
    assert float(function(weights)) > 0.1
    cycle = torch.roll(torch.eye(5, dtype=torch.float64), 1, dims=1)
    assert float(function(cycle)) > 1e-3
    cycle[0] = 0
    assert float(function(cycle)) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_gradient_agrees_with_finite_differences(function):
    weights = torch.tensor(random_weights(1, 5), requires_grad=True)
    assert torch.autograd.gradcheck(function, weights)


def test_known_values():
    two = torch.tensor([[0.0, 3.0], [0.5, 0.0]])
    assert float(polynomial_acyclicity(two)) == pytest.approx(2 * 3.0 * 0.5 / 4)  # tr (I + W/2)^2 - 2 = 2 ab / 4
    assert float(exponential_acyclicity(two)) == pytest.approx(2 * np.cosh(np.sqrt(1.5)) - 2)


def test_exponential_takes_batches():
    batch = torch.tensor(np.stack([random_weights(k, 4) for k in range(3)]))
    single = torch.stack([exponential_acyclicity(matrix) for matrix in batch])
    torch.testing.assert_close(exponential_acyclicity(batch), single)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 7), st.floats(0, 0.5))
def test_strongest_dag_raises_the_threshold_no_further_than_needed(seed, d, start):
    strengths = np.random.default_rng(seed).normal(size=(d, d))
    edges, threshold = strongest_dag(strengths, start)
    assert is_acyclic(edges)
    assert not edges.diagonal().any()
    off_diagonal = np.abs(strengths) * ~np.eye(d, dtype=bool)
    np.testing.assert_array_equal(edges, off_diagonal > threshold)
    if threshold > start:  # with the edge at the threshold put back there is a cycle
        assert not is_acyclic(off_diagonal >= threshold)
