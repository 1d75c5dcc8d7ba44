"""NOTEARS: its functions against definitions, its options, and graphs of its own model class."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from precede.arrays import FloatArray
from precede.baselines import NOTEARS, NOTEARSMLP
from precede.baselines.notears import Perceptrons, acyclicity, linear_loss
from precede.data.load import load_table
from precede.errors import DataError, OptionError
from precede.graph.dags import full_dag
from precede.metrics import shd
from precede.simulation import simulate


@pytest.fixture(scope="module")
def chain() -> FloatArray:
    """2 -> 0 -> 1, equal variances."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 3))
    X[:, 0] += 1.5 * X[:, 2]
    X[:, 1] -= 1.2 * X[:, 0]
    return X


def test_acyclicity_is_zero_for_dags_and_has_the_right_gradient() -> None:
    rng = np.random.default_rng(0)
    W = rng.normal(size=(4, 4))
    dag = W * full_dag(np.array([2, 0, 3, 1]))
    assert acyclicity(dag)[0] == pytest.approx(0, abs=1e-10)
    W = 0.5 * W * ~np.eye(4, dtype=bool)
    numerical = approx_fprime(W.ravel(), lambda w: acyclicity(w.reshape(4, 4))[0], 1e-7)
    assert acyclicity(W)[0] > 0
    np.testing.assert_allclose(acyclicity(W)[1].ravel(), numerical, rtol=1e-4, atol=1e-4)


def test_least_squares_loss_equals_its_definition(chain: FloatArray) -> None:
    W = np.random.default_rng(0).normal(size=(3, 3)) * ~np.eye(3, dtype=bool)
    centered = chain - chain.mean(axis=0)
    residual = centered - centered @ W
    value, slope = linear_loss("l2", load_table(chain))(W)
    assert value == pytest.approx(0.5 * (residual**2).sum() / len(chain))
    np.testing.assert_allclose(slope, -centered.T @ residual / len(chain))


@pytest.mark.parametrize("kind", ["logistic", "poisson"])
def test_other_losses_have_the_right_gradient(kind: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(50, 3)) if kind == "logistic" else rng.poisson(2.0, size=(50, 3))
    loss = linear_loss(kind, load_table(X.astype(float)))  # type: ignore[arg-type]
    W = 0.3 * rng.normal(size=(3, 3))
    numerical = approx_fprime(W.ravel(), lambda w: loss(w.reshape(3, 3))[0], 1e-7)
    np.testing.assert_allclose(loss(W)[1].ravel(), numerical, rtol=1e-3, atol=1e-4)


def test_recovers_a_linear_graph() -> None:
    dataset = simulate("er", 6, 1.5, n_samples=1000, random_state=1)
    model = NOTEARS(verbose=False).fit(dataset.data)
    assert shd(model.graph_, dataset.graph) <= 1
    assert model.diagnostics_["h"] <= 1e-8
    assert model.history_["h"].is_monotonic_decreasing
    both = dataset.graph.edges & model.graph_.edges
    np.testing.assert_array_equal(np.sign(model.graph_.strengths[both]), np.sign(dataset.graph.strengths[both]))


def test_logistic_loss_learns_from_binary_columns() -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 2000)
    b = (rng.random(2000) < 1 / (1 + np.exp(-3 * a))).astype(int)
    c = rng.integers(0, 2, 2000)
    model = NOTEARS(loss="logistic", lambda1=0.01, verbose=False).fit(np.column_stack([a, b, c]))
    skeleton = model.graph_.edges | model.graph_.edges.T
    assert skeleton[0, 1]
    assert not skeleton[2].any()


def test_poisson_loss_learns_from_counts() -> None:
    rng = np.random.default_rng(0)
    a = rng.poisson(1.0, 1000)
    X = np.column_stack([a, rng.poisson(np.exp(0.6 * a)), rng.poisson(1.0, 1000)])
    model = NOTEARS(loss="poisson", lambda1=0.05, verbose=False).fit(X)
    assert model.graph_.edges.astype(int).tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0]]


def test_lambda1_shrinks(chain: FloatArray) -> None:
    def size(lambda1: float) -> float:
        return float(NOTEARS(lambda1=lambda1, threshold=0.0, verbose=False).fit(chain).weights_.abs().to_numpy().sum())

    assert size(1.0) < 0.9 * size(0.0)


def test_threshold_drops(chain: FloatArray) -> None:
    assert NOTEARS(threshold=0.3, verbose=False).fit(chain).graph_.n_edges == 2
    assert NOTEARS(threshold=1.3, verbose=False).fit(chain).graph_.n_edges == 1
    assert NOTEARS(threshold=9.0, verbose=False).fit(chain).graph_.n_edges == 0


def test_where_it_stops(chain: FloatArray) -> None:
    full = NOTEARS(verbose=False).fit(chain)
    assert len(NOTEARS(max_iterations=1, verbose=False).fit(chain).history_) == 1 < len(full.history_)
    assert len(NOTEARS(h_tolerance=0.1, verbose=False).fit(chain).history_) < len(full.history_)
    assert NOTEARS(rho_max=100.0, verbose=False).fit(chain).history_["rho"].max() == 100.0
    assert full.history_["rho"].max() > 100.0


def test_a_cycle_that_the_threshold_leaves_is_repaired(chain: FloatArray) -> None:
    model = NOTEARS(max_iterations=1, rho_max=1.0, threshold=0.001, lambda1=0.0, verbose=False).fit(chain)
    assert model.diagnostics_["h"] > 0.01
    assert model.diagnostics_["threshold"] > 0.001


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "l3"}, "loss='l3' is unknown"),
        ({"lambda1": -1}, "lambda1=-1"),
        ({"threshold": -0.3}, "threshold=-0.3"),
        ({"max_iterations": 0}, "max_iterations=0"),
        ({"h_tolerance": 0}, "h_tolerance=0"),
        ({"rho_max": -1}, "rho_max=-1"),
    ],
)
def test_bad_options_are_refused(chain: FloatArray, options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        NOTEARS(verbose=False, **options).fit(chain)  # type: ignore[arg-type]


@pytest.mark.parametrize("loss", ["logistic", "poisson"])
def test_a_loss_refuses_data_it_is_not_for(chain: FloatArray, loss: str) -> None:
    with pytest.raises(DataError, match=f"loss='{loss}' takes columns of"):
        NOTEARS(loss=loss, verbose=False).fit(chain)  # type: ignore[arg-type]


def test_the_gradients_of_the_networks() -> None:
    rng = np.random.default_rng(0)
    networks = Perceptrons(rng.normal(size=(20, 3)), 2, 0.1, 0.2)
    start, lower, upper = networks.start(rng)
    assert (lower <= start).all()
    assert (start <= upper).all()
    _, slope, h, h_slope = networks.objective(start)
    assert h > 0
    np.testing.assert_allclose(slope, approx_fprime(start, lambda p: networks.objective(p)[0], 1e-7), atol=1e-5)
    np.testing.assert_allclose(h_slope, approx_fprime(start, lambda p: networks.objective(p)[2], 1e-7), atol=1e-5)


@pytest.fixture(scope="module")
def bent() -> FloatArray:
    """0 -> 1 and 0, 1 -> 3, not linear; 2 alone."""
    rng = np.random.default_rng(0)
    X = 0.5 * rng.normal(size=(200, 4))
    X[:, 0] *= 3
    X[:, 1] += 2 * np.sin(1.5 * X[:, 0])
    X[:, 3] += 1.5 * np.cos(X[:, 1]) + 1.5 * np.tanh(X[:, 0])
    return X


def test_mlp_recovers_a_nonlinear_graph(bent: FloatArray) -> None:
    truth = np.zeros((4, 4), dtype=bool)
    truth[0, 1] = truth[0, 3] = truth[1, 3] = True
    model = NOTEARSMLP(hidden_size=5, h_tolerance=1e-3, random_state=0, verbose=False).fit(bent)
    assert shd(model.graph_.edges, truth) <= 1
    assert model.diagnostics_["h"] <= 1e-3


def test_mlp_options_are_read(bent: FloatArray) -> None:
    def fit(**options: object) -> NOTEARSMLP:
        quick = {"max_iterations": 1, "hidden_size": 2, "random_state": 0, "verbose": False}
        return NOTEARSMLP(**{**quick, **options}).fit(bent[:80])  # type: ignore[arg-type]

    plain = fit()
    for option in ({"hidden_size": 3}, {"lambda1": 0.5}, {"lambda2": 0.5}, {"random_state": 1}):
        assert fit(**option).score_ != plain.score_, option
    assert fit(threshold=50.0).graph_.n_edges == 0 < plain.graph_.n_edges
    assert fit(rho_max=1.0).history_["rho"].max() == 1.0
    assert len(fit(max_iterations=2).history_) == 2
    assert len(fit(max_iterations=5, h_tolerance=100.0).history_) == 1
    for wrong in ({"hidden_size": 0}, {"lambda1": -1.0}, {"lambda2": "x"}, {"threshold": -1}, {"max_iterations": 1.5}):
        with pytest.raises(OptionError, match=next(iter(wrong))):
            fit(**wrong)
