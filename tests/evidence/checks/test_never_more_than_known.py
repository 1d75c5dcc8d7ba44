"""A result never says more than is known: limits, signs, single rows, kinds of columns, failures on the way."""

import json
import logging

import numpy as np
import pandas as pd
import pytest
from assumed import assumptions_of

import precede as pc
import precede.evidence.checks.all_checks as diagnose_module
from precede.baselines import METHODS
from precede.baselines.l1obs import ANY_VARIANCE, UNIT_VARIANCE
from precede.data.datasets import load_sachs
from precede.data.load import Table, load_table
from precede.estimator import CausalEstimator
from precede.evidence.checks import Check, CheckContext, Diagnostics, Remark, diagnose
from precede.evidence.checks.edge_readings import read_edges
from precede.report.words import assumed_words
from precede.search.record import SearchRecord

FAST = {"n_iterations": 3, "batch_size": 8, "random_state": 0, "verbose": False}


def learned(values, edges, names=None, **options) -> CheckContext:
    d = values.shape[1]
    names = tuple(f"x{k}" for k in range(d)) if names is None else tuple(names)
    order = pc.CausalGraph.from_matrix(edges).positions
    weights = None if options.get("score") == "gp" else np.where(edges, 1.0, 0.0)
    options["assumptions"] = assumptions_of(options.get("score"))
    return CheckContext(
        Table(np.asarray(values, float), names, True), np.asarray(edges, bool), order, weights, **options
    )


def pair(x, y, **options) -> Diagnostics:
    return diagnose(learned(np.column_stack([x, y]), [[0, 1], [0, 0]], **options))


SLOW_OR_ABSENT = ("dag-gnn", "gran-dag", "rl-bic2", "pc", "ges", "fci")

# one record, for every method


def test_a_record_reads_like_a_dictionary_of_plain_values():
    data = pc.simulate(n_variables=4, degree=1, n_samples=300, random_state=0).data
    found = pc.CORL(score="linear", **FAST).fit(data).diagnostics_
    assert isinstance(found, Diagnostics)
    assert {"search", "remarks", "checks", "edges", "score"} <= set(found)
    assert found["checks"][0]["sentence"] == found.checks[0].sentence
    assert found["search"]["best_score"] == found.reported["search"]["best_score"]
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False)) == found.to_dict()


@pytest.mark.parametrize("name", [name for name in METHODS if name not in SLOW_OR_ABSENT])
def test_every_method_gets_the_same_checks_and_names_its_assumptions(name):
    data = pc.simulate(n_variables=4, degree=1, n_samples=200, random_state=0).data
    method = pc.methods()[name]
    quick = {"max_time": 5.0, "verbose": False}
    model = method(**{key: value for key, value in quick.items() if key in method.option_names()}).fit(data)
    checks = {check.name for check in model.diagnostics_.checks}
    assert {"identifiability", "nonlinearity", "influence of single rows", "values far out"} <= checks
    assert model.diagnostics_.assumptions is (UNIT_VARIANCE if name == "l1obs" else method.assumes)


def test_every_method_has_assumptions():
    silent = {name for name, cls in METHODS.items() if cls.assumes.mechanism == "any"}
    assert silent == {"l1obs", "rl-bic2", "pc", "fci"}  # whose options decide


def test_linear_gaussian_methods_tell_the_class_only():
    assert ANY_VARIANCE.identifies == METHODS["ges"].assumes.identifies == "cpdag"
    assert METHODS["eqvar"].assumes.identifies == METHODS["direct-lingam"].assumes.identifies == "dag"


def test_diagnostics_can_be_switched_off():
    data = pc.simulate(n_variables=4, degree=1, n_samples=200, random_state=0).data
    model = pc.baselines.EqVar(verbose=False)
    model.diagnose = False
    assert "checks" not in model.fit(data).diagnostics_


# failures


def test_a_failing_check_costs_nothing_but_itself(monkeypatch, caplog):
    def check_broken(learned):
        raise ZeroDivisionError("float division by zero")

    monkeypatch.setattr(diagnose_module, "CHECKS", {"broken": check_broken, **diagnose_module.CHECKS})
    data = pc.simulate(n_variables=4, degree=1, n_samples=200, random_state=0).data
    with caplog.at_level(logging.WARNING, "precede"):
        model = pc.CORL(score="linear", **FAST).fit(data)
    assert model.graph_.n_variables == 4
    assert any("ZeroDivisionError" in sentence for sentence in model.diagnostics_.warnings)
    assert sum("ZeroDivisionError" in record.message for record in caplog.records) == 1
    levels = {check.name: check.level for check in model.diagnostics_.checks}
    assert levels["broken"] == "not run"
    assert len(levels) >= 9


def test_an_interrupt_during_the_checks_keeps_the_result(monkeypatch):
    def check_slow(learned):
        raise KeyboardInterrupt

    monkeypatch.setattr(diagnose_module, "CHECKS", {"slow": check_slow, **diagnose_module.CHECKS})
    data = pc.simulate(n_variables=4, degree=1, n_samples=200, random_state=0).data
    model = pc.CORL(score="linear", **FAST).fit(data)
    assert any("interrupted" in sentence for sentence in model.diagnostics_.warnings)
    assert next(check.level for check in model.diagnostics_.checks if check.name == "nonlinearity") == "not run"


@pytest.mark.parametrize("unit", [1e-150, 1e-13, 1.0, 1e13, 1e140])
def test_units_change_no_reading(unit):
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    y = np.sin(2 * x) + 0.3 * rng.normal(size=300)
    plain, scaled = (pair(x * u, y * u, score="gp") for u in (1.0, unit))
    assert not any("failed" in sentence for sentence in scaled.warnings)
    assert scaled.edges[0].strength == pytest.approx(plain.edges[0].strength, rel=1e-6)


# limits


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"search": SearchRecord(0.0, interrupted=True)}, "interrupted"),
        ({"search": SearchRecord(0.0, out_of_time=True)}, "time limit ended the search"),
        ({"reported": {"remarks": ["the table ends at one parent each."]}}, "The table ends at one parent each."),
        ({"reported": {"stopped_by_max_time": True}}, "time limit ended the method"),
        ({"reported": {"converged": False}}, "did not converge"),
        ({"reported": {"complete": False}}, "before every variable was placed"),
    ],
)
def test_whatever_limits_a_result_is_a_warning(options, said):
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    found = pair(x, x + rng.normal(size=300), score="linear", **options)
    assert any(said in sentence for sentence in found.warnings)
    assert any(said in sentence for sentence in found["remarks"])


def test_a_time_limit_is_said():
    data = pc.simulate(n_variables=10, degree=2, n_samples=300, random_state=0).data
    model = pc.CORL(score="linear", n_iterations=100_000, patience=None, max_time=0.3, random_state=0, verbose=False)
    assert any("time limit" in sentence for sentence in model.fit(data).diagnostics_.warnings)


def test_remarks_of_loading_count_and_what_was_asked_for_does_not():
    frame = pc.simulate(n_variables=5, degree=1, n_samples=200, random_state=0).data
    frame.iloc[:3, 0] = np.nan
    table = load_table(frame, missing="drop", leave_out=[frame.columns[4]])
    found = pc.baselines.EqVar(verbose=False).fit(table).diagnostics_
    assert any("3 of 200 rows were dropped" in sentence for sentence in found.warnings)
    assert not any("Left out as asked" in sentence for sentence in found.warnings)
    assert any("Left out as asked" in sentence for sentence in found.sentences)


def test_the_optimum_is_that_of_the_same_score_where_cells_are_missing():
    frame = pc.simulate(n_variables=5, degree=1, n_samples=300, random_state=0).data
    gaps = frame.mask(np.random.default_rng(0).random(frame.shape) < 0.05)
    found = pc.CORL(score="linear", **FAST).fit(load_table(gaps, missing="em")).diagnostics_
    assert not any("short of the best known" in sentence for sentence in found.warnings)


# signs and units


def test_a_nonlinear_strength_has_no_sign_and_a_trend_from_its_curve():
    """Longitude and latitude in California: the correlation is -.92, and the strength was shown as +.92."""
    rng = np.random.default_rng(0)
    longitude = rng.uniform(-124, -114, 500)
    latitude = -0.9 * longitude - 0.02 * (longitude + 119) ** 3 + rng.normal(size=500)
    (edge,) = pair(longitude, latitude, score="gp").edges
    assert edge.weight is None
    assert edge.trend == "falling"
    assert edge.strength > 0.8
    (line,) = pair(longitude, latitude, score="linear").edges
    assert (line.weight, line.trend) == (1.0, "falling")
    (bent,) = pair(longitude, (longitude + 119) ** 2 + rng.normal(size=500), score="gp").edges
    assert bent.trend == "mixed"


# single rows


def test_an_edge_that_rests_on_one_row_is_named():
    """PKA -> Erk in the Sachs data: strength .93 by one cell of 853 at 28 standard deviations."""
    data = load_sachs().data[["PKA", "Erk"]]
    found = pair(data["PKA"].to_numpy(), data["Erk"].to_numpy(), names=("PKA", "Erk"), score="gp")
    (edge,) = found.edges
    assert edge.influence is not None
    assert edge.influence.rows == (749,)
    assert edge.influence.strength < edge.strength / 2
    assert edge.influence.farthest == pytest.approx(28, abs=1)
    said = [check for check in found.checks if check.name == "influence of single rows"]
    assert said[0].level == "warning"
    assert "PKA -> Erk" in said[0].sentence
    assert any("Erk in row 749, 28 out" in check.sentence for check in found.checks)


def test_clean_edges_rest_on_no_row():
    rng = np.random.default_rng(1)
    for n, weight in ((100, 0.4), (1000, 0.15)):
        x = rng.normal(size=n)
        found = pair(x, weight * x + rng.normal(size=n), score="linear")
        assert found.edges[0].influence is None
        assert {
            check.level for check in found.checks if check.name in ("influence of single rows", "values far out")
        } == {"fine"}


def test_an_outlier_in_a_large_table_is_looked_at_and_drawn():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 20_001))
    x[12_345] = y[12_345] = 4000.0
    found = pair(x, y, score="linear")
    assert found.edges[0].influence.rows == (12_346,)
    np.testing.assert_allclose(np.array(found.plots[0][0]["extremes"])[:, 0], [4000.0, 4000.0], rtol=0.01)


# kinds of columns


def smokers(n=2000, seed=0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    smoker = rng.random(n) < 0.3
    cancer = rng.random(n) < np.where(smoker, 0.5, 0.05)
    return pd.DataFrame(
        {"cancer": cancer.astype(int), "smoker": smoker.astype(int), "visits": rng.poisson(1 + 4 * cancer)}
    )


def test_directions_between_indicators_and_counts_are_not_claimed():
    model = pc.CORL(score="nongaussian", **FAST).fit(smokers())
    found = model.diagnostics_
    assert model.graph_.n_edges >= 2
    assert {edge.source for edge in found.edges} == {"open"}
    assert any("not claimed" in sentence and "cancer" in sentence for sentence in found.warnings)


def test_knowledge_and_continuous_columns_are_claimed():
    known = pc.Knowledge(tiers=[["smoker"], ["cancer"], ["visits"]])
    model = pc.CORL(score="nongaussian", knowledge=known, **FAST).fit(smokers())
    assert {edge.source for edge in model.diagnostics_.edges} == {"knowledge"}
    values = np.random.default_rng(0).laplace(size=(300, 2)).cumsum(axis=1)
    assert read_edges(learned(values, [[0, 1], [0, 0]], score="nongaussian"))[0].source == "shape"


def test_categories_have_no_sizes():
    frame = smokers(600)
    frame["city"] = np.where(frame["smoker"] == 1, "Rome", np.where(frame["cancer"] == 1, "Bonn", "Oslo"))
    found = pc.CORL(**FAST).fit(frame).diagnostics_
    touched = [edge for edge in found.edges if 3 in (edge.cause, edge.effect)]
    assert touched
    assert all(np.isnan(edge.strength) and edge.trend == "mixed" for edge in touched)
    assert {edge["strength"] for edge in found["edges"] if 3 in (edge["cause"], edge["effect"])} == {None}


def test_the_sentences_are_those_of_remarks_and_checks_warnings_first():
    found = Diagnostics(
        remarks=(Remark("A note.", "note"), Remark("A limit.")), checks=(Check("x", None, "Fine.", "fine"),)
    )
    assert found.sentences == ["A limit.", "A note.", "Fine."]


@pytest.mark.parametrize(
    ("method", "identifies", "words"),
    [
        (pc.baselines.L1OBS(random_state=0, verbose=False), "dag", "come from the columns' variances"),
        (pc.baselines.L1OBS(variance="free", random_state=0, verbose=False), "cpdag", "of any variance"),
        (pc.baselines.RLBIC2(n_iterations=2, random_state=0, verbose=False), "dag", "of the same variance everywhere"),
        (pc.baselines.RLBIC2(noise="unequal", n_iterations=2, random_state=0, verbose=False), "cpdag", "weighted sum"),
        (
            pc.baselines.RLBIC2(regression="gp", noise="unequal", n_iterations=2, random_state=0, verbose=False),
            "dag",
            "a smooth function of its causes plus Gaussian noise.",
        ),
    ],
)
def test_what_is_assumed_goes_by_the_options(method: CausalEstimator, identifies: str, words: str) -> None:
    known = method.fit(pc.simulate(n_variables=4, degree=1, n_samples=100, random_state=0).data).diagnostics_
    assert known["identifies"] == identifies
    assert words in known.assumptions.words


def test_a_random_order_claims_no_direction_but_what_was_known() -> None:
    data = pc.simulate(n_variables=6, degree=2, n_samples=300, random_state=0).data
    first, last = data.columns[0], data.columns[-1]
    known = pc.Knowledge(required=[(first, last)])
    found = pc.baselines.RandomOrder(knowledge=known, random_state=0, verbose=False).fit(data)
    claims = {(edge.cause, edge.effect): edge.source for edge in found.diagnostics_.edges}
    assert claims.pop((0, 5)) == "knowledge"
    assert set(claims.values()) == {"open"}
    check = next(check for check in found.diagnostics_.checks if check.name == "identifiability")
    assert check.level == "warning"
    assert "drawn at random" in check.sentence


def test_what_is_said_of_the_rows_goes_by_the_table() -> None:
    data = pd.DataFrame(np.random.default_rng(0).normal(size=(80, 3)), columns=list("abc"))
    said = {}
    for name, options in {"plain": {}, "lags": {"lags": 2}, "set": {"interventions": ["a"] * 40 + [None] * 40}}.items():
        table = pc.load_table(data, **options)
        model = pc.CORL(score="sparse-linear", random_state=0, verbose=False).fit(table)
        said[name] = assumed_words(model.diagnostics_, None, table)[-1]
    assert said["plain"] == "The rows are independent draws of one system."
    assert "more than 2 rows back" in said["lags"]
    assert said["set"].endswith("40 rows are interventional.")
