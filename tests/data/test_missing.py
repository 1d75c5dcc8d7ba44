"""Missing cells: moments by EM, draws that respect kinds, and words about what is missing."""

import numpy as np
import pandas as pd
import pytest

from precede.corl import CORL
from precede.data.checks import dependent_gaps
from precede.data.load import load_table
from precede.data.missing import em_moments, gaps_of, pairwise_moments
from precede.errors import DataError
from precede.kinds import NUMBER
from precede.knowledge import Constraints
from precede.scores.build import build_score
from precede.scores.covariance import covariance, moments_of
from precede.simulation import simulate

QUICK = {"n_iterations": 2, "batch_size": 4, "random_state": 0, "verbose": False, "diagnose": False}


def holed(values, share, seed=0):
    values = np.array(values, dtype=float)
    values[np.random.default_rng(seed).random(values.shape) < share] = np.nan
    return values


@pytest.fixture
def data():
    return simulate(n_variables=6, degree=1.5, n_samples=1500, random_state=3)


def test_without_gaps_em_is_the_sample_covariance(data):
    values = data.data.to_numpy()
    mean, matrix = em_moments(values)
    np.testing.assert_allclose(mean, values.mean(axis=0), atol=1e-8)
    np.testing.assert_allclose(matrix, covariance(values), rtol=1e-4, atol=1e-4)


def test_gaps_that_depend_on_another_column_are_made_up_for():
    rng = np.random.default_rng(0)
    x = rng.normal(size=20_000)
    y = x + rng.normal(size=20_000)
    y[x > 0] = np.nan  # what is there has mean -0.8
    mean, matrix = em_moments(np.column_stack([x, y]))
    assert abs(mean[1]) < 0.05
    np.testing.assert_allclose(matrix, [[1, 1], [1, 2]], atol=0.07)
    assert np.nanmean(y) < -0.7
    # maximum likelihood for this pattern: the regression of y on x, applied to all of x
    slope = np.polyfit(x[x <= 0], y[x <= 0], 1)
    assert mean[1] == pytest.approx(np.polyval(slope, x).mean(), abs=1e-3)


def test_em_is_nearer_than_pairs(data):
    values = data.data.to_numpy()
    gappy = holed(values, 0.3)
    scale = np.sqrt(np.outer(values.var(axis=0), values.var(axis=0)))
    off = {
        name: np.abs(moments(gappy)[1] - covariance(values) / 1) / scale
        for name, moments in (("em", em_moments), ("pairs", pairwise_moments))
    }
    assert off["em"].mean() < off["pairs"].mean() < 0.1
    assert np.linalg.eigvalsh(pairwise_moments(holed(values[:30], 0.6))[1])[0] > 0


def test_pairs_by_hand():
    values = np.array([[1.0, 2.0], [2.0, np.nan], [3.0, 8.0], [np.nan, 5.0], [5.0, 6.0]])
    both = values[[0, 2, 4]]
    _, matrix = pairwise_moments(values)
    assert matrix[0, 1] == pytest.approx(np.cov(both.T, ddof=0)[0, 1])
    assert matrix[0, 0] == pytest.approx(np.nanvar(values[:, 0]))


def test_rows_are_worth_less_where_cells_are_missing(data):
    gappy = holed(data.data, 0.2)
    gaps = gaps_of(gappy, [NUMBER] * 6, "em")
    assert gaps.n_effective == pytest.approx(0.64 * 1500, rel=0.03)
    table = load_table(pd.DataFrame(gappy, columns=data.data.columns))
    moments = moments_of(table)
    assert moments.n_samples == round(gaps.n_effective)
    np.testing.assert_allclose(moments.covariance, gaps.covariance)
    score = build_score("sparse-linear", table, Constraints.none(6), device="cpu")
    assert score.n_samples == moments.n_samples


def test_the_input_stays_and_what_is_there_is_kept(data):
    frame = pd.DataFrame(holed(data.data, 0.1), columns=data.data.columns)
    before = frame.copy()
    table = load_table(frame)
    pd.testing.assert_frame_equal(frame, before)
    there = frame.notna().to_numpy()
    np.testing.assert_array_equal(table.values[there], frame.to_numpy()[there])
    assert np.isfinite(table.values).all()
    assert not table.values.flags.writeable
    np.testing.assert_array_equal(table.values, load_table(frame).values)
    assert np.abs(covariance(table.values) / table.gaps.covariance - 1)[np.diag_indices(6)].max() < 0.1


def test_draws_respect_the_kinds():
    rng = np.random.default_rng(0)
    n = 600
    size = rng.normal(size=n)
    frame = pd.DataFrame(
        {
            "size": size,
            "city": np.where(size > 0, "Rome", np.where(rng.random(n) < 0.5, "Bonn", "Oslo")),
            "flag": (size + rng.normal(size=n) > 0).astype(float),
            "rating": np.clip(np.round(3 + size + 0.3 * rng.normal(size=n)), 1, 5),
            "count": rng.poisson(np.exp(2 + size)).astype(float),
        }
    )
    gappy = frame.mask(rng.random(frame.shape) < 0.2)
    table = load_table(gappy)
    assert [kind.name for kind in table.kinds] == ["number", "categorical", "binary", "ordinal", "count"]
    for k, kind in enumerate(table.kinds):
        drawn = table.values[table.gaps.mask[:, k], k]
        if kind.discrete:
            assert set(drawn) <= set(kind.levels)
        if kind.name == "count":
            assert (drawn == np.round(drawn)).all()
            assert (drawn >= 0).all()
    rome = table.kinds[1].labels.index("Rome")
    where = table.gaps.mask[:, 1]
    right = (table.values[where, 1] == rome) == (frame["city"][where] == "Rome")
    assert right.mean() > 0.7  # chance would be half
    model = CORL(**QUICK).fit(gappy)
    assert model.graph_.adjacency.loc[["size", "city"], ["city", "size"]].to_numpy().sum() == 1


@pytest.mark.parametrize("score", ["linear", "sparse-linear", "nongaussian"])
def test_the_graph_of_complete_data_is_found(score):
    sem = "lingam" if score == "nongaussian" else "linear-gaussian"
    data = simulate(n_variables=8, degree=1.5, sem=sem, n_samples=2000, random_state=1)
    gappy = pd.DataFrame(holed(data.data, 0.2), columns=data.data.columns)
    whole, em = (CORL(score=score, **QUICK).fit(source) for source in (data.data, gappy))
    means = CORL(score=score, **QUICK).fit(load_table(gappy, missing="impute"))
    assert (em.cpdag_.to_numpy() != whole.cpdag_.to_numpy()).sum() <= 1
    assert (means.cpdag_.to_numpy() != whole.cpdag_.to_numpy()).sum() > 3
    if whole.diagnostics_["identifies"] == "dag":
        np.testing.assert_allclose(em.weights_, whole.weights_, atol=0.15)


def test_resamples_are_filled_anew(data):
    table = load_table(pd.DataFrame(holed(data.data, 0.2), columns=data.data.columns))
    rows = np.arange(table.n_samples)
    first, second = (table.with_rows(rows, np.random.default_rng(seed)) for seed in (1, 2))
    mask = table.gaps.mask
    assert (first.values[mask] != second.values[mask]).mean() > 0.99
    np.testing.assert_array_equal(first.values[~mask], table.values[~mask])
    assert first.gaps.how == "em"
    found = CORL(score="sparse-linear", **QUICK).bootstrap(table, n_resamples=3, random_state=0)
    assert found.edge_probability.shape == (6, 6)


def test_columns_that_are_left_out_take_their_gaps_along(data):
    gappy = pd.DataFrame(holed(data.data, 0.2), columns=data.data.columns)
    table = load_table(gappy)
    fewer = load_table(table, leave_out=["x1"])
    assert fewer.gaps.mask.shape == (1500, 5)
    assert fewer.gaps.covariance.shape == (5, 5)
    whole = load_table(gappy.assign(x1=data.data["x1"]).fillna(dict.fromkeys(data.data.columns[1:], 0.0)))
    assert load_table(whole, leave_out=["x2"]).gaps is None


def test_the_sequence_of_rows_and_columns_does_not_matter():
    data = simulate(n_variables=8, degree=1.5, n_samples=1000, random_state=1)
    gappy = pd.DataFrame(holed(data.data, 0.2), columns=[f"v{k}" for k in (3, 1, 8, 2, 7, 5, 6, 4)])
    shuffled = gappy.sample(frac=1, random_state=0)[[f"v{k}" for k in range(1, 9)]]
    once, again = (CORL(score="sparse-linear", **QUICK).fit(source) for source in (gappy, shuffled))
    pd.testing.assert_frame_equal(again.cpdag_.loc[gappy.columns, gappy.columns], once.cpdag_)
    whole = CORL(score="sparse-linear", **QUICK).fit(data.data.set_axis(gappy.columns, axis=1))
    assert (once.cpdag_.to_numpy() != whole.cpdag_.to_numpy()).sum() <= 1


def test_words_about_gaps(data):
    frame = data.data.copy()
    frame.loc[frame["x1"] > frame["x1"].quantile(0.7), "x2"] = np.nan
    frame.loc[:10, "x3"] = np.nan
    table = load_table(frame)
    assert table.remarks[0].startswith("5.1% of the cells are missing, most in 'x2' (30.0%), 'x3' (0.7%); they were")
    assert "those of 'x2' on 'x1'" in table.remarks[1]
    assert dependent_gaps(holed(data.data, 0.1)) == []
    pairs = load_table(frame, missing="pairwise")
    assert pairs.gaps.how == "pairwise"
    assert "rows in which both are present" in pairs.remarks[0]


def test_gaps_that_cannot_be_mended(data):
    with pytest.raises(DataError, match="every value of 'x1' is missing: leave it out"):
        load_table(data.data.assign(x1=np.nan))
    apart = data.data.copy()
    apart.loc[:700, "x1"] = np.nan
    apart.loc[701:, "x2"] = np.nan
    with pytest.raises(DataError, match="columns 'x1' and 'x2' are both present in only 0 rows"):
        load_table(apart)


@pytest.mark.parametrize("form", ["column", "list", "matrix", "frame"])
def test_targets_follow_the_rows_that_are_kept(form):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 3)), columns=list("abc"))
    frame.iloc[[3, 12, 30], 1] = np.nan
    target = ["" if row < 20 else "c" for row in range(40)]
    matrix = np.zeros((40, 3), dtype=int)
    matrix[20:, 2] = 1
    given = {"list": target, "matrix": matrix, "frame": pd.DataFrame(matrix[:, [2]], columns=["c"])}
    if form == "column":
        table = load_table(frame.assign(set=target), missing="drop", interventions="set")
    else:
        table = load_table(frame, missing="drop", interventions=given[form])
    assert table.n_samples == 37
    assert table.targets[:, 2].tolist() == [False] * 18 + [True] * 19
    assert not table.targets[:, :2].any()
    with pytest.raises(DataError, match="interventions speak of 39 rows"):
        load_table(frame, missing="drop", interventions=target[:-1])
