"""Where a direction comes from, what knowledge costs, and which warning comes first."""

import numpy as np
import pandas as pd
import pytest

import precede as pc
from precede.data.load import Table
from precede.evidence.checks import Check, CheckContext, Diagnostics, Remark
from precede.evidence.checks.all_checks import CHECKS, diagnose
from precede.evidence.checks.directions import direction_sources
from precede.evidence.checks.record import REMEDIES, ranked
from precede.kinds import ColumnKind
from precede.knowledge import Knowledge
from precede.scores.assumptions import Assumptions

CHAIN, COLLIDER = np.eye(3, k=1, dtype=bool), np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=bool)
GAUSSIAN = Assumptions("linear", False, "assumed")


def sources(edges, assumed=GAUSSIAN, identifies="cpdag", known=None, **more):
    rng = np.random.default_rng(0)
    values = rng.laplace(size=(500, 3)) @ (np.eye(3) + edges)
    targets, steps = more.pop("targets", None), more.pop("steps", None)
    table = Table(values, ("a", "b", "c"), True, targets=targets, steps=steps)
    constraints = None if known is None else known.over(table.names)
    learned = CheckContext(
        table, edges, np.arange(3), assumptions=assumed, identifies=identifies, constraints=constraints, **more
    )
    return set(direction_sources(learned).values())


def test_each_source_has_its_case():
    assert sources(CHAIN) == {"open"}
    assert sources(COLLIDER) == {"structure"}
    assert sources(CHAIN, Assumptions("linear", False, "excluded"), "dag") == {"shape"}
    assert sources(CHAIN, Assumptions("linear", True, "free"), "dag") == {"variances"}
    assert sources(CHAIN, Assumptions("additive", False, "free"), "dag") == {"curvature"}
    assert sources(CHAIN, Assumptions("additive", False, "free"), "dag", score="location-scale+policy") == {"policy"}
    assert sources(CHAIN, known=Knowledge(tiers=[["a"], ["b"], ["c"]])) == {"knowledge"}
    assert sources(CHAIN, known=Knowledge(roots=["a"])) == {"knowledge"}  # the second edge follows from the first
    assert sources(CHAIN, steps=(2, 1, 0)) == {"time"}
    set_in_half = np.zeros((500, 3), dtype=bool)
    set_in_half[:250, 1] = True
    assert sources(CHAIN, targets=set_in_half) == {"experiment"}


def test_what_a_tier_fixes_is_not_called_structure():
    assert sources(COLLIDER, known=Knowledge(tiers=[["a", "b"], ["c"]])) == {"knowledge"}


@pytest.mark.parametrize("seed", range(10))
def test_wrong_knowledge_is_reported_with_its_price(seed):
    made = pc.simulate(n_variables=6, degree=2, n_samples=500, sem="lingam", random_state=seed)
    cause, effect, _ = made.graph.edge_list()[seed % made.graph.n_edges]
    settings = {"score": "nongaussian", "diagnose": "quick", "random_state": 0, "verbose": False}
    for known, wrong in ((Knowledge(required=[(effect, cause)]), True), (Knowledge(required=[(cause, effect)]), False)):
        found = pc.CORL(knowledge=known, **settings).fit(made.data).diagnostics_
        check = next(check for check in found.checks if check.name == "knowledge against the data")
        assert (check.level == "warning") == wrong, check.sentence
        if wrong:
            assert f"{cause} -> {effect}" in check.sentence
            assert f"costs {check.value:.1f} in score" in check.sentence


def test_the_worst_comes_first():
    said = [Check("nonlinearity", 1.0, "b", "warning"), Check("rows near each other", 3.0, "a", "warning")]
    found = Diagnostics(remarks=(Remark("A remark."),), checks=(*said, Check("residual normality", 0.0, "c", "fine")))
    assert [item.sentence for item in found.said] == ["a", "b", "A remark.", "c"]
    assert found.warnings[0] == "a"
    assert "--lags 1" in found.said[0].remedy
    assert [item.name for item in ranked(found.checks)][-1] == "residual normality"


def test_how_a_table_was_read_is_no_warning():
    """It took the places of the worst three."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    columns = {"id": [f"P{k:03d}" for k in range(200)], "a": [f"{v:.3f}".replace(".", ",") for v in x]}
    columns |= {
        "b": [f"{v:.2f} kg" for v in x + rng.normal(size=200)],
        "c": rng.choice(["North", "South", "West"], 200),
    }
    columns["c"][3], columns["c"][4] = "north", "?"
    found = pc.CORL(diagnose="quick", random_state=0, verbose=False).fit(pd.DataFrame(columns)).diagnostics_
    notes = [remark.sentence for remark in found.remarks if remark.level == "note"]
    for words in ("labels the rows", "decimal commas", "without the unit", "stand for missing", "several ways"):
        assert any(words in sentence for sentence in notes), words
    assert {item.name for item in found.said if item.level == "warning"} <= {"identifiability", "missing values"}
    assert all(item.remedy for item in found.said if item.level == "warning")


def test_every_check_that_can_warn_has_a_remedy():
    silent = {"var-sortability", "R²-sortability"}  # they never warn
    assert set(CHECKS) - silent <= set(REMEDIES)
    assert all(words.endswith(".") for name, words in REMEDIES.items() if name != "remark")


def test_the_same_checks_are_listed_for_levels_and_say_why_they_were_not_run():
    rng = np.random.default_rng(0)
    values = rng.integers(2, size=(200, 3)).astype(float)
    table = Table(values, ("a", "b", "c"), True, kinds=(ColumnKind("binary", (0.0, 1.0), ("0", "1")),) * 3)
    learned = CheckContext(table, CHAIN, np.arange(3), assumptions=Assumptions("levels"))
    found = {check.name: check for check in diagnose(learned, "quick").checks}
    assert {"nonlinearity", "residual normality", "held-out likelihood", "rows near each other"} <= set(found)
    assert (found["nonlinearity"].level, found["rows near each other"].level) == ("not run", "fine")
    assert found["residual normality"].sentence == "Not run: columns with levels have no size."


def test_printed_diagnostics_are_a_page():
    made = pc.simulate(n_variables=12, degree=4, n_samples=200, random_state=0)
    text = str(pc.CORL(diagnose="quick", n_iterations=1, verbose=False, random_state=0).fit(made.data).diagnostics_)
    assert len(text) < 5000
    assert text.count("\n") < 60
    assert "directions from" in text
