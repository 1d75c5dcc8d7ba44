"""RL-BIC2: rewards against least squares by hand, recovery, and every option."""

import math

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.spatial.distance import pdist
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF

from precede.baselines import rl_bic2
from precede.baselines.rl_bic2 import RLBIC2, GPGraphBIC, GraphBIC, GraphPolicy, GraphReward, on_cycles
from precede.errors import OptionError
from precede.graph.dags import is_acyclic
from precede.policy.networks import TransformerEncoder
from precede.simulation import simulate

CPU = torch.device("cpu")
QUICK = {"n_iterations": 6, "n_blocks": 1, "verbose": False, "random_state": 0, "device": "cpu"}


@pytest.fixture(scope="module")
def dataset():
    return simulate("er", 5, 1, n_samples=500, random_state=1)


def random_graphs(seed, n, d, share=0.4):
    rng = np.random.default_rng(seed)
    return (rng.random((n, d, d)) < share) & ~np.eye(d, dtype=bool)


def residual_by_hand(values, graph):
    centered = values - values.mean(axis=0)
    result = []
    for j in range(values.shape[1]):
        inputs = centered[:, graph[:, j]]
        weights = np.linalg.lstsq(inputs, centered[:, j], rcond=None)[0]
        result.append(np.sum((centered[:, j] - inputs @ weights) ** 2))
    return np.array(result)


def bic_by_hand(values, graph, noise):
    m, d = values.shape
    rss = residual_by_hand(values, graph)
    if noise == "equal":
        return (m * d * np.log(rss.sum() / (m * d)) + graph.sum() * np.log(m)) / (m * d)
    return (m * np.log(rss / m).sum() + graph.sum() * np.log(m)) / m


@pytest.mark.parametrize("noise", ["equal", "unequal"])
def test_bic_agrees_with_least_squares(dataset, noise):
    values = dataset.data.to_numpy()
    graphs = random_graphs(0, 20, 5)
    bic = GraphBIC(values, noise, CPU)
    expected = [bic_by_hand(values, graph, noise) for graph in graphs]
    np.testing.assert_allclose(bic.scores(graphs), expected, rtol=1e-9)
    np.testing.assert_allclose(bic.scores(graphs), expected, rtol=1e-9)  # from the cache


def test_cache_may_overflow(dataset, monkeypatch):
    monkeypatch.setattr(rl_bic2, "CACHE_ENTRIES", 30)
    bic = GraphBIC(dataset.data.to_numpy(), "equal", CPU)
    for seed in range(4):
        graphs = random_graphs(seed, 5, 5)
        fresh = GraphBIC(dataset.data.to_numpy(), "equal", CPU).scores(graphs)
        np.testing.assert_array_equal(bic.scores(graphs), fresh)


@pytest.mark.parametrize("noise", ["equal", "unequal"])
def test_differences_compare_with_average_parents(dataset, noise):
    values = dataset.data.to_numpy()
    graphs = random_graphs(2, 6, 5)
    bic = GraphBIC(values, noise, CPU)
    residual = np.stack([residual_by_hand(values, graph) for graph in graphs]) / len(values)
    price = math.log(len(values)) / len(values)
    shares = bic.differences(graphs)
    k, j = 3, 2
    other, n_edges = residual[k].copy(), graphs[k].sum() - graphs[k, :, j].sum() + graphs[:, :, j].sum() / 6
    other[j] = residual[:, j].mean()
    without = {"equal": np.log(other.mean()) + n_edges * price / 5, "unequal": np.log(other).sum() + n_edges * price}
    assert shares[k, j] == pytest.approx(bic_by_hand(values, graphs[k], noise) - without[noise])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 12), st.floats(0.02, 0.5))
def test_cycles_are_found(seed, d, share):
    graphs = random_graphs(seed, 8, d, share)
    found = on_cycles(graphs)
    for graph, edges in zip(graphs, found, strict=True):
        assert is_acyclic(graph & ~edges)
        network = nx.from_numpy_array(graph, create_using=nx.DiGraph)
        component = {node: k for k, part in enumerate(nx.strongly_connected_components(network)) for node in part}
        assert all(component[i] == component[j] for i, j in np.argwhere(edges))


def test_reward_by_hand(dataset):
    values = dataset.data.to_numpy()
    reward = GraphReward(GraphBIC(values, "equal", CPU))
    reward.cycle_weight, reward.acyclicity_weight = 2.0, 0.3
    graphs = random_graphs(3, 10, 5, 0.3)
    m, d = values.shape
    empty, complete = np.zeros((d, d), dtype=bool), ~np.eye(d, dtype=bool)
    low, high = (np.log(residual_by_hand(values, graph).sum() / (m * d)) for graph in (complete, empty))
    judged = reward.judge(graphs)
    for k, graph in enumerate(graphs):
        score = (bic_by_hand(values, graph, "equal") - low) / (high - low) * 5
        h = np.trace(expm(graph.astype(float))) - d
        assert judged.scores[k] == pytest.approx(score)
        assert judged.rewards[k] == pytest.approx(-(score + 2.0 * (h > 1e-9) + 0.3 * h))
        shares = reward.bic.differences(graphs)[k] / (high - low) * 5
        expected = -(shares[None, :] + 2.0 * on_cycles(graphs[k : k + 1])[0])
        np.testing.assert_allclose(judged.credits[k], expected)
    assert judged.cyclic.any()
    assert not judged.cyclic.all()


def test_weights_tighten_as_in_the_paper(dataset):
    reward = GraphReward(GraphBIC(dataset.data.to_numpy(), "equal", CPU), 0.9)
    assert reward.acyclicity_weight == pytest.approx(0.01)  # 10 ** -round(5 / 3) is 0.01
    reward.acyclicity_weight = 1e-4
    reward.tighten()  # no DAG has been seen
    assert (reward.cycle_weight, reward.cycle_bound, reward.acyclicity_weight) == (0.9, 5.0, pytest.approx(1e-3))
    reward.best_score = 1.7
    reward.tighten()
    assert reward.cycle_weight == 1.7
    assert reward.acyclicity_weight == pytest.approx(0.01)
    reward.tighten()
    assert reward.acyclicity_weight == pytest.approx(0.01)


def test_recovers_an_easy_graph(dataset):
    model = RLBIC2(n_iterations=250, n_blocks=2, verbose=False, random_state=0).fit(dataset.data)
    assert (model.graph_.edges != dataset.graph.edges).sum() <= 1
    assert len(model.history_) == model.diagnostics_["n_iterations"]
    assert model.history_.best_score.is_monotonic_decreasing
    best = bic_by_hand(dataset.data.to_numpy(), dataset.graph.edges, "equal")
    assert model.score_ == pytest.approx(-best, abs=0.05)


def test_same_seed_same_result(dataset):
    first, second = (RLBIC2(**QUICK).fit(dataset.data) for _ in range(2))
    np.testing.assert_array_equal(first.weights_, second.weights_)
    assert first.history_.equals(second.history_)
    assert not RLBIC2(**QUICK | {"random_state": 1}).fit(dataset.data).history_.equals(first.history_)


def test_max_time_ends_the_training(dataset):
    assert len(RLBIC2(max_time=1e-6, verbose=False, random_state=0).fit(dataset.data).history_) == 1


@pytest.mark.parametrize(
    "option",
    [
        {"noise": "unequal"},
        {"batch_size": 16},
        {"n_samples": 16},
        {"inputs": "resample"},
        {"width": 32},
        {"n_heads": 4},
        {"n_blocks": 2},
        {"decoder_width": 4},
        {"normalization": "batch"},
        {"bias": None},
        {"bias": -1.0},
        {"learning_rate": 1e-2},
        {"entropy_weight": 10.0},
        {"credit": "graph"},
        {"cycle_step": 1.0},
        {"update_every": 2},
    ],
)
def test_options_change_the_training(dataset, option):
    plain = QUICK | {"bias": -0.5}
    first, second = (RLBIC2(**options).fit(dataset.data).history_ for options in (plain, plain | option))
    assert not first.equals(second)


def test_paper_settings(dataset):
    model = RLBIC2.paper(n_iterations=3, n_blocks=1, verbose=False, random_state=0)
    assert (model.inputs, model.credit, model.update_every) == ("resample", "graph", 1000)
    assert (model.normalization, model.cycle_step, model.patience) == ("batch", 1.0, None)
    history = model.fit(dataset.data).history_
    assert history.cycle_weight.tolist() == [0.0, 1.0, 1.0]


def test_paper_settings_learn(dataset):
    model = RLBIC2.paper(n_iterations=50, n_blocks=1, n_heads=4, batch_size=32, verbose=False, random_state=0)
    rewards = model.fit(dataset.data).history_.reward[1:]  # the weights change after the first iteration
    assert rewards[-10:].mean() > rewards[:10].mean() + 0.1


def test_batch_normalization_takes_the_scale_off_the_inputs():
    torch.manual_seed(0)
    inputs = 100.0 * torch.randn(8, 3, 16)
    policy = GraphPolicy(TransformerEncoder(16, "batch", 8, 2, 1, of_rl_bic2=True), 4, None)
    torch.testing.assert_close(policy(inputs)[0], policy(7.0 * inputs)[0], rtol=1e-3, atol=1e-3)
    states = policy.encoder.norm_embedding(policy.encoder.embed(inputs))
    torch.testing.assert_close(states.mean(dim=(0, 1)), torch.zeros(8), rtol=0, atol=1e-5)


def test_patience_stops(dataset):
    options = QUICK | {"n_iterations": 200, "batch_size": 4}
    model = RLBIC2(**options, patience=3).fit(dataset.data)
    assert model.diagnostics_["n_iterations"] < 200
    assert len(RLBIC2(**options | {"n_iterations": 30}, patience=None).fit(dataset.data).history_) == 30


def test_threshold_and_repair(dataset):
    assert RLBIC2(**QUICK, threshold=1e6).fit(dataset.data).graph_.n_edges == 0
    model = RLBIC2(**QUICK | {"n_iterations": 1, "batch_size": 2}, bias=20.0, threshold=0.0).fit(dataset.data)
    assert model.diagnostics_["edges_before_pruning"] == 20
    assert model.diagnostics_["repaired"]
    assert is_acyclic(model.graph_.edges)


@pytest.mark.parametrize(
    "option",
    [
        {"noise": "equall"},
        {"inputs": "fresh"},
        {"credit": "edges"},
        {"normalization": "group"},
        {"n_heads": 5},
        {"patience": 0},
        {"batch_size": 0.5},
        {"cycle_step": 0},
    ],
)
def test_refusals_name_the_option(dataset, option):
    with pytest.raises(OptionError, match=next(iter(option))):
        RLBIC2(**QUICK | option).fit(dataset.data)


def test_gp_bic_is_that_of_scikit_learns_regression():
    """The authors divide parents by their median distance, regress with the kernel of width one, add 1 to an RSS."""
    values = simulate("er", 4, 1, "gp-quiet", 60, random_state=0).data.to_numpy()
    values = (values - values.mean(axis=0)) / values.std(axis=0)
    graph = np.zeros((4, 4), dtype=bool)
    graph[2, 0] = graph[2, 3] = graph[0, 1] = graph[3, 1] = True
    bic = GPGraphBIC(values, "equal", torch.device("cpu"))
    residual = bic.residual_variances(graph[None])[0]
    for variable in range(4):
        left = values[:, variable]
        if graph[:, variable].any():
            distances = pdist(values[:, graph[:, variable]])
            median = np.sort(distances)[(len(distances) - 1) // 2]  # ours is the lower of the middle two
            parents = values[:, graph[:, variable]] / median
            left = left - GaussianProcessRegressor(RBF(1.0, "fixed")).fit(parents, left).predict(parents)
        assert residual[variable] == pytest.approx((left @ left + 1) / 60, rel=1e-4)


def test_gp_regression_finds_a_curved_edge_and_prunes_by_additive_models():
    rng = np.random.default_rng(0)
    x = rng.normal(size=150)
    values = np.column_stack([x, x**2 + 0.3 * rng.normal(size=150)])
    quick = {"n_iterations": 30, "batch_size": 16, "n_samples": 16, "random_state": 0, "verbose": False}
    curved = RLBIC2(regression="gp", standardize=True, **quick).fit(values)
    assert curved.graph_.n_edges == 1
    assert RLBIC2(regression="gp", standardize=True, cutoff=1e-300, **quick).fit(values).graph_.n_edges == 0
    linear = RLBIC2(**quick).fit(values)
    assert linear.graph_.n_edges == 0


def test_standardized_columns_have_no_unit():
    values = simulate("er", 4, 1, n_samples=100, random_state=0).data.to_numpy()
    quick = {"n_iterations": 5, "batch_size": 8, "n_samples": 8, "random_state": 0, "verbose": False}
    one, two = (RLBIC2(standardize=True, **quick).fit(values * units).score_ for units in (1.0, [1, 10, 0.1, 5]))
    assert one == pytest.approx(two)
