"""Proposition 1: with an identifiable model and enough data, the best orders are those of the true graph."""

from itertools import permutations

import numpy as np
import pytest
import torch

from precede.graph.dags import full_dag
from precede.scores.linear import LinearScore
from precede.simulation.graphs import random_dag


def exact_sample(weights: np.ndarray, n_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Rows whose sample covariance is that of the model to the last bit but rounding: infinite data, as it were."""
    noise = rng.normal(size=(n_rows, len(weights)))
    noise -= noise.mean(axis=0)
    white = noise @ np.linalg.inv(np.linalg.cholesky(noise.T @ noise / n_rows)).T
    return white @ np.linalg.inv(np.eye(len(weights)) - weights)


@pytest.mark.parametrize("seed", range(4))
def test_the_best_orders_are_those_whose_full_dag_covers_the_true_graph(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = 5
    edges, _ = random_dag("er", d, 1.2, rng)
    weights = edges * rng.uniform(0.5, 2.0, (d, d)) * rng.choice([-1.0, 1.0], (d, d))
    score = LinearScore(exact_sample(weights, 200, rng))
    orders = np.array(list(permutations(range(d))))
    totals = score.totals(torch.from_numpy(orders)).numpy()
    best = totals >= totals.max() - 1e-6
    covers = np.array([not (edges & ~full_dag(order)).any() for order in orders])
    assert (best == covers).all()
    assert 0 < best.sum() < len(orders)
