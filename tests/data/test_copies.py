"""Rows that repeat others count once."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from precede import CORL
from precede.data.copies import monotone_copies, without_copies
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


def abcd(n: int = 200) -> pd.DataFrame:
    return pd.DataFrame(np.random.default_rng(0).normal(size=(n, 4)), columns=list("abcd"))


@pytest.mark.parametrize(
    ("more", "kept", "said"),
    [
        ({"k": lambda f: f["b"]}, "abcd", "'k' is a copy of 'b' and is left out"),
        ({"k": lambda f: 1 - 2.54 * f["b"]}, "abcd", "'k' is an exact linear function of 'b'"),
        ({"k": lambda f: f["a"] - 1e3 * f["c"]}, "abcd", "'k' is an exact linear combination of 'a', 'c'"),
        ({"aa": lambda f: f["c"]}, ["a", "aa", "b", "d"], "'c' is a copy of 'aa'"),
        ({"k": lambda f: f["a"], "l": lambda f: f["a"] + f["b"]}, "abcd", "'l' is an exact linear combination"),
    ],
)
def test_one_column_stands_for_those_that_it_gives(more: dict, kept: str, said: str) -> None:
    frame = abcd().assign(**more)
    table = load_table(frame)
    assert sorted(table.names) == sorted(kept)
    assert any(said in remark for remark in table.remarks)
    turned = load_table(frame[frame.columns[::-1]])
    assert (sorted(turned.names), sorted(turned.remarks)) == (sorted(table.names), sorted(table.remarks))
    gappy = load_table(frame.mask(np.random.default_rng(1).random(frame.shape) < 0.05))
    assert sorted(gappy.names) == sorted(kept)


def test_a_fit_names_what_it_left_out() -> None:
    frame = abcd().assign(k=lambda f: f["b"])
    model = CORL(random_state=0, verbose=False, diagnose=False).fit(frame)
    assert list(model.graph_.names) == list("abcd")
    assert "'k' is a copy of 'b'" in " ".join(model.diagnostics_.sentences)
    assert model.bootstrap(frame, 2, random_state=0).n_resamples == 2


def test_combinations_of_codes_mean_nothing_and_copies_of_levels_do() -> None:
    code = np.random.default_rng(0).integers(3, size=200)
    words = {"w": np.array(list("xyz"))[code], "v": np.array(list("qrp"))[code]}
    table = load_table(abcd().assign(**{f"d{k}": (code == k).astype(int) for k in range(3)}, **words))
    assert {"d0", "d1", "d2", "v"} <= set(table.names)  # three columns of 0 and 1 that add up to one
    assert "w" not in table.names
    assert any("'w' says the same as 'v'" in remark for remark in table.remarks)


def test_between_monotone_copies_no_direction_is_claimed() -> None:
    frame = abcd(400)
    frame["b"] += frame["a"]
    frame["cube"], frame["rank"] = frame["a"] ** 3, -frame["a"].rank()
    found, names = monotone_copies(load_table(frame)), list(frame.columns)
    pairs = {(names[i], names[j]) for i, j in np.argwhere(np.triu(found))}
    assert pairs == {("a", "cube"), ("a", "rank"), ("cube", "rank")}
    model = CORL(random_state=0, verbose=False, diagnose="quick").fit(frame)
    assert "rise and fall together exactly" in " ".join(model.diagnostics_.sentences)
    among = [edge for edge in model.diagnostics_.edges if found[edge.cause, edge.effect]]
    assert among
    assert all(edge.source == "open" for edge in among)
    assert all(model.graph_.pattern[edge.effect, edge.cause] for edge in among)


def test_rows_of_a_panel_are_named_and_a_cloud_is_not() -> None:
    units = np.random.default_rng(0).normal(size=(60, 5))
    panel = np.repeat(units, 4, axis=0) + 0.05 * np.random.default_rng(1).normal(size=(240, 5))
    assert any("nearly repeat another" in remark for remark in without_copies(load_table(panel)).remarks)
    for rows in (np.random.default_rng(2).normal(size=(240, 5)), np.random.default_rng(3).standard_t(3, (240, 4))):
        assert not without_copies(load_table(rows)).remarks
