"""Categories, 0/1 outcomes, several causes at once, curves and rows: the numbers of statsmodels and of DoWhy."""

import numpy as np
import pandas as pd
import pytest

from precede import CausalGraph
from precede.effects import Question
from precede.errors import DataError, GraphError, OptionError
from precede.evidence.sample import moments_from_json, moments_to_json, sample_of
from precede.graph.parts import Sample

EDGES = {
    "age": ["drug", "dose", "score", "bad"],
    "site": ["drug", "score", "bad"],
    "drug": ["score", "bad"],
    "dose": ["score", "bad"],
    "score": [],
    "bad": [],
}
NAMES = list(EDGES)
GRAPH = CausalGraph.from_matrix([[int(effect in EDGES[cause]) for effect in NAMES] for cause in NAMES], names=NAMES)


def table() -> pd.DataFrame:
    """A fixed table, without chance."""
    k = np.arange(120)
    age = (k * 37 % 101) / 10.0
    site = np.array(["n", "s", "w"])[(k * 7 + k // 5) % 3]
    drug = np.array(["A", "B", "C"])[((k * 11) // 4 + (age > 5) + (site == "s")) % 3]
    dose = np.round((k * 53 % 97) / 20.0 + 0.3 * age, 4)
    score = 0.4 * age + 1.5 * (drug == "B") - 0.7 * (drug == "C") + 0.5 * (site == "w") + 0.2 * dose
    score = np.round(score + ((k * 29 % 61) - 30) / 20.0, 4)
    bad = ((score + ((k * 17) % 23) / 8.0) > 4.6).astype(int)
    return pd.DataFrame({"age": age, "site": site, "drug": drug, "dose": dose, "score": score, "bad": bad})


def test_a_category_is_compared_level_by_level_as_statsmodels_does() -> None:
    """statsmodels 0.15: ols("score ~ C(drug) + age + C(site) + dose").fit(cov_type="HC3", use_t=True)."""
    found = GRAPH.effect("drug", "score", table(), compared=("A", "B"))
    assert found.value == pytest.approx(1.4858576218449453, abs=1e-6)
    assert found.standard_error == pytest.approx(0.2071602979369653, abs=1e-6)
    # statsmodels: (1.0754357083300432, 1.8962795353598474), by the degrees of freedom of equal noise
    assert found.interval == pytest.approx((1.0667152924712269, 1.9049999512186753), abs=1e-6)
    assert set(found.adjusted_for) == {"age", "site", "dose"}
    other = GRAPH.effect("drug", "score", table(), compared=("B", "C"))
    assert (other.value, other.standard_error) == pytest.approx((-1.92009551, 0.20565075), abs=1e-6)
    assert found.sentence.startswith("drug = B instead of A changes score by 1.486")


def test_a_risk_and_its_ratio_are_those_of_statsmodels() -> None:
    """The same regression of ``bad``; the risks are means of its predictions with every row's drug set."""
    found = GRAPH.effect("drug", "bad", table(), compared=("A", "B"))
    assert (found.value, found.standard_error) == pytest.approx((0.310857177074786, 0.09628049440797098), abs=1e-6)
    assert found.risks == pytest.approx((0.35192324321038104, 0.662780420285167), abs=1e-6)
    assert found.ratio == pytest.approx(1.8833095939871025, abs=1e-6)
    assert found.ratio_interval[0] < found.ratio < found.ratio_interval[1]
    assert "raises the risk of bad = 1 by 31.1 points" in found.sentence
    assert "1.88 times the risk" in found.sentence
    lower = GRAPH.effect("drug", "bad", table(), compared=("B", "A"))
    assert "lowers the risk of bad = 1 by 31.1 points in total (95% interval 11.5 to 50.6; 0.531" in lower.sentence
    dose = GRAPH.effect("dose", "bad", table())
    assert (dose.value, dose.standard_error) == pytest.approx((0.035537955672137765, 0.028076365109168687), abs=1e-6)


def test_a_risk_is_that_of_dowhy() -> None:
    """DoWhy 0.14, backdoor.linear_regression of ``drug = B``, levels as columns of 0 and 1, without the dose."""
    names = [name for name in NAMES if name not in ("dose", "score")]
    edges = [[int(effect in EDGES[cause]) for effect in names] for cause in names]
    found = CausalGraph.from_matrix(edges, names=names).effect("drug", "bad", table()[names], compared=("A", "B"))
    assert found.value == pytest.approx(0.3262672147525359, abs=1e-6)


def test_root_causes_are_those_of_dowhy() -> None:
    """DoWhy 0.14 gcm, linear mechanisms, noise drawn as it is: mean deviation of a row, change of the mean."""
    k = np.arange(120)
    x = (k * 37 % 101) / 10.0
    z = np.round(0.8 * x + ((k * 29 % 61) - 30) / 20, 4)
    y = np.round(0.5 * x - 1.2 * z + ((k * 53 % 97) - 48) / 30, 4)
    frame = pd.DataFrame({"x": x, "z": z, "y": y})
    graph = CausalGraph.from_matrix([[0, 1, 1], [0, 0, 1], [0, 0, 0]], names=["x", "z", "y"])
    found = {part.variable: part.value for part in graph.explain("y", frame, row=7).contributions}
    theirs = {"x": -0.3352424189622507, "z": 0.5608829709040611, "y": 1.1328761147248567}
    assert found == pytest.approx(theirs, abs=1e-6)
    after = frame.iloc[60:].copy()
    after["x"] += 1.5
    after["z"] += 0.5 * after["x"]
    after["y"] += 1 - 0.4 * after["z"]
    frame = pd.concat([frame.iloc[:60], after], ignore_index=True)
    change = graph.explain("y", frame, before=range(60), after=range(60, 120))
    theirs = {"x": -1.0107027863697264, "z": -2.12670691742858, "y": 1.3639097037983063}
    assert {part.variable: part.value for part in change.contributions} == pytest.approx(theirs, abs=1e-6)


def test_levels_against_the_most_frequent_one() -> None:
    frame = table()
    usual = frame["drug"].value_counts().index[0]
    found = [one.answer() for one in Question(GRAPH, "drug", "score", frame).by_level()]
    assert {one.compared for one in found} == {(usual, level) for level in "ABC" if level != usual}
    assert len(Question(GRAPH, "dose", "score", frame).by_level()) == 1


def test_a_categorical_outcome_is_asked_for_by_level() -> None:
    frame = table()
    values = [GRAPH.effect("age", "drug", frame, outcome_level=level).value for level in "ABC"]
    assert sum(values) == pytest.approx(0.0, abs=1e-9)
    assert abs(values[1]) > 0.001
    with pytest.raises(OptionError, match=r"choose the level whose probability"):
        GRAPH.effect("age", "drug", frame)
    with pytest.raises(OptionError, match=r"drug has no level 'D'"):
        GRAPH.effect("age", "drug", frame, outcome_level="D")
    with pytest.raises(OptionError, match="score has no levels"):
        GRAPH.effect("age", "score", frame, outcome_level="1")


def test_two_values_of_a_number_are_compared() -> None:
    frame = table()
    unit = GRAPH.effect("dose", "score", frame)
    ten = GRAPH.effect("dose", "score", frame, compared=(2, 12))
    assert ten.value == pytest.approx(10 * unit.value)
    with pytest.raises(OptionError, match="it is a number"):
        GRAPH.effect("dose", "score", frame, compared=("low", 12))
    with pytest.raises(OptionError, match="give two states"):
        GRAPH.effect("dose", "score", frame, compared=(1, 2, 3))


def test_a_category_without_levels_to_compare_is_refused_and_others_are_not() -> None:
    with pytest.raises(OptionError, match=r"choose two levels to compare, as compared=\('n', 's'\)"):
        GRAPH.effect("site", "score", table())
    assert GRAPH.effect("dose", "score", table()).value > 0
    assert GRAPH.effect("age", "score", table()).adjusted_for == ("site",)


def test_several_causes_at_once_are_one_regression() -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(size=500)
    a = z + rng.normal(size=500)
    m = a + rng.normal(size=500)
    b = m + rng.normal(size=500)
    y = 0.5 * a + 2 * b + z + rng.normal(size=500)
    rows = np.column_stack([z, a, m, b, y])
    edges = np.zeros((5, 5))
    edges[[0, 0, 1, 2, 1, 3], [1, 4, 2, 3, 4, 4]] = 1
    graph = CausalGraph.from_matrix(edges, names=list("zambY".lower()))
    found = graph.effect("a", "y", rows, together=["b"])
    design = np.column_stack([a, b, z, np.ones(500)])
    assert found.value == pytest.approx(np.linalg.lstsq(design, y, rcond=None)[0][0], abs=1e-9)
    assert graph.effect("a", "y", rows).value > 2  # alone, also through b
    assert "while b is held where set" in found.sentence
    assert graph.effect("m", "y", rows, together=["b"]).value == 0
    edges[2, 4] = 1  # m now confounds b and y, and is an effect of a
    with pytest.raises(GraphError, match="ask for one cause at a time"):
        CausalGraph.from_matrix(edges, names=list("zamby")).effect("a", "y", rows, together=["b"])
    with pytest.raises(OptionError, match="asks for a total effect"):
        graph.effect("a", "y", rows, kind="direct", together=["b"])
    with pytest.raises(OptionError, match="both set and looked at"):
        graph.effect("a", "y", rows, together=["y"])


def test_the_curve_of_a_straight_effect_is_straight_and_a_bent_one_bent() -> None:
    rng = np.random.default_rng(0)
    x, z = rng.uniform(-2, 2, (2, 800))
    rows = np.column_stack([x, z, np.sin(x) + z**2 + 0.1 * rng.normal(size=800)])
    graph = CausalGraph.from_matrix([[0, 0, 1], [0, 0, 1], [0, 0, 0]], names=["x", "z", "y"])
    found = graph.effect_curve("x", "y", rows)
    truth = np.sin(found.points) - np.sin(x).mean()
    assert np.abs(found.values - truth).max() < 0.1
    assert (found.low < found.values).all()
    assert found.adjusted_for == ("z",)
    assert graph.effect_curve("y", "x", rows).values.tolist() == [0.0] * 41
    with pytest.raises(OptionError, match="compare two of them"):
        GRAPH.effect_curve("drug", "score", table())
    with pytest.raises(DataError, match="a curve needs rows"):
        graph.effect_curve("x", "y", Sample(9, np.zeros(3), np.eye(3)))


def test_what_if_takes_levels_and_carries_them_through_categories() -> None:
    frame = table()
    found = GRAPH.do({"drug": "B"}, frame, mechanism="linear")
    gain = GRAPH.effect("drug", "score", frame, compared=("A", "B"), kind="direct").value
    on_a = (frame["drug"] == "A").to_numpy()
    change = (found.sample["score"] - found.observed["score"]).to_numpy()
    assert change[on_a] == pytest.approx(np.full(on_a.sum(), gain), abs=1e-8)
    assert (found.sample["drug = B"] == 1).all()
    through = GRAPH.do({"age": lambda age: age + 1}, frame, mechanism="linear")
    assert abs(through.summary.loc["drug = B", "change"]) > 0.001
    one = GRAPH.do({"drug": "B"}, frame, row=4)
    assert len(one.sample) == 1
    assert one.sentence.startswith("Row 4 with drug = B: score ")
    with pytest.raises(OptionError, match="there is no row 120"):
        GRAPH.do({"drug": "B"}, frame, row=120)
    with pytest.raises(OptionError, match="has no level 'Z'"):
        GRAPH.do({"drug": "Z"}, frame)
    with pytest.raises(OptionError, match="set it to one of 'A', 'B', 'C'"):
        GRAPH.do({"drug": lambda values: values}, frame)


def test_levels_survive_the_file_of_moments() -> None:
    from precede import load_table

    own = load_table(table())
    sample = sample_of(own.values, own.kinds)
    again = moments_from_json(moments_to_json(sample, own.names))
    assert again.levels == sample.levels
    found = [GRAPH.effect("drug", "bad", one, compared=("A", "B")) for one in (sample, again)]
    assert found[0].value == pytest.approx(found[1].value, abs=1e-9)
    assert found[0].ratio == pytest.approx(found[1].ratio, abs=1e-9)
