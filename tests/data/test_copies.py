"""Rows that repeat others count once."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from precede import CORL
from precede.data.copies import without_copies
from precede.data.load import load_table
from precede.data.table import Table
from precede.errors import DataError


@pytest.mark.parametrize("times", [2, 3, 5])
def test_repeated_noise_has_no_edges(times: int) -> None:
    noise = np.random.default_rng(times).normal(size=(100, 10))
    model = CORL(verbose=False, random_state=0, diagnose=False).fit(np.repeat(noise, times, axis=0))
    assert model.graph_.n_edges <= 1
    assert f"{100 * (times - 1)} of {100 * times} rows repeat others" in " ".join(model.diagnostics_.sentences)


def test_rows_of_levels_are_alike_by_chance() -> None:
    values = np.random.default_rng(0).integers(2, size=(300, 4)).astype(float)
    assert without_copies(load_table(values)).n_samples == 300


def test_copies_with_missing_cells_count_once_too() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(80, 3)), columns=list("abc")).mask(rng.random((80, 3)) < 0.1)
    table = load_table(frame.dropna(how="all"))
    twice = without_copies(load_table(pd.concat([frame.dropna(how="all")] * 2, ignore_index=True)))
    assert twice.n_samples == table.n_samples
    assert twice.gaps is not None
    assert twice.gaps.n_effective == table.gaps.n_effective  # type: ignore[union-attr]


def test_a_resample_keeps_rows_that_were_drawn_twice() -> None:
    table = load_table(np.random.default_rng(0).normal(size=(60, 3)))
    again = table.with_rows(np.array([0, 0, *range(58)]), np.random.default_rng(0))
    assert without_copies(again) is again


def test_too_few_rows_without_copies_are_refused() -> None:
    rows = np.random.default_rng(1).normal(size=(5, 4))
    table = load_table(np.repeat(rows, 9, axis=0))
    assert without_copies(table).n_samples == 5
    wide = Table(np.repeat(rows[:4], 9, axis=0), tuple("abcd"), True)
    with pytest.raises(DataError, match="4 rows for 4 variables once the 32 that repeat others are left out"):
        without_copies(wide)
