"""Odd cells: found where they are, left alone where the tail of the column reaches as far."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from precede import CORL
from precede.data.load import load_table
from precede.data.odd import odd_cells, without_odd
from precede.kinds import NUMBER, ColumnKind


def chain(seed: int, n_rows: int = 500) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n_rows, 10)).cumsum(axis=1)


def test_one_cell_of_eight_standard_deviations_is_found() -> None:
    for seed in range(10):
        values = chain(seed)
        values[17, 4] = 8 * values[:, 4].std()
        assert np.argwhere(odd_cells(values, [NUMBER] * 10)).tolist() == [[17, 4]]


def test_one_percent_times_eight_is_found_where_it_shows() -> None:
    values = chain(0)
    spoiled = np.random.default_rng(1).random(values.shape) < 0.01
    odd = odd_cells(np.where(spoiled, 8 * values, values), [NUMBER] * 10)
    moved = spoiled & (np.abs(7 * values) > 8)  # noise has variance one: eight standard deviations of the row's rest
    assert odd[moved].mean() > 0.9
    assert (odd & ~spoiled).sum() <= 3


@pytest.mark.parametrize("noise", ["normal", "laplace", "exponential", "t5", "poisson"])
def test_clean_tables_are_seldom_marked(noise: str) -> None:
    rng = np.random.default_rng(0)
    marked = 0
    for n_rows in [60, 200, 500] * 10:
        shape = (n_rows, 8)
        values = {
            "t5": lambda shape=shape: rng.standard_t(5, size=shape),
            "poisson": lambda shape=shape: rng.poisson(3, size=shape).astype(float),
        }.get(noise, lambda shape=shape: getattr(rng, noise)(size=shape))()
        marked += bool(odd_cells(values, [NUMBER] * 8).any())
    assert marked <= 3


def test_levels_and_interventions_have_no_odd_cells() -> None:
    values = chain(0)[:, :3]
    values[:, 0] = values[:, 0] > 2.5  # seldom
    kinds = [ColumnKind("binary", (0.0, 1.0)), NUMBER, NUMBER]
    assert not odd_cells(values, kinds).any()
    values[3, 1] = 90.0
    table = load_table(pd.DataFrame(values, columns=list("abc")))
    assert np.argwhere(without_odd(table).odd).tolist() == [[3, 1]]
    assert without_odd(replace(table, targets=np.eye(500, 3, dtype=bool))).odd is None


def test_odd_cells_are_missing_by_default_and_named() -> None:
    values = chain(0)[:, :4]
    values[3, 1] = 90.0
    frame = pd.DataFrame(values, columns=list("abcd"))
    options = {"score": "sparse-linear", "random_state": 0, "verbose": False, "diagnose": False}
    model, kept = CORL(**options).fit(frame), CORL(odd="keep", **options).fit(frame)
    clean = CORL(**options).fit(frame.drop(index=3))
    said = " ".join(model.diagnostics_.sentences)
    assert "'b' in row 4 (90)" in said
    assert "odd='keep'" in said
    assert "is odd" not in " ".join(kept.diagnostics_.sentences)
    assert (model.graph_.edges == clean.graph_.edges).all()
    assert (model.graph_.edges != kept.graph_.edges).any()
    assert frame.loc[3, "b"] == 90.0


def test_a_resample_keeps_the_odd_cells_of_the_whole() -> None:
    values = chain(0)[:, :3]
    values[3, 1] = 90.0
    table = without_odd(load_table(values))
    again = table.with_rows(np.array([3, 3, *range(400)]), np.random.default_rng(0))
    assert without_odd(again) is again
    assert again.gaps is not None
    assert again.gaps.mask[0, 1]
    assert again.values[0, 1] < 50


def test_missing_cells_do_not_depend_on_the_order() -> None:
    frame = pd.DataFrame(chain(2, 200)[:, :5], columns=list("abcde"))
    rng = np.random.default_rng(0)
    frame = frame.mask(rng.random(frame.shape) < 0.15)
    table = load_table(frame)
    for seed in range(5):
        rows = np.random.default_rng(seed).permutation(len(frame))
        columns = np.random.default_rng(seed).permutation(5)
        again = load_table(frame.iloc[rows, columns])
        assert (again.values == table.values[np.ix_(rows, columns)]).all()


def test_where_many_cells_are_odd_strange_rows_are_left_out() -> None:
    rng = np.random.default_rng(5)
    values = chain(5)
    spoiled = rng.random(values.shape) < 0.01
    table = without_odd(load_table(np.where(spoiled, 8 * values, values)))
    assert table.rows is not None
    assert table.odd is not None
    assert not table.odd.any()
    assert 0.75 * len(values) <= table.n_samples < len(values)
    assert f"the {len(values) - table.n_samples} rows with such" in table.remarks[-1]
    hidden = spoiled.any(axis=1)[table.rows].sum()
    assert hidden < spoiled.any(axis=1).sum() / 3


def test_heavy_tails_cost_cells_and_no_rows() -> None:
    """Where a quarter of the rows would go, the far cells are the data's own."""
    values = np.exp(1.5 * chain(6))
    assert without_odd(load_table(values)).n_samples == len(values)


def test_a_cell_that_its_row_predicts_is_not_odd() -> None:
    rng = np.random.default_rng(0)
    causes = rng.normal(size=(400, 4))
    total = causes.sum(axis=1)
    values = np.column_stack([causes, total + 0.3 * total**2 + 0.3 * rng.normal(size=400)])
    values[7] = 3.5, 3.5, 3.5, 3.5, 72.8  # no cause is far out, and the effect is what it is in all rows
    assert not odd_cells(values, [NUMBER] * 5).any()
    values[7, :4] = 0.1, -0.2, 0.3, 0.0  # the same value where nothing calls for it
    assert np.argwhere(odd_cells(values, [NUMBER] * 5)).tolist() == [[7, 4]]


def test_wrong_cells_of_one_row_do_not_vouch_for_each_other() -> None:
    rng = np.random.default_rng(1)
    cause = rng.normal(size=500)
    values = np.column_stack([cause, 2 * cause + 0.1 * rng.normal(size=500), rng.normal(size=500)])
    values[3] = 60.0, 120.0, 60.0
    assert np.argwhere(odd_cells(values, [NUMBER] * 3)).tolist() == [[3, 0], [3, 1], [3, 2]]
