"""Files in hundreds of dialects: each is read exactly or refused in a sentence, and none is read wrong."""

import csv
import io
import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import precede as pc
from precede.cli import app
from precede.data.numbers import decimal_mark, spelling_of
from precede.errors import DataError, OptionError

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|", "space": " "}
MARKS = ((".", ""), (".", ","), (".", "'"), (".", "\u00a0"), (",", ""), (",", "."), (",", " "), (",", "\u202f"))
QUOTING = {"needed": csv.QUOTE_MINIMAL, "all": csv.QUOTE_ALL}
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "cp1252")
HEADERS = (["pay", "dose", "n"], ['pay; "net", in k', "dose|day", "größe n"])
RNG = np.random.default_rng(0)
DECIMALS = {
    "varying": np.array([[round(a, k % 4), round(b, 3), c] for k, (a, b, c) in enumerate(zip(
        RNG.normal(5000, 4000, 60), RNG.uniform(0, 3, 60), RNG.integers(-900, 9_000_000, 60), strict=True))]),
    "three": np.column_stack([RNG.uniform(1, 900, 60).round(3), RNG.uniform(1, 99, 60).round(3),
                              RNG.integers(1000, 900_000, 60)]),
}  # fmt: skip


def spelled(value: float, digits: int, marks: tuple[str, str]) -> str:
    text = f"{value:,.{digits}f}"
    return text.translate({ord("."): marks[0], ord(","): marks[1]})


def written(values: np.ndarray, delimiter: str, marks: tuple[str, str], quoting: int, names: list[str]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, quoting=quoting, lineterminator="\n")
    writer.writerow(names)
    for a, b, c in values:
        digits = len(f"{a:.3f}".rstrip("0").partition(".")[2])
        writer.writerow([spelled(a, digits, marks), spelled(b, 3, marks), spelled(c, 0, marks)])
    return buffer.getvalue()


@pytest.mark.parametrize("which", DECIMALS)
def test_every_dialect_is_read_exactly_or_refused(tmp_path: Path, which: str) -> None:
    """320 files of the two kinds; what is refused says so in one sentence."""
    values, read, refused = DECIMALS[which], 0, []
    path = tmp_path / "data.csv"
    cases = itertools.product(DELIMITERS.items(), MARKS, QUOTING.items(), HEADERS)
    for k, ((name, delimiter), marks, (how, quoting), names) in enumerate(cases):
        encoding = ENCODINGS[(k + k // 4) % 4]
        if encoding == "cp1252" and "\u202f" in marks:
            encoding = "utf-8"
        text = written(values, delimiter, marks, quoting, names)
        path.write_bytes(text.encode(encoding))
        case = (name, marks, how, encoding, names[0])
        try:
            table = pc.load_table(path)
        except DataError as error:
            refused.append((case, str(error)))
            continue
        assert table.names == tuple(names), case
        assert np.array_equal(table.values, values), case
        read += 1
    assert read + len(refused) == 160
    assert not any("\n" in sentence for _, sentence in refused)
    if which == "varying":
        assert not refused, refused[:5]
    else:  # where every number has three decimals, a comma may be either
        assert {case[1] for case, _ in refused} <= {(",", "")}, refused[:5]
        assert all("may stand for thousands or decimals" in sentence for _, sentence in refused)


@pytest.mark.parametrize("delimiter", ["\t", ";", "|"])
def test_commas_far_down_decide_for_the_whole_file(tmp_path: Path, delimiter: str) -> None:
    rows = ["a\tb", *(f"{k}\t{k * k}" for k in range(200)), "0,125\t3,5\n"]
    (tmp_path / "data.csv").write_text("\n".join(rows).replace("\t", delimiter))
    table = pc.load_table(tmp_path / "data.csv")
    assert table.values[-1].tolist() == [0.125, 3.5]
    assert table.values[100].tolist() == [100.0, 10_000.0]


def test_points_between_thousands_where_commas_mark_decimals(tmp_path: Path) -> None:
    """1.234 is a number for every parser, and here it is another one."""
    rows = "".join(f"{k},5;{k}.{100 + k * k % 800}\n" for k in range(1, 50))
    (tmp_path / "data.csv").write_text("a;b\n" + rows)
    table = pc.load_table(tmp_path / "data.csv")
    assert table.values[1].tolist() == [2.5, 2104.0]


def test_a_column_of_both_marks_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("a;b\n" + "".join(f"{k};{k}{',.'[k % 2]}25\n" for k in range(1, 60)))
    with pytest.raises(DataError, match=r"column 'b' has decimal points and decimal commas: write numbers as 1234\.5"):
        pc.load_table(tmp_path / "data.csv")


@pytest.mark.parametrize(
    ("cells", "mark"),
    [(["0,123"], ","), (["1.234,5"], ","), (["1,234.5"], "."), (["1.234.567"], ","), (["1,234"], None),
     (["1.234"], "."), (["1,5", "1.5"], None), (["12,34,567"], "."), (["1 234,567"], ","), (["5", "-3"], "."),
     ([*(f"1,{k}" for k in range(100, 120)), "950", "12"], ".")],
)  # fmt: skip
def test_the_decimal_mark(cells: list[str], mark: str | None) -> None:
    assert decimal_mark([spelling_of(cells)]) == mark


# units


@pytest.mark.parametrize(
    ("write", "unit"),
    [
        ("{}%", "%"), ("$ {}", "$"), ("{} €", "€"), ("{} mg/dL", "mg/dL"), ("{} °C", "°C"), ("{}kg", "kg"),
        ("€{}", "€"),
    ],
)  # fmt: skip
def test_numbers_with_a_unit_are_read_and_the_unit_is_told(tmp_path: Path, write: str, unit: str) -> None:
    values = np.random.default_rng(0).normal(size=(60, 2)).round(2)
    cells = [write.format(value) for value in values[:, 0]]
    frame = pd.DataFrame({"a": cells, "b": values[:, 1]})
    frame.to_csv(tmp_path / "data.csv", index=False)
    frame.to_excel(tmp_path / "data.xlsx", index=False)
    for source in (frame, tmp_path / "data.csv", tmp_path / "data.xlsx"):
        table = pc.load_table(source)
        assert np.array_equal(table.values, values)
        assert f"column 'a' holds numbers in {unit}, read without the unit." in table.remarks


def test_spaces_between_thousands_are_read(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("a;b\n" + "".join(f"{k} 234,5;{k * k}\n" for k in range(1, 60)))
    assert pc.load_table(tmp_path / "data.csv").values[1].tolist() == [2234.5, 4.0]


@pytest.mark.parametrize(
    ("write", "words"),
    [
        (lambda k: f"{k}/{k + 1}", "holds fractions, first '0/1' in row 1"),
        (lambda k: f"{k}-{k + 5}", "holds intervals, first '0-5' in row 1"),
        (lambda k: f"[{k}, {k + 5})", "holds intervals"),
        (lambda k: f"{k} to {k + 5}", "holds intervals"),
        (lambda k: f"{k}.5 ± 0.{k}", "holds numbers with their errors"),
        (lambda k: f"<{k}", "holds limits"),
        (lambda k: f"{k} {['kg', 'g'][k % 2]}", "holds numbers with different units, first '0 kg' in row 1"),
    ],
)
def test_measurements_are_never_taken_for_labels(write: object, words: str) -> None:
    frame = pd.DataFrame({"a": [write(k) for k in range(60)], "b": np.arange(60) ** 2.0})  # type: ignore[operator]
    with pytest.raises(DataError, match=f"column 'a' {words}.*write one number in each cell") as error:
        pc.load_table(frame)
    assert "label" not in str(error.value)


def test_age_groups_stay_levels() -> None:
    frame = pd.DataFrame({"a": ["18-25", "26-40", "41-65"] * 20, "b": np.arange(60) ** 2.0})
    assert pc.load_table(frame).kinds[0].labels == ("18-25", "26-40", "41-65")


def test_a_table_of_labels_alone_says_so() -> None:
    frame = pd.DataFrame({"a": [f"p{k}" for k in range(60)], "b": [f"q{k}" for k in range(60)]})
    with pytest.raises(DataError, match="60 rows and 0 columns once columns that label the rows are left out"):
        pc.load_table(frame)


# headers, Excel, Parquet, large numbers


def test_headers_with_quoted_delimiters_and_odd_line_ends(tmp_path: Path) -> None:
    names = ["a;b;c;d", "x\u0085y", "u\u2028v"]
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 3)), columns=names)
    frame.to_csv(tmp_path / "data.csv", index=False)
    assert pc.load_table(tmp_path / "data.csv").names == tuple(names)
    quoted = tmp_path / "quoted.csv"
    quoted.write_text('"Height, cm, lying";"Weight, kg, dry"\n' + "".join(f"{k};{k * k}\n" for k in range(30)))
    assert pc.load_table(quoted).names == ("Height, cm, lying", "Weight, kg, dry")


def test_a_header_longer_than_the_sample(tmp_path: Path) -> None:
    names = [f"a column with a long name, number {k:05d}" for k in range(3000)]  # 120 KB
    values = np.random.default_rng(0).normal(size=(4, 3000))
    pd.DataFrame(values, columns=names).to_csv(tmp_path / "data.csv", index=False)
    with pytest.raises(DataError, match="4 rows for 3000 variables"):
        pc.load_table(tmp_path / "data.csv")


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["a", "a"], "more than one column is named 'a'"),
        (["a", None], "column 2 has no name"),
        ([1.5, 2.5], r"the first line of data.xlsx holds numbers \(1.5, 2.5, ...\), not names"),
        ([None, "b"], "the first column of data.xlsx has no name and does not just count the rows"),
    ],
)
def test_a_sheet_is_checked_as_a_csv_file_is(tmp_path: Path, names: list[object], words: str) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (names, *((k * k + 5, k) for k in range(30))):
        book.active.append(list(row))
    book.save(tmp_path / "data.xlsx")
    with pytest.raises(DataError, match=words):
        pc.load_table(tmp_path / "data.xlsx")


def test_an_index_of_parquet_that_was_a_column_is_one_again(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    values = np.random.default_rng(0).normal(size=(30, 3))
    frame = pd.DataFrame(values, columns=["a", "b", "c"])
    frame.set_index("b").to_parquet(tmp_path / "data.parquet")
    table = pc.load_table(tmp_path / "data.parquet")
    assert table.names == ("b", "a", "c")
    assert np.array_equal(table.values, values[:, [1, 0, 2]])
    assert "data.parquet: the index 'b' was read as a column." in table.remarks
    frame.set_index(pd.Index([f"r{k}" for k in range(30)])).to_parquet(tmp_path / "labels.parquet")
    assert any("the index has no name" in remark for remark in pc.load_table(tmp_path / "labels.parquet").remarks)


@pytest.mark.parametrize("kind", ["csv", "frame", "text"])
def test_whole_numbers_that_are_rounded_are_told(tmp_path: Path, kind: str) -> None:
    frame = pd.DataFrame({"a": 2**53 + 1 + 2 * np.arange(30) ** 2, "b": np.arange(30) ** 3})
    source: object = frame if kind != "text" else frame.astype(str)
    if kind == "csv":
        frame.to_csv(tmp_path / "data.csv", index=False)
        source = tmp_path / "data.csv"
    said = pc.load_table(source).remarks
    assert any("column 'a' has whole numbers of more than 15 digits, which were rounded." in remark for remark in said)


@pytest.mark.parametrize("kind", ["csv", "frame"])
def test_an_integer_of_400_digits(tmp_path: Path, kind: str) -> None:
    frame = pd.DataFrame({"a": pd.Series([10**400, *range(29)], dtype=object), "b": np.arange(30) ** 2})
    source: object = frame
    if kind == "csv":
        frame.to_csv(tmp_path / "data.csv", index=False)
        source = tmp_path / "data.csv"
    with pytest.raises(DataError, match=r"'a'"):
        pc.load_table(source)


# what no cell tells is told by the user


@pytest.mark.parametrize(("decimal", "factor"), [(".", 1000.0), (",", 1.0)])
@pytest.mark.parametrize("kind", ["csv", "excel", "frame"])
def test_the_user_says_what_a_comma_is(tmp_path: Path, kind: str, decimal: str, factor: float) -> None:
    values = np.random.default_rng(0).integers(1001, 9999, size=(40, 2)) / 1000
    frame = pd.DataFrame({name: [f"{v:.3f}".replace(".", ",") for v in values[:, k]] for k, name in enumerate("ab")})
    source: Path | pd.DataFrame = frame
    if kind == "csv":
        source = tmp_path / "data.csv"
        frame.to_csv(source, index=False, sep=";")
    elif kind == "excel":
        source = tmp_path / "data.xlsx"
        frame.to_excel(source, index=False)
    np.testing.assert_allclose(pc.load_table(source, decimal=decimal).values, values * factor)
    with pytest.raises(DataError, match=r"decimal='\.' reads \d{4,5}, decimal=',' reads \d+\.\d+"):
        pc.load_table(source)


def test_points_between_thousands_are_read_as_the_user_says(tmp_path: Path) -> None:
    rows = "".join(f"1.{100 + k};{k * k % 37}\n" for k in range(40))
    (tmp_path / "data.csv").write_text("a;b\n" + rows)
    assert pc.load_table(tmp_path / "data.csv").values[3, 0] == 1.103
    assert pc.load_table(tmp_path / "data.csv", decimal=",").values[3, 0] == 1103.0
    with pytest.raises(OptionError, match="decimal=';'"):
        pc.load_table(tmp_path / "data.csv", decimal=";")


def test_the_commands_take_the_decimal_mark(tmp_path: Path) -> None:
    rows = "".join(f"1,{100 + k};{k * k % 37}\n" for k in range(40))
    (tmp_path / "data.csv").write_text("a;b\n" + rows)
    refused = CliRunner().invoke(app, ["discover", str(tmp_path / "data.csv"), "--method=eqvar", "-q"])
    assert refused.exit_code == 2
    assert "--decimal . reads 1100, --decimal , reads 1.1." in " ".join(refused.output.split())
    out = ["--decimal", ","]
    found = CliRunner().invoke(
        app, ["discover", str(tmp_path / "data.csv"), "--method=eqvar", "-q", f"--out={tmp_path / 'out'}", *out]
    )
    assert found.exit_code == 0, found.output
    for command in (["check", str(tmp_path / "data.csv")], ["order", str(tmp_path / "data.csv"), "-q"]):
        assert CliRunner().invoke(app, [*command, *out]).exit_code == 0, command
        assert "--decimal" in CliRunner().invoke(app, command).output, command
    for command in (  # these read a table as discover did, but for what is said anew
        ["effect", str(tmp_path / "out"), "a", "b", "--data", str(tmp_path / "data.csv")],
        ["explain", str(tmp_path / "out"), str(tmp_path / "data.csv"), "--outcome=a", "--row=3"],
    ):
        remembered, said, other = (
            CliRunner().invoke(app, [*command, *flags]) for flags in ([], out, ["--decimal", "."])
        )
        assert remembered.exit_code == said.exit_code == other.exit_code == 0, command
        assert remembered.output == said.output != other.output, command
    assert "--decimal ," in CliRunner().invoke(app, ["check", str(tmp_path / "data.csv"), *out]).output


def test_a_column_of_two_values_is_called_that() -> None:
    """It was "columns 'a' and 'a'"."""
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)), columns=list("abc"))
    frame.loc[2:, "a"] = np.nan
    with pytest.raises(DataError, match=r"column 'a' has only 2 values: leave it out\."):
        pc.load_table(frame)
