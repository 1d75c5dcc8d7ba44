"""What ``precede discover`` says of its result: the same on the terminal and in the report, and nothing lost."""

import json
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import precede as pc
from precede.cli import app

runner = CliRunner()


def write(tmp_path: Path, frame: pd.DataFrame) -> str:
    path = tmp_path / "data.csv"
    frame.to_csv(path, index=False)
    return str(path)


@pytest.fixture
def csv(tmp_path: Path) -> str:
    return write(tmp_path, pc.simulate(n_variables=4, degree=1, n_samples=200, random_state=0).data)


def flat(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def test_the_terminal_says_what_the_report_says(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"dose": rng.normal(size=300), "ill": rng.integers(2, size=300)})
    frame["cost"] = 3 * frame["ill"] + rng.normal(size=300)
    frame.loc[:4, "dose"] = np.nan
    out = tmp_path / "out"
    done = runner.invoke(
        app,
        ["discover", write(tmp_path, frame), "--method=direct-lingam", "--missing=drop", f"--out={out}", "--verbose"],
    )
    assert done.exit_code == 0
    summary = json.loads((out / "summary.json").read_text())
    said = [item["sentence"] for item in (*summary["remarks"], *summary["checks"])]
    assert len(said) > 8
    for sentence in said:
        assert flat(sentence) in flat(done.output)
    warned = [item["sentence"] for item in (*summary["remarks"], *summary["checks"]) if item["level"] == "warning"]
    assert any("5 of 300 rows were dropped" in sentence for sentence in warned)
    assert any("not claimed" in sentence for sentence in warned)
    assert f"{len(warned)} warnings" in (out / "report.html").read_text()
    result = json.loads((out / "result.json").read_text())
    assert set(result["diagnostics"]["remarks"]) <= set(said)


def test_title_note_rows_and_stability_are_obeyed(csv: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    base = ["discover", csv, "--method=eqvar", f"--out={out}", "-q"]
    assert runner.invoke(app, [*base, "--title=Ward 3", "--note=Second visit.", "--rows"]).exit_code == 0
    summary = json.loads((out / "summary.json").read_text())
    assert (summary["title"], summary["note"], summary["rows_shown"]) == ("Ward 3", "Second visit.", True)
    assert summary["nodes"][0]["values"] is not None
    assert summary["has_confidence"]
    assert runner.invoke(app, [*base, "--no-stability"]).exit_code == 0
    plain = json.loads((out / "summary.json").read_text())
    assert (plain["title"], plain["note"], plain["rows_shown"], plain["has_confidence"]) == ("data", None, False, False)
    assert plain["nodes"][0]["values"] is None
    assert plain["provenance"]["file"] == csv
    assert plain["provenance"]["command"].startswith("precede")


@pytest.mark.parametrize(("module", "name"), [("words", "found_words"), ("folder", "render_report")])
def test_a_report_that_fails_loses_no_result(
    csv: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, name: str
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("float division by zero")

    monkeypatch.setattr(import_module(f"precede.report.{module}"), name, broken)
    out = tmp_path / "out"
    done = runner.invoke(app, ["discover", csv, "--method=eqvar", f"--out={out}"])
    assert done.exit_code == 0
    assert "ZeroDivisionError" in done.output
    assert "Causal order" in done.output
    assert json.loads((out / "result.json").read_text())["method"] == "EqVar"
    assert not (out / "report.html").exists()


def test_sachs_says_at_the_top_what_is_and_is_not_known(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = runner.invoke(app, ["discover", "sachs", "--method=eqvar", f"--out={out}"])
    assert done.exit_code == 0
    assert "rest on few rows" in flat(done.output.split("! ")[1])
    assert len(done.output.splitlines()) <= 40
    assert max(map(len, done.output.splitlines()[:-1])) <= 80  # the last names the folder
    page = (out / "report.html").read_text()
    assert page.index("rest on few rows") < page.index('id="graph-heading"') < page.index("do at least as well")
    assert json.loads((out / "summary.json").read_text())["rows_shown"]  # the data is public


def test_every_json_file_is_strict(csv: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert runner.invoke(app, ["discover", csv, "--method=eqvar", "--bootstrap=3", f"--out={out}", "-q"]).exit_code == 0

    def refuse(word: str) -> None:
        raise AssertionError(word)

    for path in out.glob("*.json"):
        json.loads(path.read_text(), parse_constant=refuse)
    assert json.loads((out / "result.json").read_text())["score"] is None


def test_strengths_on_the_terminal_are_standardized(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    longitude = rng.uniform(-124, -114, 300)
    frame = pd.DataFrame({"lon": longitude, "lat": -0.02 * (longitude + 119) ** 3 - longitude + rng.normal(size=300)})
    done = runner.invoke(app, ["discover", write(tmp_path, frame), "--method=cam", "-q"])
    assert done.exit_code == 0
    assert "lat → lon" in done.output
    assert "−0.97" in done.output
    assert "curvature" in done.output
    assert "! " not in done.output  # quiet: nothing but the result
