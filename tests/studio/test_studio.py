"""Every endpoint: the table, runs, results, questions, files."""

import asyncio
import io
import runpy
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from studio_client import ORIGIN, Client
from typer.testing import CliRunner

from precede import CausalGraph, Knowledge, simulate
from precede.cli import app
from precede.errors import OptionError, PrecedeError
from precede.graph.component import payload
from precede.report import load_results
from precede.studio.server import open_workspace
from precede.studio.workspace import RunRequest, Workspace


@pytest.fixture(scope="module")
def first(client: Client) -> dict:
    return client.run(method="corl", options={"score": "nongaussian"}, seed=1, name="<b>first</b>")


def test_the_columns_of_the_table(client: Client) -> None:
    data = client.get("/api/state")["data"]
    columns = {column["name"]: column for column in data["columns"]}
    assert data["rows"] == 300
    assert list(columns) == ["id", "x1", "x2", "x3", "x4", "x5"]
    assert not columns["id"]["used"]  # it labels rows
    assert columns["x2"]["missing"] == 6
    assert columns["x1"]["kind"] == "number"
    assert columns["x1"]["distinct"] == 300
    assert 280 <= sum(columns["x1"]["bars"]) <= 300
    assert data["problem"] is None
    assert any("x2" in finding["sentence"] for finding in data["findings"])


def test_types_are_fixed_and_refused(client: Client, tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": np.arange(60) % 3, "b": np.random.default_rng(0).normal(size=60), "c": ["x", "y"] * 30})
    frame["d"] = frame["b"] + np.random.default_rng(1).normal(size=60)
    before = client.studio.workspace.data
    answer = client.http.post(
        "/api/data?name=types.csv", content=frame.to_csv(index=False).encode(), headers={"Origin": ORIGIN}
    )
    kinds = {column["name"]: column["kind"] for column in answer.json()["data"]["columns"]}
    assert kinds == {"a": "ordinal", "b": "number", "c": "binary", "d": "number"}
    found = client.post("/api/columns", {"types": {"a": "categorical"}, "leave_out": ["c"]})
    columns = {column["name"]: column for column in found["columns"]}
    assert columns["a"]["kind"] == "categorical"
    assert columns["a"]["set"] == "categorical"
    assert columns["c"]["left_out"]
    assert not columns["c"]["used"]
    wrong = client.post("/api/columns", {"types": {"c": "number"}, "leave_out": []})
    assert "holds words" in wrong["problem"]
    assert client.post("/api/columns", {"types": [], "leave_out": []}, 400)["error"]
    assert Workspace(client.studio.workspace.folder).data == client.studio.workspace.data  # kept for the next time
    client.studio.workspace.choose(before)


def test_a_table_is_read_as_the_command_line_reads_it(client: Client, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"who": np.repeat(["p", "q"], 60), "a": rng.normal(size=120), "b": rng.normal(size=120)})
    frame["set"] = np.where(np.arange(120) % 4 == 0, "a", "")
    frame.loc[::9, "b"] = 999
    before = client.studio.workspace.data
    client.http.post("/api/data?name=read.csv", content=frame.to_csv(index=False).encode(), headers={"Origin": ORIGIN})
    reading = {"na": ["999"], "lags": 1, "group": "who", "interventions": "set", "missing": "drop"}
    found = client.post("/api/columns", reading)
    assert found["problem"] is None
    assert found["variables"] == ["a", "b", "a[t-1]", "b[t-1]"]
    assert found["reading"] == reading
    assert next(column for column in found["columns"] if column["name"] == "b")["missing"] == 14
    again = Workspace(client.studio.workspace.folder).data
    assert again is not None
    assert again.reading == reading
    run = client.run(method="corl", options={"score": "sparse-linear"})
    assert run["state"] == "done", run["error"]
    folder = client.studio.workspace.run(run["id"]).folder
    assert load_results(folder).loading["lags"] == 1
    assert "lags=1" in (folder / "reproduce.py").read_text()
    wrong = client.post("/api/columns", {"lags": "many"}, 400)
    assert "'lags" in wrong["error"]
    client.studio.workspace.choose(before)


def test_the_studio_asks_and_is_told_what_a_comma_means(client: Client) -> None:
    """It showed a remedy that it did not offer."""
    rng = np.random.default_rng(0)
    levels = [f"1,{k}" for k in rng.integers(100, 999, 80)]
    text = "level;wear\n" + "".join(f"{cell};{cell[-2:]}{k % 10}\n" for k, cell in enumerate(levels))
    before = client.studio.workspace.data
    answer = client.http.post("/api/data?name=marks.csv", content=text.encode(), headers={"Origin": ORIGIN}).json()
    assert answer["data"]["reading"] == {"decimal": ","}  # semicolons divide the cells
    for decimal, size in ((",", 1.0), (".", 1000.0)):
        found = client.post("/api/columns", {"decimal": decimal})
        assert found["problem"] is None
        low, high = found["columns"][0]["range"]
        assert size <= low < high < 2 * size
    assert "decimal=','" in client.post("/api/columns", {})["problem"]
    assert "'decimal" in client.post("/api/columns", {"decimal": ";"}, 400)["error"]
    client.studio.workspace.choose(before)


def test_a_run_is_a_folder_of_results(client: Client, first: dict) -> None:
    assert first["state"] == "done", first["error"]
    folder = client.studio.workspace.run(first["id"]).folder
    results = load_results(folder)
    shown = client.get(f"/api/runs/{first['id']}")
    edges = [(edge["cause"], edge["effect"]) for edge in shown["graph"]["edges"] if edge["mark"] != "shared"]
    assert edges == [tuple(edge) for edge in np.argwhere(results.graph.edges).tolist()]
    assert shown["order"] == list(results.graph.order)
    assert shown["summary"]["checks"]
    assert shown["summary"]["edges"][0]["curve"]
    assert shown["changes"] == []
    assert all(edge["probability"] is not None for edge in shown["graph"]["edges"])


def test_the_command_line_understands_a_run(client: Client, first: dict) -> None:
    folder = str(client.studio.workspace.run(first["id"]).folder)
    assert CliRunner().invoke(app, ["report", folder]).exit_code == 0
    cause, effect = load_results(folder).graph.edge_list()[0][:2]
    said = CliRunner().invoke(app, ["effect", folder, str(cause), str(effect)])
    assert said.exit_code == 0
    assert "Raising" in said.stdout


def test_a_second_run_starts_from_the_first_and_says_what_changed(client: Client, first: dict) -> None:
    graph = load_results(client.studio.workspace.run(first["id"]).folder).graph
    cause, effect, _ = graph.edge_list()[0]
    rules = {"forbidden": [[cause, effect]]}
    second = client.run(method="corl", knowledge=rules, start=first["id"], seed=1)
    assert second["state"] == "done", second["error"]
    assert second["parent"] == first["id"]
    folder = client.studio.workspace.run(second["id"]).folder
    settings = load_results(folder).description["settings"]
    assert settings["initial_order"] == list(graph.order)
    assert settings["n_iterations"] == 0
    assert settings["score"] == "nongaussian"
    now = load_results(folder).graph
    assert not now.edges[now.position(cause), now.position(effect)]
    shown = client.get(f"/api/runs/{second['id']}")
    assert shown["against"] == first["id"]
    marked = {(edge["cause"], edge["effect"]): edge.get("change") for edge in shown["graph"]["edges"]}
    before, after = graph.edges, now.edges
    for i, j in np.argwhere(before | after):
        if after[i, j] and before[i, j]:
            assert marked[i, j] is None
        elif after[i, j]:
            assert marked[i, j] == ("turned" if before[j, i] else "added")
        elif not after[j, i]:
            assert marked[i, j] == "removed"
    assert {"kind", "cause", "effect", "sentence"} == set(shown["changes"][0])
    assert len(shown["changes"]) == len([change for change in marked.values() if change])


def test_knowledge_is_obeyed(client: Client) -> None:
    rules = {"roots": ["x5"], "sinks": ["x1"], "tiers": [["x2"], ["x3", "x4"]]}
    run = client.run(method="corl", options={"score": "linear", "n_iterations": "1"}, knowledge=rules)
    graph = load_results(client.studio.workspace.run(run["id"]).folder).graph
    assert not Knowledge(**rules).over(graph.names).violated_by(graph.edges)


def test_resamples_give_confidences(client: Client) -> None:
    run = client.run(method="eqvar", resamples=5)
    shown = client.get(f"/api/runs/{run['id']}")
    assert shown["summary"]["has_confidence"]
    assert {edge["probability"] * 5 % 1 for edge in shown["graph"]["edges"] if edge["mark"] == "arrow"} == {0}
    assert "confidence.json" in shown["files"]


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"method": "nothing"}, "method='nothing'"),
        ({"method": "eqvar", "options": {"score": "gp"}}, "has no option 'score'"),
        ({"options": {"checkpoint": "/tmp/x"}}, "options are texts"),
        ({"options": {"pretrained": "/etc/passwd"}}, "options are texts"),
        ({"options": {"score": "gq"}}, "score='gq'"),
        ({"options": {"max_time": "-1"}}, "max_time=-1"),
        ({"knowledge": {"required": "x"}}, "required"),
        ({"knowledge": {"rules": []}}, "no field 'rules'"),
        ({"method": "dag-gnn", "knowledge": {"roots": ["x1"]}}, "cannot obey background knowledge"),
        ({"seed": -1}, "seed=-1"),
        ({"resamples": True}, "resamples=True"),
        ({"resamples": 10**6}, "at most 1000"),
        ({"start": "999"}, "no such run"),
        ({"start": "../.."}, "no such run"),
        ({"start": 5}, "start=5 cannot be used: it must be text"),
    ],
)
def test_what_cannot_be_run_is_refused_before_it_has_a_folder(client: Client, request_: dict, words: str) -> None:
    before = len(client.get("/api/state")["runs"])
    assert words in client.post("/api/runs", request_, 400)["error"]
    assert len(client.get("/api/state")["runs"]) == before


def test_a_run_that_fails_says_why(client: Client) -> None:
    run = client.run(knowledge={"required": [["x1", "x2"], ["x2", "x1"]]})
    assert run["state"] == "failed"
    assert "x1" in run["error"]
    assert client.get(f"/api/runs/{run['id']}", 400)["error"] == "this run has no graph."


def test_effects_and_what_if(client: Client, first: dict) -> None:
    graph = load_results(client.studio.workspace.run(first["id"]).folder).graph
    cause, effect, _ = graph.edge_list()[0]
    found = client.get(f"/api/runs/{first['id']}/effect?cause={cause}&effect={effect}")
    assert found["answers"]["total"] == graph.effect(cause, effect).to_dict()
    assert found["answers"]["direct"]["kind"] == "direct"
    assert [list(map(str, item)) for item in graph.adjustment_sets(cause, effect, 5)] == found["adjustment_sets"]
    assert "no variable" in client.get(f"/api/runs/{first['id']}/effect?cause=nobody&effect={effect}", 400)["error"]
    asked = {"settings": {str(cause): 1.0}}
    said = client.post(f"/api/runs/{first['id']}/what-if", asked)
    rows = {row["index"]: row for row in said["rows"]}
    assert rows[cause]["mean if set"] == pytest.approx(1.0)
    assert abs(rows[effect]["change"]) > 0
    assert client.post(f"/api/runs/{first['id']}/what-if", {"settings": {"x1": "lots"}}, 400)["error"]


def test_runs_side_by_side(client: Client, first: dict) -> None:
    other = client.run(method="eqvar", name="other")
    found = client.get(f"/api/compare?runs={first['id']},{other['id']}")
    assert found["labels"] == [f"{int(first['id'])} <b>first</b>", f"{int(other['id'])} other"]
    assert len(found["table"]) >= 1
    assert set(found["graphs"]) == set(found["labels"])
    assert "graphs join" in found["sentence"]
    assert "needs two graphs" in client.get(f"/api/compare?runs={first['id']}", 400)["error"]


def test_everything_can_be_taken_away(client: Client, first: dict) -> None:
    address = f"/api/runs/{first['id']}/files"
    shown = client.get(f"/api/runs/{first['id']}")
    graph = load_results(client.studio.workspace.run(first["id"]).folder).graph
    for name in shown["files"]:
        assert client.http.get(f"{address}/{name}?download").headers["content-disposition"].endswith(f'"{name}"')
    assert CausalGraph.from_gml(client.http.get(f"{address}/graph.gml").text) == graph
    archive = zipfile.ZipFile(io.BytesIO(client.http.get(f"{address}/all.zip").content))
    names = {Path(name).name for name in archive.namelist()}
    assert {"graph.json", "report.html", "reproduce.py", "result.json", "run.json"} <= names


def test_the_script_gives_the_same_graph(
    client: Client, first: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = client.studio.workspace.run(first["id"])
    script = tmp_path / "reproduce.py"
    script.write_text(client.get(f"/api/runs/{first['id']}")["script"])
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script))
    assert (tmp_path / "results" / "graph.json").read_text() == (run.folder / "graph.json").read_text()
    assert (tmp_path / "results" / "report.html").is_file()


def test_stop_keeps_the_best_order(client: Client) -> None:
    wide = simulate(n_variables=20, degree=2, n_samples=300, random_state=0).data.to_csv(index=False).encode()
    before = client.studio.workspace.data
    client.http.post("/api/data?name=wide.csv", content=wide, headers={"Origin": ORIGIN})
    options = {"score": "linear", "n_iterations": "100000", "patience": "none", "max_time": "120"}
    name = client.post("/api/runs", {"options": options}, 202)["id"]
    waiting = client.post("/api/runs", {"method": "eqvar"}, 202)["id"]
    client.studio.workspace.choose(before)
    steps = heard(client, lambda news: news["kind"] == "progress" and news["done"] > 3)
    assert steps[-1]["run"] == name
    assert steps[-1]["label"] == "learning an order"
    assert client.post(f"/api/runs/{waiting}/stop") == {"stopped": True}  # it never began
    assert client.post(f"/api/runs/{name}/stop") == {"stopped": True}
    run = client.wait(name)
    assert run["state"] == "stopped", run["error"]
    assert load_results(client.studio.workspace.run(name).folder).description["diagnostics"]["search"]["interrupted"]
    assert client.wait(waiting)["state"] == "failed"
    assert client.post(f"/api/runs/{name}/stop") == {"stopped": False}


def heard(client: Client, enough) -> list[dict]:
    """News up to a certain one, as the page hears them."""
    found = []
    studio = client.studio
    queue = client.http.portal.call(listening, studio)
    while not (found and enough(found[-1])):
        found.append(client.http.portal.call(following, queue))
    return found


OPEN = []


async def listening(studio):
    OPEN.append(studio.heard())  # else it would be closed at once
    return OPEN[-1].__enter__()


async def following(queue):
    return await asyncio.wait_for(queue.get(), 30)


def test_news_are_lines_of_json(client: Client) -> None:
    queue = client.http.portal.call(listening, client.studio)
    run = client.run(method="eqvar")
    kinds = []
    while not kinds or kinds[-1] != "ended":
        news = client.http.portal.call(following, queue)
        assert news["run"] == run["id"]
        kinds.append(news["kind"])
    assert [kind for kind in kinds if kind != "progress"] == ["created", "started", "graph", "ended"]


def test_runs_of_an_earlier_server_are_listed(client: Client, first: dict) -> None:
    again = Workspace(client.studio.workspace.folder)
    assert [run.id for run in again.runs()] == [run["id"] for run in client.get("/api/state")["runs"]]
    assert again.run(first["id"]).state == "done"


def test_a_run_that_was_broken_off_says_so(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    run = workspace.new_run({"method": "corl"}, None)
    assert workspace.run(run.id, alive={run.id}).state == "waiting"
    assert workspace.run(run.id).state == "failed"
    (run.folder / "graph.json").write_text("{}")
    assert workspace.run(run.id).state == "stopped"
    (run.folder / "run.json").write_text("{")
    (damaged,) = workspace.runs()
    assert damaged.state == "failed"
    assert "not valid JSON" in str(damaged.error)


def test_folders_that_it_opens(table: Path, client: Client, first: dict, tmp_path: Path) -> None:
    opened = open_workspace(table, tmp_path / "a")
    assert opened.data is not None
    assert opened.data.path == table
    results = client.studio.workspace.run(first["id"]).folder
    adopted = open_workspace(results, tmp_path / "b")
    assert adopted.runs()[0].has_graph
    assert open_workspace(adopted.folder / "runs" / "001", tmp_path / "c").runs()[0].has_graph
    assert open_workspace(tmp_path / "a", tmp_path / "z").folder == tmp_path / "a"
    with pytest.raises(OptionError, match="neither results nor a studio"):
        open_workspace(tmp_path, tmp_path / "d")
    with pytest.raises(OptionError, match="there is no file"):
        open_workspace(tmp_path / "nothing.csv", tmp_path / "d")


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, table: Path) -> None:
    monkeypatch.delitem(sys.modules, "precede.studio.server")
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    said = CliRunner().invoke(app, ["studio", str(table), "--no-browser"])
    assert said.exit_code == 2
    assert "pip install 'precede[studio]'" in said.output


def test_every_request_that_is_read_can_be_made() -> None:
    asked = RunRequest.read({"knowledge": {"tiers": [["a"], ["b"]], "roots": []}, "options": {"score": ""}})
    assert asked.options == {}
    assert asked.model().get_params()["knowledge"] == Knowledge(tiers=[("a",), ("b",)])
    with pytest.raises(PrecedeError):
        RunRequest.read([])


def test_causes_of_an_outcome_and_root_causes_of_a_row(client: Client) -> None:
    run = client.run(method="corl", options={"score": "nongaussian"}, outcome="x5")
    assert run["state"] == "done", run["error"]
    folder = client.studio.workspace.run(run["id"]).folder
    graph = load_results(folder).graph
    outcome = next(name for name in reversed(graph.order) if graph.ancestors(name))
    found = client.get(f"/api/runs/{run['id']}/causes?outcome={outcome}")
    assert {cause["variable"] for cause in found["outcome"]["causes"]} == set(graph.ancestors(outcome))
    assert found["outcome"]["causes"][0]["weakest"] is not None
    assert "What causes x5" in (folder / "report.html").read_text()
    row = client.post(f"/api/runs/{run['id']}/explain", {"outcome": outcome, "row": 3})["sentences"]
    assert row[0].startswith(f"Row 3: {outcome} is ")
    since = client.post(f"/api/runs/{run['id']}/explain", {"outcome": outcome, "row": 100, "since": True})["sentences"]
    assert since[0] != row[0]
    for wrong in ({"outcome": outcome, "row": "3"}, {"outcome": outcome, "row": 10**9}, {"outcome": "z", "row": 3}, {}):
        assert client.post(f"/api/runs/{run['id']}/explain", wrong, 400)["error"]
    assert client.get(f"/api/runs/{run['id']}/causes?outcome=z", 400)["error"]
    assert client.post("/api/runs", {"outcome": 5}, 400)["error"]


def test_hidden_causes_are_drawn_with_their_marks(client: Client) -> None:
    run = client.run(method="corl", options={"score": "sparse-linear", "hidden": "allowed"})
    assert run["state"] == "done", run["error"]
    shown = client.get(f"/api/runs/{run['id']}")
    graph = load_results(client.studio.workspace.run(run["id"]).folder).graph
    assert graph.pag is not None
    assert {edge["mark"] for edge in shown["graph"]["edges"]} <= {"arrow", "half", "open", "line", "shared"}
    assert len(shown["graph"]["edges"]) == graph.pag.n_edges
    assert "pag.json" in shown["files"]


def test_an_edge_that_was_left_open_has_no_tip() -> None:
    graph = CausalGraph.from_matrix([[0, 1, 0], [0, 0, 1], [0, 0, 0]], names=list("abc"))
    loose = np.array([[False, True, False], [False] * 3, [False] * 3])
    assert [edge["mark"] for edge in payload(replace(graph, open_directions=loose))["edges"]] == ["line", "arrow"]
