"""Ledgers only grow: no record of the results is changed or dropped."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from precede.experiments.cells import Selection
from precede.experiments.designs import EXPERIMENTS
from precede.experiments.ledger import CELLS, RUNS, TIMES, Ledger, as_line, by_key, read_lines
from precede.experiments.runner import resolved_options

ROOT = Path(__file__).parents[2]
SINCE = "f3f29a7"
"""The commit from which on ledgers are append-only; before it, scripts had rewritten some."""


def git(*words: str) -> str:
    try:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError):
        pytest.skip("needs the repository with its history")


def dropped(before: str, now: str) -> list[str]:
    """Lines of a ledger that are gone."""
    kept = set(now.splitlines())
    return [line for line in before.splitlines() if line not in kept]


def test_every_record_of_before_is_still_there() -> None:
    names = [
        name for name in git("ls-tree", "-r", "--name-only", SINCE, "docs/results").split() if name.endswith(CELLS)
    ]
    assert names
    for name in names:
        assert dropped(git("show", f"{SINCE}:{name}"), (ROOT / name).read_text()) == [], name


def test_a_changed_record_is_noticed() -> None:
    assert dropped("one\ntwo\n", "two\none\nthree\n") == []
    assert dropped("one\ntwo\n", "one\nTwo\n") == ["two"]


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


@pytest.mark.parametrize("name", ["table1-30", "linear-50", "table1-100", "linear-150", "lingam"])
def test_rows_of_the_paper_ran_with_what_their_commit_resolves(name: str) -> None:
    """One clean commit and one budget, spent to its end, for all CORL rows of a table; options as they are resolved.

    Whoever changes the paper's mode or a table's budget runs the rows again.
    """
    folder = ROOT / "docs" / "results" / name
    times, runs = by_key(read_lines(folder / TIMES)), {run["run"]: run for run in read_lines(folder / RUNS)}
    cells = EXPERIMENTS[name].cells(Selection(methods=["corl-1", "corl-2"]))
    assert len({cell.seed for cell in cells}) == 5
    commits = {runs[times[cell.key]["run"]]["commit"] for cell in cells}
    assert len(commits) == 1
    assert "+" not in commits.pop()
    assert {times[cell.key]["ended"] for cell in cells} == {"iterations"}
    for cell in cells:
        assert times[cell.key]["options"] == json.loads(json.dumps(resolved_options(cell.build(None)))), cell.key
