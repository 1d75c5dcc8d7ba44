"""Ledgers only grow: no record of the results is changed or dropped."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from precede.experiments.cells import Cell, Selection
from precede.experiments.designs import EXPERIMENTS
from precede.experiments.ledger import CELLS, RUNS, TIMES, Ledger, Record, as_line, by_key, read_lines
from precede.experiments.runner import resolved_options

ROOT = Path(__file__).parents[2]
SINCE = "f3f29a7"
"""The commit from which on ledgers are append-only; before it, scripts had rewritten some."""


def git(*words: str) -> str:
    try:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError):
        pytest.skip("needs the repository with its history")


def gone(patches: str, now: str) -> list[str]:
    """Records that a patch took out of a ledger and that are not in it any more; sorting moves lines."""
    removed = {line[1:] for line in patches.splitlines() if line.startswith('-{"')}
    return sorted(removed.difference(now.splitlines()))


def test_every_record_of_before_is_still_there() -> None:
    ledgers = ["--", *(f"docs/results/*/{name}" for name in (CELLS, TIMES, RUNS))]
    patches = git("log", "-p", "--no-renames", "--format=", f"{SINCE}..", *ledgers)
    patches += git("diff", SINCE, *ledgers) + git("diff", "HEAD", *ledgers)
    now = "".join(path.read_text() for path in sorted((ROOT / "docs" / "results").glob("*/*.jsonl")))
    assert gone(patches, now) == []


def test_a_changed_record_is_noticed() -> None:
    one, two, three = '{"key": 1}', '{"key": 2}', '{"key": 3}'
    patch = f"-{one}\n+{three}\n-{two}\n"
    assert gone(patch, f"{two}\n{one}\n{three}\n") == []
    assert gone(patch, f"{one}\n{three}\n") == [two]


def test_a_cell_that_is_run_again_keeps_both_records(tmp_path: Path) -> None:
    settings = {"data": {}, "estimator": "eqvar", "options": {}, "seed": 0}
    for shd in (3, 1):
        with Ledger(tmp_path) as ledger:
            cell = {"key": "er2/eqvar/0", "metrics": {"shd": shd}, "settings": settings, "error": None}
            ledger.add(cell, {"key": "er2/eqvar/0", "seconds": 0.1})
    kept = read_lines(tmp_path / CELLS)
    assert [record["metrics"]["shd"] for record in kept] == [3, 1]
    with Ledger(tmp_path) as ledger:
        assert ledger.cells["er2/eqvar/0"]["metrics"]["shd"] == 1
    assert [as_line(record) for record in read_lines(tmp_path / CELLS)] == [as_line(record) for record in kept]


def strangers(cells: list[Cell], times: dict[str, Record], runs: dict[str, Record]) -> list[str]:
    """Cells whose record is not what its settings resolve to, run to its last iteration by a clean commit."""

    def is_one(cell: Cell) -> bool:
        told = times[cell.key]
        resolved = json.loads(json.dumps(resolved_options(cell.build(None))))
        clean = "+" not in runs[told["run"]]["commit"]
        return told.get("options") == resolved and told.get("ended") == "iterations" and clean

    return [cell.key for cell in cells if not is_one(cell)]


def recorded(name: str, methods: str) -> tuple[list[Cell], dict[str, Record], dict[str, Record]]:
    folder = ROOT / "docs" / "results" / name
    cells = EXPERIMENTS[name].cells(Selection(methods=methods.split()))
    return cells, by_key(read_lines(folder / TIMES)), {run["run"]: run for run in read_lines(folder / RUNS)}


LINEAR = ("table1-30", "linear-50", "table1-100", "linear-150", "lingam")
GP_20 = "corl-2 corl-2-authors corl-2-authors-long"


@pytest.mark.parametrize(("name", "methods"), [*((name, "corl-1 corl-2") for name in LINEAR), ("gp-20", GP_20)])
def test_rows_of_the_paper_ran_with_what_their_commit_resolves(name: str, methods: str) -> None:
    """One clean commit and one budget, spent to its end, for a CORL row of a table; options as they are resolved.

    Whoever changes the paper's mode or a table's budget runs the rows again.
    """
    cells, times, runs = recorded(name, methods)
    assert len({cell.seed for cell in cells}) == 5
    assert strangers(cells, times, runs) == []
    rows = {(cell.method.name, runs[times[cell.key]["run"]]["commit"]) for cell in cells}
    assert len(rows) == len(methods.split())


@pytest.mark.parametrize("lie", [{"ended": "time"}, {"options": {}}, {"run": "dirty"}])
def test_a_record_of_another_run_is_noticed(lie: dict[str, object]) -> None:
    cells, times, runs = recorded("lingam", "corl-2")
    times[cells[0].key] = {**times[cells[0].key], **lie}
    assert strangers(cells, times, {**runs, "dirty": {"commit": "c3fe836+"}}) == [cells[0].key]
