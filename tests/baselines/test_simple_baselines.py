"""Random order, EqVar, sort-and-regress, and the pruning they share."""

import numpy as np
import pytest
from sklearn.linear_model import LassoLarsIC, LinearRegression

from precede.baselines import EqVar, R2SortRegress, RandomOrder, SortRegress
from precede.baselines.order_methods import adaptive_lasso, smallest_precision_order
from precede.data.load import load_table
from precede.errors import OptionError
from precede.knowledge import Constraints, Knowledge
from precede.metrics import shd
from precede.pruning.weights import regression_weights
from precede.runtime.deadline import Deadline
from precede.scores.covariance import covariance
from precede.simulation import simulate


@pytest.fixture(scope="module")
def dataset():
    return simulate("er", 8, 1.5, n_samples=1500, random_state=2)


@pytest.mark.parametrize("direction", ["top-down", "bottom-up"])
def test_eqvar_recovers_an_equal_variance_graph(dataset, direction) -> None:
    model = EqVar(direction=direction, verbose=False).fit(dataset.data)
    assert shd(model.graph_, dataset.graph) == 0
    np.testing.assert_allclose(model.graph_.strengths, dataset.graph.strengths, atol=0.1)


def test_bottom_up_obeys_precedence(dataset) -> None:
    reverse = [[name] for name in reversed(dataset.graph.order)]
    constraints = Knowledge(tiers=reverse).over(list(dataset.data.columns))
    order = smallest_precision_order(covariance(dataset.data.to_numpy()), constraints)
    assert order.tolist() == dataset.graph.positions[::-1].tolist()


def test_directions_can_differ() -> None:
    unequal = simulate("er", 8, 1.5, noise="unequal", standardize=True, n_samples=300, random_state=0).data
    orders = [EqVar(direction=d, verbose=False).fit(unequal).causal_order_ for d in ("top-down", "bottom-up")]
    assert orders[0] != orders[1]
    with pytest.raises(OptionError, match="direction='down'"):
        EqVar(direction="down", verbose=False).fit(unequal)  # type: ignore[arg-type]


def test_sorting_by_variance_recovers_a_chain_of_growing_variances() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 5))
    for j in range(1, 5):
        X[:, j] += 1.5 * X[:, j - 1]
    model = SortRegress(verbose=False).fit(X)
    assert model.causal_order_ == [0, 1, 2, 3, 4]
    assert (np.diag(model.graph_.edges, 1)).all()
    assert model.graph_.n_edges <= 5
    np.testing.assert_allclose(model.diagnostics_["criterion"], X.var(axis=0))


def test_sorting_by_r2_recovers_a_collider_chain_at_any_scale() -> None:
    rng = np.random.default_rng(0)
    a, b, c, d = rng.normal(size=(4, 2000))
    c += a + b
    d = c + 0.3 * d
    X = np.column_stack([d * 1e-3, c * 100, a, b])
    model = R2SortRegress(verbose=False).fit(X)
    expected = [1 - 1 / (np.var(X[:, j]) * np.linalg.inv(np.cov(X.T, bias=True))[j, j]) for j in range(4)]
    np.testing.assert_allclose(model.diagnostics_["criterion"], expected)
    assert set(model.causal_order_[:2]) == {2, 3}
    assert SortRegress(verbose=False).fit(X).causal_order_[0] == 0


def test_random_orders_are_random_and_seeded(dataset) -> None:
    orders = [tuple(RandomOrder(random_state=s, verbose=False).fit(dataset.data).causal_order_) for s in range(6)]
    assert len(set(orders)) > 3
    again = tuple(RandomOrder(random_state=2, verbose=False).fit(dataset.data).causal_order_)
    assert again == orders[2]


def test_prunings(dataset) -> None:
    table = load_table(dataset.data)
    nothing, moments = Constraints.none(8), covariance(table.values)

    def edges(pruning: str, threshold: float = 0.3):
        method = EqVar(pruning=pruning, threshold=threshold, verbose=False)
        return method._prune(moments, dataset.graph.positions, 1500, nothing, Deadline(None))

    assert edges("none").sum() == 28
    np.testing.assert_array_equal(edges("threshold"), dataset.graph.edges)
    np.testing.assert_array_equal(edges("bic"), dataset.graph.edges)
    assert (edges("lasso") >= dataset.graph.edges).all()
    assert edges("lasso").sum() < 28 - 6
    assert edges("threshold", 1.0).sum() < dataset.graph.n_edges
    found = RandomOrder(random_state=0, verbose=False).fit(table)
    order = np.array(found.graph_.positions)
    np.testing.assert_allclose(found.graph_.weights, regression_weights(moments, order, found.graph_.edges), atol=1e-12)
    for pruning, threshold in (("cut", 0.3), ("threshold", -1.0), ("threshold", "x")):
        with pytest.raises(OptionError, match=r"pruning|threshold"):
            EqVar(pruning=pruning, threshold=threshold).fit(dataset.data)


def test_lasso_out_of_time_falls_back_on_the_threshold(dataset) -> None:
    late = SortRegress(max_time=1e-9, threshold=0.5, verbose=False).fit(dataset.data)
    threshold = SortRegress(pruning="threshold", threshold=0.5, verbose=False).fit(dataset.data)
    np.testing.assert_array_equal(late.graph_.edges, threshold.graph_.edges)


@pytest.mark.parametrize("seed", range(3))
def test_adaptive_lasso_equals_scikit_learn_on_the_data(seed) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 7))
    X[:, 6] += X[:, :2] @ [1.0, -0.4] + 0.1 * X[:, 4]
    ordinary = np.abs(LinearRegression().fit(X[:, :6], X[:, 6]).coef_)
    peer = LassoLarsIC(criterion="bic").fit(X[:, :6] * ordinary, X[:, 6])
    ours = adaptive_lasso(covariance(X), np.arange(6), 6, len(X))
    np.testing.assert_allclose(ours, peer.coef_ * ordinary, atol=1e-8)


def test_required_edges_survive_the_lasso() -> None:
    X = np.random.default_rng(0).normal(size=(500, 3))
    knowledge = Knowledge(required=[(2, 0)], forbidden=[(0, 1), (1, 0)])
    model = SortRegress(knowledge=knowledge, verbose=False).fit(X)
    assert model.graph_.edges[2, 0]
    assert model.causal_order_.index(2) < model.causal_order_.index(0)
    assert model.weights_.loc[2, 0] != 0
