"""Kinds of columns: told from the data, said by the user, kept wherever a table goes."""

import numpy as np
import pandas as pd
import pytest

from precede.corl import discover
from precede.data.kinds import kind_of
from precede.data.load import Table, load_table
from precede.errors import DataError, OptionError
from precede.kinds import ColumnKind

ROWS = 60


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "number": rng.normal(size=ROWS),
            "count": rng.poisson(30, size=ROWS) - 13,
            "rating": rng.integers(1, 6, size=ROWS),
            "smoker": rng.integers(0, 2, size=ROWS),
            "flag": rng.random(ROWS) < 0.5,
            "city": rng.choice(["Rome", "Bonn", "Oslo"], size=ROWS),
            "size": pd.Categorical(rng.choice(["low", "mid", "high"], size=ROWS), ["low", "mid", "high"], ordered=True),
        }
    ).assign(count=lambda f: f["count"] - f["count"].min())


def names_of(table):
    return dict(zip(table.names, (kind.name for kind in table.kinds), strict=True))


def test_kinds_are_told_and_said(frame):
    before = frame.copy()
    table = load_table(frame)
    assert names_of(table) == {
        "number": "number",
        "count": "count",
        "rating": "ordinal",
        "smoker": "binary",
        "flag": "binary",
        "city": "categorical",
        "size": "ordinal",
    }
    remark = table.remarks[-1]
    assert "'smoker', 'flag' binary" in remark
    assert "'city' categorical" in remark
    assert "'count' a count" in remark
    pd.testing.assert_frame_equal(frame, before)


def test_words_become_the_places_of_their_levels(frame):
    table = load_table(frame)
    for name in ("city", "size", "flag"):
        k = table.names.index(name)
        labels = np.array(table.kinds[k].labels)
        assert (labels[table.kinds[k].codes(table.values[:, k])] == frame[name].astype(str)).all()
    assert table.kinds[table.names.index("size")].labels == ("low", "mid", "high")
    assert table.kinds[table.names.index("city")].labels == ("Bonn", "Oslo", "Rome")


def test_the_user_has_the_last_word(frame):
    types = {"rating": "categorical", "smoker": "number", "count": "number", "city": ["Rome", "Oslo", "Bonn"]}
    table = load_table(frame, types=types)
    assert names_of(table) | {"rating": "categorical", "smoker": "number", "count": "number"} == names_of(table)
    city = table.names.index("city")
    assert table.kinds[city].name == "ordinal"
    assert table.kinds[city].labels == ("Rome", "Oslo", "Bonn")
    assert (table.values[frame["city"] == "Rome", city] == 0).all()
    again = load_table(load_table(frame), types={"rating": "categorical"})
    assert names_of(again)["rating"] == "categorical"
    assert again.kinds[2].labels == ("1", "2", "3", "4", "5")


@pytest.mark.parametrize(
    ("types", "error", "words"),
    [
        ({"town": "number"}, DataError, "types names 'town', which is not a column"),
        ({"city": "categorial"}, OptionError, "did you mean 'categorical'"),
        ({"city": "number"}, OptionError, "column 'city' holds words, so it cannot be a number"),
        ({"rating": "binary"}, OptionError, "'rating' has 5 distinct values, so it is not binary"),
        ({"city": ["Rome", "Oslo"]}, DataError, "types gives levels for 'city', but 'Bonn' is not among them"),
        ({"rating": [3, 1, 2, 5]}, DataError, "types gives levels for 'rating', but '4' is not among them"),
        ({"rating": [3, 1, 2, 5, 4, "3.0"]}, DataError, "types gives '3' among the levels of 'rating' more than once"),
    ],
)
def test_types_that_cannot_be(frame, types, error, words):
    with pytest.raises(error, match=words):
        load_table(frame, types=types)


@pytest.mark.parametrize("given", [[3, 1, 2], ["3", "1", "2"], [3, 7, 1, 2]])
def test_numbers_take_the_order_that_is_given(tmp_path, given):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"]).assign(x=rng.permutation([1, 2, 3] * 20))
    frame.to_csv(tmp_path / "data.csv", index=False)
    place = frame["x"].map({3: 0.0, 1: 1.0, 2: 2.0})
    own = frame.to_numpy(copy=True)
    for source in (frame, frame.astype(float), frame.assign(x=frame["x"].map(str)), tmp_path / "data.csv", own):
        name = 2 if source is own else "x"
        table = load_table(source, types={name: given if source is not frame else tuple(given)})
        np.testing.assert_array_equal(table.values[:, 2], place)
        assert (table.kinds[2].name, table.kinds[2].labels) == ("ordinal", ("3", "1", "2"))
    np.testing.assert_array_equal(own[:, 2], frame["x"])  # the caller's own
    gappy = load_table(frame.assign(x=frame["x"].where(frame.index > 4)), types={"x": given})
    np.testing.assert_array_equal(gappy.values[5:, 2], place[5:])
    assert load_table(frame, types={"x": [1, 2, 3]}).kinds[2].levels == (1.0, 2.0, 3.0)


def test_truth_values_take_the_order_that_is_given(frame):
    frame = frame.assign(smoker=np.arange(len(frame)) % 3 == 0)
    table = load_table(frame, types={"smoker": [True, False]})
    place = table.names.index("smoker")
    assert table.kinds[place].labels == ("True", "False")
    np.testing.assert_array_equal(table.values[:, place], ~frame["smoker"])


def test_the_order_in_a_table_stays(frame):
    table = load_table(frame, types={"city": ["Rome", "Oslo", "Bonn"]})
    assert load_table(table, types={"city": ["Rome", "Oslo", "Bonn"]}).kinds == table.kinds
    with pytest.raises(OptionError, match="the levels of 'city' are Rome < Oslo < Bonn in this table: give another"):
        load_table(table, types={"city": ["Bonn", "Oslo", "Rome"]})
    with pytest.raises(OptionError, match="the levels of 'rating' are 1 < 2 < 3 < 4 < 5 in this table"):
        load_table(table, types={"rating": [2, 1, 3, 4, 5]})
    number = load_table(frame, types={"rating": "number"})
    assert load_table(number, types={"rating": "ordinal"}).kinds[2].n_levels == 5


@pytest.mark.parametrize("scale", [1.0, -0.37])
def test_the_kind_does_not_depend_on_units(scale):
    steps = np.repeat([0.0, 1.0, 2.0], 10)
    assert kind_of(scale * steps + 0.1).name == "ordinal"
    assert kind_of(scale * (steps > 0) + 0.1).name == "binary"


def test_few_rows_tell_nothing():
    assert {kind.name for kind in load_table(np.random.default_rng(0).integers(0, 9, (12, 3))).kinds} == {"number"}


def test_missing_cells_are_no_level(frame):
    holes = frame.astype({"city": object})
    holes.loc[3, "city"] = None
    holes.loc[4, "city"] = "?"
    holes.loc[5, "rating"] = np.nan
    table = load_table(holes, missing="drop")
    assert table.n_samples == ROWS - 3
    assert table.kinds[5].labels == ("Bonn", "Oslo", "Rome")
    assert table.kinds[2].labels == ("1", "2", "3", "4", "5")
    assert any("'city' had texts that stand for missing values" in remark for remark in table.remarks)


def test_numbers_spelled_out(frame):
    spelled = frame.assign(
        pay=[f"{1000 + 7 * k:,}" for k in range(ROWS)],
        dose=["?", *(f"{k / 7:.3f}" for k in range(1, ROWS))],
        odd=[f"{k**2 / 7:.3f}" for k in range(ROWS - 1)] + ["none"],
    )
    table = load_table(spelled, missing="drop", na=("?", "none"))
    assert table.values[0, 7] == 1007
    assert table.n_samples == ROWS - 2
    assert names_of(table)["pay"] == "number"
    with pytest.raises(DataError, match="'odd' holds text, first 'none' in row 60, among numbers"):
        load_table(spelled)


def test_columns_that_label_rows_are_left_out_with_a_word(frame):
    labeled = frame.assign(patient_id=np.arange(ROWS) * 3 + 1000, who=[f"P{k:03}" for k in range(ROWS)])
    table = load_table(labeled)
    assert table.names == tuple(frame.columns)
    assert any("'patient_id', 'who' label the rows" in remark for remark in table.remarks)
    kept = load_table(labeled.drop(columns="who"), types={"patient_id": "number"})
    assert "patient_id" in kept.names
    assert "paid" in load_table(frame.assign(paid=np.arange(ROWS) ** 2)).names


def test_categories_may_tell_the_same(frame):
    doubled = frame.assign(town=frame["city"].map({"Rome": "r", "Bonn": "z", "Oslo": "a"}))
    table = load_table(doubled)
    assert "town" not in table.names
    assert any("'town' says the same as 'city' and is left out" in remark for remark in table.remarks)


def test_kinds_go_where_the_table_goes(frame):
    table = load_table(frame)
    assert load_table(table, leave_out=["number", "flag"]).kinds == tuple(table.kinds[k] for k in (1, 2, 3, 5, 6))
    assert table.with_rows(np.arange(10), np.random.default_rng(0)).kinds == table.kinds
    assert Table(np.zeros((3, 2)), ("a", "b"), True).kinds == (ColumnKind("number"),) * 2


def test_methods_that_take_numbers_refuse_categories(frame):
    with pytest.raises(DataError, match=r"column 'city' is categorical, and this method \(EqVar\) takes numbers"):
        discover(frame, method="eqvar")
