"""What-if questions: exact for linear models, close for curves, and nothing moves that should not."""

import numpy as np
import pandas as pd
import pytest

from precede import CausalGraph, baselines, simulate
from precede.effects import path_effects
from precede.errors import DataError, OptionError
from precede.graph.parts import Sample


def test_a_linear_shift_changes_everything_by_the_total_effect() -> None:
    data = simulate(n_variables=6, degree=2, n_samples=400, random_state=0)
    graph = baselines.EqVar(pruning="none", verbose=False).fit(data.data).graph_
    totals = path_effects(graph)
    cause = graph.order[1]
    answer = graph.do({cause: lambda values: values + 2.0}, mechanism="linear")
    for name in graph.names:
        expected = 2.0 if name == cause else 2.0 * totals.loc[cause, name]
        change = (answer.sample[name] - answer.observed[name]).to_numpy()
        assert change == pytest.approx(np.full(len(change), expected), abs=1e-8)


def test_curves_are_followed_and_the_rest_stays() -> None:
    rng = np.random.default_rng(0)
    x, other = rng.uniform(-2, 2, 1500), rng.normal(size=1500)
    y = x**2 + 0.3 * other + 0.1 * rng.normal(size=1500)
    frame = pd.DataFrame({"x": x, "other": other, "y": y, "z": np.sin(y) + 0.1 * rng.normal(size=1500)})
    graph = CausalGraph.from_matrix([[0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]], names=list(frame))
    answer = graph.do({"x": 1.5}, frame)
    assert answer.sample["y"].mean() == pytest.approx(2.25, abs=0.05)
    assert answer.sample["z"].mean() == pytest.approx(np.sin(2.25 + 0.3 * other).mean(), abs=0.05)
    assert (answer.sample["other"] == frame["other"]).all()
    assert answer.remarks == ()
    assert answer.summary.loc["y", "mean if set"] == pytest.approx(answer.sample["y"].mean())
    assert "With x = 1.5" in answer.sentence
    assert (frame["x"] == x).all()


def test_outside_of_what_was_seen_comes_a_caution() -> None:
    data = simulate(n_variables=3, degree=1, n_samples=200, random_state=0)
    graph = data.graph
    answer = graph.do({graph.order[0]: 1e3}, data.data)
    assert "is a guess" in answer.remarks[0]
    assert np.isfinite(answer.sample.to_numpy()).all()


def test_setting_a_sink_changes_nothing_else() -> None:
    data = simulate(n_variables=4, degree=1, n_samples=200, random_state=0)
    sink = data.graph.order[-1]
    answer = data.graph.do({sink: 0.0}, data.data)
    assert "nothing else changes" in answer.sentence


def test_refusals() -> None:
    graph = CausalGraph.from_matrix([[0, 1], [0, 0]])
    rows = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.raises(OptionError, match="nothing is set"):
        graph.do({}, rows)
    with pytest.raises(OptionError, match="must be finite"):
        graph.do({0: float("nan")}, rows)
    with pytest.raises(OptionError, match="give a number"):
        graph.do({0: "high"}, rows)
    with pytest.raises(OptionError, match="did you mean 'linear'"):
        graph.do({0: 1.0}, rows, mechanism="lineal")
    with pytest.raises(DataError, match="need rows"):
        graph.do({0: 1.0}, Sample(10, np.zeros(2), np.eye(2)))
