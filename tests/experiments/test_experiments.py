"""Experiments: cells, the ledger, the runner, the tables."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from precede.cli import app
from precede.errors import OptionError, PrecedeError
from precede.experiments import runner
from precede.experiments.cells import Cell, Data, Experiment, Method, Selection
from precede.experiments.designs import EXPERIMENTS, rows
from precede.experiments.figures import common_curve, compared
from precede.experiments.ledger import CELLS, RUNS, TIMES, Ledger, by_key, commit, read_lines
from precede.experiments.reproduce import parse_seeds, reproduce, reproduce_all
from precede.experiments.runner import run_cell, run_stack
from precede.experiments.verdicts import Published, entries_of, verdict_on
from precede.options import check_options
from precede.runtime.workers import Workers

(CORL_2,) = rows("corl-2")
SMALL = Data("er1", "er", 5, 1, n_samples=200)
TINY = Experiment(
    "tiny",
    "Tiny",
    "nowhere",
    (SMALL, replace(SMALL, name="sf1", graph="sf")),
    rows("eqvar random"),
    seeds=(0, 1),
)
LINEAR_LIMITS = {"n_iterations": 3, "batch_size": 4}


def text_of(folder: Path) -> bytes:
    return (folder / CELLS).read_bytes()


# cells and designs


@pytest.mark.parametrize("design", EXPERIMENTS.values(), ids=lambda design: design.name)
def test_designs_are_sound(design: Experiment) -> None:
    cells = design.cells()
    assert len({cell.key for cell in cells}) == len(cells)
    assert all(name.count("/") == 0 for cell in cells for name in (cell.data.name, cell.method.name))
    json.dumps([cell.settings() for cell in cells])
    for method in design.methods:
        method.build(random_state=0, verbose=False)


@pytest.mark.parametrize("name", ["table1-30", "table1-100", "linear-50", "others-linear", "lingam", "linear-150"])
def test_linear_tables_have_the_controls(name: str) -> None:
    assert {"eqvar", "sort-regress", "random"} <= {method.name for method in EXPERIMENTS[name].methods}


def test_options_reach_the_estimator() -> None:
    model = Cell(SMALL, replace(CORL_2, options={"encoder": "mlp"}), 3, max_time=7.0).build("cpu")
    got = model.get_params()
    assert (got["encoder"], got["inputs"], got["polish"], got["max_time"]) == ("mlp", "resample", False, 7.0)
    assert (got["device"], got["random_state"], got["verbose"]) == ("cpu", 10_003, False)


def test_an_unknown_option_is_named() -> None:
    with pytest.raises(OptionError, match="encodr"):
        replace(CORL_2, options={"encodr": "mlp"}).build()


def test_choice_of_cells() -> None:
    keys = [cell.key for cell in TINY.cells(Selection([4], ["eqvar"], ["sf1"]))]
    assert keys == ["sf1/eqvar/4"]
    assert [cell.seed for cell in TINY.cells()] == [0] * 4 + [1] * 4
    with pytest.raises(OptionError, match="did you mean 'eqvar'"):
        TINY.cells(Selection(methods=["eqvr"]))
    with pytest.raises(OptionError, match="data of tiny"):
        TINY.cells(Selection(data=["er9"]))
    with pytest.raises(OptionError, match="seeds"):
        TINY.cells(Selection([]))


def test_quick_means_one_seed_and_small_limits() -> None:
    cells = EXPERIMENTS["sachs"].cells(Selection(quick=True))
    assert {cell.max_time for cell in cells} == {4.0}
    corl = next(cell for cell in cells if cell.method.name == "corl-2")
    assert corl.method.options["n_iterations"] == 20
    assert corl.method.nonlinear
    assert corl.settings()["nonlinear"]
    assert corl.build(None).get_params()["score"] == "gp"
    assert "corl-additive" not in {cell.method.name for cell in cells}
    assert EXPERIMENTS["sachs"].cells(Selection(quick=True, max_time=1.0))[0].max_time == 1.0


def test_fixed_data_runs_methods_without_randomness_once() -> None:
    cells = EXPERIMENTS["sachs"].cells()
    count = [cell.method.name for cell in cells].count
    assert (count("notears"), count("gran-dag"), count("random-cam")) == (1, 5, 100)


@pytest.mark.parametrize("text", ["x", "1-", "0.5"])
def test_seeds_that_cannot_be_read(text: str) -> None:
    with pytest.raises(OptionError, match="first five"):
        parse_seeds(text)


# one cell


def test_an_error_becomes_a_sentence() -> None:
    finished = run_cell(Cell(SMALL, Method("bad", "corl", options={"reward": "dens"}), 0))
    assert "did you mean 'dense'" in finished.record["error"]
    assert finished.record["metrics"] == {}
    finished = run_cell(Cell(SMALL, Method("bad", "corl", options={"n_encoder_rows": 8, "knowledge": 3}), 0))
    assert finished.record["error"]


def test_a_cell_cut_short_by_the_user_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("precede.search.train.Trainer.step", stop)
    with pytest.raises(KeyboardInterrupt):
        run_cell(Cell(SMALL, replace(CORL_2, options=LINEAR_LIMITS), 0))


def test_iterations_and_curve_of_corl() -> None:
    finished = run_cell(Cell(SMALL, replace(CORL_2, options={"n_iterations": 12, "batch_size": 4}), 0, keep_curve=True))
    metrics, curve = finished.record["metrics"], finished.record["curve"]
    assert curve["iteration"] == list(range(1, 13))
    assert curve["best_score"].index(curve["best_score"][-1]) + 1 == metrics["converged_at"]
    assert metrics["iterations"] == 12
    assert finished.times["seconds"] > 0


def test_long_curves_are_thinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "LONGEST_CURVE", 5)
    cell = Cell(SMALL, replace(CORL_2, options={"n_iterations": 12, "batch_size": 4}), 0, keep_curve=True)
    assert run_cell(cell).record["curve"]["iteration"] == [1, 4, 7, 9, 12]


def test_curves_of_different_length() -> None:
    records = [
        {"curve": {"iteration": [1, 3], "mean_score": [0.0, 2.0]}, "metrics": {"greedy_score": 1.0}},
        {"curve": {"iteration": [1, 2], "mean_score": [5.0, 6.0]}, "metrics": {"greedy_score": 5.0}},
    ]
    iterations, values = common_curve(records, "mean_score")
    assert iterations.tolist() == [1, 2, 3]
    assert values.tolist() == [[-1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]


# the ledger


def test_a_torn_line_is_cut_and_written_again(tmp_path: Path) -> None:
    reproduce(TINY, out=tmp_path, verbose=False)
    folder = tmp_path / "tiny"
    whole = text_of(folder)
    (folder / CELLS).write_bytes(whole[:-40])
    again = reproduce(TINY, out=tmp_path, verbose=False)
    assert again.n_run == 1
    assert text_of(folder) == whole


def test_a_broken_line_in_the_middle_is_named(tmp_path: Path) -> None:
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / CELLS).write_text('{"key": "a/b/0"}\nnonsense\n{"key": "a/b/1"}\n')
    with pytest.raises(PrecedeError, match=r"line 1 of .* is not a record"):
        reproduce(TINY, out=tmp_path, verbose=False)


def test_one_run_at_a_time(tmp_path: Path) -> None:
    with Ledger(tmp_path / "tiny"), pytest.raises(OptionError, match="in use by another run"):
        reproduce(TINY, out=tmp_path, verbose=False)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OptionError, match="cannot be written"):
        reproduce(TINY, out=tmp_path / "file", verbose=False)


def test_merge_takes_over_results(tmp_path: Path) -> None:
    reproduce(TINY, out=tmp_path / "all", verbose=False)
    reproduce(TINY, Selection(seeds=[0]), out=tmp_path / "here", verbose=False)
    reproduce(TINY, Selection(seeds=[1]), out=tmp_path / "there", verbose=False)
    for _ in range(2):  # the second time changes nothing
        done = reproduce(TINY, out=tmp_path / "here", merge=[tmp_path / "there" / "tiny"], render=True, verbose=False)
        assert done.n_run == 0
        assert text_of(tmp_path / "here" / "tiny") == text_of(tmp_path / "all" / "tiny")
        assert len(read_lines(tmp_path / "here" / "tiny" / RUNS)) == 2
    with pytest.raises(OptionError, match="holds no results"):
        reproduce(TINY, out=tmp_path / "here", merge=[tmp_path], render=True, verbose=False)


def test_parts_on_machines_of_their_own_are_merged(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "precede", "reproduce", "table1-30", "--methods", "random,eqvar", "--data", "er2"]
    command += ["--seeds", "2", "--quiet", "--out"]
    parts = [subprocess.Popen([*command, tmp_path / "there", "--shard", f"{k}/2"]) for k in (1, 2)]
    assert [part.wait() for part in parts] == [0, 0]
    folders = sorted((tmp_path / "there").iterdir())
    assert [folder.name for folder in folders] == ["table1-30.1-of-2", "table1-30.2-of-2"]
    merge = [word for folder in folders for word in ("--merge", folder)]
    subprocess.run([*command, tmp_path / "here", "--render", *merge], check=True)
    subprocess.run([*command, tmp_path / "whole"], check=True)
    merged, whole = ((tmp_path / name / "table1-30" / CELLS).read_bytes() for name in ("here", "whole"))
    assert merged == whole
    assert whole.count(b"\n") > 2


def test_merge_takes_the_fits_that_two_experiments_share(tmp_path: Path) -> None:
    """Under another name of the data; another size of the same name is left alone."""
    renamed = replace(TINY, name="renamed", data=tuple(replace(one, name=f"x-{one.name}") for one in TINY.data))
    larger = replace(TINY, name="larger", data=tuple(replace(one, n_variables=9) for one in TINY.data))
    curves = replace(TINY, name="curves", keep_curves=True)
    for source in (renamed, larger):
        reproduce(source, out=tmp_path / "there", verbose=False)
    reproduce(TINY, out=tmp_path / "all", verbose=False)
    folders = [tmp_path / "there" / name for name in ("renamed", "larger")]
    reproduce(TINY, out=tmp_path / "here", merge=folders, render=True, verbose=False)
    assert text_of(tmp_path / "here" / "tiny") == text_of(tmp_path / "all" / "tiny")
    assert len(read_lines(tmp_path / "here" / "tiny" / RUNS)) == 1
    with_curves = {**read_lines(tmp_path / "all" / "tiny" / CELLS)[0]}
    assert curves.adopt(with_curves) is None
    adopted = TINY.adopt(with_curves | {"curve": {"iteration": [1]}})
    assert adopted == with_curves


@pytest.mark.parametrize("design", EXPERIMENTS.values(), ids=lambda design: design.name)
def test_options_go_together(design: Experiment) -> None:
    for method in design.methods:
        model = method.build()
        check_options(type(model), model.get_params(deep=False))
        model._check_together()


def test_a_copy_of_a_commit_can_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRECEDE_COMMIT", "abc1234")
    assert commit() == "abc1234"


# whole runs


def test_nothing_is_repeated(tmp_path: Path) -> None:
    assert reproduce(TINY, Selection(seeds=[0]), out=tmp_path, verbose=False).n_run == 4
    assert reproduce(TINY, out=tmp_path, verbose=False).n_run == 4
    assert reproduce(TINY, out=tmp_path, verbose=False).n_run == 0
    assert len(read_lines(tmp_path / "tiny" / CELLS)) == 8
    assert reproduce(TINY, Selection(seeds=[0], data=["er1"], max_time=5.0), out=tmp_path, verbose=False).n_run == 2
    assert len(read_lines(tmp_path / "tiny" / CELLS)) == 10  # the earlier records stay
    assert len(by_key(read_lines(tmp_path / "tiny" / CELLS))) == 8


def test_times_say_what_ran_and_why_it_ended(tmp_path: Path) -> None:
    """Options with their defaults, start and end, and why; machine and commit stand in the run that is named."""
    options = {"n_iterations": 3, "batch_size": 4, "n_encoder_rows": 8}
    trained = Method("corl-2", "corl", paper="corl-2", options=options)
    cut = Method("cut", "corl", paper="corl-1", options={**options, "n_iterations": 100_000})
    for method, max_time, ended in (
        (trained, None, "iterations"),
        (cut, 0.5, "time"),
        (TINY.methods[0], None, "itself"),
    ):
        finished = run_cell(Cell(SMALL, method, 0, max_time), "cpu")
        assert finished.record["error"] is None
        assert finished.times["ended"] == ended
        assert finished.times["start"] <= finished.times["end"]
        if method is trained:
            resolved = finished.times["options"]
            assert (resolved["n_iterations"], resolved["gamma"], resolved["encoder"]) == (3, 0.98, "transformer")
            assert resolved["details"]["critic"] == "initial-state"
    broken = run_cell(Cell(SMALL, Method("corl", "corl", options={"reward": "dens"}), 0), "cpu")
    assert broken.times["ended"] == "error"
    (together, _) = run_stack([Cell(SMALL, trained, seed) for seed in (0, 1)], "cpu")
    assert together.times["ended"] == "iterations"
    assert together.times["options"] == resolved


def test_failed_cells_are_kept_and_retried_on_demand(tmp_path: Path) -> None:
    broken = replace(TINY, methods=(Method("corl", "corl", options={"reward": "dens"}),), data=(SMALL,))
    done = reproduce(broken, out=tmp_path, verbose=False)
    assert {entry.ours() for entry in done.entries} == {"failed"}
    assert "er1/corl/1 failed: reward='dens'" in (tmp_path / "tiny" / "table.md").read_text()
    assert reproduce(broken, out=tmp_path, verbose=False).n_run == 0
    assert reproduce(broken, Selection(retry_failed=True), out=tmp_path, verbose=False).n_run == 2


def test_two_processes_give_the_same_file(tmp_path: Path) -> None:
    learning = replace(TINY, methods=(*TINY.methods, replace(CORL_2, options=LINEAR_LIMITS)))
    reproduce(learning, out=tmp_path / "one", verbose=False)
    reproduce(learning, out=tmp_path / "two", verbose=False, workers=Workers(jobs=2))
    assert text_of(tmp_path / "one" / "tiny") == text_of(tmp_path / "two" / "tiny")
    with pytest.raises(OptionError, match="jobs=0"):
        reproduce(TINY, out=tmp_path, verbose=False, workers=Workers(jobs=0))


SCRIPT = """
import sys, time
from precede.experiments import runner
from precede.experiments.cells import Data, Experiment
from precede.experiments.designs import rows
from precede.experiments.reproduce import reproduce

def slowly(cell, device=None, run=runner.run_cell):
    finished = run(cell, device)
    time.sleep(0.3)
    return finished

runner.run_cell = slowly
data = (Data("er1", "er", 5, 1, n_samples=200),)
methods = rows("eqvar random")
reproduce(Experiment("tiny", "Tiny", "nowhere", data, methods, seeds=(0, 1, 2)), out=sys.argv[1])
"""


def test_a_killed_run_continues(tmp_path: Path) -> None:
    """SIGKILL in the middle, start again: the bytes of an uninterrupted run, and no finished cell is run twice."""
    command = [sys.executable, "-c", SCRIPT]
    killed, cells = tmp_path / "killed", tmp_path / "killed" / "tiny" / CELLS
    process = subprocess.Popen([*command, str(killed)])
    while process.poll() is None and (not cells.exists() or cells.read_bytes().count(b"\n") < 2):
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    before = read_lines(cells)
    assert 2 <= len(before) < 6
    subprocess.run([*command, str(killed)], check=True)
    whole = replace(TINY, data=(SMALL,), seeds=(0, 1, 2))
    reproduce(whole, out=tmp_path / "whole", verbose=False)
    assert cells.read_bytes() == text_of(tmp_path / "whole" / "tiny")
    first_run = read_lines(killed / "tiny" / RUNS)[0]["run"]
    kept = {record["key"] for record in read_lines(killed / "tiny" / TIMES) if record["run"] == first_run}
    assert {record["key"] for record in before} <= kept


# tables


@pytest.mark.parametrize(
    ("metric", "mean", "expected"),
    [
        ("shd", 7.9, "equal"),
        ("shd", 0.5, "better"),
        ("shd", 8.1, "worse"),
        ("tpr", 8.1, "better"),
        ("tpr", 0.5, "worse"),
    ],
)
def test_verdicts(metric: str, mean: float, expected: str) -> None:
    assert verdict_on(metric, mean, Published(4.4, 3.5, 0.05)) == expected


def test_a_zero_must_be_met() -> None:
    assert verdict_on("shd", 0.2, Published(0.0, 0.0, 0.05)) == "worse"
    assert verdict_on("tpr", 0.996, Published(1.0, 0.0, 0.005)) == "equal"
    assert verdict_on("shd", 12, Published(11, None, 0.5)) == "worse"


@pytest.mark.parametrize(("seconds", "expected"), [(199.9, "better"), (200.4, "")])
def test_iterations_of_a_run_that_was_cut_are_not_judged(seconds: float, expected: str) -> None:
    cell = {"settings": {"max_time": 200.0}, "error": None, "metrics": {"shd": 3, "converged_at": 10}}
    cells = [{**cell, "key": f"30-er2/corl-2/{seed}"} for seed in range(3)]
    entries = entries_of(EXPERIMENTS["convergence"], cells, {cell["key"]: {"seconds": seconds} for cell in cells})
    found = {(entry.data, entry.method, entry.metric): entry for entry in entries}
    assert found["30-er2", "corl-2", "converged_at"].verdict == expected


@pytest.mark.parametrize(("seconds", "expected"), [(199.9, "better"), (200.4, "")])
def test_a_time_that_reached_its_limit_is_not_judged(seconds: float, expected: str) -> None:
    cell = {"settings": {"max_time": 200.0}, "error": None, "metrics": {"shd": 3}}
    cells = [{**cell, "key": f"30/corl-2/{seed}"} for seed in range(3)]
    entries = entries_of(EXPERIMENTS["times"], cells, {cell["key"]: {"seconds": seconds} for cell in cells})
    found = {(entry.data, entry.method, entry.metric): entry for entry in entries}
    assert found["30", "corl-2", "seconds"].verdict == expected
    assert found["30", "corl-2", "shd"].n_cut == (0 if expected else 3)


def test_tables_say_what_was_not_run_and_where_it_comes_from(tmp_path: Path) -> None:
    small = replace(
        EXPERIMENTS["table1-30"],
        data=tuple(replace(data, n_variables=6, degree=1, n_samples=200) for data in EXPERIMENTS["table1-30"].data),
    )
    chosen = Selection(seeds=[0, 1, 2], methods=["random", "eqvar"], data=["er2"])
    done = reproduce(small, chosen, out=tmp_path, verbose=False)
    page = (tmp_path / "table1-30" / "table.md").read_text()
    er2 = page.split("## er5")[0]
    assert "| notears | not run | 0.95 (0.03) | not run | 14.2 (9.4) | 0/5 |  |" in er2
    assert "▲ | 140.4 (36.7) | 3/5" in er2
    tried, reason = [line for line in page.splitlines() if " was not run on " in line]
    assert tried.startswith("- notears-unpenalized was not run on er2, er5, sf2, sf5: it is tried where ")
    assert reason.startswith("- rl-bic2 was not run on er2, er5, sf2, sf5: 10,000 of its 40,000 iterations take ")
    assert "`precede reproduce table1-30 --seeds 0,1,2 --methods random,eqvar --data er2`, commit" in page
    assert "cores" in page
    assert "UTC" in page
    console = Console(width=80, record=True)
    console.print(done.tables)
    assert "Not run: er5, sf2, sf5." in console.export_text()
    lines = (tmp_path / "table1-30" / "table.csv").read_text().splitlines()
    assert len(lines) == 1 + 4 * len(small.methods) * 3
    row = next(line for line in lines if line.startswith("er2,random,shd")).split(",")
    assert (row[5], row[7], row[8], row[9], row[10]) == ("3", "5", "140.4", "36.7", "better")
    assert (tmp_path / "table1-30" / "figure.png").stat().st_size > 10_000


def test_learning_curves_become_a_figure(tmp_path: Path) -> None:
    curves = replace(
        TINY, data=(SMALL,), methods=(replace(CORL_2, options=LINEAR_LIMITS),), metrics=("shd",), keep_curves=True
    )
    reproduce(curves, out=tmp_path, verbose=False)
    assert (tmp_path / "tiny" / "figure.png").stat().st_size > 5_000


def test_sachs_quick(tmp_path: Path) -> None:
    """The quick run of ``precede reproduce sachs --quick`` with smaller limits still, by the command line."""
    options = ["--quick", "--max-time", "0.3", "--methods", "corl-2,ica-lingam,eqvar,empty,random-cam", "--quiet"]
    result = CliRunner().invoke(app, ["reproduce", "sachs", *options, "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    page = (tmp_path / "sachs-quick" / "table.md").read_text()
    assert "| empty | 17.0 ≈ | 17.0 |" in page
    assert "in " in page.split("Random orders with the same pruning (random-cam) have SHD ≤ 11 ")[1]
    assert "of 20 draws" in page
    assert "- Run with batch_size=16, n_iterations=20, max_time=0.3: corl-2." in page
    assert "| 1/5, 1 cut |" in next(line for line in page.splitlines() if line.startswith("| corl-2 |"))


# the command line


def test_list_and_errors() -> None:
    listing = CliRunner().invoke(app, ["reproduce", "--list"])
    assert listing.exit_code == 0
    assert all(name in listing.output for name in EXPERIMENTS)
    wrong = CliRunner().invoke(app, ["reproduce", "table1-3"])
    assert wrong.exit_code == 2
    assert "table1-30" in wrong.output
    assert CliRunner().invoke(app, ["reproduce", "sachs", "--max-time", "0"]).exit_code == 2


def test_render_needs_results(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="render finds no results"):
        reproduce(TINY, out=tmp_path, render=True, verbose=False)


def test_default_corl_takes_the_score_it_is_given() -> None:
    assert rows("corl:nongaussian")[0].build().get_params()["score"] == "nongaussian"


# everything


def test_one_small_cell_of_every_experiment(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["reproduce", "all", "--quick", "--quiet", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    for name in EXPERIMENTS:
        (cell,) = read_lines(tmp_path / f"{name}-quick" / CELLS)
        assert cell["error"] is None, (name, cell["error"])
        assert cell["metrics"].get("iterations", 1) == 1
        if any(method.paper for method in EXPERIMENTS[name].methods):
            assert cell["settings"]["estimator"] == "corl"
        assert (tmp_path / f"{name}-quick" / "table.md").exists()
    assert (tmp_path / "curves-quick" / "figure.png").exists()


def test_all_tables_of_what_is_there_and_the_overview(tmp_path: Path) -> None:
    reproduce("table1-30", Selection(seeds=[0, 1, 2], methods=["random"], data=["er2"]), out=tmp_path, verbose=False)
    done = list(reproduce_all(render=True, out=tmp_path, verbose=False))
    assert len(done) == 1
    assert (tmp_path / "overview.png").exists()
    both = list(compared({"table1-30": done[0].entries}, "shd"))
    assert [(entry.method, group) for entry, group in both] == [("random", "baselines")]


def test_no_verdict_on_less_than_three_data_sets() -> None:
    def cell(seed: int) -> dict:
        settings = Cell(EXPERIMENTS["table1-30"].data[0], Method("random", "random"), seed).settings()
        return {"key": f"er2/random/{seed}", "settings": settings, "error": None, "metrics": {"shd": 1, "tpr": 1.0}}

    for n, verdict in ((2, ""), (3, "better")):
        entries = entries_of(EXPERIMENTS["table1-30"], [cell(seed) for seed in range(n)], {})
        entry = next(e for e in entries if (e.data, e.method, e.metric) == ("er2", "random", "shd"))
        assert entry.verdict == verdict


def test_all_experiments_take_no_choice_of_rows():
    for choice in (["--methods", "eqvar"], ["--data", "er2"]):
        result = CliRunner().invoke(app, ["reproduce", "all", "--quick", *choice])
        assert result.exit_code == 2
        assert "name one experiment" in result.output
