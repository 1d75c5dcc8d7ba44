"""Root causes of a row and of a change: contributions along the graph."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import precede as pc
from precede.effects import explain_change, explain_row
from precede.errors import OptionError


def a_table(seed: int, n_rows: int = 60) -> tuple[pc.CausalGraph, pd.DataFrame]:
    """Four numbers and a category, with a random graph."""
    rng = np.random.default_rng(seed)
    edges = np.triu(rng.random((5, 5)) < 0.6, 1)
    names = ["a", "kind", "b", "c", "y"]
    values = rng.normal(size=(n_rows, 5))
    kind = rng.integers(0, 3, n_rows)
    for j in range(5):
        for i in np.flatnonzero(edges[:, j]):
            values[:, j] += kind * 2.0 if i == 1 else values[:, i]
    frame = pd.DataFrame(values, columns=names)
    frame["kind"] = np.array(["red", "green", "blue"])[kind]
    return pc.CausalGraph.from_matrix(edges.astype(float), names=names), frame


@given(st.integers(0, 10_000), st.integers(0, 59))
def test_contributions_to_a_row_add_up(seed: int, row: int) -> None:
    graph, frame = a_table(seed)
    found = explain_row(graph, "y", row, frame)
    assert found.observed == pytest.approx(frame["y"][row])
    assert found.expected == pytest.approx(frame["y"].mean())
    assert sum(part.value for part in found.contributions) == pytest.approx(found.observed - found.expected, abs=1e-8)


@given(st.integers(0, 10_000))
def test_contributions_to_a_change_add_up(seed: int) -> None:
    graph, frame = a_table(seed)
    found = explain_change(graph, "y", np.arange(30), np.arange(30, 60), frame)
    assert found.observed == pytest.approx(frame["y"][30:].mean())
    assert sum(part.value for part in found.contributions) == pytest.approx(found.observed - found.expected, abs=1e-8)


def test_a_deviation_is_charged_to_the_variable_that_deviates() -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=400)
    b = 2 * a + 0.5 * rng.normal(size=400)
    b[17] += 10
    y = 3 * b + 0.5 * rng.normal(size=400)
    graph = pc.CausalGraph.from_matrix(np.eye(3, k=1), names=["a", "b", "y"])
    found = explain_row(graph, "y", 17, pd.DataFrame({"a": a, "b": b, "y": y}))
    first = found.contributions[0]
    assert first.variable == "b"
    assert first.value == pytest.approx(30, abs=3)
    assert first.unusual is not None
    assert first.unusual > 8
    assert "what its causes predict" in " ".join(found.sentences)


def test_a_change_is_shared_as_the_orders_of_exchange_say() -> None:
    rng = np.random.default_rng(1)
    a = np.r_[rng.normal(size=50), rng.normal(2, 1, size=50)]
    y = np.r_[a[:50], 3 * a[50:]] + 0.1 * rng.normal(size=100)  # both a's mean and y's slope changed
    graph = pc.CausalGraph.from_matrix([[0, 1], [0, 0]], names=["a", "y"])
    before, after = np.arange(50), np.arange(50, 100)
    lines = [np.polynomial.polynomial.polyfit(a[rows], y[rows], 1) for rows in (before, after)]
    means = [a[rows].mean() for rows in (before, after)]

    def mean_of_y(changed: frozenset[str]) -> float:
        intercept, slope = lines["y" in changed]
        return float(intercept + slope * means["a" in changed])

    expected = dict.fromkeys("ay", 0.0)
    for order in permutations("ay"):
        done: frozenset[str] = frozenset()
        for name in order:
            expected[name] += (mean_of_y(done | {name}) - mean_of_y(done)) / 2
            done |= {name}
    found = explain_change(graph, "y", before, after, pd.DataFrame({"a": a, "y": y}))
    assert {part.variable: part.value for part in found.contributions} == pytest.approx(expected, abs=1e-9)


def test_more_variables_than_can_be_combined_still_add_up() -> None:
    data = pc.simulate(n_variables=14, degree=4, n_samples=200, random_state=3)
    last = data.graph.order[-1]
    found = data.graph.explain(last, data.data, before=range(100), after=range(100, 200))
    assert len(found.contributions) > 10
    assert sum(part.value for part in found.contributions) == pytest.approx(found.observed - found.expected)


def test_questions_that_cannot_be_answered_are_refused() -> None:
    graph, frame = a_table(0)
    with pytest.raises(OptionError, match="rows 0 to 59"):
        graph.explain("y", frame, row=60)
    with pytest.raises(OptionError, match=r"row=\.\.\., or both before"):
        graph.explain("y", frame, before=[1, 2])
    with pytest.raises(OptionError, match="outcome is categorical"):
        graph.explain("kind", frame, row=0)
    with pytest.raises(OptionError, match="'after' needs at least two rows"):
        graph.explain("y", frame, before=[0, 1, 2], after=[3])


def test_a_level_that_one_period_lacks_is_no_error():
    rng = np.random.default_rng(0)
    cause, level = rng.normal(size=200), np.where(np.arange(200) < 100, "x", np.where(rng.random(200) < 0.5, "y", "x"))
    data = pd.DataFrame({"a": cause, "w": level, "b": cause + 2 * (level == "y") + 0.1 * rng.normal(size=200)})
    graph = pc.CausalGraph.from_matrix([[0, 0, 1], [0, 0, 1], [0, 0, 0]], names=["a", "w", "b"])
    found = explain_change(graph, "b", np.arange(100), np.arange(100, 200), data)
    assert sum(part.value for part in found.contributions) == pytest.approx(found.observed - found.expected)
