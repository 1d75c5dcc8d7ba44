"""``precede effect``: numbers from a folder of results."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import precede as pc
from precede.cli import app

runner = CliRunner()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("effect")
    pc.simulate(n_variables=5, degree=2, n_samples=300, random_state=0).data.to_csv(place / "data.csv", index=False)
    options = ["--method", "eqvar", "--quiet", "--bootstrap", "6", "--seed", "0"]
    done = runner.invoke(app, ["discover", str(place / "data.csv"), "--out", str(place / "out"), *options])
    assert done.exit_code == 0, done.output
    return place


def test_the_folder_answers_as_the_model_does(folder: Path) -> None:
    results = pc.load_results(folder / "out")
    cause, effect, _ = results.graph.edge_list()[0]
    expected = results.graph.effect(cause, effect, folder / "data.csv")
    done = runner.invoke(app, ["effect", str(folder / "out"), str(cause), str(effect), "--json"])
    assert done.exit_code == 0, done.output
    answers = json.loads(done.stdout)
    assert answers["total"]["value"] == pytest.approx(expected.value, abs=1e-9)
    assert answers["total"]["probability"] > 0.5
    assert "direct" in answers
    shown = runner.invoke(app, ["effect", str(folder / "out"), str(cause), str(effect)])
    assert "of the resampled graphs have such an effect" in " ".join(shown.output.split())


@pytest.mark.parametrize("option", ["x1", "source"])
def test_a_way_of_reading_that_does_not_exist_is_refused(folder: Path, tmp_path: Path, option: str) -> None:
    shutil.copytree(folder / "out", tmp_path / "out")
    result = tmp_path / "out" / "result.json"
    result.write_text(json.dumps(json.loads(result.read_text()) | {"reading": {option: 1}}))
    asked = ["effect", str(tmp_path / "out"), "x1", "x2", "--data", str(folder / "data.csv")]
    done = runner.invoke(app, asked)
    assert done.exit_code == 2
    assert isinstance(done.exception, SystemExit)
    assert f"'reading' in result.json has no option {option!r}" in " ".join(done.output.split())


def test_a_level_in_percent_is_refused_in_a_sentence(folder: Path) -> None:
    cause, effect, _ = pc.load_results(folder / "out").graph.edge_list()[0]
    done = runner.invoke(app, ["effect", str(folder / "out"), str(cause), str(effect), "--level", "95"])
    assert done.exit_code == 2
    assert "give a share between 0 and 1" in " ".join(done.output.split())


def test_the_folder_keeps_no_rows(folder: Path) -> None:
    kept = json.loads((folder / "out" / "moments.json").read_text())
    assert set(kept) == {
        "format",
        "version",
        "names",
        "n_samples",
        "mean",
        "covariance",
        "settings",
        "absent",
        "kinds",
    }
    assert kept["settings"] is None


def test_a_folder_of_a_fit_with_interventions_answers_from_rows_in_which_the_effect_was_not_set(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    what = np.repeat(["none", "b"], 400)
    a = rng.normal(size=800)
    b = np.where(what == "b", 3 * rng.normal(size=800), 2 * a + rng.normal(size=800))
    pd.DataFrame({"a": a, "b": b, "set": what}).to_csv(tmp_path / "data.csv", index=False)
    asked = ["discover", str(tmp_path / "data.csv"), "--out", str(tmp_path / "out"), "--interventions", "set"]
    done = runner.invoke(app, [*asked, "--quiet", "--seed", "0", "--set", "diagnose=quick"])
    assert done.exit_code == 0, done.output
    answer = runner.invoke(app, ["effect", str(tmp_path / "out"), "a", "b", "--json"])
    assert json.loads(answer.stdout)["total"]["value"] == pytest.approx(np.polyfit(a[:400], b[:400], 1)[0], abs=1e-8)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["edges"][0]["total"]["value"] == pytest.approx(2.0, abs=0.1)
    asked = ["effect", str(tmp_path / "out"), "a", "b", "--data", str(tmp_path / "data.csv"), "--json"]
    again = json.loads(runner.invoke(app, asked).stdout)  # the folder remembers the column that says what was set
    assert again["total"]["value"] == pytest.approx(np.polyfit(a[:400], b[:400], 1)[0], abs=1e-8)
    other = runner.invoke(app, [*asked[:-1], "--interventions", "b"])
    assert other.exit_code == 2


def test_what_if_needs_the_rows(folder: Path) -> None:
    cause, effect, _ = pc.load_results(folder / "out").graph.edge_list()[0]
    asked = ["effect", str(folder / "out"), str(cause), str(effect), "--set", "1.5"]
    refused = runner.invoke(app, asked)
    assert refused.exit_code == 2
    assert "--data" in refused.output
    done = runner.invoke(app, [*asked, "--data", str(folder / "data.csv")])
    assert f"With {cause} set to 1.5" in " ".join(done.output.split())


def test_a_class_gives_possible_effects(tmp_path: Path) -> None:
    frame = pc.simulate(n_variables=4, degree=1, n_samples=300, random_state=0).data
    frame.to_csv(tmp_path / "data.csv", index=False)
    options = ["--score", "sparse-linear", "--quiet", "--set", "search=exact"]
    runner.invoke(app, ["discover", str(tmp_path / "data.csv"), "--out", str(tmp_path / "out"), *options])
    names = list(frame.columns)
    done = runner.invoke(app, ["effect", str(tmp_path / "out"), names[0], names[1], "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["possible"]["effects"]


@pytest.mark.parametrize(
    ("change", "message"),
    [("missing", "holds no result"), ("name", "no variable"), ("moments", "moments")],
)
def test_mistakes_are_one_sentence(folder: Path, tmp_path: Path, change: str, message: str) -> None:
    place, cause, effect = folder / "out", "nobody", "none"
    if change == "missing":
        place = tmp_path
    if change == "moments":
        for name in ("graph.json", "result.json"):
            (tmp_path / name).write_bytes((place / name).read_bytes())
        (tmp_path / "moments.json").write_text('{"format": "precede-moments"}')
        place = tmp_path
    done = runner.invoke(app, ["effect", str(place), cause, effect])
    assert done.exit_code == 2
    assert message in " ".join(done.output.split())


def test_next_says_which_experiment_settles_the_most(tmp_path: Path) -> None:
    data = pc.simulate(n_variables=5, degree=2, n_samples=300, random_state=0).data
    data.to_csv(tmp_path / "data.csv", index=False)
    options = ["--score", "sparse-linear", "--quiet", "--seed", "0", "--out", str(tmp_path / "out")]
    done = runner.invoke(app, ["discover", str(tmp_path / "data.csv"), *options])
    assert done.exit_code == 0, done.output
    steps = pc.load_results(tmp_path / "out").graph.next_steps()
    shown = runner.invoke(app, ["next", str(tmp_path / "out")])
    assert shown.exit_code == 0, shown.output
    assert steps.sentences[0] in " ".join(shown.output.split())
    asked = runner.invoke(app, ["next", str(tmp_path / "out"), "--json"])
    assert json.loads(asked.stdout)["n_open"] == steps.n_open


def test_explain_names_the_root_cause_of_a_row_and_of_a_period(folder: Path) -> None:
    graph = pc.load_results(folder / "out").graph
    outcome, data = str(graph.order[-1]), str(folder / "data.csv")
    asked = ["explain", str(folder / "out"), data, "--outcome", outcome]
    done = runner.invoke(app, [*asked, "--row", "7", "--json"])
    assert done.exit_code == 0, done.output
    found = graph.explain(outcome, data, row=7)
    assert json.loads(done.stdout)["contributions"][0]["value"] == pytest.approx(found.contributions[0].value)
    done = runner.invoke(app, [*asked, "--before", "0:100", "--after", "100:"])
    assert found.expected != 0
    assert graph.explain(outcome, data, before=range(100), after=range(100, 300)).sentences[0] in " ".join(
        done.output.split()
    )
    done = runner.invoke(app, [*asked, "--before", "first", "--after", "100:"])
    assert done.exit_code == 2
    assert "'first' names no rows" in " ".join(done.output.split())


def test_next_says_where_directions_rest_on_assumptions(folder: Path) -> None:
    shown = runner.invoke(app, ["next", str(folder / "out")])  # eqvar directs every edge by equal noise
    assert "by what it assumes about noise" in " ".join(shown.output.split())


def test_the_edges_as_a_latex_table(folder: Path) -> None:
    done = runner.invoke(app, ["report", str(folder / "out"), "--latex"])
    assert done.exit_code == 0, done.output
    edges = pc.load_results(folder / "out").graph.edge_list()
    lines = done.stdout.splitlines()
    assert lines[0] == r"\begin{tabular}{llrr}"
    assert len(lines) == len(edges) + 6
    cause, effect, weight = edges[0]
    assert lines[4].startswith(f"{cause} & {effect} & {weight:.3f} & ")


def test_cite_prints_bibtex_of_what_the_citation_file_says() -> None:
    done = runner.invoke(app, ["cite"])
    cited = (Path(__file__).parents[2] / "CITATION.cff").read_text(encoding="utf-8")
    assert "10.24963/ijcai.2021/491" in done.stdout
    assert "10.24963/ijcai.2021/491" in cited
    assert f"{{{pc.__version__}}}" in done.stdout
    assert done.stdout.count("{") == done.stdout.count("}")


def test_levels_rows_and_several_causes_are_asked_for_by_flags(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    site, a = rng.choice(["n", "s", "w"], 400), rng.normal(size=400)
    b = 2 * a + 3 * (site == "s") + rng.normal(size=400)
    pd.DataFrame({"site": site, "a": a, "b": b, "junk": "999"}).to_csv(tmp_path / "data.csv", index=False)
    knowledge = {"required": [["site", "b"], ["a", "b"]], "forbidden": [["site", "a"], ["a", "site"]]}
    (tmp_path / "known.json").write_text(json.dumps(knowledge))
    asked = ["discover", str(tmp_path / "data.csv"), "--out", str(tmp_path / "out"), "--leave-out", "junk", "--quiet"]
    done = runner.invoke(app, [*asked, "--seed", "0", "--no-stability", "--knowledge", str(tmp_path / "known.json")])
    assert done.exit_code == 0, done.output

    def ask(*more: str) -> dict[str, dict[str, object]]:
        told = runner.invoke(app, ["effect", str(tmp_path / "out"), *more, "--json"])
        assert told.exit_code == 0, told.output
        return json.loads(told.stdout)

    assert ask("site", "b", "--compare", "n", "s")["total"]["value"] == pytest.approx(3.0, abs=0.4)
    assert len([name for name in ask("site", "b") if name.startswith("total")]) == 2
    assert ask("a", "b", "--with", "site")["total"]["together"] == ["site"]
    data = ["--data", str(tmp_path / "data.csv")]
    assert "Row 3 with site = s: b" in ask("site", "b", "--set", "s", "--row", "3", *data)["what_if"]["sentence"]
