"""The shipped policies: zero-shot orders, and reinforcement learning that starts from them."""

import json
import pickle
import re
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from typer.testing import CliRunner

from precede import CORL, Knowledge, simulate
from precede.cli import app
from precede.errors import OptionError
from precede.metrics import order_tpr
from precede.policy import prediction as policy_files
from precede.policy.networks import LearnedStates, TransformerEncoder
from precede.policy.prediction import PAPER_WEIGHTS, SHIPPED, Pretrained, load_pretrained, save_policy
from precede.pretraining.validation import greedy_orders
from precede.runtime.randomness import numpy_rng, torch_generator
from precede.scores.linear import LinearScore


@pytest.fixture(scope="module")
def made():
    return simulate(n_variables=8, degree=1.5, n_samples=300, random_state=2001)


@pytest.fixture(scope="module")
def shipped():
    return {name: load_pretrained(name) for name in SHIPPED}


@pytest.fixture
def loaded_once(shipped, monkeypatch):
    """Reading ten megabytes for each fit would be most of the time."""
    monkeypatch.setattr("precede.corl.fit.load_pretrained", lambda name: shipped[name])


def fit(data, **options):
    usual = {"score": "linear", "pretrained": "default", "polish": False, "random_state": 0, "verbose": False}
    return CORL(**(usual | options)).fit(data)


def score_of(data, order):
    score = LinearScore(data.to_numpy())
    return float(score.total(score.terms(torch.tensor(order)[None]).sum(1)))


def positions(model, data):
    return [list(data.columns).index(name) for name in model.causal_order_]


@pytest.mark.parametrize("name", SHIPPED)
def test_without_iterations_the_order_is_the_greedy_one(name, made, shipped, loaded_once):
    policy = shipped[name]
    model = fit(made.data, pretrained=name, n_iterations=0)
    rng = numpy_rng(0)
    torch_generator(rng)  # the trainer seeds its own before it chooses the rows
    inputs = policy.architecture.inputs(made.data.to_numpy(), rng, torch.device("cpu"), scales=True)
    orders, _ = greedy_orders(policy.started_on(inputs), inputs.draw(1))
    assert positions(model, made.data) == orders[0].tolist()
    assert model.diagnostics_["search"]["iterations"] == 0
    assert model.score_ == pytest.approx(score_of(made.data, positions(model, made.data)))
    assert len(model.history_) == 0


def test_default_orders_data_it_has_never_seen(loaded_once):
    """Far below the figures of docs/results, far above chance."""
    for sem, standardize in (("linear-gaussian", False), ("lingam", True), ("gp-additive", True)):
        tpr = [
            order_tpr(fit(data.data, n_iterations=0), data.graph)
            for data in (
                simulate("er", 15, 2, sem, 500, standardize=standardize, random_state=2100 + k) for k in (0, 1)
            )
        ]
        assert np.mean(tpr) > 0.85


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("reward", ["dense", "episodic"])
def test_training_never_ends_below_the_pretrained_order(name, reward, loaded_once):
    """One hot step after the other: the policy forgets, the result does not."""
    data = simulate(n_variables=9, degree=2, n_samples=100, standardize=True, random_state=2002).data
    start = fit(data, pretrained=name, n_iterations=0).score_
    options = {"n_iterations": 4, "batch_size": 4, "actor_learning_rate": 0.3}
    model = fit(data, pretrained=name, reward=reward, **options)
    assert model.score_ >= start
    assert model.history_["best_score"].iloc[0] >= start


def test_training_moves_the_states_of_the_default_and_the_encoder_of_the_paper(made, shipped, loaded_once):
    for name, encoder in (("default", LearnedStates), ("paper", TransformerEncoder)):
        policy = fit(made.data, pretrained=name, n_iterations=2)._policy_
        assert isinstance(policy.actor.encoder, encoder)
        untrained = fit(made.data, pretrained=name, n_iterations=0)._policy_
        pairs = zip(policy.actor.encoder.parameters(), untrained.actor.encoder.parameters(), strict=True)
        assert all((a != b).any() for a, b in pairs)
    fresh = load_pretrained("paper").actor.state_dict()
    kept = shipped["paper"].actor.state_dict()
    assert all((fresh[key] == kept[key]).all() for key in fresh)  # a copy was trained, not the one that was loaded


@pytest.mark.parametrize("options", [{"encoder": "mlp"}, {"pointer": "additive"}, {"n_encoder_rows": 3}])
def test_another_architecture_beside_a_policy_is_refused(options, made):
    with pytest.raises(OptionError, match="does not go with pretrained='default'"):
        fit(made.data, n_iterations=3, **options)


def test_same_seed_same_result(made, loaded_once):
    first, second = (fit(made.data, n_iterations=3, batch_size=8) for _ in range(2))
    assert first.causal_order_ == second.causal_order_
    assert first.history_["mean_score"].tolist() == second.history_["mean_score"].tolist()


def test_columns_permute_the_order_where_the_policy_is_sure(loaded_once):
    rng = np.random.default_rng(0)
    noise = rng.laplace(size=(400, 5))
    chain = noise @ np.linalg.inv(np.eye(5) - np.diag([1.5] * 4, 1))  # a -> b -> c -> d -> e, no two valid orders
    columns = list("abcde")
    data = simulate(n_variables=5, degree=1, n_samples=400, random_state=0).data.set_axis(columns, axis=1)
    data[:] = chain
    assert fit(data, n_iterations=0).causal_order_ == columns
    for seed in range(4):
        shuffled = list(np.random.default_rng(seed).permutation(columns))
        assert fit(data[shuffled], n_iterations=0).causal_order_ == columns


def test_knowledge_is_obeyed_from_the_start(made, loaded_once):
    free = fit(made.data, n_iterations=0).causal_order_
    knowledge = Knowledge(tiers=[[name] for name in reversed(free)])
    for options in ({"n_iterations": 0}, {"n_iterations": 3, "batch_size": 4}):
        model = fit(made.data, **options, knowledge=knowledge)
        assert model.causal_order_ == free[::-1]
    order = fit(made.data, n_iterations=0, knowledge=Knowledge(required=[(free[-1], free[0])])).causal_order_
    assert order.index(free[-1]) < order.index(free[0])


def test_orders_can_be_drawn_after_pickling(made, loaded_once):
    model = fit(made.data, n_iterations=0)
    again = pickle.loads(pickle.dumps(model))
    drawn, same = (one.sample_orders(20, random_state=0) for one in (model, again))
    assert (drawn.orders == same.orders).all()
    assert (np.sort(drawn.orders, axis=1) == np.arange(8)).all()
    assert np.isfinite(drawn.log_probabilities).all()


def test_checkpoint_of_a_pretrained_start_goes_on(made, loaded_once, tmp_path):
    options = {"batch_size": 4, "patience": None, "checkpoint": str(tmp_path / "c.pt"), "resume": True}
    fit(made.data, n_iterations=10, **options)
    resumed = fit(made.data, n_iterations=20, **options)
    straight = fit(made.data, n_iterations=20, batch_size=4, patience=None)
    assert resumed.history_["mean_score"].tolist() == straight.history_["mean_score"].tolist()
    with pytest.raises(OptionError, match="pretrained"):
        fit(made.data, n_iterations=20, **options, pretrained="paper")


def test_a_path_is_a_policy_too(made, shipped, tmp_path):
    path = tmp_path / "mine.safetensors"
    save_policy(path, shipped["paper"].actor, shipped["paper"].architecture, {})
    by_path, by_name = (fit(made.data, n_iterations=0, pretrained=name) for name in (path, "paper"))
    assert by_path.causal_order_ == by_name.causal_order_


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pretrained": "papper"}, "did you mean 'paper'"),
        ({"pretrained": "nowhere.safetensors"}, "was not found"),
        ({"inputs": "resample", "n_iterations": 3}, "does not go with"),
        ({"pretrained": None, "n_iterations": 0}, "n_iterations=0"),
        ({"n_iterations": -1}, "n_iterations=-1"),
    ],
)
def test_what_will_not_do_is_refused_in_a_sentence(options, message, made):
    with pytest.raises(OptionError, match=message):
        fit(made.data, **options)


def test_other_shapes_and_versions_are_refused_by_the_estimator(made, shipped, tmp_path):
    path = tmp_path / "p.safetensors"
    policy: Pretrained = shipped["paper"]
    save_policy(path, policy.actor, policy.architecture, {})
    tensors = load_file(path)
    metadata = {"format": "precede-policy", "format_version": "0", "architecture": "{}", "notes": "{}"}
    save_file(tensors, path, metadata=metadata)
    with pytest.raises(OptionError, match="format version 0"):
        fit(made.data, pretrained=path)
    architecture = json.dumps(asdict(policy.architecture) | {"n_samples": 32})
    save_file(tensors, path, metadata=metadata | {"format_version": "1"})
    with pytest.raises(OptionError, match="does not say how its network is built"):
        fit(made.data, pretrained=path)
    save_file(tensors, path, metadata=metadata | {"format_version": "1", "architecture": architecture})
    with pytest.raises(OptionError, match=r"encoder\.embed\.weight has shape \(256, 256\) where \(256, 32\) is needed"):
        fit(made.data, pretrained=path)


def run_command(*words):
    return CliRunner().invoke(app, list(words))


def test_the_command_says_that_it_is_a_first_look(made, tmp_path):
    path = tmp_path / "data.csv"
    made.data.to_csv(path, index=False)
    plain, quiet = (run_command("order", str(path), *words).stdout for words in ((), ("--quiet",)))
    assert "Causal order" in plain
    assert "probability" in plain
    assert "first look" in plain
    assert "first look" not in quiet


def test_the_command_fills_holes_or_refuses_them(made, loaded_once, tmp_path):
    path = tmp_path / "data.csv"
    made.data.mask(made.data == made.data.iloc[3, 0]).to_csv(path, index=False)
    assert run_command("order", str(path), "--missing", "refuse").exit_code == 2
    for words in ((), ("--missing", "drop")):
        assert run_command("order", str(path), *words).exit_code == 0


def test_a_policy_that_the_command_trains_can_be_used(tmp_path):
    words = ("pretrain", "--out", str(tmp_path), "--tiny", "--steps", "2", "--tasks-per-step", "1", "--device", "cpu")
    done = run_command(*words, "--seed", "5", "--name", "mine")
    assert done.exit_code == 0
    assert "mine.safetensors" in done.stdout
    assert load_pretrained(tmp_path / "mine.safetensors").notes["steps"] == "2"
    settings = json.loads((tmp_path / "mine.jsonl").read_text().splitlines()[0])["settings"]
    assert settings["random_state"] == 5
    assert run_command(*words, "--quiet", "--name", "mine", "--resume", "--steps", "3").stdout == ""
    assert load_pretrained(tmp_path / "mine.safetensors").notes["steps"] == "3"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--variant", "other"), "--variant other is unknown"),
        (("--max-time", "-1"), "--max-time=-1"),
        (("--steps", "0"), "n_steps=0"),
    ],
)
def test_pretraining_that_will_not_do_is_refused(words, message, tmp_path):
    done = run_command("pretrain", "--out", str(tmp_path / "new"), "--device", "cpu", *words)
    assert done.exit_code == 2
    assert message in done.stderr
    assert not (tmp_path / "new").exists()


def test_model_card_agrees_with_the_files(shipped):
    package = Path(str(files("precede"))) / "policy" / "weights"
    card = (package / "MODEL_CARD.md").read_text()
    assert {path.name for path in package.glob("*.safetensors")} == {"default.safetensors"}
    sizes = 0
    for name, policy in shipped.items():
        n_parameters = sum(parameter.numel() for parameter in policy.actor.parameters())
        facts = [int(policy.notes["steps"]), int(policy.notes["tasks"]), n_parameters]
        assert all(f"{fact:,}" in card for fact in facts), name
        validation = json.loads(policy.notes["validation"])
        validation.pop("step", None)
        printed = np.array([float(number) for number in re.findall(r"1?\.\d{3}", card)])
        assert all(np.abs(printed - value).min() < 6e-4 for value in validation.values()), name
        folder = package if name == "default" else PAPER_WEIGHTS.parent
        log = (folder / f"{name}.jsonl").read_text().splitlines()
        assert "settings" in json.loads(log[0])
        sizes += len((folder / f"{name}.safetensors").read_bytes())
    assert sizes < 40e6


def test_an_installed_package_says_where_the_papers_weights_are(tmp_path, monkeypatch):
    monkeypatch.setattr(policy_files, "PAPER_WEIGHTS", tmp_path / "paper.safetensors")
    policy_files._load_shipped.cache_clear()
    with pytest.raises(OptionError, match=r"give the path of docs/results/weights/paper\.safetensors"):
        load_pretrained("paper")
    load_pretrained("default")
    policy_files._load_shipped.cache_clear()
