"""Stop the command line in every phase of its work, by Ctrl-C, SIGTERM and kill: nothing that was known may be lost.

    OMP_NUM_THREADS=1 python benchmarks/interrupts.py [--times 4] [--seed 0]

Each round forks a child that runs ``precede discover`` (or ``pretrain``) on a small table. The child says through
shared memory which phase it is in; the parent waits for the phase that it wants, then for a random part of that
phase's time, and sends the signal. After Ctrl-C and SIGTERM there must be exit code 130, no traceback, no process left
behind, and, once the search has begun, a result that is no worse than the greedy order; all JSON must be strict. After
a kill, the same command with --resume must end with what an uninterrupted run gives. Exit code 1 at the first fault.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import mmap
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, replace
from functools import wraps
from io import StringIO
from pathlib import Path
from typing import Any

import precede.pretraining.supervised as command
import precede.pretraining.supervised as run_folder
import precede.pretraining.supervised as supervised
import precede.search.checkpoint as checkpoint_file
from precede import CausalGraph, simulate
from precede.cli import app
from precede.policy.prediction import load_pretrained
from precede.pretraining.supervised import PretrainingSettings, variant_settings
from precede.pretraining.validation import ValidationSettings

DATA = simulate(n_variables=6, degree=2, n_samples=200, random_state=0).data
CURVED = simulate(n_variables=5, degree=2, n_samples=60, sem="gp", random_state=0).data
ONCE = ["--seed=0", "--quiet"]
DISCOVER = [*ONCE, "--checkpoint=CHECKPOINT", "--resume", "--set=n_iterations=20", "--set=patience=none"]
LINEAR = [*DISCOVER, "--score=linear"]
SECONDS_TO_END = 120
"""That a stopped command may take to end on a loaded machine; it takes a second or two."""


@dataclass(frozen=True)
class Phase:
    """A function of the program, and a command that comes through it.

    Parameters
    ----------
    function : str
        Where the caller looks it up.
    command : list of str
        What follows ``precede discover DATA --out OUT``; ``precede pretrain`` where it is empty.
    curved : bool
        Whether the data are GP data.
    keeps : bool
        Whether there is something to keep.
    """

    function: str
    command: list[str]
    curved: bool = False
    keeps: bool = True


PHASES = {
    "reading": Phase("precede.data.load:load_table", LINEAR, keeps=False),
    "policy's prediction": Phase("precede.corl.fit:judge_table", DISCOVER),
    "choice of score": Phase("precede.corl.fit:choose_score", DISCOVER),
    "score": Phase("precede.corl.fit:build_score", LINEAR),
    "GP table": Phase(
        "precede.scores.parent_tables:ParentSetCache.fill", [*DISCOVER, "--score=sparse-gp"], curved=True
    ),
    "greedy": Phase("precede.search.run:greedy_order", [*DISCOVER, "--score=gp"], curved=True),
    "first look": Phase("precede.search.run:Trainer.__init__", LINEAR),
    "polish": Phase("precede.search.run:polish", [*DISCOVER, "--score=nongaussian"]),
    "restarts": Phase("precede.search.run:polish", [*DISCOVER, "--score=sparse-linear", "--set=n_restarts=2000"]),
    "training": Phase("precede.search.run:run_observed", LINEAR),
    "exact": Phase("precede.search.run:exact_order", [*ONCE, "--score=gp", "--set=search=exact"], curved=True),
    "pruning": Phase("precede.corl.fit:order_to_graph", LINEAR),
    "labels": Phase("precede.estimator:CausalEstimator._store", LINEAR),
    "checks": Phase("precede.estimator:diagnosed", LINEAR),
    "resampling": Phase("precede.evidence.checks.all_checks:resample", LINEAR),
    "writing results": Phase("precede.report:write_results", LINEAR),
    "bootstrap": Phase("precede.estimator:bootstrap", [*ONCE, "--method=eqvar", "--bootstrap=40", "--resume"]),
    "summary": Phase("precede.report:summarize", LINEAR),
    "writing the report": Phase("precede.report:write_report", LINEAR),
    "pretraining": Phase("precede.pretraining.supervised:Pretrainer.run", [], keeps=False),
    "validation": Phase("precede.pretraining.supervised:Pretrainer.validate", [], keeps=False),
}


class Course:
    """What a child says of its course, in memory that its parent sees: the phase wanted was entered, and left."""

    BEFORE, WITHIN, AFTER = range(3)

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 1)

    def reset(self) -> None:
        self._memory[0] = self.BEFORE

    @property
    def state(self) -> int:
        return self._memory[0]

    def marked(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, saying when it is entered and left for the first time."""

        def call(*arguments: Any, **options: Any) -> Any:
            with self._marking():
                return function(*arguments, **options)

        def iterate(*arguments: Any, **options: Any) -> Any:
            with self._marking():
                yield from function(*arguments, **options)

        return wraps(function)(iterate if inspect.isgeneratorfunction(function) else call)

    @contextmanager
    def _marking(self) -> Iterator[None]:
        first = self.state == self.BEFORE
        if first:
            self._memory[0] = self.WITHIN
        yield
        if first:
            self._memory[0] = self.AFTER


def mark(where: str, course: Course) -> None:
    """Replace a function by its marked twin, in a child."""
    module, _, path = where.partition(":")
    owner: Any = importlib.import_module(module)
    *classes, name = path.split(".")
    for part in classes:
        owner = getattr(owner, part)
    setattr(owner, name, course.marked(getattr(owner, name)))


def arguments(phase: Phase, folder: Path) -> list[str]:
    """The command line."""
    if not phase.command:
        out = f"--out={folder / 'out'}"
        return ["pretrain", "--tiny", "--steps=12", out, "--name=policy", "--resume", "--seed=0", "--quiet"]
    data = folder.parent / ("curved.csv" if phase.curved else "data.csv")
    flags = [flag.replace("CHECKPOINT", str(folder / "run.safetensors")) for flag in phase.command]
    return ["discover", str(data), f"--out={folder / 'out'}", *flags]


def small_tasks(variant: str, **changes: Any) -> PretrainingSettings:
    """Pretraining on tasks so small that a step takes a moment."""
    settings = variant_settings(variant, **changes)
    return replace(
        settings,
        curriculum=replace(settings.curriculum, n_variables=(5,), n_samples=(30,)),
        validation=ValidationSettings(n_variables=5, n_samples=30, n_sets=1),
        tasks_per_step=1,
    )


def start(phase: Phase, folder: Path, course: Course) -> int:
    """Run the command in a fork, whose output goes to a file."""
    folder.mkdir(exist_ok=True)
    course.reset()
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        os.setpgid(0, 0)
        with open(folder / "said", "a") as said:
            os.dup2(said.fileno(), 1)
            os.dup2(said.fileno(), 2)
        checkpoint_file.SECONDS_BETWEEN_SAVES = run_folder.SECONDS_BETWEEN_CHECKPOINTS = 0.0
        supervised.READ_EVERY = supervised.BATCHES_AT_ONCE = 4
        supervised.SIZES_AT_ONCE = 1
        command.variant_settings = small_tasks
        mark(phase.function, course)
        sys.argv = ["precede", *arguments(phase, folder)]
        app(sys.argv[1:], prog_name="precede", standalone_mode=True)
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else 1
    except BaseException:  # what the interpreter would do
        import traceback

        traceback.print_exc()
        code = 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def ended(child: int, seconds: float = SECONDS_TO_END) -> int:
    """Exit code of a child, negative for a signal."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise AssertionError(f"it hangs: nothing {seconds:.0f} s after the signal")


def strict(text: str) -> Any:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not strict JSON")

    return json.loads(text, parse_constant=refuse)


def check_files(out: Path) -> None:
    """Every file is whole and strict; a torn last line of a journal is allowed."""
    for path in out.iterdir() if out.exists() else ():
        if path.name.startswith("."):  # a file in the making
            continue
        if path.name == "graph.json":
            CausalGraph.from_json(path)
        elif path.suffix == ".json":
            strict(path.read_text())
        elif path.suffix == ".jsonl":
            for line in path.read_text().split("\n")[:-1]:
                strict(line)
        elif path.suffix == ".html":
            assert path.read_text().rstrip().endswith("</html>"), "half a report"
        elif path.suffix == ".safetensors":
            load_pretrained(path)


def outcome(out: Path) -> Any:
    """What must be the same after a kill and a resumed run."""
    if (out / "policy.safetensors").exists():
        weights = load_pretrained(out / "policy.safetensors").actor.state_dict()
        return {name: float(value.double().sum()) for name, value in weights.items()}
    result = strict((out / "result.json").read_text())
    confidence = out / "confidence.json"
    assert (out / "report.html").exists()
    return result["score"], (out / "graph.json").read_bytes(), confidence.exists() and confidence.read_bytes()


def check_result(out: Path, greedy: float | None) -> None:
    """A result that says that it is not whole, and is no worse than greedy."""
    result = strict((out / "result.json").read_text())
    if greedy is None:  # a method without a search: its graph is all there is
        assert (out / "graph.json").exists()
        return
    own = result["diagnostics"].get("search", {}).get("greedy_score")
    remarks = result["diagnostics"]["remarks"]
    cut = any("parent sets" in remark for remark in remarks)  # it ended early: another score, with fewer parents
    for floor in (own, None if cut else greedy):
        assert floor is None or result["score"] >= floor - 1e-9 * abs(floor), "worse than greedy"


def left_behind(group: int, seconds: float) -> bool:
    """Whether processes of a group live on after this many seconds."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.05)
    os.killpg(group, signal.SIGKILL)
    return True


class Bench:
    """Rounds of one phase after another, in a folder."""

    def __init__(self, top: Path, seed: int) -> None:
        self.top, self.seed, self.course = top, seed, Course()
        self.rounds = self.left = 0
        DATA.to_csv(top / "data.csv", index=False)
        CURVED.to_csv(top / "curved.csv", index=False)
        for name in ("choice of score", "GP table"):  # loads and compiles what every child would load again
            with suppress(SystemExit), redirect_stdout(StringIO()):
                app(arguments(PHASES[name], top / f"first {name}"), prog_name="precede")

    def whole(self, name: str) -> tuple[Any, float, float | None]:
        """An uninterrupted run: its outcome, the seconds that the phase takes, and the greedy score."""
        phase, folder = PHASES[name], self.top / f"whole {name}"
        child = start(phase, folder, self.course)
        while self.course.state == Course.BEFORE and not self._is_over(child):
            time.sleep(0.0005)
        begun = time.perf_counter()
        while self.course.state == Course.WITHIN and not self._is_over(child):
            time.sleep(0.0005)
        seconds = time.perf_counter() - begun
        code = ended(child)
        assert code == 0, f"{name} by itself: {code}, {(folder / 'said').read_text()}"
        assert self.course.state == Course.AFTER, f"{name} was never entered"
        result = folder / "out" / "result.json"
        search = strict(result.read_text())["diagnostics"].get("search", {}) if result.exists() else {}
        greedy = self.whole("greedy")[2] if name == "exact" else search.get("greedy_score")  # the same score
        return outcome(folder / "out"), seconds, greedy

    def _is_over(self, child: int) -> bool:
        return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def stopped(self, name: str, number: signal.Signals, delay: float) -> tuple[Path, int, bool]:
        """One round: the folder, the exit code, and whether the signal came within the phase."""
        self.rounds += 1
        folder = self.top / str(self.rounds)
        child = start(PHASES[name], folder, self.course)
        while self.course.state == Course.BEFORE and not self._is_over(child):
            time.sleep(0.0002)
        time.sleep(delay)
        within = self.course.state == Course.WITHIN
        os.kill(child, number)
        code = ended(child)
        stays = left_behind(child, 30)  # a worker that was only just starting when its run was killed waits for minutes
        self.left += stays
        assert not stays or number == signal.SIGKILL, f"{name}, {number.name}: a process stayed behind"
        return folder, code, within

    def phase(self, name: str, times: int) -> Counter[str]:
        """Stop a phase so often with each signal; counts what it ended with."""
        expected, seconds, greedy = self.whole(name)
        phase, counts, rng = PHASES[name], Counter[str](), random.Random(f"{name} {self.seed}")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            hits = tries = 0
            while hits < times and tries < 4 * times:
                tries += 1
                folder, code, within = self.stopped(name, number, rng.uniform(0, 0.9 * seconds))
                out, said = folder / "out", (folder / "said").read_text()
                try:
                    assert "Traceback" not in said, "a traceback"
                    check_files(out)
                    counts[self._ending(phase, number, folder, code, expected, greedy)] += 1
                except AssertionError as fault:
                    raise AssertionError(f"{name}, {number.name}, code {code}: {fault}\n{said}") from None
                hits += within
            counts[f"{number.name} within"] += hits
        return counts

    def _ending(self, phase: Phase, number: int, folder: Path, code: int, expected: Any, greedy: float | None) -> str:
        """Check how a round ended and say it in a few words."""
        out = folder / "out"
        if code == 0:  # the signal came when all was done
            assert outcome(out) == expected, "another result than that of an uninterrupted run"
            return "complete"
        if number == signal.SIGKILL or not phase.command:
            assert code == -number if number == signal.SIGKILL else code == 130, f"exit code {code}"
            again = ended(start(phase, folder, self.course), 300)
            assert again == 0, f"resuming: exit code {again}"
            assert outcome(out) == expected, "resumed, it has another result than an uninterrupted run"
            return "resumed to the same result"
        assert code == 130, f"exit code {code}"
        if not phase.keeps and not (out / "result.json").exists():
            return "a sentence"
        check_result(out, greedy)
        return "a valid result"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=4, help="that each signal comes within each phase")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--phases", nargs="+", choices=list(PHASES), default=list(PHASES))
    given = parser.parse_args()
    total = Counter[str]()
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as top:
        bench = Bench(Path(top), given.seed)
        for name in given.phases:
            counts = bench.phase(name, given.times)
            total += counts
            print(f"{name:20}", ", ".join(f"{what} {count}" for what, count in sorted(counts.items())), flush=True)
    print(f"{bench.rounds} signals:", ", ".join(f"{what} {count}" for what, count in sorted(total.items())))
    left = f"{bench.left} kills with a worker process that was just starting left behind" if bench.left else ""
    print(
        f"no traceback, no hang, {left or 'no process left behind'}, strict JSON; {time.perf_counter() - begun:.0f} s"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
