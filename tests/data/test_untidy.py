"""What ``precede check`` recognizes, and that its command works; benchmarks/untidy_tables.py makes the tables."""

from __future__ import annotations

import importlib.util
import json
import shlex
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import precede as pc
from precede.cli import app
from precede.data import untidy
from precede.data.survey import survey
from precede.simulation import simulate

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "untidy_tables.py"


def _benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("untidy_tables", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TABLES = _benchmark()


@pytest.mark.parametrize("name", TABLES.CASES)
def test_the_mess_is_recognized_and_the_table_can_be_read(name: str, tmp_path: Path) -> None:
    if name in ("workbook", "parquet"):
        pytest.importorskip("openpyxl" if name == "workbook" else "pyarrow")
    path = TABLES.CASES[name].write(np.random.default_rng(list(TABLES.CASES).index(name)), tmp_path)
    answer = json.loads(CliRunner().invoke(app, ["check", str(path), "--json"]).stdout)
    said = " ".join([answer["command"], *(item["sentence"] for item in answer["findings"])])
    assert [words for words in TABLES.CASES[name].expected if words not in said] == []


@pytest.mark.parametrize("name", ["two-codes", "sums", "ambiguous"])
def test_the_command_that_is_printed_reaches_a_report(name: str, tmp_path: Path) -> None:
    _, wrong = TABLES.journey(name, tmp_path, False, ["--method", "eqvar", "--no-stability"])
    assert wrong == []


@pytest.mark.parametrize("name", ["panel", "everything"])
def test_that_of_rows_in_time_and_of_seven_kinds_of_mess_works_as_it_is(name: str, tmp_path: Path) -> None:
    _, wrong = TABLES.journey(name, tmp_path, False)
    assert wrong == []


@pytest.mark.parametrize("sem", ["linear-gaussian", "lingam", "gp", "mlp"])
@pytest.mark.parametrize("digits", [1, 9])
def test_nothing_is_found_in_a_tidy_table(sem: str, digits: int, tmp_path: Path) -> None:
    made = simulate(n_variables=10, degree=2, sem=sem, n_samples=300, random_state=3)
    made.data.round(digits).to_csv(tmp_path / "tidy.csv", index=False)
    found = survey(tmp_path / "tidy.csv")
    assert found.reading == {}
    assert found.table is not None


def test_a_code_is_one_only_where_it_cannot_be_measured() -> None:
    rng = np.random.default_rng(0)
    change = rng.integers(-5, 6, 200).astype(float)  # -1 is a value
    ages = rng.integers(20, 100, 200).astype(float)  # 99 is an age
    signs = rng.choice([-1.0, 0.0, 1.0], 200)
    assert [untidy.codes(column, "x") for column in (change, ages, signs)] == [[], [], []]
    ages[:6] = -1
    assert untidy.codes(ages, "age")[0].options == {"na": ["age=-1"]}
    degrees = rng.normal(8, 9, 200)
    degrees[3] = -999
    assert untidy.codes(degrees, "t")[0].options == {"na": ["t=-999"]}
    pressure = rng.normal(120, 12, 200)
    pressure[:7] = 0
    assert "7 zeros, far from all other values" in untidy.codes(pressure, "p")[0].sentence
    assert untidy.codes(pressure, "p")[0].options == {}  # it may be a measurement


def test_levels_among_numbers_stay_levels() -> None:
    ages = pd.Series(["<40", "40s", "50s", "60+"] * 20)
    assert untidy.words_for_missing(ages, "age") == []
    assert untidy.words_for_missing(pd.Series(["none", "mild", "severe"] * 20), "pain") == []


def test_a_strong_effect_is_no_derived_column() -> None:
    rng = np.random.default_rng(1)
    cause = rng.normal(10, 2, 400).round(1)
    columns = {"cause": cause, "effect": (3 * cause + rng.normal(0, 0.5, 400)).round(1), "other": rng.normal(5, 1, 400)}
    assert untidy.derived(columns) == []
    columns["ratio"] = (columns["effect"] / cause).round(3)
    assert [found.column for found in untidy.derived(columns)] == ["ratio"]


def test_rows_that_are_not_a_series_get_no_lags() -> None:
    dates = pd.date_range("2020-01-01", periods=90).strftime("%d.%m.%Y")
    frame = pd.DataFrame({"day": dates, "x": np.arange(90.0) ** 2})
    assert untidy.rows_in_time(frame)[0].options == {"lags": "auto"}  # the day comes first
    assert untidy.rows_in_time(frame[::-1])[0].options == {}
    assert untidy.rows_in_time(frame.assign(day=frame["day"].to_numpy()[::-1]))[0].options == {}
    durations = pd.DataFrame({"time": [3, 1, 2] * 30, "x": np.arange(90.0)})
    assert untidy.rows_in_time(durations) == []  # a time that was measured


def test_a_series_whose_steps_cannot_be_used_is_read_without_them(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"step": np.arange(80), "a": rng.normal(size=80).cumsum(), "b": rng.normal(size=80)})
    frame["total"] = 3.0 * np.arange(80) + 0.0  # from step to step always the same
    frame.to_csv(tmp_path / "data.csv", index=False)
    found = survey(tmp_path / "data.csv")
    assert found.table is not None
    assert found.reading.get("lags") is None or found.table.steps is not None


def test_a_column_that_is_mostly_empty_is_never_imputed_in_silence(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc"))
    frame.loc[rng.random(200) < 0.7, "c"] = np.nan
    frame.to_csv(tmp_path / "data.csv", index=False)
    assert survey(tmp_path / "data.csv").reading == {"leave_out": ["c"]}
    words = "are missing in more than half of the rows"
    assert any(words in remark and "'c'" in remark for remark in pc.load_table(frame).remarks)
    shown = CliRunner().invoke(app, ["discover", str(tmp_path / "data.csv"), "--method", "eqvar", "--no-stability"])
    assert words in " ".join(shown.output.split())


def test_names_that_need_quoting_come_through(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(50, 9, size=(120, 3)).round(2), columns=["a b", "it's", "-c=d"])
    frame["$(date)"] = 2 * frame["a b"]
    frame.loc[:5, "-c=d"] = -999
    frame["it's"] = frame["it's"].astype(object)
    frame.loc[3:6, "it's"] = "not done"
    frame.to_csv(tmp_path / "data.csv", index=False)
    answer = json.loads(CliRunner().invoke(app, ["check", str(tmp_path / "data.csv"), "--json"]).stdout)
    words = shlex.split(answer["command"])
    assert {"$(date)", "it's=not done"} < set(words)
    assert "--na=-c=d=-999" in words
    done = CliRunner().invoke(app, [*words[1:-2], "--method", "eqvar", "--no-stability", "-q", "--json"])
    assert done.exit_code == 0, done.output
    assert set(json.loads(done.stdout)["order"]) == {"a b", "it's", "-c=d"}


def test_months_are_time_and_lists_are_named(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {"month": pd.period_range("2015-01", periods=60, freq="M").astype(str), "a": rng.normal(size=60)}
    )
    frame["b"] = rng.normal(size=60)
    frame.to_csv(tmp_path / "months.csv", index=False)
    assert survey(tmp_path / "months.csv").reading == {"lags": "auto", "leave_out": ["month"]}
    pytest.importorskip("pyarrow")
    frame["parts"] = [[1, 2]] * 60
    frame.drop(columns="month").to_parquet(tmp_path / "lists.parquet")
    found = survey(tmp_path / "lists.parquet")
    assert found.reading == {"leave_out": ["parts"]}
    assert "holds lists" in found.findings[0].sentence
    pd.DataFrame({"a": [], "b": []}).to_csv(tmp_path / "none.csv", index=False)
    assert survey(tmp_path / "none.csv").table is None
