"""``precede compare``: folders side by side."""

import json
from pathlib import Path

from typer.testing import CliRunner

import precede as pc
from precede.cli import app

runner = CliRunner()


def test_folders_are_compared_and_the_consensus_written(tmp_path: Path) -> None:
    csv = tmp_path / "data.csv"
    pc.simulate(n_variables=5, degree=1, n_samples=300, random_state=0).data.to_csv(csv, index=False)
    folders = []
    for method in ("eqvar", "sort-regress", "random"):
        folders.append(str(tmp_path / method))
        seed = ["--seed", "0"] if method == "random" else []
        options = ["--method", method, "--out", folders[-1], "--quiet", *seed]
        assert runner.invoke(app, ["discover", str(csv), *options]).exit_code == 0
    done = runner.invoke(app, ["compare", *folders, "--out", str(tmp_path / "both")])
    assert done.exit_code == 0, done.output
    assert "The consensus has" in " ".join(done.output.split())
    assert {path.name for path in (tmp_path / "both").iterdir()} == {
        "comparison.csv", "comparison.png", "consensus.csv", "consensus.json"
    }  # fmt: skip
    as_json = json.loads(runner.invoke(app, ["compare", *folders, "--json"]).stdout)
    assert as_json["graphs"] == ["eqvar", "sort-regress", "random"]
    agreed = pc.CausalGraph.from_json(tmp_path / "both" / "consensus.json")
    assert len(as_json["consensus"]) == agreed.n_edges


def test_one_folder_is_not_a_comparison(tmp_path: Path) -> None:
    done = runner.invoke(app, ["compare", str(tmp_path)])
    assert done.exit_code == 2
    assert "holds no result" in " ".join(done.output.split())
