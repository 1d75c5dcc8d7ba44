"""Metrics: hand-made examples, ranges, invariances."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from precede.errors import DataError, GraphError
from precede.graph import CausalGraph
from precede.graph.dags import full_dag
from precede.metrics import (
    cpdag_shd,
    evaluate,
    order_tpr,
    r2_sortability,
    shd,
    sortability,
    var_sortability,
)
from precede.simulation import simulate

quick = settings(deadline=None, max_examples=40)


def random_graph(rng, d):
    order = rng.permutation(d)
    return CausalGraph.from_matrix(full_dag(order) & (rng.random((d, d)) < rng.random()), order=order)


def permuted(graph, new):
    position = np.argsort(new)
    return CausalGraph.from_matrix(graph.edges[np.ix_(new, new)], order=position[graph.positions])


@quick
@given(st.integers(2, 8), st.integers(0, 9999))
def test_ranges_identity_and_relabeling(d, seed):
    rng = np.random.default_rng(seed)
    guess, truth = random_graph(rng, d), random_graph(rng, d)
    metrics = evaluate(guess, truth)
    for share in ("tpr", "fdr", "fpr", "precision", "recall", "f1", "order_tpr"):
        assert 0 <= getattr(metrics, share) <= 1
    for count in ("shd", "cpdag_shd"):
        assert 0 <= getattr(metrics, count) <= d * (d - 1) // 2
    assert metrics.shd == metrics.n_extra + metrics.n_missing + metrics.n_reversed == shd(guess, truth)
    assert metrics.cpdag_shd == cpdag_shd(guess, truth)
    assert metrics.shd == shd(truth, guess)
    assert metrics.fdr == pytest.approx(1 - metrics.precision)
    new = rng.permutation(d)
    assert evaluate(permuted(guess, new), permuted(truth, new)) == metrics
    same = evaluate(guess, guess)
    assert (same.shd, same.cpdag_shd, same.tpr, same.fdr, same.f1, same.order_tpr) == (0, 0, 1, 0, 1, 1)
    assert json.loads(json.dumps(metrics.to_dict()))["shd"] == metrics.shd


def test_counts_by_hand():
    truth = np.zeros((4, 4))
    truth[0, 1] = truth[1, 2] = truth[0, 3] = 1
    guess = np.zeros((4, 4))
    guess[0, 1] = guess[2, 1] = guess[2, 3] = 1  # right, reversed, extra; 0 -> 3 missing
    metrics = evaluate(guess, truth)
    assert (metrics.shd, metrics.n_reversed, metrics.n_extra, metrics.n_missing) == (3, 1, 1, 1)
    assert metrics.tpr == metrics.precision == metrics.f1 == pytest.approx(1 / 3)
    assert metrics.fdr == pytest.approx(2 / 3)
    assert metrics.fpr == pytest.approx(2 / 9)  # 12 ordered pairs, 3 true edges
    assert (metrics.n_edges, metrics.n_true_edges) == (3, 3)


def test_empty_graphs_count_in_favor():
    nothing, something = np.zeros((3, 3)), full_dag(np.arange(3))
    assert evaluate(nothing, nothing).f1 == 1
    assert evaluate(nothing, something).tpr == 0
    assert evaluate(nothing, something).fdr == 0
    assert evaluate(something, nothing).fdr == 1


def test_cpdag_distance_counts_marks():
    chain, reverse = full_dag(np.arange(2)), full_dag(np.array([1, 0]))
    assert cpdag_shd(chain, reverse) == 0
    collider = np.array([[0, 1, 0], [0, 0, 0], [0, 1, 0]])
    fork = collider.T
    assert cpdag_shd(collider, fork) == 2


def test_order_tpr_uses_the_order_not_the_edges():
    truth = CausalGraph.from_matrix(full_dag(np.arange(3)), names=list("abc"))
    empty = np.zeros((3, 3))
    assert evaluate(CausalGraph.from_matrix(empty, order=[0, 1, 2], names=list("abc")), truth).order_tpr == 1
    assert evaluate(CausalGraph.from_matrix(empty, order=[2, 1, 0], names=list("abc")), truth).order_tpr == 0
    assert order_tpr(["b", "a", "c"], truth) == order_tpr([1, 0, 2], truth) == pytest.approx(2 / 3)
    assert order_tpr(np.array([1, 0, 2]), full_dag(np.arange(3))) == pytest.approx(2 / 3)
    assert order_tpr(CausalGraph.from_matrix(empty, order=[2, 1, 0], names=list("abc")), truth) == 0


@pytest.mark.parametrize("order", [["a", "b"], [0, 1, 1], ["a", "b", "z"], [0, 1, 2, 3]])
def test_order_tpr_refuses_what_is_not_an_order(order):
    with pytest.raises(GraphError, match="each of the 3 variables"):
        order_tpr(order, CausalGraph.from_matrix(full_dag(np.arange(3)), names=list("abc")))


def test_names_are_matched():
    truth = pd.DataFrame([[0, 1, 1], [0, 0, 0], [0, 0, 0]], index=list("abc"), columns=list("abc"))
    moved = truth.loc[list("cab"), list("cab")]
    before = moved.copy()
    assert evaluate(moved, truth).shd == 0
    assert evaluate(CausalGraph.from_matrix(moved), truth).order_tpr == 1
    assert evaluate(moved.to_numpy(), truth).shd > 0  # a bare array is matched by position
    assert moved.equals(before)


def test_mismatch_is_named():
    truth = CausalGraph.from_matrix(np.zeros((2, 2)), names=["a", "b"])
    with pytest.raises(GraphError, match="has 'z' where the true one has 'b'"):
        evaluate(CausalGraph.from_matrix(np.zeros((2, 2)), names=["a", "z"]), truth)
    with pytest.raises(GraphError, match="3 variables and the true one 2"):
        evaluate(np.zeros((3, 3)), truth)
    with pytest.raises(GraphError, match="cycle"):
        evaluate([[0, 1], [1, 0]], truth)


def test_a_fitted_estimator_is_accepted():
    class Fitted:
        graph_ = CausalGraph.from_matrix(full_dag(np.arange(3)))

    assert evaluate(Fitted(), full_dag(np.arange(3))).shd == 0
    assert order_tpr(Fitted(), full_dag(np.arange(3))) == 1


@pytest.mark.peers
def test_intervention_distances_match_known_values():
    pytest.importorskip("gadjid")
    truth, guess = full_dag(np.array([0, 1])), full_dag(np.array([1, 0]))
    metrics = evaluate(guess, truth)
    assert metrics.sid == 2
    assert evaluate(truth, truth).sid == 0
    assert evaluate(truth, truth).ancestor_aid == 0
    assert evaluate(full_dag(np.arange(4)), np.zeros((4, 4))).sid == 0  # a supergraph adjusts for enough


def test_sortability_by_hand():
    chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    assert sortability([1, 2, 3], chain) == 1
    assert sortability([3, 2, 1], chain) == 0
    assert sortability([1, 1, 1], chain) == 0.5
    assert sortability([1, 3, 2], chain) == pytest.approx(2 / 3)
    # 0 -> 2 by one edge and by two edges: counted once for each length
    full = full_dag(np.arange(3))
    assert sortability([1, 3, 2], full) == pytest.approx(3 / 4)
    assert np.isnan(sortability([1, 2], np.zeros((2, 2))))


def test_sortability_of_data():
    dataset = simulate("er", 10, 2, n_samples=500, random_state=0)
    before = dataset.data.copy()
    high = var_sortability(dataset.data, dataset.graph)
    assert high == var_sortability(dataset.data.to_numpy(), dataset.graph.edges)
    assert high > 0.9
    scaled = (dataset.data - dataset.data.mean()) / dataset.data.std()
    assert var_sortability(scaled, dataset.graph) == 0.5
    assert r2_sortability(scaled, dataset.graph) == pytest.approx(r2_sortability(dataset.data, dataset.graph))
    assert dataset.data.equals(before)


def test_r2_is_that_of_a_regression_on_all_others():
    from precede.metrics import explained_shares

    x = simulate("er", 5, 2, n_samples=300, random_state=1).data.to_numpy()
    for j in range(5):
        others = np.hstack([np.ones((300, 1)), np.delete(x, j, axis=1)])
        residual = x[:, j] - others @ np.linalg.lstsq(others, x[:, j], rcond=None)[0]
        assert explained_shares(x)[j] == pytest.approx(1 - residual.var() / x[:, j].var())


def test_sortability_refuses_missing_values():
    with pytest.raises(DataError, match="finite"):
        var_sortability([[1, np.nan], [2, 3]], np.zeros((2, 2)))
