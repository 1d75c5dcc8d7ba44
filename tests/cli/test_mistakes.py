"""A wrong command says what to type next."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from precede.cli import app
from precede.data.load import load_table
from precede.evidence.checks import CheckContext, diagnose
from precede.knowledge import Knowledge

runner = CliRunner()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with patients.csv in it."""
    rng = np.random.default_rng(0)
    age = rng.normal(size=80)
    frame = pd.DataFrame({"age": age, "dose": age + rng.normal(size=80), "site": rng.choice(["north", "south"], 80)})
    frame.to_csv(tmp_path / "patients.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("check pateints.csv", "there is no file 'pateints.csv': did you mean 'patients.csv'?"),
        ("discover table.csv", "there is no file 'table.csv'; the tables there are 'patients.csv'."),
        ("discover nowhere/table.csv", "there is no folder 'nowhere' either"),
        ("discover patients.csv --root Age", "which the data does not have; did you mean 'age'?"),
        ("discover patients.csv --leave-out sit", "names 'sit', which is not a column; did you mean 'site'?"),
        ("discover patients.csv --types stie=binary", "names 'stie', which is not a column; did you mean 'site'?"),
        ("discover patients.csv --score gaussian", "--score gaussian is unknown. Known: "),
        ("discover patients.csv --score linaer", "did you mean 'linear'?"),
        ("discover patients.csv --tier age,dose", "write tiers from early to late, as 'a,b<c'"),
        ("report results", "'precede discover data.csv --out results' writes one"),
        ("effect results age dose", "'precede discover data.csv --out results' makes one"),
    ],
)  # fmt: skip
def test_a_mistake_names_the_way_out(folder: Path, command: str, said: str) -> None:
    done = runner.invoke(app, command.split())
    assert done.exit_code == 2
    assert said in done.output


def test_a_misspelled_variable_of_a_result(folder: Path) -> None:
    done = runner.invoke(
        app, ["discover", "patients.csv", "--method", "sort-regress", "--leave-out", "site", "--out", "r", "-q"]
    )
    assert done.exit_code == 0, done.output
    done = runner.invoke(app, ["effect", "r", "Age", "dose"])
    assert done.exit_code == 2
    assert "the graph has no variable 'Age'; did you mean 'age'?" in done.output
    done = runner.invoke(app, ["compare", "r"])
    assert "there is 1: name another" in done.output


def test_sentences_of_the_library_name_flags_on_the_command_line_alone(folder: Path) -> None:
    done = runner.invoke(app, ["order", "patients.csv", "--types", "site=ordinal"])
    assert "put them from low to high, --types 'site=north<south'." in " ".join(done.output.split())
    shown = runner.invoke(app, ["order", "patients.csv"])
    assert "'site' binary; the others are numbers. --types changes a kind." in " ".join(shown.output.split())
    assert "types=... changes a kind" in load_table("patients.csv").remarks[0]


def test_directions_that_knowledge_settles_are_not_called_open() -> None:
    chain = np.eye(3, k=1, dtype=bool)
    table = load_table(np.random.default_rng(0).normal(size=(300, 3)).cumsum(axis=1))

    def identifiability(constraints=None):
        options = {"score": "sparse-linear", "identifies": "cpdag", "constraints": constraints}
        found = diagnose(CheckContext(table, chain, np.arange(3), **options), "quick")
        return next(check for check in found.checks if check.name == "identifiability")

    assert identifiability().value == 2
    # a root turns the second edge, too: else its effect would be a collider
    assert identifiability(Knowledge(roots=[0]).over(table.names)).value == 0
    whole = identifiability(Knowledge(tiers=[[0], [1], [2]]).over(table.names))
    assert (whole.value, whole.level) == (0, "fine")
    assert "all 2 edges follow" in whole.sentence


def test_a_strength_that_no_number_tells_is_a_dash(folder: Path) -> None:
    rng = np.random.default_rng(1)
    group = rng.choice(["a", "b", "c"], 300)
    effect = rng.normal(size=300) + 3.0 * (group == "b")
    pd.DataFrame({"group": group, "effect": effect}).to_csv(folder / "levels.csv", index=False)
    options = ["--root", "group", "--set", "n_iterations=0", "--no-stability", "-q"]
    done = runner.invoke(app, ["discover", "levels.csv", *options])
    assert done.exit_code == 0, done.output
    assert "1 edge" in done.output
    assert "nan" not in done.output
    assert "–" in done.output
