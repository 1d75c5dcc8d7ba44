"""The same numbers as DoWhy and lingam on the same graph."""

import warnings

import numpy as np
import pytest

from precede import CausalGraph, simulate
from precede.effects import path_effects

pytestmark = pytest.mark.peers


def test_total_effects_agree_with_dowhy() -> None:
    dowhy = pytest.importorskip("dowhy")
    data = simulate(n_variables=6, degree=2, n_samples=500, random_state=4)
    graph = data.graph
    compared = 0
    for cause in graph.names:
        for effect in graph.descendants(cause):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = dowhy.CausalModel(data.data, cause, effect, graph=graph.to_dowhy())
                estimand = model.identify_effect(proceed_when_unidentifiable=True)
                estimate = model.estimate_effect(estimand, method_name="backdoor.linear_regression")
            chosen = estimand.get_adjustment_set() if hasattr(estimand, "get_adjustment_set") else None
            chosen = chosen if chosen is not None else estimand.get_backdoor_variables()
            found = graph.effect(cause, effect, data.data, adjustment=list(chosen))
            assert found.value == pytest.approx(estimate.value, abs=1e-6)
            compared += 1
    assert compared > 5


def test_path_effects_agree_with_lingam() -> None:
    lingam = pytest.importorskip("lingam")
    data = simulate(n_variables=6, degree=2, n_samples=500, random_state=4)
    truth = path_effects(data.graph).to_numpy()
    for i in range(6):
        for j in range(6):
            if data.graph.edges.any() and i != j and truth[i, j] != 0:
                theirs = lingam.utils.calculate_total_effect(data.graph.to_lingam(), i, j)
                assert truth[i, j] == pytest.approx(theirs, abs=1e-6)


def test_regression_effects_agree_with_lingam() -> None:
    lingam = pytest.importorskip("lingam")
    rng = np.random.default_rng(0)
    weights = np.triu(rng.uniform(0.5, 1.5, (5, 5)) * (rng.random((5, 5)) < 0.6), 1)
    rows = rng.uniform(-1, 1, (500, 5)) @ np.linalg.inv(np.eye(5) - weights)
    graph = CausalGraph.from_matrix(weights)
    for i in range(5):
        for j in graph.descendants(i):
            model = lingam.DirectLiNGAM()
            model._adjacency_matrix = graph.to_lingam()
            model._causal_order = list(graph.order)
            theirs = model.estimate_total_effect(rows, i, j)
            found = graph.effect(i, j, rows, adjustment="parents")
            assert found.value == pytest.approx(theirs, abs=0.05)  # theirs shrinks by an adaptive lasso
