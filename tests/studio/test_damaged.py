"""Damaged files of a studio: a sentence for the run that they belong to, and every other run as it was."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from studio_client import Client
from typer.testing import CliRunner

import precede as pc
from precede.cli import app
from precede.errors import OptionError, PrecedeError
from precede.files import folder_lock
from precede.report import load_results, write_report, write_results
from precede.strict_json import to_json
from precede.studio import answers
from precede.studio.workspace import DataChoice, Workspace

DEEP = "[" * 100_000 + "]" * 100_000
NESTED = "[" * 300 + "]" * 300
BROKEN = ["", "{", "[]", "3", '"x"', DEEP, NESTED, '{"format": 1e999}', "\x00", '{"a": "\\ud800"}']


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    table = pc.load_table(pc.simulate(n_variables=3, degree=1, n_samples=100, random_state=0).data)
    model = pc.baselines.EqVar(verbose=False).fit(table)
    write_results(folder, model, table)
    write_report(folder, model, table)
    return folder


@pytest.mark.parametrize("content", BROKEN)
def test_a_damaged_run_is_shown_as_such_and_hides_no_other(tmp_path: Path, results: Path, content: str) -> None:
    workspace = Workspace(tmp_path)
    runs = [workspace.adopt(results) for _ in range(2)]
    (runs[0].folder / "run.json").write_text(content)
    found = Workspace(tmp_path).runs()
    assert [run.id for run in found] == [run.id for run in runs]
    assert (found[0].state, found[1].state) == ("failed", "done")
    assert "run.json" in str(found[0].error)


@pytest.mark.parametrize("content", BROKEN)
def test_a_damaged_summary_leaves_the_graph(tmp_path: Path, results: Path, content: str) -> None:
    run = Workspace(tmp_path).adopt(results)
    assert answers.shown(run)["summary"] is not None
    (run.folder / "summary.json").write_text(content)
    shown = answers.shown(run)
    assert shown["summary"] is None
    assert len(shown["graph"]["nodes"]) == 3


@pytest.mark.parametrize("content", BROKEN)
def test_a_damaged_result_is_a_sentence(tmp_path: Path, results: Path, content: str) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(results, folder)
    (folder / "result.json").write_text(content)
    for command in (["effect", str(folder), "x1", "x2"], ["compare", str(folder), str(results)]):
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 2
        assert isinstance(done.exception, SystemExit)
        assert "result.json" in " ".join(done.output.split())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"version": 99}, "is of version 99, and this release of precede reads version 1"),
        ({"diagnostics": []}, r"is damaged: 'diagnostics' should be a group of named values, and is \[\]"),
        ({"diagnostics": {"edges": 3}}, "'diagnostics.edges' should be a list, and is 3"),
        ({"diagnostics": {"identifies": "x"}}, "'diagnostics.identifies' should be 'dag' or 'cpdag', and is 'x'"),
        ({"method": None}, "'method' should be a text, and is None"),
        ({"score": 10**400}, "it holds a number that is too large"),
        ({"format": "other"}, "is not what 'precede discover --out' writes"),
    ],
)
def test_every_part_of_a_result_is_checked(
    tmp_path: Path, results: Path, change: dict[str, object], words: str
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(results, folder)
    content = json.loads((folder / "result.json").read_text())
    (folder / "result.json").write_text(json.dumps(content | change))
    with pytest.raises(OptionError, match=words) as error:
        load_results(folder)
    for command in (["effect", str(folder), "x1", "x2"], ["compare", str(folder), str(results)]):
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 2
        assert "".join(str(error.value).split()) in "".join(done.output.split())


@pytest.mark.parametrize("content", BROKEN)
def test_a_damaged_choice_of_data_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "studio.json").write_text(content)
    assert Workspace(tmp_path).data is None


def test_half_a_character_in_a_name_can_be_sent_and_kept(tmp_path: Path, results: Path) -> None:
    """It made every request for the state a 500, also after a restart."""
    workspace = Workspace(tmp_path)
    workspace.new_run({"name": "\ud800"}, None)
    data = tmp_path / "caf\udce9.csv"  # Latin-1 bytes in the name of a file
    data.write_text("a,b\n1,2\n")
    workspace.choose(DataChoice(data))
    again = Workspace(tmp_path)
    run = again.runs()[0]
    assert again.data is not None
    assert again.data.path == data
    assert json.loads(to_json(run.to_dict()).encode())["request"]["name"] == "\ud800"


def test_neither_a_run_nor_a_table_of_such_a_name_hides_the_state(client: Client, tmp_path: Path) -> None:
    workspace = client.studio.workspace
    data, named = workspace.data, workspace.new_run({"name": "\ud800"}, None)
    (tmp_path / "caf\udce9.csv").write_text("a,b\n1,2\n")
    workspace.choose(DataChoice(tmp_path / "caf\udce9.csv"))
    assert named.id in [run["id"] for run in client.get("/api/state")["runs"]]
    assert data is not None
    workspace.choose(data)


@pytest.mark.parametrize(
    "request_", [{"knowledge": {"required": [None]}}, {"knowledge": {"roots": 3}}, {"knowledge": [1]}, {"name": [1]}]
)
def test_a_request_that_the_page_cannot_show_is_damaged(
    tmp_path: Path, results: Path, request_: dict[str, object]
) -> None:
    """The page counts the rules of every run: one that had none of that shape hid all."""
    workspace = Workspace(tmp_path)
    runs = [workspace.adopt(results) for _ in range(2)]
    content = json.loads((runs[0].folder / "run.json").read_text())
    (runs[0].folder / "run.json").write_text(json.dumps(content | {"request": request_}))
    found = workspace.runs()
    assert [run.state for run in found] == ["failed", "done"]
    assert "'request" in str(found[0].error)


NUMBER = {"name": "number", "levels": [], "labels": []}
YES_NO = {"name": "binary", "levels": [0.0, 1.0], "labels": ["no", "yes"]}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"mean": [10**400, 0, 0]}, "too large"),
        ({"mean": 3}, "'mean' should be a list"),
        ({"mean": [0, 0]}, "do not fit each other"),
        ({"covariance": [[1, 0, 0], [0, 1, 0], [0, 1]]}, "'covariance' should be rows of equal length"),
        ({"covariance": [[1, 0, 0], [0, 1, 0]]}, "do not fit each other"),
        ({"kinds": [NUMBER, NUMBER]}, "do not fit each other"),
        ({"kinds": [NUMBER, NUMBER, YES_NO | {"name": "words"}]}, "'kinds\\[2\\].name' should be 'number'"),
        ({"kinds": [NUMBER, NUMBER, YES_NO | {"labels": ["no"]}]}, "levels without a name"),
        ({"absent": [[[3], 2]]}, "name columns that are not there"),
        ({"settings": [{"targets": [0]}]}, "'settings\\[0\\].n_samples' is missing"),
    ],
)
def test_every_part_of_the_moments_is_checked(
    tmp_path: Path, results: Path, change: dict[str, object], words: str
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(results, folder)
    content = json.loads((folder / "moments.json").read_text())
    (folder / "moments.json").write_text(json.dumps(content | change))
    with pytest.raises(PrecedeError, match=words):
        load_results(folder)


def test_a_run_named_with_half_a_character_can_be_compared(tmp_path: Path, results: Path) -> None:
    workspace = Workspace(tmp_path)
    runs = [replace(workspace.adopt(results), request={"name": name}) for name in ("\ud800", "whole")]
    assert answers.compared(runs)["labels"] == ["1 \\ud800", "2 whole"]


def test_a_damaged_run_can_be_deleted(client: Client, results: Path) -> None:
    workspace = client.studio.workspace
    kept, damaged = (workspace.adopt(results) for _ in range(2))
    (damaged.folder / "run.json").write_text(DEEP)
    listed = client.delete(f"/api/runs/{damaged.id}")["runs"]
    assert kept.id in [run["id"] for run in listed]
    assert damaged.id not in [run["id"] for run in client.get("/api/state")["runs"]]
    assert not list(damaged.folder.parent.glob(f"*{damaged.id}*"))
    assert client.delete(f"/api/runs/{damaged.id}", 400)["error"] == "there is no such run."
    assert client.delete("/api/runs/..", 404) is None


def test_a_run_at_work_is_not_deleted(client: Client, results: Path) -> None:
    run = client.studio.workspace.adopt(results)
    client.studio.running = run.id
    assert client.delete(f"/api/runs/{run.id}", 400)["error"] == "this run is not finished: stop it first."
    client.studio.running = None
    with folder_lock(run.folder):  # another process is at it
        assert "is in use" in client.delete(f"/api/runs/{run.id}", 400)["error"]
    assert (run.folder / "run.json").exists()
