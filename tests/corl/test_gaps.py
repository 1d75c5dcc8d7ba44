"""Linear data with noise that is not Gaussian, and cells missing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import precede as pc
from precede.corl.fit import DRAWN_AGAIN, ESTIMATED_AGAIN

SETTINGS = {"n_iterations": 0, "random_state": 0, "verbose": False, "diagnose": False}


@pytest.fixture(scope="module")
def wide() -> tuple[pc.CausalGraph, pd.DataFrame, pd.DataFrame]:
    """A data set on which the cells that EM draws led to ten wrong edges."""
    made = pc.simulate("er", 20, 2, "lingam", 3000, noise="unequal", standardize=True, random_state=11)
    rng = np.random.default_rng(11)
    return made.graph, made.data, made.data.mask(rng.random(made.data.shape) < 0.2)


def test_gaps_do_not_turn_the_graph(wide: tuple[pc.CausalGraph, pd.DataFrame, pd.DataFrame]) -> None:
    truth, _, holed = wide
    before = holed.copy()
    model = pc.CORL(score="nongaussian", **SETTINGS).fit(holed)
    assert pc.evaluate(model.graph_, truth).shd <= 2
    assert DRAWN_AGAIN in model.diagnostics_["remarks"]
    pd.testing.assert_frame_equal(holed, before)


def test_what_is_said_and_when(wide: tuple[pc.CausalGraph, pd.DataFrame, pd.DataFrame]) -> None:
    _, whole, holed = wide
    few = ["x1", "x2", "x3", "x4"]
    for data, score, expected in (
        (whole[few], "nongaussian", set()),
        (whole[few], "sparse-linear", set()),
        (holed[few], "nongaussian", {DRAWN_AGAIN}),
        (holed[few], "sparse-linear", {ESTIMATED_AGAIN}),
        (holed[few], "linear", set()),
        (holed[few], "quadratic", set()),
    ):
        found = pc.CORL(score=score, **SETTINGS).fit(data.iloc[:300]).diagnostics_
        assert {DRAWN_AGAIN, ESTIMATED_AGAIN} & set(found["remarks"]) == expected
        assert not {DRAWN_AGAIN, ESTIMATED_AGAIN} & set(found.warnings)


def test_a_few_gaps_are_drawn_once(wide: tuple[pc.CausalGraph, pd.DataFrame, pd.DataFrame]) -> None:
    _, whole, _ = wide
    for n_missing, again in ((2, False), (40, True)):  # of 2,000 rows
        holed = whole.iloc[:2000, :4].copy()
        holed.iloc[:n_missing, 1] = np.nan
        remarks = pc.CORL(score="nongaussian", **SETTINGS).fit(holed).diagnostics_["remarks"]
        assert (DRAWN_AGAIN in remarks) == again


def test_pairs_stay_pairs(wide: tuple[pc.CausalGraph, pd.DataFrame, pd.DataFrame]) -> None:
    table = pc.load_table(wide[2].iloc[:300, :4], missing="pairwise")
    remarks = pc.CORL(score="sparse-linear", **SETTINGS).fit(table).diagnostics_["remarks"]
    assert ESTIMATED_AGAIN not in remarks


def test_gaps_make_no_false_edge_in_gaussian_data() -> None:
    """EM without a graph had one."""
    made = pc.simulate("er", 20, 2, "linear-gaussian", 3000, noise="unequal", standardize=True, random_state=1)
    holed = made.data.mask(np.random.default_rng(1).random(made.data.shape) < 0.2)
    graph = pc.CORL(score="sparse-linear", **SETTINGS).fit(holed).graph_
    assert pc.evaluate(graph, made.graph).cpdag_shd == 0


def test_exact_search_draws_again_too(wide: tuple[pc.CausalGraph, pd.DataFrame, pd.DataFrame]) -> None:
    _, _, holed = wide
    part = holed.iloc[:500, :5]
    exact = pc.CORL(score="nongaussian", search="exact", **SETTINGS).fit(part)
    climbed = pc.CORL(score="nongaussian", **SETTINGS).fit(part)
    assert DRAWN_AGAIN in exact.diagnostics_["remarks"]
    assert exact.diagnostics_["search"]["exact"]
    assert exact.graph_.n_variables == climbed.graph_.n_variables == 5


def test_knowledge_holds_in_every_round(wide: tuple[pc.CausalGraph, pd.DataFrame, pd.DataFrame]) -> None:
    truth, _, holed = wide
    cause, effect = next(iter(truth.to_networkx().edges))
    knowledge = pc.Knowledge(forbidden=[(cause, effect)], required=[(effect, cause)])
    part = holed[[cause, effect, *[name for name in holed.columns if name not in (cause, effect)][:3]]].iloc[:500]
    graph = pc.CORL(score="nongaussian", knowledge=knowledge, **SETTINGS).fit(part).graph_
    assert (effect, cause) in graph.to_networkx().edges
    assert (cause, effect) not in graph.to_networkx().edges
