"""GOLEM and DAGMA: gradients, graphs of their own model class, options, and their authors' programs."""

from collections.abc import Iterator

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from precede.arrays import FloatArray
from precede.baselines import DAGMA, GOLEM
from precede.baselines.descent import golem_objective
from precede.baselines.notears import linear_loss
from precede.data.load import load_table
from precede.errors import DataError, OptionError
from precede.metrics import cpdag_shd, shd
from precede.runtime.deadline import Deadline
from precede.scores.covariance import covariance
from precede.simulation import simulate

SHORT = {"warm_iterations": 3000, "max_iterations": 3000, "learning_rate": 1e-3, "verbose": False}


@pytest.fixture(scope="module")
def chain() -> FloatArray:
    """2 -> 0 -> 1, equal variances."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 3))
    X[:, 0] += 1.5 * X[:, 2]
    X[:, 1] -= 1.2 * X[:, 0]
    return X


@pytest.mark.parametrize("noise", ["equal", "unequal"])
def test_the_likelihood_is_that_of_the_paper_and_has_the_right_gradient(chain: FloatArray, noise: str) -> None:
    X = chain - chain.mean(axis=0)
    W = 0.4 * np.random.default_rng(0).normal(size=(3, 3)) * ~np.eye(3, dtype=bool)
    objective = golem_objective(covariance(X), noise, 0.1, 2.0)  # type: ignore[arg-type]
    powers = ((X - X @ W) ** 2).sum(axis=0) / len(X)
    fit = 1.5 * np.log(powers.sum()) if noise == "equal" else 0.5 * np.log(powers).sum()
    plain = golem_objective(covariance(X), noise, 0.0, 0.0)(W)[0]  # type: ignore[arg-type]
    assert plain == pytest.approx(fit - np.log(abs(np.linalg.det(np.eye(3) - W))))
    numerical = approx_fprime(W.ravel(), lambda w: objective(w.reshape(3, 3))[0], 1e-7).reshape(3, 3)
    np.fill_diagonal(numerical, 0.0)
    np.testing.assert_allclose(objective(W)[1], numerical, atol=1e-4)


def test_both_recover_a_linear_graph() -> None:
    dataset = simulate("er", 6, 1.5, n_samples=1000, random_state=1)
    for model in (GOLEM(n_iterations=5000, verbose=False), DAGMA(**SHORT)):  # type: ignore[arg-type]
        found = model.fit(dataset.data)
        assert shd(found.graph_, dataset.graph) <= 1
        both = dataset.graph.edges & found.graph_.edges
        np.testing.assert_allclose(found.graph_.strengths[both], dataset.graph.strengths[both], atol=0.3)
        assert found.history_["objective"].iloc[-1] < found.history_["objective"].iloc[0]


def test_unequal_variances_are_left_to_the_other_likelihood() -> None:
    dataset = simulate("er", 6, 1, n_samples=2000, standardize=True, random_state=0)
    model = GOLEM(noise="unequal", n_iterations=5000, verbose=False).fit(dataset.data)
    assert model.diagnostics_["identifies"] == "cpdag"
    assert GOLEM(n_iterations=10, verbose=False).fit(dataset.data).diagnostics_["identifies"] == "dag"
    assert cpdag_shd(model.graph_, dataset.graph) <= 2
    assert set(model.history_["stage"]) == {0, 1}


def test_other_losses_and_what_they_refuse(chain: FloatArray) -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 2000)
    b = (rng.random(2000) < 1 / (1 + np.exp(-3 * a))).astype(int)
    model = DAGMA(loss="logistic", lambda1=0.005, **SHORT).fit(np.column_stack([a, b, rng.integers(0, 2, 2000)]))
    skeleton = model.graph_.edges | model.graph_.edges.T
    assert skeleton[0, 1]
    assert not skeleton[2].any()
    with pytest.raises(DataError, match="takes columns of counts"):
        DAGMA(loss="poisson", verbose=False).fit(chain)


@pytest.mark.parametrize(("s", "ended_inside"), [(1.0, True), (0.9, False)])
def test_a_step_out_of_the_domain_is_shortened_or_refused(chain: FloatArray, s: float, ended_inside: bool) -> None:
    weights = np.zeros((3, 3))
    model = DAGMA(warm_iterations=5, verbose=False)  # Adam's first step has the length of its rate
    stage = model._stage(weights, linear_loss("l2", load_table(chain)), 0, s, 1.5, Deadline(None))
    looks: list[object] = []

    def followed() -> Iterator[object]:
        looks.append((yield from stage))

    assert len(list(followed())) == ended_inside
    assert looks == [ended_inside]
    if ended_inside:
        assert (np.abs(weights).max() > 0) & (np.linalg.inv(s * np.eye(3) - weights**2) >= -1e-9).all()


def test_options_are_read(chain: FloatArray) -> None:
    golem = {"n_iterations": 1000, "verbose": False}
    plain = GOLEM(**golem).fit(chain)  # type: ignore[arg-type]
    for option in ({"lambda1": 0.5}, {"lambda2": 0.0}, {"n_iterations": 1100}, {"learning_rate": 5e-3}):
        assert GOLEM(**golem | option).fit(chain).score_ != plain.score_, option  # type: ignore[arg-type]
    assert GOLEM(**golem | {"threshold": 9.0}).fit(chain).graph_.n_edges == 0 < plain.graph_.n_edges  # type: ignore[arg-type]
    quick = {"warm_iterations": 200, "max_iterations": 200, "verbose": False}
    plain_dagma = DAGMA(**quick).fit(chain)  # type: ignore[arg-type]
    changes = ({"lambda1": 0.3}, {"warm_iterations": 100}, {"max_iterations": 100}, {"learning_rate": 1e-3})
    for change in changes:
        assert DAGMA(**quick | change).fit(chain).score_ != plain_dagma.score_, change  # type: ignore[arg-type]
    assert DAGMA(**quick | {"threshold": 9.0}).fit(chain).graph_.n_edges == 0  # type: ignore[arg-type]
    wrong = [{"lambda1": -1}, {"n_iterations": 0}, {"noise": "any"}, {"threshold": -1}, {"lambda2": -1.0}]
    for bad in wrong:
        with pytest.raises(OptionError, match=next(iter(bad))):
            GOLEM(**golem | bad).fit(chain)  # type: ignore[arg-type]


def test_time_ends_them(chain: FloatArray) -> None:
    assert len(GOLEM(max_time=1e-9, verbose=False).fit(chain).history_) == 1
    assert DAGMA(max_time=1e-9, verbose=False).fit(chain).graph_.n_edges == 0


@pytest.mark.peers
def test_golem_finds_the_edges_of_gcastle() -> None:
    castle = pytest.importorskip("castle.algorithms")
    X = simulate("er", 10, 2, n_samples=1000, random_state=0).data.to_numpy()
    peer = castle.GOLEM(num_iter=10_000, checkpoint_iter=10_000, device_type="cpu")
    peer.learn(X - X.mean(axis=0))
    ours = GOLEM(n_iterations=10_000, verbose=False).fit(X)
    np.testing.assert_array_equal(ours.graph_.edges, np.asarray(peer.causal_matrix) != 0)


@pytest.mark.peers
def test_dagma_finds_the_weights_of_its_authors() -> None:
    dagma = pytest.importorskip("dagma.linear")
    X = simulate("er", 10, 2, n_samples=1000, random_state=0).data.to_numpy()
    limits = {"warm_iter": 10_000, "max_iter": 20_000}
    peer = dagma.DagmaLinear("l2").fit(X - X.mean(axis=0), lambda1=0.03, **limits)
    ours = DAGMA(warm_iterations=10_000, max_iterations=20_000, verbose=False).fit(X)
    np.testing.assert_allclose(ours.weights_.to_numpy(), peer, atol=2e-3)
