"""A second run has the score that the first one settled on."""

import json
from pathlib import Path

import pytest

from precede.scores.informed import WEIGHT
from precede.studio.request import RunRequest, earlier_result


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
    (tmp_path / "graph.json").write_text(json.dumps({"order": ["b", "a"]}))
    known = {} if choice is None else {"score_choice": choice}
    (tmp_path / "result.json").write_text(json.dumps({"settings": settings, "diagnostics": known}))
    model = RunRequest.read({}).model(earlier_result(tmp_path)).get_params()
    assert (model["score"], model["policy_weight"]) == expected
    assert model["initial_order"] == ["b", "a"]
    assert model["n_iterations"] == 0


def test_another_score_is_taken_as_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "graph.json").write_text(json.dumps({"order": ["b", "a"]}))
    (tmp_path / "result.json").write_text(json.dumps({"settings": {"score": "gp", "policy_weight": 3.0}}))
    model = RunRequest.read({"options": {"score": "linear"}}).model(earlier_result(tmp_path)).get_params()
    assert (model["score"], model["policy_weight"]) == ("linear", "auto")
