"""The command line: results, exit codes, and one sentence for every mistake."""

import json
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import typer.main
from typer.testing import CliRunner

import precede as pc
from precede.cli import app
from precede.evidence.confidence import Confidence

runner = CliRunner()
FAST = ["--score", "linear", "--set", "n_iterations=5", "--set", "batch_size=8", "--seed", "0"]


@pytest.fixture
def csv(tmp_path: Path) -> str:
    path = tmp_path / "data.csv"
    pc.simulate(n_variables=5, degree=1, n_samples=300, random_state=0).data.to_csv(path, index=False)
    return str(path)


def test_discover_writes_everything(csv: str, tmp_path: Path) -> None:
    out = tmp_path / "results"
    done = runner.invoke(app, ["discover", csv, "--out", str(out), *FAST])
    assert done.exit_code == 0, done.output
    assert "Causal order" in done.output
    assert "checks passed (--verbose)" in " ".join(done.output.split())
    written = {path.name for path in out.iterdir()}
    assert {
        "adjacency.csv",
        "weights.csv",
        "order.txt",
        "graph.json",
        "graph.dot",
        "history.csv",
        "result.json",
    } <= written
    assert {"report.html", "summary.json"} <= written
    adjacency = pd.read_csv(out / "adjacency.csv", index_col=0)
    assert list(adjacency.columns) == list(adjacency.index)
    result = json.loads((out / "result.json").read_text())
    assert result["settings"]["n_iterations"] == 5
    assert result["settings"]["random_state"] == 0
    assert pc.CausalGraph.from_json(out / "graph.json").n_edges == adjacency.to_numpy().sum()


def test_report_is_rebuilt(csv: str, tmp_path: Path) -> None:
    out = tmp_path / "results"
    runner.invoke(app, ["discover", csv, "--out", str(out), "--quiet", *FAST])
    before = (out / "report.html").read_text()
    (out / "report.html").unlink()
    assert runner.invoke(app, ["report", str(out)]).exit_code == 0
    assert (out / "report.html").read_text() == before


def test_json_is_all_that_standard_output_holds(csv: str) -> None:
    done = runner.invoke(app, ["discover", csv, "--json", "--quiet", *FAST])
    result = json.loads(done.stdout)
    assert sorted(result["order"]) == [f"x{k}" for k in range(1, 6)]


def test_quiet_shows_only_the_result(csv: str) -> None:
    done = runner.invoke(app, ["discover", csv, "--quiet", "--method", "eqvar"])
    assert done.exit_code == 0
    assert done.stderr == ""


def test_bootstrap_puts_confidence_into_the_report(csv: str, tmp_path: Path) -> None:
    out = tmp_path / "results"
    done = runner.invoke(
        app, ["discover", csv, "--method", "eqvar", "--bootstrap", "4", "--seed", "0", "--out", str(out), "--verbose"]
    )
    assert done.exit_code == 0, done.output
    assert "confidence-slider" in (out / "report.html").read_text()
    assert "in at least half of the resamples" in " ".join(done.output.split())
    found = Confidence.from_json(out / "confidence.json")
    assert found.n_resamples == 4
    again = runner.invoke(app, ["discover", csv, "--method=eqvar", "--bootstrap=4", "--seed=0", "--json", "--quiet"])
    for edge in json.loads(again.stdout)["edges"]:
        assert edge["confidence"] == found.edge_probability.loc[edge["cause"], edge["effect"]]


def test_the_bootstrap_resumes(csv: str, tmp_path: Path) -> None:
    out = tmp_path / "results"
    base = ["discover", csv, "--method=eqvar", "--seed=0", f"--out={out}", "--quiet"]
    assert runner.invoke(app, [*base, "--bootstrap=6"]).exit_code == 0
    whole, journal = (out / "confidence.json").read_text(), out / "bootstrap.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    marked = "".join(lines[:3]).replace('"redraws": 0', '"redraws": 1')  # to see that they are taken from the file
    journal.write_text(marked)
    assert runner.invoke(app, [*base, "--bootstrap=6", "--resume"]).exit_code == 0
    assert "drawn again" in (out / "confidence.json").read_text()
    assert runner.invoke(app, [*base, "--bootstrap=6"]).exit_code == 0  # without --resume all is done anew
    assert (out / "confidence.json").read_text() == whole
    refused = runner.invoke(app, [*base, "--resume"])
    assert refused.exit_code == 2  # nothing to resume: a method without training, and no bootstrap


def test_a_second_run_into_a_folder_keeps_nothing_of_the_first(csv: str, tmp_path: Path) -> None:
    out = tmp_path / "results"
    assert (
        runner.invoke(app, ["discover", csv, "--method=eqvar", "--bootstrap=3", "--seed=0", f"--out={out}"]).exit_code
        == 0
    )
    assert runner.invoke(app, ["discover", csv, "--method=direct-lingam", f"--out={out}"]).exit_code == 0
    assert not (out / "confidence.json").exists()
    assert not (out / "bootstrap.jsonl").exists()
    summary = json.loads((out / "summary.json").read_text())
    assert summary["method"] == "DirectLiNGAM"
    assert summary["resamples"] != 3


@pytest.mark.parametrize(
    "flags",
    [
        [],
        ["--leave-out=x3"],
        ["--lags=1"],
        ["--types=x3=ordinal", "--missing=drop"],
        ["--na=-9", "--group=x5", "--lags=1"],
    ],
)
def test_the_code_in_the_report_gives_the_same_graph(flags: list[str], tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 5)), columns=[f"x{k}" for k in range(1, 6)])
    table["x2"] += 2 * table["x1"]
    table["x3"] = rng.integers(1, 5, 60)
    table["x5"] = np.repeat(["a", "b"], 30) if "--group=x5" in flags else table["x5"]
    table.loc[7, "x4"] = -9
    data, out = tmp_path / "data.csv", tmp_path / "results"
    table.to_csv(data, index=False)
    done = runner.invoke(
        app, ["discover", str(data), "--score=sparse-linear", "--seed=0", "-q", f"--out={out}", *flags]
    )
    assert done.exit_code == 0, done.output
    code = json.loads((out / "summary.json").read_text())["reproduce"]
    made: dict[str, Any] = {}
    exec(code, made)
    assert made["model"].graph_.to_json() == (out / "graph.json").read_text()


def test_ctrl_c_in_the_bootstrap_leaves_the_graph(csv: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("precede.baselines.EqVar.bootstrap", interrupt)
    out = tmp_path / "results"
    done = runner.invoke(app, ["discover", csv, "--method=eqvar", "--bootstrap=4", f"--out={out}"])
    assert done.exit_code == 130, done.output
    assert "--resume continues" in " ".join(done.output.split())
    assert (out / "report.html").exists()
    assert not (out / "confidence.json").exists()


def test_knowledge_file(csv: str, tmp_path: Path) -> None:
    (tmp_path / "known.toml").write_text('roots = ["x5"]\nrequired = [["x5", "x1"]]\n')
    done = runner.invoke(app, ["discover", csv, "--json", "-q", "--knowledge", str(tmp_path / "known.toml"), *FAST])
    edges = [(e["cause"], e["effect"]) for e in json.loads(done.stdout)["edges"]]
    assert ("x5", "x1") in edges
    assert not [effect for _, effect in edges if effect == "x5"]


def test_simulate_and_evaluate(tmp_path: Path) -> None:
    out = tmp_path / "sim"
    arguments = ["simulate", "--variables", "6", "--degree", "1", "--samples", "50", "--seed", "1", "--out", str(out)]
    assert runner.invoke(app, arguments).exit_code == 0
    assert pd.read_csv(out / "data.csv").shape == (50, 6)
    done = runner.invoke(app, ["evaluate", str(out / "truth.csv"), str(out / "truth.json"), "--json"])
    assert json.loads(done.stdout)["shd"] == 0


def test_methods_are_listed() -> None:
    done = runner.invoke(app, ["methods"])
    assert all(name in done.output for name in pc.methods())
    lines = (files("precede.cli") / "methods.txt").read_text().splitlines()
    assert [line.split(": ")[0] for line in lines] == list(pc.methods())


def test_order_says_how_long_it_took(csv: str) -> None:
    done = runner.invoke(app, ["order", csv])
    assert re.search(r"took \d+\.\d\d s", done.stdout)
    again = [runner.invoke(app, ["order", csv, *words]).stdout for words in (["--json"], ["--quiet"]) for _ in range(2)]
    assert again[0] == again[1]
    assert again[2] == again[3]
    assert "took" not in again[0] + again[2]


@pytest.mark.parametrize(
    "command",
    [[], *([name] for name in ("discover", "order", "pretrain", "simulate", "evaluate", "reproduce", "report"))],
)
def test_help(command: list[str]) -> None:
    assert runner.invoke(app, [*command, "--help"]).exit_code == 0


def test_every_option_says_what_it_does() -> None:
    group = typer.main.get_command(app)
    silent = [f"{name} {one.name}" for name, c in group.commands.items() for one in c.params if not one.help]
    assert not silent


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["discover", "nowhere.csv"], "nowhere.csv"),
        (["discover", "{csv}", "--bootstrap", "-1"], "--bootstrap=-1 cannot be used: it must be a whole number"),
        (["studio", "{csv}", "--port", "70000"], "--port 70000 cannot be used"),
        (["discover", "{csv}", "--method", "notear"], "did you mean 'notears'"),
        (["discover", "{csv}", "--score", "linaer"], "did you mean 'linear'"),
        (
            ["discover", "{csv}", "--method", "eqvar", "--score", "linear"],
            "'eqvar' has no option 'score'; these have: 'corl'",
        ),
        (
            ["discover", "{csv}", "--method", "notears", "--set", "knowledge=1"],
            "cannot obey background knowledge; these",
        ),
        (["discover", "{csv}", "--set", "n_iterations"], "name=value"),
        (["discover", "{csv}", "--set", "n_iteration=5"], "did you mean 'n_iterations'"),
        (["discover", "{csv}", "--missing", "ignore"], "--missing ignore is unknown"),
        (["discover", "{csv}", "--lags", "100000000"], "take fewer lags"),
        (["discover", "{csv}", "--knowledge", "nowhere.toml"], "cannot be read"),
        (["simulate", "--graph", "tree", "--out", "{tmp}/s"], "--graph tree is unknown"),
        (["evaluate", "nowhere.csv", "nowhere.csv"], "nowhere.csv"),
        (["report", "{tmp}"], "summary.json"),
    ],
)
def test_mistakes_get_a_sentence_and_exit_code_2(csv: str, tmp_path: Path, arguments: list[str], message: str) -> None:
    out = tmp_path / "out"
    filled = [argument.format(csv=csv, tmp=tmp_path) for argument in arguments]
    extra = ["--out", str(out)] if arguments[0] == "discover" else []
    done = runner.invoke(app, filled + extra)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.output
    assert not out.exists()


def test_debug_shows_the_traceback(csv: str) -> None:
    done = runner.invoke(app, ["discover", csv, "--method", "notear", "--debug"])
    assert isinstance(done.exception, pc.PrecedeError)


def test_a_file_that_cannot_be_written(csv: str, tmp_path: Path) -> None:
    (tmp_path / "out" / "graph.json").mkdir(parents=True)
    done = runner.invoke(app, ["discover", csv, "--method=eqvar", f"--out={tmp_path / 'out'}"])
    assert done.exit_code == 2
    assert "graph.json' was not written by precede, and would be replaced" in " ".join(done.stderr.split())
    assert isinstance(done.exception, SystemExit)


@pytest.mark.parametrize("command", [["discover", "--method=eqvar"], ["order"]])
def test_columns_are_left_out(tmp_path: Path, command: list[str]) -> None:
    data = pc.simulate(n_variables=4, degree=1, n_samples=200, random_state=0).data.assign(unit=1.0)
    data.to_csv(tmp_path / "data.csv", index=False)
    refused = runner.invoke(app, [*command, str(tmp_path / "data.csv")])
    assert refused.exit_code == 2
    done = runner.invoke(app, [*command, str(tmp_path / "data.csv"), "--leave-out", "unit", "--json", "--quiet"])
    assert done.exit_code == 0, done.output
    assert sorted(json.loads(done.stdout)["order"]) == sorted(data.columns[:4])


def test_kinds_and_missing_markers_can_be_given(tmp_path: Path) -> None:
    rows = [f"{k * k % 7},{k % 3},{'x' if k == 4 else k * k}" for k in range(60)]
    path = tmp_path / "data.csv"
    path.write_text("a,b,c\n" + "\n".join(rows) + "\n")
    refused = runner.invoke(app, ["discover", str(path), "--method", "eqvar"])
    assert refused.exit_code == 2
    said = " ".join(refused.output.split())
    assert "'c' holds text, first 'x' in row 5, among numbers: --na x makes it missing, --types c=categorical" in said
    mended = ["--na", "x", "--missing", "drop"]
    done = runner.invoke(app, ["order", str(path), *mended])
    assert "'a', 'b' ordinal" in " ".join(done.output.split()), done.output
    refused = runner.invoke(app, ["discover", str(path), "--method", "eqvar", *mended, "--types", "b=categorical"])
    assert refused.exit_code == 2
    assert "column 'b' is categorical" in " ".join(refused.output.split())
    assert "--types 'b' cannot be used" in runner.invoke(app, ["order", str(path), "--types", "b"]).output


def test_python_m_precede() -> None:
    """For shells that do not find the command."""
    done = subprocess.run([sys.executable, "-m", "precede", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"precede {pc.__version__}\n"
