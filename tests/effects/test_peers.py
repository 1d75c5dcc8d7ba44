"""The same numbers as DoWhy and lingam on the same graph."""

import warnings

import numpy as np
import pandas as pd
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


def test_risks_and_levels_agree_with_statsmodels() -> None:
    formula = pytest.importorskip("statsmodels.formula.api")
    rng = np.random.default_rng(0)
    for _ in range(10):
        site, drug = rng.choice(["n", "s", "w"], 200), rng.choice(["A", "B", "C"], 200)
        x = rng.normal(size=200) + (site == "s")
        bad = (x + (drug == "B") + (site == "w") + rng.normal(size=200) > 0.5).astype(int)
        frame = pd.DataFrame({"site": site, "drug": drug, "x": x, "bad": bad})
        graph = CausalGraph.from_matrix(
            [[0, 1, 1, 1], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]], names=list(frame.columns)
        )
        theirs = formula.ols("bad ~ C(drug) + C(site) + x", frame).fit(cov_type="HC3", use_t=True)
        found = graph.effect("drug", "bad", frame, compared=("A", "C"))
        low, high = theirs.conf_int().loc["C(drug)[T.C]"]
        assert found.value == pytest.approx(theirs.params["C(drug)[T.C]"], abs=1e-6)
        assert found.interval == pytest.approx((low, high), abs=1e-6)
        risks = [theirs.predict(frame.assign(drug=level)).mean() for level in "AC"]
        assert found.risks == pytest.approx(risks, abs=1e-6)


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
