"""Thousands of damaged runs: none may bring down a command or a request of the studio, and none may hide another run.

    OMP_NUM_THREADS=1 python benchmarks/damaged_results.py [--cases 3000] [--seed 0]

A studio holds three runs. In each case one file of one of them (result.json, run.json or summary.json; now and then
another) is cut, torn, stirred or nested, or one of its values is replaced by an odd one. Then ``load_results``,
``effect``, ``compare``, ``report``, ``next`` and ``explain`` read the folder, and every request of the page is made.
Each must answer, or refuse with one sentence; the other two must be listed and shown as before, and the damaged one can
be deleted. Exit code 1 at the first traceback, status 500 or hang.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner
from fuzz import SECONDS_FOR_ONE, _ring, malformed, one_sentence
from starlette.testclient import TestClient
from typer.main import get_command

from precede import CORL, load_table, simulate
from precede.baselines import EqVar
from precede.cli import app
from precede.errors import PrecedeError
from precede.report import load_results, write_report, write_results
from precede.studio.answers import TAKEN_AWAY
from precede.studio.server import make_app
from precede.studio.studio import Studio
from precede.studio.workspace import DataChoice, Run, Workspace

PORT, TOKEN = 8123, "the-key"
ORIGIN = f"http://127.0.0.1:{PORT}"
FILES = ("result.json", "run.json", "summary.json")
OTHERS = ("graph.json", "moments.json", "confidence.json")
SHARE_OF_OTHERS = 0.1
COMMAND = get_command(app)
DEEP = "[" * 100_000 + "]" * 100_000


def make_studio(folder: Path) -> tuple[Studio, Path]:
    """A studio with a table and three runs of it: a graph, an equivalence class, and one that was resampled."""
    data = simulate(n_variables=4, degree=1, n_samples=80, random_state=0).data
    path = folder / "data.csv"
    data.to_csv(path, index=False)
    table = load_table(path)
    workspace = Workspace(folder / "studio")
    workspace.choose(DataChoice(path))
    for k, model in enumerate(
        (EqVar(verbose=False), CORL("linear", random_state=0, verbose=False), EqVar(verbose=False))
    ):
        place = folder / f"results-{k}"
        model.fit(table)
        write_results(place, model, table)
        resampled = model.bootstrap(table, 3, random_state=0, verbose=False) if k == 2 else None
        if resampled is not None:
            resampled.to_json(place / "confidence.json")
        write_report(place, model, table, None, resampled)
        workspace.adopt(place)
    studio = Studio(workspace)
    studio.submit = _submitted  # type: ignore[method-assign]  # nothing is fitted
    return studio, path


async def _submitted(asked: Any) -> Run:
    return Run("999", Path(), {}, "waiting", "")


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """Do something bad to a file of JSON: what other files suffer, or what only JSON can."""
    kind = int(rng.integers(10))
    if kind > 2:
        return malformed(content, rng)
    tree = json.loads(content)
    keys = list(tree)
    key = keys[int(rng.integers(len(keys)))]
    if kind == 0:
        tree[key] = "DEEP"
        return (
            json.dumps(tree)
            .replace('"DEEP"', DEEP[: 2 * int(rng.integers(2, 1000))] if rng.random() < 0.2 else DEEP)
            .encode()
        )
    if kind == 1:
        tree["version"] = (99, 0, "1", None, 1.0, True, 10**30)[int(rng.integers(7))]
        return json.dumps(tree).encode()
    return json.dumps([tree] if rng.random() < 0.5 else {**tree, key: [tree[key]]}).encode()


def commands(folder: Path, other: Path, data: Path) -> list[list[str]]:
    """Each command that reads a folder of results."""
    name = str(folder)
    return [
        ["effect", name, "x1", "x2"],
        ["effect", name, "x1", "x2", "--json", "--data", str(data)],
        ["compare", name, str(other)],
        ["next", name],
        ["explain", name, str(data), "--outcome", "x2", "--row", "3"],
        ["report", name, "--latex"],
        ["report", name],
    ]


def requests(run: str, other: str) -> list[tuple[str, str, Any]]:
    """Every request of the page that touches a run."""
    here = f"/api/runs/{run}"
    return [
        ("GET", here, None),
        ("GET", f"/api/runs/{other}?against={run}", None),
        ("GET", f"{here}?against={other}", None),
        ("GET", f"/api/compare?runs={run},{other}", None),
        ("GET", f"{here}/effect?cause=x1&effect=x2", None),
        ("POST", f"{here}/what-if", {"settings": {"x1": 1.0}}),
        ("POST", f"{here}/stop", {}),
        ("POST", "/api/runs", {"start": run}),
        ("POST", "/api/columns", {"types": {}, "leave_out": []}),
        *(("GET", f"{here}/files/{name}", None) for name in (*TAKEN_AWAY, "all.zip")),
    ]


class Fuzz:
    """A studio, its client, and what was counted."""

    def __init__(self, top: Path, seed: int) -> None:
        self.rng, self.counts = np.random.default_rng(seed), Counter[str]()
        self.studio, self.data = make_studio(top)
        self.http = TestClient(make_app(self.studio, PORT, TOKEN), base_url=ORIGIN)
        self.http.get(f"/?token={TOKEN}")
        self.runs = self.studio.workspace.runs()
        self.before = self.listed()
        self.shown = {run.id: self.ask("GET", f"/api/runs/{run.id}") for run in self.runs}

    def ask(self, method: str, path: str, content: Any = None) -> Any:
        """What the server answers; an error of the server comes through as it is."""
        answer = self.http.request(method, path, json=content, headers={"Origin": ORIGIN})
        assert answer.status_code < 500, f"{method} {path}: {answer.status_code}"
        self.counts[f"answered {answer.status_code}"] += 1
        if "/files/" in path and answer.status_code == 200:
            return None
        found = answer.json()
        if answer.status_code >= 400:
            assert one_sentence(found["error"]), f"{method} {path}: not a sentence: {found['error']:.500}"
        return found

    def listed(self) -> dict[str, Any]:
        """The runs of the page's list."""
        return {run["id"]: run for run in self.ask("GET", "/api/state")["runs"]}

    def case(self) -> None:
        """Damage a file of a run, look at everything, and put it back."""
        k = int(self.rng.integers(3))
        run, other = self.runs[k], self.runs[(k + 1) % 3]
        names = OTHERS if self.rng.random() < SHARE_OF_OTHERS else FILES
        path = run.folder / names[int(self.rng.integers(3))]
        if not path.exists():
            return
        kept = {file: file.read_bytes() for file in run.folder.iterdir()}
        content = damaged(kept[path], self.rng)
        try:
            path.write_bytes(content)
            self.look(run, other)
            self.delete(run)
        except BaseException:
            print(f"{path.parent.name}/{path.name}: {content[:400]!r}", file=sys.stderr)
            raise
        run.folder.mkdir()
        for file, was in kept.items():
            file.write_bytes(was)
        self.counts[path.name] += 1

    def look(self, run: Run, other: Run) -> None:
        """Commands, the library and every request."""
        try:
            load_results(run.folder)
            said = None
        except PrecedeError as error:
            said = str(error)
        assert said is None or one_sentence(said), f"not a sentence: {said}"
        self.counts[f"{'read' if said is None else 'refused'} by load_results"] += 1
        for method, path, content in requests(run.id, other.id):
            self.ask(method, path, content)
        now = self.listed()
        assert set(now) == set(self.before), "a run is not listed"
        for name in set(now) - {run.id}:
            assert now[name] == self.before[name], f"run {name} is listed otherwise"
            assert self.ask("GET", f"/api/runs/{name}") == self.shown[name], f"run {name} is shown otherwise"
        for arguments in commands(run.folder, other.folder, self.data):
            done = CliRunner().invoke(COMMAND, arguments)
            assert done.exit_code in (0, 2), f"{arguments}: {done.exception!r}"
            assert done.exit_code == 0 or isinstance(done.exception, SystemExit), f"{arguments}: {done.exception!r}"
            assert done.exit_code == 0 or one_sentence(done.stderr), f"{arguments}: not a sentence: {done.stderr:.500}"
            self.counts[f"exit code {done.exit_code}"] += 1

    def delete(self, run: Run) -> None:
        """The run goes, the others stay."""
        self.ask("DELETE", f"/api/runs/{run.id}")
        assert set(self.listed()) == set(self.before) - {run.id}
        assert not run.folder.exists()


def fuzz(cases: int, seed: int) -> Counter[str]:
    """Count what was answered; what should not happen comes through as an error."""
    earlier = signal.signal(signal.SIGALRM, _ring)
    try:
        with tempfile.TemporaryDirectory() as top:
            state = Fuzz(Path(top), seed)
            while sum(state.counts[name] for name in (*FILES, *OTHERS)) < cases:
                signal.alarm(SECONDS_FOR_ONE)
                state.case()
            return state.counts
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, earlier)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    start = time.perf_counter()
    for what, count in sorted(fuzz(given.cases, given.seed).items()):
        print(f"{what:26} {count}")
    print(
        f"{given.cases} damaged runs: no traceback, no status 500, no run hidden; {time.perf_counter() - start:.0f} s"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
