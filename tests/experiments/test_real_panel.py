"""The panel of real data: the folder's format, what is counted as right, the control, the command."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from typer.testing import CliRunner

from precede import CausalGraph
from precede.cli import app
from precede.errors import DataError, OptionError
from precede.experiments.real_panel import (
    Measured,
    PanelRow,
    RealSet,
    below_control,
    crossing,
    measure,
    panel_table,
    read_real_sets,
    run_panel,
)
from precede.runtime.workers import Workers


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    cause = rng.uniform(-1, 1, 300)
    effect = np.cos(4 * cause) + 0.1 * rng.normal(size=300)  # no function leads back
    pd.DataFrame({"late": effect, "early": cause}).to_csv(tmp_path / "tiered.csv", index=False)
    (tmp_path / "tiers.json").write_text(json.dumps({"tiered": {"tiers": {"early": 1, "late": 2}}}))
    pd.DataFrame({"x": cause, "y": effect}).to_csv(tmp_path / "whole.csv", index=False)
    pd.DataFrame([[0, 1], [0, 0]], index=["x", "y"], columns=["x", "y"]).to_csv(tmp_path / "whole.graph.csv")
    np.savez(
        tmp_path / "pairs.npz",
        **{"7_data": np.column_stack([effect, cause]), "7_cause_column_and_weight": np.array([1, 0.5])},
    )
    return tmp_path


def test_everything_in_a_folder_is_read_and_pairs_both_ways(folder):
    sets = read_real_sets(folder)
    assert [(one.name, one.kind) for one in sets] == [
        ("tiered", "tiers"), ("whole", "graph"), ("pair 7", "pair"), ("pair 7 turned", "pair"),
    ]  # fmt: skip
    plain, turned = sets[2:]
    assert plain.tiers.tolist() == [1, 0]
    assert turned.tiers.tolist() == [0, 1]
    assert (plain.data["b"] == turned.data["a"]).all()
    assert plain.weight == 0.5


def test_folders_without_knowledge_or_with_other_columns_are_refused(tmp_path, folder):
    with pytest.raises(DataError, match="no data sets with known causes"):
        read_real_sets(tmp_path / "nowhere")
    (folder / "tiers.json").write_text(json.dumps({"tiered": {"tiers": {"other": 1}}}))
    with pytest.raises(DataError, match="'other'"):
        read_real_sets(folder)


def test_only_edges_between_known_tiers_count():
    tiers = np.array([1.0, 2.0, 3.0, np.nan])
    edges = np.zeros((4, 4), dtype=bool)
    for i, j in [(0, 1), (2, 0), (1, 2), (3, 0), (0, 3)]:
        edges[i, j] = True
    assert crossing(edges, tiers) == (2, 1)


def test_measures_by_hand():
    forward = CausalGraph.from_matrix([[0, 1], [0, 0]], names=["a", "b"])
    data = pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, 0.0]})
    tiered = measure(forward, RealSet("t", "tiers", data, tiers=np.array([2.0, 1.0])))
    assert (tiered.right, tiered.known) == (0, 1)
    pair = measure(forward, RealSet("p", "pair", data, tiers=np.array([0.0, 1.0]), weight=0.3))
    assert (pair.right, pair.known) == (0.3, 0.3)
    whole = measure(forward, RealSet("g", "graph", data, truth=forward))
    assert (whole.f1, whole.shd, whole.order_tpr) == (1, 0, 1)


def test_a_direction_that_a_class_leaves_open_counts_half():
    tiers = np.array([1.0, 2.0, 3.0])
    data = pd.DataFrame(np.eye(3), columns=list("abc"))
    pattern = np.array([[0, 1, 1], [1, 0, 0], [0, 1, 0]]) == 1  # a - b open, a -> c forward, c -> b backward
    tiered = measure(pattern, RealSet("t", "tiers", data, tiers=tiers))
    assert (tiered.right, tiered.known) == (1.5, 3)
    nothing = np.zeros((2, 2), dtype=bool)
    pair = RealSet("p", "pair", data[["a", "b"]], tiers=np.array([0.0, 1.0]), weight=0.3)
    assert measure(nothing, pair).right == 0.15
    assert measure(np.array([[False, True], [False, False]]), pair).right == 0.3
    truth = CausalGraph.from_matrix([[0, 1], [0, 0]])
    loose = np.array([[False, True], [True, False]])
    assert measure(loose, RealSet("g", "graph", data[["a", "b"]], truth=truth)).f1 == 1  # columns decide


def test_sets_below_the_control_are_marked():
    data = pd.DataFrame(np.eye(2), columns=list("ab"))
    sets = [RealSet(name, "tiers", data, tiers=np.array([1.0, 2.0])) for name in ("good", "bad")]
    control = PanelRow("random", {name: Measured(5, 10, spread=0.1) for name in ("good", "bad")}, {})
    row = PanelRow("mine", {"good": Measured(4.5, 10), "bad": Measured(3.5, 10)}, {})
    assert below_control(row, control, sets) == ["bad"]
    cells = [list(column.cells) for column in panel_table([row, control], sets).columns]
    assert cells[2] == ["3.5/10 below", "5/10 ± 0.10"]


def test_peers_that_are_not_installed_are_said_to_be(folder, monkeypatch):
    monkeypatch.setattr("precede.experiments.real_panel.find_spec", lambda name: None)
    [row] = run_panel([one for one in read_real_sets(folder) if one.kind == "tiers"], ["flop"], verbose=False)
    assert "pip install flopsearch" in row.failed["tiered"]


def test_a_wave_is_told_and_the_control_is_at_chance(folder):
    sets = read_real_sets(folder)
    policy, control = run_panel(sets, ["policy", "random"], verbose=False)
    assert policy.failed == {}
    assert policy.share("tiers", sets) == policy.share("pair", sets) == policy.mean("f1") == 1
    assert 0.2 < control.share("pair", sets) < 0.8
    assert policy.seconds > 0
    table = panel_table([policy, control], sets)
    assert [column.header for column in table.columns][:4] == ["method", "tiered", "tiers", "pairs"]
    with pytest.raises(OptionError, match="did you mean 'policy'"):
        next(run_panel(sets, ["polcy"]))


def test_a_method_that_fails_on_a_set_is_said_to(folder):
    sets = [one for one in read_real_sets(folder) if one.kind == "tiers"]
    constant = RealSet("constant", "tiers", sets[0].data.assign(late=1.0), tiers=np.array([2.0, 1.0]))
    [row] = run_panel([constant, *sets], ["sparse-linear"], verbose=False)
    assert "late" in row.failed["constant"] or "missing" in row.failed["constant"]
    assert set(row.sets) == {"tiered"}
    assert isinstance(row, PanelRow)


def test_the_command_prints_the_table(folder):
    done = CliRunner().invoke(app, ["reproduce", "real", str(folder), "--methods", "policy", "--quiet"])
    assert done.exit_code == 0, done.output
    assert "policy" in done.stdout
    refused = CliRunner().invoke(app, ["reproduce", "real"])
    assert refused.exit_code == 2
    assert "needs the folder" in refused.stderr


def test_processes_give_the_same_panel(folder):
    sets = read_real_sets(folder)
    names = ["sparse-linear", "random"]
    alone, shared = (list(run_panel(sets, names, workers=Workers(jobs), verbose=False)) for jobs in (1, 2))
    shared.sort(key=lambda row: names.index(row.method))
    for one, other in zip(alone, shared, strict=True):
        assert {name: (figures.right, figures.known) for name, figures in one.sets.items()} == {
            name: (figures.right, figures.known) for name, figures in other.sets.items()
        }
    refused = CliRunner().invoke(app, ["reproduce", "real", str(folder), "--jobs", "0"])
    assert "--jobs" in refused.output


def test_a_narrow_page_loses_no_figure():
    data = pd.DataFrame(np.eye(2), columns=list("ab"))
    sets = [RealSet(f"a long name {k}", "tiers", data, tiers=np.array([1.0, 2.0])) for k in range(6)]
    row = PanelRow("a-method-with-a-long-name", {one.name: Measured(12.5, 1234) for one in sets}, {})
    table = panel_table([row], sets)
    assert [column.header for column in table.columns][-2:] == ["tiers", "s"]  # no pairs, no graphs
    page = io.StringIO()
    Console(file=page, width=60).print(table)
    assert "…" not in page.getvalue()
