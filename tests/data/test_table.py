"""Tables in other units: values, levels and the moments of gaps belong together."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import precede as pc
from precede.data.load import load_table
from precede.data.table import Table, standardized_table
from precede.evidence.checks.context import far_out, standard_columns
from precede.scores.covariance import moments_of
from precede.search.settings import Details


@pytest.fixture
def frame() -> pd.DataFrame:
    """A column of each kind: the first depends on the others."""
    rng = np.random.default_rng(0)
    m = 400
    color = rng.integers(0, 3, m)
    columns = {
        "rare": (rng.random(m) < 0.02).astype(float),
        "grade": rng.integers(1, 6, m).astype(float),
        "visits": rng.poisson(4, m).astype(float),
        "color": np.array(["red", "green", "blue"])[color],
    }
    columns["size"] = 100 * (columns["grade"] + color + rng.normal(size=m)) + columns["visits"]
    return pd.DataFrame(columns)


@pytest.mark.parametrize("missing", [None, "em", "pairwise"])
def test_standardizing_takes_levels_and_moments_along(frame: pd.DataFrame, missing: str | None) -> None:
    if missing is not None:
        rng = np.random.default_rng(1)
        frame = frame.mask(rng.random(frame.shape) < 0.03)
    before = load_table(frame, missing=missing or "refuse")
    after = standardized_table(before)
    assert [kind.name for kind in before.kinds] == ["binary", "ordinal", "count", "categorical", "number"]
    assert [kind.name for kind in after.kinds] == ["binary", "ordinal", "number", "categorical", "number"]
    for k in (0, 1, 3):
        codes = [table.kinds[k].codes(table.values[:, k]) for table in (before, after)]
        assert np.array_equal(*codes)
        assert np.isin(after.values[:, k], after.kinds[k].levels).all()
        assert after.kinds[k].labels == before.kinds[k].labels
    assert np.array_equal(after.values[:, 3], before.values[:, 3])
    sizes = [0, 1, 2, 4]
    np.testing.assert_allclose(after.values[:, sizes].std(axis=0), 1.0, atol=0.05 if missing else 1e-12)
    raw, moments = moments_of(before).covariance, moments_of(after).covariance
    unit = np.sqrt(np.diag(raw))
    unit[3:5] = 1.0  # indicators of the colors
    np.testing.assert_allclose(moments, raw / np.outer(unit, unit), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(np.diag(moments)[[0, 1, 2, 5]], 1.0, rtol=1e-9)
    if missing is not None:
        np.testing.assert_allclose(after.gaps.mean[[0, 1, 2, 5]], 0.0, atol=1e-9)
        np.testing.assert_allclose(after.gaps.mean[3:5], before.gaps.mean[3:5])
        assert np.array_equal(after.gaps.mask, before.gaps.mask)


def fitted(frame: pd.DataFrame, score: str, standardize: bool) -> pc.CORL:
    details = Details(standardize_columns=standardize)
    options = {"details": details, "n_iterations": 1, "random_state": 0, "verbose": False, "diagnose": False}
    return pc.CORL(score=score, **options).fit(frame)


def test_one_missing_cell_does_not_switch_standardizing_off() -> None:
    rng = np.random.default_rng(0)
    a = 100 * rng.normal(size=300)
    whole = pd.DataFrame({"a": a, "b": a / 50 + rng.normal(size=300)})
    gappy = whole.copy()
    gappy.iloc[0, 0] = np.nan
    expected = fitted(whole, "linear", True).score_
    assert fitted(gappy, "linear", True).score_ == pytest.approx(expected, rel=0.01)
    assert fitted(gappy, "linear", False).score_ != pytest.approx(expected, rel=0.5)


def test_levels_score_the_same_in_other_units() -> None:
    rng = np.random.default_rng(0)
    x, z = rng.integers(0, 3, (2, 1000))
    y = np.where(rng.random(1000) < 0.8, x, rng.integers(0, 3, 1000))
    frame = pd.DataFrame({"x": x, "y": y, "z": z})
    for score in ("bdeu", "conditional-gaussian"):
        plain, standardized = (fitted(frame, score, standardize) for standardize in (False, True))
        assert standardized.score_ == pytest.approx(plain.score_, rel=1e-12)
        assert np.array_equal(standardized.adjacency_matrix_, plain.adjacency_matrix_)
        assert plain.graph_.n_edges == 1


def test_rows_of_a_large_table(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table(np.random.default_rng(0).normal(size=(90, 3)), ("a", "b", "c"), True)
    assert table.sampled() is table
    monkeypatch.setattr("precede.data.table.LARGEST_SAMPLE", 30)
    np.testing.assert_array_equal(table.sampled().values, table.values[np.linspace(0, 89, 10).round().astype(int)])
    in_time = replace(table, steps=(0, 1, 1))
    assert in_time.sampled() is in_time


def test_values_far_out_are_found_one_column_at_a_time() -> None:
    values = np.random.default_rng(0).normal(size=(200, 3))
    values[[5, 5, 90], [2, 0, 1]] = 40.0, -60.0, 50.0
    rows, columns, distances = far_out(values)
    scores = np.abs(standard_columns(values)[0])
    assert [*zip(rows.tolist(), columns.tolist(), strict=True)] == [(5, 0), (5, 2), (90, 1)]
    np.testing.assert_allclose(distances, scores[rows, columns])
    assert not len(far_out(values[:5])[0])
