"""A second run has the score that the first one settled on."""

import json
from pathlib import Path

import pytest

import precede as pc
from precede.scores.policy_prior import WEIGHT
from precede.studio.workspace import RunRequest, earlier_result


def write(folder: Path, settings: dict, diagnostics: dict) -> None:
    pc.CausalGraph.from_matrix([[0, 0], [1, 0]], names=["a", "b"]).to_json(folder / "graph.json")
    result = {"format": "precede-result", "version": 1, "method": "CORL", "settings": settings, "score": None}
    (folder / "result.json").write_text(json.dumps({**result, "diagnostics": diagnostics}))


@pytest.mark.parametrize(
    ("settings", "choice", "expected"),
    [
        (
            {"score": "auto", "policy_weight": "auto"},
            {"name": "sparse-linear", "informed": False},
            ("sparse-linear", "auto"),
        ),
        ({"score": "auto", "policy_weight": "auto"}, {"name": "sparse-gp", "informed": True}, ("sparse-gp", WEIGHT)),
        ({"score": "gp", "policy_weight": 3.0}, None, ("gp", 3.0)),
        ({"score": "a score of one's own", "policy_weight": 3.0}, None, ("auto", "auto")),
    ],
)
def test_the_score_that_was_settled_on(tmp_path: Path, settings: dict, choice: dict | None, expected: tuple) -> None:
    write(tmp_path, settings, {} if choice is None else {"score_choice": choice})
    asked_for = RunRequest.read({"options": {"score": "auto"}}).model(earlier_result(tmp_path)).get_params()
    model = RunRequest.read({}).model(earlier_result(tmp_path)).get_params()
    assert model == asked_for
    assert (model["score"], model["policy_weight"]) == expected
    assert model["initial_order"] == ["b", "a"]
    assert model["n_iterations"] == 0


def test_another_score_is_taken_as_it_is_asked_for(tmp_path: Path) -> None:
    write(tmp_path, {"score": "gp", "policy_weight": 3.0}, {})
    model = RunRequest.read({"options": {"score": "linear"}}).model(earlier_result(tmp_path)).get_params()
    assert (model["score"], model["policy_weight"]) == ("linear", "auto")
