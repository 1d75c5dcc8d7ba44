"""The panel of labeled tables: the folder's format, what is counted as right, the control, the command."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import precede as pc
from precede import CausalGraph
from precede.cli import app
from precede.errors import DataError, OptionError
from precede.experiments.panel import (
    KnownSet,
    Measured,
    PanelRow,
    below_control,
    crossing,
    measure,
    panel_table,
    read_panel,
    run_panel,
    write_page,
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


def table(claims):
    names = list("abc")[: len(claims)]
    return pd.DataFrame(claims, names, names, dtype=float)


def test_everything_in_a_folder_is_read_and_pairs_both_ways(folder):
    sets = read_panel(folder)
    assert [(one.name, one.kind) for one in sets] == [
        ("tiered", "tiers"), ("whole", "graph"), ("pair 7", "pair"), ("pair 7 turned", "pair"),
    ]  # fmt: skip
    plain, turned = sets[2:]
    assert plain.tiers.tolist() == [1, 0]
    assert turned.tiers.tolist() == [0, 1]
    assert (plain.data["b"] == turned.data["a"]).all()
    assert plain.weight == 0.5


def test_folders_without_knowledge_or_with_other_columns_are_refused(tmp_path, folder):
    with pytest.raises(DataError, match="no data sets of which something is known"):
        read_panel(tmp_path / "nowhere")
    (folder / "tiers.json").write_text(json.dumps({"tiered": {"tiers": {"other": 1}}}))
    with pytest.raises(DataError, match="'other'"):
        read_panel(folder)


def test_only_edges_between_known_tiers_count():
    tiers = np.array([1.0, 2.0, 3.0, np.nan])
    edges = np.zeros((4, 4), dtype=bool)
    for i, j in [(0, 1), (2, 0), (1, 2), (3, 0), (0, 3)]:
        edges[i, j] = True
    assert crossing(edges, tiers) == (2, 1)


def test_measures_by_hand():
    forward = CausalGraph.from_matrix([[0, 1], [0, 0]], names=["a", "b"])
    data = pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, 0.0]})
    tiered = measure(forward, KnownSet("t", "tiers", data, tiers=np.array([2.0, 1.0])))
    assert (tiered.right, tiered.known) == (0, 1)
    pair = measure(forward, KnownSet("p", "pair", data, tiers=np.array([0.0, 1.0]), weight=0.3))
    assert (pair.right, pair.known) == (0.3, 0.3)
    whole = measure(forward, KnownSet("g", "graph", data, truth=forward.adjacency))
    assert (whole.f1, whole.shd, whole.order_tpr) == (1, 0, 1)


def test_a_direction_that_a_class_leaves_open_counts_half():
    tiers = np.array([1.0, 2.0, 3.0])
    data = pd.DataFrame(np.eye(3), columns=list("abc"))
    pattern = table([[0, 0.5, 1], [0.5, 0, 0], [0, 1, 0]])  # a - b open, a -> c forward, c -> b backward
    tiered = measure(pattern, KnownSet("t", "tiers", data, tiers=tiers))
    assert (tiered.right, tiered.known) == (1.5, 3)
    nothing = table(np.zeros((2, 2)))
    pair = KnownSet("p", "pair", data[["a", "b"]], tiers=np.array([0.0, 1.0]), weight=0.3)
    assert measure(nothing, pair).right == 0.15
    assert measure(table([[0, 1], [0, 0]]), pair).right == 0.3
    loose = measure(
        table([[0, 0.5], [0.5, 0]]), KnownSet("g", "graph", data[["a", "b"]], truth=table([[0, 1], [0, 0]]))
    )
    assert (loose.f1, loose.shd, loose.order_tpr) == (
        0.5,
        0,
        1,
    )  # the columns choose the member that the last two count


def test_sets_below_the_control_are_marked():
    data = pd.DataFrame(np.eye(2), columns=list("ab"))
    sets = [KnownSet(name, "tiers", data, tiers=np.array([1.0, 2.0])) for name in ("good", "bad")]
    control = PanelRow("random", {name: Measured(5, 10, spread=0.1) for name in ("good", "bad")}, {})
    row = PanelRow("mine", {"good": Measured(4.5, 10), "bad": Measured(3.5, 10)}, {})
    assert below_control(row, control, sets) == ["bad"]
    heads, lines = panel_table([row, control], sets)
    place = heads.index("bad")
    assert [line[place] for line in lines] == ["3.5/10 below", "5/10 ± 0.10"]


def test_peers_that_are_not_installed_are_said_to_be(folder, monkeypatch):
    monkeypatch.setattr("precede.experiments.panel.find_spec", lambda name: None)
    [row] = run_panel([one for one in read_panel(folder) if one.kind == "tiers"], ["flop"], verbose=False)
    assert "pip install flopsearch" in row.failed["tiered"]


def test_a_wave_is_told_and_the_control_is_at_chance(folder):
    sets = read_panel(folder)
    policy, control = run_panel(sets, ["policy", "random"], verbose=False)
    assert policy.failed == {}
    assert policy.share("tiers", sets) == policy.share("pair", sets) == policy.mean("f1", sets) == 1
    assert 0.2 < control.share("pair", sets) < 0.8
    assert policy.seconds > 0
    heads, _ = panel_table([policy, control], sets)
    assert heads == ["method", "F1", "SHD", "order TPR", "tiers", "pairs", "tiered", "whole", "s"]
    with pytest.raises(OptionError, match="did you mean 'policy'"):
        next(run_panel(sets, ["polcy"]))


def test_a_method_that_fails_on_a_set_is_said_to(folder):
    sets = [one for one in read_panel(folder) if one.kind == "tiers"]
    constant = KnownSet("constant", "tiers", sets[0].data.assign(late=1.0), tiers=np.array([2.0, 1.0]))
    [row] = run_panel([constant, *sets], ["sparse-linear"], verbose=False)
    assert "late" in row.failed["constant"] or "missing" in row.failed["constant"]
    assert set(row.sets) == {"tiered"}
    assert isinstance(row, PanelRow)


def test_the_command_prints_the_table(folder, tmp_path):
    done = CliRunner().invoke(
        app, ["reproduce", "panel", str(folder), "--methods", "policy", "--quiet", "--out", str(tmp_path / "out")]
    )
    assert done.exit_code == 0, done.output
    assert "policy" in done.stdout
    refused = CliRunner().invoke(app, ["reproduce", "panel"])
    assert refused.exit_code == 2
    assert "needs the folder" in refused.stderr


def test_processes_give_the_same_panel(folder):
    sets = read_panel(folder)
    names = ["sparse-linear", "random"]
    alone, shared = (list(run_panel(sets, names, workers=Workers(jobs), verbose=False)) for jobs in (1, 2))
    shared.sort(key=lambda row: names.index(row.method))
    for one, other in zip(alone, shared, strict=True):
        assert {name: (figures.right, figures.known) for name, figures in one.sets.items()} == {
            name: (figures.right, figures.known) for name, figures in other.sets.items()
        }
    refused = CliRunner().invoke(app, ["reproduce", "panel", str(folder), "--jobs", "0"])
    assert "--jobs" in refused.output


@pytest.fixture
def nested(tmp_path):
    """Two kinds, one of them a series with an experiment in it."""
    rng = np.random.default_rng(1)
    for kind, name in (("lines", "one"), ("lines", "two"), ("plants", "three")):
        place = tmp_path / kind / name
        place.mkdir(parents=True)
        cause = rng.uniform(-1, 1, 300)
        frame = pd.DataFrame({"x": cause, "y": 0.9 * cause + 0.3 * rng.uniform(-1, 1, 300)})
        if name == "three":
            frame = frame.assign(y=np.roll(frame["y"], 1), was_set=["x"] * 100 + [""] * 200)
            (place / "options.json").write_text(json.dumps({"lags": 1, "interventions": "was_set"}))
        frame.to_csv(place / "data.csv", index=False)
        table([[0, 1], [0, 0]]).set_axis(["x", "y"]).set_axis(["x", "y"], axis=1).to_csv(place / "truth.csv")
    return tmp_path


def test_tables_lie_in_folders_by_kind_with_their_options(nested):
    sets = read_panel(nested)
    assert [(one.name, one.group) for one in sets] == [
        ("lines/one", "lines"), ("lines/two", "lines"), ("plants/three", "plants"),
    ]  # fmt: skip
    corl, deaf = pc.CORL(), pc.baselines.DirectLiNGAM()
    heard = sets[2].table(corl)
    assert heard.steps is not None
    assert heard.targets is not None
    assert sets[2].table(deaf).names == sets[2].table().names == ("x", "y")  # what was set is no variable
    assert abs(heard.values.mean()) < 0.1
    [row] = run_panel(sets, ["default"], verbose=False)
    assert row.failed == {}
    assert row.sets["plants/three"].f1 == 1  # the effect comes a step later
    ones = PanelRow(
        "m",
        {"lines/one": Measured(0, 0, 1.0), "lines/two": Measured(0, 0, 0.0), "plants/three": Measured(0, 0, 1.0)},
        {},
    )
    assert ones.mean("f1", sets) == 0.75  # each kind counts once


def test_a_truth_with_other_columns_or_cycles(nested):
    cyclic = KnownSet("c", "graph", pd.DataFrame(columns=list("ab")), truth=table([[0, 1], [1, 0]]))
    both = measure(table([[0, 1], [1, 0]]), cyclic)
    assert both.f1 == 1
    assert np.isnan(both.shd)
    (nested / "lines" / "one" / "truth.csv").write_text(",x,z\nx,0,1\nz,0,0\n")
    with pytest.raises(DataError, match="'lines/one' needs a row and a column"):
        read_panel(nested)


def test_the_page_says_what_failed_and_who_looked(nested, tmp_path):
    out = tmp_path / "out"
    for methods in ("sparse-linear,random", "direct-lingam"):
        done = CliRunner().invoke(
            app, ["reproduce", "panel", str(nested), "--methods", methods, "--quiet", "--out", str(out)]
        )
        assert done.exit_code == 0, done.output
    page = (out / "panel" / "panel.md").read_text()
    assert "| method | F1 | SHD | order TPR | lines/one | lines/two | plants/three | s |" in page
    assert page.count("\n- `") == 2  # each run is a look
    assert "sparse-linear, random" in page
    row = PanelRow("m", {}, {"lines/one": "why not"})
    assert "- m on lines/one: why not" in write_page([row], read_panel(nested), out, "c", 1).read_text()
