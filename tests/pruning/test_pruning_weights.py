"""Pruning by weight and by BIC: regression weights against least squares, scale, knowledge."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from precede.data.load import load_table
from precede.graph.dags import full_dag
from precede.knowledge import Constraints, Knowledge
from precede.pruning.order_to_graph import order_to_graph
from precede.pruning.weights import (
    _regress_each,
    or_eliminated,
    prune_by_bic,
    prune_by_weight,
    regress_on,
    regression_weights,
)
from precede.scores.covariance import covariance
from precede.scores.sparse_linear import LinearAnyScore
from precede.simulation import simulate


@given(d=st.integers(1, 7), seed=st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_weights_are_those_of_least_squares(d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(100, d)) @ rng.normal(size=(d, d))
    x -= x.mean(axis=0)
    order = rng.permutation(d)
    weights = regression_weights(covariance(x), order)
    for t, j in enumerate(order):
        expected = np.zeros(d)
        expected[order[:t]] = np.linalg.lstsq(x[:, order[:t]], x[:, j], rcond=None)[0]
        np.testing.assert_allclose(weights[:, j], expected, atol=1e-8 * (1 + np.abs(expected).max()))
    np.testing.assert_allclose(regression_weights(covariance(x), order, full_dag(order)), weights, rtol=1e-6, atol=1e-9)


@pytest.fixture(scope="module")
def easy():
    data = simulate(n_variables=12, degree=2, n_samples=3000, random_state=0)
    return covariance(data.data.to_numpy()), data.graph


def test_both_recover_the_graph_from_its_order(easy) -> None:
    matrix, truth = easy
    assert np.array_equal(prune_by_weight(matrix, truth.positions), truth.edges)
    assert np.array_equal(prune_by_bic(matrix, truth.positions, 3000), truth.edges)


def test_threshold_is_read(easy) -> None:
    matrix, truth = easy
    assert prune_by_weight(matrix, truth.positions, 0.0001).sum() > truth.n_edges
    assert prune_by_weight(matrix, truth.positions, 1.5).sum() < truth.n_edges


def test_regressions_from_one_factor_are_those_of_each_variable(easy) -> None:
    """Knowledge that cuts off a candidate that is dropped anyway, or none, changes nothing."""
    matrix, truth = easy
    order = truth.positions
    expected = prune_by_bic(matrix, order, 3000)
    for t, found in enumerate(_regress_each(matrix, order)):
        if t:
            alone = regress_on(matrix, order[:t], order[t])
            np.testing.assert_allclose(found.weights, alone.weights, rtol=1e-8, atol=1e-12)
            np.testing.assert_allclose(found.inverse, alone.inverse, rtol=1e-8)
            assert found.residual == pytest.approx(alone.residual)
    first, last = order[0], order[-1]
    assert not expected[first, last]
    without = Knowledge(forbidden=[(int(first), int(last))]).over(range(len(order)))
    assert np.array_equal(prune_by_bic(matrix, order, 3000, without), expected)


def test_bic_does_not_depend_on_the_scale_and_the_threshold_does(easy) -> None:
    matrix, truth = easy
    scale = np.geomspace(1e-3, 1e3, 12)
    scaled = matrix * np.outer(scale, scale)
    assert np.array_equal(prune_by_bic(scaled, truth.positions, 3000), truth.edges)
    assert not np.array_equal(prune_by_weight(scaled, truth.positions), truth.edges)


def test_extension_keeps_fewer_null_edges() -> None:
    rng = np.random.default_rng(0)
    matrix = covariance(rng.normal(size=(500, 40)))
    plain = prune_by_bic(matrix, np.arange(40), 500, extended=0.0).sum()
    assert prune_by_bic(matrix, np.arange(40), 500).sum() < plain


def test_bic_at_small_m_beats_the_threshold() -> None:
    data = simulate(n_variables=50, degree=5, n_samples=500, random_state=0)
    matrix, order = covariance(data.data.to_numpy()), data.graph.positions
    by_weight, by_bic = prune_by_weight(matrix, order), prune_by_bic(matrix, order, 500)
    assert (by_bic != data.graph.edges).sum() < (by_weight != data.graph.edges).sum()


def test_bic_stays_accurate_where_variances_explode() -> None:
    data = simulate(graph="sf-degree", n_variables=100, degree=5, n_samples=3000, random_state=0)
    matrix = covariance(data.data.to_numpy())
    assert matrix.max() > 1e6
    assert (prune_by_bic(matrix, data.graph.positions, 3000) != data.graph.edges).sum() <= 1


@pytest.mark.parametrize("prune", [prune_by_weight, lambda s, o, constraints: prune_by_bic(s, o, 3000, constraints)])
def test_knowledge_is_obeyed(easy, prune) -> None:
    matrix, truth = easy
    order = truth.positions
    cause, effect, _ = truth.edge_list()[0]
    spare = next((i, j) for a, i in enumerate(order) for j in order[a + 1 :] if not truth.edges[i, j])
    names = list(truth.names)
    knowledge = Knowledge(required=[(names[spare[0]], names[spare[1]])], forbidden=[(cause, effect)])
    constraints = knowledge.over(names)
    edges = prune(matrix, order, constraints=constraints)
    assert not constraints.violated_by(edges)
    assert edges[spare]
    assert not edges[names.index(cause), names.index(effect)]


def test_weights_on_given_parents_by_hand(easy) -> None:
    """Also where the parents form a cycle, as those that a search over graphs may end with."""
    matrix, truth = easy
    graph = truth.edges.copy()
    graph[truth.positions[-1], truth.positions[0]] = graph[truth.positions[0], truth.positions[-1]] = True
    weights = regression_weights(matrix, np.arange(len(matrix)), graph)
    for j in range(len(matrix)):
        parents = graph[:, j]
        expected = np.linalg.solve(matrix[np.ix_(parents, parents)], matrix[parents, j])
        np.testing.assert_allclose(weights[parents, j], expected, rtol=1e-6, atol=1e-9)
    assert (weights[~graph] == 0).all()


def test_candidates_and_units_of_the_threshold() -> None:
    """1 = 0 in large units: its weight is small, and large between standardized columns."""
    matrix = np.array([[1.0, 0.01, 0.5], [0.01, 2e-4, 0.0], [0.5, 0.0, 2.0]])
    order = np.arange(3)
    assert prune_by_weight(matrix, order, 0.3)[0].tolist() == [False, False, True]
    assert prune_by_weight(matrix, order, 0.3, standardized=True)[0].tolist() == [False, True, True]
    few = np.zeros((3, 3), dtype=bool)
    few[0, 1] = True
    assert np.array_equal(prune_by_weight(matrix, order, 0.3, standardized=True, candidates=few), few)


def test_of_many_variables_bic_chooses_from_the_sets_of_the_score(monkeypatch) -> None:
    values = simulate(n_variables=12, degree=2, n_samples=3000, random_state=0).data.to_numpy()
    score, table = LinearAnyScore(values, max_parents=1), load_table(values)
    order, none = np.arange(values.shape[1]), Constraints.none(values.shape[1])
    assert order_to_graph(order, table, score, none).sum(axis=0).max() > 1
    monkeypatch.setattr("precede.pruning.order_to_graph.ALL_UP_TO", 2)
    edges = order_to_graph(order, table, score, none)
    assert edges.any()
    assert not (edges & ~score.parent_sets(order)).any()


def test_causes_whose_influences_cancel_are_found_by_elimination() -> None:
    rng = np.random.default_rng(0)
    one = rng.normal(size=2000)
    other = -one + 0.3 * rng.normal(size=2000)
    values = np.column_stack([one, other, one + other + 0.1 * rng.normal(size=2000), rng.normal(size=2000)])
    covariance, order = np.cov(values.T, bias=True), np.arange(4)
    found = np.zeros((4, 4), dtype=bool)
    found[0, 1] = found[1, 2] = True  # what a search that takes up one at a time may end with
    better = or_eliminated(found, covariance, order, 2000, Constraints.none(4))
    assert np.argwhere(better).tolist() == [[0, 1], [0, 2], [1, 2]]
    forbidden = Constraints.none(4)
    forbidden.allowed[0, 2] = False
    assert (or_eliminated(found, covariance, order, 2000, forbidden) == found).all()
