"""Each check reacts: a data set that trips it, and one that does not."""

import json

import numpy as np
import pytest
from assumed import assumptions_of

from precede.data.load import Table
from precede.evidence.checks import Check, CheckContext, Diagnostics, compare_with_chance
from precede.evidence.checks import diagnose as diagnose_record
from precede.evidence.checks.context import regress_on_parents
from precede.evidence.checks.data_checks import curvature, equal_variances, holm, normality
from precede.evidence.checks.record import EdgeDiagnostics
from precede.evidence.checks.stability import stability, with_shares
from precede.kinds import NUMBER, ColumnKind
from precede.knowledge import Knowledge
from precede.scores.assumptions import Assumptions
from precede.scores.build import NOISES
from precede.search.record import SearchRecord
from precede.simulation import simulate
from precede.strict_json import to_json

CHAIN = np.eye(3, k=1, dtype=bool)
ORDER = np.arange(3)
NAMES = ("a", "b", "c")


def chain(noise=(1.0, 1.0, 1.0), draw="normal", bend=0.0, n=1500, seed=0):
    """a -> b -> c with given noise scales; ``bend`` adds squares."""
    rng = np.random.default_rng(seed)
    e = rng.normal(size=(n, 3)) if draw == "normal" else rng.uniform(-1.7, 1.7, size=(n, 3))
    e = e * np.array(noise)
    a = e[:, 0]
    b = a + bend * a**2 + e[:, 1]
    c = b + bend * b**2 + e[:, 2]
    return np.column_stack([a, b, c])


def diagnose(values, edges, order, names=None, **options):
    names = tuple(range(values.shape[1])) if names is None else tuple(names)
    assumed = assumptions_of(options.get("score"), options.get("noise", "auto"))
    return diagnose_record(
        CheckContext(Table(values, names, False), edges, order, assumptions=assumed, **options)
    ).checks


def check(name, values, edges=CHAIN, order=ORDER, **options) -> Check:
    found = {item.name: item for item in diagnose(values, edges, order, NAMES, **options)}
    return found[name]


def test_sortability():
    grown = check("var-sortability", chain(), score="linear")
    assert grown.level == "note"
    assert grown.value == 1.0
    assert "100%" in grown.sentence
    shrunk = check("var-sortability", chain() * [100.0, 10.0, 1.0], score="linear")
    assert shrunk.level == "fine"
    assert shrunk.value == 0.0
    assert check("var-sortability", chain(), score="nongaussian").level == "fine"


def test_r2_sortability_reacts():
    growing = simulate(n_variables=10, degree=2, n_samples=1000, random_state=0)
    options = {"order": growing.graph.positions, "names": growing.graph.names, "score": "linear"}
    high = {c.name: c for c in diagnose(growing.data.to_numpy(), growing.graph.edges, **options)}["R²-sortability"]
    assert high.level == "note"
    gp = simulate(n_variables=10, degree=2, sem="gp", n_samples=500, random_state=0)
    options = {"order": gp.graph.positions, "names": gp.graph.names, "score": "gp"}
    low = {c.name: c for c in diagnose(gp.data.to_numpy(), gp.graph.edges, **options)}["R²-sortability"]
    assert low.level == "fine"


def test_standardizing():
    name = "effect of standardizing"
    data = simulate(n_variables=12, degree=2, n_samples=1000, random_state=1)
    options = {"order": data.graph.positions, "names": data.graph.names, "score": "linear"}
    found = {c.name: c for c in diagnose(data.data.to_numpy(), data.graph.edges, **options)}
    assert found[name].level == "warning"
    assert found[name].value > 0
    values = chain()
    values /= values.std(axis=0)
    same = check(name, values, score="linear")
    assert (same.level, same.value) == ("fine", 0.0)
    assert check(name, chain(), score="nongaussian").value == 0.0
    assert check(name, chain(), score="gp", noise="equal").level == "note"
    assert check(name, chain(), score=None).value is None


def test_normality():
    name = "residual normality"
    assert check(name, chain(), score="linear").level == "fine"
    uniform = check(name, chain(draw="uniform"), score="linear")
    assert (uniform.level, uniform.value) == ("note", 3.0)
    assert check(name, chain(draw="uniform"), score="nongaussian").level == "fine"
    assert check(name, chain(), score="nongaussian").level == "warning"
    assert "'linear-any' could" in check(name, chain(draw="uniform"), score="sparse-linear").sentence
    assert "overstated" in check(name, chain(draw="uniform"), score="gp").sentence
    any_shape = check(name, chain(draw="uniform"), score="location-scale")
    assert (any_shape.level, any_shape.value) == ("fine", 3.0)
    assert "'nongaussian'" not in any_shape.sentence
    assert check(name, chain(n=15), score="linear").value is None


def test_equal_variances():
    name = "equal noise variances"
    assert check(name, chain(), score="linear").level == "fine"
    unequal = check(name, chain(noise=(1, 3, 1)), score="linear")
    assert unequal.level == "warning"
    assert unequal.value == pytest.approx(9, rel=0.2)
    assert check(name, chain(noise=(1, 3, 1)), score="nongaussian").level == "fine"
    assert check(name, chain(noise=(1, 3, 1)), score="gp", noise="equal").level == "warning"


def test_nonlinearity():
    name = "nonlinearity"
    assert check(name, chain(), score="linear").level == "fine"
    bent = check(name, chain(bend=0.3), score="linear")
    assert (bent.level, bent.value) == ("warning", 2.0)
    assert check(name, chain(bend=0.3), score="gp").level == "fine"
    followed = check(name, chain(bend=0.3), score="location-scale")
    assert (followed.level, followed.value) == ("fine", 2.0)
    assert "straight line" not in followed.sentence
    assert check(name, chain(), score="gp").level == "warning"
    assert check(name, chain(), edges=np.zeros((3, 3), bool), score="linear").value is None


def with_site(bend: float, seed: int = 0) -> CheckContext:
    """A category that shifts b, beside a chain whose curves are bent."""
    values = chain(bend=bend, seed=seed)
    site = np.random.default_rng(seed).integers(3, size=len(values)).astype(float)
    values[:, 1:] += 3 * (site == 1)[:, None]
    columns = np.column_stack([values, site])
    kinds = (NUMBER, NUMBER, NUMBER, ColumnKind("categorical", (0.0, 1.0, 2.0), ("x", "y", "z")))
    edges = np.zeros((4, 4), dtype=bool)
    edges[[0, 1, 3], [1, 2, 1]] = True
    table = Table(columns, (*NAMES, "site"), True, kinds=kinds)
    return CheckContext(table, edges, np.array([3, 0, 1, 2]), assumptions=Assumptions("levels"))


def test_curves_are_looked_for_beside_categories():
    """A table with one category was spared the check, and directions that a curve had turned were well supported."""
    found = next(check for check in diagnose_record(with_site(0.3), "quick").checks if check.name == "nonlinearity")
    assert (found.level, found.details["variables"]) == ("warning", ["b", "c"])
    assert "--leave-out NAME" in found.remedy
    straight = [with_site(0.0, seed) for seed in range(40)]
    fired = [np.nanmin(curvature(made.table, made.edges, [0, 1, 2])) < 0.05 for made in straight]
    assert sum(fired) <= 5  # 2 expected


def test_identifiability():
    name = "identifiability"
    assert check(name, chain(), score="sparse-linear", identifies="cpdag").level == "warning"
    assert check(name, chain(), score="sparse-linear", identifies="cpdag").details["undirected"] == ["a -> b", "b -> c"]
    collider = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=bool)
    assert check(name, chain(), collider, score="sparse-linear", identifies="cpdag").level == "fine"
    assert check(name, chain(), score="linear").level == "note"
    assert check(name, chain(), collider, score="linear").level == "fine"


def test_search():
    name = "distance to the best score known"
    values = chain()
    best = check(name, values, score="linear", search=SearchRecord(best_score=0.0)).details["the exact optimum"]
    good = check(name, values, score="linear", search=SearchRecord(best_score=best, policy_score=best, polish_gain=0.0))
    assert (good.level, good.value) == ("fine", 0.0)
    assert "is the optimum" in good.sentence
    short = check(name, values, score="linear", search=SearchRecord(best_score=best - 5, policy_score=best - 5))
    assert short.level == "warning"
    assert short.value == pytest.approx(5.0)
    assert "5.00 short of the best known" in short.sentence
    beaten = check(name, values, score="gp", search=SearchRecord(best_score=-10.0, greedy_score=-8.0))
    assert beaten.value == pytest.approx(2.0)
    unproven = check(name, values, score="gp", search=SearchRecord(best_score=-8.0, greedy_score=-9.0))
    assert "optimality is not guaranteed" in unproven.sentence
    assert check(name, values, score="gp", search=SearchRecord(best_score=-8.0, exact=True)).level == "fine"
    assert check(name, values).value is None


def test_exact_optimum_obeys_knowledge():
    values = chain()
    constraints = Knowledge(required=[("c", "a")]).over(NAMES)
    free = check("distance to the best score known", values, score="linear", search=SearchRecord(best_score=0.0))
    bound = check(
        "distance to the best score known",
        values,
        score="linear",
        search=SearchRecord(best_score=0.0),
        constraints=constraints,
    )
    assert bound.details["the exact optimum"] < free.details["the exact optimum"]


def test_weak_edges():
    name = "edges within reach of the threshold"
    assert check(name, chain(), score="linear").value == 0
    rng = np.random.default_rng(3)
    values = rng.normal(size=(1000, 3))
    spare = check(name, values, score="linear")  # neither edge of the chain is real
    assert spare.level == "warning"
    assert spare.details["weak"] == ["a -> b", "b -> c"]
    required = Knowledge(required=[("a", "b"), ("b", "c")]).over(NAMES)
    assert check(name, values, score="linear", constraints=required).details["weak"] == []
    missed = chain()
    missed[:, 2] += 0.06 * missed[:, 0]
    assert check(name, missed, score="linear").details["nearly"] == ["a -> c"]
    weights = check(name, chain(), score="linear", pruning="threshold", threshold=0.9)
    assert weights.details["weak"] == ["a -> b", "b -> c"]
    assert check(name, chain(), score="linear", pruning="threshold", threshold=0.3).details["weak"] == []
    assert check(name, values, score="gp").details["weak"] == ["a -> b", "b -> c"]
    assert check(name, values, score="gp", cutoff=1.0).details["weak"] == []


def test_stability():
    shares = np.where(CHAIN, 0.9, 0.0)
    assert stability(CHAIN, shares, NAMES).level == "fine"
    shares[0, 1] = 0.2
    turned = np.where(CHAIN | CHAIN.T, 1.0, 0.0)  # each edge may point either way
    assert stability(CHAIN, turned, NAMES).details["absent"] == []
    reversed_ = np.where(CHAIN.T, 1.0, 0.0)
    assert stability(CHAIN, reversed_, NAMES).details["absent"] == ["b -> a", "c -> b"]
    open_edges = tuple(EdgeDiagnostics(i, j, 1.0, 0.4, "rising", 0.2, source="open") for i, j in np.argwhere(CHAIN))
    found = with_shares(Diagnostics(edges=open_edges), CHAIN, reversed_, NAMES)
    assert found.checks[0].details == {"unstable": [], "absent": []}  # the direction of neither was claimed
    assert [edge.confidence for edge in found.edges] == [1.0, 1.0]
    shaky = with_shares(Diagnostics(), CHAIN, shares, NAMES).checks[0]
    assert (shaky.level, shaky.details["unstable"]) == ("warning", ["a -> b"])


@pytest.mark.parametrize("score", [*NOISES, None])
def test_every_sentence_is_plain_and_json_ready(score):
    for edges in (CHAIN, np.zeros((3, 3), bool)):
        for item in diagnose(chain(n=200), edges, ORDER, NAMES, score=score):
            document = json.loads(to_json(item))
            assert document["level"] in ("fine", "note", "warning", "not run")
            assert item.sentence.endswith(".")
            assert item.sentence[0].isupper() or item.sentence[0].isdigit()


def test_null_calibration():
    """On data that keep the assumptions, the corrected tests rarely fire."""
    fired = 0
    for seed in range(40):
        values = chain(n=300, seed=seed)
        fit = regress_on_parents(values, CHAIN)
        fired += (normality(fit.residuals) < 0.05).any()
        fired += equal_variances(fit.residuals)[1] < 0.05
        fired += (curvature(Table(values, ("a", "b", "c"), True), CHAIN) < 0.05).any()
    assert fired <= 14  # 6 expected of 120


def test_holm_is_monotone_and_bounded():
    p = np.array([0.001, 0.5, np.nan, 0.02])
    assert holm(p)[0] == pytest.approx(0.003)
    assert np.nanmax(holm(p)) <= 1


def test_mechanisms_fit_curves():
    values = chain(bend=0.3)
    straight, curved = (regress_on_parents(values, CHAIN, kind) for kind in ("linear", "additive"))
    assert curved.residuals[:, 1].var() < straight.residuals[:, 1].var()
    together = curved.residuals[:, 1] + curved.effects[0, 1]
    np.testing.assert_allclose(together, values[:, 1] - values[:, 1].mean(), atol=1e-9)
    assert 0 < curved.strength(0, 1) < 1


def test_few_rows_and_wide_tables_are_survived():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(12, 15))
    edges = np.triu(np.ones((15, 15), dtype=bool), 1)
    assert diagnose(values, edges, np.arange(15), score="linear")
    assert diagnose(values, edges, np.arange(15), score="gp")


def test_equal_noise_changes_the_assumptions():
    assert not assumptions_of("gp").equal_variances
    assert assumptions_of("gp", "equal").words.endswith("of the same variance everywhere.")


def test_chance():
    values = chain()
    chance = compare_with_chance(CHAIN, values, CHAIN, n_random=30, random_state=1)
    assert (chance.learned, chance.empty) == (0, 2)
    assert chance.random_mean > 0
    assert 0 < chance.random_as_good < 1
    assert chance == compare_with_chance(CHAIN, values, CHAIN, n_random=30, random_state=1)
    assert chance != compare_with_chance(CHAIN, values, CHAIN, n_random=30, random_state=2)
    assert chance.warning is None
    assert "a perfect answer could be luck" in chance.sentence  # three variables
    values, long = np.random.default_rng(0).normal(size=(500, 6)).cumsum(axis=1), np.eye(6, k=1, dtype=bool)
    wrong = compare_with_chance(long, values, long.T, prune=lambda order: long.T)
    assert wrong.warning.startswith("No better than chance.")
    assert "100% of 100 do at least as well" in wrong.warning
    assert compare_with_chance(long, values, long.T, n_random=5, prune=lambda order: long.T).warning is None
    assert compare_with_chance(np.zeros((6, 6), bool), values, long).warning is None
    assert compare_with_chance(long, values, np.zeros((6, 6), bool)).no_better


def test_chance_is_never_said_of_a_perfect_answer():
    for seed in range(100):
        made = simulate(n_variables=2 + seed % 4, degree=0.5, n_samples=200, random_state=seed)
        found = compare_with_chance(made.graph, made.data.to_numpy(), made.graph.edges, random_state=seed)
        assert found.learned == 0
        assert not found.no_better, seed
