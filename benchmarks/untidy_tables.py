"""Thirty-five untidy tables, from ``precede check`` through the command it prints to a report.

    OMP_NUM_THREADS=1 python benchmarks/untidy_tables.py [--only NAME ...] [--keep FOLDER] [--shell]

Each table has known columns (a chain of effects) and some mess. ``precede check`` must recognize the mess; the command
it prints is run as it stands, in the folder of the table, and must end with a report. ``--shell`` runs that command
by a shell in a process of its own. Prints the table of docs/results/answers/untidy.md; exit code 1 where one fails.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from precede.cli import app

ROWS = 240
Writer = Callable[[np.random.Generator, Path], Path]


class Case(NamedTuple):
    """A table: what is the matter with it, what check must say or put into the command, and how it is made."""

    kind: str
    expected: Sequence[str]
    write: Writer


def chain(rng: np.random.Generator, rows: int = ROWS) -> pd.DataFrame:
    """Age drives pressure, which drives dose, which drives outcome, beside weight and height."""
    age = rng.normal(50, 12, rows)
    pressure = 80 + 0.9 * age + rng.normal(0, 8, rows)
    dose = 0.2 * pressure + rng.normal(0, 3, rows)
    weight = 75 + 0.2 * age + rng.normal(0, 9, rows)
    outcome = 30 + 1.5 * dose - 0.2 * weight + rng.normal(0, 4, rows)
    return pd.DataFrame({"age": age, "pressure": pressure, "dose": dose, "weight": weight, "outcome": outcome}).round(3)


def series(rng: np.random.Generator, rows: int = ROWS) -> pd.DataFrame:
    """Load drives heat one step later, heat drives wear."""
    noise = rng.normal(size=(rows + 50, 3))
    values = np.zeros_like(noise)
    for t in range(1, len(values)):
        values[t, 0] = 0.7 * values[t - 1, 0] + noise[t, 0]
        values[t, 1] = 0.4 * values[t - 1, 1] + 0.8 * values[t - 1, 0] + noise[t, 1]
        values[t, 2] = 0.9 * values[t, 1] + noise[t, 2]
    return pd.DataFrame(values[50:], columns=["load", "heat", "wear"]).round(4)


def csv(frame: pd.DataFrame, folder: Path, **options: object) -> Path:
    """The frame as a file."""
    path = folder / "table.csv"
    frame.to_csv(path, **{"index": False, **options})  # type: ignore[call-overload]
    return path


def with_columns(make: Callable[[np.random.Generator], pd.DataFrame], **columns: object) -> Writer:
    """A table with more columns in front; a function gets the generator and the table."""

    def write(rng: np.random.Generator, folder: Path) -> Path:
        frame = make(rng)
        for place, (name, column) in enumerate(columns.items()):
            frame.insert(place, name, column(rng, frame) if callable(column) else column)
        return csv(frame, folder)

    return write


def changed(change: Callable[[np.random.Generator, pd.DataFrame], object], **options: object) -> Writer:
    """A table with some of its cells changed in place."""

    def write(rng: np.random.Generator, folder: Path) -> Path:
        frame = chain(rng)
        made = change(rng, frame)
        return csv(made if isinstance(made, pd.DataFrame) else frame, folder, **options)

    return write


def some(rng: np.random.Generator, frame: pd.DataFrame, name: str, value: object, n: int = 12) -> None:
    """Put a value into some cells of a column."""
    rows = rng.choice(len(frame), n, replace=False)
    if isinstance(value, str):
        frame[name] = frame[name].astype(object)
    frame.loc[rows, name] = value


def _panel(rng: np.random.Generator) -> pd.DataFrame:
    parts = [series(rng, 40).assign(plant=f"plant {k}", day=np.arange(40)) for k in range(8)]
    return pd.concat(parts, ignore_index=True)[["plant", "day", "load", "heat", "wear"]]


def _shuffled_dates(rng: np.random.Generator, frame: pd.DataFrame) -> pd.DataFrame:
    frame.insert(0, "visit", rng.permutation(pd.date_range("2021-01-01", periods=len(frame)).astype(str)))
    return frame


def _irregular(rng: np.random.Generator, frame: pd.DataFrame) -> object:
    days = np.cumsum(rng.exponential(9, len(frame)) + 1)
    return (pd.Timestamp("2020-03-01") + pd.to_timedelta(days, "D")).strftime("%d.%m.%Y %H:%M")


def _repeated(rng: np.random.Generator, frame: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([frame, frame.sample(80, random_state=1)], ignore_index=True)


def _grouped(rng: np.random.Generator, frame: pd.DataFrame) -> None:
    owner = np.repeat(np.arange(60), ROWS // 60)
    frame["pressure"] += rng.normal(0, 8, 60)[owner].round(3)
    frame.insert(0, "patient_id", 1000 + 7 * owner)


def _targets(rng: np.random.Generator, frame: pd.DataFrame) -> None:
    target = rng.choice(["none", "dose", "pressure"], ROWS, p=[0.5, 0.25, 0.25])
    for name in ("dose", "pressure"):
        frame.loc[target == name, name] = rng.normal(frame[name].mean(), 9, int((target == name).sum())).round(3)
    frame["perturbed"] = target


def _many_targets(rng: np.random.Generator, frame: pd.DataFrame) -> None:
    target = rng.choice(["control", "dose", "dose;weight"], ROWS, p=[0.6, 0.2, 0.2])
    for name in ("dose", "weight"):
        rows = pd.Series(target).str.contains(name).to_numpy()
        frame.loc[rows, name] = rng.normal(frame[name].mean(), 9, int(rows.sum())).round(3)
    frame["knockout"] = target


def _codes_of_two(rng: np.random.Generator, frame: pd.DataFrame) -> None:
    frame["age"] = frame["age"].round().clip(lower=18)
    frame["change"] = np.round(0.3 * (frame["dose"] - frame["dose"].mean()) + rng.normal(size=ROWS)).astype(int)
    some(rng, frame, "age", -1)
    some(rng, frame, "weight", 999, 9)


def _likert(rng: np.random.Generator, frame: pd.DataFrame) -> None:
    frame["satisfied"] = np.clip(
        np.round(3 + (frame["outcome"] - frame["outcome"].mean()) / 8 + rng.normal(0, 0.6, ROWS)), 1, 5
    ).astype(int)
    some(rng, frame, "satisfied", 99, 15)
    some(rng, frame, "dose", 9999.99, 4)


def _sexes(rng: np.random.Generator, frame: pd.DataFrame) -> None:
    male = rng.random(ROWS) < 0.5
    frame["weight"] += 9 * male
    frame["sex"] = np.where(male, rng.choice(["m", "M", "male ", "Male"], ROWS), rng.choice(["f", "F", "Female"], ROWS))


def _misspelled(rng: np.random.Generator, frame: pd.DataFrame) -> None:
    frame["region"] = rng.choice(["northern", "southern", "western"], ROWS)
    frame["dose"] += 4.0 * (frame["region"] == "western")
    frame.loc[[3, 77], "region"] = ["nothern", "westren"]


def _unknown_levels(rng: np.random.Generator, frame: pd.DataFrame) -> None:
    frame["smoker"] = np.where(rng.random(ROWS) < 0.4, "yes", "no")
    frame["outcome"] += 6.0 * (frame["smoker"] == "yes")
    some(rng, frame, "smoker", "Unknown")
    frame["ward"] = rng.choice(["east", "west", "tower"], ROWS)
    some(rng, frame, "ward", "not recorded", 8)


def _percent(rng: np.random.Generator, frame: pd.DataFrame) -> None:
    frame["dose"] = (frame["dose"] + 40).map(lambda cell: f"{cell:.1f}%")
    frame["weight"] = frame["weight"].map(lambda cell: f"{cell:.2f} kg")


def _money(rng: np.random.Generator, frame: pd.DataFrame) -> None:
    frame["cost"] = (900 + 12 * frame["outcome"] + rng.normal(0, 50, ROWS)).map(lambda cell: f"$ {cell:,.2f}")


def _mixed_units(rng: np.random.Generator, frame: pd.DataFrame) -> None:
    grams = rng.random(ROWS) < 0.4
    frame["salt"] = [
        f"{cell / 1000:.4f} g" if g else f"{cell:.1f} mg" for cell, g in zip(frame["dose"], grams, strict=True)
    ]


def _labels(rng: np.random.Generator, frame: pd.DataFrame) -> None:
    frame.insert(0, "key", [f"{k:08x}" for k in rng.permutation(2**20)[:ROWS] + 2**24])
    frame.insert(0, "entry", np.arange(1, ROWS + 1))
    frame.insert(0, "barcode_no", rng.permutation(10**6)[:ROWS] + 10**9)


def _machines(rng: np.random.Generator, frame: pd.DataFrame) -> None:
    frame["machine"] = rng.choice([3, 11, 12, 40], ROWS)
    frame["outcome"] += frame["machine"].map({3: 0.0, 11: 9.0, 12: -5.0, 40: 2.0})


def _sums(rng: np.random.Generator, frame: pd.DataFrame) -> None:
    frame["weight_lb"] = (frame["weight"] * 2.2046).round(1)
    frame["total"] = (frame["dose"] + frame["outcome"]).round(2)


def _ratios(rng: np.random.Generator, frame: pd.DataFrame) -> None:
    frame["height"] = (1.2 + 0.006 * frame["weight"] + rng.normal(0, 0.05, ROWS)).round(3)
    frame["bmi"] = (frame["weight"] / frame["height"] ** 2).round(2)
    frame["age_group"] = pd.cut(frame["age"], [0, 40, 50, 60, 200], labels=["<40", "40s", "50s", "60+"]).astype(str)


def _curves(rng: np.random.Generator, frame: pd.DataFrame) -> None:
    frame["log_weight"] = np.log(frame["weight"]).round(9)
    frame["rank_of_age"] = frame["age"].rank(method="first")


def _ambiguous(rng: np.random.Generator, frame: pd.DataFrame) -> pd.DataFrame:
    whole = (1.2 + 0.004 * frame["outcome"] + rng.uniform(0, 0.02, ROWS)).map(lambda cell: f"{cell:.3f}")
    rounded = frame.round().astype(int)
    rounded["level"] = [text.replace(".", ",") for text in whole]
    return rounded


def _thousands(rng: np.random.Generator, frame: pd.DataFrame) -> pd.DataFrame:
    rounded = frame.round().astype(int)
    rounded["income"] = (5000 + 90 * rounded["outcome"] + rng.integers(0, 900, ROWS)).map("{:,}".format)
    return rounded


def _empty(rng: np.random.Generator, frame: pd.DataFrame) -> None:
    frame["biopsy"] = (frame["dose"] + rng.normal(size=ROWS)).where(rng.random(ROWS) < 0.3).round(3)
    frame["site"] = "north"
    frame["ratio"] = np.where(rng.random(ROWS) < 0.05, np.inf, rng.normal(size=ROWS).round(3))
    frame["comment"] = np.nan


def _ceiling(rng: np.random.Generator, frame: pd.DataFrame) -> None:
    frame["pressure"] = frame["pressure"].clip(upper=135)
    frame["dose"] = frame["dose"].clip(lower=20)


def _workbook(rng: np.random.Generator, folder: Path) -> Path:
    frame = chain(rng)
    frame.insert(0, "sample no", np.arange(ROWS))
    frame["dose"] = frame["dose"].map(lambda cell: f"{cell:.2f} mg")
    some(rng, frame, "pressure", "n.d.", 9)
    frame.to_excel(folder / "table.xlsx", index=False)
    return folder / "table.xlsx"


def _parquet(rng: np.random.Generator, folder: Path) -> Path:
    frame = series(rng)
    frame.insert(0, "measured_at", pd.date_range("2024-05-01", periods=len(frame), freq="15min"))
    frame.loc[::25, "heat"] = -999.0
    frame.to_parquet(folder / "table.parquet")
    return folder / "table.parquet"


def _everything(rng: np.random.Generator, folder: Path) -> Path:
    frame = chain(rng)
    _sexes(rng, frame)
    _labels(rng, frame)
    _empty(rng, frame)
    some(rng, frame, "age", -999)
    frame["weight_g"] = 1000 * frame["weight"]
    return csv(frame, folder, sep=";", decimal=",", encoding="cp1252")


def _clocks(rng: np.random.Generator) -> pd.DataFrame:
    frame = series(rng, 360)
    stamps = pd.date_range("2023-01-01", periods=len(frame), freq="h")
    frame.insert(0, "timestamp", stamps.astype(str))
    frame.insert(1, "hour", stamps.hour)
    return frame


CASES: dict[str, Case] = {
    "daily": Case(
        "rows in time",
        ["--lags auto", "by 'date'"],
        with_columns(series, date=lambda rng, f: pd.date_range("2022-01-01", periods=len(f)).astype(str)),
    ),
    "hourly": Case("rows in time", ["--lags auto", "--leave-out hour"], with_columns(_clocks)),
    "weeks": Case(
        "rows in time",
        ["--lags auto", "--leave-out week"],
        with_columns(series, week=lambda rng, f: np.arange(1, len(f) + 1)),
    ),
    "panel": Case(
        "rows in time, grouped rows", ["--lags auto", "--group plant", "--leave-out day"], with_columns(_panel)
    ),
    "visits": Case("rows in time", ["not in the order of 'visit'", "--leave-out visit"], changed(_shuffled_dates)),
    "irregular": Case("rows in time", ["not evenly", "--leave-out when"], with_columns(chain, when=_irregular)),
    "repeated": Case("repeated rows", ["80 of 320 rows repeat others"], changed(_repeated)),
    "patients": Case("grouped rows", ["rows are grouped by 'patient_id'", "--leave-out patient_id"], changed(_grouped)),
    "targets": Case("interventions", ["--interventions perturbed"], changed(_targets)),
    "knockouts": Case("interventions", ["--interventions knockout"], changed(_many_targets)),
    "minus-999": Case(
        "codes for missing", ["--na pressure=-999"], changed(lambda rng, f: some(rng, f, "pressure", -999))
    ),
    "two-codes": Case("codes for missing", ["--na age=-1", "--na weight=999"], changed(_codes_of_two)),
    "likert-99": Case("codes for missing", ["--na satisfied=99", "--na dose=9999.99"], changed(_likert)),
    "unknown-number": Case(
        "codes for missing", ["--na age=unknown"], changed(lambda rng, f: some(rng, f, "age", "unknown"))
    ),
    "unknown-level": Case(
        "codes for missing", ["--na smoker=Unknown", "--na 'ward=not recorded'"], changed(_unknown_levels)
    ),
    "limits": Case(
        "codes for missing", ["--na 'dose=<15'", "limit"], changed(lambda rng, f: some(rng, f, "dose", "<15", 9))
    ),
    "ceiling": Case("saturation", ["largest value, 135", "least value, 20"], changed(_ceiling)),
    "sexes": Case("level typos", ["'sex' spells some levels"], changed(_sexes)),
    "misspelled": Case("level typos", ["--na region=nothern", "--na region=westren"], changed(_misspelled)),
    "percent": Case("units in cells", ["'dose' holds numbers in %", "'weight' holds numbers in kg"], changed(_percent)),
    "dollars": Case("units in cells", ["'cost' holds numbers in $"], changed(_money)),
    "mixed-units": Case("units in cells", ["--leave-out salt", "different units"], changed(_mixed_units)),
    "labels": Case("ID-like columns", ["--leave-out entry", "--leave-out barcode_no", "key"], changed(_labels)),
    "machines": Case("ID-like columns", ["--types machine=categorical"], changed(_machines)),
    "sums": Case("derived columns", ["--leave-out weight_lb", "--leave-out total"], changed(_sums)),
    "ratios": Case("derived columns", ["--leave-out bmi", "--leave-out age_group"], changed(_ratios)),
    "curves": Case("derived columns", ["--leave-out log_weight", "--leave-out rank_of_age"], changed(_curves)),
    "semicolons": Case("decimal commas", ["decimal commas"], changed(lambda rng, f: None, sep=";", decimal=",")),
    "tabs": Case("decimal commas", ["decimal commas"], changed(lambda rng, f: None, sep="\t", decimal=",")),
    "ambiguous": Case("decimal commas", ["--decimal ,"], changed(_ambiguous, sep=";")),
    "thousands": Case("decimal commas", ["'income' had marks between thousands"], changed(_thousands)),
    "mostly-empty": Case(
        "mostly empty, constant, infinite",
        ["--leave-out biopsy", "lacks 7", "--leave-out site", "--leave-out ratio", "--leave-out comment"],
        changed(_empty),
    ),
    "workbook": Case(
        "units, codes, IDs in Excel", ["--na pressure=n.d.", "holds numbers in mg", "sample no"], _workbook
    ),
    "parquet": Case("time and codes in Parquet", ["--lags auto", "--na heat=-999"], _parquet),
    "everything": Case(
        "seven kinds at once",
        ["--na age=-999", "--leave-out biopsy", "'sex' spells", "--leave-out weight_g", "decimal commas"],
        _everything,
    ),
}


def journey(name: str, folder: Path, shell: bool, extra: Sequence[str] = ()) -> tuple[dict[str, object], list[str]]:
    """Check a table and run the command that is printed: the answer of check, and what was not as it should be."""
    case = CASES[name]
    path = case.write(np.random.default_rng(list(CASES).index(name)), folder)
    before = Path.cwd()
    os.chdir(folder)
    try:
        looked = CliRunner().invoke(app, ["check", path.name, "--json"])
        if looked.exit_code:
            return {}, [f"check ended with {looked.exit_code}: {looked.output[-300:]}"]
        answer = json.loads(looked.stdout)
        said = " ".join([answer["command"], *(item["sentence"] for item in answer["findings"])])
        wrong = [f"not recognized: {words}" for words in case.expected if words not in said]
        printed = [*shlex.split(answer["command"]), *extra]
        if shell:
            done = subprocess.run(answer["command"], shell=True, capture_output=True, text=True, check=False)
            code, output = done.returncode, done.stderr
        else:
            learned = CliRunner().invoke(app, [*printed[1:], "--quiet"])
            code, output = learned.exit_code, f"{learned.output[-300:]} {learned.exception!r}"
        if code or not (folder / "results" / "report.html").is_file():
            wrong.append(f"the command ended with {code}: {output[-500:]}")
    finally:
        os.chdir(before)
    return answer, wrong


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=CASES, default=list(CASES))
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--shell", action="store_true")
    args = parser.parse_args()
    print("| table | mess | what follows the file's name in the command | report |")
    print("|---|---|---|---|")
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        for name in args.only:
            folder = (args.keep or Path(scratch)) / name
            folder.mkdir(parents=True)
            answer, wrong = journey(name, folder, args.shell)
            failed += bool(wrong)
            command = str(answer.get("command", ""))
            flags = shlex.join(shlex.split(command)[3:-2]) if command else ""
            shown = f"`{flags.replace('|', '&#124;')}`" if flags else "–"
            print(f"| {name} | {CASES[name].kind} | {shown} | {'; '.join(wrong) or 'yes'} |", flush=True)
    print(f"\n{len(args.only) - failed} of {len(args.only)}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
