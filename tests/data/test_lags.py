"""Time series: columns of earlier steps, the constraints of time, window and summary graphs, panels."""

import re

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from precede import CausalGraph
from precede.baselines import EqVar
from precede.cli import app
from precede.corl import CORL
from precede.data.lags import with_lags
from precede.data.load import load_table
from precede.errors import DataError, GraphError, KnowledgeError, OptionError
from precede.evidence.confidence import Confidence
from precede.evidence.confidence.resampling import draw_rows
from precede.evidence.falsification import independences
from precede.knowledge import Constraints, Knowledge

QUICK = {"n_iterations": 2, "batch_size": 4, "random_state": 0, "verbose": False, "diagnose": False}
QUICK |= {"score": "sparse-linear"}


def series(n=2000, seed=0):
    """a causes itself and, a step later, b; b causes c at once."""
    rng = np.random.default_rng(seed)
    values = np.zeros((n, 3))
    for t in range(1, n):
        a = 0.7 * values[t - 1, 0] + rng.normal()
        b = 0.8 * values[t - 1, 0] + rng.normal()
        values[t] = a, b, 0.9 * b + rng.normal()
    return pd.DataFrame(values, columns=["a", "b", "c"])


def test_earlier_rows_stand_beside_each_row():
    table = load_table(series(50), lags=2)
    assert table.names == ("a", "b", "c", "a[t-1]", "b[t-1]", "c[t-1]", "a[t-2]", "b[t-2]", "c[t-2]")
    assert table.steps == (0, 0, 0, 1, 1, 1, 2, 2, 2)
    np.testing.assert_array_equal(table.values[0, :6], series(50).to_numpy()[[2, 1]].ravel())
    assert table.n_samples == 48
    assert "Columns of 2 earlier steps were added (48 of 50 rows have them)" in table.remarks[-1]


def test_steps_do_not_cross_groups():
    frame = series(60).assign(who=["x"] * 25 + ["y"] * 35)
    table = load_table(frame, lags=2, group="who")
    assert table.n_samples == 60 - 4
    assert "who" not in table.names
    first_of_y = table.values[23]
    np.testing.assert_array_equal(first_of_y[[0, 3, 6]], frame["a"].to_numpy()[[27, 26, 25]])


def test_time_constrains():
    steps = (0, 0, 1, 1)
    constraints = Constraints.none(4).in_time(steps, "abcd")
    assert not constraints.allowed[:, 2:].any()
    assert constraints.allowed[2:, :2].all()
    assert constraints.before[2, 0]
    assert constraints.in_time(None, "abcd") is constraints


@pytest.mark.parametrize(
    ("knowledge", "words"),
    [
        (Knowledge(required=[("a", "b[t-1]")]), "the required edge 'a' -> 'b[t-1]' leads back in time"),
        (Knowledge(required=[("a[t-1]", "b[t-2]")]), "the required edge 'a[t-1]' -> 'b[t-2]' leads back in time"),
        (
            Knowledge(required=[("a[t-1]", "b[t-1]")]),
            "the required edge 'a[t-1]' -> 'b[t-1]' is about the past, whose causes are not learned: require it of the "
            "present",
        ),
        (Knowledge(required=[("a[t-2]", "b[t-1]")]), "'a[t-2]' -> 'b[t-1]' is about the past"),
        (
            Knowledge(tiers=[["b"], ["a[t-1]"]]),
            "the tiers place 'b' before 'a[t-1]', which is of an earlier step: time orders the steps by itself, so "
            "name columns of one step only",
        ),
        (Knowledge(tiers=[["a*"], ["b*"]]), "the tiers place 'a' before 'b[t-1]'"),
    ],
)
def test_knowledge_against_time_is_refused_by_name(knowledge, words):
    with pytest.raises(KnowledgeError, match=re.escape(words)):
        CORL(knowledge=knowledge, **QUICK).fit(series(60), lags=2)


def test_roots_and_sinks_keep_to_their_step():
    frame = series(300)
    known = Knowledge(roots=["b"], sinks=["a[t-1]"], tiers=[["b"], ["c"]], required=[("b[t-1]", "c")])
    edges = CORL(knowledge=known, **QUICK).fit(frame, lags=1).graph_.adjacency
    assert not edges["b"].any()  # though its cause is in the data
    assert not edges.loc["a[t-1]"].any()
    assert edges.loc["b", "c"]
    assert edges.loc["b[t-1]", "c"]
    assert not CORL(**QUICK).fit(frame, lags=1).graph_.adjacency.equals(edges)


def test_window_and_summary_graph():
    frame = series()
    before = frame.copy()
    model = CORL(**QUICK).fit(frame, lags=2)
    pd.testing.assert_frame_equal(frame, before)
    edges = {(i, j) for i, j, _ in model.graph_.edge_list()}
    assert {("a[t-1]", "a"), ("a[t-1]", "b")} <= edges
    assert ("b", "c") in edges or ("c", "b") in edges
    assert len(edges) == 3
    assert model.cpdag_.loc["a", "a[t-1]"] == 0  # time tells
    assert model.summary_graph_.loc["a"].tolist() == [1, 1, 0]
    assert list(model.summary_graph_) == ["a", "b", "c"]
    assert model.weights_.loc["a[t-1]", "b"] == pytest.approx(0.8, abs=0.1)
    plain = CORL(**QUICK).fit(frame)
    pd.testing.assert_frame_equal(plain.summary_graph_, plain.graph_.adjacency)


def test_shuffled_columns_and_knowledge():
    frame = series()
    model = CORL(knowledge=Knowledge(forbidden=[("c", "b")]), **QUICK).fit(frame[["c", "a", "b"]], lags=1)
    edges = {(i, j) for i, j, _ in model.graph_.edge_list()}
    assert edges == {("a[t-1]", "a"), ("a[t-1]", "b"), ("b", "c")}
    assert model.summary_graph_.loc["b", "c"] == 1


def test_resamples_keep_the_steps_and_draw_blocks(monkeypatch):
    blocks = []

    def draw(n, block, rng):
        blocks.append(block)
        return draw_rows(n, block, rng)

    monkeypatch.setattr("precede.evidence.confidence.resampling.draw_rows", draw)
    table = load_table(series(300), lags=1)
    assert table.with_rows(np.arange(5), np.random.default_rng(0)).steps == table.steps
    found = CORL(**QUICK).bootstrap(table, n_resamples=4, random_state=0)
    assert found.edge_probability.loc["a[t-1]", "a"] == 1
    assert set(blocks) == {13}  # twice the cube root of the rows


@pytest.mark.parametrize("score", ["sparse-linear", "nongaussian"])
def test_quick_confidences_draw_blocks_too(monkeypatch, score):
    blocks = []

    def draw(n, block, rng):
        blocks.append(block)
        return draw_rows(n, block, rng)

    monkeypatch.setattr("precede.evidence.confidence.resampling.draw_rows", draw)
    model = CORL(**(QUICK | {"score": score, "diagnose": True})).fit(series(300), lags=1)
    assert model.diagnostics_.has_confidence
    assert len(blocks) >= 20
    assert set(blocks) == {13}


def test_gaps_are_filled_after_the_steps_are_taken():
    frame = series(400)
    frame.iloc[10, 0] = np.nan
    table = load_table(frame, lags=1)
    assert table.gaps.mask.sum() == 2
    assert np.isfinite(table.values).all()


@pytest.mark.parametrize("lags", [1, 2, 3])
def test_steps_do_not_cross_dropped_rows(tmp_path, lags):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"s": np.arange(1.0, 61) + 1e-3 * rng.normal(size=60), "y": rng.normal(size=60)})
    frame.loc[10:14, "y"] = frame.loc[[30, 33], "s"] = np.nan
    frame.to_csv(tmp_path / "data.csv", index=False)
    beside = pd.concat([frame.shift(lag) for lag in range(lags + 1)], axis=1)  # first the steps, then the rows
    dropped = load_table(frame, missing="drop")
    for table in (
        load_table(frame, missing="drop", lags=lags),
        load_table(tmp_path / "data.csv", missing="drop", lags=lags),
        load_table(dropped, lags=lags),
    ):
        np.testing.assert_array_equal(table.values, beside.dropna().to_numpy())
        assert "7 of 60 rows were dropped for missing values in columns 's' (2), 'y' (5)." in table.remarks
        assert f"({table.n_samples} of 53 rows have them)" in table.remarks[-1]
        np.testing.assert_array_equal(table.rows, beside.dropna().index)


def test_steps_cross_neither_holes_nor_groups():
    frame = series(60).assign(who=["x"] * 25 + ["y"] * 35)
    frame.loc[[0, 40], "a"] = np.nan
    table = load_table(frame, missing="drop", lags=1, group="who")
    assert table.n_samples == 60 - 2 - 3
    np.testing.assert_array_equal(np.setdiff1d(np.arange(60), table.rows), [0, 1, 25, 40, 41])


def test_lags_that_cannot_be():
    with pytest.raises(OptionError, match="lags=-1 cannot be used"):
        with_lags(load_table(series(30)), -1)
    with pytest.raises(DataError, match="no row has 40 rows before it"):
        load_table(series(30), lags=40)
    with pytest.raises(DataError, match=r"more than one column is named 'a\[t-1\]'"):
        load_table(series(30).rename(columns={"b": "a[t-1]"}), lags=1)
    every_other = series(60)
    every_other.loc[::2, "a"] = np.nan
    with pytest.raises(DataError, match="no row has 1 rows before it among those that were not dropped"):
        load_table(every_other, missing="drop", lags=1)
    with pytest.raises(OptionError, match="group is for rows in sequence"):
        load_table(series(30).assign(g=1), group="g")
    with pytest.raises(DataError, match="group names 'g', which is not a column"):
        load_table(series(30), lags=1, group="g")
    with pytest.raises(OptionError, match=r"this method \(EqVar\) does not take lags"):
        EqVar(verbose=False).fit(series(50), lags=1)


def test_no_independence_is_claimed_among_columns_of_the_past():
    model = CORL(**{**QUICK, "diagnose": "quick"}).fit(series(1000), lags=1)
    check = next(check for check in model.diagnostics_.checks if check.name == "independences against chance")
    assert check.details["violated"] < 0.2  # columns of the past depend on each other
    assert all(v < 3 for v, _, _ in independences(model.graph_.edges, model.graph_.past))


def test_effects_of_the_past_hold_the_rest_of_it_fixed():
    """What caused the past is not learned: its columns are joined, and an empty set leaves their back door open."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(2000, 2))
    values = np.zeros((2000, 2))
    for t in range(1, 2000):
        values[t] = values[t - 1] @ [[0.8, 0.8], [0.0, 0.6]] + noise[t]
    model = CORL(**QUICK).fit(pd.DataFrame(values, columns=["x", "y"]), lags=1)
    graph = model.graph_
    assert graph.adjustment_sets("x[t-1]", "y") == [("y[t-1]",)]
    assert not graph.is_adjustment_set("x[t-1]", "y", [])
    resampled = Confidence.of(graph.names, [graph.edges] * 2, [graph.positions] * 2)
    for one in (graph, CausalGraph.from_json(graph.to_json())):
        for adjustment in ("optimal", "minimal", "parents"):
            for confidence in (None, resampled):
                options = {"adjustment": adjustment, "confidence": confidence, "data": model.graph_.sample}
                assert one.effect("x[t-1]", "y", **options).value == pytest.approx(0.8, abs=0.06)
        with pytest.raises(GraphError, match="does not give the total effect"):
            one.effect("x[t-1]", "y", model.graph_.sample, adjustment=[])
        possible = one.possible_effects("x[t-1]", "y", model.graph_.sample)
        assert possible.values == pytest.approx([0.8], abs=0.06)
        assert "No effect at all" not in possible.sentence


def test_auto_takes_the_steps_that_help(tmp_path):
    rng = np.random.default_rng(3)
    noise = rng.normal(size=(300, 3))
    moving = noise.copy()
    for t in range(2, len(moving)):
        moving[t, 1] += 0.7 * moving[t - 2, 0]
    frame = pd.DataFrame(moving, columns=list("abc"))
    table = load_table(frame, lags="auto")
    assert table.steps == load_table(frame, lags=2).steps
    still = load_table(pd.DataFrame(noise, columns=list("abc")), lags="auto")
    assert still.steps is None
    assert "no lags were added" in still.remarks[-1]
    path = tmp_path / "series.csv"
    frame.to_csv(path, index=False)
    shown = CliRunner().invoke(app, ["discover", str(path), "--lags", "auto", "--no-stability"])
    assert "a[t-2] → b" in shown.stdout, shown.output
    refused = CliRunner().invoke(app, ["discover", str(path), "--lags", "many"])
    assert refused.exit_code == 2
    assert "--lags many cannot be used" in refused.output


def test_auto_keeps_to_the_groups():
    frame = pd.concat([series(60).assign(who=k) for k in range(3)])
    table = load_table(frame, lags="auto", group="who")
    assert "who" not in table.names
