"""Cells that are trained together are judged as they would be alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from precede.experiments.cells import Cell, Data, Experiment, Method, Selection
from precede.experiments.reproduce import command_line, reproduce
from precede.experiments.runner import run_cell, run_stack, stacks_of

SMALL = {"n_iterations": 20, "batch_size": 8, "n_encoder_rows": 16}
DATA = Data("er2", n_variables=5, n_samples=300)
CURVED = tuple(Data(str(m), n_variables=5, sem="gp-scaled", n_samples=m) for m in (50, 60))
METHODS = tuple(Method(name, "corl", name, SMALL) for name in ("corl-1", "corl-2"))  # type: ignore[arg-type]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
@pytest.mark.parametrize("nonlinear", [False, True])
def test_same_as_alone(method: Method, nonlinear: bool) -> None:
    data = CURVED if nonlinear else (DATA, DATA)
    cells = [Cell(own, replace(method, nonlinear=nonlinear), seed, keep_curve=True) for seed, own in enumerate(data)]
    together = list(run_stack(cells, "cpu"))
    for cell, finished in zip(cells, together, strict=True):
        alone = run_cell(cell, "cpu").record
        mine = finished.record
        assert mine["key"] == alone["key"]
        assert mine["settings"] == alone["settings"]
        assert mine["metrics"].keys() == alone["metrics"].keys()
        assert mine["metrics"] == pytest.approx(alone["metrics"], rel=1e-9)
        assert mine["curve"]["iteration"] == alone["curve"]["iteration"]
        assert mine["curve"]["best_score"] == pytest.approx(alone["curve"]["best_score"], rel=1e-9)


def test_only_what_fits_is_stacked() -> None:
    other = Data("er3", n_variables=6)
    mlp = replace(METHODS[0], options={**SMALL, "encoder": "mlp"})
    cells = [
        *(Cell(DATA, METHODS[0], seed) for seed in range(3)),
        *(Cell(DATA, METHODS[1], seed) for seed in range(2)),
        *(Cell(other, METHODS[0], seed) for seed in range(1)),
        *(Cell(DATA, mlp, seed) for seed in range(2)),
        *(Cell(own, Method("gp", "corl", "corl-2", nonlinear=True), 0) for own in CURVED),
        *(Cell(DATA, replace(METHODS[0], options={**SMALL, "score": "gp"}), seed) for seed in range(2)),
        *(Cell(DATA, Method("eqvar", "eqvar"), seed) for seed in range(2)),
    ]
    assert [[cell.key for cell in part] for part in stacks_of(cells, 2)] == [
        ["er2/corl-1/0", "er2/corl-1/1"],
        ["er2/corl-2/0", "er2/corl-2/1"],
        ["er2/corl-1/0", "er2/corl-1/1"],
        ["50/gp/0", "60/gp/0"],
    ]


def test_reproduce_runs_stacks_and_the_rest(tmp_path: Path) -> None:
    experiment = Experiment("mine", "t", "s", (DATA,), (*METHODS, Method("eqvar", "eqvar")), seeds=(0, 1))
    done = reproduce(experiment, Selection(stack=8), device="cpu", out=tmp_path, verbose=False)
    assert done.n_run == 6
    again = reproduce(experiment, Selection(stack=8), device="cpu", out=tmp_path, verbose=False)
    assert again.n_run == 0
    assert command_line("mine", Selection(stack=8)) == "precede reproduce mine --stack 8"


@pytest.mark.parametrize("max_time", [None, 1e-6])
def test_a_stack_says_of_each_run_whether_it_was_cut(tmp_path: Path, max_time: float | None) -> None:
    """A run's seconds are its share of the stack's, so they are below the limit either way."""
    experiment = Experiment("mine", "t", "s", (DATA,), METHODS, seeds=(0, 1))
    done = reproduce(experiment, Selection(stack=2, max_time=max_time), device="cpu", out=tmp_path, verbose=False)
    assert done.n_run == 4
    page = (tmp_path / "mine" / "table.md").read_text()
    assert page.count(", 2 cut") == (2 if max_time else 0)
