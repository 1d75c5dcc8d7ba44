"""Supervised pretraining in miniature: the objective, the loop, saving, loading, the command."""

import json
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from typer.testing import CliRunner

from precede import CORL
from precede.cli import app
from precede.errors import OptionError
from precede.policy.actor import Architecture
from precede.policy.prediction import load_pretrained, save_policy
from precede.pretraining import supervised
from precede.pretraining.curriculum import Curriculum, CurriculumSettings
from precede.pretraining.own_tables import OwnTables, read_tables, sizes_of, split
from precede.pretraining.supervised import (
    Pretrainer,
    copy_what_fits,
    pretrain_into,
    set_valued_loss,
    task_cost,
    variant_settings,
)
from precede.pretraining.validation import (
    HELD_OUT,
    PAIR_FAMILIES,
    ValidationSettings,
    greedy_orders,
    held_out_data,
    held_out_pair,
    order_shares,
)

TINY = {
    "curriculum": CurriculumSettings((5, 6), (30,), (1.0, 2.0)),
    "validation": ValidationSettings(n_variables=6, n_samples=30, n_sets=2),
    "tasks_per_step": 1,
    "n_steps": 3,
    "warmup_steps": 5,
}


@pytest.fixture(autouse=True)
def short_groups(monkeypatch):
    for name, number in (("READ_EVERY", 4), ("BATCHES_AT_ONCE", 2), ("SIZES_AT_ONCE", 2)):
        monkeypatch.setattr(supervised, name, number)


def tiny(variant="default", **changes):
    settings = variant_settings(variant, **(TINY | changes))
    if variant == "paper":
        settings = replace(settings, curriculum=replace(settings.curriculum, n_samples=(256,)))
    return settings


@pytest.fixture(scope="module")
def policy():
    torch.manual_seed(0)
    architecture = Architecture("moments", "lstm", "dot", 50)
    return architecture.build(), architecture


def test_loss_by_hand():
    """Graph 0 -> 1, 2 alone; prefix (0, 1, 2): steps with {0, 2}, {1, 2}, {2} ready."""
    adjacency = torch.zeros(1, 3, 3, dtype=torch.bool)
    adjacency[0, 0, 1] = True
    logits = torch.log(torch.tensor([[[1.0, 2.0, 3.0], [5.0, 1.0, 1.0], [7.0, 7.0, 1.0]]]))
    loss = set_valued_loss(logits, torch.tensor([[0, 1, 2]]), adjacency)
    assert float(loss) == pytest.approx(-np.log(4 / 6) / 3)


def test_loss_after_a_mistake_is_finite():
    adjacency = torch.zeros(1, 3, 3, dtype=torch.bool)
    adjacency[0, 0, 1] = adjacency[0, 1, 2] = True
    assert set_valued_loss(torch.zeros(1, 3, 3), torch.tensor([[2, 1, 0]]), adjacency).isfinite()


def test_training_lowers_the_loss():
    trainer = Pretrainer(tiny(n_steps=40, learning_rate=1e-3, tasks_per_step=3))
    tasks = Curriculum(trainer.settings.curriculum, torch.Generator().manual_seed(5)).draw(90, 6, 30)
    with torch.no_grad():
        before = torch.stack(trainer._losses(tasks))
    records = list(trainer.run())
    assert [record.step for record in records] == list(range(4, 41, 4))
    with torch.no_grad():
        assert (torch.stack(trainer._losses(tasks)) < before).all()  # on tasks that it was not trained on
    figures = records[-1].validation
    assert set(figures) >= {"lg-er2", "gp-additive-er2-standardized", *HELD_OUT, *PAIR_FAMILIES}
    groups = [figures[group] for group in ("mean", "held-out", "pairs", "told")]
    assert figures["overall"] == pytest.approx(np.mean(groups))
    assert figures["pairs"] == pytest.approx(np.mean([figures[family] for family in PAIR_FAMILIES]))


def test_the_weights_that_are_kept_are_those_that_do_best_on_all_groups(monkeypatch):
    trainer = Pretrainer(tiny())
    shown = iter([{"mean": 0.9, "overall": 0.5}, {"mean": 0.8, "overall": 0.7}, {"mean": 0.99, "overall": 0.6}])
    monkeypatch.setattr(trainer.suite, "evaluate", lambda actor: next(shown))
    for trainer.step in (1, 2, 3):
        trainer.validate()
    assert trainer.best["step"] == 2


def test_same_seed_same_weights_and_other_seed_others():
    first, second, other = (Pretrainer(tiny(random_state=seed)) for seed in (0, 0, 1))
    for trainer in (first, second, other):
        list(trainer.run())
    weights = [next(trainer.averaged.decoder.parameters()) for trainer in (first, second, other)]
    assert (weights[0] == weights[1]).all()
    assert (weights[0] != weights[2]).any()


def test_resume_goes_on_as_if_nothing_had_happened():
    whole = Pretrainer(tiny(n_steps=8))
    list(whole.run())
    half = Pretrainer(tiny(n_steps=8))
    next(half.run())
    resumed = Pretrainer(tiny(n_steps=8))
    resumed.load_state(half.state())
    list(resumed.run())
    assert resumed.step == 8
    for a, b in zip(whole.actor.parameters(), resumed.actor.parameters(), strict=True):
        assert (a == b).all()


def test_files_and_resume_from_them(tmp_path):
    list(pretrain_into(tmp_path, "p", tiny()))
    header, *lines = (json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines())
    assert header["settings"]["architecture"]["encoder"] == "moments"
    assert lines[-1]["validation"]
    longer = list(pretrain_into(tmp_path, "p", tiny(n_steps=5), resume=True))
    assert longer[-1].step == 5
    assert json.loads(load_pretrained(tmp_path / "p.safetensors").notes["steps"]) == 5
    with pytest.raises(OptionError, match="another architecture"):
        list(pretrain_into(tmp_path, "p", tiny("paper"), resume=True))


def test_time_ends_it_and_validations_come_as_often_as_asked():
    [stopped] = Pretrainer(tiny(n_steps=None, max_time=1e-6)).run()
    assert stopped.validation
    records = list(Pretrainer(tiny(n_steps=12, validate_every=0.0)).run())
    assert [bool(record.validation) for record in records] == [True] * 3
    assert [record.step for record in records] == [4, 8, 12]
    assert records[0].tasks < records[2].tasks


def test_learning_rate_warms_up_and_falls():
    trainer = Pretrainer(tiny(n_steps=40, warmup_steps=10, learning_rate=1.0, average=0.0))
    trainer.step = 4
    trainer._train_step()
    assert 0.4 < trainer.optimizer.param_groups[0]["lr"] < 0.5
    trainer.step = 39
    trainer._train_step()
    assert trainer.optimizer.param_groups[0]["lr"] < 0.05


def test_a_step_without_a_finite_gradient_is_left_out(monkeypatch):
    trainer = Pretrainer(tiny())
    before = [parameter.clone() for parameter in trainer.actor.parameters()]
    monkeypatch.setattr(supervised, "set_valued_loss", lambda logits, *_: logits.sum() * torch.nan)
    trainer._train_step()
    assert all((a == b).all() for a, b in zip(before, trainer.actor.parameters(), strict=True))


def test_edge_weight_and_average_are_read():
    plain, weighted, raw = (
        Pretrainer(tiny(**changes)) for changes in ({"edge_weight": 0.0}, {"edge_weight": 5.0}, {"average": 0.0})
    )
    for trainer in (plain, weighted, raw):
        list(trainer.run())
    edges = [trainer.actor.encoder.edges.layers[0].weight for trainer in (plain, weighted)]
    assert (edges[0] != edges[1]).any()
    assert all((a == b).all() for a, b in zip(raw.averaged.parameters(), raw.actor.parameters(), strict=True))
    assert any((a != b).any() for a, b in zip(plain.averaged.parameters(), plain.actor.parameters(), strict=True))


def test_larger_tasks_come_in_smaller_batches():
    assert task_cost(50, 400) > task_cost(30, 400) > task_cost(30, 100)
    few, many = (Pretrainer(tiny(tasks_per_step=n)) for n in (1, 2))
    assert len(few._draw().inputs) < len(many._draw().inputs)


def test_paper_variant_is_the_network_of_paper_mode():
    paper = CORL.paper("corl-1")
    architecture = variant_settings("paper").architecture
    assert architecture.rows == paper.inputs
    assert (architecture.pointer, architecture.normalization) == (paper.pointer, paper.normalization)
    assert architecture.n_samples == paper.n_encoder_rows


def test_paper_variant_trains():
    settings = variant_settings("paper")
    assert settings.curriculum.n_variables == (30,)
    trainer = Pretrainer(tiny("paper"))
    [record] = trainer.run()
    assert record.edge_loss == 0
    values = np.random.default_rng(0).normal(size=(20, 9))
    inputs = trainer.settings.architecture.inputs(values, np.random.default_rng(0), torch.device("cpu"))
    assert inputs.draw(3).shape == (3, 9, 256)
    assert greedy_orders(trainer.averaged, inputs.draw(1))[0].sort(1).values.tolist() == [list(range(9))]


def test_zero_shot_order_moves_with_the_columns(policy):
    actor, architecture = policy
    values = np.random.default_rng(0).normal(size=(80, 7)) @ np.triu(np.random.default_rng(1).normal(size=(7, 7)))
    columns = np.array([6, 2, 0, 5, 1, 3, 4])

    def order(matrix):
        inputs = architecture.inputs(matrix, np.random.default_rng(0), torch.device("cpu")).draw(1)
        assert inputs.shape[1:] == (7, 51)
        return greedy_orders(actor, inputs)[0][0].numpy()

    assert (columns[order(values[:, columns])] == order(values)).all()


def test_order_tpr_counts_agreeing_edges():
    adjacency = torch.ones(1, 4, 4).triu(1)
    assert order_shares(torch.tensor([[0, 1, 2, 3]]), adjacency).item() == 1
    assert order_shares(torch.tensor([[3, 2, 1, 0]]), adjacency).item() == 0


def test_saved_policy_comes_back_the_same(policy, tmp_path):
    actor, architecture = policy
    save_policy(tmp_path / "p.safetensors", actor, architecture, {"steps": "1"})
    state = torch.get_rng_state()
    loaded = load_pretrained(tmp_path / "p.safetensors")
    assert (torch.get_rng_state() == state).all()
    assert loaded.architecture == architecture
    assert loaded.notes == {"steps": "1"}
    for (name, a), (_, b) in zip(actor.state_dict().items(), loaded.actor.state_dict().items(), strict=True):
        assert (a == b).all(), name


def resaved(path, change):
    from safetensors import safe_open

    with safe_open(path, framework="pt") as file:
        metadata = dict(file.metadata())
    tensors = load_file(path)
    change(metadata, tensors)
    save_file(tensors, path, metadata=metadata)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m, t: m.update(format_version="99"), "version 99"),
        (lambda m, t: m.update(format="other"), "no policy of Precede"),
        (lambda m, t: t.update({"decoder.initial.bias": torch.zeros(3)}), "decoder.initial.bias"),
        (lambda m, t: t.pop("decoder.initial.bias"), "decoder.initial.bias"),
    ],
)
def test_files_that_do_not_fit_are_refused(policy, tmp_path, change, message):
    path = tmp_path / "p.safetensors"
    save_policy(path, *policy, {})
    resaved(path, change)
    with pytest.raises(OptionError, match=message):
        load_pretrained(path)


def test_names_and_paths_that_are_not_there_are_refused(tmp_path):
    with pytest.raises(OptionError, match="did you mean 'default'"):
        load_pretrained("defalt")
    with pytest.raises(OptionError, match="not found"):
        load_pretrained(tmp_path / "none.safetensors")
    (tmp_path / "bad.safetensors").write_text("text")
    with pytest.raises(OptionError, match="not a safetensors file"):
        load_pretrained(tmp_path / "bad.safetensors")


@pytest.mark.parametrize("variant", ["default", "paper"])
def test_the_command_in_miniature(variant, tmp_path):
    words = [
        "pretrain",
        "--out",
        str(tmp_path),
        "--variant",
        variant,
        "--tiny",
        "--steps",
        "2",
        "--tasks-per-step",
        "1",
        "--learning-rate",
        "0.002",
    ]
    result = CliRunner().invoke(app, [*words, "--device", "cpu", "--quiet"])
    assert result.exit_code == 0, result.output
    assert load_pretrained(tmp_path / f"{variant}.safetensors").architecture == variant_settings(variant).architecture
    header = json.loads((tmp_path / f"{variant}.jsonl").read_text().splitlines()[0])
    assert header["settings"]["learning_rate"] == 0.002


def test_a_policy_that_sees_more_starts_as_the_one_before(policy, tmp_path):
    """Weights of a network with fewer inputs: the new inputs count for nothing at first."""
    actor, architecture = policy
    save_policy(tmp_path / "old.safetensors", actor, architecture, {})
    resaved(
        tmp_path / "old.safetensors",
        lambda _, tensors: tensors.update(
            {name: tensors[name][:, :1].clone() for name in ("encoder.embed_values.0.weight",)}
        ),
    )
    torch.manual_seed(1)
    new = architecture.build()
    copy_what_fits(str(tmp_path / "old.safetensors"), new)
    first, second = (net.state_dict()["encoder.embed_values.0.weight"] for net in (actor, new))
    assert (second[:, :1] == first[:, :1]).all()
    assert (second[:, 1:] == 0).all()
    assert (new.state_dict()["decoder.initial.bias"] == actor.state_dict()["decoder.initial.bias"]).all()
    save_file({"other": torch.zeros(2)}, tmp_path / "other.safetensors")
    with pytest.raises(OptionError, match="no weight that fits"):
        copy_what_fits(str(tmp_path / "other.safetensors"), new)


@pytest.mark.parametrize("family", list(HELD_OUT))
def test_families_held_out_have_their_graphs(family):
    """Children depend on their parents, no column is constant, and a seed gives the same data again."""
    values, adjacency = held_out_data(family, 2, n_variables=8, n_samples=400)
    again, _ = held_out_data(family, 2, n_variables=8, n_samples=400)
    assert (values == again).all()
    assert (values.std(0) > 0).all()
    order = np.argsort(values, axis=0).argsort(axis=0)
    dependence = np.abs(np.corrcoef(order.T))
    apart = ~(adjacency | adjacency.T) & ~np.eye(8, dtype=bool)
    assert dependence[adjacency].mean() > dependence[apart].mean()


@pytest.mark.parametrize("family", list(PAIR_FAMILIES))
def test_pairs_held_out_depend_and_come_back_the_same(family):
    pairs = [held_out_pair(family, seed, n_samples=300) for seed in range(6)]
    assert all((pair == held_out_pair(family, seed, n_samples=300)).all() for seed, pair in enumerate(pairs))
    for pair in pairs:
        assert np.isfinite(pair).all()
        assert np.allclose(pair.std(0), 1)
    gained = [_explained(pair) for pair in pairs]
    assert np.median(gained) > 0.1
    assert len(np.unique(pairs[2])) < len(np.unique(pairs[0]))  # every third shows few digits


def _explained(pair):
    """Share of the effect's spread, absolute or squared, that twelve bins of the cause explain."""
    bins = np.argsort(np.argsort(pair[:, 0])) * 12 // len(pair)
    shares = []
    for effect in (pair[:, 1], np.abs(pair[:, 1])):
        means = np.array([effect[bins == k].mean() for k in range(12)])[bins]
        shares.append(means.var() / effect.var())
    return max(shares)


@pytest.fixture(scope="module")
def labeled(tmp_path_factory):
    """Seven tables of 4 or 5 columns, as the command writes them; the fifth is kept for validation."""
    folder = tmp_path_factory.mktemp("labeled")
    for k in range(7):
        words = ["simulate", "--out", str(folder / f"t{k}"), "--samples", str(60 + k), "--seed", str(k), "--quiet"]
        done = CliRunner().invoke(app, [*words, "--variables", str(4 + k % 2), "--degree", "1"])
        assert done.exit_code == 0, done.output
    return folder


def test_labeled_tables_are_what_is_trained_on(labeled):
    tables = read_tables(labeled)
    train, kept = split(tables)
    assert [table.name for table in kept] == ["t4"]
    assert len(train) == 6
    settings = sizes_of(train, CurriculumSettings(standardized=0.0), labeled)
    assert (sorted(settings.n_variables), settings.n_samples) == ([4, 4, 4, 5, 5, 5], (60,))


def test_tasks_of_a_labeled_table_keep_columns_and_graph_together(labeled):
    (table,) = read_tables(labeled / "t0")
    tasks = OwnTables([table], sizes_of([table], CurriculumSettings(), labeled), torch.Generator()).draw(6, 4, 60)
    true = np.abs(np.corrcoef(table.values.T))
    for inputs, adjacency in zip(tasks.inputs.numpy(), tasks.adjacency.numpy(), strict=True):
        shown = np.abs(np.corrcoef(inputs[:, :-1]))  # all of its 60 rows; some columns have the other sign
        places = [list(p) for p in permutations(range(4)) if np.allclose(true[np.ix_(p, p)], shown, atol=1e-4)]
        assert any((table.edges[np.ix_(place, place)] == adjacency).all() for place in places)


def test_labeled_tables_decide_which_weights_are_kept(labeled, tmp_path):
    settings = variant_settings("default", tiny=True, data=labeled, tasks_per_step=1, n_steps=2)
    *_, last = pretrain_into(tmp_path, "own", settings)
    assert last.validation["overall"] == last.validation["own"] == last.validation["t4"]
    assert np.isfinite(last.loss)


def test_the_command_reads_the_folder_and_refuses_what_is_not_labeled(labeled, tmp_path):
    words = ["pretrain", "--tiny", "--steps", "1", "--tasks-per-step", "1", "--device", "cpu", "--quiet"]
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path), "--data", str(labeled)])
    assert done.exit_code == 0, done.output
    header = json.loads((tmp_path / "default.jsonl").read_text().splitlines()[0])
    assert header["settings"]["curriculum"]["tables"] == str(labeled)
    (tmp_path / "x").mkdir()
    refused = CliRunner().invoke(app, [*words, "-o", str(tmp_path), "--data", str(tmp_path / "x")])
    assert (refused.exit_code, "holds no labeled table" in refused.output) == (2, True)
    (tmp_path / "x" / "data.csv").write_text((labeled / "t0" / "data.csv").read_text())
    (tmp_path / "x" / "truth.csv").write_text((labeled / "t1" / "truth.csv").read_text())
    with pytest.raises(OptionError, match="they differ in 'x5'"):
        read_tables(tmp_path / "x")
    (tmp_path / "x" / "truth.csv").write_text(",x1,x2,x3,x4\n" + "".join(f"x{k},0,0,0,0\n" for k in range(1, 5)))
    with pytest.raises(OptionError, match="it has no edge"):
        read_tables(tmp_path / "x")
