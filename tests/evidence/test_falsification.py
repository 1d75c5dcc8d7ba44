"""Tests that a wrong graph fails and a right one passes."""

import numpy as np
import pandas as pd
import pytest

import precede as pc
from precede.data.load import load_table
from precede.errors import DataError, OptionError
from precede.evidence.falsification import (
    _shuffled,
    dependence_p_values,
    held_out_likelihood,
    hermite_columns,
    hermite_moments,
    independences,
    permutation_test,
    placebo_test,
)
from precede.graph.adjustment import d_separated
from precede.graph.parts import Sample


def test_p_values_are_uniform_where_nothing_depends() -> None:
    rng = np.random.default_rng(0)
    found = []
    for _ in range(150):
        x = rng.exponential(size=(200, 6))
        x[:, 5] += x[:, 0] ** 2
        found += dependence_p_values(hermite_moments(x), 200, 5, np.array([1, 2, 3, 4]), np.array([0])).tolist()
    for level in (0.01, 0.05, 0.2):
        assert np.mean(np.array(found) < level) == pytest.approx(level, abs=3.5 * np.sqrt(level / len(found)))


def test_a_curve_is_seen_and_taken_away_by_its_middle() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(600, 3))
    x[:, 1] = x[:, 0] ** 2 + 0.3 * x[:, 1]
    x[:, 2] += x[:, 1]
    moments = hermite_moments(x)
    none = np.array([], dtype=np.int64)
    assert dependence_p_values(moments, 600, 1, np.array([0]), none)[0] < 1e-10
    assert dependence_p_values(moments, 600, 2, np.array([0]), none)[0] < 1e-6
    assert dependence_p_values(moments, 600, 2, np.array([0]), np.array([1]))[0] > 0.001


def test_columns_of_two_values_have_one_direction() -> None:
    columns = hermite_columns(np.column_stack([np.tile([0.0, 1.0], 50), np.arange(100.0)]))
    assert not columns[:, 1:3].any()
    assert np.allclose(columns[:, 3:].T @ columns[:, 3:] / 100, np.eye(3), atol=1e-9)


def test_the_statements_are_separations_of_the_graph() -> None:
    rng = np.random.default_rng(2)
    for _ in range(10):
        edges = np.triu(rng.random((7, 7)) < 0.35, 1)
        for v, others, given in independences(edges):
            for u in others:
                assert d_separated(edges, v, int(u), np.isin(np.arange(7), given))


@pytest.mark.parametrize("sem", ["linear-gaussian", "lingam", "gp-additive"])
def test_true_graphs_pass_and_random_ones_fail(sem: str) -> None:
    passed = failed = 0
    for seed in range(5):
        made = pc.simulate(n_variables=8, degree=2, sem=sem, n_samples=400, random_state=seed)
        other = pc.simulate(n_variables=8, degree=2, n_samples=10, random_state=100 + seed).graph
        wrong = pc.CausalGraph.from_matrix(other.edges, names=made.graph.names)
        right = permutation_test(made.graph, made.data, n_permutations=39)
        assert right.p_value >= 1 / 40
        passed += not right.falsified
        failed += permutation_test(wrong, made.data, n_permutations=39).falsified
    assert passed == 5
    assert failed >= 4


def test_words_and_the_graph_that_claims_nothing() -> None:
    made = pc.simulate(n_variables=8, degree=1, n_samples=400, random_state=0)
    found = permutation_test(made.graph, made.data)
    assert "confirms no direction" in found.sentence
    assert "no better" not in found.sentence
    full = pc.CausalGraph.from_matrix(np.triu(np.ones((4, 4)), 1))
    none = permutation_test(full, made.data.iloc[:, :4].to_numpy())
    assert none.n_tests == 0
    assert "claims no independence" in none.sentence
    assert permutation_test(made.graph, made.data, random_state=3) == permutation_test(
        made.graph, made.data, random_state=3
    )


def test_checks_of_a_time_series_ask_nothing_of_the_past() -> None:
    rng = np.random.default_rng(0)
    x = np.zeros((800, 3))
    for t in range(1, len(x)):
        noise = rng.uniform(-1, 1, 3)
        x[t, 0] = 0.7 * x[t - 1, 0] + noise[0]
        x[t, 1] = 0.6 * x[t - 1, 1] + 0.8 * x[t - 1, 0] + noise[1]
        x[t, 2] = 0.5 * x[t - 1, 2] + 0.8 * x[t, 1] + noise[2]
    model = pc.CORL(score="nongaussian", random_state=0, verbose=False).fit(
        pd.DataFrame(x, columns=list("abc")), lags=1
    )
    said = {check.name: check for check in model.diagnostics_.checks}
    assert "and no less than" in said["held-out likelihood"].sentence
    assert "of 3 variables" in said["residual normality"].sentence
    equal = said["equal noise variances"]  # the columns of the past vary more than the noise does
    assert equal.value == pytest.approx(1, abs=0.2)
    assert "[t-1]" not in equal.sentence


def test_held_out_rows_prefer_the_true_graph() -> None:
    made = pc.simulate(n_variables=8, degree=2, sem="gp-additive", n_samples=400, random_state=0)
    found = held_out_likelihood(made.graph, made.data)
    assert found.graph > found.empty + 1
    assert found.graph >= found.full - 0.02 * (found.graph - found.empty)
    assert "and no less than" in found.sentence
    edges = made.graph.edges.copy()
    edges[tuple(np.argwhere(edges)[0])] = False
    fewer = held_out_likelihood(pc.CausalGraph.from_matrix(edges, names=made.graph.names), made.data)
    assert fewer.graph < found.graph
    noise = held_out_likelihood(made.graph, np.random.default_rng(0).normal(size=(300, 8)))
    assert "do not help" in noise.sentence


def test_the_placebo_counts_false_alarms() -> None:
    made = pc.simulate(n_variables=6, degree=1, n_samples=300, random_state=0)
    good = placebo_test(pc.baselines.EqVar(verbose=False), made.data, n_shuffles=2)
    assert good.found == made.graph.n_edges
    assert good.placebo == (0, 0)
    assert "hardly ever" in good.sentence
    eager = placebo_test(pc.baselines.EqVar(pruning="none", verbose=False), made.data, n_shuffles=2)
    assert eager.placebo == (15, 15)
    assert "many of its edges may be false alarms" in eager.sentence


@pytest.mark.parametrize("missing", ["em", "pairwise"])
def test_the_placebo_shuffles_gaps_with_their_columns(missing: str) -> None:
    """Their moments would else be those of the data, and every edge be found in what has none."""
    made = pc.simulate(n_variables=6, degree=2, n_samples=500, random_state=0)
    rows = made.data.to_numpy(copy=True)
    rows[np.random.default_rng(1).random(rows.shape) < 0.02] = np.nan
    table = load_table(rows, missing=missing)
    result = placebo_test(pc.CORL(score="linear", n_iterations=0, random_state=0, verbose=False), table, n_shuffles=2)
    assert result.found >= made.graph.n_edges
    assert result.placebo == (0, 0)
    shuffled = _shuffled(table, np.random.default_rng(0))
    assert np.array_equal(shuffled.gaps.mask.sum(axis=0), table.gaps.mask.sum(axis=0))
    assert not np.array_equal(shuffled.gaps.mask, table.gaps.mask)
    there = [np.sort(each.values[~each.gaps.mask[:, 2], 2]) for each in (table, shuffled)]
    assert np.array_equal(*there)
    assert np.isfinite(shuffled.values).all()
    spread = np.sqrt(np.diag(shuffled.gaps.covariance))
    assert np.abs(shuffled.gaps.covariance / np.outer(spread, spread) - np.eye(6)).max() < 0.2


def test_refusals() -> None:
    graph = pc.CausalGraph.from_matrix([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    only_moments = Sample(100, np.zeros(3), np.eye(3))
    with pytest.raises(DataError, match="needs rows"):
        permutation_test(graph, only_moments)
    with pytest.raises(DataError, match="needs rows"):
        held_out_likelihood(graph, only_moments)
    rows = np.random.default_rng(0).normal(size=(30, 3))
    with pytest.raises(OptionError, match="n_permutations"):
        permutation_test(graph, rows, n_permutations=0)
    with pytest.raises(OptionError, match="n_folds"):
        held_out_likelihood(graph, rows, n_folds=1)


def test_a_result_says_whether_its_graph_beats_chance() -> None:
    made = pc.simulate(n_variables=8, degree=1, n_samples=300, random_state=0)
    model = pc.CORL(score="linear", search="exact", verbose=False).fit(made.data)
    checks = {check.name: check for check in model.diagnostics_.checks}
    assert checks["independences against chance"].level == "fine"
    assert checks["held-out likelihood"].value > 0
