"""CORL as people use it: the contract's attributes, the paper's settings, every option read, every refusal worded."""

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone

import precede as pc
from precede.corl.settings import training_of
from precede.errors import KnowledgeError, OptionError
from precede.scores.linear import LinearScore
from precede.search.settings import Details

UNTRAINED = {"score": "linear", "random_state": 0, "verbose": False}
FAST = {"score": "linear", "n_iterations": 10, "patience": 10, "batch_size": 16, "random_state": 0, "verbose": False}


@pytest.fixture(scope="module")
def made() -> pc.Dataset:
    return pc.simulate(n_variables=6, degree=1, n_samples=500, random_state=3)


@pytest.fixture(scope="module")
def model(made: pc.Dataset) -> pc.CORL:
    return pc.CORL(**FAST).fit(made.data)


def test_the_graph_is_found(model: pc.CORL, made: pc.Dataset) -> None:
    assert pc.evaluate(model.graph_, made.graph).shd == 0


def test_fitted_attributes(model: pc.CORL, made: pc.Dataset) -> None:
    names = list(made.data.columns)
    assert list(model.adjacency_matrix_.columns) == list(model.adjacency_matrix_.index) == names
    assert list(model.weights_.columns) == names
    assert sorted(model.causal_order_) == sorted(names)
    assert isinstance(model.graph_, pc.CausalGraph)
    assert len(model.history_) == 10
    assert model.score_ == pytest.approx(model.diagnostics_["search"]["best_score"])
    assert list(model.feature_names_in_) == names


def test_it_says_what_rl_reached_and_what_polish_added(model: pc.CORL) -> None:
    search = model.diagnostics_["search"]
    assert search["policy_score"] + search["polish_gain"] == pytest.approx(search["best_score"])
    assert search["greedy_score"] <= search["best_score"] + 1e-6
    assert model.history_.best_score.iloc[-1] == pytest.approx(search["policy_score"])
    assert {"sentence", "level"} <= set(model.diagnostics_["checks"][0])


def test_same_seed_same_everything(made: pc.Dataset, model: pc.CORL) -> None:
    again = pc.CORL(**FAST).fit(made.data)
    assert again.causal_order_ == model.causal_order_
    assert again.graph_ == model.graph_
    pd.testing.assert_frame_equal(again.history_.drop(columns="seconds"), model.history_.drop(columns="seconds"))


def test_the_input_is_not_modified(made: pc.Dataset) -> None:
    before = made.data.copy()
    pc.CORL(**FAST).fit(made.data)
    pd.testing.assert_frame_equal(made.data, before)


def test_arrays_give_integer_names(made: pc.Dataset) -> None:
    model = pc.CORL(**FAST).fit(made.data.to_numpy())
    assert sorted(model.causal_order_) == list(range(6))
    assert not hasattr(model, "feature_names_in_")


def test_scikit_learn_conventions() -> None:
    model = pc.CORL(batch_size=7)
    assert clone(model).get_params()["batch_size"] == 7
    assert "batch_size=7" in repr(model)


def test_the_papers_settings() -> None:
    one, two = pc.CORL.paper("corl-1").get_params(), pc.CORL.paper("corl-2").get_params()
    assert (one["reward"], two["reward"]) == ("episodic", "dense")
    for settings in (one, two):
        assert settings["inputs"] == "resample"
        assert settings["shaping"] == "plain"
        assert settings["gamma"] == 0.98
        assert settings["polish"] is False
        assert (settings["pruning"], settings["threshold"]) == ("threshold", 0.3)
        assert settings["entropy_bonus"] == 0.0
        assert (settings["pointer"], settings["normalization"]) == ("additive", "batch")
        assert settings["n_encoder_rows"] == 256  # rows and states have the same dimension (Section 4.2)
        assert (settings["details"].patience_on, settings["details"].row_scale) == ("mean", "asinh")
        assert settings["batch_size"] == 128
    training = training_of(pc.CORL.paper("corl-2"), None)
    assert (training.encoder, training.decoder) == ("transformer", "lstm")
    assert (training.actor_learning_rate, training.critic_learning_rate) == (1e-4, 1e-3)
    critics = one["details"].critic, two["details"].critic  # Appendix A.2
    assert critics == ("every-state", "initial-state")
    with pytest.raises(OptionError, match="did you mean"):
        pc.CORL.paper("corl-3")


@pytest.mark.parametrize(
    ("name", "reward", "average", "critic"),
    [("corl-1", "episodic", True, "initial-state"), ("corl-2", "dense", False, "every-state")],
)
def test_the_authors_program_differs_where_it_does(name, reward, average, critic):
    """Their folder corl2 pays the whole score with two baselines, and corl1 every step: the names are turned round."""
    model = pc.CORL.paper(name, nonlinear=True, program="authors")
    details = model.details
    assert (model.reward, details.moving_average, details.critic) == (reward, average, critic)
    assert (details.kernel, details.standardize_columns, details.row_scale) == ("fixed", False, "none")
    assert (details.width, details.heads, details.glimpse, details.sinks_first) == (64, 16, True, True)
    assert (details.standardize_returns, details.return_unit, details.clip_each_tensor) == (False, "residuals", True)
    assert (details.adam_beta2, details.adam_epsilon, details.largest_gradient) == (0.99, 1e-7, 1.0)
    assert (model.batch_size, model.n_encoder_rows, model.n_iterations, model.patience) == (64, 64, 20_000, None)
    text = pc.CORL.paper(name, nonlinear=True)
    assert text.details.kernel == "median"
    data = pc.simulate(n_variables=4, degree=1, sem="gp", n_samples=60, random_state=0).data
    small = {"n_iterations": 3, "batch_size": 4, "verbose": False, "random_state": 0, "diagnose": False}
    assert model.set_params(**small).fit(data).score_ != text.set_params(**small).fit(data).score_


def test_the_authors_program_has_no_pretrained_policy():
    with pytest.raises(OptionError, match="program='authors' does not go with pretrained='paper'"):
        pc.CORL.paper("corl-2", pretrained="paper", program="authors")
    with pytest.raises(OptionError, match="did you mean 'authors'"):
        pc.CORL.paper("corl-2", program="author")


def test_a_fixed_kernel_is_for_the_gp_score_alone():
    data = pc.simulate(n_variables=4, degree=1, n_samples=60, random_state=0).data
    with pytest.raises(
        OptionError, match="kernel='fixed' is an option of score='gp': leave it out with score='linear'"
    ):
        pc.CORL(score="linear", details=Details(kernel="fixed"), verbose=False).fit(data)


def test_details_of_the_network_do_not_go_with_a_pretrained_one():
    data = pc.simulate(n_variables=4, degree=1, n_samples=60, random_state=0).data
    with pytest.raises(OptionError, match="does not go with pretrained='default'"):
        pc.CORL(pretrained="default", details=Details(width=64), verbose=False).fit(data)


def test_the_papers_settings_for_nonlinear_data() -> None:
    made = pc.simulate("er", 4, 1, "gp-quiet", 60, random_state=0).data
    model = pc.CORL.paper("corl-2", nonlinear=True)
    assert (model.score, model.noise, model.pruning, model.n_encoder_rows) == ("gp", "equal", "cam", 128)
    model.set_params(n_iterations=3, batch_size=4, verbose=False, random_state=0)
    found = model.fit(made)
    assert found.diagnostics_["score"] == "gp"
    units = pd.Series([1.0, 10.0, 0.1, 7.0], index=made.columns)
    assert clone(model).fit(made * units).score_ == pytest.approx(found.score_)
    plain = clone(model).set_params(details=Details())
    assert plain.fit(made * units).score_ != pytest.approx(clone(plain).fit(made).score_)


def test_the_papers_mode_from_a_pretrained_start(made: pc.Dataset) -> None:
    model = pc.CORL.paper("corl-2", pretrained="paper").set_params(n_iterations=3, verbose=False, random_state=0)
    assert (model.reward, model.polish, model.shaping, model.gamma) == ("dense", False, "plain", 0.98)
    first = model.fit(made.data).history_["mean_score"].iloc[0]
    network = {"inputs": "fixed", "pointer": "dot", "normalization": "layer", "n_encoder_rows": 64}
    random = pc.CORL.paper("corl-2").set_params(**network, n_iterations=3, verbose=False, random_state=0)
    assert first > random.fit(made.data).history_["mean_score"].iloc[0]


def test_unknown_details_are_named(made: pc.Dataset) -> None:
    with pytest.raises(OptionError, match="did you mean 'mean'"):
        pc.CORL(**FAST, details=Details(patience_on="meen")).fit(made.data)
    with pytest.raises(OptionError, match="largest_gradient"):
        pc.CORL(**FAST, details=Details(largest_gradient=0.0)).fit(made.data)


def test_exact_search_is_never_beaten(made: pc.Dataset, model: pc.CORL) -> None:
    exact = pc.CORL(**UNTRAINED, search="exact").fit(made.data)
    assert exact.score_ >= model.score_ - 1e-9
    assert exact.diagnostics_["search"]["exact"]


def test_a_score_object(made: pc.Dataset, model: pc.CORL) -> None:
    own = pc.CORL(**{**FAST, "score": LinearScore(made.data.to_numpy())}).fit(made.data)
    assert own.score_ == pytest.approx(model.score_)
    with pytest.raises(OptionError, match="over 6 variables, the data has 5"):
        pc.CORL(score=LinearScore(made.data.to_numpy()), verbose=False).fit(made.data.iloc[:, :5])


@pytest.mark.parametrize(
    "score", ["nongaussian", "quadratic", "gp", "sparse-linear", "sparse-gp", "sparse-gp-additive"]
)
def test_every_score_by_name(made: pc.Dataset, score: str) -> None:
    data = made.data.iloc[:80, :4]
    fitted = pc.CORL(**{**FAST, "score": score, "n_iterations": 2}).fit(data)
    assert fitted.diagnostics_["score"] == score
    assert fitted.diagnostics_["identifies"] == ("cpdag" if score == "sparse-linear" else "dag")
    if score in ("gp", "quadratic"):
        pc.CORL(**{**FAST, "score": score, "n_iterations": 2, "noise": "equal"}).fit(data)


def test_the_equivalence_class_is_offered() -> None:
    rng = np.random.default_rng(0)
    cause = rng.normal(size=500)
    other = rng.normal(size=500)
    data = pd.DataFrame({"a": cause, "b": other, "c": cause + other + rng.normal(size=500), "d": rng.normal(size=500)})
    data["e"] = data.d + rng.normal(size=500)
    fitted = pc.CORL(**{**FAST, "score": "sparse-linear"}).fit(data)
    pattern = fitted.cpdag_
    assert (pattern.loc["a", "c"], pattern.loc["c", "a"]) == (1, 0)  # a collider is the same in the whole class
    assert (pattern.loc["d", "e"], pattern.loc["e", "d"]) == (1, 1)  # a lone edge can be turned round
    assert any("Some directions cannot be determined" in remark for remark in fitted.diagnostics_["remarks"])


def test_auto_says_why() -> None:
    made = pc.simulate(n_variables=5, degree=1, sem="lingam", n_samples=1000, standardize=True, random_state=0)
    fitted = pc.CORL(**{**FAST, "score": "auto"}).fit(made.data)
    assert fitted.diagnostics_["score"] == fitted.diagnostics_["score_choice"]["name"] == "linear-any"
    assert len(fitted.diagnostics_["score_choice"]["reason"]) > 10


@pytest.mark.parametrize(
    ("pruning", "make", "words"),
    [
        ("bic", "levels", "pruning='bic' cannot be used with score='degenerate-gaussian'"),
        ("policy", "wide", "pruning='policy' cannot be used here: the policy takes at most 150 columns"),
    ],
)
def test_a_pruning_that_cannot_be_is_refused_before_the_search(
    monkeypatch: pytest.MonkeyPatch, pruning: str, make: str, words: str
) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 151 if make == "wide" else 2))).add_prefix("x")
    if make == "levels":
        frame["city"] = rng.choice(["Bonn", "Oslo", "Rome"], size=200)
    monkeypatch.setattr("precede.corl.fit.Fit.search", lambda *_: pytest.fail("the search began"))
    with pytest.raises(OptionError, match=words):
        pc.CORL(**FAST | {"score": "auto"}, pruning=pruning).fit(frame)


@pytest.mark.parametrize("pruning", ["threshold", "bic", "cam", "cam-f", "none"])
def test_every_pruning(made: pc.Dataset, pruning: str) -> None:
    fitted = pc.CORL(**FAST, pruning=pruning).fit(made.data)
    assert fitted.graph_.n_edges == (15 if pruning == "none" else 6)


def test_threshold_and_cutoff_are_read(made: pc.Dataset) -> None:
    assert pc.CORL(**FAST, pruning="threshold", threshold=10.0).fit(made.data).graph_.n_edges == 0
    assert pc.CORL(**FAST, pruning="cam", cutoff=1.0).fit(made.data).graph_.n_edges == 15


def test_polish_and_restarts_are_read(made: pc.Dataset) -> None:
    plain = pc.CORL(**{**FAST, "n_iterations": 1}, polish=False).fit(made.data)
    assert "polish_gain" not in plain.diagnostics_["search"]
    moved = pc.CORL(**{**FAST, "n_iterations": 1}, n_restarts=5).fit(made.data).diagnostics_["search"]
    once = pc.CORL(**{**FAST, "n_iterations": 1}, n_restarts=0).fit(made.data).diagnostics_["search"]
    assert moved["polish_moves"] > once["polish_moves"]


def test_diagnose_is_read(made: pc.Dataset) -> None:
    assert "checks" not in pc.CORL(**FAST, diagnose=False).fit(made.data).diagnostics_


def test_knowledge_is_obeyed(made: pc.Dataset) -> None:
    cause, effect, _ = made.graph.edge_list()[0]
    knowledge = pc.Knowledge(required=[(effect, cause)], roots=[effect])
    for search in ("policy", "local", "exact"):
        options = FAST if search == "policy" else UNTRAINED
        fitted = pc.CORL(**options, knowledge=knowledge, search=search).fit(made.data)
        assert not knowledge.over(list(made.data.columns)).violated_by(fitted.graph_.edges)
        assert fitted.causal_order_[0] == effect


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"score": "linaer"}, "score='linaer' is unknown: did you mean 'linear'"),
        ({"reward": "dens"}, "did you mean 'dense'"),
        ({"encoder": "gnn"}, "encoder='gnn' is unknown"),
        ({"decoder": "gru"}, "decoder='gru' is unknown"),
        ({"inputs": "fix"}, "did you mean 'fixed'"),
        ({"pruning": "lasso"}, "pruning='lasso' is unknown"),
        ({"search": "rl"}, "search='rl' is unknown"),
        ({"shaping": "bounds"}, "did you mean 'bound'"),
        ({"pointer": "dots"}, "did you mean 'dot'"),
        ({"normalization": "bach"}, "did you mean 'batch'"),
        ({"normalization": "bach", "encoder": "mlp"}, "did you mean 'batch'"),
        ({"noise": "uneqal"}, "did you mean 'unequal'"),
        ({"noise": "unequal"}, "log det S for every order"),
        ({"n_iterations": 0}, "batch_size is an option of training, and n_iterations=0 trains nothing"),
        ({"batch_size": 1}, "batch_size=1 cannot be used"),
        ({"n_encoder_rows": 2.5}, "whole number"),
        ({"patience": -1}, "patience=-1 cannot be used"),
        ({"max_time": 0}, "max_time=0 cannot be used"),
        ({"gamma": 1.5}, "gamma=1.5 cannot be used: it must be a positive number of at most 1"),
        ({"entropy_bonus": -1}, "entropy_bonus=-1 cannot be used"),
        ({"pretrained": "defualt"}, "did you mean 'default'"),
        ({"pretrained": "default", "inputs": "resample"}, "inputs='resample' does not go with pretrained='default'"),
        ({"pretrained": "default", "encoder": "lstm"}, "encoder='lstm' does not go with pretrained='default'"),
        ({"device": "tpu"}, "device='tpu' is unknown"),
    ],
)
def test_bad_options_get_a_sentence(made: pc.Dataset, options: dict, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        pc.CORL(**{**FAST, **options}).fit(made.data)


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_no_gpu_where_one_was_asked_for(made: pc.Dataset) -> None:
    with pytest.raises(OptionError, match="device='cuda' was asked for, but this machine has no GPU"):
        pc.CORL(**FAST, device="cuda").fit(made.data)


def test_discover_in_one_call(made: pc.Dataset) -> None:
    assert pc.discover(made.data, method="eqvar").n_edges == 6
    assert pc.discover(made.data, **FAST) == pc.CORL(**FAST).fit(made.data).graph_
    with pytest.raises(OptionError, match="did you mean 'notears'"):
        pc.discover(made.data, method="notear")
    with pytest.raises(OptionError, match="'eqvar' has no option 'lambda1'; these have: 'notears'"):
        pc.discover(made.data, method="eqvar", lambda1=1)
    with pytest.raises(KnowledgeError, match=r"'notears' cannot obey background knowledge; these can: 'corl'"):
        pc.discover(made.data, method="notears", knowledge=pc.Knowledge())


def test_permuting_columns_permutes_the_result(made: pc.Dataset, model: pc.CORL) -> None:
    shuffled = made.data[made.data.columns[np.random.default_rng(0).permutation(6)]]
    graph = pc.CORL(**FAST).fit(shuffled).graph_
    pd.testing.assert_frame_equal(graph.adjacency.loc[made.data.columns, made.data.columns], model.adjacency_matrix_)


def test_ctrl_c_keeps_the_best(made: pc.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    from precede.search.train import Trainer

    step, calls = Trainer.step, []

    def interrupted(self: Trainer) -> torch.Tensor:
        calls.append(1)
        if len(calls) > 25:
            raise KeyboardInterrupt
        return step(self)

    monkeypatch.setattr(Trainer, "step", interrupted)
    fitted = pc.CORL(**{**FAST, "n_iterations": 1000, "patience": None}).fit(made.data)
    assert fitted.diagnostics_["search"]["interrupted"]
    assert 0 < len(fitted.history_) <= 25
    assert np.isfinite(fitted.score_)


def test_the_old_name_of_an_option_is_heard_and_named() -> None:
    with pytest.warns(DeprecationWarning, match="n_samples of CORL is now n_encoder_rows") as heard:
        model = pc.CORL(n_samples=8)
    assert heard[0].filename == __file__
    assert model.n_encoder_rows == 8
    assert "n_samples" not in model.get_params()
