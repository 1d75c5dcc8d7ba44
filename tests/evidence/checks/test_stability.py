"""Quick resampling: every edge of every fit has a confidence, the same every time, within its time."""

from functools import partial

import numpy as np
import pytest

import precede as pc
from precede.data.load import load_table
from precede.evidence.checks import CheckContext
from precede.evidence.checks.stability import (
    N_RESAMPLES,
    judge_again,
    learn_again,
    relearning,
    resample,
    shares_of,
)
from precede.evidence.confidence.resampling import resampled
from precede.knowledge import Constraints
from precede.runtime.deadline import Deadline
from precede.scores.assumptions import Assumptions

FAST = {"n_iterations": 3, "batch_size": 8, "random_state": 0, "verbose": False}


def fitted(score, **options):
    sem = {"linear": "linear-gaussian", "nongaussian": "lingam", "sparse-linear": "linear-gaussian"}.get(score, "gp")
    data = pc.simulate(n_variables=5, degree=1, sem=sem, n_samples=300, random_state=1).data
    return pc.CORL(score=score, **FAST, **options).fit(data), data


@pytest.mark.parametrize("score", ["linear", "nongaussian", "sparse-linear", "quadratic"])
def test_every_edge_has_a_confidence_that_is_the_same_every_time(score):
    first, data = fitted(score)
    shares = [edge.confidence for edge in first.diagnostics_.edges]
    assert shares
    assert all(0 <= share <= 1 for share in shares)
    assert all(edge.connected >= edge.confidence for edge in first.diagnostics_.edges)
    assert first.diagnostics_["resamples"] == N_RESAMPLES
    assert any(check.name == "unstable edges" for check in first.diagnostics_.checks)
    again = pc.CORL(score=score, **FAST).fit(data)
    assert [edge.confidence for edge in again.diagnostics_.edges] == shares


def test_another_seed_draws_other_rows():
    rng = np.random.default_rng(0)
    data = rng.normal(size=(60, 4)).cumsum(axis=1) + rng.normal(size=(60, 4))
    shares = [
        [
            edge.confidence
            for edge in pc.CORL(score="linear", **{**FAST, "random_state": seed}).fit(data).diagnostics_.edges
        ]
        for seed in (0, 1)
    ]
    assert shares[0] != shares[1]


@pytest.mark.parametrize("method", ["eqvar", "direct-lingam", "cam", "r2-sort-regress"])
def test_baselines_have_them_too(method):
    data = pc.simulate(n_variables=4, degree=1, n_samples=300, random_state=0).data
    model = pc.methods()[method](verbose=False).fit(data)
    assert model.diagnostics_.has_confidence == (model.graph_.n_edges > 0)


def test_resampling_can_be_switched_off():
    model, _ = fitted("linear", diagnose="quick")
    assert not model.diagnostics_.has_confidence
    assert model.diagnostics_.checks
    assert all(edge.confidence is None for edge in model.diagnostics_.edges)


def test_no_time_is_said():
    relearn = relearning_of(np.random.default_rng(0).normal(size=(200, 3)).cumsum(axis=1))
    assert shares_of(relearn, 0, Deadline(0.0)) == []
    model, data = fitted("linear", diagnose="quick")
    learned = model._learned(load_table(data), model._learn(load_table(data)), model.graph_)
    found = resample(learned, model.diagnostics_, Deadline(0.0))
    assert any("no time to resample" in sentence for sentence in found.warnings)
    assert not found.has_confidence
    hasty, _ = fitted("linear", max_time=1e-6)
    assert any("time limit ended the checks" in sentence for sentence in hasty.diagnostics_.warnings)


def test_too_few_resamples_give_no_confidence(monkeypatch):
    model, data = fitted("linear", diagnose="quick")
    learned = model._learned(load_table(data), model._learn(load_table(data)), model.graph_)
    for n_resamples, enough in ((4, False), (5, True)):
        shares = [learned.edges.astype(float)] * n_resamples
        monkeypatch.setattr("precede.evidence.checks.stability.shares_of", lambda *_, shares=shares: shares)
        assert resample(learned, model.diagnostics_, Deadline(None)).has_confidence == enough


def test_the_fit_to_all_rows_counts_beside_its_resamples(monkeypatch):
    model, data = fitted("linear", diagnose="quick")
    learned = model._learned(load_table(data), model._learn(load_table(data)), model.graph_)
    made = [learned.edges.astype(float)] * 5 + [np.zeros(learned.edges.shape)] * 15
    monkeypatch.setattr("precede.evidence.checks.stability.shares_of", lambda *_: made)
    found = resample(learned, model.diagnostics_, Deadline(None))
    assert [edge.confidence for edge in found.edges] == pytest.approx([(5 + 15) / 35] * learned.edges.sum())
    assert found.checks[0].value == learned.edges.sum()  # and yet they seldom came back
    assert found.resampled.mean(axis=0).max() == 0.25  # what intervals count


def relearning_of(values):
    d = values.shape[1]
    learned = CheckContext(load_table(values), np.zeros((d, d), dtype=bool), np.arange(d))
    return partial(learn_again, learned, "linear", Constraints.none(d))


def test_a_strong_edge_is_sure_and_one_from_noise_is_not():
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 400))
    values = np.column_stack([a, a + b, c + 0.16 * a])
    found = np.mean(shares_of(relearning_of(values), 0, Deadline(None)), axis=0)
    assert found[0, 1] == 1.0
    assert found[0, 2] < 0.9


def judged(values, edges, known=None, **options):
    d = len(edges)
    learned = CheckContext(load_table(values), np.array(edges, dtype=bool), np.arange(d), constraints=known, **options)
    return np.mean(shares_of(relearning(learned), 0, Deadline(None)), axis=0)


@pytest.mark.parametrize("score", ["sparse-gp", "sparse-gp-additive", "location-scale", "vote"])
def test_curves_tell_directions_on_resampled_rows(score):
    rng = np.random.default_rng(0)
    edges, options = [[0, 1], [0, 0]], {"score": score, "assumptions": Assumptions("additive")}
    x, noise = rng.normal(size=(2, 400))
    curved = np.column_stack([x, np.sin(2 * x) + 0.3 * noise])
    assert judged(curved, edges, **options)[0, 1] == 1.0
    assert judged(curved[:, ::-1], edges, **options)[1, 0] == 1.0  # the edge is drawn the wrong way round
    fixed = pc.Knowledge(required=[(0, 1)]).over((0, 1))
    assert judged(curved[:, ::-1], edges, fixed, **options)[0, 1] == 1.0
    assert judged(np.column_stack([x, noise]), edges, **options).sum() < 0.3


def test_shape_tells_directions_on_resampled_rows_where_noise_may_have_any():
    rng = np.random.default_rng(0)
    linear = {"assumptions": Assumptions("linear", gaussian="excluded")}
    x, noise = rng.normal(size=(2, 600))
    cause = rng.exponential(size=600)
    skewed, gaussian = np.column_stack([cause, cause + rng.exponential(size=600)]), np.column_stack([x, x + noise])
    assert judged(skewed, [[0, 1], [0, 0]], **linear)[0, 1] == 1.0
    assert judged(skewed, [[0, 0], [1, 0]], **linear)[0, 1] == 1.0  # the edge is drawn the wrong way round
    assert judged(gaussian, [[0, 1], [0, 0]], **linear)[0, 1] == pytest.approx(0.5, abs=0.1)


def test_an_edge_between_curves_is_judged_given_the_other_causes():
    rng = np.random.default_rng(1)
    x, y, noise = rng.normal(size=(3, 400))
    values = np.column_stack([x, y, x * y + 0.3 * noise])  # neither cause shows in a sum of curves
    edges = [[0, 0, 1], [0, 0, 1], [0, 0, 0]]
    jointly = judged(values, edges, score="sparse-gp", assumptions=Assumptions("additive"))
    added = judged(values, edges, score="sparse-gp-additive", assumptions=Assumptions("additive"))
    assert jointly[:2, 2].tolist() == [1.0, 1.0]
    assert added[:2, 2].min() < 0.5


def test_a_row_that_is_drawn_twice_counts_once():
    table = load_table(np.random.default_rng(0).normal(size=(200, 3)))
    rows, _ = resampled(table, None, np.random.default_rng(1))
    assert 110 < rows.n_samples < 145
    assert len(np.unique(rows.values, axis=0)) == rows.n_samples


@pytest.mark.parametrize("gaussian", ["excluded", "assumed"])
def test_a_column_that_is_constant_in_a_resample_is_no_cause_in_it(gaussian):
    values = np.random.default_rng(0).normal(size=(40, 3))
    values[:, 1] += values[:, 0]
    values[1:, 2] = 0.0  # 15 of 40 resamples of distinct rows lack the first
    found = judged(values, np.eye(3, k=1, dtype=bool), assumptions=Assumptions("linear", gaussian=gaussian))
    assert np.isfinite(found).all()
    assert found[2].sum() + found[:, 2].sum() < found[0, 1] + found[1, 0]


def test_the_way_to_learn_again_follows_the_assumptions():
    ways = {"linear": "linear", "sparse-linear": "sparse-linear", "nongaussian": "linear-any", "quadratic": None}
    for score, name in ways.items():
        model, data = fitted(score, diagnose=False)
        again = relearning(model._learned(load_table(data), model._learn(load_table(data)), model.graph_))
        assert again.func is (judge_again if name is None else learn_again)
        assert name is None or again.args[1] == name


def test_parents_in_wide_resamples_are_at_most_two_edges_away(monkeypatch):
    monkeypatch.setattr("precede.evidence.checks.stability.EVERYWHERE_UP_TO", 4)
    learned = CheckContext(
        load_table(np.random.default_rng(0).normal(size=(50, 5))), np.eye(5, k=1, dtype=bool), np.arange(5),
        assumptions=Assumptions("linear", gaussian="assumed"), score="sparse-linear",
    )  # fmt: skip
    allowed = relearning(learned).args[2].allowed
    steps = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    assert (allowed == ((steps > 0) & (steps <= 2))).all()


@pytest.mark.parametrize(
    ("score", "most", "is_said"), [("sparse-linear", 4, True), ("quadratic", 4, False), ("sparse-linear", 5, False)]
)
def test_that_wide_resamples_look_near_the_graph_is_said(monkeypatch, score, most, is_said):
    monkeypatch.setattr("precede.evidence.checks.stability.EVERYWHERE_UP_TO", most)
    notes = [item.sentence for item in fitted(score)[0].diagnostics_.said if item.level == "note"]
    assert any("at most two edges from it" in note for note in notes) == is_said


def test_a_large_table_is_resampled_by_rows_of_it_and_says_so(monkeypatch):
    monkeypatch.setattr("precede.data.table.LARGEST_SAMPLE", 500)
    diagnostics = fitted("sparse-linear")[0].diagnostics_
    assert any("Resamples are of 100 rows" in item.sentence for item in diagnostics.said if item.level == "note")
    monkeypatch.setattr("precede.data.table.LARGEST_SAMPLE", 1500)
    assert not any("Resamples are of" in item.sentence for item in fitted("sparse-linear")[0].diagnostics_.said)
