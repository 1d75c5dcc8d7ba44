"""GraN-DAG: the batched networks against single ones, recovery, and every option."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from precede.baselines.gran_dag import ConditionalNetworks, GranDAG, select_neighbors
from precede.errors import OptionError
from precede.runtime.deadline import Deadline

QUICK = {"n_iterations": 60, "window": 20, "verbose": False, "random_state": 0, "device": "cpu"}


@pytest.fixture(scope="module")
def chain():
    """0 -> 1 -> 2, 0 -> 3, 2 -> 4 with clear nonlinear functions."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(500, 5))
    x0 = noise[:, 0]
    x1 = 2 * np.sin(1.5 * x0) + 0.4 * noise[:, 1]
    x2 = x1**2 / 2 + 0.4 * noise[:, 2]
    x3 = np.abs(x0) * 2 + 0.4 * noise[:, 3]
    x4 = 2 * np.tanh(2 * (x2 - 1)) + 0.4 * noise[:, 4]
    edges = np.zeros((5, 5), dtype=bool)
    edges[[0, 1, 0, 2], [1, 2, 3, 4]] = True
    return np.column_stack([x0, x1, x2, x3, x4]), edges


@pytest.fixture
def networks():
    torch.manual_seed(0)
    mask = 1 - torch.eye(3)
    mask[0, 2] = 0
    model = ConditionalNetworks(3, 2, 4, mask)
    with torch.no_grad():
        for bias in model.biases:
            bias.normal_()
        model.log_scale.normal_()
    return model


def single_mean(model, values, j):
    hidden = (values * model.mask[:, j]) @ model.weights[0][j].T + model.biases[0][j]
    for weight, bias in zip(model.weights[1:], model.biases[1:], strict=True):
        hidden = F.leaky_relu(hidden) @ weight[j].T + bias[j]
    return hidden[:, 0]


def test_stacked_networks_equal_single_ones(networks):
    values = torch.randn(7, 3)
    expected = torch.stack([single_mean(networks, values, j) for j in range(3)], dim=1)
    torch.testing.assert_close(networks.means(values), expected)
    scale = networks.log_scale.exp()
    density = torch.distributions.Normal(expected, scale).log_prob(values)
    torch.testing.assert_close(networks.log_likelihood(values, values), density)


def test_connectivity_is_the_mean_path_product(networks):
    by_hand = torch.zeros(3, 3)
    for i in range(3):
        for j in range(3):
            first, second, last = (weight[j].abs() for weight in networks.weights)
            paths = last @ second @ first[:, i] * networks.mask[i, j]
            by_hand[i, j] = paths.item() / 16
    torch.testing.assert_close(networks.connectivity().detach(), by_hand)
    assert by_hand[0, 2] == 0
    assert (by_hand.diagonal() == 0).all()


def test_sensitivity_agrees_with_finite_differences(networks):
    values = torch.randn(6, 3)
    measured = networks.sensitivity(values)
    step = 1e-3
    for i in range(3):
        moved = torch.zeros(3)
        moved[i] = step
        with torch.no_grad():
            rise = networks.log_likelihood(values + moved, values) - networks.log_likelihood(values - moved, values)
        torch.testing.assert_close(measured[i], (rise / (2 * step)).abs().mean(dim=0), rtol=0.02, atol=5e-3)


def test_recovers_an_easy_graph(chain):
    values, edges = chain
    model = GranDAG(
        n_iterations=1000, learning_rate=1e-2, penalty=1.0, convergence=1e-2, window=25, verbose=False, random_state=0
    ).fit(values)
    assert (model.graph_.edges != edges).sum() <= 1
    assert model.graph_.strengths[model.graph_.edges].min() > 0


def test_same_seed_same_result(chain):
    first, second = (GranDAG(**QUICK).fit(chain[0]) for _ in range(2))
    np.testing.assert_array_equal(first.weights_, second.weights_)
    assert first.history_.equals(second.history_)
    assert GranDAG(**QUICK | {"random_state": 1}).fit(chain[0]).score_ != first.score_


def test_max_time_ends_the_training(chain):
    model = GranDAG(max_time=1e-6, verbose=False, random_state=0).fit(chain[0])
    assert model.diagnostics_["n_iterations"] == 1


@pytest.mark.parametrize(
    "option",
    [
        {"n_layers": 1},
        {"hidden_size": 4},
        {"first_learning_rate": 1e-4},
        {"batch_size": 16},
        {"validation_share": 0.5},
        {"penalty": 10.0},
        {"standardize": False},
        {"clamp": 0.1},
    ],
)
def test_options_change_the_training(chain, option):
    plain, changed = GranDAG(**QUICK).fit(chain[0]), GranDAG(**QUICK | option).fit(chain[0])
    assert changed.score_ != plain.score_


def test_subproblems_follow_their_options(chain):
    options = QUICK | {"n_iterations": 80, "window": 4, "convergence": 1e3}
    solved = GranDAG(**options).fit(chain[0]).history_
    assert solved.multiplier.iloc[-1] > 0
    assert GranDAG(**options | {"convergence": 1e-12}).fit(chain[0]).history_.multiplier.nunique() < len(solved)
    assert solved.iteration.tolist()[:3] == [1, 5, 9]
    assert GranDAG(**options | {"omega": 1e9}).fit(chain[0]).history_.penalty.nunique() == 1
    grown = GranDAG(**options | {"omega": 1e-9}).fit(chain[0]).history_.penalty
    assert grown.iloc[-1] >= 10 * grown.iloc[0]
    slow = GranDAG(**options | {"learning_rate": 1e-7}).fit(chain[0])
    assert slow.score_ != GranDAG(**options).fit(chain[0]).score_


def test_tolerance_stops(chain):
    model = GranDAG(**QUICK | {"tolerance": 1e9}).fit(chain[0])
    assert model.diagnostics_["n_iterations"] == 1
    assert model.diagnostics_["converged"]


def test_cutoff_prunes():
    noise = np.random.default_rng(1).normal(size=(300, 4))
    kept = GranDAG(**QUICK | {"cutoff": None}).fit(noise)
    assert kept.graph_.n_edges == kept.diagnostics_["edges_before_pruning"] > 0
    assert GranDAG(**QUICK | {"cutoff": 1e-6}).fit(noise).graph_.n_edges == 0


def test_neighbor_selection_keeps_the_neighbors(chain):
    values, edges = chain
    candidates = select_neighbors(values, np.random.default_rng(0), Deadline(None), n_trees=30)
    assert candidates[edges].mean() >= 0.75
    assert not candidates.all()
    assert not candidates.diagonal().any()


def test_select_restricts_the_inputs(chain, monkeypatch):
    monkeypatch.setattr("precede.baselines.gran_dag.N_TREES", 5)
    monkeypatch.setattr(
        "precede.baselines.gran_dag.select_neighbors", lambda values, rng, within, verbose: np.eye(5, k=1, dtype=bool)
    )
    inputs = [GranDAG(**QUICK, select=select).fit(chain[0]).history_.inputs.iloc[0] for select in (True, False, "auto")]
    assert inputs == [4, 20, 20]
    monkeypatch.setattr("precede.baselines.gran_dag.SELECTION_FROM", 5)
    assert GranDAG(**QUICK).fit(chain[0]).history_.inputs.iloc[0] == 4


@pytest.mark.parametrize(
    "option",
    [{"n_layers": 0}, {"validation_share": 1.0}, {"validation_share": 1e-9}, {"select": "yes"}, {"omega": math.nan}],
)
def test_refusals_name_the_option(chain, option):
    with pytest.raises(OptionError, match=next(iter(option))):
        GranDAG(**QUICK | option).fit(chain[0])


def test_neighbor_selection_knows_the_time() -> None:
    """A variable that there is no time for keeps every candidate."""
    values = np.random.default_rng(0).normal(size=(60, 4))
    candidates = select_neighbors(values, np.random.default_rng(0), Deadline(1e-9), share=5.0, n_trees=5)
    assert (candidates == ~np.eye(4, dtype=bool)).all()
    assert not select_neighbors(values, np.random.default_rng(0), Deadline(None), share=5.0, n_trees=5).any()
