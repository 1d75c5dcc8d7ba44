"""``precede check``, knowledge from flags, standard input, and other small things of the command line."""

import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import precede as pc
from precede.cli import app
from precede.cli.flags import known_from
from precede.errors import KnowledgeError, OptionError, check_choice

runner = CliRunner()


@pytest.fixture
def untidy(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    age = rng.normal(40, 10, 200)
    frame = pd.DataFrame(
        {
            "patient_id": np.arange(200),
            "when": pd.date_range("2020-01-01", periods=200).astype(str),
            "age": age,
            "age_months": 12 * age,
            "dose": rng.normal(size=200) + 0.1 * age,
            "site": "north",
            "group": rng.choice(["a", "b", "c"], 200),
            "income": 1e6 * rng.lognormal(size=200),
        }
    )
    frame["sum"] = frame["age"] + 2 * frame["dose"]
    frame.loc[3, "dose"] = np.nan
    frame.loc[5, "dose"] = 1e4
    frame.to_csv(tmp_path / "untidy.csv", index=False)
    return tmp_path / "untidy.csv"


def test_every_problem_is_named_and_the_command_works(untidy: Path, tmp_path: Path) -> None:
    done = runner.invoke(app, ["check", str(untidy), "--json"])
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout)
    out = {item["column"] for item in answer["findings"] if item["remedy"] == "leave out"}
    assert {"when", "age_months", "site"} <= out
    assert not out & {"age", "dose", "group", "income"}
    said = " ".join(item["sentence"] for item in answer["findings"])
    assert "'age' again" in said
    assert "patient_id" in said
    assert "patient_id" not in answer["kinds"]
    assert "lacks 1 values" in said
    assert "odd, too far out" in said
    assert "spreads differ widely" in said
    assert answer["kinds"]["group"].startswith("categorical")
    command = shlex.split(answer["command"])
    assert command[:2] == ["precede", "discover"]
    flags = [*command[2:-2], "--leave-out", "group", "--out", str(tmp_path / "r"), "--method", "r2-sort-regress", "-q"]
    again = runner.invoke(app, ["discover", *flags])
    assert again.exit_code == 0, again.output


def test_the_terminal_shows_kinds_and_the_command(untidy: Path) -> None:
    shown = " ".join(runner.invoke(app, ["check", str(untidy)]).output.split())
    assert "This works precede discover" in shown
    assert "left out: column 'site' is constant" in shown


def test_a_clean_table_has_no_findings_and_a_hopeless_one_stops(tmp_path: Path) -> None:
    pc.simulate(n_variables=4, degree=1, n_samples=100, random_state=0).data.to_csv(tmp_path / "ok.csv", index=False)
    assert "Nothing stands in the way" in runner.invoke(app, ["check", str(tmp_path / "ok.csv")]).output
    pd.DataFrame({"x": np.arange(5.0) ** 2, "site": "north"}).to_csv(tmp_path / "one.csv", index=False)
    done = runner.invoke(app, ["check", str(tmp_path / "one.csv")])
    assert done.exit_code == 1
    assert "stop:" in done.output


def test_a_column_that_others_add_up_to_is_found(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(50, 3)), columns=list("abc"))
    frame["total"] = frame.sum(axis=1)
    frame.to_csv(tmp_path / "sum.csv", index=False)
    answer = json.loads(runner.invoke(app, ["check", str(tmp_path / "sum.csv"), "--json"]).stdout)
    assert [item["column"] for item in answer["findings"]] == ["total"]


def test_knowledge_from_flags_is_obeyed(tmp_path: Path) -> None:
    data = pc.simulate(n_variables=5, degree=2, n_samples=300, random_state=0)
    data.data.to_csv(tmp_path / "data.csv", index=False)
    last, first = data.graph.order[-1], data.graph.order[0]
    base = ["discover", str(tmp_path / "data.csv"), "--method", "eqvar", "--quiet", "--json"]
    found = json.loads(runner.invoke(app, [*base, "--root", str(last), "--sink", str(first)]).stdout)
    assert not any(edge["effect"] == last or edge["cause"] == first for edge in found["edges"])
    tiers = json.loads(runner.invoke(app, [*base, "--tier", f"{last}<{first}"]).stdout)
    assert tiers["order"].index(last) < tiers["order"].index(first)
    wrong = runner.invoke(app, [*base, "--root", "nobody"])
    assert wrong.exit_code == 2


def test_flags_and_file_are_joined_or_refused(tmp_path: Path) -> None:
    (tmp_path / "known.toml").write_text('roots = ["a"]\ntiers = [["a"], ["b"]]\n')
    joined = known_from(knowledge=tmp_path / "known.toml", root=["c"], sink=["d"])
    assert joined is not None
    assert (tuple(joined.roots), tuple(joined.sinks)) == (("a", "c"), ("d",))
    with pytest.raises((OptionError, KnowledgeError), match="twice"):
        known_from(knowledge=tmp_path / "known.toml", tier="a<b")
    with pytest.raises(OptionError, match="from early to late"):
        known_from(tier="a,b")
    assert known_from(sink=[]) is None


def test_a_table_may_come_from_standard_input() -> None:
    text = pc.simulate(n_variables=4, degree=1, n_samples=200, random_state=0).data.to_csv(index=False)
    piped = runner.invoke(app, ["discover", "-", "--method", "eqvar", "--quiet", "--json"], input=text)
    assert piped.exit_code == 0, piped.output
    assert len(json.loads(piped.stdout)["order"]) == 4


def test_a_table_of_many_edges_stops_at_a_screen(tmp_path: Path) -> None:
    pc.simulate(n_variables=12, degree=4, n_samples=300, random_state=0).data.to_csv(tmp_path / "d.csv", index=False)
    done = runner.invoke(app, ["discover", str(tmp_path / "d.csv"), "--method", "eqvar", "--set", "pruning=none"])
    assert "66 edges, the 12 strongest shown" in done.output
    assert len(done.output.splitlines()) <= 40
    assert max(map(len, done.output.splitlines())) <= 80
    whole = runner.invoke(
        app, ["discover", str(tmp_path / "d.csv"), "--method", "eqvar", "--set", "pruning=none", "--verbose"]
    )
    assert whole.output.count("→ x") == 66


def test_version_and_completion() -> None:
    assert runner.invoke(app, ["--version"]).output.strip() == f"precede {pc.__version__}"
    assert "--install-completion" in runner.invoke(app, ["--help"]).output


def test_a_hint_never_says_the_opposite() -> None:
    with pytest.raises(OptionError) as caught:
        check_choice("score", "gaussian", ("linear", "nongaussian", "gp"))
    assert "did you mean" not in str(caught.value)
    with pytest.raises(OptionError, match="did you mean 'nongaussian'"):
        check_choice("score", "nongausian", ("linear", "nongaussian", "gp"))
