"""Signals, full disks and two runs in one folder: nothing is lost, nothing is mixed, no process stays behind."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import precede as pc
from precede.baselines import EqVar
from precede.cli import app
from precede.errors import OptionError, PrecedeError
from precede.experiments.ledger import Ledger, read_lines
from precede.files import append_line, cut_torn_line, folder_lock
from precede.runtime.workers import Workers, as_finished

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}
DATA = pc.simulate(n_variables=5, degree=1, n_samples=200, random_state=0).data


@pytest.fixture
def csv(tmp_path: Path) -> str:
    DATA.to_csv(tmp_path / "data.csv", index=False)
    return str(tmp_path / "data.csv")


def start(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "precede", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)


def wait_for(condition: Any, process: subprocess.Popen[str], seconds: float = 120) -> None:
    limit = time.monotonic() + seconds
    while not condition() and process.poll() is None and time.monotonic() < limit:
        time.sleep(0.05)


# --- one user of a folder at a time ---


def test_a_folder_has_one_user_at_a_time(csv: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with folder_lock(out):
        done = CliRunner().invoke(app, ["discover", csv, "--method=eqvar", f"--out={out}"])
        assert done.exit_code == 2
        assert "is in use by another run" in " ".join(done.stderr.split())
        assert not list(out.iterdir())
    assert CliRunner().invoke(app, ["discover", csv, "--method=eqvar", f"--out={out}"]).exit_code == 0


def test_lines_of_another_journal_are_not_read(tmp_path: Path) -> None:
    """A run that did not notice that its journal was replaced goes on writing to it."""
    path = tmp_path / "journal.jsonl"
    noise = np.random.default_rng(0).normal(size=(100, 3))
    model = EqVar(verbose=False)
    whole = model.bootstrap(noise, 6, random_state=0, checkpoint=path).to_json()
    lines = path.read_text().splitlines()
    assert len({json.loads(line)["journal"] for line in lines}) == 1
    foreign = json.loads(lines[1]) | {"journal": "another", "edges": [[0, 1], [0, 2], [1, 2]], "order": [0, 1, 2]}
    path.write_text("\n".join([*lines[:4], json.dumps(foreign), ""]))
    assert model.bootstrap(noise, 6, random_state=0, checkpoint=path).to_json() == whole


# --- whole lines or none ---


def test_a_short_write_leaves_no_torn_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lines"
    append_line(path, "first")

    class Full:
        """A file on a disk that is full after four bytes."""

        def __init__(self, file: Any) -> None:
            self.file = file

        def __enter__(self) -> "Full":
            return self

        def __exit__(self, *_: object) -> None:
            self.file.close()

        def __getattr__(self, name: str) -> Any:
            return getattr(self.file, name)

        def write(self, content: bytes) -> int:
            return int(self.file.write(content[:4]))

    monkeypatch.setattr("builtins.open", lambda *a, **k: Full(open_file(*a, **k)))
    with pytest.raises(OSError, match="No space left"):
        append_line(path, "second, which does not fit")
    monkeypatch.undo()
    assert path.read_bytes() == b"first\n"


open_file = open


def test_a_broken_tail_is_truncated_on_opening(tmp_path: Path) -> None:
    settings = {"data": {}, "estimator": "eqvar", "options": {}, "seed": 0}
    cell = {"key": "a/b/0", "metrics": {"shd": 0}, "settings": settings}
    with Ledger(tmp_path) as ledger:
        ledger.add(cell, {"key": "a/b/0", "seconds": 1.0})
    torn = (tmp_path / "cells.jsonl").read_bytes() + b'{"key": "a/b/1", "met'
    (tmp_path / "cells.jsonl").write_bytes(torn)
    with Ledger(tmp_path) as ledger:
        ledger.add(cell | {"key": "a/b/2"}, {"key": "a/b/2", "seconds": 1.0})
    assert [line["key"] for line in read_lines(tmp_path / "cells.jsonl")] == ["a/b/0", "a/b/2"]
    (tmp_path / "torn").write_bytes(b"no line end")
    cut_torn_line(tmp_path / "torn")
    assert (tmp_path / "torn").read_bytes() == b""


# --- signals ---


def children_of(process: int) -> list[int]:
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process)], capture_output=True, text=True, check=False)
    return [int(word) for word in listed.stdout.split()]


def alive(process: int) -> bool:
    state = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=False
    ).stdout
    return bool(state.strip()) and not state.startswith("Z")


def all_end(processes: list[int], seconds: float = 60) -> bool:
    limit = time.monotonic() + seconds
    while any(map(alive, processes)) and time.monotonic() < limit:
        time.sleep(0.1)
    return not any(map(alive, processes))


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes with ps")
def test_sigterm_leaves_no_workers_and_keeps_the_graph(csv: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = start("discover", csv, "--method=eqvar", f"--out={out}", "--bootstrap=1000000", "--seed=0", "--quiet")
    journal = out / "bootstrap.jsonl"
    wait_for(lambda: journal.exists() and journal.read_bytes().count(b"\n") > 5, process)
    workers = children_of(process.pid)
    process.terminate()
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    assert "interrupted before the end: the result is what was known by then." in " ".join(errors.split())
    assert pc.CausalGraph.from_json(out / "graph.json").n_variables == 5
    assert workers
    assert all_end(workers)


@pytest.mark.parametrize(
    "where",
    [
        "precede.evidence.checks.edge_readings.read_edges",
        "precede.report.folder.result_texts",
        "precede.report.folder.summary_texts",
    ],
)
def test_ctrl_c_after_the_search_is_said_and_costs_no_file(
    csv: str, tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ended the checks with exit code 0, and the writing of files half way."""
    module, _, name = where.rpartition(".")
    before = getattr(import_module(module), name)

    def pressed(*arguments: Any) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        return before(*arguments)

    monkeypatch.setattr(where, pressed)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        done = CliRunner().invoke(app, ["discover", csv, "--method=eqvar", f"--out={tmp_path / 'out'}"])
    finally:
        signal.signal(signal.SIGINT, handler)
    assert done.exit_code == 130, done.output
    assert "the result is what was known by then." in " ".join(done.stderr.split())
    assert {"graph.json", "result.json", "summary.json", "report.html"} <= {
        f.name for f in (tmp_path / "out").iterdir()
    }


ONE_TASK_FOR_TWO = """
import time
from precede.runtime.workers import Workers, as_finished
list(as_finished(time.sleep, [(600,)], Workers(jobs=2)))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes with ps")
def test_workers_end_with_a_killed_run() -> None:
    """One that had no task yet waited for one for five minutes."""
    process = subprocess.Popen([sys.executable, "-c", ONE_TASK_FOR_TWO], text=True, env=ENVIRONMENT)
    wait_for(lambda: len(children_of(process.pid)) >= 3, process)  # two, and the one that cleans up after them
    workers = children_of(process.pid)
    process.kill()
    process.wait()
    assert len(workers) >= 3
    assert all_end(workers)


def _dies() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_worker_is_a_sentence() -> None:
    with pytest.raises(PrecedeError, match="a worker process died"):
        list(as_finished(_dies, [()] * 2, Workers(jobs=2)))


def test_workers_work_and_the_caller_does_not() -> None:
    done = list(as_finished(os.getpid, [()] * 4, Workers(jobs=2)))
    assert len(done) == 4
    assert os.getpid() not in done


def test_reproduce_says_which_cells_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import precede.experiments.runner as runner

    run_cell, seen = runner.run_cell, []

    def interrupted_later(cell: Any, device: Any) -> Any:
        if len(seen) == 2:
            raise KeyboardInterrupt
        seen.append(cell.key)
        return run_cell(cell, device)

    monkeypatch.setattr(runner, "run_cell", interrupted_later)
    flags = ["reproduce", "table1-30", "--methods=eqvar", "--data=er2", f"--out={tmp_path}", "--quiet"]
    done = CliRunner().invoke(app, flags)
    assert done.exit_code == 130
    said = " ".join(done.stderr.split())
    assert re.search(r"interrupted with 2 of 5 cells finished and kept in .*'er2/eqvar/0', 'er2/eqvar/1'", said)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_after_a_fit_can_compute() -> None:
    """The threads of the parent are not there in the child, which waited for them for ever."""
    script = """
import os, sys, torch
from precede.runtime.device import one_thread
torch.set_num_threads(2)
with one_thread():
    pass
work = lambda: float(torch.ones(1000, 1000).exp().sum())  # shared between threads, as training is
work()
child = os.fork()
if child == 0:
    work()
    with one_thread():
        work()
    work()
    os._exit(7)
_, status = os.waitpid(child, 0)
sys.exit(os.WEXITSTATUS(status))
"""
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    command = [sys.executable, "-W", "ignore", "-c", script]
    with subprocess.Popen(command, env=environment, start_new_session=True) as process:
        try:
            assert process.wait(timeout=60) == 7
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # the child too
            raise


# --- names that steer a terminal ---


def test_names_cannot_steer_the_terminal(tmp_path: Path) -> None:
    names = ["\x1b[31mred\x1b[0m", "right\u202eleft", "two\nlines", "=cmd()", "plain"]
    DATA.set_axis(names, axis=1).to_csv(tmp_path / "data.csv", index=False)
    out = tmp_path / "out"
    done = CliRunner().invoke(app, ["discover", str(tmp_path / "data.csv"), "--method=eqvar", f"--out={out}"])
    assert done.exit_code == 0, done.output
    shown = done.stdout + done.stderr
    assert not {"\x1b[31m", "\u202e"} & {shown[k : k + n] for k in range(len(shown)) for n in (1, 5)}
    assert "\\x1b[31mred" in shown
    assert "\\u202e" in shown
    order = (out / "order.txt").read_text().splitlines()
    assert len(order) == 5
    assert '"two\\nlines"' in order
    assert pc.CausalGraph.from_json(out / "graph.json").names == tuple(names)


def test_an_error_cannot_steer_the_terminal(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["discover", str(tmp_path / "\x1b[2Jgone.csv")])
    assert done.exit_code == 2
    assert "\x1b[2J" not in done.stderr


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("DefaultCPUAllocator: can't allocate memory"),
        SystemError("<built-in function compile> returned NULL without setting an exception"),
    ],
)
def test_no_memory_is_a_sentence(csv: str, error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise error

    monkeypatch.setattr(EqVar, "_learn", fails)
    done = CliRunner().invoke(app, ["discover", csv, "--method=eqvar"])
    assert done.exit_code == 2
    assert "not enough memory" in done.stderr


def test_strict_json_of_a_method_without_a_score(csv: str, tmp_path: Path) -> None:
    def no_constants(name: str) -> Any:
        raise ValueError(name)

    out = tmp_path / "out"
    done = CliRunner().invoke(app, ["discover", csv, "--method=direct-lingam", "--json", "--quiet", f"--out={out}"])
    assert json.loads(done.stdout, parse_constant=no_constants)["score"] is None
    for path in out.glob("*.json"):
        json.loads(path.read_text(), parse_constant=no_constants)


@pytest.mark.parametrize("command", ["check", "order", "effect", "compare", "evaluate", "report"])
def test_no_command_lets_names_steer_the_terminal(command: str, tmp_path: Path) -> None:
    names = ["\x1b[31mred\x1b[0m", "right\u202eleft", "a", "b", "c"]
    data = tmp_path / "data.csv"
    DATA.set_axis(names, axis=1).to_csv(data, index=False)
    out = tmp_path / "out"
    assert CliRunner().invoke(app, ["discover", str(data), "--method=eqvar", f"--out={out}", "--quiet"]).exit_code == 0
    arguments = {
        "check": [str(data)],
        "order": [str(data)],
        "effect": [str(out), names[0], names[1]],
        "compare": [str(out), str(shutil.copytree(out, tmp_path / "twin"))],
        "evaluate": [str(out / "graph.json"), str(out / "graph.json")],
        "report": [str(out)],
    }[command]
    done = CliRunner().invoke(app, [command, *arguments])
    assert done.exit_code == 0, done.output
    shown = done.stdout + done.stderr
    assert "\x1b[31m" not in shown
    assert "\u202e" not in shown


def test_a_lock_is_refused_with_a_sentence(tmp_path: Path) -> None:
    with folder_lock(tmp_path), pytest.raises(OptionError, match="in use by another run"), folder_lock(tmp_path):
        pass
