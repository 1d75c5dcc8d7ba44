"""Checkpoints: a resumed run ends bit for bit where an uninterrupted one would, and nothing else fits."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

import precede.search.checkpoint as checkpoint_module
import precede.search.run as run_module
from precede import CORL, Knowledge, simulate
from precede.errors import OptionError
from precede.search.run import OrderSearch
from precede.search.settings import Details
from precede.search.train import Trainer

QUICK = {"score": "linear", "batch_size": 8, "n_encoder_rows": 16, "patience": None, "verbose": False}
SMALL = {"encoder": "null", "decoder": "mlp"}
AS_SHIPPED = {"pretrained": "default", "encoder": "transformer", "decoder": "lstm", "n_encoder_rows": 64}


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    return simulate(n_variables=6, degree=2, n_samples=200, random_state=3).data


@pytest.fixture(autouse=True)
def save_always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint_module, "SECONDS_BETWEEN_SAVES", 0.0)


def model(n_iterations: int, **options: Any) -> CORL:
    return CORL(n_iterations=n_iterations, **{"random_state": 0, **QUICK, **SMALL, **options})


def assert_same(one: CORL, other: CORL) -> None:
    assert one.causal_order_ == other.causal_order_
    assert one.score_ == other.score_
    np.testing.assert_array_equal(one.weights_, other.weights_)
    pd.testing.assert_frame_equal(one.history_.drop(columns="seconds"), other.history_.drop(columns="seconds"))
    own = ("seconds", "polish_moves")  # of this run alone
    records = [{k: v for k, v in found.diagnostics_["search"].items() if k not in own} for found in (one, other)]
    assert records[0] == records[1]


class Killed(BaseException):
    """Ends a run as a kill would: nothing catches it."""


def kill_at(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """End training in the middle of an iteration."""
    original = Trainer._values

    def dying(self: Trainer, *arguments: Any) -> torch.Tensor:
        if self.iteration == step:
            raise Killed
        return original(self, *arguments)

    monkeypatch.setattr(Trainer, "_values", dying)


@pytest.mark.parametrize(
    "options",
    [
        {"encoder": "transformer", "decoder": "lstm"},
        {"inputs": "resample", "shaping": "plain", "gamma": 0.9},
        {"reward": "episodic"},
        {"knowledge": Knowledge(required=[("x3", "x1")])},
        {"patience": 10, "n_restarts": 2},
        {"patience": 12, "details": Details(patience_on="mean")},
        {"patience": 15, "score": "nongaussian", **AS_SHIPPED},
        {"patience": 15, "details": Details(patience_on="mean"), **AS_SHIPPED},
    ],
)
def test_resuming_gives_the_uninterrupted_result(
    data: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    whole = model(30, **options).fit(data)
    path = str(tmp_path / "run.safetensors")
    with monkeypatch.context() as patch:
        kill_at(patch, 13)
        with pytest.raises(Killed):
            model(30, checkpoint=path, **options).fit(data)
    assert [file.name for file in tmp_path.iterdir()] == ["run.safetensors"]
    resumed = model(30, checkpoint=path, resume=True, **options).fit(data)
    assert_same(resumed, whole)
    assert_same(model(30, checkpoint=path, resume=True, **options).fit(data), whole)  # once more, from the end


def test_a_run_without_a_seed_is_resumed_with_the_one_it_had(data: pd.DataFrame, tmp_path: Path) -> None:
    path = str(tmp_path / "run")
    first = model(20, checkpoint=path, random_state=None).fit(data)
    again = model(20, checkpoint=path, resume=True, random_state=None).fit(data)
    assert_same(again, first)
    with pytest.raises(OptionError, match="random_state"):
        model(20, checkpoint=path, resume=True, random_state=5).fit(data)


@pytest.mark.parametrize("first", [7, 10])
@pytest.mark.parametrize(
    "options", [{}, {"score": "nongaussian"}, AS_SHIPPED, {"patience": 20, "score": "nongaussian", **AS_SHIPPED}]
)
def test_more_iterations_may_follow(data: pd.DataFrame, tmp_path: Path, first: int, options: dict[str, Any]) -> None:
    """In the middle of a group, too: what has been proposed since the last polish is saved."""
    path = str(tmp_path / "run")
    model(first, checkpoint=path, **options).fit(data)
    longer = model(30, checkpoint=path, resume=True, **options).fit(data)
    assert_same(longer, model(30, **options).fit(data))
    assert longer.history_["seconds"].is_monotonic_increasing


def test_what_polish_finds_counts_as_a_move_after_a_checkpoint_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OrderSearch, "_polish", lambda self: None)  # so that proposals are the first to be polished
    monkeypatch.setattr(run_module, "greedy_order", lambda score, *_: np.arange(score.n_variables))
    table = simulate(n_variables=10, degree=2, n_samples=200, random_state=4).data
    options = {"patience": 15, "score": "nongaussian", "diagnose": False, **AS_SHIPPED}
    whole = model(60, **options).fit(table)
    best = whole.history_["best_score"]
    assert best[10] > best[9] + 1  # what polish has made of the first ten proposals
    path = str(tmp_path / "run")
    model(10, checkpoint=path, **options).fit(table)
    assert_same(model(60, checkpoint=path, resume=True, **options).fit(table), whole)


def test_an_older_checkpoint_is_refused_in_a_sentence(saved: Path, data: pd.DataFrame, tmp_path: Path) -> None:
    target = tmp_path / "old"
    assert refusal(rewritten(saved, target, {"version": "2"}, drop="patience"), data).endswith(
        "has version '2'; this release reads 7."
    )


def test_saves_are_not_too_frequent(data: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint_module, "SECONDS_BETWEEN_SAVES", 1e9)
    saves = []
    original = checkpoint_module.CheckpointFile.save
    monkeypatch.setattr(
        checkpoint_module.CheckpointFile, "save", lambda self, trainer: (saves.append(1), original(self, trainer))
    )
    model(30, checkpoint=str(tmp_path / "run")).fit(data)
    assert len(saves) == 1  # at the end


@pytest.fixture(scope="module")
def saved(data: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "run.safetensors"
    model(10, checkpoint=str(path)).fit(data)
    return path


def refusal(saved: Path, data: pd.DataFrame, **options: Any) -> str:
    with pytest.raises(OptionError) as caught:
        model(10, **{"checkpoint": str(saved), "resume": True, **options}).fit(data)
    return str(caught.value)


def test_other_data_and_settings_are_refused(saved: Path, data: pd.DataFrame) -> None:
    assert "other data" in refusal(saved, data + 1e-9)
    assert "other data" in refusal(saved, data.rename(columns={"x1": "y"}))
    assert "batch_size=8 there, batch_size=16 here" in refusal(saved, data, batch_size=16)
    assert "'encoder'" in refusal(saved, data, encoder="mlp")
    assert "'precedences'" in refusal(saved, data, knowledge=Knowledge(roots=["x1"]))
    assert "'score'" in refusal(saved, data, score="nongaussian")
    assert "random_state=0 there, random_state=1 here" in refusal(saved, data, random_state=1)
    generator = np.random.Generator(np.random.MT19937(0))
    assert "another kind of random generator" in refusal(saved, data, random_state=generator)


def test_a_checkpoint_is_not_overwritten_by_mistake(saved: Path, data: pd.DataFrame) -> None:
    before = saved.read_bytes()
    assert "already exists: resume=True" in refusal(saved, data, resume=False)
    assert saved.read_bytes() == before


def test_resume_without_a_file(data: pd.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="needs the file"):
        model(10, resume=True).fit(data)
    fresh = model(10, checkpoint=str(tmp_path / "new"), resume=True).fit(data)  # none yet: start and save
    assert_same(fresh, model(10).fit(data))
    assert (tmp_path / "new").exists()


def test_exact_search_has_nothing_to_save(data: pd.DataFrame, tmp_path: Path) -> None:
    for option in ("checkpoint", "tensorboard"):
        with pytest.raises(OptionError, match=f"{option} follows the training"):
            CORL(score="linear", search="exact", **{option: str(tmp_path / "x")}).fit(data)


def test_unwritable_folder(data: pd.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="cannot be written"):
        model(10, checkpoint=str(tmp_path / "nowhere" / "run")).fit(data)


def rewritten(saved: Path, target: Path, metadata: dict[str, str] | None = None, drop: str | None = None) -> Path:
    with safe_open(saved, framework="pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys() if name != drop}  # noqa: SIM118
        save_file(tensors, target, metadata={**file.metadata(), **(metadata or {})})
    return target


def test_damaged_files_get_a_sentence(saved: Path, data: pd.DataFrame, tmp_path: Path) -> None:
    target = tmp_path / "run"
    target.write_bytes(saved.read_bytes()[:-100])
    assert "is damaged or not a checkpoint" in refusal(target, data)
    target.write_bytes(b"")
    assert "is damaged or not a checkpoint" in refusal(target, data)
    assert "cannot be read" in refusal(tmp_path, data)
    assert "not a checkpoint of Precede" in refusal(rewritten(saved, target, {"format": "other"}), data)
    assert "version '9'" in refusal(rewritten(saved, target, {"version": "9"}), data)
    assert "does not say what it was made from" in refusal(rewritten(saved, target, {"about": "{"}), data)
    with safe_open(saved, framework="pt") as file:
        weight = next(name for name in file.keys() if name.startswith("critic."))  # noqa: SIM118
    for name in ("best_order", "generator.orders", "history", weight):
        assert "does not fit this network" in refusal(rewritten(saved, target, drop=name), data)


def test_the_file_says_what_it_was_made_from(saved: Path) -> None:
    with safe_open(saved, framework="pt") as file:
        about = json.loads(file.metadata()["about"])
    assert about["settings"]["batch_size"] == 8
    assert about["settings"]["random_state"] == 0
    assert "n_iterations" not in about["settings"]


@pytest.mark.skipif(importlib.util.find_spec("tensorboard") is not None, reason="tensorboard is installed")
def test_tensorboard_that_is_absent_gets_a_sentence(data: pd.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="needs the package tensorboard"):
        model(10, tensorboard=str(tmp_path)).fit(data)


def test_tensorboard_gets_every_record(data: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points: list[tuple[str, int]] = []
    closed: list[bool] = []

    class Writer:
        def __init__(self, folder: str) -> None:
            assert folder == str(tmp_path)

        def add_scalar(self, name: str, value: float, step: int) -> None:
            points.append((name, step))

        def close(self) -> None:
            closed.append(True)

    fake = type("fake", (), {"SummaryWriter": Writer})
    monkeypatch.setattr("precede.search.run.import_module", lambda name: fake)
    model(12, tensorboard=str(tmp_path)).fit(data)
    assert [step for name, step in points if name == "best_score"] == list(range(1, 13))
    assert closed == [True]
