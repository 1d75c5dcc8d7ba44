"""A* lasso: exact against brute force, exact lassos against scikit-learn, options, knowledge."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Lasso

from precede.baselines.astar_lasso import AStarLasso, lasso_costs, solve_lassos
from precede.errors import OptionError
from precede.graph.dags import full_dag
from precede.knowledge import Knowledge
from precede.scores.covariance import covariance
from precede.simulation import simulate


def random_data(seed, d, m=80):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, d)) @ rng.normal(size=(d, d))


def objective(moments, penalty, target, w):
    return 0.5 * moments[target, target] - w @ moments[:, target] + 0.5 * w @ moments @ w + penalty * np.abs(w).sum()


def cost_of_order(moments, penalty, order, allowed=None):
    d = len(order)
    candidates = full_dag(np.array(order)) if allowed is None else full_dag(np.array(order)) & allowed
    lam = np.full((d, d), penalty)
    weights = solve_lassos(moments, lam, np.arange(d), candidates, np.zeros((d, d)))
    return lasso_costs(moments, lam, np.arange(d), weights).sum()


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10_000), d=st.integers(2, 9), log_penalty=st.floats(-3, 1), warm=st.booleans())
def test_batched_lassos_are_as_good_as_coordinate_descent(seed, d, log_penalty, warm):
    data = random_data(seed, d)
    rng = np.random.default_rng(seed)
    moments, penalty = covariance(data), 10**log_penalty
    candidates = (rng.random((d, d)) < 0.7) & ~np.eye(d, dtype=bool)
    start = np.where(candidates & (rng.random((d, d)) < 0.4), rng.normal(size=(d, d)), 0.0) * warm
    lam = np.full((d, d), penalty)
    weights = solve_lassos(moments, lam, np.arange(d), candidates, start)
    costs = lasso_costs(moments, lam, np.arange(d), weights)
    centered = data - data.mean(axis=0)
    assert not weights[~candidates].any()
    for j in range(d):
        assert objective(moments, penalty, j, weights[:, j]) == pytest.approx(costs[j], rel=1e-9)
        reference = np.zeros(d)
        if candidates[:, j].any():
            peer = Lasso(alpha=penalty, fit_intercept=False, tol=1e-8, max_iter=200_000)
            reference[candidates[:, j]] = peer.fit(centered[:, candidates[:, j]], centered[:, j]).coef_
        assert costs[j] <= objective(moments, penalty, j, reference) * (1 + 1e-9)


def test_a_free_weight_is_not_shrunk():
    moments = np.array([[1.0, 0.5], [0.5, 1.0]])
    weights = solve_lassos(moments, np.zeros((2, 1)), np.array([0]), np.array([[False], [True]]), np.zeros((2, 1)))
    assert weights[:, 0] == pytest.approx([0.0, 0.5])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("d", [2, 4, 5])
def test_unlimited_queue_is_optimal(seed, d):
    data = random_data(seed, d)
    model = AStarLasso(queue_size=None, penalty=0.2, verbose=False).fit(data)
    best = min(cost_of_order(covariance(data), 0.2, order) for order in permutations(range(d)))
    assert -model.score_ == pytest.approx(best, rel=1e-10)
    assert model.diagnostics_["optimal"]
    assert model.diagnostics_["lower_bound"] == pytest.approx(best, rel=1e-8)
    assert cost_of_order(covariance(data), 0.2, model.graph_.positions) == pytest.approx(best, rel=1e-10)


@pytest.mark.parametrize("queue_size", [1, 10, None])
def test_recovers_easy_graphs(queue_size):
    for seed in range(2):
        dataset = simulate("er", 8, 1, n_samples=1000, random_state=seed)
        model = AStarLasso(queue_size=queue_size, verbose=False).fit(dataset.data)
        assert (model.graph_.edges != dataset.graph.edges).sum() <= 1
        assert model.causal_order_ == list(model.graph_.order)


def test_queue_size_limits_the_work_and_can_cost_optimality():
    data = random_data(3, 7)
    narrow = AStarLasso(queue_size=1, penalty=0.2, verbose=False).fit(data)
    wide = AStarLasso(queue_size=None, penalty=0.2, verbose=False).fit(data)
    assert narrow.diagnostics_["n_expanded"] <= 7 < wide.diagnostics_["n_expanded"]
    assert narrow.score_ <= wide.score_ + 1e-12
    assert not narrow.diagnostics_["optimal"]
    sizes = AStarLasso(queue_size=3, penalty=0.2, verbose=False).fit(data).history_["n_placed"].value_counts()
    assert sizes.max() <= 3


def test_penalty_and_threshold_are_read():
    data = simulate("er", 6, 2, n_samples=500, random_state=1).data
    every = AStarLasso(penalty=1e-6, threshold=None, verbose=False).fit(data)
    assert every.graph_.n_edges == 15
    sparse = AStarLasso(penalty=0.5, threshold=None, verbose=False).fit(data)
    assert sparse.graph_.n_edges < 15
    cut = AStarLasso(penalty=1e-6, threshold=0.7, verbose=False).fit(data)
    assert cut.graph_.n_edges < 15
    assert np.abs(cut.graph_.strengths[cut.graph_.edges]).min() >= 0.7


@pytest.mark.parametrize("queue_size", [2, None])
def test_knowledge_is_obeyed(queue_size):
    dataset = simulate("er", 6, 1, n_samples=500, random_state=0)
    cause, effect, _ = dataset.graph.edge_list()[0]
    others = [name for name in dataset.data.columns if name not in (cause, effect)]
    knowledge = Knowledge(required=[(effect, cause)], forbidden=[(others[0], others[1])], sinks=[others[2]])
    model = AStarLasso(queue_size=queue_size, threshold=None, knowledge=knowledge, verbose=False).fit(dataset.data)
    constraints = knowledge.over(list(dataset.data.columns))
    assert not constraints.violated_by(model.graph_.edges)
    assert constraints.permits(model.graph_.positions)


def test_knowledge_is_optimal_among_the_permitted_orders():
    data = random_data(5, 5)
    knowledge = Knowledge(tiers=[[3, 1], [0, 4]], forbidden=[(2, 0)])
    constraints = knowledge.over(range(5))
    model = AStarLasso(queue_size=None, penalty=0.1, knowledge=knowledge, verbose=False).fit(data)
    costs = [
        cost_of_order(covariance(data), 0.1, order, constraints.allowed)
        for order in permutations(range(5))
        if constraints.permits(np.array(order))
    ]
    assert -model.score_ == pytest.approx(min(costs), rel=1e-10)


def test_widening_keeps_the_best_of_its_queues():
    better = 0
    for seed in range(6):
        data = random_data(seed, 14)
        options = {"penalty": 0.02, "threshold": None, "verbose": False}
        scores = [AStarLasso(queue_size=size, **options).fit(data).score_ for size in (10, 500, 600)]
        widened = AStarLasso(queue_size=600, widen=True, **options).fit(data)
        assert widened.score_ == pytest.approx(max(scores), rel=1e-9)
        better += max(scores) > scores[0] * (1 - 1e-9)
    assert better  # or the wider queues were never needed


def test_max_time_ends_with_a_whole_order():
    data = random_data(0, 12)
    model = AStarLasso(queue_size=None, penalty=0.01, max_time=1e-9, verbose=False).fit(data)
    assert model.diagnostics_["timed_out"]
    assert not model.diagnostics_["optimal"]
    assert sorted(model.causal_order_) == list(range(12))


def test_deterministic_and_input_unchanged():
    data = random_data(1, 8)
    copy = data.copy()
    first, second = (AStarLasso(queue_size=5, verbose=False).fit(data) for _ in range(2))
    assert np.array_equal(data, copy)
    assert first.graph_ == second.graph_
    assert first.causal_order_ == second.causal_order_
    assert first.history_.equals(second.history_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalty": 0}, "penalty=0 cannot be used"),
        ({"queue_size": 0}, "queue_size=0 cannot be used"),
        ({"threshold": -1}, "threshold=-1 cannot be used"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        AStarLasso(**options, verbose=False).fit(random_data(0, 3))
