"""What is asked for is what runs: every option of training trains or is refused, and watching changes nothing."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import precede as pc
from precede.corl.settings import TRAINING_OPTIONS, taken_search
from precede.errors import OptionError
from precede.scores.build import SCORE_NAMES
from precede.search.settings import Details

QUIET: dict[str, Any] = {"random_state": 0, "verbose": False, "diagnose": False}
GIVEN: dict[str, Any] = {
    "reward": "episodic", "shaping": "plain", "encoder": "null", "decoder": "mlp", "pointer": "additive",
    "normalization": "batch", "inputs": "resample", "n_iterations": 3, "batch_size": 4, "n_encoder_rows": 8,
    "gamma": 0.9, "entropy_bonus": 0.0, "actor_learning_rate": 1e-3, "critic_learning_rate": 1e-2, "patience": 2,
    "details": Details(critic="initial-state"),
}  # fmt: skip
OF_LEVELS = ("discrete-bic", "bdeu")


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    return pc.simulate(n_variables=4, degree=1, n_samples=80, random_state=1).data


def search_of(data: pd.DataFrame, **options: Any) -> dict[str, Any]:
    return pc.CORL(**{"score": "linear", **QUIET, **options}).fit(data).diagnostics_["search"]


def test_every_option_of_training_is_tried():
    assert set(GIVEN) == set(TRAINING_OPTIONS)


@pytest.mark.parametrize("option", TRAINING_OPTIONS)
def test_an_option_of_training_trains(data, option):
    asked = {option: GIVEN[option]}
    if option not in ("n_iterations", "patience"):
        asked["n_iterations"] = 2
    found = search_of(data, **asked)
    assert found["kind"] == "policy"
    assert option in found["why"]
    expected = {"n_iterations": 3, "patience": found["iterations"]}
    assert found["iterations"] == expected.get(option, 2) > 0


@pytest.mark.parametrize("option", TRAINING_OPTIONS)
@pytest.mark.parametrize("search", ["local", "exact"])
def test_an_option_of_training_is_refused_where_nothing_is_trained(data, search, option):
    with pytest.raises(OptionError, match=f"{option} is an option of training, and search='{search}' trains nothing"):
        search_of(data, search=search, **{option: GIVEN[option]})


@given(
    score=st.sampled_from([*SCORE_NAMES, "auto", "policy"]),
    options=st.sets(st.sampled_from(TRAINING_OPTIONS), min_size=1),
    search=st.sampled_from(["auto", "policy", "local", "exact"]),
)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_options_of_training_with_any_score_train_or_are_refused(data, score, options, search):
    table = (data > 0).astype(str) if score in OF_LEVELS else data
    asked = {"n_iterations": 2} | {name: GIVEN[name] for name in options}
    model = pc.CORL(score, search=search, **QUIET, **asked)
    if search in ("local", "exact"):
        with pytest.raises(OptionError, match=f"is an option of training, and search='{search}' trains nothing"):
            model.fit(table)
        return
    found = model.fit(table)
    ran = found.diagnostics_["search"]
    assert ran["kind"] == "policy"
    assert ran["iterations"] == len(found.history_)
    assert 0 < ran["iterations"] <= asked["n_iterations"]
    assert ran["iterations"] == asked["n_iterations"] or "patience" in options


@pytest.mark.slow
@pytest.mark.parametrize("score", [*SCORE_NAMES, "auto", "policy"])
@pytest.mark.parametrize("option", TRAINING_OPTIONS)
def test_every_option_of_training_trains_with_every_score(data, option, score):
    table = (data > 0).astype(str) if score in OF_LEVELS else data
    ran = search_of(table, score=score, **{"n_iterations": 2, option: GIVEN[option]})
    assert (ran["kind"], ran["iterations"]) == ("policy", 3 if option == "n_iterations" else 2)


@pytest.mark.parametrize("score", [*SCORE_NAMES, "auto", "policy"])
def test_iterations_that_are_asked_for_run_with_every_score(data, score):
    table = (data > 0).astype(str) if score in OF_LEVELS else data
    model = pc.CORL(score, n_iterations=12, batch_size=4, **QUIET).fit(table)
    assert model.diagnostics_["search"]["iterations"] == len(model.history_) == 12  # 10 is the patience of "auto"
    for search in ("local", "exact"):
        found = pc.CORL(score, search=search, **QUIET).fit(table)
        assert found.diagnostics_["search"]["kind"] == search
        assert found.diagnostics_["search"]["iterations"] == len(found.history_) == 0


def test_policy_always_trains_and_auto_says_what_it_took(data):
    trained = search_of(data, search="policy")
    assert (trained["kind"], trained["why"]) == ("policy", "search='policy' was given")
    assert trained["iterations"] > 0
    assert f"trained for {trained['iterations']} iterations" in trained["sentence"]
    auto = search_of(data)
    assert auto["kind"] == "local"
    assert auto["sentence"] == f"Search: local, nothing was trained ({auto['why']})."
    for options in ({"polish": False}, {"pretrained": None}):
        assert search_of(data, max_time=0.5, **options)["kind"] == "policy"


def test_auto_that_takes_local_search_ends_where_local_search_does(data):
    auto, local = (pc.CORL("linear", search=search, **QUIET).fit(data) for search in ("auto", "local"))
    assert auto.diagnostics_["search"]["kind"] == "local"
    assert (auto.score_, auto.causal_order_) == (local.score_, local.causal_order_)


def test_the_first_look_alone_is_not_called_a_search(data):
    found = search_of(data, n_iterations=0, polish=False)
    assert found["kind"] == "none"
    assert found["iterations"] == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"search": "policy", "n_iterations": 0}, "search='policy' trains, and n_iterations=0 does not"),
        ({"n_iterations": 0, "reward": "dense"}, "reward is an option of training, and n_iterations=0 trains nothing"),
        ({"search": "local", "polish": False}, "polish=False leaves nothing to do for search='local'"),
        ({"n_iterations": 0, "polish": False, "pretrained": None}, "need a pretrained policy"),
        ({"search": "local", "checkpoint": "x"}, "checkpoint follows the training of a policy, and search='local'"),
        ({"search": "exact", "tensorboard": "x"}, "tensorboard follows the training of a policy, and search='exact'"),
    ],
)
def test_contradictions_are_refused(data, options, words):
    with pytest.raises(OptionError, match=words):
        search_of(data, **options)


class Board:
    """Stands for TensorBoard's writer."""

    seen: ClassVar[dict[str, list[float]]] = {}

    def __init__(self, folder: str) -> None:
        self.seen.clear()

    def add_scalar(self, name: str, value: float, step: int) -> None:
        self.seen.setdefault(name, []).append(value)

    def close(self) -> None:
        """Nothing is open."""


@pytest.mark.parametrize("options", [{}, {"n_iterations": 11}, {"polish": False, "n_iterations": 4}], ids=str)
@pytest.mark.parametrize("observer", ["checkpoint", "tensorboard", "verbose"])
def test_watching_changes_nothing(data, tmp_path: Path, monkeypatch, observer, options):
    monkeypatch.setattr("precede.search.run.import_module", lambda name: SimpleNamespace(SummaryWriter=Board))
    watching = {observer: True if observer == "verbose" else str(tmp_path / "watch")}
    plain, watched = (pc.CORL("linear", **{**QUIET, **options, **more}).fit(data) for more in ({}, watching))
    assert (plain.score_, plain.causal_order_) == (watched.score_, watched.causal_order_)
    np.testing.assert_array_equal(plain.weights_, watched.weights_)
    pd.testing.assert_frame_equal(plain.history_.drop(columns="seconds"), watched.history_.drop(columns="seconds"))
    assert plain.diagnostics_["search"]["why"] == watched.diagnostics_["search"]["why"]
    said = [remark.sentence for remark in watched.diagnostics_.remarks if "Nothing was trained" in remark.sentence]
    assert bool(said) == (not options and observer != "verbose")
    if observer == "tensorboard" and options:
        learned = {"entropy", "actor_loss", "critic_loss", "actor_gradient", "critic_gradient"}
        assert learned < set(Board.seen)
        assert all(np.isfinite(Board.seen[name]).all() and np.any(Board.seen[name]) for name in learned)


def test_the_history_has_its_columns_without_training(data):
    columns = list(pc.CORL("linear", n_iterations=1, **QUIET).fit(data).history_.columns)
    assert {"iteration", "best_score", "entropy", "actor_loss"} <= set(columns)
    untrained = pc.CORL("linear", **QUIET).fit(data).history_
    assert list(untrained.columns) == columns
    assert untrained.empty
    assert list(pc.baselines.EqVar(verbose=False).fit(data).history_.columns) == ["iteration", "score"]


@pytest.mark.parametrize("name", ["corl-1", "corl-2"])
def test_the_papers_methods_by_name(data, name):
    by_name = pc.methods()[name]
    ours = pc.CORL.paper(name, n_iterations=3, batch_size=4, verbose=False, random_state=0)
    model = clone(by_name(n_iterations=3, batch_size=4, verbose=False, random_state=0))
    assert model.get_params() == ours.get_params()
    assert by_name("nongaussian").score == "nongaussian"
    found = pc.discover(data, name, n_iterations=3, batch_size=4, verbose=False, random_state=0)
    assert found == ours.fit(data).graph_
    assert ours.diagnostics_["search"]["iterations"] == 3
    with pytest.raises(OptionError, match="did you mean 'n_iterations'"):
        pc.CORL.paper(name, n_iteration=3)


def test_many_options_are_not_all_listed():
    asked = pc.CORL.paper("corl-1", n_iterations=5)
    assert taken_search(asked)[1] == "reward, shaping, pointer and 9 other options of training were given"
    assert taken_search(pc.CORL(gamma=0.9, reward="dense"))[1] == "reward, gamma were given"


def test_a_pag_starts_from_local_search_unless_training_is_asked_for():
    assert taken_search(pc.CORL())[0] == "auto"
    assert taken_search(pc.CORL(hidden="allowed"))[0] == "local"
    assert taken_search(pc.CORL(hidden="allowed", gamma=0.9))[0] == "policy"
