"""DAG-GNN: loss by hand, recovery, and every option."""

import numpy as np
import pytest
import torch

from precede.baselines.dag_gnn import DAGGNN, GraphAutoencoder, negative_elbo
from precede.errors import OptionError
from precede.simulation import simulate

QUICK = {"n_epochs": 2, "max_steps": 1, "verbose": False, "random_state": 0, "device": "cpu"}


@pytest.fixture(scope="module")
def dataset():
    return simulate("er", 5, 1, n_samples=600, random_state=3)


def test_decoder_inverts_the_encoders_product():
    torch.manual_seed(0)
    model = GraphAutoencoder(3, 8)
    values = torch.randn(10, 3)
    with torch.no_grad():
        model.pre_adjacency.copy_(0.2 * torch.randn(3, 3))
        model.shift.fill_(0.7)
        adjacency = model.adjacency()
        code, reconstruction = model(values, adjacency)
        mixing = torch.eye(3) - adjacency.T  # Equations 5 and 6 work on column vectors
        encoded = model.encoder(values[..., None])[..., 0]
        by_hand = (mixing @ (encoded.T + 0.7) - 0.7).T
        torch.testing.assert_close(code, by_hand)
        decoded = (torch.linalg.inv(mixing) @ (by_hand.T + 0.7) - 0.7).T
        torch.testing.assert_close(reconstruction, model.decoder(decoded[..., None])[..., 0])


def test_negative_elbo_by_hand():
    code = torch.tensor([[1.0, 2.0], [0.0, 1.0]])
    values = torch.tensor([[1.0, 1.0], [2.0, 0.0]])
    reconstruction = torch.tensor([[0.0, 1.0], [2.0, 3.0]])
    assert float(negative_elbo(code, reconstruction, values)) == pytest.approx((6 / 2 + 10 / 2) / 2)


def test_recovers_an_easy_graph(dataset):
    model = DAGGNN(hidden_size=32, n_epochs=40, tolerance=1e-3, verbose=False, random_state=0, device="cpu").fit(
        dataset.data
    )
    wrong = (model.graph_.edges != dataset.graph.edges).sum()
    assert wrong <= 1
    assert model.diagnostics_["converged"]
    assert list(model.weights_.columns) == list(dataset.data.columns)


def test_same_seed_same_result(dataset):
    first, second = (DAGGNN(**QUICK).fit(dataset.data) for _ in range(2))
    np.testing.assert_array_equal(first.weights_, second.weights_)
    assert first.history_.equals(second.history_)
    other = DAGGNN(**QUICK | {"random_state": 1}).fit(dataset.data)
    assert other.score_ != first.score_


def test_max_time_ends_the_training(dataset):
    model = DAGGNN(verbose=False, random_state=0, max_time=1e-6, device="cpu").fit(dataset.data)
    assert len(model.history_) == 1
    assert not model.diagnostics_["converged"]


@pytest.mark.parametrize(
    "option",
    [
        {"hidden_size": 7},
        {"batch_size": 50},
        {"learning_rate": 1e-5, "penalty": 10.0},
        {"penalty": 50.0},
        {"sparsity": 5.0},
    ],
)
def test_options_change_the_training(dataset, option):
    plain = DAGGNN(**QUICK | ({"penalty": 10.0} if "learning_rate" in option else {})).fit(dataset.data)
    changed = DAGGNN(**QUICK | option).fit(dataset.data)
    assert changed.score_ != plain.score_


def test_schedule_follows_its_options(dataset):
    def penalties(**options):
        model = DAGGNN(**QUICK | {"max_steps": 2, "tolerance": 1e-30} | options).fit(dataset.data)
        return model.history_.groupby("step").penalty.last().tolist()

    first, second = penalties(eta=100.0)
    assert first == 1.0  # the first step has nothing to compare with
    assert second > 1.0
    assert np.log10(second) % 2 == pytest.approx(0)
    assert penalties(gamma=1e6) == [1.0, 1.0]
    model = DAGGNN(**QUICK | {"max_steps": 3, "gamma": 1e6, "tolerance": 1e-30}).fit(dataset.data)
    assert model.diagnostics_["n_steps"] == 3
    assert model.history_.groupby("step").epoch.max().tolist() == [2, 2, 2]
    assert model.history_.multiplier.iloc[-1] > 0


def test_patience_ends_a_subproblem(dataset):
    options = {"n_epochs": 60, "max_steps": 1, "verbose": False, "random_state": 0}
    assert len(DAGGNN(**options, patience=1).fit(dataset.data).history_) < 60


def test_tolerance_and_threshold(dataset):
    model = DAGGNN(**QUICK | {"max_steps": 5, "tolerance": 1e6}).fit(dataset.data)
    assert model.diagnostics_["n_steps"] == 1
    assert model.diagnostics_["converged"]
    assert DAGGNN(**QUICK, threshold=100.0).fit(dataset.data).graph_.n_edges == 0


@pytest.mark.parametrize(
    "option", [{"hidden_size": 0}, {"n_epochs": 1.5}, {"learning_rate": -1}, {"device": "cpuu"}, {"eta": "ten"}]
)
def test_refusals_name_the_option(dataset, option):
    with pytest.raises(OptionError, match=next(iter(option))):
        DAGGNN(**QUICK | option).fit(dataset.data)
