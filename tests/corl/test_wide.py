"""Tables with no more rows than columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from precede import CORL, load_table, simulate
from precede.baselines import EqVar
from precede.errors import DataError, OptionError, PrecedeError
from precede.scores.build import WIDE_NOTE


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    return simulate("er", 90, 1, n_samples=60, standardize=True, random_state=0).data


@pytest.fixture(scope="module")
def model(data: pd.DataFrame) -> CORL:
    return CORL(random_state=0, verbose=False).fit(data)


def test_finds_most_of_a_sparse_graph(model: CORL) -> None:
    truth = simulate("er", 90, 1, n_samples=60, standardize=True, random_state=0).graph.edges
    found = model.graph_.edges
    either, true_either = found | found.T, truth | truth.T
    right = int((either & true_either).sum())
    assert right >= 0.85 * either.sum()
    assert right >= 0.65 * true_either.sum()


def test_says_what_is_lost(model: CORL) -> None:
    assert model.diagnostics_["score"] == "sparse-linear"
    assert "no more rows (60) than columns (90)" in model.diagnostics_["score_choice"]["reason"]
    assert WIDE_NOTE in [item.sentence for item in model.diagnostics_.said]


def test_checks_that_need_rows_are_not_run(model: CORL) -> None:
    skipped = {check.name for check in model.diagnostics_.checks if check.level == "not run"}
    assert {"held-out likelihood", "R²-sortability", "residual normality"} <= skipped
    assert not [remark for remark in model.diagnostics_.said if "failed" in remark.sentence]


def test_noise_alone_has_few_edges() -> None:
    noise = np.random.default_rng(0).normal(size=(50, 150))
    assert CORL(random_state=0, verbose=False, diagnose=False).fit(noise).graph_.n_edges <= 5


def test_the_columns_sequence_does_not_matter(data: pd.DataFrame, model: CORL) -> None:
    again = CORL(random_state=0, verbose=False, diagnose=False).fit(data[data.columns[::-1]])
    edges = again.adjacency_matrix_.loc[data.columns, data.columns]
    np.testing.assert_array_equal(edges, model.adjacency_matrix_)


def test_another_method_refuses(data: pd.DataFrame) -> None:
    with pytest.raises(DataError, match=r"60 rows for 90 variables, and this method \(EqVar\) needs more rows"):
        EqVar().fit(data)
    with pytest.raises(DataError, match="needs more rows than columns: 'corl' does not"):
        EqVar().bootstrap(data, 2)


def test_a_bootstrap_resamples_the_rows(data: pd.DataFrame, model: CORL) -> None:
    found = CORL(random_state=0, verbose=False).bootstrap(data, 2, random_state=0)
    certain = found.edge_probability.to_numpy() + found.edge_probability.to_numpy().T == 1.0
    assert (certain & model.graph_.edges).sum() > 0.4 * model.graph_.n_edges


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"score": "linear-any"}, r"score='linear-any' needs more rows \(60\) than columns \(90\): 'sparse-linear'"),
        ({"pruning": "bic"}, r"pruning='bic' needs more rows \(60\) than columns \(90\)"),
        ({"hidden": "allowed"}, r"hidden='allowed' needs more rows \(60\) than columns \(90\)"),
        ({"score": "policy"}, "score='policy' cannot be used here"),
    ],
)
def test_options_that_need_rows_are_refused(data: pd.DataFrame, options: dict[str, str], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        CORL(verbose=False, **options).fit(data)  # type: ignore[arg-type]


def test_interventions_are_refused(data: pd.DataFrame) -> None:
    targets = np.zeros(data.shape, dtype=bool)
    targets[:5, 0] = True
    with pytest.raises(OptionError, match="interventions need more rows"):
        CORL(verbose=False).fit(data, interventions=targets)


def test_categories_are_refused(data: pd.DataFrame) -> None:
    with pytest.raises(PrecedeError, match="column 'color' is categorical, and a table with no more rows than columns"):
        CORL(verbose=False).fit(data.assign(color=["red", "green", "blue"] * 20))


def test_missing_cells_take_the_mean_or_cost_the_row(data: pd.DataFrame) -> None:
    gappy = data.copy()
    gappy.iloc[3, 4] = np.nan
    with pytest.raises(DataError, match="missing='impute' takes the column's mean"):
        load_table(gappy)
    filled = load_table(gappy, missing="impute")
    assert filled.values[3, 4] == pytest.approx(gappy.iloc[:, 4].mean())
    assert load_table(gappy, missing="drop").n_samples == 59


def test_a_copy_is_told_and_so_is_a_constant(data: pd.DataFrame) -> None:
    for twin, words in ((data["x1"], "is a copy of"), (3 - 2 * data["x1"], "is an exact linear function of")):
        model = CORL(random_state=0, verbose=False, diagnose=False).fit(data.assign(twin=twin))
        assert "x1" not in model.graph_.names
        assert any(remark.startswith(f"Column 'x1' {words} 'twin'") for remark in model.diagnostics_["remarks"])
    with pytest.raises(DataError, match="constant"):
        load_table(data.assign(same=1.0))


def test_few_rows_are_refused(data: pd.DataFrame) -> None:
    with pytest.raises(DataError, match="39 rows for 90 variables: it needs more rows than columns, or at least 40"):
        load_table(data.head(39))
