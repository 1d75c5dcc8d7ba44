"""The causes of a named outcome."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import precede as pc
from precede.cli import app
from precede.effects import causes_of

runner = CliRunner()


def fork() -> tuple[pc.CausalGraph, pd.DataFrame]:
    """Age drives dose and pain, dose drives pain, pain drives sleep; mood only follows age."""
    rng = np.random.default_rng(0)
    age = rng.normal(size=2000)
    dose = age + rng.normal(size=2000)
    pain = 2 * dose - age + rng.normal(size=2000)
    sleep = -pain + rng.normal(size=2000)
    mood = 2 * age + rng.normal(size=2000)
    frame = pd.DataFrame({"age": age, "dose": dose, "pain": pain, "sleep": sleep, "mood": mood})
    edges = pd.DataFrame(0, index=frame.columns, columns=frame.columns)
    for cause, effect in (("age", "dose"), ("age", "pain"), ("dose", "pain"), ("pain", "sleep"), ("age", "mood")):
        edges.loc[cause, effect] = 1
    return pc.CausalGraph.from_matrix(edges.to_numpy(), names=list(frame.columns)), frame


def test_causes_are_ranked_by_total_effect_and_the_rest_is_called_correlated() -> None:
    graph, frame = fork()
    found = causes_of(graph, "pain", frame)
    assert [cause.variable for cause in found.causes] == ["dose", "age"]
    dose, age = found.causes
    assert dose.effect is not None
    assert dose.effect.interval[0] < 2 < dose.effect.interval[1]
    assert dose.standardized == pytest.approx(2 * frame["dose"].std() / frame["pain"].std(), rel=0.05)
    assert (dose.direct, dose.through) == (True, ())
    assert (age.direct, age.through) == (True, ("dose",))
    assert [name for name, _ in found.correlated][:1] == ["sleep"]
    assert "mood" in dict(found.correlated)
    text = " ".join(found.sentences)
    assert "directly and through" in text
    assert "no cause of it" in text
    assert list(found.table["cause"]) == ["dose", "age"]


def test_open_directions_give_possible_causes_with_a_range() -> None:
    rng = np.random.default_rng(1)
    a = rng.normal(size=500)
    frame = pd.DataFrame({"a": a, "b": a + rng.normal(size=500)})
    graph = pc.CausalGraph.from_matrix([[0, 1], [0, 0]], names=["a", "b"])
    (possible,) = causes_of(graph, "a", frame, open_directions=True).causes
    assert possible.variable == "b"
    assert not possible.certain
    assert possible.effect is not None
    assert possible.effect.interval[0] <= 0 < possible.effect.interval[1]
    assert "depending on the open directions" in possible.sentence
    assert causes_of(graph, "a", frame).causes == ()


@given(st.integers(0, 1000))
def test_the_causes_of_a_settled_graph_are_its_ancestors(seed: int) -> None:
    data = pc.simulate(n_variables=5, degree=2, n_samples=100, random_state=seed)
    outcome = data.graph.order[-1]
    found = causes_of(data.graph, outcome, data.data)
    assert {cause.variable for cause in found.causes} == set(data.graph.ancestors(outcome))


def test_a_cause_whose_effect_hidden_causes_may_fake_is_named_without_a_number() -> None:
    rng = np.random.default_rng(0)
    hidden, a, d = rng.normal(size=(3, 3000))
    b, c = (x + hidden + 0.5 * rng.normal(size=3000) for x in (a, d))
    frame = pd.DataFrame({"a": a, "b": b, "c": c, "e": b + c + 0.5 * rng.normal(size=3000)})
    marks = pc.MixedGraph.from_edges([("a", "b", "o->"), ("b", "e", "o->"), ("c", "e", "o->")], list("abce"))
    graph = pc.CausalGraph.from_matrix(
        np.array([[0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]]), names=list("abce")
    )
    found = causes_of(replace(graph, pag=marks), "e", frame)
    assert {cause.variable for cause in found.causes} == {"a", "b", "c"}
    assert not any(cause.certain for cause in found.causes)
    assert any("cannot be estimated" in sentence for sentence in found.sentences)


def test_an_edge_that_was_left_open_makes_a_possible_cause() -> None:
    graph, frame = fork()
    loose = np.zeros((5, 5), dtype=bool)
    loose[graph.position("age"), graph.position("mood")] = True
    (possible,) = causes_of(replace(graph, open_directions=loose), "age", frame).causes
    assert (possible.variable, possible.certain) == ("mood", False)
    assert causes_of(graph, "age", frame).causes == ()


def test_the_weakest_edge_of_the_surest_way() -> None:
    graph, frame = fork()
    shares = np.zeros((5, 5))
    for cause, effect, share in (("age", "dose", 0.9), ("age", "pain", 0.3), ("dose", "pain", 0.8)):
        shares[graph.position(cause), graph.position(effect)] = share
    found = causes_of(graph, "pain", frame, shares=shares)
    assert {cause.variable: cause.weakest for cause in found.causes} == {"dose": 0.8, "age": 0.8}


def in_words() -> tuple[pc.CausalGraph, pd.DataFrame]:
    """The same with pain in three words."""
    graph, frame = fork()
    frame["pain"] = np.where(frame["pain"] > 1, "severe", np.where(frame["pain"] > -1, "some", "none"))
    return graph, frame


def test_of_an_outcome_in_words_the_level_that_changes_most_is_told() -> None:
    """It was refused, after the fit, and the graph was lost."""
    graph, frame = in_words()
    found = {cause.variable: cause for cause in causes_of(graph, "pain", frame).causes}
    assert set(found) == {"age", "dose"}
    for name, cause in found.items():
        each = [graph.effect(name, "pain", frame, outcome_level=level) for level in ("none", "some", "severe")]
        largest = max(each, key=lambda one: abs(one.value))
        assert (cause.risk_of, cause.effect.value) == (largest.outcome_level, pytest.approx(largest.value))
        assert cause.effect.interval == pytest.approx(largest.interval)
        indicator = frame.assign(pain=(frame["pain"] == cause.risk_of).astype(float))
        (alone,) = (one for one in causes_of(graph, "pain", indicator).causes if one.variable == name)
        assert cause.standardized == pytest.approx(alone.standardized)
        assert f"points of {cause.risk_of}" in cause.sentence
    correlated = dict(causes_of(graph, "pain", frame).correlated)
    assert set(correlated) == {"sleep", "mood"}
    assert min(correlated.values()) > 0.2


def test_discover_and_effect_take_an_outcome_in_words(tmp_path: Path) -> None:
    _, frame = in_words()
    frame.to_csv(tmp_path / "data.csv", index=False)
    out = str(tmp_path / "out")
    done = runner.invoke(
        app,
        [
            "discover",
            str(tmp_path / "data.csv"),
            "--outcome",
            "pain",
            "--out",
            out,
            "--tier",
            "age<dose<pain<sleep,mood",
            "--quiet",
        ],
    )
    assert done.exit_code == 0, done.output
    assert done.output.strip().startswith("Causes of pain")
    assert "points of" in " ".join((tmp_path / "out" / "report.html").read_text().split())
    done = runner.invoke(app, ["effect", out, "dose", "pain"])
    said = " ".join(done.output.split())
    assert all(f"the risk of pain = {level}" in said for level in ("none", "some", "severe"))
    done = runner.invoke(app, ["effect", out, "pain", "age"])
    assert " ".join(done.output.split()).count("no total effect") == 1
    done = runner.invoke(app, ["effect", out, "sleep", "pain"])
    assert " ".join(done.output.split()).count("no total effect") == 1


def test_ranges_of_risks_are_in_points_with_their_signs() -> None:
    graph, frame = in_words()
    frame["pain"] = frame["pain"] == "none"
    loose = np.zeros_like(graph.edges)
    loose[graph.position("age"), graph.position("dose")] = loose[graph.position("age"), graph.position("mood")] = True
    found = replace(graph, open_directions=loose).effect("dose", "pain", frame)
    assert found.range is not None
    low, high = (100 * end for end in found.interval)
    assert low < high < 0
    assert f"from {100 * found.range[0]:.3g} to {100 * found.range[1]:.3g} points" in found.sentence
    assert f"interval {low:.3g} to {high:.3g}" in found.sentence
    possible = replace(graph, open_directions=loose).possible_effects("dose", "pain", frame)
    assert "changes the risk of pain = True by between" in possible.sentence


def test_discover_begins_with_the_causes_of_the_outcome(tmp_path: Path) -> None:
    _, frame = fork()
    frame.to_csv(tmp_path / "data.csv", index=False)
    asked = ["discover", str(tmp_path / "data.csv"), "--method", "eqvar", "--quiet", "--outcome"]
    done = runner.invoke(app, [*asked, "pain"])
    assert done.exit_code == 0, done.output
    assert done.output.strip().startswith("Causes of pain")
    done = runner.invoke(app, [*asked, "pain", "--json"])
    assert {cause["variable"] for cause in json.loads(done.stdout)["outcome"]["causes"]} >= {"dose"}
    done = runner.invoke(app, [*asked, "pian"])
    assert done.exit_code == 2
    assert "did you mean 'pain'" in " ".join(done.output.split())
