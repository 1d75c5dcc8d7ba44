"""Data that tempt a result into claims that nobody can know: each is named, and nothing reads like an all-clear."""

import numpy as np
import pytest
from assumed import assumptions_of

import precede as pc
from precede.data.load import Table
from precede.evidence.checks import Check, CheckContext, Diagnostics, diagnose
from precede.evidence.falsification import permutation_test

ROWS = 800


def checked(columns: dict[str, np.ndarray], edges: list[tuple[str, str]], score: str) -> Diagnostics:
    names = tuple(columns)
    matrix = np.zeros((len(names), len(names)), dtype=bool)
    for cause, effect in edges:
        matrix[names.index(cause), names.index(effect)] = True
    values = np.column_stack(list(columns.values())).astype(float)
    order = pc.CausalGraph.from_matrix(matrix).positions
    weights = np.where(matrix, 1.0, 0.0)
    learned = CheckContext(Table(values, names, True), matrix, order, weights, score, assumptions=assumptions_of(score))
    return diagnose(learned, depth="quick")


def one(found: Diagnostics, name: str) -> Check:
    return next(check for check in found.checks if check.name == name)


# --- rows in time ---


def test_trends_that_go_together_are_named() -> None:
    """Independent random walks came out with six edges, confidences up to .88, and no word about time."""
    rng = np.random.default_rng(0)
    walks = {name: rng.normal(size=ROWS).cumsum() for name in ("storks", "babies", "prices")}
    check = one(checked(walks, [("storks", "babies"), ("babies", "prices")], "sparse-linear"), "rows near each other")
    assert check.level == "warning"
    assert "depend on the row before in 3 of 3 columns" in check.sentence
    assert "--lags 1" in check.remedy


@pytest.mark.parametrize("by", ["x", "y", None])
def test_a_sorted_column_is_no_series(by: str | None) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=ROWS)
    columns = {"x": x, "y": x + rng.normal(size=ROWS)}
    edges = [("x", "y")] if by != "y" else [("y", "x")]
    rows = np.argsort(columns[by]) if by else np.arange(ROWS)
    found = checked({name: column[rows] for name, column in columns.items()}, edges, "sparse-linear")
    assert one(found, "rows near each other").level == "fine"


def test_lagged_columns_go_on_by_their_nature() -> None:
    rng = np.random.default_rng(0)
    series = np.zeros(ROWS)
    for t in range(1, ROWS):
        series[t] = 0.8 * series[t - 1] + rng.normal()
    values = np.column_stack([series[1:], series[:-1]])
    table = Table(values, ("now", "before"), True, steps=(0, 1))
    found = diagnose(CheckContext(table, np.array([[0, 0], [1, 0]], bool), np.array([1, 0])), depth="quick")
    assert one(found, "rows near each other").level == "fine"


# --- columns that are cut off ---


def test_a_saturated_sensor_claims_no_direction() -> None:
    """``pressure -> heat`` had confidence 1.00 where heat, cut off at .7, was the cause."""
    rng = np.random.default_rng(0)
    heat = rng.normal(size=ROWS)
    columns = {"pressure": 1.2 * heat + 0.7 * rng.normal(size=ROWS), "heat": np.clip(heat, -0.7, 0.7)}
    found = checked(columns, [("pressure", "heat")], "sparse-gp")
    assert found.edges[0].source == "open"
    check = one(found, "columns cut off")
    assert check.level == "warning"
    assert "1 column with 5% or more of the rows at the smallest or largest value (heat)" in check.sentence
    whole = checked(columns | {"heat": heat}, [("pressure", "heat")], "sparse-gp")
    assert whole.edges[0].source == "curvature"
    assert "columns cut off" not in {check.name for check in whole.checks}


def test_numbers_rounded_to_steps_claim_no_direction() -> None:
    """``z -> y`` was told with confidence .69, where y had eleven values and was the cause."""
    rng = np.random.default_rng(7)
    y = np.round(2 * rng.normal(size=ROWS))
    columns = {"y": y, "z": y + rng.normal(size=ROWS)}
    found = checked(columns, [("z", "y")], "nongaussian")
    assert found.edges[0].source == "open"
    assert "1 column with few values, or counts (y)" in one(found, "kinds of columns").sentence


# --- noise that tells no direction ---


def test_gaussian_noise_tells_a_score_of_other_noise_nothing() -> None:
    """A loop of two Gaussian variables had a direction with confidence .80, marked by nothing."""
    rng = np.random.default_rng(0)
    u = rng.normal(size=ROWS)
    v = u + rng.normal(size=ROWS)
    columns = {"u": u, "v": v, "w": v + rng.laplace(size=ROWS)}
    found = checked(columns, [("u", "v"), ("v", "w")], "nongaussian")
    assert [edge.source for edge in found.edges] == ["open", "shape"]
    assert "directions between the other 2 are not claimed" in one(found, "residual normality").sentence


def test_variances_that_tails_blow_up_are_not_called_equal() -> None:
    """304 times the smallest: equal for practical purposes, it said."""
    rng = np.random.default_rng(7)
    columns = {"x": rng.standard_cauchy(ROWS), "y": rng.standard_cauchy(ROWS)}
    check = one(checked(columns, [("x", "y")], "nongaussian"), "equal noise variances")
    assert check.details["ratio"] > 5
    assert "equal for practical purposes" not in check.sentence
    equal = {"x": rng.normal(size=ROWS), "y": rng.normal(size=ROWS)}
    assert "equal for practical purposes" in one(checked(equal, [], "linear"), "equal noise variances").sentence


def test_a_ratio_of_eighteen_digits_is_written_short() -> None:
    rng = np.random.default_rng(0)
    columns = {"x": rng.normal(size=ROWS), "y": 1e-9 * rng.normal(size=ROWS)}
    assert "e+18 times" in one(checked(columns, [], "sparse-linear"), "equal noise variances").sentence


# --- two rows that hold an edge up together ---


def test_two_errors_that_hold_an_edge_up_together() -> None:
    """Without either of the two, the other kept more than half of the strength."""
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(2, ROWS))
    x[5] = y[5] = 60.0
    x[77], y[77] = 50.0, 45.0
    found = checked({"x": x, "y": y}, [("x", "y")], "sparse-linear")
    assert found.edges[0].influence is not None
    assert found.edges[0].influence.rows == (6, 78)
    assert found.edges[0].influence.strength < 0.2
    heavy = rng.standard_t(2, size=ROWS)
    kept = checked({"x": heavy, "y": heavy + rng.standard_t(2, size=ROWS)}, [("x", "y")], "sparse-linear")
    assert kept.edges[0].influence is None  # tails are no errors


def test_a_graph_that_shuffling_hardly_changes_is_not_judged() -> None:
    """A right chain of three, and the empty graph of noise, were "no better than a random one"."""
    rng = np.random.default_rng(0)
    chain = rng.normal(size=(ROWS, 3)).cumsum(axis=1)
    found = permutation_test(pc.CausalGraph.from_matrix(np.eye(3, k=1)), chain)
    assert found.equivalent == pytest.approx(1 / 3, abs=0.15)
    assert not found.informative
    assert not found.falsified
    assert "claim just the same, so this test cannot tell" in found.sentence
    columns = {name: rng.normal(size=ROWS) for name in "abcd"}
    assert one(checked(columns, [], "sparse-linear"), "independences against chance").level == "note"
    assert permutation_test(pc.CausalGraph.from_matrix(np.zeros((4, 4))), rng.normal(size=(ROWS, 4))).equivalent == 1.0
