"""Loading: every refusal reads as one sentence, and the caller's data stays as it is."""

import datetime
import gzip
import logging
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from precede.data.load import load_table
from precede.data.numbers import spells_number
from precede.errors import DataError, OptionError
from precede.simulation import simulate


@pytest.fixture
def values():
    return np.random.default_rng(0).normal(size=(40, 3))


@pytest.fixture
def frame(values):
    return pd.DataFrame(values, columns=["a", "b", "c"])


@pytest.fixture
def file(tmp_path):
    def write(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_array_is_a_read_only_view(values):
    table = load_table(values)
    assert np.shares_memory(table.values, values)
    assert not table.values.flags.writeable
    assert values.flags.writeable
    assert (table.names, table.labeled, table.remarks) == ((0, 1, 2), False, ())
    assert (table.n_samples, table.n_variables) == (40, 3)


def test_frame_is_not_copied(frame):
    table = load_table(frame)
    assert np.shares_memory(table.values, frame.to_numpy())
    assert (table.names, table.labeled) == (("a", "b", "c"), True)


def test_names_that_are_not_strings_are_kept(values):
    table = load_table(pd.DataFrame(values, columns=[2, 0, 1]))
    assert (table.names, table.labeled) == ((2, 0, 1), False)


@pytest.mark.parametrize(
    "convert",
    [
        lambda x: x.tolist(),
        lambda x: np.asfortranarray(x),
        lambda x: torch.from_numpy(x.copy()).requires_grad_(),
        lambda x: np.ma.masked_array(x),
        lambda x: x.astype(object),
        lambda x: x.astype(">f8"),
    ],
)
def test_array_likes(values, convert):
    assert np.array_equal(load_table(convert(values)).values, values)


def test_other_frames(frame):
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    eager = polars.DataFrame({name: frame[name].to_numpy() for name in frame})
    for source in (eager, eager.lazy(), pyarrow.Table.from_pandas(frame)):
        table = load_table(source)
        assert np.array_equal(table.values, frame.to_numpy())
        assert table.names == ("a", "b", "c")
    with pytest.raises(DataError, match="a Series is one variable"):
        load_table(eager["a"])
    with pytest.raises(DataError, match=r"1 of the 160 values are missing, in column 'k' \(1\)"):
        load_table(eager.with_columns(k=polars.Series([None, *range(39)])), missing="refuse")
    with pytest.raises(DataError, match="column 'k' holds dates"):
        load_table(eager.with_columns(k=polars.lit(datetime.date(2020, 1, 1))))
    with pytest.raises(DataError, match="column 'k' is constant \\(every value is 'x'"):
        load_table(eager.with_columns(k=polars.lit("x")))


def test_integers_booleans_and_nullable_columns_become_floats(frame):
    mixed = frame.assign(
        i=np.arange(40) // 2,
        t=np.arange(40) % 3 == 0,
        n=pd.array(range(5, 45), dtype="Int64") ** 2,
        o=pd.Series([1, 2.5] * 20, dtype=object),
        f=frame["a"].astype("float32") * frame["b"],
    )
    before = mixed.copy()
    table = load_table(mixed)
    assert table.values.dtype == np.float64
    assert np.array_equal(table.values[:, 4], np.arange(40) % 3 == 0)
    assert table.remarks == (
        "Kinds of columns: 't', 'o' binary, 'i' a count; the others are numbers. types=... changes a kind.",
    )
    pd.testing.assert_frame_equal(mixed, before)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda f: f.assign(t=[1.5] * 39 + ["n. a."]),
            r"'t' holds text, first 'n. a.' in row 40, among numbers: na=\['n. a.'\] makes it missing",
        ),
        (
            lambda f: f.assign(t=[f"name {k // 2}" for k in range(40)]),
            r"'t' holds text, first 'name 0' in row 1, and has 20 distinct ones in 40 rows, too many",
        ),
        (
            lambda f: f.assign(t="w", d="2020-01-01", k=5, b=np.nan),
            r"5 problems: \(1\) column 'd' holds dates.*\(2\) column 't' is constant \(every value is 'w'\).*; "
            r"\(3\) every value of 'b' is missing.*; \(4\) column 'k' is constant.*; "
            r"\(5\) 40 of the 160 values are missing, in column 'b' ",
        ),
        (lambda f: f.assign(d=pd.Timestamp("2020-01-01")), r"column 'd' holds dates: .*days since"),
        (lambda f: f.assign(d=[datetime.date(2020, 1, 1)] * 40), r"column 'd' holds dates"),
        (lambda f: f.assign(d="2020-01-01"), r"column 'd' holds dates"),
        (lambda f: f.assign(d=pd.Timedelta("1D")), r"column 'd' holds dates"),
        (lambda f: f.assign(z=1j), r"column 'z' holds complex numbers"),
        (lambda f: f.assign(k=5), r"column 'k' is constant \(every value is 5\): leave it out"),
        (lambda f: f.assign(k=5, l=0.1), r"columns 'k', 'l' are constant: leave them out"),
        (lambda f: f.assign(k=[np.inf, -np.inf] * 20), r"40 of the 160 values are infinite, in column 'k'"),
        (
            lambda f: f.assign(k=[1.0, np.nan] * 20),
            r"20 of the 160 values are missing, in column 'k' \(20\): missing='em'",
        ),
        (lambda f: f.assign(k=f["a"] * 1e200), r"column 'k' has values of size .e\+200"),
        (lambda f: f.assign(k=f["a"] * 1e-200), r"column 'k' has values of size .e-200"),
        (lambda f: f.head(3), r"3 rows for 3 variables: it needs more rows than columns"),
        (lambda f: f.head(0), r"0 rows and 3 columns"),
        (lambda f: f[[]], r"0 columns"),
        (lambda f: f[["b"]], r"only one variable, 'b'"),
        (lambda f: f[["b"]].assign(k=f["b"]), r"column 'k' is a copy of 'b': leave one of them out"),
        (lambda f: f["b"], r"this Series has 1 dimension"),
        (lambda f: pd.concat([f, f[["b"]]], axis=1), r"more than one column is named 'b'"),
        (lambda f: f.to_records(index=False), r"structured array"),
        (lambda f: np.zeros((3, 3, 3)), r"has 3 dimensions"),
        (lambda f: 3, r"this int has 0 dimensions"),
        (lambda f: [[1, 2], [3]], r"cannot be read as a matrix"),
        (lambda f: np.array([["u", "v"], ["w", "x"], ["y", "z"]]), r"2 problems: \(1\) column 0 holds text"),
        (lambda f: f.assign(**{f"v{k}": np.nan for k in range(7)}), r"'v4' \(40\) and 2 more"),
    ],
)
def test_refusals(frame, make, words):
    source = make(frame)
    with pytest.raises(DataError, match=words) as caught:
        load_table(source, missing="refuse")
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


def test_sparse_matrices_are_refused(values):
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(DataError, match="toarray"):
        load_table(sparse.csr_array(values))


def test_very_different_scales_are_fine(frame):
    scaled = frame * [1e-12, 1.0, 1e12] + [0, 0, 1e14]
    scaled["d"] = 1e9 + 1e-3 * frame["a"] * frame["b"]
    scaled["e"] = np.r_[np.zeros(39), 1.0]
    assert load_table(scaled).n_variables == 5


def test_strong_but_inexact_dependence_is_fine():
    rng = np.random.default_rng(0)
    a = rng.normal(size=500)
    near = np.stack([a, a + 1e-5 * rng.normal(size=500), rng.normal(size=500)], axis=1)
    assert load_table(near).n_variables == 3
    assert load_table(simulate("sf", 60, 5, random_state=2).data).n_variables == 60


def test_drop_and_impute(frame):
    frame.iloc[3, 0] = frame.iloc[5, 1] = frame.iloc[5, 2] = np.nan
    before = frame.copy()
    dropped, imputed = load_table(frame, missing="drop"), load_table(frame, missing="impute")
    assert np.array_equal(dropped.values, frame.dropna().to_numpy())
    assert dropped.remarks[0].startswith("2 of 40 rows were dropped for missing values in columns 'a' (1)")
    assert np.allclose(imputed.values, frame.fillna(frame.mean()))
    assert imputed.remarks[0].startswith("2.5% of the cells are missing, most in 'a' (2.5%)")
    assert "replaced by the column's mean" in imputed.remarks[0]
    assert not imputed.values.flags.writeable
    pd.testing.assert_frame_equal(frame, before)
    array = before.to_numpy(copy=True)
    load_table(array, missing="impute")
    assert np.isnan(array).sum() == 3


def test_missing_that_cannot_be_mended(frame):
    halves = frame.assign(k=frame["a"].mask(np.arange(40) < 20), l=frame["b"].mask(np.arange(40) >= 20))
    with pytest.raises(DataError, match="0 rows and 5 columns once the rows with missing values are dropped"):
        load_table(halves, missing="drop")
    for missing in ("impute", "drop"):
        with pytest.raises(DataError, match="every value of 'k' is missing"):
            load_table(frame.assign(k=np.nan), missing=missing)
    with pytest.raises(OptionError, match="did you mean 'drop'"):
        load_table(frame, missing="dropp")


@pytest.mark.parametrize(
    "options", [{}, {"sep": ";"}, {"sep": ";", "decimal": ","}, {"sep": "\t"}, {"sep": "|"}, {"sep": " "}]
)
def test_csv_dialects(frame, file, options):
    table = load_table(file(frame.to_csv(index=False, **options)))
    assert np.allclose(table.values, frame.to_numpy(), rtol=1e-14, atol=0)
    assert table.names == ("a", "b", "c")


def test_csv_details(frame, file):
    odd = frame.rename(columns={"a": "größe, netto", "b": 'say "x"', "c": " c "})
    text = "\ufeff" + odd.to_csv(index=False, lineterminator="\r\n") + "\r\n\r\n"
    assert load_table(str(file(text))).names == ("größe, netto", 'say "x"', "c")
    assert load_table(file(gzip.compress(frame.to_csv(index=False).encode()), "d.csv.gz")).n_samples == 40
    assert load_table(file("0,1\n1,2\n3,5\n4,4\n")).names == ("0", "1")
    assert "'b' binary" in load_table(file("a,b\n1,True\n3,False\n4,True\n")).remarks[0]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("a,b\n1,2\n3,5\n4,4\n", [[1, 2], [3, 5], [4, 4]]),
        ("\n a ,b\r\n\r\n1e-3, -2.5\r\n .5,5\r\n+4,0.1\r\n", [[0.001, -2.5], [0.5, 5], [4, 0.1]]),
        ("a b\n1  2\n 3 5\n4 4", [[1, 2], [3, 5], [4, 4]]),
        ("a;b\n1,5;2\n3;5\n4;4\n", [[1.5, 2], [3, 5], [4, 4]]),
        ("a\tb\n0.1\t2\n0.30000000000000004\t5\n1e22\t4\n", [[0.1, 2], [0.30000000000000004, 5], [1e22, 4]]),
        ('"a","b"\n"1",2\n3,5\n4,4\n', [[1, 2], [3, 5], [4, 4]]),
        ("a,b\n1,NaN\n3,5\n4,4\n6,1\n", [[3, 5], [4, 4], [6, 1]]),
        ("a,b\n1,\n3,5\n4,4\n5,9\n", [[3, 5], [4, 4], [5, 9]]),
        ("a,b\n1,inf\n3,5\n4,4\n", "infinite"),
        ("a,b\n1,2,\n3,5,\n4,4,\n", "the first column of d.csv has no name"),
        ("a,b\n1,#2\n3,5\n4,4\n", "'#2' in row 1, among numbers"),
        ("a,b\n1_0,2\n3,5\n4,4\n", "'1_0' in row 1, among numbers"),
        ("a,b\n0x10,2\n3,5\n4,4\n", "'0x10' in row 1, among numbers"),
    ],
)
def test_small_files(file, text, read):
    if isinstance(read, str):
        with pytest.raises(DataError, match=read):
            load_table(file(text, "d.csv"), missing="drop")
    else:
        table = load_table(file(text), missing="drop")
        assert (table.names, table.values.tolist()) == (("a", "b"), read)


CELLS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False, width=32).map(repr),
    st.floats(-1e6, 1e6).map("{:+.3e}".format),
    st.integers(-(10**20), 10**20).map(str),
    st.sampled_from(["-999", "-999.0", "-9.99e2", "+5", ".5", "7.", "1E-3", "-0", " 3", "4 ", "inf", "nan", "NA", ""]),
)
COUNTERS = st.one_of(st.none(), st.integers(0, 2).map(lambda start: [str(start + k) for k in range(24)]))


@settings(deadline=None, max_examples=150, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    rows=st.lists(st.tuples(CELLS, CELLS), min_size=24, max_size=24),
    seed=st.integers(0, 9),
    counter=COUNTERS,
    odd=st.sets(st.integers(0, 23), max_size=3),
    na=st.sampled_from([None, "-999", ["-999", "NA"], ["", "5"], []]),
    delimiter=st.sampled_from([",", ";", "\t"]),
)
def test_every_number_is_the_nearest_float(tmp_path, rows, seed, counter, odd, na, delimiter):
    noise = np.random.default_rng(seed).normal(size=(24, 3)).astype(str)
    table = [[*(["id"] if counter else []), "a", "b", "c"]]
    for k, (a, b) in enumerate(rows):  # in most rows plain numbers
        cells = [a, b] if k in odd else noise[k, :2]
        table.append([*([counter[k]] if counter else []), *cells, noise[k, 2]])
    path = tmp_path / "both.csv"
    path.write_text("\n".join(map(delimiter.join, table)))
    try:
        read = load_table(path, missing="drop", **({} if na is None else {"na": na}))
    except DataError:  # what is refused is the matter of other tests
        return
    header, cells = table[0], np.array(table[1:])
    kept = np.arange(24) if read.rows is None else read.rows
    for name, column in zip(read.names, read.values.T, strict=True):
        if all(map(spells_number, own := cells[kept, header.index(name)])):  # words have places of their own
            assert column.tolist() == own.astype(float).tolist()


def test_markers_that_are_numbers_count_in_every_source(file, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 2)).round(3), columns=["a", "b"])
    frame["n"] = rng.integers(0, 50, size=60)
    frame.loc[:9, "b"], frame.loc[5:7, "n"] = -999.0, -999
    frame.to_parquet(tmp_path / "data.parquet")
    frame.to_excel(tmp_path / "data.xlsx", index=False)
    spelled = frame.assign(b=frame["b"].map(str))
    sources = [frame, frame.astype(float), frame.to_numpy(), spelled, file(frame.to_csv(index=False))]
    for source in [*sources, tmp_path / "data.parquet", tmp_path / "data.xlsx"]:
        for na in ("-999", ["-999"]):
            table = load_table(source, na=na)
            assert table.gaps.mask.sum(axis=0).tolist() == [0, 10, 3]
            assert table.values.min() > -10
        assert load_table(source).gaps is None
    assert frame["b"].min() == -999  # the caller's own


def test_columns_that_label_rows_are_left_out_of_every_source(file, frame):
    numbered = frame.assign(id=np.arange(1, 41))
    for source in (numbered, numbered.astype(float), file(numbered.to_csv(index=False))):
        table = load_table(source)
        assert table.names == ("a", "b", "c")
        assert table.remarks == ("column 'id' labels the rows, so it was left out.",)
        assert load_table(source, types={"id": "number"}).names == ("a", "b", "c", "id")


def test_interventions_may_name_columns_by_number(file):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(30, 2)), columns=["0", "1"]).assign(set=rng.permutation([0, 1] * 15))
    targets = load_table(file(frame.to_csv(index=False)), interventions="set").targets
    np.testing.assert_array_equal(targets[:, 1], frame["set"] == 1)


def test_index_column_is_left_out_with_a_remark(frame, file, caplog):
    with caplog.at_level(logging.WARNING, logger="precede"):
        table = load_table(file(frame.to_csv()))
    assert table.names == ("a", "b", "c")
    assert "only counts the rows" in table.remarks[0]
    assert "only counts the rows" in caplog.text
    r_style = frame.set_axis(range(1, 41)).to_csv(header=False)
    assert load_table(file("a,b,c\n" + r_style)).names == ("a", "b", "c")


def test_parquet(frame, tmp_path):
    pytest.importorskip("pyarrow")
    frame.to_parquet(tmp_path / "data.parquet")
    assert np.array_equal(load_table(tmp_path / "data.parquet").values, frame.to_numpy())


@pytest.mark.parametrize(
    ("content", "name", "words"),
    [
        ("", "data.csv", r"data.csv is empty"),
        (" \n\n", "data.csv", r"data.csv is empty"),
        ("a,b\n", "data.csv", r"data.csv: the data has 0 rows and 2 columns"),
        ("a,a\n1,2\n3,5\n4,4\n", "data.csv", r"data.csv: more than one column is named 'a'"),
        ("a,,b\n1,2,3\n", "data.csv", r"column 2 has no name"),
        (",a\nx,1\ny,2\n", "data.csv", r"the first column of data.csv has no name and does not just count"),
        ("1.5,2\n3,4\n5,6\n", "data.csv", r"the first line of data.csv holds numbers \(1.5, 2, ...\), not names"),
        (
            "a,b\n1,2\n3,4,5\n6,7\n",
            "data.csv",
            r"data.csv is not a well-formed table: Expected 2 fields in line 3, saw 3",
        ),
        ("a,b\n1,2,3,4\n3,4,5,6\n", "data.csv", r"data.csv (has lines with more fields|is not a well-formed table)"),
        ('a,b\n1,"2\n3,4\n', "data.csv", r"data.csv"),
        ("a,b\nx,2\ny,3\nz,4\n", "data.csv", r"data.csv: column 'a' holds text, first 'x' in row 1"),
        ("a,b\n2020-01-31,2\n2020-02-01,3\n4,4\n", "data.csv", r"column 'a' holds dates"),
        ("a,b\n1,2\n3,\n5,6\n7,9\n", "data.csv", r"1 of the 8 values are missing, in column 'b' \(1\)"),
        ("a,b\n1,2\n3,inf\n5,6\n7,9\n", "data.csv", r"infinite, in column 'b'"),
        (b"\x00\xff\x13" * 50, "data.csv", r"data.csv is not a text file"),
        (b"PK\x03\x04rest", "data.xlsx", r"data.xlsx is not a readable Excel file"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0)[:12], "data.csv.gz", r"data.csv.gz' cannot be read"),
        (b"PAR1 and then nonsense", "data.parquet", r"data.parquet is not a readable Parquet file"),
        (b"PAR1", "data.parquet", r"data.parquet is not a readable Parquet file"),
    ],
)
def test_bad_files(file, content, name, words):
    with pytest.raises(DataError, match=words) as caught:
        load_table(file(content, name), missing="refuse")
    assert "\n" not in str(caught.value)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(DataError, match=r"there is no file '.*nope.csv'"):
        load_table(tmp_path / "nope.csv")
    with pytest.raises(DataError, match="is a directory"):
        load_table(tmp_path)
    with pytest.raises(DataError, match="cannot be read"):
        load_table("nul\0byte.csv")


def test_bytes_that_stop_being_utf8_after_the_header(file):
    with pytest.raises(DataError, match="column 'a' holds text, first 'ÿ' in row 40001, among numbers"):
        load_table(file(b"a,b\n" + b"1,2\n3,9\n" * 20_000 + b"\xff,1\n"))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8", "utf-8-sig", "latin-1", "cp1252"])
def test_encodings(frame, file, encoding):
    odd = frame.rename(columns={"a": "größe", "b": "señal"})
    table = load_table(file(odd.to_csv(index=False).encode(encoding)))
    assert table.names == ("größe", "señal", "c")
    np.testing.assert_allclose(table.values, frame.to_numpy(), rtol=1e-14)
    assert any("read as Latin-1" in remark for remark in table.remarks) == (encoding in ("latin-1", "cp1252"))


def test_dots_between_thousands(file):
    rows = "".join(f"{k}.{k + 100}.000,5;{k * k}\n" for k in range(1, 9))
    table = load_table(file("pay;n\n" + rows))
    assert table.values[0, 0] == 1101000.5


def test_none_is_a_word(file):
    rows = "".join(f"{['None', 'Mild', 'NA'][k % 3]},{k * k}\n" for k in range(60))
    table = load_table(file("pain,n\n" + rows), missing="drop")
    assert table.kinds[0].labels == ("Mild", "None")
    assert table.n_samples == 40


def test_excel(frame, tmp_path):
    pytest.importorskip("openpyxl")
    words = frame.assign(city=["Rome", "Bonn"] * 20)
    with pd.ExcelWriter(tmp_path / "data.xlsx") as book:
        words.to_excel(book, sheet_name="rows", index=False)
        words.to_excel(book, sheet_name="notes", index=False)
    table = load_table(tmp_path / "data.xlsx")
    assert table.names == ("a", "b", "c", "city")
    np.testing.assert_allclose(table.values[:, :3], frame.to_numpy())
    assert "the first sheet, 'rows', was read, 'notes' not" in table.remarks[0]


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.binary(max_size=80), st.text(alphabet='ab1.,;\t\n\r" -e|#', max_size=80).map(str.encode)))
def test_any_bytes_give_a_table_or_a_sentence(tmp_path, content):
    path = tmp_path / "fuzz.csv"
    path.write_bytes(content)
    try:
        assert np.isfinite(load_table(path).values).all()
        sentence = "fine."
    except DataError as error:
        sentence = str(error)
    assert sentence
    assert "\n" not in sentence


def test_checks_cost_little_memory():
    data = np.random.default_rng(0).normal(size=(300_000, 10))  # 24 MB
    tracemalloc.start()
    table = load_table(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.shares_memory(table.values, data)
    assert peak < data.nbytes


# columns that are left out


@pytest.mark.parametrize("kind", ["frame", "polars", "csv", "numbers", "table"])
def test_columns_can_be_left_out(tmp_path, kind):
    frame = pd.DataFrame({"a": [1.0, 2, 4, 3], "b": [2.0, 1, 0, 5], "id": list("wxyz"), "k1": 7.0, "k2": 8.0})
    source, leave_out = frame, ["id", "k*"]
    if kind == "polars":
        source = pytest.importorskip("polars").from_pandas(frame)
    elif kind == "csv":
        source = tmp_path / "data.csv"
        frame.to_csv(source, index=False)
    elif kind == "numbers":
        source, leave_out = tmp_path / "data.csv", ["k*"]
        frame.drop(columns="id").to_csv(source, index=False)
    elif kind == "table":
        source, leave_out = load_table(frame.drop(columns=["id", "k1", "k2"]).assign(c=[0.0, 1, 1, 0])), ["c"]
    table = load_table(source, leave_out=leave_out)
    assert table.names == ("a", "b")
    np.testing.assert_array_equal(table.values, frame[["a", "b"]])
    assert any("Left out as asked" in remark for remark in table.remarks)
    assert frame.shape == (4, 5)


def test_columns_of_an_array_can_be_left_out():
    values = np.random.default_rng(0).normal(size=(9, 3))
    table = load_table(values, leave_out=[1])
    assert table.names == (0, 2)
    np.testing.assert_array_equal(table.values, values[:, [0, 2]])


def test_a_column_to_leave_out_that_is_not_there_is_named():
    frame = pd.DataFrame({"a": [1.0, 2, 4, 3], "b": [2.0, 1, 0, 5]})
    with pytest.raises(DataError, match="leave_out names 'c', which is not a column; the columns are 'a', 'b'"):
        load_table(frame, leave_out=["c"])
    with pytest.raises(DataError, match="only one variable"):
        load_table(load_table(frame), leave_out=["a"])


def test_a_columns_own_name_is_no_pattern():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(9, 4)), columns=["x[1]", "x1", "y?", "yz"])
    assert load_table(frame, leave_out=["x[1]", "y?"]).names == ("x1", "yz")
    assert load_table(frame, leave_out="x1").names == ("x[1]", "y?", "yz")  # not the letters of a text
    assert load_table(frame, leave_out=frame.columns[:2]).names == ("y?", "yz")


def test_a_code_for_missing_may_stand_in_one_column_alone(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(20, 90, 60), "change": rng.integers(-9, 9, 60), "x": rng.normal(size=60)})
    frame.loc[:4, ["age", "change"]] = -1
    frame.to_csv(tmp_path / "data.csv", index=False)
    for source in (frame, frame.astype(float), tmp_path / "data.csv"):
        table = load_table(source, na=["age=-1"])
        assert table.gaps is not None
        assert table.gaps.mask.sum(axis=0).tolist() == [5, 0, 0]
    assert (frame["age"][:5] == -1).all()  # the caller's data stay


def test_levels_that_differ_in_case_and_blanks_are_one() -> None:
    rng = np.random.default_rng(0)
    spellings = rng.choice(["male", "Male ", "M", "female", "f", "FEMALE"], 90)
    frame = pd.DataFrame({"sex": spellings, "gene": rng.choice(["AA", "Aa", "aa"], 90), "x": rng.normal(size=90)})
    table = load_table(frame)
    assert [str(kind) for kind in table.kinds] == ["binary", "categorical (3 levels)", "number"]
    assert any("spells some levels in several ways" in remark for remark in table.remarks)
    told = {"sex": ["f", "FEMALE", "female", "M", "Male ", "male"]}
    assert str(load_table(frame, types=told).kinds[0]) == "ordinal (6 levels)"  # as the user says
