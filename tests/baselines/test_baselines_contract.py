"""The contract that every method keeps, whatever it does inside."""

import inspect
import logging
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from precede import CORL
from precede.baselines import METHODS
from precede.corl import methods
from precede.errors import DataError, KnowledgeError
from precede.estimator import CausalEstimator
from precede.graph.dags import full_dag, is_acyclic
from precede.knowledge import Knowledge
from precede.metrics import shd

NAMES = ["alpha", "beta", "gamma", "delta"]

QUICK: dict[str, dict[str, Any]] = {
    "corl": {"score": "linear", "n_iterations": 8, "batch_size": 8, "n_encoder_rows": 16, "patience": None},
    **{name: {"n_iterations": 8, "batch_size": 8, "n_encoder_rows": 16} for name in ("corl-1", "corl-2")},
    "notears-mlp": {"hidden_size": 3, "max_iterations": 2, "lambda1": 0.1},
    "golem": {"n_iterations": 3000, "learning_rate": 3e-3},
    "dagma": {"warm_iterations": 2000, "max_iterations": 2000, "learning_rate": 1e-3},
    "dag-gnn": {"hidden_size": 8, "n_epochs": 20, "max_steps": 2},
    "gran-dag": {"hidden_size": 4, "n_iterations": 200},
    "rl-bic2": {"n_iterations": 60, "batch_size": 16, "n_samples": 16, "width": 16, "n_heads": 2, "n_blocks": 1},
    "l1obs": {"n_evaluations": 300},
}
"""Settings that make slow methods quick; the contract holds for any settings."""

PERMUTATION_TOLERANCE = {"dag-gnn": 1, "gran-dag": 4, "rl-bic2": 2, "notears-mlp": 1}
"""Edges by which a stochastic method may differ after the columns are permuted; none where it is not listed."""

OURS = {"corl", "corl-1", "corl-2", *METHODS} - {"pc", "ges", "fci"}  # those come from causal-learn: test_constraint.py
every_method = pytest.mark.parametrize("name", sorted(OURS))
with_knowledge = pytest.mark.parametrize(
    "name", sorted(name for name in OURS if "knowledge" in methods()[name].option_names())
)


def estimator(name: str, **options: Any) -> CausalEstimator:
    """A silent, seeded estimator with quick settings."""
    method = methods()[name]
    seeded = {"random_state": 3} if "random_state" in method.option_names() else {}
    return method(**{**QUICK.get(name, {}), "verbose": False, **seeded, **options})


@cache
def data() -> pd.DataFrame:
    """alpha -> gamma -> beta -> delta and alpha -> delta, with equal uniform noise, columns not in causal order."""
    rng = np.random.default_rng(0)
    alpha, gamma, beta, delta = rng.uniform(-2, 2, size=(4, 250))
    gamma += 1.5 * alpha
    beta -= 1.2 * gamma
    delta += 1.3 * beta + 1.4 * alpha
    return pd.DataFrame(np.column_stack([alpha, beta, gamma, delta]), columns=NAMES)


@cache
def fitted(name: str) -> CausalEstimator:
    return estimator(name).fit(data())


def assert_valid(model: CausalEstimator) -> None:
    edges = model.adjacency_matrix_.to_numpy()
    order = [model.graph_.names.index(variable) for variable in model.causal_order_]
    assert is_acyclic(edges)
    assert sorted(order) == list(range(len(edges)))
    assert not (edges.astype(bool) & ~full_dag(np.array(order))).any()
    assert np.isfinite(model.weights_.to_numpy()).all()
    assert (model.weights_.to_numpy()[edges == 0] == 0).all()


def test_every_baseline_of_the_paper_is_registered() -> None:
    registered = set(METHODS) - {"pc", "ges", "fci"}
    paper = {"random", "notears", "dag-gnn", "gran-dag", "rl-bic2", "cam", "l1obs", "a-star-lasso", "ica-lingam"}
    assert (
        paper | {"notears-mlp", "golem", "dagma", "direct-lingam", "eqvar", "sort-regress", "r2-sort-regress"}
        == registered
    )
    assert set(methods()) == {*OURS, "pc", "ges", "fci"}


@every_method
def test_the_result_is_a_dag_that_agrees_with_its_order(name: str) -> None:
    assert_valid(fitted(name))


@every_method
def test_names_are_kept(name: str) -> None:
    model = fitted(name)
    assert list(model.adjacency_matrix_.columns) == list(model.adjacency_matrix_.index) == NAMES
    assert list(model.weights_.columns) == NAMES
    assert sorted(model.causal_order_) == sorted(NAMES)
    assert model.feature_names_in_.tolist() == NAMES
    assert model.n_features_in_ == 4
    assert isinstance(model.score_, float)
    assert isinstance(model.history_, pd.DataFrame)


@every_method
def test_an_array_gives_integer_names_and_the_same_graph(name: str) -> None:
    values = data().to_numpy().copy()
    before = values.copy()
    model = estimator(name).fit(values)
    assert sorted(model.causal_order_) == [0, 1, 2, 3]
    assert not hasattr(model, "feature_names_in_")
    np.testing.assert_array_equal(values, before)
    # columns with names are sorted by them, so that their sequence cannot matter: these are in that sequence already
    labeled = estimator(name).fit(pd.DataFrame(values, columns=["a", "b", "c", "d"]))
    # the memory layout differs, so the last bits may
    np.testing.assert_array_equal(model.adjacency_matrix_.to_numpy(), labeled.adjacency_matrix_.to_numpy())
    np.testing.assert_allclose(model.weights_.to_numpy(), labeled.weights_.to_numpy(), atol=0.01)


@every_method
def test_the_frame_is_not_modified(name: str) -> None:
    pristine = data().copy(deep=True)
    fitted(name)
    pd.testing.assert_frame_equal(data(), pristine)


@every_method
def test_permuted_columns_permute_the_result(name: str) -> None:
    permuted = data()[["delta", "beta", "alpha", "gamma"]]
    options = {}
    if name == "random":  # it draws positions, so only a fixed order can follow the names
        options = {"knowledge": Knowledge(tiers=[["alpha"], ["gamma"], ["beta"], ["delta"]])}
    one = estimator(name, **options).fit(data())
    other = estimator(name, **options).fit(permuted)
    aligned = other.adjacency_matrix_.loc[NAMES, NAMES]
    assert shd(aligned.to_numpy(), one.adjacency_matrix_.to_numpy()) <= PERMUTATION_TOLERANCE.get(name, 0)
    if name not in PERMUTATION_TOLERANCE:
        np.testing.assert_allclose(other.weights_.loc[NAMES, NAMES], one.weights_, atol=0.02)


@every_method
def test_missing_cells_are_filled_and_said(name: str) -> None:
    gaps = data().copy()
    gaps.loc[7, "gamma"] = np.nan
    model = estimator(name).fit(gaps)
    assert any("missing" in remark.lower() for remark in map(str, model.diagnostics_["remarks"]))
    assert np.isnan(gaps.loc[7, "gamma"])


@every_method
@pytest.mark.parametrize(("value", "message"), [(np.inf, "gamma"), ("constant", "gamma"), ("text", "gamma")])
def test_bad_data_is_refused_by_column(name: str, value: Any, message: str) -> None:
    bad = data().copy()
    if value == "constant":
        bad["gamma"] = 1.0
    elif value == "text":
        bad["gamma"] = "word"
    else:
        bad.loc[7, "gamma"] = value
    with pytest.raises(DataError, match=message):
        estimator(name).fit(bad)


@every_method
def test_a_time_limit_still_gives_a_result(name: str) -> None:
    method = methods()[name]
    seeded = {"random_state": 3} if "random_state" in method.option_names() else {}
    # the default settings: those who ignored the limit would be at it for minutes
    model = method(max_time=0.01, verbose=False, **seeded).fit(data())
    assert_valid(model)


@every_method
def test_the_same_seed_gives_the_same_result_in_silence(
    name: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, logger="precede"):
        model = estimator(name).fit(data())
    captured = capfd.readouterr()
    assert captured.out == captured.err == ""
    assert not caplog.records
    np.testing.assert_array_equal(model.adjacency_matrix_, fitted(name).adjacency_matrix_)
    np.testing.assert_array_equal(model.weights_, fitted(name).weights_)  # bit for bit
    np.testing.assert_array_equal(model.score_, fitted(name).score_)
    assert model.causal_order_ == fitted(name).causal_order_


@every_method
def test_scikit_learn_interface(name: str) -> None:
    method = methods()[name]
    defaults = {key: value.default for key, value in inspect.signature(method).parameters.items()}
    if issubclass(method, CORL):
        del defaults["n_samples"]  # the old name of n_encoder_rows, which warns
    assert method().get_params() == defaults
    assert {"max_time", "verbose"} <= set(defaults)
    changed = estimator(name, max_time=12.5)
    copy = clone(changed)
    assert copy is not changed
    assert copy.get_params() == changed.get_params()
    assert repr(changed).startswith(method.__name__)
    assert "12.5" in repr(changed)
    assert not hasattr(copy, "graph_")


@every_method
def test_documented(name: str) -> None:
    method = methods()[name]
    text = "".join(cls.__doc__ or "" for cls in method.__mro__)  # corl-1 has the options of CORL
    for option in inspect.signature(method).parameters:
        assert option in text, f"{option} is not in the docstring of {method.__name__}"


@st.composite
def knowledge_of_some_dag(draw: st.DrawFn) -> Knowledge:
    """Knowledge that some DAG over the four variables obeys."""
    order = draw(st.permutations(NAMES))
    pairs = [(order[a], order[b]) for a in range(4) for b in range(a + 1, 4)]
    required = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=3))
    others = [(i, j) for i in NAMES for j in NAMES if i != j and (i, j) not in required]
    forbidden = draw(st.lists(st.sampled_from(others), unique=True, max_size=4))
    cut = draw(st.integers(0, 4))
    tiers = [order[:cut], order[cut:]] if draw(st.booleans()) else []
    return Knowledge(required=required, forbidden=forbidden, tiers=tiers)


@with_knowledge
@given(knowledge=knowledge_of_some_dag())
@settings(max_examples=6, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
def test_knowledge_is_obeyed(name: str, knowledge: Knowledge) -> None:
    try:
        constraints = knowledge.over(NAMES)
    except KnowledgeError:
        return
    model = estimator(name, knowledge=knowledge).fit(data())
    assert_valid(model)
    assert not constraints.violated_by(model.graph_.edges)


@with_knowledge
def test_knowledge_of_absent_columns_is_refused(name: str) -> None:
    with pytest.raises(KnowledgeError, match="omega"):
        estimator(name, knowledge=Knowledge(required=[("alpha", "omega")])).fit(data())
