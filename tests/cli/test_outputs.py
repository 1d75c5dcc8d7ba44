"""What a command writes never takes the place of what it reads, nor of what others wrote; nothing learned is lost."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

import precede as pc
from precede.__main__ import main
from precede.cli import app
from precede.report import load_results

runner = CliRunner()
DATA = pc.simulate(n_variables=3, degree=1, n_samples=120, random_state=0).data


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    DATA.to_csv(tmp_path / "data.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def flat(text: str) -> str:
    return " ".join(text.split())


SOURCE = str(Path(pc.__file__).parents[1])
QUICK = ["--method=eqvar", "--no-stability", "-q"]


def test_the_data_are_not_replaced_by_the_weights(folder: Path) -> None:
    (folder / "data.csv").rename(folder / "weights.csv")
    before = (folder / "weights.csv").read_bytes()
    done = runner.invoke(app, ["discover", "weights.csv", "--out=.", *QUICK])
    assert done.exit_code == 2
    assert "'weights.csv' is the data, and would be replaced: name another folder." in flat(done.output)
    assert (folder / "weights.csv").read_bytes() == before
    assert [path.name for path in folder.iterdir()] == ["weights.csv"]


def test_neither_by_another_name(folder: Path) -> None:
    (folder / "out").mkdir()
    os.link("data.csv", "out/adjacency.csv")
    done = runner.invoke(app, ["discover", "data.csv", "--out=out", *QUICK])
    assert done.exit_code == 2
    assert "is the data" in done.output


def test_knowledge_is_not_replaced(folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "graph.json").write_text('{"roots": ["x1"]}')
    done = runner.invoke(
        app, ["discover", "data.csv", "--knowledge=out/graph.json", "--out=out", "--no-stability", "-q"]
    )
    assert done.exit_code == 2
    assert "is the knowledge, and would be replaced" in flat(done.output)


@pytest.mark.parametrize("name", ["result.json", "report.html", "order.txt", "bootstrap.jsonl"])
def test_foreign_files_stay(folder: Path, name: str) -> None:
    (folder / "out").mkdir()
    (folder / "out" / name).write_text("{}")
    done = runner.invoke(app, ["discover", "data.csv", "--out=out", *QUICK])
    assert done.exit_code == 2
    assert f"'out/{name}' was not written by precede, and would be replaced" in flat(done.output)
    assert (folder / "out" / name).read_text() == "{}"


def test_a_result_is_replaced_by_the_next(folder: Path) -> None:
    assert runner.invoke(app, ["discover", "data.csv", "--out=out", "--bootstrap=2", *QUICK]).exit_code == 0
    (folder / "out" / "notes.txt").write_text("mine")
    assert (folder / "out" / "confidence.json").exists()
    assert runner.invoke(app, ["discover", "data.csv", "--out=out", *QUICK]).exit_code == 0
    assert not (folder / "out" / "confidence.json").exists()
    assert (folder / "out" / "notes.txt").read_text() == "mine"
    assert load_results("out").graph.n_variables == 3


def test_simulated_data_do_not_replace_others(folder: Path) -> None:
    before = (folder / "data.csv").read_bytes()
    small = ["--variables=3", "--degree=1", "--samples=20", "--seed=0", "-q"]
    done = runner.invoke(app, ["simulate", "--out=.", *small])
    assert done.exit_code == 2
    assert "'data.csv' was not written by precede" in flat(done.output)
    assert (folder / "data.csv").read_bytes() == before
    for _ in range(2):
        assert runner.invoke(app, ["simulate", "--out=drawn", *small]).exit_code == 0


def test_a_comparison_does_not_replace_others(folder: Path) -> None:
    for name in ("one", "two"):
        assert runner.invoke(app, ["discover", "data.csv", f"--out={name}", *QUICK]).exit_code == 0
    (folder / "comparison.csv").write_text("mine")
    done = runner.invoke(app, ["compare", "one", "two", "--out=."])
    assert done.exit_code == 2
    assert "'comparison.csv' was not written by precede" in flat(done.output)
    for _ in range(2):
        assert runner.invoke(app, ["compare", "one", "two", "--out=compared"]).exit_code == 0


def test_a_full_disk_names_the_file_and_shows_the_graph(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, content: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    done = runner.invoke(app, ["discover", "data.csv", "--out=out", *QUICK])
    assert done.exit_code == 2
    assert "Causal order" in done.output
    assert "'out/adjacency.csv' cannot be read or written: No space left on device." in flat(done.output)


# surroundings


def command(arguments: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Through a shell, as a user types it."""
    line = arguments.replace("precede", f"{sys.executable} -m precede", 1)
    known = {**os.environ, "PYTHONPATH": SOURCE, "PYTHONIOENCODING": "utf-8", **environment}
    return subprocess.run(line, shell=True, cwd=folder, env=known, capture_output=True, encoding="latin-1", timeout=120)


@pytest.mark.parametrize("reading", ["check -", "discover - --method=eqvar"])
def test_closed_standard_input(folder: Path, reading: str) -> None:
    done = command(f"precede {reading} <&-", folder)
    assert done.returncode == 2
    assert "standard input is closed" in done.stderr
    assert "Traceback" not in done.stderr


def test_closed_standard_error(folder: Path) -> None:
    done = command("precede discover data.csv --method=eqvar --no-stability --out=out 2>&-", folder)
    assert done.returncode == 0
    assert "Causal order" in done.stdout
    assert json.loads((folder / "out" / "result.json").read_text())["method"] == "EqVar"
    refused = command("precede discover nothing.csv 2>&-", folder)
    assert refused.returncode == 2


@pytest.mark.parametrize("flag", ["", "--json"])
def test_an_output_without_unicode(folder: Path, flag: str) -> None:
    DATA.rename(columns={"x1": "größe Ж"}).to_csv(folder / "data.csv", index=False)
    done = command(
        f"precede discover data.csv {' '.join(QUICK)} {flag}", folder, PYTHONIOENCODING="latin-1", COLUMNS="200"
    )
    assert done.returncode == 0, done.stderr
    if flag:
        assert "größe Ж" in json.loads(done.stdout)["order"]
    else:
        assert "größe \\u0416" in done.stdout


@pytest.mark.parametrize("columns", ["0", "1", "00"])
def test_a_terminal_of_no_width(folder: Path, columns: str) -> None:
    done = command(f"precede discover data.csv {' '.join(QUICK)}", folder, COLUMNS=columns)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    if columns != "1":
        assert "Causal order" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGHUP")
def test_a_lost_terminal_ends_a_fit_as_ctrl_c_does(folder: Path) -> None:
    pc.simulate(n_variables=12, degree=2, n_samples=200, random_state=0).data.to_csv(folder / "data.csv", index=False)
    line = [sys.executable, "-m", "precede", "discover", "data.csv", "--out=out", "--no-stability", "--score=linear"]
    options = ["--set=n_iterations=1000000", "--set=patience=none"]
    known = {**os.environ, "PYTHONPATH": SOURCE}
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup a child would ignore it, as it should
    work = subprocess.Popen([*line, *options], cwd=folder, stdout=subprocess.PIPE, env=known)
    signal.signal(signal.SIGHUP, before)
    deadline = time.monotonic() + 60
    while not (folder / "out").exists() and time.monotonic() < deadline:  # made when the fit begins
        time.sleep(0.1)
    time.sleep(1.0)
    work.send_signal(signal.SIGHUP)
    out, _ = work.communicate(timeout=60)
    assert work.returncode == 130
    assert "Causal order" in out.decode()
    assert load_results(folder / "out").graph.n_variables == 12


# little memory


def limited(megabytes: int, folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    """A command under a limit on its address space, as ``ulimit -v`` sets it."""
    start = (
        f"import resource, runpy, sys; resource.setrlimit(resource.RLIMIT_AS, ({megabytes << 20}, {megabytes << 20}));"
        "sys.argv = ['precede', *sys.argv[1:]]; runpy.run_module('precede', run_name='__main__')"
    )
    known = {**os.environ, "PYTHONPATH": SOURCE, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    line = [sys.executable, "-c", start, "discover", "data.csv", *flags]
    return subprocess.run(line, cwd=folder, env=known, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
@pytest.mark.parametrize("megabytes", [100, 800])
def test_a_limit_that_the_libraries_cannot_live_with_is_named(folder: Path, megabytes: int) -> None:
    """Under 800 MB, OpenBLAS tried for ever; under others a library ended the process or could not be found."""
    done = limited(megabytes, folder, *QUICK)
    assert done.returncode == 2
    assert f"address space (ulimit -v) is {megabytes << 10:,} kB" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(sys.platform != "linux", reason="other systems keep no such limit")
def test_a_score_that_asks_for_more_than_there_is_gets_a_sentence(folder: Path) -> None:
    pc.simulate(n_variables=3, degree=1, n_samples=6000, random_state=0).data.to_csv(folder / "data.csv", index=False)
    done = limited(3000, folder, "-q", "--score=gp")
    assert done.returncode == 2
    assert re.match(r"precede: (there is not enough memory|score='gp' needs [\d.]+ GB)", done.stderr)  # or little of it
    assert done.stderr.count("\n") == 1


def test_no_memory_for_the_report_costs_no_graph(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(*given: object, **named: object) -> str:
        raise MemoryError

    monkeypatch.setattr("precede.report.summarize", none_left)
    assert runner.invoke(app, ["discover", "data.csv", "--out=out", *QUICK]).exit_code == 0
    assert load_results(folder / "out").graph.n_variables == 3
    monkeypatch.setattr("precede.report.folder.write_together", none_left)
    done = runner.invoke(app, ["discover", "data.csv", "--out=other", *QUICK])
    assert done.exit_code == 2
    assert "Causal order" in done.output
    assert "there is not enough memory" in flat(done.output)


def test_no_memory_for_the_libraries_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def none_left() -> None:
        raise MemoryError

    monkeypatch.setattr("precede.cli.main", none_left)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("precede: there is not enough memory to begin")
